"""Repair of groups: what is merged, what is suppressed, and when nothing may be."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.local import whole
from tests.properties.cases import SETS, Case, cases, histogram, promises

from sfumato.classes import ClassStats
from sfumato.clusters.axes import axes_of, places
from sfumato.clusters.boxes import Labels
from sfumato.clusters.cuts import Judge, elements
from sfumato.clusters.labels import Elements
from sfumato.clusters.repair import repaired, together
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.criteria.l_diversity import LDiversity
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.methods.base import Problem
from sfumato.methods.oka import OKA
from sfumato.recoding import SUPPRESSED


def numbers(values: list[int], counts: list[int], sensitive: list[str] | None = None) -> FrequencySet:
    """One column of numbers; a sensitive value for each of them."""
    column = Hierarchy("v", tuple((str(v), "*") for v in range(max(values) + 1)))
    codes = np.array(values, np.int32)[:, None]
    rows = [n for n, count in enumerate(counts) for _ in range(count)]
    held = {"s": histogram(rows, [sensitive[n] for n in rows])} if sensitive else {}
    return FrequencySet((column,), codes, np.array(counts), held)


def mend(frequency: FrequencySet, criteria: tuple, groups: list[int], affordable: int) -> list[int]:
    axes = axes_of(frequency, "range", "set")
    n = frequency.n_tuples
    found = Elements(np.arange(n), frequency.counts, np.array(groups), np.arange(n))
    made = repaired(Judge(frequency, criteria), Labels(axes, np.ones(1)), places(axes, frequency), found,
                    affordable)
    return made.class_of.tolist()


def test_a_small_group_joins_the_one_that_loses_least() -> None:
    frequency = numbers([0, 1, 2, 50, 51, 60], [2, 2, 1, 2, 2, 3])
    assert mend(frequency, (KAnonymity(k=3),), [0, 0, 1, 2, 2, 3], 0) == [0, 0, 0, 1, 1, 2]


def test_a_group_is_suppressed_where_that_loses_less_and_is_allowed() -> None:
    """Alone at 100, one record would take 3 others along."""
    frequency, k = numbers([0, 1, 100], [2, 1, 1]), (KAnonymity(k=2),)
    assert mend(frequency, k, [0, 0, 1], 1) == [0, 0, SUPPRESSED]
    assert mend(frequency, k, [0, 0, 1], 0) == [0, 0, 0]


def test_the_nearest_with_which_it_holds_comes_before_the_nearest() -> None:
    """Two values in every group: 0 and 1 hold the same one, 9 the other."""
    frequency = numbers([0, 1, 9, 10], [2, 2, 2, 2], ["a", "a", "b", "a"])
    diverse = (KAnonymity(k=2), LDiversity(column="s", l=2))
    assert mend(frequency, diverse, [0, 1, 2, 3], 0) in ([0, 0, 0, 0], [0, 0, 1, 1])
    assert mend(numbers([0, 1, 9], [2, 2, 2], ["a", "a", "b"]), diverse, [0, 1, 2], 0) == [0, 0, 0]


def test_nothing_is_suppressed_where_the_rest_would_fail() -> None:
    """The only b is farthest away; without it no group has two values."""
    frequency = numbers([0, 1, 100], [2, 2, 1], ["a", "a", "b"])
    assert mend(frequency, (LDiversity(column="s", l=2),), [0, 1, 2], 5) == [0, 0, 0]


def test_suppressed_records_never_stand_beside_a_class_of_stars() -> None:
    """Both would read `*`, and more records would seem suppressed than may be."""
    rng = random.Random(1)
    for seed in range(30):
        values = sorted(rng.sample(range(60), 8))
        frequency = numbers(values, [rng.randrange(1, 4) for _ in values])
        problem = Problem(frequency, (KAnonymity(k=4),), 0.3, np.ones(1))
        found = OKA(categorical="hierarchy", numeric="hierarchy").solve(problem, np.random.default_rng(seed))
        stars = found.labelling(frequency, 0).texts.count("*")
        assert stars == 0 or found.suppressed(frequency) == 0
        assert found.suppressed(frequency) <= problem.affordable


@settings(max_examples=100, deadline=None)
@given(cases(), st.integers(0, 10**6))
def test_statistics_of_two_groups_together(case: Case, seed: int) -> None:
    """Added up from the groups' own, they are those of one group of both."""
    frequency, rng = whole(case), random.Random(seed)
    chosen = [promises(case, rng)[name] for name in rng.choice(SETS)]
    judge = Judge(frequency, tuple(one for one, _ in chosen))
    pieces = elements(frequency, judge.criteria, True, np.random.default_rng(seed))
    groups = np.unique(np.random.default_rng(seed).integers(0, 4, len(pieces.counts)), return_inverse=True)[1]
    if groups.max() == 0:
        return
    grouped = Elements(pieces.tuple_of, pieces.counts, groups, pieces.cell_of)
    apart = judge.stats(grouped, int(groups.max()) + 1)
    united = together(apart, np.array([0, 1]), np.array([1, 0]))
    for n in range(2):
        mine = np.flatnonzero(groups <= 1)
        cells = None if pieces.cell_of is None else pieces.cell_of[mine]
        same = judge.stats(Elements(pieces.tuple_of[mine], pieces.counts[mine],
                                    np.zeros(len(mine), np.int64), cells), 1)
        assert united.sizes[n] == same.sizes[0]
        for name, held in same.sensitive.items():
            assert rows(united, name, n) == rows(same, name, 0) and held.labels


def rows(stats: ClassStats, name: str, number: int) -> list[tuple[int, int]]:
    held = stats.sensitive[name]
    mine = held.classes == number
    return list(zip(held.values[mine].tolist(), held.counts[mine].tolist(), strict=True))


def test_groups_that_fail_all_together_are_refused() -> None:
    with pytest.raises(ValueError, match="all together"):
        mend(numbers([0, 1], [1, 1]), (KAnonymity(k=3),), [0, 1], 2)
