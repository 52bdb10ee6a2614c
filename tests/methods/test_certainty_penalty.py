"""Certainty penalty: the worked example, what groups must be, the kernels beside their twins, Adult."""

from __future__ import annotations

from typing import Any

import numba  # noqa: F401  (loaded, so that the kernels serve)
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.local import keeps_its_promises, whole
from tests.methods.test_oka import in_words
from tests.methods.test_optimal_golden import adult
from tests.properties.cases import Case, cases

from sfumato.clusters import boxes as boxed
from sfumato.clusters import half_kernels, plain_boxes, plain_halves
from sfumato.clusters.axes import Axis, axes_of, places
from sfumato.clusters.boxes import Boxes, Labels
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.criteria.t_closeness import TCloseness
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.methods.base import Problem
from sfumato.methods.certainty_penalty import CertaintyPenalty

quick = settings(max_examples=120, deadline=None)
forms = st.fixed_dictionaries({
    "direction": st.sampled_from(["bottom-up", "top-down"]),
    "objective": st.sampled_from(["total", "increase"]),
    "assign": st.sampled_from(["group", "seed"]), "numeric": st.sampled_from(["auto", "hierarchy", "range"]),
    "categorical": st.sampled_from(["auto", "hierarchy", "set"])})
styles = st.tuples(st.sampled_from(["hierarchy", "range"]), st.sampled_from(["hierarchy", "set"]))
tables = st.tuples(cases(most_columns=4, most_records=60), st.booleans()).map(
    lambda drawn: in_words(drawn[0]) if drawn[1] else drawn[0])  # columns of numbers, or of none
AGES = (20, 22, 40, 58, 60)


