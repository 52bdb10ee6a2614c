"""Text tables: read once by the engine, every field as written, every fault an error with its line."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import IO, Any, cast

from sfumato.errors import TableError
from sfumato.table.dialect import decoded, dialect_of, encoding_of, not_in, numbered_rows
from sfumato.table.engine import ask, exact_path, identifier, literal, private_folder, reading
from sfumato.table.source import EMBEDDED, Dialect, checked_names

HEAD = 1 << 18  # bytes looked at to find out the dialect
LONGEST_LINE = 1 << 25
PIECE = 1 << 22
GZIP = b"\x1f\x8b"
AS_IS = frozenset({"utf-8", "utf-8-sig"})


def load_text(backend: Any, path: Path, delimiter: str | None, quote: str | None,
              encoding: str | None, header: bool | None) -> Dialect:
    """Load a CSV or TSV file, compressed or not, into the engine; the dialect it is written in."""
    head, complete = _head(path)
    found = encoding_of(head, encoding, path.name)
    text = decoded(head, found, path.name)
    _refuse_nul(text.find("\0"), text, path.name)
    if not text.strip():
        raise TableError(f"{path.name} is empty.",
                         "Give a file with a line of column names and rows below it.")
    if not complete:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1] or text
    dialect = dialect_of(text, found, delimiter, quote, header, path.name)
    guessed = encoding is None and found == "utf-8" and text.isascii() and not complete
    try:
        _load(backend, path, text, complete, dialect)
    except TableError as fault:
        if not (guessed and "UTF-8" in fault.message):
            raise
        dialect = Dialect(dialect.delimiter, dialect.quote, dialect.header, "cp1252")
        _load(backend, path, text, complete, dialect)
    return dialect


def _load(backend: Any, path: Path, text: str, complete: bool, dialect: Dialect) -> None:
    rows = list(numbered_rows(StringIO(text, newline=""), dialect.delimiter, dialect.quote))
    names = _names(rows, dialect, path.name)
    _check_widths(rows if complete else rows[:-1], len(names), path.name)
    blank = len(text) - len(text.lstrip("\r\n"))
    above = text[:blank].replace("\r\n", "\n").replace("\r", "\n").count("\n")
    with _plain(backend, path, dialect.encoding) as plain, reading(path.name):
        empty_ends = _scan(plain, dialect, path.name)
        ask(backend, f"CREATE OR REPLACE TABLE {identifier(EMBEDDED)} AS SELECT * FROM read_csv("
                     f"{exact_path(plain)}, {_options(names, dialect, above)})")
        if len(names) > 1 and empty_ends != _empty_lasts(backend, names[-1]):
            with open(plain, encoding="utf-8-sig", newline="") as lines:
                rows_all = numbered_rows(lines, dialect.delimiter, dialect.quote, most=None)
                _check_widths(rows_all, len(names), path.name)


def _options(names: tuple[str, ...], dialect: Dialect, above: int) -> str:
    """Everything said, nothing for the engine to guess: a row that does not fit is an error."""
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    said = {
        "columns": "{" + columns + "}", "auto_detect": "false", "delim": literal(dialect.delimiter),
        "quote": literal(dialect.quote), "escape": literal(dialect.quote), "header": str(dialect.header),
        "skip": str(above), "comment": "''", "strict_mode": "true", "null_padding": "false",
        "ignore_errors": "false", "hive_partitioning": "false", "compression": "'none'",
    }
    return ", ".join(f"{option} = {value}" for option, value in said.items())


def _names(rows: list[tuple[int, list[str]]], dialect: Dialect, table: str) -> tuple[str, ...]:
    first = rows[0][1] if rows else []
    if not dialect.header:
        first = [f"column_{i}" for i in range(1, len(first) + 1)]
    return checked_names(first, table)


def _empty_lasts(backend: Any, column: str) -> int:
    empty = f"count(*) - count({identifier(column)})"
    return int(ask(backend, f"SELECT {empty} FROM {identifier(EMBEDDED)}")[0][0])


def _check_widths(rows: Iterable[tuple[int, list[str]]], width: int, table: str) -> None:
    for line, fields in rows:
        if len(fields) != width:
            found = f"has {len(fields)} fields where {width} are expected"
            raise TableError(f"{table}, line {line:,}, {found}.",
                             "Mend the line, or name the delimiter and the quote character of the file.")


def _open(path: Path) -> IO[bytes]:
    with open(path, "rb") as file:
        compressed = file.read(2) == GZIP
    return cast(IO[bytes], gzip.open(path, "rb")) if compressed else open(path, "rb")


def _head(path: Path) -> tuple[bytes, bool]:
    """The first bytes, with one whole line at least, and whether they are all there is."""
    with _open(path) as file, _decompressing(path.name):
        head = file.read(HEAD)
        if b"\n" not in head and len(head) == HEAD:
            head += file.readline(LONGEST_LINE)
        return head, not file.read(1)


@contextmanager
def _decompressing(name: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise TableError(f"{name} is compressed and ends too early or is damaged.",
                         "Fetch the file again.") from None


@contextmanager
def _plain(backend: Any, path: Path, encoding: str) -> Iterator[Path]:
    """The file as uncompressed UTF-8: itself, or a private copy that is gone afterwards."""
    with _open(path) as file:
        if encoding in AS_IS and not isinstance(file, gzip.GzipFile):
            yield path
            return
        copy = private_folder(backend) / "plain.csv"
        try:
            with _decompressing(path.name), open(copy, "wb") as out:
                _transcode(file, out, encoding, path.name)
            yield copy
        finally:
            copy.unlink(missing_ok=True)


def _transcode(file: IO[bytes], out: IO[bytes], encoding: str, name: str) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = 1
    while True:
        piece = file.read(PIECE)
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeError as fault:
            raise not_in(encoding, name, lines + piece[: getattr(fault, "start", 0)].count(b"\n")) from None
        lines += text.count("\n")
        out.write(text.encode("utf-8"))
        if not piece:
            return


def _scan(path: Path, dialect: Dialect, name: str) -> int:
    """Refuse NUL bytes; count the lines that end with an empty field.

    The engine lets one empty field too many pass. Where it did, more lines end with an empty field
    than the last column has empty values.
    """
    delimiter, empty = dialect.delimiter.encode(), dialect.quote.encode() * 2
    ends = [delimiter + field + end for field in {b"", empty} for end in (b"\n", b"\r")]
    overlap = max(map(len, ends)) - 1
    lines, count, before = 0, 0, b""
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            _refuse_nul(piece.find(b"\0"), piece, name, lines)
            lines += piece.count(b"\n")
            seam = before + piece[:overlap]
            met = [end for end in ends if end[-1:] in piece and end[1:2] in piece]
            count += sum(map(piece.count, met))
            count += sum(seam.count(end) - before.count(end) - piece[:overlap].count(end) for end in ends)
            before = (before + piece)[-overlap:]
    return count + before.endswith((delimiter, delimiter + empty))


def _refuse_nul(at: int, text: str | bytes, name: str, lines_before: int = 0) -> None:
    if at >= 0:
        newline: Any = "\n" if isinstance(text, str) else b"\n"
        line = lines_before + text[:at].count(newline) + 1
        raise TableError(f"{name}, line {line:,}, holds a NUL byte: it is not a text table.",
                         "Name the encoding (utf-16?) or the kind of file, or remove the byte.")
