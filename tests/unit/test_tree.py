"""Recursive partitioning against plain loops; what labels stand for; conditions in words."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import trees as plain

from sfumato.draws.base import Evenly
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.measure.utility.tree import Node, Predictor, Table, grow
from sfumato.measure.utility.wording import Values, classes_of, roundest
from sfumato.recoding import Regrouping, Sets, Spans

Orders = list[list[int] | None]


def table_of(records: list[plain.Record], orders: Orders, widths: list[int], n_targets: int) -> Table:
    """The same records as rows of one each."""
    records = sorted(records, key=lambda record: record.target)
    predictors = []
    for j, (order, width) in enumerate(zip(orders, widths, strict=True)):
        sets = sorted({record.cells[j] for record in records}, key=sorted)
        starts = np.cumsum([0, *map(len, sets)])
        members = np.array([value for one in sets for value in sorted(one)], dtype=np.int64)
        at = np.array([sets.index(record.cells[j]) for record in records])
        rank = None
        if order is not None:
            rank = np.empty(width, dtype=np.int64)
            rank[order] = np.arange(width)
        predictors.append(Predictor(f"c{j}", Sets(starts, members, [str(n) for n in range(len(sets))]), at,
                                    len(sets), width, rank))
    return Table(tuple(predictors), np.array([r.target for r in records]), np.ones(len(records), np.int64),
                 n_targets)


@st.composite
def readings(draw: st.DrawFn, crisp: bool = False) -> tuple[list[plain.Record], Orders, list[int], int]:
    """Random records whose cells are single values or, unless crisp, stretches of values."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    n_targets = 2 if crisp else rng.choice([2, 3])
    widths = [rng.choice([2, 3, 5, 6]) for _ in range(rng.choice([1, 2, 3]))]
    orders: Orders = [None if crisp or rng.random() < 0.5 else rng.sample(range(w), w) for w in widths]
    records = []
    for _ in range(rng.randrange(4, 60)):
        target = rng.randrange(n_targets)
        cells = []
        for order, width in zip(orders, widths, strict=True):
            line = order or list(range(width))
            first = min(width - 1, max(0, int(rng.gauss(target * width / n_targets, 1.0))))
            length = 1 if crisp or rng.random() < 0.6 else rng.randrange(1, width + 1)
            cells.append(frozenset(line[first:first + length]))
        records.append(plain.Record(tuple(cells), target))
    return records, orders, widths, n_targets


def members(records: list[plain.Record], node: Node) -> list[plain.Record]:
    return [sorted(records, key=lambda record: record.target)[row] for row in node.rows]


@settings(deadline=None, max_examples=150)
@given(readings(), st.integers(1, 5), st.integers(1, 7))
def test_the_tree_is_that_of_plain_loops(made: Any, least: int, most: int) -> None:
    """Each split gains as said, no cut gains more, and nodes are divided in the order of their gain."""
    records, orders, widths, n_targets = made
    tree = grow(table_of(records, orders, widths, n_targets), least, most)
    price = n_targets * math.log(len(records))
    for node in tree.walk():
        mine = members(records, node)
        best = plain.best(mine, orders, widths, least)
        assert (node.best.gain if node.best else 0.0) == pytest.approx(best, rel=1e-9, abs=1e-7)
        if node.split is None or node.inside is None or node.outside is None:
            continue
        values = frozenset(np.flatnonzero(node.split.values).tolist())
        assert plain.gain(mine, node.split.predictor, values, least) == pytest.approx(node.split.gain)
        assert node.split.gain > price
        inside, outside = plain.divided(mine, node.split.predictor, values)
        assert members(records, node.inside) == inside and members(records, node.outside) == outside
    leaves = [tree]
    while len(leaves) < most:
        node = max(leaves, key=lambda one: one.best.gain if one.best else 0.0)
        if node.best is None or node.best.gain <= price:
            break
        assert node.inside is not None and node.outside is not None
        leaves = [one for one in leaves if one is not node] + [node.inside, node.outside]
    assert {id(leaf) for leaf in leaves} == {id(leaf) for leaf in tree.leaves}


@settings(deadline=None, max_examples=80)
@given(readings(crisp=True), st.integers(1, 3))
def test_with_two_targets_no_subset_of_values_does_better(made: Any, least: int) -> None:
    """Breiman's theorem, where no side may be too small to be counted."""
    records, orders, widths, n_targets = made
    tree = grow(table_of(records, orders, widths, n_targets), 1, 2)
    every = max((plain.gain(records, j, values, 1) for j, width in enumerate(widths)
                 for values in plain.subsets(width)), default=0.0)
    assert (tree.best.gain if tree.best else 0.0) == pytest.approx(every, rel=1e-9, abs=1e-7)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32))
