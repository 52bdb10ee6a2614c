"""Tables in and out: every kind of source opens, every release is whole or absent."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import resource
import signal
import sqlite3
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import DestinationError, TableError
from sfumato.table import (
    Dialect,
    Source,
    connect,
    fingerprint,
    frame_like,
    open_table,
    require_columns,
    sha256,
    staged,
    write_table,
    write_to_database,
)
from sfumato.table.engine import disconnect, private_folder

TEXT = "id,age,town\n007,30,Zürich\n1.50,,Bern\n"
ROWS = [("007", "30", "Zürich"), ("1.50", None, "Bern")]


def rows(source: Source) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in source.table.to_pyarrow().to_pylist()]


def opened(source: Any, **said: Any) -> tuple[tuple[str, ...], list[tuple[Any, ...]], Dialect | None]:
    with open_table(source, **said) as table:
        return tuple(table.table.columns), rows(table), table.dialect


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory of our own, which must be empty when every source is closed."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Source]:
    path = tmp_path / "in.csv"
    path.write_text(TEXT, encoding="utf-8")
    with open_table(path) as table:
        yield table


# ---------------------------------------------------------------- text tables


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^"])
def test_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TEXT.replace(",", delimiter), encoding="utf-8")
    assert opened(path) == (("id", "age", "town"), ROWS, Dialect(delimiter))


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("cp1252", "cp1252"),
        ("utf-32", "utf-32"),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_encoding_is_found(tmp_path: Path, encoding: str, found: str, compressed: bool) -> None:
    path = tmp_path / ("t.csv.gz" if compressed else "t.csv")
    content = TEXT.encode(encoding)
    path.write_bytes(gzip.compress(content) if compressed else content)
    assert opened(path) == (("id", "age", "town"), ROWS, Dialect(encoding=found))


def test_the_private_copy_is_gone_once_loaded(tmp_path: Path, scratch: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    with open_table(path) as source:
        assert [p for p in scratch.rglob("*") if p.is_file()] == []
        assert rows(source) == ROWS


def test_a_source_shows_no_rows(source: Source) -> None:
    import ibis

    ibis.options.interactive = True
    try:
        assert "Bern" not in repr(source)
    finally:
        ibis.options.interactive = False


def test_encoding_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("name,town\n1,Łódź\n".encode("cp1250"))
    assert opened(path, encoding="cp1250")[1] == [("1", "Łódź")]


def test_encoding_that_shows_only_far_down(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 100_000 + "2,é\n".encode("cp1252"))
    with open_table(path) as table:
        assert table.dialect == Dialect(encoding="cp1252")
        assert table.table.count().execute() == 100_001
        assert rows(table)[-1] == ("2", "é")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(tmp_path: Path, end: str, last: bool) -> None:
    path = tmp_path / "t.csv"
    text = TEXT.replace("\n", end)
    path.write_bytes((text if last else text.removesuffix(end)).encode())
    assert opened(path)[1] == ROWS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a,b\n"x,""y""\nz",1\n', [('x,"y"\nz', "1")]),
        ("a,b\n'x,y',1\n'z','2'\n", [("x,y", "1"), ("z", "2")]),
        ("a,b\nO'Brien,'t\n", [("O'Brien", "'t")]),
        ('a,b\n5" pipe,1\n', [('5" pipe', "1")]),
        ("a,b\n NULL , \n#1,-\n", [(" NULL ", " "), ("#1", "-")]),
        ('a,b\n"",1\n,\n', [(None, "1"), (None, None)]),
        ("a,b\n\n1,2\n\n\n3,4\n\n", [("1", "2"), ("3", "4")]),
        ("\n\na,b\n1,2\n", [("1", "2")]),
        ("price;net\n1,5;2,5\n3,5;4\n", [("1,5", "2,5"), ("3,5", "4")]),
        ('a,b\n1,"x,\ny"\n2,\n', [("1", "x,\ny"), ("2", None)]),
        ("a,b\n1,\n2,\n", [("1", None), ("2", None)]),
        ("text\nhello, world\nfine\n", [("hello, world",), ("fine",)]),
        ("a\n1\n\n3\n", [("1",), (None,), ("3",)]),
        ("a,b\n", []),
        ("a,b", []),
        ("a,b\n1,2", [("1", "2")]),
    ],
)
def test_fields_stay_as_written(tmp_path: Path, text: str, expected: list[tuple[Any, ...]]) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    assert opened(path)[1] == expected


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("name,age\nx,1\n", True),
        ("name,city\nx,y\n", True),
        ("x,1\ny,2\n", False),
        ("M,yes\nF,no\nM,no\nF,yes\nM,yes\n", False),
        ("name,2019,2020\nx,1,2\ny,3,4\n", False),  # a number above numbers, and no text above one
        ("age,2019\n30,1\n40,2\n", True),
        ("a,b\n", True),
        ("1,2\n", False),
        ("2020-01-01,x\n2020-01-02,y\n", False),
    ],
)
def test_header_is_found_and_sayable(tmp_path: Path, text: str, header: bool) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    columns, found, dialect = opened(path)
    assert dialect is not None and dialect.header is header
    assert len(found) == len(text.splitlines()) - header
    assert header or columns[0] == "column_1"
    said = opened(path, header=not header)
    assert len(said[1]) == len(text.splitlines()) - (not header)


def test_quote_said_as_none(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"x,1\n')
    assert opened(path, quote="")[1] == [('"x', "1")]


HOSTILE_NAMES = [
    "select",
    "rowid",
    'a"b',
    "a'b",
    "a b",
    "é",
    "É",
    "名前",
    "😀",
    "x\ny",
    "x;y",
    "a\\b",
    "embedded",
    "count",
    "*",
    "n" * 500,
    "sfumato_source",
    "column_name",
    "json",
    "{}",
    "%s",
    "$1",
    "?",
    "--",
    "a.b",
    " padded ",
]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "jsonl", "xlsx", "sqlite", "frame"])
def test_any_column_name(tmp_path: Path, ending: str) -> None:
    import pyarrow as pa

    given = pa.table([[str(i)] for i in range(len(HOSTILE_NAMES))], names=HOSTILE_NAMES)
    formats: dict[str, Any] = {"jsonl": "json", "xlsx": "excel"}
    path = tmp_path / f"t.{ending}"
    with open_table(given) as frame:
        if ending == "sqlite":
            write_to_database(path, 'ta"ble', frame.table)
        elif ending != "frame":
            write_table(frame.table, path, formats.get(ending, ending))
    with open_table(given if ending == "frame" else path) as table:
        assert list(table.table.columns) == HOSTILE_NAMES
        assert rows(table) == [tuple(str(i) for i in range(len(HOSTILE_NAMES)))]
        counted = table.table.group_by(HOSTILE_NAMES).aggregate(_n=table.table.count()).to_pyarrow()
        assert counted.num_rows == 1
        write_table(table.table, tmp_path / "again.csv")
    assert list(opened(tmp_path / "again.csv")[0]) == HOSTILE_NAMES


@pytest.mark.parametrize("name", ["a[1]*?.csv", "it's.csv", 'quo"te.csv', "year=2020.csv", "é ü.csv"])
def test_any_file_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "year=2020"
    folder.mkdir()
    (folder / "a1x.csv").write_text("other\n1\n")
    (folder / name).write_text("a,b\n1,2\n")
    with open_table(folder / name) as table:
        assert (tuple(table.table.columns), rows(table)) == (("a", "b"), [("1", "2")])
        write_table(table.table, folder / name.replace(".csv", ".parquet"), "parquet")
    assert opened(folder / name.replace(".csv", ".parquet"))[0] == ("a", "b")


def test_many_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"c{i}" for i in range(3000)) + "\n" + ",".join("1" * 3000) + "\n")
    with open_table(path) as table:
        assert len(table.table.columns) == 3000


def test_all_null_and_one_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n,\n")
    assert opened(path)[1] == [(None, None)]


@pytest.mark.needs_shared
def test_adult(shared: Path) -> None:
    with open_table(shared / "data" / "adult" / "adult-9.csv") as table:
        assert table.table.count().execute() == 30162
        assert len(table.table.columns) == 9


# ---------------------------------------------------------------- other files and databases


def arrow_table() -> Any:
    import pyarrow as pa

    return pa.table({"n": [1, None, 3], "x": [0.5, 1.5, None], "s": ["a", None, ""], "z": pa.nulls(3)})


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather", "json", "xlsx", "unknown"])
def test_typed_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    with open_table(arrow_table()) as table:
        write_table(table.table, path, {"xlsx": "excel", "unknown": "parquet"}.get(ending, ending))  # type: ignore[arg-type]
    found = opened(path)[1]
    empty = None if ending == "xlsx" else ""
    expected = [(1, 0.5, "a", None), (None, 1.5, None, None), (3, None, empty, None)]
    assert [row[: len(row)] for row in found] == expected


def test_arrow_stream(tmp_path: Path) -> None:
    import pyarrow as pa

    path = tmp_path / "t.arrows"
    with pa.ipc.new_stream(str(path), arrow_table().schema) as file:
        file.write_table(arrow_table())
    assert len(opened(path)[1]) == 3


def test_json_texts_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"d": "2020-01-01T00:00:00Z", "n": "007", "t": "12:00"}\n')
    assert opened(path)[1] == [("2020-01-01T00:00:00Z", "007", "12:00")]


def test_excel_types(tmp_path: Path) -> None:
    import openpyxl

    path = tmp_path / "t.xlsx"
    book = openpyxl.Workbook()
    for row in (["n", "mixed", "s"], [1, 1, "007"], [2, "x", None], [None, None, None], [None, 2.5, "b"]):
        book.active.append(row)
    book.save(path)
    assert opened(path)[1] == [(1, "1", "007"), (2, "x", None), (None, "2.5", "b")]
    assert opened(path, header=False)[0] == ("column_1", "column_2", "column_3")


def sqlite_file(path: Path) -> Path:
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE people (id INTEGER, x REAL, mixed, s TEXT)")
        file.executemany(
            "INSERT INTO people VALUES (?, ?, ?, ?)", [(1, 1.5, 1, "007"), (None, 2.0, 2.5, None)]
        )
        file.execute("CREATE TABLE other (a)")
    file.close()
    return path


@pytest.mark.parametrize("url", [False, True])
def test_sqlite(tmp_path: Path, url: bool) -> None:
    path = sqlite_file(tmp_path / "t.sqlite")
    before = sha256(path)
    source = f"sqlite://{path}" if url else path
    assert opened(source, table="people")[1] == [(1, 1.5, "1", "007"), (None, 2.0, "2.5", None)]
    assert sha256(path) == before


@pytest.mark.parametrize("url", [False, True])
def test_duckdb_file(tmp_path: Path, url: bool) -> None:
    import duckdb

    path = tmp_path / "it's.duckdb"
    write_duckdb(path, "CREATE TABLE t AS SELECT 1 AS a")
    before = sha256(path)
    with open_table(f"duckdb://{path}" if url else path) as source:
        assert (rows(source), source.kind, source.path) == ([(1,)], "duckdb", path)
        assert fingerprint(source) == before
        with pytest.raises(duckdb.Error, match="read-only"):
            source.backend.con.execute("CREATE TABLE sfumato_source.x (a INT)")
    assert sha256(path) == before and list(tmp_path.glob("*.wal")) == []


def write_duckdb(path: Path, *statements: str) -> None:
    import duckdb

    with duckdb.connect(str(path)) as file:
        for statement in statements:
            file.execute(statement)


# ---------------------------------------------------------------- frames


def test_pandas_there_and_back() -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, 2**60 + 1], dtype="Int64"),
            "c": pd.Categorical(["x", "y", None]),
            "o": ["a", None, "b"],
        },
        index=[5, 5, 7],
    )
    with open_table(frame) as source:
        assert source.kind == "pandas"
        assert rows(source) == [(1, "x", "a"), (None, "y", None), (2**60 + 1, None, "b")]
        back = frame_like(source, source.table)
    assert isinstance(back, pd.DataFrame)
    assert back["n"].tolist() == [1, pd.NA, 2**60 + 1] and list(back.index) == [0, 1, 2]
    assert list(frame.index) == [5, 5, 7]


def test_a_filtered_pandas_frame_keeps_its_rows() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": range(10), "b": list("abcdefghij")})
    with open_table(frame[frame.a % 2 == 1].iloc[::-1]) as source:
        assert rows(source) == [(9, "j"), (7, "h"), (5, "f"), (3, "d"), (1, "b")]


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_there_and_back(lazy: bool) -> None:
    import polars as pl

    frame = pl.DataFrame({"n": [1, None], "c": pl.Series(["x", None], dtype=pl.Categorical)})
    with open_table(frame.lazy() if lazy else frame) as source:
        back = frame_like(source, source.table)
    assert isinstance(back, pl.DataFrame) and back.rows() == [(1, "x"), (None, None)]


@pytest.mark.parametrize("shape", ["table", "batch", "reader"])
def test_pyarrow_there_and_back(shape: str) -> None:
    import pyarrow as pa

    table = pa.table({"n": [1, 2], "d": pa.array(["x", "x"]).dictionary_encode()})
    given = {"table": table, "batch": table.to_batches()[0], "reader": table.to_reader()}[shape]
    with open_table(given) as source:
        back = frame_like(source, source.table)
    assert isinstance(back, pa.Table) and back.to_pylist() == table.to_pylist()


def test_ibis_there_and_back() -> None:
    import ibis

    backend = ibis.duckdb.connect()
    table = backend.create_table("t", ibis.memtable({"a": [1, 2]}))
    with open_table(table) as source:
        assert source.kind == "ibis" and source.backend is backend
        assert frame_like(source, source.table.filter(source.table.a > 1)).to_pyarrow().to_pylist() == [
            {"a": 2}
        ]
    assert backend.table("t").count().execute() == 2
    backend.disconnect()


def test_an_ibis_table_in_memory() -> None:
    import ibis

    with open_table(ibis.memtable({"a": [1]})) as source:
        assert rows(source) == [(1,)]


def test_a_file_comes_back_as_arrow(source: Source) -> None:
    assert frame_like(source, source.table).num_rows == 2


def test_fingerprint_of_frames() -> None:
    import pyarrow as pa

    def of(columns: dict[str, Any]) -> str | None:
        with open_table(pa.table(columns)) as source:
            return fingerprint(source)

    first = of({"a": ["x", "y", "y"], "b": [1, 2, 2]})
    assert first == of({"a": ["y", "x", "y"], "b": [2, 1, 2]})
    others = [
        {"a": ["x", "y"], "b": [1, 2]},
        {"a": ["x", "y", "y"], "c": [1, 2, 2]},
        {"a": ["y", "x", "y"], "b": [1, 2, 2]},
        {"a": ["x", None, "y"], "b": [1, 2, 2]},
        {"a": ["x", "y", "y"], "b": ["1", "2", "2"]},
    ]
    assert first not in [of(other) for other in others]
    assert len({of(other) for other in others}) == len(others)


def test_fingerprint_of_a_file(source: Source) -> None:
    assert source.path is not None and fingerprint(source) == sha256(source.path)


# ---------------------------------------------------------------- the engine


def test_the_engine_keeps_to_itself() -> None:
    backend = connect(memory_limit="500MB", threads=1)
    folder = private_folder(backend)
    try:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700

        def setting(name: str) -> Any:
            return backend.con.execute(f"SELECT current_setting('{name}')").fetchall()[0][0]

        assert not setting("autoinstall_known_extensions") and not setting("autoload_known_extensions")
        assert not setting("enable_progress_bar") and setting("threads") == 1
        assert setting("memory_limit").startswith("476")
    finally:
        disconnect(backend)
    assert not folder.exists()
    disconnect(backend)


def test_spilled_rows_are_gone_after_closing(tmp_path: Path, scratch: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},{'x' * 90}{i}\n" for i in range(300_000)))
    source = open_table(path, memory_limit="40MB", threads=1)
    assert any(scratch.rglob("*.*")), "nothing was spilled: the test has lost its object"
    assert source.table.count().execute() == 300_000
    source.close()
    source.close()
    assert list(scratch.iterdir()) == []


def test_missing_columns(source: Source) -> None:
    require_columns(source, ["age", "town"])
    with pytest.raises(TableError, match="did you mean 'age'"):
        require_columns(source, ["agee"])


# ---------------------------------------------------------------- out: files


def test_csv_out_is_what_came_in(source: Source, tmp_path: Path) -> None:
    write_table(source.table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == TEXT


def test_csv_out_keeps_a_dialect(source: Source, tmp_path: Path) -> None:
    write_table(source.table, tmp_path / "out.csv", delimiter=";", header=False)
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == TEXT.split("\n", 1)[1].replace(",", ";")
    write_table(source.table, tmp_path / "out.tsv", "tsv")
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8") == TEXT.replace(",", "\t")


def test_null_and_empty_text_differ_in_csv(tmp_path: Path) -> None:
    with open_table(arrow_table()) as source:
        write_table(source.table.select("s", "n"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == 's,n\na,1\n,\n"",3\n'


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow", "json"])
def test_order_is_kept(tmp_path: Path, format: Any) -> None:
    import ibis

    backend = connect()
    numbers = made(backend, "SELECT i AS a, hash(i) AS h FROM range(300000) t(i)").order_by(ibis._.h)
    expected = numbers.to_pyarrow()["a"].to_pylist()
    path = tmp_path / f"out.{format}"
    write_table(numbers, path, format)
    disconnect(backend)
    assert [int(row[0]) for row in opened(path)[1]] == expected


def test_another_engine_writes_the_same_bytes(source: Source, tmp_path: Path) -> None:
    import ibis

    write_to_database(tmp_path / "other.sqlite", "t", source.table)
    other = ibis.sqlite.connect(tmp_path / "other.sqlite")
    write_table(other.table("t"), tmp_path / "out.csv")
    write_table(ibis.memtable(source.table.to_pyarrow()), tmp_path / "out2.csv")
    other.disconnect()
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == TEXT
    assert (tmp_path / "out2.csv").read_text(encoding="utf-8") == TEXT


def test_a_new_file_has_the_usual_permissions(source: Source, tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    write_table(source.table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "other").stat().st_mode


@contextlib.contextmanager
def no_room() -> Iterator[None]:
    """No file may grow beyond some bytes: what a full disk looks like."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def big(backend: Any) -> Any:
    return made(backend, "SELECT i AS a, repeat('x', 50) || i AS b FROM range(20000) t(i)")


