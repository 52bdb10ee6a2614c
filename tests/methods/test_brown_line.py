"""Brown's printed results through the whole line: tables made with the published pairs, releases out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

pytestmark = pytest.mark.needs_shared
MADE = ("1/2-", "1/2GC", "1/2C", "1/2G", "TG")


@pytest.fixture(scope="module")
def brown() -> Any:
    import brown

    return brown


def test_approaches_of_table_7(brown: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing modified, both techniques, each alone; plain k."""
    entry = brown.entries()["table7/30k"]
    chosen = [row for row in entry["expected"] if row["approach"] in MADE]
    monkeypatch.setattr(brown, "entries", lambda: {"table7/30k": {**entry, "expected": chosen}})
    lines = list(brown.approaches(["30k"]))
    assert [name for name, _ in lines] == [f"30k {one}" for one in MADE]
    wrong = [(name, one) for name, results in lines for one in results if brown.differs(*one[1:])]
    assert not wrong and sum(len(results) for _, results in lines) == 25


def test_diversity_and_sensitive_suppression(brown: Any) -> None:
    lines = [*brown.diverse(smoke=True), *brown.cells(smoke=True)]
    wrong = [(name, one) for name, results in lines for one in results if brown.differs(*one[1:])]
    assert not wrong and sum(len(results) for _, results in lines) == 27


def test_recommendations_from_tables(brown: Any) -> None:
    lines = list(brown.recommendations(smoke=True))
    wrong = [(name, one) for name, results in lines for one in results if brown.differs(*one[1:])]
    assert not wrong and len(lines) == 17
