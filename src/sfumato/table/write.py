"""Write a table whole or not at all: to a file, or into a database."""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, get_args
from zipfile import ZIP_DEFLATED, ZipFile

from sfumato.errors import DestinationError, MissingExtraError
from sfumato.table.databases import ATTACHED, connect_url, file_of, is_url
from sfumato.table.engine import (
    ask,
    batches,
    compiled,
    connect,
    disconnect,
    exact_path,
    explained,
    identifier,
    literal,
    reading,
)
from sfumato.table.source import Source
from sfumato.table.staging import refusal, whole_file

Format = Literal["csv", "tsv", "parquet", "arrow", "feather", "json", "excel"]
EXCEL_ROWS, EXCEL_COLUMNS = 1_048_576, 16_384


def write_table(expression: Any, destination: Path, format: Format = "csv", *,
                delimiter: str = ",", header: bool = True) -> None:
    """Write the expression's rows, in their order, to a file that appears when it is complete.

    Null is written as an empty field of CSV, an empty text as two quotes.
    """
    if format not in get_args(Format):
        raise DestinationError(f"The format {format!r} is not known.",
                               f"Choose one of {', '.join(get_args(Format))}.")
    with whole_file(destination) as temporary, writing(destination):
        if format in ("arrow", "feather"):
            _write_arrow(expression, temporary, compressed=format == "feather")
        elif format == "excel":
            _write_excel(expression, temporary, header)
        else:
            _copy(expression, temporary, _copy_options(format, delimiter, header))


