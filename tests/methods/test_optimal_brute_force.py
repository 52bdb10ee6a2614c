"""The search against brute force: every node counted by plain loops."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import lattice as oracle
from tests.properties.cases import SETS, Case, cases, criterion, promises

from sfumato.compiled import CompiledEvaluator
from sfumato.costs.measured import measure_all
from sfumato.costs.registry import COSTS, make
from sfumato.criteria.base import Criterion
from sfumato.errors import InfeasibleError
from sfumato.evaluate import Evaluator, PlainEvaluator
from sfumato.frontier import BestFirst
from sfumato.lattice import Lattice
from sfumato.methods.base import Problem
from sfumato.methods.optimal import Optimal
from sfumato.search import Clock, Found, Limits, TopDown

SUPPRESSION = (0.0, 0.05, 0.1, 0.3, 0.5, 1.0)


def found_by(strategy: type[TopDown] | type[BestFirst], case: Case, criteria: tuple[Criterion, ...],
             cost_name: str, limit: float, compiled: bool) -> Found:
    problem = Problem(case.frequency, criteria, limit, np.array(case.weights))
    lattice = Lattice(tuple(len(paths[0]) for paths in case.paths))
    cost = make(cost_name, case.frequency, problem.weights, problem.least)
    engine: Evaluator = PlainEvaluator(case.frequency, criteria, cost)
    if compiled:
        engine = CompiledEvaluator(case.frequency, lattice, criteria[0].least, cost)
    limits = Limits(problem.affordable, problem.frequency.n_records, all(c.upward for c in criteria),
                    all(c.mergeable for c in criteria))
    return strategy(lattice, cost, engine, limits, Clock(60.0)).run()


def agree(found: Found, case: Case, feasible: list[oracle.Released], cost_name: str) -> None:
    """The found node is feasible and none is cheaper; nothing is found exactly where there is nothing."""
    if not feasible:
        assert found.levels is None and found.proven
        return
    assert found.levels is not None
    score = {released.node: oracle.COSTS[cost_name](case.records, case.paths, case.weights, released)
             for released in feasible}
    assert found.score == pytest.approx(min(score.values()), rel=1e-9, abs=1e-9)
    assert score[tuple(found.levels.tolist())] == pytest.approx(found.score, rel=1e-9, abs=1e-9)
    assert found.proven
    assert found.bound <= found.score


@settings(deadline=None, max_examples=170)
@given(cases(), st.sampled_from(SETS), st.integers(0, 2 ** 32))
def test_no_node_is_cheaper(case: Case, names: tuple[str, ...], seed: int) -> None:
    """Top-down and best-first, plain and compiled, under every cost and two limits."""
    known = promises(case, random.Random(seed))
    criteria = tuple(known[name][0] for name in names)
    judges = [known[name][1] for name in names]
    every = [oracle.release(case.records, case.paths, node, judges) for node in oracle.nodes(case.paths)]
    for limit in random.Random(seed).sample(SUPPRESSION, 2):
        feasible = [r for r in every if oracle.feasible(r, Fraction(str(limit)), len(case.records))]
        for cost in COSTS:
            plain = found_by(TopDown, case, criteria, cost, limit, False)
            agree(plain, case, feasible, cost)
            agree(found_by(BestFirst, case, criteria, cost, limit, False), case, feasible, cost)
            if names == ("k",):
                compiled = found_by(TopDown, case, criteria, cost, limit, True)
                agree(compiled, case, feasible, cost)
                assert np.array_equal(compiled.levels, plain.levels), "of equal nodes, the same one"


@settings(deadline=None, max_examples=60)
@given(cases(), st.sampled_from(SETS), st.integers(0, 2 ** 32), st.sampled_from(SUPPRESSION))
def test_the_recoding_costs_what_was_found(case: Case, names: tuple[str, ...], seed: int,
                                           limit: float) -> None:
    """`measure_all` of the recoding repeats the score, and agrees with the oracle on all other costs."""
    known = promises(case, random.Random(seed))
    criteria = tuple(known[name][0] for name in names)
    problem = Problem(case.frequency, criteria, limit, np.array(case.weights))
    for cost in COSTS:
        try:
            regrouping = Optimal(cost=cost).solve(problem, np.random.default_rng(0))
        except InfeasibleError:
            continue
        node = tuple(regrouping.notes["levels"])
        released = oracle.release(case.records, case.paths, node, [known[name][1] for name in names])
        measured = measure_all(case.frequency, regrouping, problem.weights)
        assert measured[cost] == pytest.approx(regrouping.notes["score"], rel=1e-9, abs=1e-9)
        assert regrouping.n_classes == len(released.kept)
        assert regrouping.suppressed(case.frequency) == len(released.suppressed)
        for name, value in measured.items():
            expected = oracle.COSTS[name](case.records, case.paths, case.weights, released)
            assert value == pytest.approx(expected, rel=1e-9, abs=1e-9), name


@settings(deadline=None, max_examples=60)
@given(cases(4, 60), st.sampled_from([names for names in SETS if names != ("k",)]), st.integers(0, 2 ** 32))
def test_no_node_of_a_larger_lattice_is_cheaper(case: Case, names: tuple[str, ...], seed: int) -> None:
    """Against all nodes as the plain evaluator counts them: more columns, more records, more to prune."""
    known = promises(case, random.Random(seed))
    criteria = tuple(known[name][0] for name in names)
    lattice = Lattice(tuple(len(paths[0]) for paths in case.paths))
    levels = lattice.levels(np.arange(lattice.size))
    for name in ("ncp", "entropy", "kl", "discernibility"):
        cost = make(name, case.frequency, np.array(case.weights), max(c.least for c in criteria))
        features = PlainEvaluator(case.frequency, criteria, cost).evaluate(levels)
        totals = np.stack([cost.totals(j)[levels[:, j]] for j in range(levels.shape[1])], axis=1)
        scores = cost.score(totals + cost.penalties(features), features)
        for limit in (0.1, 0.5, 1.0):
            allowed = oracle.affordable(Fraction(str(limit)), len(case.records))
            best = np.where(features.suppressed <= allowed, scores, np.inf).min()
            found = found_by(TopDown, case, criteria, name, limit, False)
            assert found.score == pytest.approx(best, abs=1e-9)


def test_penalties_are_no_bound_where_suppression_may_grow() -> None:
    """A table on which a search that spread penalties under (α,k)-anonymity would miss the best node."""
    records = [tuple(word) for word in ("200", "342", "221", "020", "211", "021", "021", "342")]
    paths = [[("0", "1.1", "*"), ("1", "1.3", "*"), ("2", "1.3", "*"), ("3", "1.0", "*")],
             [(value, "*") for value in "01234"],
             [("0", "1.1", "*"), ("1", "1.2", "*"), ("2", "1.0", "*")]]
    case = Case(records, paths, [*"bcbaabba"], [*"bcbaabba"], [1.0, 1.0, 0.1])  # type: ignore[arg-type]
    for k, alpha in itertools.product((2, 3), (0.4, 0.6, 0.8)):
        criteria = (criterion("alpha-k-anonymity", column="s", alpha=alpha, k=k),)

        def judge(members: list[int], n: int, k: int = k, alpha: float = alpha) -> bool:
            counts = Counter(case.s[m] for m in members)
            return len(members) >= k and max(counts.values()) <= alpha * len(members) + 1e-9

        every = [oracle.release(records, paths, node, [judge]) for node in oracle.nodes(paths)]
        feasible = [r for r in every if oracle.feasible(r, Fraction("0.9"), len(records))]
        agree(found_by(TopDown, case, criteria, "ncp", 0.9, False), case, feasible, "ncp")


def test_oracle_and_package_know_the_same_costs() -> None:
    assert set(oracle.COSTS) == set(COSTS) and len(COSTS) == 10
