"""Local recoding: kernels beside plain loops, its promises, brute force on tiny tables, Adult."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.methods.adult import COLUMNS, adult
from tests.methods.local import keeps_its_promises, whole
from tests.oracles import partitions
from tests.properties.cases import Case, cases

from sfumato.clusters.axes import axes_of
from sfumato.costs.registry import make
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.criteria.l_diversity import LDiversity
from sfumato.local import bound as bounds
from sfumato.local.kernels import joins, polish, trie
from sfumato.local.kernels.sweep import sweep
from sfumato.local.neighbourhoods import Neighbourhoods
from sfumato.local.peel import peel
from sfumato.local.prices import FINEST, SUMS, Prices
from sfumato.local.search import Search
from sfumato.methods.base import Problem
from sfumato.methods.local import Local
from sfumato.search import Clock

quick = settings(max_examples=100, deadline=None)
forms = st.fixed_dictionaries({"numeric": st.sampled_from(["auto", "range", "hierarchy"]),
                               "cost": st.sampled_from(SUMS), "certificate": st.booleans(),
                               "steps": st.sampled_from([0, 7])})
styles = st.sampled_from(["hierarchy", "range"])


def searched(case: Case, k: int, style: str = "hierarchy", cost: str = "ncp") -> Search:
    assert len(case.records) >= k
    frequency, weights = whole(case), np.array(case.weights)
    axes = axes_of(frequency, style, "hierarchy")
    prices = Prices(frequency, axes, make(cost, frequency, weights))
    return Search(frequency, (KAnonymity(k=k),), axes, prices, np.random.default_rng(1))


def anything(n: int) -> tuple[Any, Any]:
    """No sensitive column that needs several values."""
    return np.zeros((n, 0), np.uint64), np.zeros(0, np.int64)


def checked(search: Search, k: int) -> None:
    """The classes as they stand: members, sizes, labels and costs, counted again record by record."""
    state, frequency = search.state, search.frequency
    assert (state.class_of >= 0).all() and state.counts.sum() == frequency.n_records
    for c in range(len(state.size)):
        members = polish.members(state, c)
        assert set(members) == set(np.flatnonzero(state.class_of == c))
        assert state.size[c] == state.counts[members].sum()
        assert state.size[c] == 0 or state.size[c] >= k
        if not len(members):
            continue
        total = 0
        for j, axis in enumerate(search.axes):
            at = search.grid.places[state.tuple_of[members], j]
            low, high = at.min(), at.max()
            share = axis.penalty(np.array([low]), np.array([high]))[0]
            total += share * search.prices.factors[j]
        assert state.weight[c] == pytest.approx(total / search.prices.unit, abs=len(search.axes) + 1)


@quick
@given(cases(), forms, st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
def test_every_class_keeps_every_promise(case: Case, form: dict[str, Any], seed: int, share: float) -> None:
    keeps_its_promises(Local(**form), case, seed, share)


@quick
@given(cases(most_records=40), st.integers(2, 4), styles)
def test_the_sweep_takes_every_good_cell_in_order(case: Case, k: int, style: str) -> None:
    """Against dictionaries of generalized tuples."""
    assume(len(case.records) >= k)
    search = searched(case, k, style)
    levels, rows, k = search.levels, search.grid.places, search.least
    nodes = levels.cheapest_first()
    counts = search.frequency.counts
    left, classes = list(range(len(rows))), {}
    for node in nodes:
        cells: dict[tuple[int, ...], list[int]] = {}
        for t in left:
            key = tuple(int(levels.groups[j][node[j]][rows[t, j]]) for j in range(rows.shape[1]))
            cells.setdefault(key, []).append(t)
        for members in cells.values():
            if counts[members].sum() >= k:
                classes |= {t: frozenset(members) for t in members}
        left = [t for t in left if t not in classes]
    class_of, active = np.full(len(rows), -1), np.arange(len(rows))
    number, n = sweep(search.words, search.starts, nodes, rows.copy(), counts, *anything(len(rows)),
                      k, 0.0, 1e12, active, class_of, np.zeros(len(nodes), np.int64))
    assert n == len(left) and number == len(set(classes.values()))
    for t in range(len(rows)):
        mates = frozenset(np.flatnonzero(class_of == class_of[t]).tolist())
        assert mates == classes[t] if t in classes else class_of[t] == -1


def test_a_sweep_short_of_work_leaves_nodes_out_and_still_takes_what_it_can() -> None:
    rng = np.random.default_rng(0)
    case = Case([tuple(map(str, row)) for row in rng.integers(0, 8, (300, 3))],
                [[(str(v), str(v // 2), str(v // 4) + "+", "*") for v in range(8)]] * 3,
                ["a"] * 300, ["b"] * 300, [1.0, 1.0, 1.0])
    search = searched(case, 3)
    rows, counts = search.grid.places, search.frequency.counts
    sums = []
    for work in (1e12, 2000.0, 0.0):
        class_of, active = np.full(len(rows), -1), np.arange(len(rows))
        _, n = sweep(search.words, search.starts, search.levels.cheapest_first(), rows.copy(), counts,
                     *anything(len(rows)), 3, 0.0, work, active, class_of,
                     np.zeros(search.levels.size, np.int64))
        assert counts[active[:n]].sum() < 3
        sums.append(len(set(class_of.tolist())))
    assert sums[0] > max(sums[1:])


@quick
@given(cases(most_columns=4, most_records=40), st.integers(2, 4), styles, st.integers(0, 10**6))
def test_the_index_finds_the_cheapest_class(case: Case, k: int, style: str, seed: int) -> None:
    """Against all classes, also after the index was changed and refilled."""
    assume(len(case.records) >= k)
    search = searched(case, k, style)
    state, grid, rng = search.state, search.grid, np.random.default_rng(seed)
    alive = np.flatnonzero(state.head >= 0)
    for _ in range(30):
        c = int(rng.choice(alive))
        trie.remove(search.trie, c)
        trie.enter(grid, search.trie, state, c)
    for t in rng.integers(0, len(grid.places), 5):
        without, count = int(rng.choice(alive)), int(rng.integers(1, 3))
        costs = {c: (state.size[c] + count) * joins.with_tuple(grid, state, c, t)
                 - state.size[c] * state.weight[c] for c in alive if c != without}
        limit = int(rng.integers(1, FINEST * 4))
        cost, found = trie.nearest(grid, state, search.trie, t, count, search.least, without, limit)
        if costs and min(costs.values()) < limit:
            assert cost == min(costs.values()) == costs[found]
        else:
            assert found == -1 and cost == limit


@quick
@given(cases(most_records=40), st.integers(2, 4), styles, st.sampled_from(SUMS))
def test_polishing_only_ever_lowers_the_cost(case: Case, k: int, style: str, cost: str) -> None:
    assume(len(case.records) >= k)
    search = searched(case, k, style, cost)
    checked_costs = cost == "ncp"
    before = search.state.cost
    for _ in range(4):
        changed = search._polish_once()
        after = search.state.cost
        assert after < before if changed else after == before
        before = after
        if checked_costs:
            checked(search, search.least)


@quick
@given(cases(most_columns=4, most_records=40), st.integers(2, 4), styles, st.integers(0, 10**6))
def test_no_step_makes_the_classes_dearer(case: Case, k: int, style: str, seed: int) -> None:
    assume(len(case.records) >= k)
    search = searched(case, k, style)
    further, before = Neighbourhoods(search, np.random.default_rng(seed)), search.state.cost
    for _ in range(12):
        further.step()
        assert search.state.cost <= before
        before = search.state.cost
        checked(search, k)


@settings(max_examples=60, deadline=None)
@given(cases(most_records=7), st.integers(2, 3), styles)
def test_no_partition_is_beaten(case: Case, k: int, style: str) -> None:
    """Brute force over all partitions finds nothing dearer than the method's classes."""
    assume(len(case.records) >= k)
    frequency = whole(case)
    problem = Problem(frequency, (KAnonymity(k=k),), 0.0, np.array(case.weights))
    found = Local(numeric=style).solve(problem, np.random.default_rng(0))
    best = partitions.cheapest(case.records, case.paths, case.weights, [lambda members, n: len(members) >= k],
                               style == "range")
    assert best is not None and found.notes["score"] >= best - 1e-9