def made(backend: Any, query: str) -> Any:
    backend.con.execute(f"CREATE VIEW made AS {query}").fetchall()
    return backend.table("made")


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow", "feather", "json", "excel"])
def test_no_room_leaves_the_old_file(tmp_path: Path, format: Any) -> None:
    destination = tmp_path / "out"
    destination.write_text("before")
    backend = connect()
    try:
        with no_room(), pytest.raises(DestinationError) as caught:
            write_table(big(backend).limit(2000), destination, format)
    finally:
        disconnect(backend)
    assert "out cannot be written" in caught.value.message and "Choose another place" in caught.value.remedy
    assert destination.read_text() == "before"
    assert {p.name for p in tmp_path.iterdir()} == {"out", "scratch"}


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("no/such/out.csv", "its folder does not exist"),
        ("in.csv/out.csv", "a file, not a folder"),
        (".", "it is a folder"),
        ("x" * 300, "name is too long"),
    ],
)
def test_impossible_destinations(source: Source, tmp_path: Path, place: str, words: str) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(DestinationError, match=words):
        write_table(source.table, tmp_path / place)
    assert sorted(tmp_path.iterdir()) == before


def test_an_unknown_format(source: Source, tmp_path: Path) -> None:
    with pytest.raises(DestinationError, match="Choose one of csv, tsv"):
        write_table(source.table, tmp_path / "out", "xml")  # type: ignore[arg-type]


