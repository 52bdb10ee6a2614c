"""What an opened table is, and what every table must be: columns with distinct names."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.errors import TableError
from sfumato.table.engine import ask, identifier, reading

MAX_COLUMNS = 10_000  # beyond, the engine's time grows with the square of the columns
NAME_ONE = "Name one of them (--table NAME; in Python table=…)."  # tables of a database, sheets of a book
EMBEDDED = "embedded"  # the table's name in the embedded engine
FILE_KINDS = frozenset({"csv", "parquet", "arrow", "excel", "json", "duckdb", "sqlite"})


@dataclass(frozen=True)
class Dialect:
    """How a text table is written."""

    delimiter: str = ","
    quote: str = '"'  # empty: nothing is quoted
    header: bool = True
    encoding: str = "utf-8"


@dataclass(frozen=True, eq=False)
class Source:
    """An opened table: lend it with `with`, or `close()` it when done."""

    table: Any = field(repr=False)  # ibis.Table, which may show rows
    backend: Any = field(repr=False)
    kind: str
    name: str  # for people: a file's name or the kind of frame, never an address with a password
    path: Path | None = None
    dialect: Dialect | None = None
    closing: Callable[[], None] = field(default=lambda: None, repr=False)

    def close(self) -> None:
        """Give back the engine and its private folder; a second time does nothing."""
        self.closing()

    def __enter__(self) -> Source:
        """The source itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()


def folded(name: str) -> str:
    """A column's name as SQL engines compare it: ASCII letters without their case."""
    return "".join(c.lower() if c.isascii() else c for c in name)


def checked_names(names: Sequence[str], table: str) -> tuple[str, ...]:
    """The names, if there are some, not too many, none empty, and no two the same for an engine."""
    if not names:
        raise TableError(f"{table} has no columns.", "Give a table with at least one column.")
    if len(names) > MAX_COLUMNS:
        raise TableError(f"{table} has {len(names):,} columns; at most {MAX_COLUMNS:,} are allowed.",
                         "Keep the columns that are to be released.")
    nameless = [str(i) for i, name in enumerate(names, 1) if not name]
    if nameless:
        raise TableError(f"{table} has columns without a name, at position {_some(nameless)}.",
                         "Name every column, or say that there is no header (header=False, --no-header).")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(f"{table} has more than one column named {_some(map(repr, twice))}.",
                         "Rename or remove all but one, or say that there is no header.")
    counted = Counter(map(folded, names))
    alike = [repr(name) for name in names if counted[folded(name)] > 1]
    if alike:
        raise TableError(f"{table} has columns that differ only by upper and lower case: {_some(alike)}. "
                         "Database engines take them for one.", "Rename one of them.")
    return tuple(names)


def _some(things: Iterable[str], most: int = 5) -> str:
    listed = list(things)
    return ", ".join(t if len(t) <= 60 else t[:59] + "…" for t in listed[:most]) + (
        f" and {len(listed) - most:,} more" if len(listed) > most else "")


def require_columns(source: Source, wanted: Iterable[str]) -> None:
    """A TableError that lists the wanted columns which the table lacks, if any."""
    missing = [name for name in wanted if name not in source.table.columns]
    if missing:
        raise TableError.missing_columns(missing, source.table.columns)


def sha256(path: Path) -> str:
    """The SHA-256 of a file, read in pieces."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(source: Source) -> str | None:
    """A hash of a file's bytes, or of a frame's rows in any order; None for what stands in a database."""
    if source.path is not None and source.kind in FILE_KINDS:
        return sha256(source.path)
    if source.backend.name != "duckdb" or source.kind == "ibis":
        return None
    columns = ", ".join(map(identifier, source.table.columns))
    row = f"md5(to_json(row({columns}))::VARCHAR)"
    with reading(source.name):
        summed = f"sum(md5_number_lower({row})::HUGEINT)::VARCHAR"
        [(rows, total)] = ask(source.backend, f"SELECT count(*), {summed} FROM {identifier(EMBEDDED)}")
    described = f"{dict(source.table.schema().items())} {rows} {total}"
    return hashlib.sha256(described.encode()).hexdigest()