BARS = {2: 0.0200, 5: 0.0488, 10: 0.0725, 100: 0.1872}  # to be reached at once


@pytest.mark.needs_shared
@pytest.mark.parametrize("k", BARS)
def test_adult_loses_less_than_asked(k: int) -> None:
    frequency = adult(COLUMNS, "salary-class")
    problem = Problem(frequency, (KAnonymity(k=k),), 0.0, np.ones(8))
    found = Local(certificate=False, steps=0).solve(problem, np.random.default_rng(0))
    assert found.notes["score"] <= BARS[k]
    assert found.sizes(frequency).min() >= k and found.suppressed(frequency) == 0


@settings(max_examples=80, deadline=None)
@given(cases(most_records=7), st.integers(2, 3), styles, st.sampled_from([1e9, 4.0]))
def test_the_bound_is_below_every_partition(case: Case, k: int, style: str, work: float) -> None:
    """Brute force; also over a lattice of which most levels are left out."""
    assume(len(case.records) >= k)
    search = searched(case, k, style)
    search.polish()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "WORK", work)
        prover = bounds.Prover(search.axes, search.grid, search.prices, k)
    found = prover.run(search.state, Clock())
    best = partitions.cheapest(case.records, case.paths, case.weights, [lambda members, n: len(members) >= k],
                               style == "range")
    assert best is not None and search.prices.score(found.total) <= best + 1e-9
    told = bounds.certificate(found, search, [search.state.cost])
    assert told["bound"] <= told["score"] and 0 <= told["records_at_their_bound"] <= len(case.records)