def test_excel_refuses_what_it_cannot_hold(tmp_path: Path) -> None:
    import pyarrow as pa

    with (
        open_table(pa.table({"a": ["s3cr3t\x01"]})) as source,
        pytest.raises(DestinationError, match="control character") as caught,
    ):
        write_table(source.table, tmp_path / "out.xlsx", "excel")
    assert "s3cr3t" not in str(caught.value)
    assert {p.name for p in tmp_path.iterdir()} == {"scratch"}


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_ctrl_c_while_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: Any) -> None:
    backend = connect()
    endless = made(backend, "SELECT i AS a FROM range(100000000000) t(i)")

    monkeypatch.setattr(
        signal, "_before", signal.signal(signal.SIGINT, signal.default_int_handler), raising=False
    )

    def press() -> None:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            write_table(endless, tmp_path / "out", format)
    finally:
        thread.join()
        disconnect(backend)
    assert {p.name for p in tmp_path.iterdir()} == {"scratch"}


# ---------------------------------------------------------------- out: folders


def test_staged_files_arrive_together(tmp_path: Path) -> None:
    destination = tmp_path / "a" / "b"
    with staged(destination) as stage:
        (stage / "release.csv").write_text("1")
        (stage / "parts").mkdir()
        (stage / "parts" / "x").write_text("2")
        assert stage.stat().st_dev == tmp_path.stat().st_dev
        assert not (destination / "release.csv").exists()
    assert sorted(p.name for p in destination.iterdir()) == ["parts", "release.csv"]
    with staged(destination) as stage:
        (stage / "release.csv").write_text("new")
    assert (destination / "release.csv").read_text() == "new"
    assert sorted(p.name for p in destination.iterdir()) == ["parts", "release.csv"]


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failed_stage_leaves_nothing(tmp_path: Path, fault: type[BaseException]) -> None:
    with pytest.raises(fault), staged(tmp_path / "a" / "b") as stage:
        (stage / "release.csv").write_text("1")
        raise fault
    assert {p.name for p in tmp_path.iterdir()} == {"scratch"}


