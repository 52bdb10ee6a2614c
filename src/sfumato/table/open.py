"""Open a table, wherever it lives."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sfumato.errors import TableError
from sfumato.table.databases import (
    attach_duckdb,
    chosen,
    connect_url,
    file_of,
    harmless,
    is_url,
    load_sqlite,
)
from sfumato.table.engine import connect, disconnect, reading
from sfumato.table.files import load_arrow, load_excel, load_json, load_parquet
from sfumato.table.frames import kind_of, open_frame
from sfumato.table.source import EMBEDDED, Dialect, Source, checked_names
from sfumato.table.text import load_text

ENDINGS = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".txt": "csv",
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".xlsx": "excel", ".xlsm": "excel",
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".duckdb": "duckdb", ".ddb": "duckdb",
    ".sqlite": "sqlite", ".sqlite3": "sqlite",
}
STARTS = ((0, b"PAR1", "parquet"), (0, b"ARROW1", "arrow"), (0, b"FEA1", "arrow"), (8, b"DUCK", "duckdb"),
          (0, b"SQLite format 3\0", "sqlite"), (0, b"PK\x03\x04", "excel"))


def open_table(source: Any, *, table: str | None = None, delimiter: str | None = None,
               quote: str | None = None, encoding: str | None = None, header: bool | None = None,
               memory_limit: str | None = None, threads: int | None = None) -> Source:
    """Open a file, a database's table or a frame.

    `table` names the table of a database or the sheet of a workbook; `delimiter`, `quote`,
    `encoding` and `header` say how a text table is written where it should not be found out.
    """
    if isinstance(source, Source):
        return source
    if isinstance(source, str) and is_url(source):
        path = file_of(source)
        if path is None:
            return _open_url(source, table)
    elif isinstance(source, str | os.PathLike):
        path = Path(source)
    elif kind := kind_of(source):
        return open_frame(source, kind, memory_limit, threads)
    else:
        raise TableError(f"A {type(source).__name__} is not a table.",
                         "Give a path, a database's address, or a pandas, Polars, Arrow, Ibis or Spark "
                         "frame.")
    _check_file(path)
    kind = _kind(path)
    backend = connect(memory_limit, threads)
    loads: dict[str, Callable[[], Any]] = {
        "csv": lambda: load_text(backend, path, delimiter, quote, encoding, header),
        "parquet": lambda: load_parquet(backend, path),
        "arrow": lambda: load_arrow(backend, path),
        "json": lambda: load_json(backend, path),
        "excel": lambda: load_excel(backend, path, table, header),
        "duckdb": lambda: attach_duckdb(backend, path, table),
        "sqlite": lambda: load_sqlite(backend, path, table),
    }
    try:
        loaded = loads[kind]()
        with reading(path.name):
            opened = loaded if kind == "duckdb" else backend.table(EMBEDDED)
    except BaseException:
        disconnect(backend)
        raise
    dialect = loaded if isinstance(loaded, Dialect) else None
    return Source(opened, backend, kind, path.name, path, dialect, lambda: disconnect(backend))


def _check_file(path: Path) -> None:
    try:
        if path.is_dir():
            raise TableError(f"{path} is a folder.", "Name a file in it.")
        if not path.exists():
            raise TableError(f"There is no file {path}.", _nearby(path))
        if not path.is_file():
            raise TableError(f"{path} is not a regular file.", "Save its content to a file first.")
        with open(path, "rb") as file:
            empty = not file.read(1)
    except OSError as fault:
        raise TableError(f"{path} cannot be read: {fault.strerror}.",
                         "Check the path and its permissions.") from None
    if empty:
        raise TableError(f"{path.name} is empty.",
                         "Give a file with a line of column names and rows below it.")


def _nearby(path: Path) -> str:
    folder = path.parent
    names = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    if near:
        return f"Did you mean {' or '.join(repr(name) for name in near)}?"
    return "Check the path." if folder.is_dir() else f"There is no folder {folder} either: check the path."


def _kind(path: Path) -> str:
    """The kind of a file by its ending; by its first bytes where the ending says nothing."""
    ending = path.suffixes[-2:-1] if path.suffix == ".gz" else [path.suffix]
    known = ENDINGS.get(ending[0].lower()) if ending else None
    if path.suffix == ".xls":
        raise TableError(f"{path.name} is an Excel file of the old form (.xls).", "Save it as .xlsx or CSV.")
    if path.suffix == ".gz" and known not in ("csv", "json", None):
        raise TableError(f"{path.name} is compressed as a whole.", "Decompress it first, with gunzip.")
    if known:
        return known
    with open(path, "rb") as file:
        start = file.read(16)
    return next((kind for at, mark, kind in STARTS if start[at:].startswith(mark)), "csv")


def _open_url(url: str, table: str | None) -> Source:
    backend = connect_url(url)
    try:
        name = chosen(table, backend.list_tables(), harmless(url))
        opened = backend.table(name)
        checked_names(opened.columns, f"{harmless(url)}, table {name!r},")
    except BaseException:
        backend.disconnect()
        raise
    return Source(opened, backend, "database", f"{harmless(url)}, table {name!r}", closing=backend.disconnect)