@quick
@given(cases(most_columns=3, most_records=30), st.integers(2, 4), styles)
def test_the_values_hold_in_every_cell(case: Case, k: int, style: str) -> None:
    """By loops over all nodes: the k dearest records of a cell are worth no more than k in it cost."""
    assume(len(case.records) >= k)
    search = searched(case, k, style)
    prover = bounds.Prover(search.axes, search.grid, search.prices, k)
    values = prover.run(search.state, Clock()).values
    rows, counts = search.grid.places, search.frequency.counts
    assert len(prover.nodes) == prover.levels.size
    for node in prover.nodes:
        cells: dict[tuple[int, ...], list[int]] = {}
        for t in range(len(rows)):
            key = tuple(int(prover.levels.groups[j][node[j]][rows[t, j]]) for j in range(rows.shape[1]))
            cells.setdefault(key, []).append(t)
        for members in cells.values():
            price = sum(int(prover.costs[prover.starts[j, node[j]] + rows[members[0], j]])
                        for j in range(rows.shape[1]))
            dearest = sorted((int(values[t]) for t in members for _ in range(counts[t])), reverse=True)[:k]
            assert len(dearest) < k or sum(dearest) <= k * price


def test_all_that_is_known_of_a_small_table() -> None:
    """Two pairs that must each share a label: the bound is the optimum, and every record is at it."""
    column = [(str(v), str(v // 2), "*") for v in range(4)]
    case = Case([("0",), ("1",), ("2",), ("3",)], [column], ["a"] * 4, ["b"] * 4, [1.0])
    problem = Problem(whole(case), (KAnonymity(k=2),), 0.0, np.ones(1))
    told = Local().solve(problem, np.random.default_rng(0)).notes["facts"]["certificate"]
    assert told["score"] == pytest.approx(1 / 3) and told["within"] == pytest.approx(0, abs=1e-6)
    assert told["records_at_their_bound"] == 4


@quick
@given(cases(most_columns=3, most_records=30), st.integers(2, 3), st.sampled_from(SUMS),
       st.sampled_from([0.0, 0.5]))
def test_the_certificate_is_about_the_cost_that_is_told(case: Case, k: int, cost: str, share: float) -> None:
    assume(len(case.records) >= k)
    problem = Problem(whole(case), (KAnonymity(k=k),), share, np.array(case.weights))
    notes = Local(cost=cost, steps=0).solve(problem, np.random.default_rng(0)).notes
    assert notes["facts"]["certificate"]["score"] == pytest.approx(notes["score"], abs=1e-6)


def test_ranges_are_refused_under_a_cost_that_does_not_see_them() -> None:
    assert [at for at, _ in Local(numeric="range", cost="height").faults(["age"], [])] == ["numeric"]
    assert not [*Local(numeric="range").faults(["age"], []), *Local(cost="height").faults(["age"], [])]


def test_one_who_stands_alone_widens_the_labels_of_no_more_than_a_class() -> None:
    """Four of the hundred make a class with the one; their labels would have been * for all."""
    case = Case([("a",)] * 100 + [("b",)], [[("a", "*"), ("b", "*")]], ["x"] * 101, ["y"] * 101, [1.0])
    problem = Problem(whole(case), (KAnonymity(k=5),), 0.0, np.ones(1))
    for steps in (0, 5):
        found = Local(steps=steps).solve(problem, np.random.default_rng(0))
        assert found.notes["score"] == pytest.approx(5 / 101)
        assert sorted(found.sizes(problem.frequency)) == [5, 96]


@quick
@given(cases(most_records=40), st.integers(2, 4), styles)
def test_peeling_only_ever_lowers_the_cost(case: Case, k: int, style: str) -> None:
    assume(len(case.records) >= k)
    search = searched(case, k, style)
    before = search.state.cost
    made = peel(search)
    assert search.state.cost < before if made else search.state.cost == before
    checked(search, k)


PROVEN = {2: 0.0165, 5: 0.0414, 10: 0.0625, 100: 0.1673}


@pytest.mark.needs_shared
def test_adult_is_bounded_as_asked() -> None:
    frequency = adult(COLUMNS, "salary-class")
    problem = Problem(frequency, (KAnonymity(k=5),), 0.0, np.ones(8))
    found = Local(steps=0).solve(problem, np.random.default_rng(0))
    assert PROVEN[5] <= found.notes["facts"]["certificate"]["bound"] <= 0.0470


@pytest.mark.needs_shared
def test_adult_keeps_diversity_and_suppresses_nobody() -> None:
    """The reference tool leaves 11 % suppressed; asked are at most 0.0929."""
    frequency = adult(COLUMNS, "salary-class")
    criteria = (KAnonymity(k=5), LDiversity(column="salary-class", l=2))
    problem = Problem(frequency, criteria, 0.0, np.ones(8))
    found = Local(certificate=False, steps=0).solve(problem, np.random.default_rng(0))
    assert found.notes["score"] <= 0.0929 and found.suppressed(frequency) == 0
    assert all(criterion.holds(found.stats(frequency)).all() for criterion in criteria)
