"""Records of one cell that go to several classes, on engines that count for themselves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engines.engines import lent
from tests.engines.jobs import random_table

from sfumato.prepare import Prepared, prepare
from sfumato.recipe import Recipe
from sfumato.recoding import Portions, Regrouping, Sets
from sfumato.release import released_table
from sfumato.table import fetch, open_table

RECIPE = """
missing: ["?"]
columns:
  name: {role: identifying}
  age: {role: quasi, hierarchy: {interval: [10, 20, 40]}}
  zip.code: {role: quasi, hierarchy: {prefix: 3}}
  ill: {role: sensitive}
  "sex's": {role: sensitive}
criteria: [{k-anonymity: {k: 2}}]
"""


@pytest.mark.parametrize("engine", ["duckdb", "sqlite", pytest.param("spark", marks=pytest.mark.spark)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_records_of_a_cell_are_dealt_out(engine: str, seed: int, tmp_path: Path,
                                             request: pytest.FixtureRequest) -> None:
    """Each class gets as many records of each combination as its portions say, and every record one class."""
    table = random_table(seed, 400)
    recipe = Recipe.parse(RECIPE)
    session = request.getfixturevalue("session") if engine == "spark" else None
    with lent(engine, table, tmp_path, session) as source:
        again, asked = dealt(source, recipe, seed)
    assert Counter(map(str, again)) == Counter(map(str, dealt(table, recipe, seed)[0]))
    private = Counter((row["note"], text(row["ill"]), text(row["sex's"])) for row in table.to_pylist())
    assert Counter((row["note"], text(row["ill"]), text(row["sex's"])) for row in again) == private
    found = Counter((row["age"], text(row["ill"]), text(row["sex's"])) for row in again)
    assert found == asked


def dealt(source: Any, recipe: Recipe, seed: int) -> tuple[list[dict[str, Any]], Counter[tuple[Any, ...]]]:
    with open_table(source) as opened:
        prepared = prepare(opened.table, recipe)
        regrouping, asked = random_portions(prepared, seed)
        return fetch(released_table(prepared, regrouping, 7)).to_pylist(), asked


def text(value: str | None) -> str | None:
    return None if value == "?" else value


def random_portions(prepared: Prepared, seed: int) -> tuple[Regrouping, Counter[tuple[Any, ...]]]:
    """Cells divided at random among classes whose label in the first column is their number."""
    rng, frequency = np.random.default_rng(seed), prepared.frequency
    cells = frequency.cells
    single = np.repeat(np.arange(len(cells.counts)), cells.counts)
    pairs, counts = np.unique(np.stack([single, rng.integers(0, 5, len(single))]), axis=1, return_counts=True)
    portions = Portions.of(frequency, pairs[0], counts)
    assert len(pairs[0]) > len(cells.counts) and portions.frequency.n_records == frequency.n_records
    roots = np.array([[h.n_levels - 1 for h in frequency.hierarchies]] * 5, np.int32)
    every = Sets(np.arange(6), np.zeros(5, np.int64), [f"c{n}" for n in range(5)])
    regrouping = Regrouping(pairs[1], roots, np.zeros_like(roots), narrower={0: every}, portions=portions)
    labels = [h.labels for h in frequency.sensitive.values()]
    asked: Counter[tuple[Any, ...]] = Counter()
    for (cell, number), count in zip(pairs.T, counts, strict=True):
        ill, sex = (labels[s][v] for s, v in enumerate(cells.values[cell]))
        asked[f"c{number}", ill, sex] += int(count)
    return regrouping, asked