def test_a_failed_stage_keeps_what_was_there(tmp_path: Path) -> None:
    destination = tmp_path / "out"
    destination.mkdir()
    (destination / "notes.txt").write_text("mine")
    with pytest.raises(KeyboardInterrupt), staged(destination) as stage:
        (stage / "notes.txt").write_text("theirs")
        raise KeyboardInterrupt
    assert [p.name for p in destination.iterdir()] == ["notes.txt"]
    assert (destination / "notes.txt").read_text() == "mine"


def test_a_move_that_fails_halfway_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    destination = tmp_path / "out"
    destination.mkdir()
    (destination / "a").write_text("old")
    replace = os.replace

    def breaking(source: Any, target: Any) -> None:
        if Path(target) == destination / "b":
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", breaking)
    with pytest.raises(KeyboardInterrupt), staged(destination) as stage:
        (stage / "a").write_text("new")
        (stage / "b").write_text("new")
    assert {p.name: p.read_text() for p in destination.iterdir()} == {"a": "old"}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_no_room_in_a_stage(tmp_path: Path, number: int) -> None:
    with pytest.raises(DestinationError, match="Free some room"), staged(tmp_path / "out"):
        raise OSError(number, "full")
    assert {p.name for p in tmp_path.iterdir()} == {"scratch"}


