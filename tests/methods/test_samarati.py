"""Samarati's search against brute force: the least height, all solutions of it, the preferred one."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.adult import COLUMNS, adult
from tests.oracles import lattice as oracle
from tests.properties.cases import SETS, Case, cases, criterion, promises

from sfumato.errors import InfeasibleError, RequestError
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.methods.base import Problem
from sfumato.methods.optimal import Optimal
from sfumato.methods.samarati import MOST_TOLD, Samarati

RNG = np.random.default_rng(0)


@settings(deadline=None, max_examples=150)
@given(cases(), st.sampled_from(SETS), st.sampled_from(["0", "0.1", "0.5"]),
       st.sampled_from(["suppressed", "ncp", "entropy", "discernibility"]), st.integers(0, 2 ** 32))
def test_brute_force(case: Case, names: tuple[str, ...], limit: str, prefer: str, seed: int) -> None:
    known = promises(case, random.Random(seed))
    judges = [known[name][1] for name in names]
    problem = Problem(case.frequency, tuple(known[name][0] for name in names), float(limit),
                      np.array(case.weights))
    every = [oracle.release(case.records, case.paths, node, judges) for node in oracle.nodes(case.paths)]
    feasible = [r for r in every if oracle.feasible(r, Fraction(limit), len(case.records))]
    if not feasible:
        with pytest.raises(InfeasibleError):
            Samarati(prefer=prefer).solve(problem, RNG)
        return
    least = min(sum(released.node) for released in feasible)
    lowest = {r.node: r for r in feasible if sum(r.node) == least}
    notes = Samarati(prefer=prefer).solve(problem, RNG).notes
    facts = notes["facts"]["samarati"]
    assert facts["height"] == least
    assert {tuple(one["levels"]): one["suppressed"] for one in facts["solutions"]} == {
        node: len(released.suppressed) for node, released in lowest.items()}
    chosen = tuple(notes["levels"])
    if prefer == "suppressed":
        assert len(lowest[chosen].suppressed) == min(len(r.suppressed) for r in lowest.values())
    else:
        cost = {node: oracle.COSTS[prefer](case.records, case.paths, case.weights, r)
                for node, r in lowest.items()}
        assert cost[chosen] == pytest.approx(min(cost.values()), rel=1e-9, abs=1e-9)
        assert notes["score"] == pytest.approx(cost[chosen], rel=1e-9, abs=1e-9)


@pytest.mark.needs_shared
@pytest.mark.parametrize("k, suppression", [(5, 0.0), (5, 0.05), (100, 0.0)])
def test_adult(k: int, suppression: float) -> None:
    """The height is that of the proven lowest node, and not all nodes are counted."""
    problem = Problem(adult(COLUMNS, "salary-class"), (criterion("k-anonymity", k=k),), suppression,
                      np.ones(len(COLUMNS)))
    facts = Samarati().solve(problem, RNG).notes["facts"]["samarati"]
    lowest = Optimal(cost="height").solve(problem, RNG).notes
    assert facts["height"] == lowest["score"]
    assert len(facts["solutions"]) == min(facts["solutions_found"], MOST_TOLD)
    assert facts["solutions_found"] > MOST_TOLD or lowest["levels"] in [
        one["levels"] for one in facts["solutions"]]
    assert facts["frequency_sets"] < facts["nodes"] / 2


def test_a_lattice_too_large_is_refused_with_a_remedy() -> None:
    column = tuple((str(v), str(v // 2), str(v // 4), str(v // 8), "*") for v in range(16))
    hierarchies = tuple(Hierarchy(f"c{j}", column) for j in range(12))
    frequency = FrequencySet(hierarchies, np.zeros((1, 12), np.int32), np.array([9]))
    problem = Problem(frequency, (criterion("k-anonymity", k=2),), 0.0, np.ones(12))
    with pytest.raises(RequestError, match="244,140,625 nodes") as caught:
        Samarati().solve(problem, RNG)
    assert "optimal" in caught.value.remedy
