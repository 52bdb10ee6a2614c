"""`sfumato attack`: exit codes, JSON, and nobody's value in what is printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import SECRET
from typer.testing import Result

Run = Callable[..., Result]


@pytest.fixture
def published(work: Path, run: Run) -> Path:
    assert run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report").exit_code == 0
    return work


def test_a_likely_value_is_exit_code_1(published: Path, run: Run) -> None:
    alone = (published / "people.csv").read_text().splitlines()
    (published / "some.csv").write_text("\n".join(alone[:50]) + "\n")
    answer = run("attack", "--release", "r", "--release", "r", "--known", "some.csv", "--l", "3")
    assert answer.exit_code == 1 and "49 people looked for in 2 releases" in answer.stdout
    assert "likelier than 0.3333" in answer.stdout and SECRET not in answer.output


def test_json_says_what_each_number_means(published: Path, run: Run) -> None:
    answer = run("attack", "--release", "r", "--known", "people.csv", "--json")
    facts = json.loads(answer.stdout)
    assert facts["holds"] == (answer.exit_code == 0) and facts["people"] == 300
    assert facts["releases"] == ["r"] and set(facts["definitions"]) < set(facts)
    assert 0 <= facts["rate_certain"]["low"] <= facts["rate_certain"]["high"] <= 1


def test_nobody_certain_is_exit_code_0(work: Path, run: Run) -> None:
    (work / "all.csv").write_text("age,ill\n" + "*,flu\n*,cold\n" * 5)
    (work / "known.csv").write_text("age\n20\n30\n")
    said = ("attack", "--release", "all.csv", "--known", "known.csv", "--sensitive", "ill")
    assert run(*said).exit_code == 0 and run(*said, "--l", "2").exit_code == 0
    assert run(*said, "--l", "3").exit_code == 1


@pytest.mark.parametrize("words, complaint", [
    (("--release", "r", "--known", "none.csv"), "none.csv"),
    (("--release", "none", "--known", "people.csv"), "none"),
    (("--release", "r", "--known", "people.csv", "--sensitive", "ages"), "did you mean"),
    (("--release", "r", "--known", "people.csv", "--l", "0"), "at least 1"),
])
def test_wrong_requests_are_exit_code_2(published: Path, run: Run, words: tuple[str, ...],
                                        complaint: str) -> None:
    answer = run("attack", *words)
    assert answer.exit_code == 2 and complaint in answer.stderr and SECRET not in answer.output


def test_numbers_are_the_same_however_their_zeros_are_written(work: Path, run: Run) -> None:
    (work / "all.csv").write_text("age,zip,ill\n20.0,01,flu\n20.0,01,cold\n30.50,01,flu\n")
    (work / "known.csv").write_text("age,zip\n20,01\n30.5,01\n30,01\n20,1\n")
    answer = run("attack", "--release", "all.csv", "--known", "known.csv", "--sensitive", "ill")
    assert "4 people looked for in 1 release; 2 found" in answer.stdout


def test_an_attack_that_finds_nobody_says_that_it_shows_nothing(work: Path, run: Run) -> None:
    (work / "all.csv").write_text("age,ill\n20,flu\n20,cold\n")
    (work / "known.csv").write_text("age\ntwenty\n")
    said = ("attack", "--release", "all.csv", "--sensitive", "ill", "--known")
    assert "Nobody was found, so this says nothing" in run(*said, "known.csv").stdout
    assert "Nobody was found" not in run(*said, "all.csv").stdout
