"""Spark behind Ibis: values pass between Spark and us as Arrow, exactly.

Imported only where a Spark data frame has come in, so that PySpark is loaded by whoever uses it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import ibis
import pyarrow as pa
from ibis.backends.pyspark import Backend
from ibis.backends.pyspark.datatypes import PySparkSchema, PySparkType
from ibis.common.exceptions import IbisError
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from sfumato.errors import TableError
from sfumato.table.engine import compiled
from sfumato.table.source import Source, checked_names

NAME = "the Spark data frame"
_ZONE = "spark.sql.session.timeZone"
_DUPLICATES = "spark.sql.mapKeyDedupPolicy"


class ArrowBackend(Backend):  # type: ignore[misc]
    """Ibis' Spark backend without its way through pandas, where whole numbers beside nulls lose digits."""

    def to_pyarrow(self, expr: Any, /, *, params: Any = None, limit: Any = None, **kwargs: Any) -> pa.Table:
        """The expression's rows, all of them in the driver's memory."""
        self._run_pre_execute_hooks(expr)
        query = self.compile(expr, params=params, limit=limit, **kwargs)
        with computing():
            answer = self._session.sql(query).toArrow()
        return expr.__pyarrow_result__(answer)

    def _register_in_memory_table(self, op: Any) -> None:
        schema = PySparkSchema.from_ibis(op.schema)
        rows = op.data.to_pyarrow(op.schema)
        self._session.createDataFrame(rows, schema=schema).createOrReplaceTempView(op.name)


def open_spark(frame: Any) -> Source:
    """A Spark data frame as a source; closing it takes back every view and setting it has made."""
    if frame.isStreaming:
        raise TableError(f"{NAME} is a stream, which has no end.", "Read the same data as a batch.")
    checked_names(frame.columns, NAME)
    _check_case(frame.columns)
    session, view = frame.sparkSession, f"sfumato_{uuid.uuid4().hex}"
    with ExitStack() as undo:
        for setting in (_ZONE, _DUPLICATES):  # Ibis sets them for the whole session
            undo.callback(session.conf.set, setting, session.conf.get(setting))
        if ibis.options.pyspark is None:
            ArrowBackend.register_options()
        backend = ArrowBackend().connect(session)
        undo.callback(_drop_memtables, backend)
        known = _known_types(frame)
        known.createOrReplaceTempView(view)
        undo.callback(session.catalog.dropTempView, view)
        return Source(backend.table(view), backend, "spark", NAME, closing=undo.pop_all().close)


def to_spark(backend: Any, expression: Any) -> Any:
    """The expression's rows as a Spark data frame, computed once and for all.

    A lazy plan drawn twice may give other rows than were verified. Rows of a local checkpoint have no
    plan behind them: should Spark lose some, reading them is an error and never a second draw.
    """
    with computing():
        return backend.raw_sql(compiled(backend, expression)).localCheckpoint(eager=True)


@contextmanager
def computing() -> Iterator[None]:
    """Turn Spark's complaints, which may quote rows, into a TableError."""
    try:
        yield
    except (PySparkException, Py4JError) as fault:
        known = fault.getCondition() if isinstance(fault, PySparkException) else None
        raise TableError(f"Spark could not compute the table ({known or type(fault).__name__}).",
                         "Run frame.count() in Spark to see why: its words may quote rows, so they are "
                         "not repeated here.") from None


def _check_case(names: list[str]) -> None:
    """Spark ignores the case of every letter, not of ASCII alone."""
    met: dict[str, str] = {}
    for name in names:
        if (other := met.setdefault(name.lower(), name)) != name:
            raise TableError(f"{NAME} has columns that differ only by upper and lower case: {other!r}, "
                             f"{name!r}. Spark takes them for one.", "Rename one of them.")


def _known_types(frame: Any) -> Any:
    """Columns without a type become text; a type that Ibis does not know is refused by the column's name."""
    columns = []
    for field in frame.schema.fields:
        column = frame[f"`{field.name.replace('`', '``')}`"]
        if field.dataType.typeName() == "void":
            column = column.cast("string").alias(field.name)
        try:
            PySparkType.to_ibis(field.dataType)
        except (NotImplementedError, IbisError):
            raise TableError(f"Column {field.name!r} of {NAME} has the type {field.dataType.simpleString()}, "
                             "which is not supported.", "Cast it to string, or leave it out.") from None
        columns.append(column)
    return frame.select(*columns)


def _drop_memtables(backend: Any) -> None:
    for memtable in list(backend._memtables):
        backend._session.catalog.dropTempView(memtable.name)