@contextmanager
def writing(destination: Path) -> Iterator[None]:
    """Turn the engine's complaints about a destination into a DestinationError, others into a TableError."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as fault:
        for words, number in (("No space left", errno.ENOSPC), ("File too large", errno.EFBIG),
                              ("quota", errno.EDQUOT), ("Permission denied", errno.EACCES)):
            if words.lower() in str(fault).lower():
                raise refusal(OSError(number, words), destination) from None
        raise explained(str(fault), "the table to be written") from None
    except RuntimeError as fault:
        if "interrupted" in str(fault).lower():
            raise KeyboardInterrupt from None
        raise


def _copy_options(format: Format, delimiter: str, header: bool) -> str:
    if format == "parquet":
        return "FORMAT parquet, COMPRESSION zstd"
    if format == "json":
        return "FORMAT json"
    delimiter = "\t" if format == "tsv" else delimiter
    return f"FORMAT csv, DELIMITER {literal(delimiter)}, HEADER {header}, QUOTE '\"', ESCAPE '\"'"


def _copy(expression: Any, path: Path, options: str) -> None:
    """Let the embedded engine write; rows of another engine stream through it."""
    import ibis

    backend = ibis.get_backend(expression)
    if backend.name == "duckdb":
        _copy_query(backend, compiled(backend, expression), path, options)
        return
    embedded = connect()
    try:
        with batches(expression) as rows:
            embedded.con.register("incoming", rows)
            _copy_query(embedded, "SELECT * FROM incoming", path, options)
    finally:
        disconnect(embedded)


def _copy_query(backend: Any, query: str, path: Path, options: str) -> None:
    ask(backend, f"COPY ({query}) TO {literal(path)} ({options}, USE_TMP_FILE false)")


def _write_arrow(expression: Any, path: Path, compressed: bool) -> None:
    import pyarrow as pa

    options = pa.ipc.IpcWriteOptions(compression="lz4" if compressed else None)
    with batches(expression) as rows, pa.ipc.new_file(str(path), rows.schema, options=options) as file:
        for batch in rows:
            file.write_batch(batch)


def _write_excel(expression: Any, path: Path, header: bool) -> None:
    try:
        from openpyxl import Workbook
        from openpyxl.utils.exceptions import IllegalCharacterError
        from openpyxl.writer.excel import ExcelWriter
    except ImportError:
        raise MissingExtraError("An Excel file", "excel") from None
    names = list(expression.columns)
    if len(names) > EXCEL_COLUMNS:
        raise DestinationError(f"Excel holds {EXCEL_COLUMNS:,} columns; the table has {len(names):,}.",
                               "Choose another format.")
    book = Workbook(write_only=True)
    sheet = book.create_sheet("release")
    try:
        rows = iter([names] if header else [])
        for count, row in enumerate(_chained(rows, _rows(expression)), 1):
            if count > EXCEL_ROWS:
                raise DestinationError(f"Excel holds {EXCEL_ROWS:,} rows; the table has more.",
                                       "Choose another format, for example parquet.")
            sheet.append(row)
        with ZipFile(path, "w", ZIP_DEFLATED) as archive:
            ExcelWriter(book, archive).save()
    except IllegalCharacterError:
        raise DestinationError("A text of the table holds a control character, which Excel does not allow.",
                               "Choose another format, for example csv.") from None
    finally:
        book.close()
        _let_go(sheet)


def _let_go(sheet: Any) -> None:
    """Remove the rows written so far, which would stay among the temporary files and complain at the end."""
    writer = sheet._writer
    if writer is None:
        return
    for stream in (sheet._rows, writer.xf):
        with suppress(OSError):  # told already
            stream.close()
    if os.path.exists(writer.out):
        writer.cleanup()


def _chained(*parts: Iterator[list[Any]]) -> Iterator[list[Any]]:
    for part in parts:
        yield from part


def _rows(expression: Any) -> Iterator[list[Any]]:
    with batches(expression) as stream:
        for batch in stream:
            yield from map(list, zip(*(column.to_pylist() for column in batch.columns), strict=True))


def write_to_database(target: Source | str | os.PathLike[str], name: str, expression: Any, *,
                      replace: bool = False) -> None:
    """Write the expression's rows as a table of a database: the one of a source, or at an address.

    The table appears when it is complete. One that stands there already stays, unless `replace`.
    """
    if isinstance(target, Source):
        path = target.path if target.kind in ("duckdb", "sqlite") else None
        backend = target.backend
        if path is None and (target.kind not in ("database", "ibis", "spark")):
            raise DestinationError(f"{target.name} does not stand in a database.",
                                   "Name a database's address, or write to a file.")
    else:
        path = file_of(str(target)) if is_url(str(target)) else Path(target)
        backend = connect_url(str(target)) if path is None else None
    if path is None:
        _into_backend(backend, name, expression, replace)
    elif _is_sqlite(path) or str(target).startswith("sqlite://"):
        _into_sqlite(path, name, expression, replace)
    else:
        _into_duckdb(path, name, expression, replace)


def withdraw(database: str | os.PathLike[str], name: str) -> None:
    """Drop a table from the database at an address, or in a file."""
    address = str(database)
    if not is_url(address):
        address = f"{'sqlite' if _is_sqlite(Path(address)) else 'duckdb'}://{address}"
    backend = connect_url(address)
    try:
        _drop(backend, name)
    finally:
        backend.disconnect()


def _is_sqlite(path: Path) -> bool:
    return path.suffix in (".sqlite", ".sqlite3", ".db")


def _taken(name: str, place: str) -> DestinationError:
    return DestinationError(f"{place} already has a table {name!r}.",
                            "Choose another name, or replace it with --replace (replace=True).")


def _into_backend(backend: Any, name: str, expression: Any, replace: bool) -> None:
    import ibis

    if backend.name == "duckdb":
        _into_connection(backend, name, expression, replace)
        return
    stands = name in backend.list_tables()
    if stands and not replace:
        raise _taken(name, "The database")
    rows = expression if ibis.get_backend(expression) is backend else expression.to_pyarrow()
    temporary = f"sfumato_{uuid.uuid4().hex}"
    try:
        with reading("the table to be written"):
            backend.create_table(temporary, rows)
            if stands:
                _drop(backend, name)
            _rename(backend, temporary, name)
    except BaseException:
        _drop(backend, temporary)
        raise


def _into_connection(backend: Any, name: str, expression: Any, replace: bool) -> None:
    """Into an open DuckDB connection, whose one statement is whole or not at all."""
    import ibis

    if _stands(backend, "current_database()", name) and not replace:
        raise _taken(name, "The database")
    with reading("the table to be written"):
        if ibis.get_backend(expression) is backend:
            query = compiled(backend, expression)
            ask(backend, f"CREATE OR REPLACE TABLE {identifier(name)} AS {query}")
            return
        with batches(expression) as rows:
            backend.con.register("sfumato_incoming", rows)
            ask(backend, f"CREATE OR REPLACE TABLE {identifier(name)} AS SELECT * FROM sfumato_incoming")
            backend.con.unregister("sfumato_incoming")


def _drop(backend: Any, name: str) -> None:
    """Drop a table if it is there (Ibis' own way writes no name with the current sqlglot)."""
    _run(backend, "DROP TABLE IF EXISTS {}", name)


def _rename(backend: Any, old: str, new: str) -> None:
    try:
        backend.rename_table(old, new)
    except NotImplementedError:
        _run(backend, "ALTER TABLE {} RENAME TO {}", old, new)


def _run(backend: Any, statement: str, *names: str) -> None:
    """Run a statement about tables, whose names are written as the engine writes them."""
    import sqlglot

    with backend._safe_raw_sql(statement.format(*(
            sqlglot.to_identifier(name, quoted=True).sql(backend.dialect) for name in names))):
        pass


def _into_duckdb(path: Path, name: str, expression: Any, replace: bool) -> None:
    """Through a private Parquet file: who writes a DuckDB file cannot be reading it."""
    import ibis

    reader = ibis.get_backend(expression)
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
        rows = Path(folder) / "rows.parquet"
        write_table(expression, rows, "parquet")
        with _released(reader, path), _whole_or_gone(path), writing(path):
            embedded = connect()
            try:
                ask(embedded, f"ATTACH {literal(path)} AS target (TYPE duckdb)")
                if _stands(embedded, "'target'", name) and not replace:
                    raise _taken(name, path.name)
                ask(embedded, f"CREATE OR REPLACE TABLE target.{identifier(name)} AS "
                              f"SELECT * FROM read_parquet({exact_path(rows)})")
                ask(embedded, "CHECKPOINT target")
            finally:
                disconnect(embedded)


@contextmanager
def _whole_or_gone(path: Path) -> Iterator[None]:
    """A database file that was made for a table is gone again if the table cannot be written."""
    stood = path.exists()
    try:
        yield
    except BaseException:
        if not stood:
            for ending in ("", ".wal", "-journal", "-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
        raise


def _stands(backend: Any, database: str, name: str) -> bool:
    return bool(ask(backend, f"SELECT 1 FROM duckdb_tables() WHERE database_name = {database} AND "
                             "schema_name = 'main' AND lower(table_name) = lower($1)", name))


@contextmanager
def _released(reader: Any, path: Path) -> Iterator[None]:
    """The reading connection lets go of the file for a while, if it is this one."""
    attached = reader.name == "duckdb" and ask(
        reader, "SELECT path FROM duckdb_databases() WHERE database_name = $1", ATTACHED)
    if not attached or not path.exists() or not os.path.samefile(attached[0][0], path):
        yield
        return
    ask(reader, f"DETACH {identifier(ATTACHED)}")
    try:
        yield
    finally:
        ask(reader, f"ATTACH {literal(path)} AS {identifier(ATTACHED)} (READ_ONLY, TYPE duckdb)")


def _into_sqlite(path: Path, name: str, expression: Any, replace: bool) -> None:
    kinds = {column: _sqlite_kind(kind) for column, kind in expression.schema().items()}
    columns = ", ".join(f"{identifier(column)} {kind}" for column, kind in kinds.items())
    marks = ", ".join("?" for _ in kinds)
    try:
        with reading("the table to be written"), _whole_or_gone(path), closing(
                sqlite3.connect(path, isolation_level=None)) as file:
            file.execute("BEGIN IMMEDIATE")
            stands = file.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", [name]).fetchone()[0]
            if stands and not replace:
                raise _taken(name, path.name)
            if stands:
                file.execute(f"DROP TABLE {identifier(name)}")
            file.execute(f"CREATE TABLE {identifier(name)} ({columns})")
            file.executemany(f"INSERT INTO {identifier(name)} VALUES ({marks})",
                             ([_sqlite_value(v) for v in row] for row in _rows(expression)))
            file.execute("COMMIT")
    except sqlite3.Error as fault:
        full = "full" in str(fault) or "disk" in str(fault)
        raise refusal(OSError(errno.ENOSPC if full else errno.EACCES, ""), path) from None


def _sqlite_kind(kind: Any) -> str:
    return "INTEGER" if kind.is_integer() or kind.is_boolean() else "REAL" if kind.is_floating() else "TEXT"


def _sqlite_value(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str) else str(value)
