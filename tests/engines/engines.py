"""The engines of the tests: each lends the same Arrow table, and its release is read back alike."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet


@contextmanager
def lent(engine: str, table: pa.Table, folder: Path, session: Any = None) -> Iterator[Any]:
    """The table as that engine's source, for as long as it is wanted."""
    folder.mkdir(parents=True, exist_ok=True)
    if engine == "csv":
        yield _file(folder / "table.csv", lambda path: pa.csv.write_csv(table, path))
    elif engine == "parquet":
        yield _file(folder / "table.parquet", lambda path: pa.parquet.write_table(table, path))
    elif engine == "sqlite":
        yield _file(folder / "table.sqlite", lambda path: _into_sqlite(table, path))
    elif engine == "duckdb":
        yield _file(folder / "table.duckdb", lambda path: _into_duckdb(table, path))
    elif engine == "pandas":
        yield table.to_pandas()
    elif engine == "polars":
        import polars

        yield polars.from_arrow(table)
    elif engine == "pyarrow":
        yield table
    elif engine == "ibis":
        import ibis

        backend = ibis.duckdb.connect()
        backend.con.register("incoming", table)
        backend.con.execute("CREATE TABLE t AS SELECT * FROM incoming")
        yield backend.table("t")
    else:
        yield session.createDataFrame(table).repartition(2)


def _file(path: Path, write: Any) -> Path:
    write(path)
    return path


def _into_sqlite(table: pa.Table, path: Path) -> None:
    kinds = {pa.int64(): "INTEGER", pa.float64(): "REAL"}
    columns = ", ".join(f'"{field.name}" {kinds.get(field.type, "TEXT")}' for field in table.schema)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(f"CREATE TABLE t ({columns})")
        marks = ", ".join("?" * table.num_columns)
        rows = zip(*table.to_pydict().values(), strict=True)
        file.executemany(f"INSERT INTO t VALUES ({marks})", rows)


def _into_duckdb(table: pa.Table, path: Path) -> None:
    import duckdb

    with duckdb.connect(str(path)) as file:
        file.register("incoming", table)
        file.execute("CREATE TABLE t AS SELECT * FROM incoming")


def arrow_of(release: Any) -> pa.Table:
    """A released frame, whatever its kind."""
    kind = type(release).__module__.split(".")[0]
    if kind == "pandas":
        return pa.Table.from_pandas(release, preserve_index=False)
    if kind == "polars":
        return release.to_arrow()
    if kind == "ibis":
        return release.to_pyarrow()
    return release.toArrow() if kind == "pyspark" else release


def rows_of(release: Any) -> Counter[tuple[str | None, ...]]:
    """The released rows as a multiset of texts."""
    table = arrow_of(release)
    columns = [[_text(value) for value in column.to_pylist()] for column in table.columns]
    return Counter(zip(*columns, strict=True))


def _text(value: Any) -> str | None:
    if value is None or value != value:
        return None
    if isinstance(value, float | Decimal) and value == int(value):
        return str(int(value))
    return str(value)


def facts(result: Any) -> dict[str, Any]:
    """What the manifest says of a run and must not depend on the engine."""
    names = ("levels", "classes", "records", "cost", "measures", "verdict", "columns", "seed")
    return {name: result.manifest[name] for name in names}
