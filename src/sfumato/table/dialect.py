"""How a text table is written, found out from its first lines: encoding, quote, delimiter, header."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from sfumato.errors import TableError
from sfumato.table.source import Dialect

DELIMITERS = ",;\t|^"
SPOKEN = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}
MARKS = (  # longest first: the mark of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)
_NUMBER = re.compile(r"\s*[+-]?(\d[\d.,]*|\.\d+)([eE][+-]?\d+)?\s*%?\s*|\s*\d{1,4}([-/.])\d{1,2}\3\d{1,4}.*")


def encoding_of(head: bytes, said: str | None, name: str) -> str:
    """The encoding said, else the one the first bytes speak for."""
    if said is not None:
        try:
            return codecs.lookup(said).name
        except LookupError:
            raise TableError(f"The encoding {said!r} is not known.",
                             "Name one that Python knows, for example utf-8, cp1252 or utf-16.") from None
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) > len(head) / 8 and min(even, odd) < max(even, odd) / 8:
        return "utf-16-le" if odd > even else "utf-16-be"
    try:
        decoded(head, "utf-8", name)
    except TableError:
        return "cp1252"
    return "utf-8"


def decoded(head: bytes, encoding: str, name: str) -> str:
    """The first bytes as text; a character cut off at the end is left out."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head).removeprefix("\ufeff")
    except UnicodeError as fault:
        raise not_in(encoding, name, head[: getattr(fault, "start", 0)].count(b"\n") + 1) from None


def not_in(encoding: str, name: str, line: int) -> TableError:
    """Line `line` of the table holds bytes that are not text in this encoding."""
    return TableError(f"{name}, line {line:,}, holds bytes that are not {encoding}.",
                      "Name the encoding of the file, for example latin-1, cp1252 or utf-16.")


def dialect_of(text: str, encoding: str, delimiter: str | None, quote: str | None,
               header: bool | None, name: str) -> Dialect:
    """The dialect of a text table's first lines, with what was said taken as given."""
    if quote is not None and len(quote) > 1:
        raise TableError(f"The quote character {quote!r} is not allowed.",
                         'Name one character, or "" for none.')
    quote = _quote(text) if quote is None else quote
    found = _delimiter(text, quote, name)
    if delimiter is None:
        delimiter = found or next((d for d in DELIMITERS if d not in text), ",")
    else:
        delimiter = SPOKEN.get(delimiter, delimiter)
        _check_said(delimiter, quote, found, text, name)
    lines = rows_of(text, delimiter, quote)
    return Dialect(delimiter, quote, _has_header(lines) if header is None else header, encoding)


def _check_said(delimiter: str, quote: str, found: str | None, text: str, name: str) -> None:
    if len(delimiter) != 1 or delimiter in "\r\n" or delimiter == quote:
        raise TableError(f"The delimiter {delimiter!r} is not allowed.",
                         r"Name one character other than the quote, for example ',' or ';' or '\t'.")
    rows = rows_of(text, delimiter, quote)
    if found and rows and len(rows[0]) == 1 and delimiter != found:
        raise TableError(f"{name}, line 1, holds no {delimiter!r}, the delimiter said, but {found!r}.",
                         f"Leave the delimiter out, or name {found!r}.")


def rows_of(text: str, delimiter: str, quote: str, most: int = 300) -> list[list[str]]:
    """The first rows as lists of fields, empty lines left out; up to where the text stops being CSV."""
    lines = io.StringIO(text, newline="")
    return [fields for _, fields in numbered_rows(lines, delimiter, quote, most)]


def numbered_rows(lines: Iterable[str], delimiter: str, quote: str,
                  most: int | None = 1000) -> Iterator[tuple[int, list[str]]]:
    """The first rows, each with the line on which it ends."""
    reader = csv.reader(lines, delimiter=delimiter, quotechar=quote or None,
                        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE)
    rows = ((reader.line_num, fields) for fields in reader if fields)
    with suppress(csv.Error):  # a field too long for a sample: a quote never closed, as the engine will say
        yield from islice(rows, most)


def _quote(text: str) -> str:
    """The single quote where it opens and closes fields and no double quote is met; else the double quote."""
    edge = rf"[{re.escape(DELIMITERS)}]"
    opened = len(re.findall(rf"(?:^|{edge})'", text, re.MULTILINE))
    paired = len(re.findall(rf"(?:^|{edge})'[^'\n]*'(?={edge}|\r?$)", text, re.MULTILINE))
    return "'" if '"' not in text and paired > 1 and paired == opened else '"'


def _delimiter(text: str, quote: str, name: str) -> str | None:
    """The candidate that splits most rows into as many fields as the first one; None: a single column."""
    best: tuple[float, int, str] = (0.0, 1, "")
    titled = None
    for candidate in DELIMITERS:
        widths = [len(fields) for fields in rows_of(text, candidate, quote)]
        if not widths:
            continue
        usual, often = Counter(widths).most_common(1)[0]
        share = widths.count(widths[0]) / len(widths)
        if widths[0] > 1 and (share, widths[0]) > best[:2]:
            best = (share, widths[0], candidate)
        if widths[0] == 1 < usual and len(widths) > 2 and often >= 0.9 * (len(widths) - 1):
            titled = (candidate, usual)
    if not best[2] and titled:
        raise TableError(f"{name}, line 1, has 1 field where the following lines have {titled[1]}.",
                         "Remove what stands above the line with the column names, or name the delimiter.")
    return best[2] or None


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names columns: text above numbers says so, a number above numbers denies it.

    Where all is text, a first row whose fields mostly return in their own columns is data.
    """
    if not rows:
        return True
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    columns = [[row[i] for row in rest if row[i].strip()] for i in range(len(first))]
    numeric = [sum(bool(_NUMBER.fullmatch(v)) for v in column) >= 0.8 * len(column) for column in columns]
    like_number = [bool(_NUMBER.fullmatch(field)) for field in first]
    if any(n and column and not f and field.strip()
           for n, column, f, field in zip(numeric, columns, like_number, first, strict=True)):
        return True
    if any(n and f for n, f in zip(numeric, like_number, strict=True)):
        return False
    returning = sum(field in column for field, column in zip(first, columns, strict=True))
    return returning <= len(first) / 2
