"""Mondrian: what its parts must be, by plain loops; the kernel beside its twin; Adult."""

from __future__ import annotations

from typing import Any

import numba  # noqa: F401  (loaded, so that the kernel serves)
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.local import keeps_its_promises, whole
from tests.methods.test_optimal_golden import adult
from tests.properties.cases import Case, cases

from sfumato.clusters import kernels, plain
from sfumato.clusters.axes import axes_of, places
from sfumato.clusters.cuts import Cutting, Judge, Lines, elements
from sfumato.clusters.labels import braced
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.methods.base import Problem
from sfumato.methods.mondrian import Mondrian
from sfumato.search import Clock

quick = settings(max_examples=150, deadline=None)
forms = st.fixed_dictionaries({"relaxed": st.booleans(),
                               "numeric": st.sampled_from(["auto", "hierarchy", "range"]),
                               "categorical": st.sampled_from(["auto", "hierarchy", "set"])})


@quick
@given(cases(), forms, st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
def test_every_class_keeps_every_promise(case: Case, form: dict[str, Any], seed: int, share: float) -> None:
    keeps_its_promises(Mondrian(**form), case, seed, share)


@quick
@given(cases(most_records=40), forms, st.integers(2, 4), st.integers(0, 9))
def test_parts_end_where_nothing_can_be_cut(case: Case, form: dict[str, Any], k: int, seed: int) -> None:
    """No column of any part has a boundary with k records on either side; relaxed, no 2k that differ."""
    frequency = whole(case)
    if frequency.n_records < k:
        return
    axes = axes_of(frequency, form["numeric"], form["categorical"])
    criteria = (KAnonymity(k=k),)
    pieces = elements(frequency, criteria, form["relaxed"], np.random.default_rng(seed))
    cutting = Cutting(frequency, axes, Judge(frequency, criteria), pieces, np.array(case.weights),
                      form["relaxed"])
    found = cutting.run(Clock(), None)
    assert found.counts.sum() == frequency.n_records and found.counts.min() > 0
    at = places(axes, frequency)[found.tuple_of]
    for part in range(int(found.class_of.max()) + 1):
        mine = found.class_of == part
        for j in range(frequency.n_quasi):
            for cut in at[mine, j]:
                left = found.counts[mine & (at[:, j] <= cut)].sum()
                right = found.counts[mine & (at[:, j] > cut)].sum()
                assert left < k or right < k
        assert found.counts[mine].sum() >= k
        if form["relaxed"] and len(np.unique(at[mine], axis=0)) > 1:
            assert found.counts[mine].sum() < 2 * k


@quick
@given(cases(most_columns=4, most_records=60), forms, st.integers(1, 5), st.integers(0, 10**6))
def test_the_kernel_proposes_as_its_twin(case: Case, form: dict[str, Any], least: int, seed: int) -> None:
    frequency, rng = case.frequency, np.random.default_rng(seed)
    axes = axes_of(frequency, form["numeric"], form["categorical"])
    lines, at = Lines.of(axes), places(axes, frequency)
    order = rng.permutation(frequency.n_tuples)
    starts = np.unique([0, *rng.integers(0, len(order), 3), len(order)])
    tried = rng.integers(0, 4, len(starts) - 1)
    answers = []
    for propose in (kernels.propose, plain.propose):
        found = [np.zeros(len(starts) - 1, np.int64) for _ in range(3)]
        looked = tried.copy()
        propose(order, starts, at, frequency.counts, lines.nodes, lines.first_node, lines.heights,
                lines.penalties, lines.gaps, np.array(case.weights), least, int(form["relaxed"]), looked,
                *found)
        cut = found[0] >= 0
        answers.append([found[0].tolist(), *(one[cut].tolist() for one in (*found[1:], looked))])
    assert answers[0] == answers[1]


@quick
@given(st.lists(st.integers(-1, 5), min_size=1), st.integers(6, 8))
def test_members_are_grouped_as_by_the_twin(part_of: list[int], n_parts: int) -> None:
    one, other = (work.grouped(np.array(part_of), n_parts) for work in (kernels, plain))
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_sparse_places_are_tallied_by_sorting() -> None:
    at = np.array([[5], [900_000], [5], [17]])
    tally, values, totals = np.zeros(1_000_000, np.int64), np.zeros(4, np.int64), np.zeros(4, np.int64)
    found = kernels.tallied(at, np.array([1, 2, 3, 4]), np.arange(4), 0, 5, 900_000, tally, values, totals)
    assert values[:found].tolist() == [5, 17, 900_000] and totals[:found].tolist() == [4, 4, 2]


def test_sets_can_be_read_back() -> None:
    assert braced(["a", "b-c"]) == "{a, b-c}"
    assert braced(["a, b", 'say "x"', " c"]) == '{"a, b", "say \\"x\\"", " c"}'


def test_weights_decide_which_column_is_kept_fine() -> None:
    """Two columns alike: the one that counts more is cut, the other is not."""
    columns = tuple(Hierarchy(name, tuple((str(v), "*") for v in range(4))) for name in "ab")
    codes = np.array([[a, b] for a in range(4) for b in range(4)], np.int32)
    frequency = FrequencySet(columns, codes, np.ones(16, np.int64))
    for weights, fine in ((np.array([5.0, 1.0]), 0), (np.array([1.0, 5.0]), 1)):
        problem = Problem(frequency, (KAnonymity(k=4),), 0.0, weights)
        found = Mondrian().solve(problem, np.random.default_rng(0))
        leaves = [found.labelling(frequency, j).leaves(4) for j in range(2)]
        assert (leaves[fine] == 1).all() and (leaves[1 - fine] == 4).all()


@pytest.mark.needs_shared
def test_adult_loses_no_more_than_the_python_peer() -> None:
    """anonypy's mean NCP at k = 5, with value sets and ranges as labels: 0.032."""
    frequency = adult()
    problem = Problem(frequency, (KAnonymity(k=5),), 0.0, np.ones(8))
    found = Mondrian(numeric="range", categorical="set").solve(problem, np.random.default_rng(0))
    assert found.notes["score"] == pytest.approx(0.0300, abs=5e-5) and found.notes["score"] <= 0.032
    assert found.sizes(frequency).min() == 5 and found.suppressed(frequency) == 0