def test_ends_and_spread_of_labels(seed: int) -> None:
    """Nodes, spans and sets that say the same, against loops over the values under each."""
    rng = random.Random(seed)
    n = rng.randrange(1, 8)
    order = np.array(rng.sample(range(n), n))
    first = np.array([rng.randrange(n) for _ in range(rng.randrange(1, 6))])
    last = np.array([rng.randrange(int(one), n) for one in first])
    under = [[int(order[place]) for place in range(a, b + 1)] for a, b in zip(first, last, strict=True)]
    texts: list[str | None] = [str(one) for one in under]
    rank = np.array(rng.sample(range(n), n))
    mass = np.array([rng.randrange(9) for _ in under], dtype=float)
    starts = np.cumsum([0, *map(len, under)])
    for labels in (Spans(order, first, last, texts), Sets(starts, np.concatenate(under).astype(int), texts)):
        low, high = labels.ends(rank)
        assert low.tolist() == [min(rank[v] for v in one) for one in under]
        assert high.tolist() == [max(rank[v] for v in one) for one in under]
        pairs = list(zip(mass, under, strict=True))
        expected = [sum(m / len(one) for m, one in pairs if v in one) for v in range(n)]
        assert labels.spread(mass, n) == pytest.approx(expected)


def test_ends_and_spread_of_parts_of_a_domain() -> None:
    """Values in parts 0, 2 and 2; labels over parts 0 to 1, 1 alone, 1 to 2, and all."""
    labels = Evenly(np.array([2, 0, 2]), np.array([0, 1, 1, 0]), np.array([1, 2, 3, 3]), [None] * 4)
    low, high = labels.ends(np.array([0, 1, 2]))
    assert (low.tolist(), high.tolist()) == ([1, 3, 0, 0], [1, -1, 2, 2])
    assert labels.spread(np.array([5.0, 7.0, 4.0, 3.0]), 3).tolist() == [3.0, 6.0, 3.0]


def test_ends_and_spread_of_nodes() -> None:
    hierarchy = Hierarchy("a", (("1", "x", "*"), ("2", "x", "*"), ("3", "y", "*")))
    regrouping = Regrouping(np.zeros(3, int), np.array([[1], [0], [2]]), np.array([[0], [2], [0]]))
    labels = regrouping.labelling(FrequencySet((hierarchy,), np.zeros((3, 1), np.int32), np.ones(3, int)), 0)
    low, high = labels.ends(np.array([2, 0, 1]))
    assert (low.tolist(), high.tolist()) == ([0, 1, 0], [2, 1, 2])
    assert labels.spread(np.array([4.0, 5.0, 9.0]), 3).tolist() == [5.0, 5.0, 8.0]


# Words

def test_conditions_in_words() -> None:
    ages = Values("age", ("9", "30", "100", None), np.array([9, 1, 9, 9]), 5)
    pick = [np.array([code in chosen for code in range(4)]) for chosen in
            ((2,), (0,), (1, 2), (0, 3), (1,), (3,), (0, 1, 2), (0, 1, 2, 3))]
    assert [ages.told(one) for one in pick] == [
        "age ≥ 100", "age < 10", "age ≥ 10", "age < 10 or missing", "10 ≤ age < 100", "age missing",
        "age not missing", "age any"]  # 30, which one record has, is not named: 10 tells it from 9 as well
    jobs = Values("job", ("a", "b", "c", "d", "e", "rare", None), np.array([9, 8, 7, 7, 7, 1, 6]), 5)
    assert jobs.told(np.array([True, True, *[False] * 5])) == "job a, b"
    assert jobs.told(np.array([True] * 5 + [False, True])) == "job not one of 1 rare values"
    assert jobs.told(np.array([False] * 5 + [True, True])) == "job missing, 1 more"
    days = Values("day", ("2020-01-31", "2020-02-17", "2020-02-18"), np.array([1, 1, 1]), 5)
    assert days.told(np.array([False, True, True])) == "day ≥ 2020-02"
    assert days.told(np.array([False, False, True])) == "day ≥ 2020-02-18"
    assert classes_of(ages, 10)[0] == ("9", "100", "(missing)", "(other)")


@given(st.decimals("-1e9", "1e9", places=3), st.decimals("-1e9", "1e9", places=3))
def test_a_cut_lies_between_its_neighbours(one: Any, other: Any) -> None:
    low, high = sorted((one, other))
    if low < high:
        from decimal import Decimal

        assert low < Decimal(roundest(low, high)) <= high


def test_many_numbers_are_cut_in_quarters_and_many_words_folded() -> None:
    names, class_of = classes_of(Values("n", tuple(str(v) for v in range(40)), np.full(40, 10), 5), 10)
    assert names == ("n < 10", "10 ≤ n < 20", "20 ≤ n < 30", "n ≥ 30")
    assert np.bincount(class_of).tolist() == [10, 10, 10, 10]
    names, class_of = classes_of(Values("w", tuple("abcdefghijkl"), np.array([*range(12, 1, -1), 1]), 2), 10)
    assert names == (*"abcdefghi", "(other)") and class_of.tolist() == [*range(9), 9, 9, 9]
