"""What the search takes for granted, over all pairs of nodes of random lattices."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.cases import SETS, Case, cases, promises

from sfumato.costs.base import Cost, Features
from sfumato.costs.registry import COSTS, make
from sfumato.criteria.base import Criterion
from sfumato.evaluate import PlainEvaluator
from sfumato.lattice import Lattice

quick = settings(deadline=None, max_examples=60)
chosen = (cases(), st.sampled_from(SETS), st.integers(0, 2 ** 32))


@dataclass
class Scored:
    """All nodes of a lattice, evaluated; `below[x, g]` says that g generalizes x (or is x)."""

    cost: Cost
    totals: np.ndarray
    penalties: np.ndarray
    features: Features
    scores: np.ndarray
    below: np.ndarray
    criteria: tuple[Criterion, ...]


def scored(case: Case, names: tuple[str, ...], seed: int, cost_name: str) -> Scored:
    known = promises(case, random.Random(seed))
    criteria = tuple(known[name][0] for name in names)
    lattice = Lattice(tuple(len(paths[0]) for paths in case.paths))
    least = max(c.least for c in criteria)
    cost = make(cost_name, case.frequency, np.array(case.weights), least)
    levels = lattice.levels(np.arange(lattice.size))
    features = PlainEvaluator(case.frequency, criteria, cost).evaluate(levels)
    totals = np.stack([cost.totals(j)[levels[:, j]] for j in range(levels.shape[1])], axis=1)
    penalties = cost.penalties(features)
    scores = cost.score(totals + penalties, features)
    below = (levels[:, None, :] <= levels[None, :, :]).all(axis=2)
    return Scored(cost, totals, penalties, features, scores, below, criteria)


def at_most(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return low <= high + 1e-9 * np.maximum(1, np.abs(high))


@pytest.mark.parametrize("cost", COSTS)
@quick
@given(*chosen)
def test_floors_bound_the_node_itself(cost: str, case: Case, names: tuple[str, ...], seed: int) -> None:
    """Without knowing anything, and knowing what the node certainly suppresses."""
    s = scored(case, names, seed, cost)
    nothing = np.zeros(len(s.scores), dtype=np.int64)
    kept = s.features.suppressed < len(case.records)  # a release of nothing is never feasible
    assert at_most(s.cost.floor(s.totals, nothing), s.scores)[kept].all()
    assert at_most(s.cost.floor(s.totals, s.features.certain), s.scores)[kept].all()


@pytest.mark.parametrize("cost", COSTS)
@quick
@given(*chosen)
def test_a_generalization_bounds_its_specializations(cost: str, case: Case, names: tuple[str, ...],
                                                     seed: int) -> None:
    """Its certain suppression, and its penalty where every criterion is upward, are theirs too."""
    s = scored(case, names, seed, cost)
    low, high = np.nonzero(s.below)
    kept = s.features.suppressed[low] < len(case.records)
    floors = s.cost.floor(s.totals[low], s.features.certain[high])
    assert at_most(floors, s.scores[low])[kept].all()
    if s.cost.uses_cells and all(c.upward for c in s.criteria):
        floors = s.cost.floor(s.totals[low] + s.penalties[high], s.features.certain[high])
        assert at_most(floors, s.scores[low])[kept].all()


@pytest.mark.parametrize("cost", COSTS)
@quick
@given(*chosen)
def test_a_node_bounds_its_generalizations(cost: str, case: Case, names: tuple[str, ...], seed: int) -> None:
    s = scored(case, names, seed, cost)
    low, high = np.nonzero(s.below)
    kept = s.features.suppressed[high] < len(case.records)
    assert at_most(s.cost.rise(s.totals, s.features)[low], s.scores[high])[kept].all()


@quick
@given(*chosen)
def test_suppression_along_the_lattice(case: Case, names: tuple[str, ...], seed: int) -> None:
    """Certain suppression shrinks upwards; where all criteria are upward it is all there is."""
    s = scored(case, names, seed, "ncp")
    low, high = np.nonzero(s.below)
    certain, suppressed = s.features.certain, s.features.suppressed
    assert (certain[high] <= certain[low]).all()
    assert (certain <= suppressed).all()
    if all(c.upward for c in s.criteria):
        assert (certain == suppressed).all()
    if all(c.mergeable for c in s.criteria):
        assert (suppressed[high][suppressed[low] == 0] == 0).all()


@quick
@given(cases())
def test_divergence_is_never_below_zero(case: Case) -> None:
    """KL's clamp hides rounding only: nothing is divergent at the bottom, nothing is negative above."""
    s = scored(case, ("equal",), 0, "kl")
    n = len(case.records)
    raw = s.cost.constant - (s.features.all_spread - s.totals.sum(axis=1)) / n + np.log2(n)
    assert (raw > -1e-9).all()
    assert raw[0] == pytest.approx(0, abs=1e-9)


def test_height_says_nothing_of_suppression() -> None:
    """With every record but one class suppressed, the height is that of the node."""
    case = Case([("0",), ("0",), ("1",), ("2",)], [[("0", "*"), ("1", "*"), ("2", "*")]], [*"abab"],
                [*"abab"], [2.0])
    s = scored(case, ("k",), 1, "height")
    assert s.scores.tolist() == [0.0, 2.0]