def test_faults_that_are_not_about_the_destination_stay_themselves(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), staged(tmp_path / "out"):
        (tmp_path / "elsewhere").read_text()


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    for place in (tmp_path / "out", tmp_path / "out" / "deeper"):
        with pytest.raises(DestinationError), staged(place):
            raise AssertionError("not reached")
    assert (tmp_path / "out").read_text() == "mine"


# ---------------------------------------------------------------- out: databases


@pytest.mark.parametrize("ending", ["duckdb", "sqlite"])
def test_back_into_the_database_it_came_from(tmp_path: Path, ending: str) -> None:
    import duckdb

    path = tmp_path / f"t.{ending}"
    make: dict[str, Callable[[], Any]] = {
        "duckdb": lambda: write_duckdb(path, "CREATE TABLE people AS SELECT 1 AS id, 'x' AS s"),
        "sqlite": lambda: write_one_person(path),
    }
    make[ending]()
    with open_table(path, table="people") as source:
        write_to_database(source, "release", source.table.mutate(extra=source.table.id + 1))
        assert rows(source) == [(1, "x")]
        with pytest.raises(DestinationError, match="already has a table 'release'"):
            write_to_database(source, "release", source.table)
        with pytest.raises(DestinationError, match="already has a table 'people'"):
            write_to_database(source, "people", source.table)
        write_to_database(source, "release", source.table.select("s"), replace=True)
        if ending == "duckdb":
            with pytest.raises(duckdb.Error, match="read-only"):
                source.backend.con.execute("CREATE TABLE sfumato_source.x (a INT)")
    assert opened(path, table="release")[:2] == (("s",), [("x",)])
    assert opened(path, table="people")[:2] == (("id", "s"), [(1, "x")])


