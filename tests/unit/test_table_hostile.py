"""Tables that want to break the door: each ends in one clear message and leaves nothing behind."""

from __future__ import annotations

import gzip
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import RequestError, TableError
from sfumato.table import open_table

SECRET = "s3cr3t"
ROWS = f"name,age,town\n{SECRET}1,30,A\n{SECRET}2,40,B\n"


@dataclass(frozen=True)
class Case:
    name: str
    file: str
    content: bytes | str | Callable[[Path], Any]
    phrase: str
    remedy: str = ""
    said: dict[str, Any] = field(default_factory=dict)

    def make(self, folder: Path) -> Any:
        path = folder / self.file
        if callable(self.content):
            made = self.content(path)
            return path if made is None else made
        path.write_bytes(self.content.encode() if isinstance(self.content, str) else self.content)
        return path


def many_rows(bad: bytes, after: int = 40_000) -> bytes:
    """A fault far beyond the first bytes that are looked at."""
    return b"name,age,town\n" + f"{SECRET},30,A\n".encode() * after + bad


def parquet(*names: str, cut: int = 0) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table([[SECRET] for _ in names], names=list(names)), path)
        if cut:
            path.write_bytes(path.read_bytes()[:-cut])

    return make


def sqlite(*tables: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with sqlite3.connect(path) as file:
            for table in tables:
                file.execute(f"CREATE TABLE {table} (name TEXT)")
                file.execute(f"INSERT INTO {table} VALUES ('{SECRET}')")
            file.execute("CREATE TABLE z_bytes (b BLOB)")
            file.execute("INSERT INTO z_bytes VALUES (x'00')")
        file.close()

    return make


def duckdb(*tables: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        import duckdb

        with duckdb.connect(str(path)) as file:
            for table in tables:
                file.execute(f"CREATE TABLE {table} AS SELECT '{SECRET}' AS name")

    return make


def excel(*rows: list[Any], sheets: int = 1) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        import openpyxl

        book = openpyxl.Workbook()
        for number in range(1, sheets):
            book.create_sheet(f"other{number}")
        for row in rows:
            book.worksheets[0].append(row)
        book.save(path)

    return make


def pandas(columns: list[Any], rows: list[list[Any]]) -> Callable[[Path], Any]:
    def make(_: Path) -> Any:
        import pandas as pd

        return pd.DataFrame(rows, columns=columns)

    return make


def missing_beside(path: Path) -> Path:
    (path.parent / "patients.csv").write_text(ROWS)
    return path


def pipe(path: Path) -> None:
    os.mkfifo(path)


CASES = [
    # rows that do not fit
    Case(
        "short row",
        "t.csv",
        ROWS + f"{SECRET}3,50\n",
        "line 4, has 2 fields where 3 are expected",
        "Mend the line",
    ),
    Case(
        "long row", "t.csv", ROWS + f"{SECRET}3,50,C,x\n", "line 4, has 4 fields where 3 are expected", "Mend"
    ),
    Case("one empty field too many", "t.csv", ROWS + f"{SECRET}3,50,C,\n", "line 4, has 4 fields", "Mend"),
    Case(
        "one empty field too many far down",
        "t.csv",
        many_rows(f"{SECRET},1,A,\n".encode()),
        "line 40,002, has 4 fields",
        "Mend",
    ),
    Case(
        "the same in a file with empty ends",
        "t.csv",
        many_rows(f'x,1,\nx,2,""\n{SECRET},1,A,'.encode()),
        "line 40,004, has 4 fields",
        "Mend",
    ),
    Case(
        "short row far down",
        "t.csv",
        many_rows(f"{SECRET},1\n".encode()),
        "line 40,002, has 2 fields",
        "Mend",
    ),
    Case(
        "long row far down",
        "t.csv",
        many_rows(f"{SECRET},1,A,9\n".encode()),
        "line 40,002, has 4 fields",
        "Mend",
    ),
    Case(
        "a row after a quoted line break",
        "t.csv",
        f'name,age,town\n"{SECRET}\nx",3,A\n{SECRET},2\n',
        "line 4, has 2",
    ),
    Case("blanks where a row should be", "t.csv", ROWS + "   \n", "has 1 fields where 3", "Mend"),
    Case(
        "title above the header",
        "t.csv",
        "Patients of 2020\n" + ROWS + ROWS,
        "line 1, has 1 field",
        "Remove what stands",
    ),
    Case("wrong delimiter said", "t.csv", ROWS, "holds no ';'", "name ','", {"delimiter": ";"}),
    Case("tabs said, commas found", "t.tsv", ROWS, r"holds no '\t'", "name ','", {"delimiter": "tab"}),
    Case(
        "delimiter of two characters",
        "t.csv",
        ROWS,
        "',,' is not allowed",
        "one character",
        {"delimiter": ",,"},
    ),
    Case("quote of two characters", "t.csv", ROWS, "is not allowed", "one character", {"quote": "''"}),
    # quotes and line ends
    Case("quote never closed", "t.csv", f'name,age,town\n"{SECRET},30,A\n{SECRET},40,B\n', "", "quote"),
    Case(
        "quote never closed far down", "t.csv", many_rows(f'"{SECRET},1,A\n{SECRET},1,A\n'.encode()), "quote"
    ),
    Case(
        "text after a closed quote",
        "t.csv",
        ROWS + f'"{SECRET}" x,30,A\n',
        "line 4, has a quoted field",
        "quote",
    ),
    Case("mixed line ends", "t.csv", ROWS.replace("A\n", "A\r\n"), "line ends", "Save the file again"),
    Case(
        "a line of three megabytes", "t.csv", ROWS + SECRET * 500_000 + ",1,A\n", "two million bytes", "quote"
    ),
    Case(
        "a row that talks like the engine",
        "t.csv",
        many_rows(b"Expected Number of Columns: 7 Found: 77,GZIP\n"),
        "line 40,002, has 2 fields where 3",
        "Mend",
    ),
    # bytes
    Case("NUL byte", "t.csv", ROWS.encode() + b"\0x,1,A\n", "line 4, holds a NUL byte", "remove the byte"),
    Case("NUL byte far down", "t.csv", many_rows(b"\0x,1,A\n"), "line 40,002, holds a NUL byte"),
    Case("NUL bytes only", "t.csv", b"\0" * 5000, "NUL byte"),
    Case(
        "a broken character in UTF-8",
        "t.csv",
        many_rows(b"").replace(b"A", "Ä".encode(), 1) + b"\xe9,1,A\n",
        "bytes that are not UTF-8",
        "encoding",
    ),
    Case(
        "UTF-8 said, not so",
        "t.csv",
        ROWS.encode() + b"M\xfcller,1,A\n",
        "line 4, holds bytes that are not utf-8",
        "cp1252",
        {"encoding": "utf-8"},
    ),
    Case("UTF-16 said, not so", "t.csv", ROWS.encode() + b"x", "", "encoding", {"encoding": "utf-16"}),
    Case(
        "no encoding fits",
        "t.csv",
        ROWS.encode() + b"\x81\x8d,1,A\n",
        "line 4, holds bytes",
        "Name the encoding",
    ),
    Case(
        "an encoding nobody knows", "t.csv", ROWS, "'klingon' is not known", "utf-8", {"encoding": "klingon"}
    ),
    Case(
        "gzip cut short",
        "t.csv.gz",
        gzip.compress(many_rows(os.urandom(200_000).hex().encode()))[:-5000],
        "ends too early",
        "Fetch",
    ),
    Case("gzip damaged", "t.csv.gz", b"\x1f\x8b" + SECRET.encode() * 10, "damaged", "Fetch"),
    # names
    Case(
        "two columns of one name",
        "t.csv",
        f"name,age,name\n{SECRET},1,x\n",
        "more than one column named 'name'",
        "Rename",
    ),
    Case(
        "names alike but for case",
        "t.csv",
        f"Age,age\n{SECRET},1\n",
        "upper and lower case: 'Age', 'age'",
        "Rename",
    ),
    Case(
        "a column without name",
        "t.csv",
        f",age\n{SECRET},1\n",
        "without a name, at position 1",
        "Name every column",
    ),
    Case("names alike in Parquet", "t.parquet", parquet("Age", "age"), "upper and lower case", "Rename"),
    Case("no name in Parquet", "t.parquet", parquet("Age", ""), "without a name", "Name every column"),
    Case(
        "names alike in JSON",
        "t.jsonl",
        f'{{"Age": "{SECRET}", "age": 2}}\n',
        "upper and lower case",
        "Rename",
    ),
    Case(
        "names alike in pandas", "", pandas(["Age", "age"], [[SECRET, 1]]), "upper and lower case", "Rename"
    ),
    Case(
        "one name twice in pandas",
        "",
        pandas(["a", "a"], [[SECRET, 1]]),
        "more than one column named 'a'",
        "Rename",
    ),
    Case(
        "1 and '1' in pandas", "", pandas([1, "1"], [[SECRET, 1]]), "more than one column named '1'", "Rename"
    ),
    Case(
        "a hundred thousand columns",
        "t.csv",
        ",".join(f"c{i}" for i in range(100_000)) + "\n" + ",".join([SECRET] * 100_000) + "\n",
        "100,000 columns; at most 10,000",
        "Keep the columns",
    ),
    # files
    Case("empty", "t.csv", b"", "is empty", "column names"),
    Case("blank lines only", "t.csv", b"\n\n  \n", "is empty", "column names"),
    Case("a mark of encoding only", "t.csv", b"\xef\xbb\xbf", "is empty"),
    Case("empty Parquet", "t.parquet", b"", "is empty"),
    Case("a folder", "folder.csv", lambda path: path.mkdir(), "is a folder", "Name a file"),
    Case("a pipe", "t.csv", pipe, "not a regular file", "Save its content"),
    Case("not there", "patient.csv", missing_beside, "There is no file", "Did you mean 'patients.csv'"),
    Case("not there, nor its folder", "no/where.csv", lambda path: path, "There is no file", "no folder"),
    Case("a name too long", "", lambda path: path.parent / ("x" * 300), "cannot be read", "Check the path"),
    Case("Parquet cut short", "t.parquet", parquet("a", cut=20), "not a complete Parquet file", "Fetch"),
    Case("not Parquet", "t.parquet", ROWS, "not a complete Parquet file", "Fetch"),
    Case("not Arrow", "t.arrow", ROWS, "not a complete Arrow", "Fetch"),
    Case("not Arrow behind its mark", "t.feather", "ARROW1" + ROWS, "not a complete Arrow", "Fetch"),
    Case("not Excel", "t.xlsx", ROWS, "not a complete Excel file", "Save it again"),
    Case("old Excel", "t.xls", ROWS, "old form", "Save it as .xlsx"),
    Case("empty sheet", "t.xlsx", excel(), "empty sheet", "another sheet"),
    Case(
        "several sheets", "t.xlsx", excel([SECRET], sheets=2), "several sheets: 'Sheet', 'other1'", "table="
    ),
    Case("no such sheet", "t.xlsx", excel([SECRET]), "no sheet 'x'", "table=", {"table": "x"}),
    Case(
        "a nameless Excel column", "t.xlsx", excel(["a", None], [SECRET, 1]), "without a name, at position 2"
    ),
    Case(
        "not JSON",
        "t.jsonl",
        f'{{"a": "{SECRET}"}}\n{{"a": "{SECRET}\n',
        "not JSON",
        "one JSON object a line",
    ),
    Case("not DuckDB", "t.duckdb", ROWS, "not a DuckDB file", "current DuckDB"),
    Case("not SQLite", "t.sqlite", ROWS, "not a SQLite file", "Check the file"),
    Case("several tables", "t.sqlite", sqlite("a", "b"), "several tables: 'a', 'b', 'z_bytes'", "table="),
    Case(
        "no such table",
        "t.sqlite",
        sqlite("visits"),
        "no table 'visit'",
        "Did you mean 'visits'",
        {"table": "visit"},
    ),
    Case("bytes in SQLite", "t.sqlite", sqlite("a"), "Column 'b'", "Leave it out", {"table": "z_bytes"}),
    Case("several DuckDB tables", "t.duckdb", duckdb("a", "b"), "several tables: 'a', 'b'", "table="),
    Case("no such DuckDB table", "t.duckdb", duckdb("a"), "no table 'q'", "table=", {"table": "q"}),
    Case("no DuckDB table at all", "t.duckdb", duckdb(), "holds no table"),
    # other things
    Case(
        "mixed types in pandas",
        "",
        pandas(["a"], [[SECRET], [1]]),
        "Column 'a' of the pandas frame mixes types: int, str",
        "astype(str)",
    ),
    Case("no columns in pandas", "", pandas([], []), "has no columns", "at least one"),
    Case("a list", "", lambda _: [SECRET], "A list is not a table", "Give a path"),
    Case(
        "a database nobody knows",
        "",
        lambda _: f"klingon://me:{SECRET}@host/x",
        "klingon://host/x",
        "Ibis knows",
    ),
    Case("a driver not installed", "", lambda _: f"exasol://me:{SECRET}@host/x", "exasol://", "pip install"),
    Case("a memory limit nobody understands", "t.csv", ROWS, "'lots'", "2GB", {"memory_limit": "lots"}),
]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory of our own, which must be empty in the end."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hostile(case: Case, tmp_path: Path, scratch: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    source = case.make(folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(RequestError) as caught:
        open_table(source, **case.said)
    fault = caught.value
    assert case.phrase in fault.message
    assert case.remedy in fault.remedy and fault.remedy
    assert fault.exit_code == 2
    assert SECRET not in str(fault)
    assert fault.__suppress_context__ or fault.__context__ is None
    assert "\n" not in str(fault) and len(str(fault)) < 500
    assert sorted(folder.rglob("*")) == before


def test_case_names_are_distinct() -> None:
    assert len({case.name for case in CASES}) == len(CASES) > 60


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_unreadable_file(tmp_path: Path, scratch: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(ROWS)
    path.chmod(0)
    with pytest.raises(TableError, match="cannot be read"):
        open_table(path)


def test_unreadable_file_for_anyone(tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text(ROWS)

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sfumato.table.open.open", refuse, raising=False)
    with pytest.raises(TableError, match="Permission denied"):
        open_table(path)


def test_excel_without_its_package(tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    path = tmp_path / "t.xlsx"
    excel(["a"], [SECRET])(path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(RequestError, match=r"sfumato\[excel\]"):
        open_table(path)


def test_damage_within_a_parquet_file_is_told_when_met(tmp_path: Path, scratch: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    from sfumato.table import write_table

    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [f"{SECRET}{i}" for i in range(10_000)]}), path)
    content = bytearray(path.read_bytes())
    content[100:20_000] = os.urandom(19_900)
    path.write_bytes(content)
    with open_table(path) as source, pytest.raises(RequestError) as caught:
        write_table(source.table, tmp_path / "out.csv")
    assert SECRET not in str(caught.value)
    assert not (tmp_path / "out.csv").exists()
