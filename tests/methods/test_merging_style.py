"""Merging-style: the worked example, and what is true of every cell and bucket, by plain loops."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_slices import SPEC, table

from sfumato.errors import RecipeError
from sfumato.hierarchy.core import Hierarchy
from sfumato.methods.base import Problem
from sfumato.methods.merging_style import Merging
from sfumato.recipe import Recipe
from sfumato.slices.base import Labels
from sfumato.slices.matching import match
from sfumato.slices.merging import merged

AGES = (("25", "25", "25", "*"), ("31", "31", "31-52", "*"), ("40", "40-52", "31-52", "*"),
        ("52", "40-52", "31-52", "*"), ("60", "60", "60", "*"))


def test_the_worked_example_shares_labels_in_three_steps() -> None:
    """Of (age, sex): 40 F with 52 F, then 31 F with them, then 60 M with 25 M, as their costs rise."""
    rows = [row[:2] for bucket in SPEC for row in bucket]
    hierarchies = Hierarchy("age", AGES), Hierarchy("sex", (("F", "*"), ("M", "*")))
    codes = np.array([[h.code_of[v] for h, v in zip(hierarchies, row, strict=True)] for row in rows],
                     np.int32)
    found = merged(hierarchies, codes, np.repeat([0, 1], 4), 2)
    assert (found.flagged, found.steps, found.unresolved) == (4, 3, 0)
    names = [Labels(h).names for h in hierarchies]
    shown = [tuple(names[j][c] for j, c in enumerate(row)) for row in found.labels]
    assert shown == [("*", "M"), ("*", "M"), ("31-52", "F"), ("40-52", "F"),
                     ("25", "M"), ("31-52", "F"), ("31-52", "F"), ("*", "M")]


def test_one_bucket_cannot_match_two() -> None:
    hierarchies = (Hierarchy("x", (("a", "*"), ("b", "*"))),)
    found = merged(hierarchies, np.array([[0], [1], [1]], np.int32), np.zeros(3, np.int64), 2)
    assert (found.flagged, found.steps, found.unresolved) == (2, 0, 2)
    assert found.labels.ravel().tolist() == [0, 1, 1]


TREE = {"kind": [(v, "low" if v in "abc" else "high", "*") for v in "abcdef"],
        "age": [(str(n), f"{n // 5 * 5}+", f"{n // 10 * 10}s", "*") for n in range(20, 60)]}
NAMES = ("age", "kind", "zip", "ill")
GROUPS = (("age", "kind"), ("zip", "ill"))


def people(seed: int, n: int) -> list[tuple[str, ...]]:
    rng = random.Random(seed)
    return [(str(rng.randrange(20, 60)), rng.choice("aaabbcdef"), rng.choice("pqrstu"), rng.choice("vwxyz"))
            for _ in range(n)]


def solved(rows: list[tuple[str, ...]], **said: Any) -> tuple[Any, Any]:
    frequency = table(rows, NAMES, TREE)
    method = Merging.model_validate({"k": 4, "l": 2, "groups": GROUPS, **said})
    return frequency, method.solve(Problem(frequency, (), 0.0, np.ones(3)), np.random.default_rng(0))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(16, 120), st.integers(1, 4))
def test_every_cell_covers_its_value_and_every_value_matches_enough(seed: int, n: int, matches: int) -> None:
    rows = people(seed, n)
    frequency, slices = solved(rows, matches=matches)
    names = [Labels(h) for h in frequency.hierarchies]
    held: dict[int, list[Any]] = defaultdict(list)
    before: dict[int, list[Any]] = defaultdict(list)
    for bucket, codes, values, source in zip(slices.bucket_of.tolist(), slices.codes.tolist(),
                                             slices.values.tolist(), slices.source, strict=True):
        held[bucket].append((codes, values))
        histogram = slices.rows(frequency)
        before[bucket].append([*frequency.codes[histogram.classes[source]].tolist(),
                               int(histogram.values[source])])
        assert codes[-1] == values[-1]
        for j in range(3):
            assert values[j] in names[j].covers(codes[j])
    told, unresolved = slices.notes["facts"]["merged"], 0
    groups = [[NAMES.index(name) for name in group] for group in slices.groups]
    for bucket, pairs in held.items():
        for group in groups:
            assert Counter(tuple(v[j] for j in group) for _, v in pairs) == Counter(
                tuple(row[j] for j in group) for row in before[bucket])
    for group in filter(None, ([j for j in group if j < 3] for group in groups)):
        seen = {tuple(v[j] for j in group) for pairs in held.values() for _, v in pairs}
        for value in seen:
            stood = {b for b, pairs in held.items() for _, v in pairs if tuple(v[j] for j in group) == value}
            fits = {b for b, pairs in held.items() for c, _ in pairs
                    if all(x in names[j].covers(c[j]) for j, x in zip(group, value, strict=True))}
            assert stood <= fits, "a match was lost"
            unresolved += len(fits) < matches
    assert unresolved == told["unresolved"]
    assert unresolved == 0 or len(held) < matches
    if matches == 1:
        assert told["steps"] == told["records"] == 0 and (slices.codes == slices.values).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_promise_is_kept_under_coarser_labels(seed: int) -> None:
    frequency, slices = solved(people(seed, 90), matches=3)
    found = match(slices, frequency, np.arange(frequency.n_tuples))
    assert found.p.max() <= 0.5 + 1e-9 and found.buckets.min() >= 1
    plain = solved(people(seed, 90), matches=1)[1]
    assert (found.buckets >= match(plain, frequency, np.arange(frequency.n_tuples)).buckets).all()


def test_faults_of_the_recipe() -> None:
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    for wrong in ({"matches": 0}, {"matches": True}, {"groups": "pairing"}):
        method = {"name": "merging-style", "k": 3, "l": 2, **wrong}
        with pytest.raises(RecipeError, match=f"method.{next(iter(wrong))}"):
            Recipe.from_dict({"columns": columns, "method": method})
