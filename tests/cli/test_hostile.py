"""Recipes, destinations and settings that want to break the door: one clear message, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import LOADED, PROGRAM, RECIPE, SECRET, quiet, start
from typer.testing import Result

from sfumato import errors, pipeline

Run = Callable[..., Result]
RECIPES: dict[str, tuple[str | bytes, str]] = {
    "a table in place of a recipe": (f"name,age\n{SECRET},30\n", "perhaps a table"),
    "a list": (f"- {SECRET}\n", "this is a list"),
    "empty": ("", "The recipe is empty"),
    "bytes": (b"\xff\xfe\x00", "not text in UTF-8"),
    "no YAML": ("columns: {age: {role: quasi}\n", "not valid YAML"),
    "a key twice": ("columns:\n  age: {role: quasi}\n  age: {role: plain}\n", "stands twice"),
    "aliases that multiply": ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "YAML alias"),
    "no quasi-identifier": ("columns: {}\ncriteria: [{k-anonymity: {k: 2}}]\n", "nothing to generalize"),
    "no criterion": ("columns: {age: {role: quasi}}\n", "nothing is promised"),
    "a seed beyond every generator": (RECIPE.replace("seed: 7", "seed: 999999999999999999999"), "seed"),
    "a hierarchy that is a folder": (RECIPE.replace("hierarchy: suppress", "hierarchy: {tree: .}"),
                                     "Is a directory"),
    "a hierarchy that contains itself": (
        RECIPE.replace("hierarchy: suppress", "hierarchy: {tree: cycle.yaml}"), "contains itself"),
    "a hierarchy that is not nested": (RECIPE.replace("hierarchy: suppress", "hierarchy: knot.csv"),
                                       "not nested"),
    "a hierarchy with two roots": (RECIPE.replace("hierarchy: suppress", "hierarchy: roots.csv"),
                                   "2 roots"),
    "a hierarchy that misses values": (RECIPE.replace("hierarchy: suppress", "hierarchy: short.csv"),
                                       "lacks 2 values of column 'town'"),
}


@pytest.mark.parametrize("name", RECIPES)
def test_recipes(name: str, work: Path, run: Run) -> None:
    content, phrase = RECIPES[name]
    (work / "cycle.yaml").write_text("a: &a\n  b: *a\n")
    (work / "knot.csv").write_text("A;x;p;*\nB;x;q;*\nC;y;q;*\n")
    (work / "roots.csv").write_text("A;x\nB;y\nC;y\n")
    (work / "short.csv").write_text("A;*\n")
    (work / "hostile.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(work, run, phrase, "anonymize", "people.csv", "--recipe", "hostile.yaml", "--out", "r")


def refused(work: Path, run: Run, phrase: str, *said: Any, code: int = 2) -> None:
    before = sorted(work.rglob("*"))
    answer = run(*said)
    assert answer.exit_code == code, answer.output
    message = answer.stderr.removeprefix("sfumato: ").strip()
    assert answer.stderr.startswith("sfumato: ") and phrase in message and "\n" in message
    assert sorted(work.rglob("*")) == before


@pytest.mark.parametrize(("said", "phrase", "code"), [
    (("--out", ""), "No folder for the release is named", 2),
    (("--out", "x" * 300), "the name is too long", 2),
    (("--out", "deep/" + "x" * 300), "the name is too long", 2),
    (("--out", "people.csv"), "a file of that name", 2),
    (("--out", "/dev/full"), "a file of that name", 2),
    (("--out", "r", "--recipe", "."), "Is a directory", 2),
    (("--out", "r", "--recipe", "/dev/zero"), "it is no recipe", 2),
    (("--out", "r", "--memory", "1KB"), "needs more memory", 2),
    (("--out", "r", "--memory", "0"), "the memory limit '0'", 2),
    (("--out", "r", "--threads", "0"), "the number of threads 0", 2),
    (("--out", "r", "--suppression", "nan"), "finite number", 2),
    (("--out", "r", "--k", "301"), "in so small a table", 3),
])
def test_settings(said: tuple[str, ...], phrase: str, code: int, work: Path, run: Run) -> None:
    refused(work, run, phrase, "anonymize", "people.csv", "--recipe", "people.yaml", *said, code=code)


def test_one_record_and_none(work: Path, run: Run) -> None:
    header, first = (work / "people.csv").read_text().splitlines()[:2]
    (work / "one.csv").write_text(f"{header}\n{first}\n")
    (work / "none.csv").write_text(f"{header}\n")
    said = ("--recipe", "people.yaml", "--out", "r")
    refused(work, run, "in so small a table", "anonymize", "one.csv", *said, code=3)
    refused(work, run, "The table has no records", "anonymize", "none.csv", *said)


def test_a_column_of_nothing_is_a_value_like_any_other(work: Path, run: Run) -> None:
    (work / "nulls.csv").write_text("name,age,town,illness\n" + ",,,x\n,,,y\n" * 3)
    answer = run("anonymize", "nulls.csv", "--recipe", "people.yaml", "--out", "r", "--no-report")
    assert answer.exit_code == 0, answer.output


def test_mixed_types_name_the_column_and_the_remedy(work: Path, run: Run) -> None:
    (work / "mixed.csv").write_text("name,age,town,illness\n" + f"{SECRET},old,A,{SECRET}\n"
                                    + f"{SECRET},30,A,x\n" * 9)
    refused(work, run, "Column 'age' has 1 value that cannot be read as finite numbers", "anonymize",
            "mixed.csv", "--recipe", "people.yaml", "--out", "r")


def test_a_header_that_was_not_seen(work: Path, run: Run) -> None:
    refused(work, run, "--header", "anonymize", "people.csv", "--recipe", "people.yaml", "--out", "r",
            "--no-header")


@pytest.mark.parametrize("said", [
    ("--format", "csv"), ("--format", "parquet"), ("--format", "feather"), ("--format", "json"),
    ("--format", "excel"), ("--to", "x.duckdb", "--as", "t"), ("--to", "x.sqlite", "--as", "t")],
    ids=lambda said: said[1])
def test_a_disk_that_fills_up(said: tuple[str, ...], work: Path) -> None:
    """A limit on the size of files stands for the disk; every way of writing is refused in words."""
    source = str(Path(__file__).resolve().parents[2] / "src")
    room = 8000 if "--to" in said else 500
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room})); {PROGRAM}"
    done = subprocess.run([sys.executable, "-c", limited, "anonymize", "--recipe", "people.yaml", "--out",
                           "r", "--no-report", *said], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 2 and "cannot be written" in done.stderr, done.stderr
    assert ".sfumato-" not in done.stderr
    assert sorted(one.name for one in work.iterdir()) == ["people.csv", "people.yaml"]
    quiet(done.stdout + done.stderr)


@pytest.mark.parametrize("target", ["x.duckdb", "x.sqlite"])
def test_what_fails_its_verdict_in_a_database_is_withdrawn(target: str, work: Path, run: Run,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.errors import TableError
    from sfumato.table import open_table

    asked, prove = [], pipeline.prove

    def second_fails(*said: Any) -> Any:
        asked.append(said)
        if len(asked) == 2:
            raise errors.UnprovenError("The release failed its own verdict.", "Report it.")
        return prove(*said)

    monkeypatch.setattr(pipeline, "prove", second_fails)
    answer = run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report", "--to", target,
                 "--as", "t")
    assert answer.exit_code == 1 and not (work / "r").exists()
    with pytest.raises(TableError, match="holds no table"):
        open_table(work / target, table="t")


def test_ctrl_c_at_any_moment_leaves_nothing(work: Path) -> None:
    """Interrupted while the program starts, reads, searches, writes or verifies."""
    import signal

    rows = (work / "people.csv").read_text().splitlines(keepends=True)
    (work / "people.csv").write_text(rows[0] + "".join(rows[1:]) * 500)
    (work / "scratch").mkdir()
    for wait in (0.1, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5, 1.7, 2.0):
        process = start("anonymize", "--recipe", "people.yaml", "--out", "r", "--format", "json",
                        env_extra={"TMPDIR": str(work / "scratch")}, program=LOADED)
        assert process.stdout and process.stdout.readline() == "\n"
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        output, said = process.communicate(timeout=60)
        quiet(output + said)
        assert list((work / "scratch").iterdir()) == []
        if (work / "r").exists():  # it was done already
            assert sorted(one.name for one in (work / "r").iterdir()) == [
                "manifest.json", "release.json", "report.html"]
            break
        assert process.returncode == 2 and said.startswith("sfumato: Interrupted"), said
        assert sorted(one.name for one in work.iterdir()) == ["people.csv", "people.yaml", "scratch"]
