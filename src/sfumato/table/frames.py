"""Data frames in and out: what comes in as pandas, Polars, Arrow, Ibis or Spark goes out as the same."""

from __future__ import annotations

import uuid
from typing import Any

from sfumato.errors import MissingExtraError, TableError
from sfumato.table.engine import connect, disconnect, interruptible, reading
from sfumato.table.source import EMBEDDED, Source, checked_names


def kind_of(frame: object) -> str | None:
    """What kind of frame this is, told from its class so that nothing has to be imported; None: none."""
    for cls in type(frame).__mro__:
        match cls.__module__.split(".")[0], cls.__name__:
            case ("pandas", "DataFrame"):
                return "pandas"
            case ("polars", "DataFrame" | "LazyFrame"):
                return "polars"
            case ("pyarrow", "Table" | "RecordBatch" | "RecordBatchReader"):
                return "pyarrow"
            case ("ibis", "Table"):
                return "ibis"
            case ("pyspark", "DataFrame") if cls.__module__.startswith("pyspark.sql."):
                return "spark"
    return None


def open_frame(frame: Any, kind: str, memory_limit: str | None, threads: int | None) -> Source:
    """A frame as a source."""
    if kind == "ibis":
        return _open_ibis(frame)
    if kind == "spark":
        try:
            from sfumato.table.spark import open_spark
        except ImportError:  # PySpark's own client for Spark Connect comes without the rest
            raise MissingExtraError("A Spark data frame", "spark") from None
        return open_spark(frame)
    name = f"the {kind} frame"
    arrow = {"pandas": _from_pandas, "polars": _from_polars, "pyarrow": _from_pyarrow}[kind](frame, name)
    backend = connect(memory_limit, threads)
    try:
        register(backend, arrow, name)
        return Source(backend.table(EMBEDDED), backend, kind, name, closing=lambda: disconnect(backend))
    except BaseException:
        disconnect(backend)
        raise


def register(backend: Any, arrow: Any, name: str) -> None:
    """Show an Arrow table to the embedded engine, uncopied."""
    checked_names(arrow.column_names, name)
    with reading(name):
        backend.con.register(EMBEDDED, _plain_types(arrow))


def _plain_types(arrow: Any) -> Any:
    """Dictionaries as their values, and columns of nulls only as text: what every engine knows."""
    import pyarrow as pa

    fields = []
    for field in arrow.schema:
        kind = field.type
        while pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        fields.append(pa.field(field.name, pa.string() if pa.types.is_null(kind) else kind))
    return arrow.cast(pa.schema(fields))


def _from_pandas(frame: Any, name: str) -> Any:
    import pyarrow as pa

    named = frame.set_axis([str(column) for column in frame.columns], axis=1)
    checked_names(list(named.columns), name)
    columns = []
    for column in named.columns:
        try:
            columns.append(pa.Array.from_pandas(named[column]))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            kinds = sorted({type(v).__name__ for v in named[column].dropna()})
            raise TableError(f"Column {column!r} of {name} mixes types: {', '.join(kinds)}.",
                             f"Give it one, for example with frame[{column!r}].astype(str).") from None
    return pa.table(columns, names=list(named.columns))


def _from_polars(frame: Any, name: str) -> Any:
    collected = frame.collect() if hasattr(frame, "collect") else frame
    checked_names(collected.columns, name)
    return collected.to_arrow()


def _from_pyarrow(frame: Any, name: str) -> Any:
    import pyarrow as pa

    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    return frame.read_all() if isinstance(frame, pa.RecordBatchReader) else frame


def _open_ibis(table: Any) -> Source:
    import ibis
    from ibis.backends.sql import SQLBackend

    checked_names(table.columns, "the Ibis table")
    backend = ibis.get_backend(table)
    if backend.name == "pyspark":
        raise TableError("The Ibis table stands in Spark.", "Give the Spark data frame itself.")
    if not isinstance(backend, SQLBackend):
        raise TableError(f"The Ibis table stands in {backend.name}, which does not speak SQL.",
                         "Give the frame itself.")
    return Source(table, backend, "ibis", "the Ibis table")


def frame_like(source: Source, expression: Any) -> Any:
    """The expression's rows as the kind of frame that came in; an Arrow table where a file did.

    An Ibis table is a temporary table of its connection, a Spark frame a local checkpoint: what is
    verified is what is handed over, and not computed again.
    """
    if source.kind == "ibis":
        return source.backend.create_table(f"sfumato_{uuid.uuid4().hex}", expression, temp=True)
    if source.kind == "spark":
        from sfumato.table.spark import to_spark

        return to_spark(source.backend, expression)
    with reading(source.name):
        arrow = _to_arrow(source.backend, expression)
    if source.kind == "polars":
        import polars

        return polars.from_arrow(arrow)
    return _to_pandas(arrow) if source.kind == "pandas" else arrow


def _to_arrow(backend: Any, expression: Any) -> Any:
    if backend.name != "duckdb":
        return backend.to_pyarrow(expression)
    return interruptible(backend, lambda: backend.to_pyarrow(expression))


def _to_pandas(arrow: Any) -> Any:
    """As pandas would hold it, but whole numbers stay whole where some are missing."""
    import pandas as pd
    import pyarrow as pa

    frame = arrow.to_pandas()
    for field, column in zip(arrow.schema, arrow.columns, strict=True):
        if pa.types.is_integer(field.type) and column.null_count:
            frame[field.name] = pd.array(column.to_pylist(), dtype="Int64")
    return frame

