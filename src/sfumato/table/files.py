"""Typed files: Parquet, Arrow, JSON lines and Excel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from sfumato.errors import MissingExtraError, TableError
from sfumato.table.engine import BATCH, ask, exact_path, identifier, literal, reading
from sfumato.table.frames import register
from sfumato.table.source import EMBEDDED, NAME_ONE, checked_names, folded


def load_parquet(backend: Any, path: Path) -> None:
    """Let the engine read the Parquet file where it stands."""
    read = f"read_parquet({exact_path(path)}, hive_partitioning = false)"
    with reading(path.name):
        described = _column(backend, f"SELECT column_name FROM (DESCRIBE SELECT * FROM {read})")
        written = _column(backend, f"SELECT name FROM parquet_schema({exact_path(path)}) OFFSET 1")
        _check_unrenamed(described, written, path.name)
        ask(backend, f"CREATE VIEW {identifier(EMBEDDED)} AS SELECT * FROM {read}")


def load_json(backend: Any, path: Path) -> None:
    """Load JSON lines (or a list of objects); texts stay texts, also those that look like dates."""
    file = exact_path(path)
    with reading(path.name):
        if path.stat().st_size == 0:
            raise TableError(f"{path.name} is empty.", "Give one JSON object a line.")
        types = ask(backend, "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM "
                             f"read_json({file}, sample_size = -1, hive_partitioning = false))")
        written = _column(backend, f"SELECT DISTINCT unnest(json_keys(json)) FROM read_json_objects({file})")
        _check_unrenamed([name for name, _ in types], written, path.name)
        columns = ", ".join(f"{literal(name)}: {literal(_as_written(kind))}" for name, kind in types)
        ask(backend, f"CREATE TABLE {identifier(EMBEDDED)} AS SELECT * FROM read_json("
                     f"{file}, columns = {{{columns}}}, hive_partitioning = false)")


def _as_written(kind: str) -> str:
    return "VARCHAR" if kind.startswith(("DATE", "TIME", "UUID")) else kind


def _column(backend: Any, query: str) -> list[str]:
    return [row[0] for row in ask(backend, query)]


def _check_unrenamed(described: Sequence[str], written: Sequence[str], name: str) -> None:
    """The engine renames columns that it cannot tell apart: refuse them instead."""
    if set(described) <= set(written):
        checked_names(described, name)
        return
    known = {folded(column) for column in described}
    checked_names([column for column in written if folded(column) in known or not column], name)
    raise TableError(f"{name} has columns whose names the engine cannot tell apart.", "Rename them.")


def load_arrow(backend: Any, path: Path) -> None:
    """Read an Arrow or Feather file, mapped into memory, or an Arrow stream."""
    import pyarrow as pa
    from pyarrow import feather

    try:
        with pa.memory_map(str(path)) as file:
            table = _arrow_table(file)
            if table is None:
                table = feather.read_table(path)
    except (pa.ArrowInvalid, OSError):
        raise TableError(f"{path.name} is not a complete Arrow or Feather file.",
                         "Fetch or write the file again.") from None
    register(backend, table, path.name)


def _arrow_table(file: Any) -> Any:
    """The table of an Arrow file or stream; None where it may be the older Feather form."""
    import pyarrow as pa

    start = file.read(6)
    file.seek(0)
    if start == b"ARROW1":
        return pa.ipc.open_file(file).read_all()
    return None if start[:4] == b"FEA1" else pa.ipc.open_stream(file).read_all()


def load_excel(backend: Any, path: Path, sheet: str | None, header: bool | None) -> None:
    """Read a sheet: numbers and dates where a column holds nothing else, text otherwise."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("An Excel file", "excel") from None
    import zipfile

    import pyarrow as pa

    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError):
        raise TableError(f"{path.name} is not a complete Excel file (.xlsx).",
                         "Save it again as .xlsx, or as CSV.") from None
    try:
        rows = [row for row in _sheet(book, sheet, path.name).iter_rows(values_only=True)
                if any(value is not None for value in row)]
    finally:
        book.close()
    if not rows:
        raise TableError(f"{path.name} has an empty sheet.", "Name another sheet.")
    names, rows = _named(rows, header, path.name)
    columns = [_typed([row[i] for row in rows]) for i in range(len(names))]
    register(backend, pa.table(columns, names=list(names)), path.name)


def _sheet(book: Any, wanted: str | None, name: str) -> Any:
    if wanted is None:
        if len(book.sheetnames) > 1:
            raise TableError(f"{name} has several sheets: {', '.join(map(repr, book.sheetnames))}.",
                             NAME_ONE)
        return book[book.sheetnames[0]]
    if wanted not in book.sheetnames:
        raise TableError(f"{name} has no sheet {wanted!r}. It has: {', '.join(map(repr, book.sheetnames))}.",
                         NAME_ONE)
    return book[wanted]


def _named(rows: list[tuple[Any, ...]], header: bool | None, name: str) -> tuple[tuple[str, ...], list[Any]]:
    """Column names and the rows below them, all as wide as the table is."""
    width = max(i for row in rows for i, value in enumerate(row, 1) if value is not None)
    if header is False:
        names = [f"column_{i}" for i in range(1, width + 1)]
    else:
        names = ["" if value is None else str(value) for value in _padded(rows[0], width)]
        rows = rows[1:]
    return checked_names(names, name), [_padded(row, width) for row in rows]


def _padded(row: tuple[Any, ...], width: int) -> tuple[Any, ...]:
    return (*row, *[None] * (width - len(row)))[:width]


def _typed(values: list[Any]) -> Any:
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if len(kinds) == 1 and kinds != {str}:
        return pa.array(values)
    return pa.array([None if value is None or value == "" else str(value) for value in values], pa.string())


def batches_of(rows: Iterator[tuple[Any, ...]], schema: Any) -> Iterator[Any]:
    """Rows from a cursor as Arrow batches of a schema, text where a value is asked for as text."""
    import pyarrow as pa

    while some := list(islice(rows, BATCH)):
        columns = []
        for kind, column in zip(schema.types, zip(*some, strict=True), strict=True):
            as_text = pa.types.is_string(kind)
            told = [str(v) if as_text and v is not None else v for v in column]
            columns.append(pa.array(told, kind))
        yield pa.record_batch(columns, schema=schema)