def write_one_person(path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE people (id INTEGER, s TEXT)")
        file.execute("INSERT INTO people VALUES (1, 'x')")
    file.close()


def test_into_an_ibis_database(source: Source) -> None:
    import ibis

    backend = ibis.duckdb.connect()
    target = open_table(backend.create_table("t", ibis.memtable({"a": [1, 2]})))
    write_to_database(target, "release", target.table.filter(target.table.a == 2))
    write_to_database(target, "copied", source.table)
    assert backend.table("release").to_pyarrow().to_pylist() == [{"a": 2}]
    assert backend.table("copied").count().execute() == 2
    named = backend.con.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
    assert named == [("copied",), ("release",), ("t",)]
    with pytest.raises(DestinationError):
        write_to_database(target, "t", target.table)
    backend.disconnect()


def test_a_file_is_no_database(source: Source) -> None:
    with pytest.raises(DestinationError, match=r"in\.csv does not stand in a database"):
        write_to_database(source, "t", source.table)


@pytest.mark.parametrize("ending", ["duckdb", "sqlite"])
def test_a_failed_write_leaves_no_table(tmp_path: Path, ending: str) -> None:
    import ibis

    path = tmp_path / f"t.{ending}"
    with open_table(arrow_table()) as source:
        write_to_database(path, "first", source.table)
        failing = source.table.mutate(
            bad=ibis.literal("s3cr3t").concat(source.table.n.cast("string")).cast("int")
        )
        with pytest.raises(TableError) as caught:
            write_to_database(path, "second", failing)
    assert "s3cr3t" not in str(caught.value)
    assert len(opened(path)[1]) == 3
