"""`sfumato recommend`: the table of approaches, the recipe it writes, and the questions of a terminal."""

from __future__ import annotations

import json
import os
import pty
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import PROGRAM, SECRET
from typer.testing import Result

Run = Callable[..., Result]
ASKED = ("recommend", "people.csv", "--quasi", "age,town", "-k", 5, "--identifying", "name")


def test_it_prints_approaches_and_writes_the_recipe_that_runs(work: Path, run: Run) -> None:
    told = run(*ASKED, "--sensitive", "illness", "--diversity", 2, "--report", "xk.html")
    assert told.exit_code == 0, told.output
    for word in ("Approaches, best first", "Recommended:", "Precision", "Greatest data loss", "xk.yaml"):
        assert word in told.stdout
    assert "released as they are: visits" in told.stdout
    assert "<polyline" in (work / "xk.html").read_text() and SECRET not in (work / "xk.html").read_text()
    done = run("anonymize", "--recipe", "xk.yaml", "--out", "release")
    assert done.exit_code == 0, done.output
    assert "real-records" in done.stdout and "Not to be handed on: release/private" in done.stdout
    assert sorted(one.name for one in (work / "release").iterdir()) == [
        "manifest.json", "private", "release.csv", "report.html"]
    assert run("check", "release").exit_code == 0


def test_json_has_exactly_what_is_promised(work: Path, run: Run) -> None:
    answer = run(*ASKED, "--prefer", "original", "--json")
    facts = json.loads(answer.stdout)
    assert list(facts) == ["approaches", "recommended", "precision_range", "maximum_loss", "recipe"]
    assert facts["recipe"] == "xk.yaml"
    assert (work / "xk.yaml").read_text().startswith("# Recommended by sfumato")
    assert facts["recommended"][0] == facts["approaches"][0]["xk"]
    assert run(*ASKED, "--json").exit_code == 0  # its own recipe is written anew


def test_the_hint_in_the_recipe_stays_a_comment(work: Path, run: Run) -> None:
    """Whatever a column is called: a line of its own would be read as the recipe's."""
    rows = [{"a": n % 3, "b\nmethod: {name: mondrian}": n % 4} for n in range(60)]
    (work / "odd.json").write_text(json.dumps(rows))
    assert run("recommend", "odd.json", "--quasi", "a", "--quasi", f'"{list(rows[0])[1]}"').exit_code == 0
    written = (work / "xk.yaml").read_text()
    assert sum(line.startswith("method") for line in written.splitlines()) == 1
    done = run("anonymize", "odd.json", "--recipe", "xk.yaml", "--out", "odd")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(("more", "code", "told"), [
    (("--diversity", "2"), 2, "no sensitive column is named"),
    (("--sensitive", "illness", "--diversity", "x"), 2, "not clear from 'x'"),
    (("--sensitive", "illness", "--diversity", "illness=9"), 2, "at most the column's 4"),
    (("--out", "people.yaml"), 2, "is no recommended recipe"),
    (("-k", "1"), 2, "k is 1"),
    (("--min-precision", "100", "-k", "300"), 3, "Lower the minimum precision"),
])
def test_wrong_requests_end_with_a_message(work: Path, run: Run, more: tuple[str, ...], code: int,
                                           told: str) -> None:
    answer = run(*ASKED, *more)
    assert answer.exit_code == code and told in answer.stderr


def test_without_a_terminal_nothing_is_asked(work: Path, run: Run) -> None:
    answer = run("recommend", "people.csv")
    assert answer.exit_code == 2 and "No quasi-identifier is named" in answer.stderr


def test_in_a_terminal_the_questions_are_asked_one_by_one(work: Path) -> None:
    """Suggested roles stand as defaults; a wrong column is asked again."""
    answers = ["name", "age,twon", "age,town", "", "illness", "2", "n", "0", "original"]
    pid, terminal = pty.fork()
    if pid == 0:
        source = str(Path(__file__).resolve().parents[2] / "src")
        os.environ.update(PYTHONPATH=source, TERM="dumb", COLUMNS="200")
        os.execv(sys.executable, [sys.executable, "-c", PROGRAM, "recommend", "people.csv"])
    seen = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
        if seen.rstrip(b" ").endswith(b":") and answers and part.rstrip(b" ").endswith(b":"):
            os.write(terminal, answers.pop(0).encode() + b"\n")
    _, status = os.waitpid(pid, 0)
    text = seen.decode()
    assert os.waitstatus_to_exitcode(status) == 0, text
    assert not answers and "no column 'twon'" in text and "Recommended:" in text
    assert "k: records that every pair must have [5]" in text
    recipe = (work / "xk.yaml").read_text()
    assert "age: {role: quasi}" in recipe and "name: {role: identifying}" in recipe and "l: 2" in recipe