@quick
@given(cases(), forms, st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
def test_every_class_keeps_every_promise(case: Case, form: dict[str, Any], seed: int, share: float) -> None:
    keeps_its_promises(CertaintyPenalty(**form), case, seed, share)


def ages() -> tuple[tuple[Axis, ...], Labels, np.ndarray]:
    """The worked example's column, whose penalty is in years of 40."""
    years = range(AGES[0], AGES[-1] + 1)
    column = Hierarchy("age", tuple((str(a), "*") for a in years))
    codes = np.array([[a - AGES[0]] for a in AGES], np.int32)
    frequency = FrequencySet((column,), codes, np.ones(5, np.int64))
    axes = axes_of(frequency, "range", "set")
    return axes, Labels(axes, np.ones(1)), places(axes, frequency)


def test_the_worked_example_upwards() -> None:
    """In value order: 20 with 22 (0.1), 40 with 58 (0.9), then 60 joins those (1.5)."""
    _, labels, at = ages()
    for work in (Boxes.merge_in_turn, plain_boxes.merge_in_turn):
        boxes = Boxes.of(labels, at, np.ones(5, np.int64), np.arange(5), 5)
        found, costs = boxes.closest(np.arange(5), 1, increase=False)
        assert found[:3, 0].tolist() == [1, 0, 3] and costs[:3, 0] == pytest.approx([0.1, 0.1, 0.9])
        alive, into = np.ones(5, bool), np.arange(5)
        work(boxes, np.arange(5), 2, False, alive, into)
        assert into.tolist() == [1, 1, 3, 3, 3] and boxes.sizes[alive].tolist() == [2, 3]
        assert (boxes.sizes * boxes.alone)[alive] == pytest.approx([0.1, 1.5])


def test_the_worked_example_downwards() -> None:
    """From 22 to 60, to 20, to 60: seeds 20 and 60; 40, the last, loses as much on either side."""
    _, labels, at = ages()
    order = np.array([0, 1, 3, 4, 2])
    start = (1 + 0.5) / 5  # the draw that is 22
    low, high, word = np.empty(1, np.int32), np.empty(1, np.int32), np.empty(0, np.uint64)
    assert half_kernels.far_apart(order, start, 3, at, labels.arrays, low, high, word) == (0, 3)
    assert plain_halves.far_apart(labels, at, order, start, 3) == (0, 3)
    for by_seed in (False, True):
        sides = np.zeros(5, np.int64)
        half_kernels.bisect(order, np.array([0, 5]), np.array([start]), 3, by_seed, 2, at,
                            np.ones(5, np.int64), labels.arrays, sides)
        assert sides.tolist() == [0, 0, 1, 1, 0]


@quick
@given(tables, styles, st.booleans(), st.integers(0, 10**6), st.booleans())
def test_partners_are_those_of_the_twin(case: Case, style: tuple[str, str], increase: bool, seed: int,
                                        paired: bool) -> None:
    was = boxed.PAIRED
    try:
        boxed.PAIRED = 512 if paired else 0  # nodes looked up by pairs, or level by level
        some = random_boxes(case, style, seed)
    finally:
        boxed.PAIRED = was
    alive = np.random.default_rng(seed).random(some.n_groups) < 0.8
    wanted = np.flatnonzero(alive)
    found, costs = some.closest(wanted, 3, alive, increase)
    twins, theirs = plain_boxes.closest(some, wanted, 3, alive, increase)
    assert found.tolist() == twins.tolist() and np.array_equal(costs, theirs)
    for f, g in zip(wanted, found[:, 0], strict=True):
        if g >= 0:
            one, other = np.array([f]), np.array([g])
            assert plain_boxes.cost(some, one, other, increase) == theirs[wanted == f, 0]


def random_boxes(case: Case, style: tuple[str, str], seed: int) -> Boxes:
    """Random groups of a case's tuples."""
    rng, frequency = np.random.default_rng(seed), case.frequency
    axes = axes_of(frequency, *style)
    group_of = np.unique(rng.integers(0, frequency.n_tuples, frequency.n_tuples), return_inverse=True)[1]
    return Boxes.of(Labels(axes, np.array(case.weights)), places(axes, frequency), frequency.counts,
                    group_of.astype(np.int64), int(group_of.max()) + 1)


@quick
@given(tables, styles, st.integers(0, 10**6))
def test_what_a_group_loses_is_its_labels_penalty(case: Case, style: tuple[str, str], seed: int) -> None:
    """Values under the lowest node, in the range or in the set, counted by hand."""
    some, frequency = random_boxes(case, style, seed), case.frequency
    rng = np.random.default_rng(seed)
    group_of = np.unique(rng.integers(0, frequency.n_tuples, frequency.n_tuples), return_inverse=True)[1]
    axes = axes_of(frequency, *style)
    for g in range(some.n_groups):
        total = 0.0
        for j, axis in enumerate(axes):
            values = {frequency.hierarchies[j].values[c] for c in frequency.codes[group_of == g, j]}
            total += case.weights[j] * by_hand(axis, case.paths[j], values)
        assert some.alone[g] == pytest.approx(total)


def by_hand(axis: Axis, paths: list[tuple[str | None, ...]], values: set[str | None]) -> float:
    if len(values) == 1 and axis.style != "node":
        return 0.0
    most = max(len(paths) - 1, 1)
    if axis.style == "node":
        for level in range(len(paths[0])):
            above = {path[level] for path in paths if path[0] in values}
            if len(above) == 1:
                same = [path for path in paths if path[level] in above]
                return (len(same) - 1) / most
    if None in values:
        return 1.0
    if axis.style == "set":
        return (len(values) - 1) / most
    known = sorted(float(path[0]) for path in paths if path[0] is not None)
    low, high = (known.index(float(v)) for v in (min(values, key=float), max(values, key=float)))
    return (high - low) / most


@quick
@given(tables, styles, st.integers(2, 5), st.booleans(),
       st.integers(0, 10**6), st.sampled_from([1, 3, 300]))
def test_groups_are_merged_as_by_the_twin(case: Case, style: tuple[str, str], least: int, increase: bool,
                                          seed: int, batch: int) -> None:
    answers = []
    was = boxed.BATCH, boxed.NEAREST
    for fast in (True, False):
        some = random_boxes(case, style, seed)
        alive, into = np.ones(some.n_groups, bool), np.arange(some.n_groups)
        wanted = np.flatnonzero(some.sizes < least)
        try:
            boxed.BATCH, boxed.NEAREST = batch, 2
            work = Boxes.merge_in_turn if fast else plain_boxes.merge_in_turn
            work(some, wanted, least, increase, alive, into)
        finally:
            boxed.BATCH, boxed.NEAREST = was
        answers.append((into.tolist(), alive.tolist(), some.sizes.tolist(), some.alone.tolist(),
                        some.lows.tolist(), some.highs.tolist(), some.words.tolist()))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("increase", [False, True])
@pytest.mark.parametrize(("batch", "kept"), [(7, 3), (300, 3), (300, 1)])
def test_many_equal_mergers_fall_as_by_the_twin(batch: int, kept: int, increase: bool,
                                                monkeypatch: Any) -> None:
    """A grid of equal distances: of equals the next in the groups' order, whoever was touched since."""
    column = Hierarchy("v", tuple((str(v), "*") for v in range(12)))
    grid = np.array([[a, b] for a in range(12) for b in range(12)], np.int32)
    codes = grid[np.random.default_rng(batch).permutation(144)]
    frequency = FrequencySet((column, column), codes, np.ones(144, np.int64))
    axes = axes_of(frequency, "range", "set")
    monkeypatch.setattr(boxed, "BATCH", batch)
    monkeypatch.setattr(boxed, "NEAREST", kept)
    answers = []
    for work in (Boxes.merge_in_turn, plain_boxes.merge_in_turn):
        some = Boxes.of(Labels(axes, np.ones(2)), places(axes, frequency), frequency.counts, np.arange(144),
                        144)
        alive, into = np.ones(144, bool), np.arange(144)
        work(some, np.arange(144), 3, increase, alive, into)
        answers.append(into.tolist())
    assert answers[0] == answers[1]


@quick
@given(tables, styles, st.integers(1, 5), st.booleans(), st.integers(0, 10**6))
def test_groups_are_cut_as_by_the_twin(case: Case, style: tuple[str, str], least: int, by_seed: bool,
                                       seed: int) -> None:
    frequency, rng = case.frequency, np.random.default_rng(seed)
    axes = axes_of(frequency, *style)
    labels, at = Labels(axes, np.array(case.weights)), places(axes, frequency)
    order = rng.permutation(frequency.n_tuples)
    starts = np.unique([0, *rng.integers(0, len(order), 2), len(order)])
    draws, answers = rng.random(len(starts) - 1), []
    for fast in (True, False):
        sides = np.full(len(order), 7)
        said = order, starts, draws, 3, by_seed, least, at, frequency.counts
        if fast:
            half_kernels.bisect(*said, labels.arrays, sides)
        else:
            plain_halves.bisect(labels, *said, sides)
        answers.append(sides.tolist())
    assert answers[0] == answers[1]


@pytest.mark.parametrize("direction", ["bottom-up", "top-down"])
def test_classes_of_different_records_have_fewer_than_2k(direction: str) -> None:
    """Wherever records differ, each side of a cut takes what it needs, so no group of 2k is left."""
    rng = np.random.default_rng(2)
    columns = tuple(Hierarchy(name, tuple((str(v), "*") for v in range(200))) for name in "ab")
    codes = np.unique(rng.integers(0, 200, (600, 2)).astype(np.int32), axis=0)
    frequency = FrequencySet(columns, codes, np.ones(len(codes), np.int64))
    problem = Problem(frequency, (KAnonymity(k=4),), 0.0, np.ones(2))
    found = CertaintyPenalty(direction=direction).solve(problem, rng)
    sizes = found.sizes(frequency)
    assert sizes.min() >= 4 and sizes.max() < 8 and sizes.sum() == len(codes)


def test_sides_have_what_a_group_must_have_whatever_the_criteria_are() -> None:
    """t-closeness takes a single record; a cut that left one would be made again after each merger."""
    frequency = whole(Case([("0",)] * 5 + [("1",)], [[("0", "*"), ("1", "*")]], ["a"] * 6, ["a"] * 6, [1.0]))
    problem = Problem(frequency, (TCloseness(column="s", t=0.3),), 0.0, np.ones(1))
    found = CertaintyPenalty().solve(problem, np.random.default_rng(0))
    assert found.sizes(frequency).tolist() == [6]


def test_weights_count_by_their_ratios() -> None:
    columns = tuple(Hierarchy(name, tuple((str(v), "*") for v in range(9))) for name in "ab")
    codes = np.array([[a, b] for a in range(9) for b in range(9)], np.int32)
    frequency = FrequencySet(columns, codes, np.ones(81, np.int64))
    answers = [CertaintyPenalty().solve(Problem(frequency, (KAnonymity(k=3),), 0.0, np.array(weights)),
                                        np.random.default_rng(1)).class_of.tolist()
               for weights in ([4.0, 1.0], [8.0, 2.0], [1.0, 4.0])]
    assert answers[0] == answers[1] != answers[2]


@pytest.mark.needs_shared
@pytest.mark.slow
def test_adult_loses_less_than_mondrian_in_ranges_and_sets() -> None:
    """Mondrian's mean NCP at k = 5 is 0.0300 there."""
    frequency = adult()
    problem = Problem(frequency, (KAnonymity(k=5),), 0.0, np.ones(8))
    found = CertaintyPenalty(numeric="range", categorical="set").solve(problem, np.random.default_rng(0))
    assert found.notes["score"] < 0.025
    assert found.sizes(frequency).min() >= 5 and found.suppressed(frequency) == 0
