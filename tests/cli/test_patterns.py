"""`sfumato measure --target`: terminal, JSON and report, and what it refuses."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]
ASKED = ("measure", "r", "--original", "people.csv", "--target", "town", "--predictors", "age")


@pytest.fixture
def published(work: Path, run: Run) -> Path:
    """A release of a table in which the old live in A."""
    rows = list(csv.reader((work / "people.csv").open(newline="")))
    for row in rows[1:]:
        row[2] = "A" if int(row[1]) >= 50 else row[2]
    with (work / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report").exit_code == 0
    return work


def test_the_terminal_names_every_rule(published: Path, run: Run) -> None:
    said = run(*ASKED).stdout
    assert "for town in the private table" in said
    assert "rule in the release" in said and "age ≥ 50: A" in said and "survives" in said


def test_json_and_report_say_the_same(published: Path, run: Run) -> None:
    answer = run(*ASKED, "--json", "--report", "evidence.html", shows_frequent_values=True)
    facts = json.loads(answer.stdout)
    found = facts["patterns"]
    old = next(one for one in found["fates"] if one["before"] and one["before"]["conditions"] == ["age ≥ 50"])
    assert old["before"]["share"] == 1.0 and old["state"] == "survives" and old["after"]["value"] == "A"
    assert facts["measures"]["patterns_lost"]["value"] == 0.0
    page = (published / "evidence.html").read_text()
    assert "Does the pattern survive?" in page and f"{old['before']['records']:,}" in page


@pytest.mark.parametrize("arguments, part", [
    (("measure", "people.csv", "--quasi", "age,town", "--target", "town"), "no table is named"),
    ((*ASKED[:5], "visits"), "'visits' is neither"),
    ((*ASKED[:7], "town"), "cannot explain itself"),
])
def test_requests_that_make_no_sense(published: Path, run: Run, arguments: tuple[str, ...],
                                     part: str) -> None:
    answer = run(*arguments)
    assert answer.exit_code == 2 and part in answer.stderr
