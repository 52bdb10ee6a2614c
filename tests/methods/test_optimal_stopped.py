"""A search that is stopped says what it has and claims no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.properties.cases import criterion

from sfumato.costs.registry import make
from sfumato.errors import InfeasibleError
from sfumato.evaluate import PlainEvaluator
from sfumato.frequency import FrequencySet
from sfumato.frontier import BestFirst
from sfumato.hierarchy.core import Hierarchy
from sfumato.lattice import Lattice
from sfumato.methods import full_domain
from sfumato.methods.base import Problem
from sfumato.methods.optimal import Optimal
from sfumato.search import Clock, Found, Limits, TopDown

LEVELS = 5


def table(columns: int = 4, n: int = 300) -> FrequencySet:
    """Binary hierarchies of 16 values, five levels each."""
    paths = tuple((*(f"{level}.{v >> level}" for level in range(LEVELS - 1)), "*") for v in range(16))
    rng = np.random.default_rng(8)
    codes, counts = np.unique(rng.integers(0, 16, (n, columns)), axis=0, return_counts=True)
    hierarchies = tuple(Hierarchy(f"q{j}", paths) for j in range(columns))
    return FrequencySet(hierarchies, codes.astype(np.int32), counts.astype(np.int64))


def run(strategy: Any, stop_after: int | None = None, cost: str = "ncp", interruptible: bool = True,
        clock: Clock | None = None) -> Found:
    """A search whose evaluator raises Ctrl-C after so many calls."""
    frequency, lattice, k3 = table(), Lattice((LEVELS,) * 4), criterion("k-anonymity", k=3)
    made = make(cost, frequency, np.ones(4), 3)
    engine = PlainEvaluator(frequency, (k3,), made)
    calls, evaluate = [0], engine.evaluate

    def stopping(levels: Any) -> Any:
        calls[0] += 1
        if stop_after is not None and calls[0] > stop_after:
            raise KeyboardInterrupt
        return evaluate(levels)

    engine.evaluate = stopping  # type: ignore[method-assign]
    limits = Limits(15, frequency.n_records, True, True)
    return strategy(lattice, made, engine, limits, clock or Clock(60.0, interruptible)).run()


@pytest.mark.parametrize("strategy", [TopDown, BestFirst])
@pytest.mark.parametrize("cost", ["ncp", "discernibility", "entropy"])
def test_interrupted_anywhere_the_bound_is_true(strategy: Any, cost: str) -> None:
    best = run(strategy, cost=cost)
    assert best.proven and best.bound == best.score
    for stop in range(1, 40):
        found = run(strategy, stop, cost)
        assert found.bound <= best.score <= found.score
        assert found.levels is not None
        assert not found.proven or found.score == pytest.approx(best.score)


@pytest.mark.parametrize("strategy", [TopDown, BestFirst])
def test_an_interrupt_is_passed_on_unless_asked_for(strategy: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(strategy, 3, interruptible=False)


@pytest.mark.parametrize("strategy", [TopDown, BestFirst])
def test_out_of_time_the_bound_is_true(strategy: Any) -> None:
    best = run(strategy)
    found = run(strategy, clock=Clock(1e-9))
    assert not found.proven and found.bound <= best.score <= found.score


def test_both_strategies_agree() -> None:
    assert run(TopDown).score == pytest.approx(run(BestFirst).score)


def test_unproven_is_not_called_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a lattice held for too large, stopped at once: best found, with bound and gap."""
    monkeypatch.setattr(full_domain, "ENUMERABLE", 10)
    problem = Problem(table(), (criterion("k-anonymity", k=3),), 0.05, np.ones(4))
    notes = Optimal(seconds=1e-6).solve(problem, np.random.default_rng(0)).notes
    search = notes["search"]
    assert search["status"] == "best found"
    assert search["bound"] < notes["score"]
    assert search["gap"] == pytest.approx((notes["score"] - search["bound"]) / notes["score"])
    problem = Problem(table(), (criterion("k-anonymity", k=3),), 0.05, np.ones(4))
    assert Optimal().solve(problem, np.random.default_rng(0)).notes["search"]["status"] == "optimal"


def test_everything_would_have_to_go() -> None:
    """Even when all may be suppressed, a release of nothing is no release."""
    problem = Problem(table(n=20), (criterion("k-anonymity", k=21),), 1.0, np.ones(4))
    with pytest.raises(InfeasibleError) as caught:
        Optimal().solve(problem, np.random.default_rng(0))
    assert "k-anonymity (k = 21)" in caught.value.message


def test_progress_is_told() -> None:
    told: list[Any] = []
    problem = Problem(table(), (criterion("k-anonymity", k=3),), 0.05, np.ones(4), watch=told.append)
    notes = Optimal().solve(problem, np.random.default_rng(0)).notes
    assert told and all(progress.bound <= notes["score"] + 1e-9 for progress in told)
    assert [p.visited for p in told] == sorted(p.visited for p in told)
