"""The compiled kernels against their plain numpy twin."""

from __future__ import annotations

from dataclasses import fields

import numba  # noqa: F401  (loaded, so that the compiled evaluator serves)
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.cases import Case, cases, criterion

from sfumato import compiled
from sfumato.compiled import CompiledEvaluator
from sfumato.costs.registry import COSTS, make
from sfumato.evaluate import PlainEvaluator, evaluator
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.lattice import Lattice

ALWAYS = {"classes", "suppressed", "certain", "all_classes"}


def wanted(cost: str) -> set[str]:
    """The features a cost reads: the only ones it may rely on."""
    kind = COSTS[cost]
    names = ALWAYS | {"squares", "all_squares"}
    names |= {"spread", "all_spread"} if kind.uses_spread else set()
    names |= {"areas", "all_areas"} if kind.uses_areas else set()
    names |= {"cells"} if kind.uses_cells else set()
    return names | ({"labels"} if kind.uses_labels else set())


def compare(frequency: FrequencySet, cost: str, k: int, levels: np.ndarray) -> CompiledEvaluator:
    lattice = Lattice(tuple(h.n_levels for h in frequency.hierarchies))
    made = make(cost, frequency, np.ones(frequency.n_quasi), k)
    fast = CompiledEvaluator(frequency, lattice, k, made)
    slow = PlainEvaluator(frequency, (criterion("k-anonymity", k=k),), made)
    for some in (levels, levels[::-1]):  # the second time most sets are stored already
        ours, theirs = fast.evaluate(some), slow.evaluate(some)
        for field in fields(ours):
            if field.name in wanted(cost):
                np.testing.assert_allclose(getattr(ours, field.name), getattr(theirs, field.name),
                                           rtol=1e-9, atol=1e-9, err_msg=f"{cost} {field.name}")
    return fast


def big(rng: np.random.Generator, n: int, values: tuple[int, ...]) -> FrequencySet:
    """Many tuples over columns with three levels."""
    hierarchies = tuple(Hierarchy(f"q{j}", tuple((str(v), f"g{v // 2}", "*") for v in range(d)))
                        for j, d in enumerate(values))
    codes = np.stack([rng.integers(0, d, n) for d in values], axis=1).astype(np.int32)
    tuples, counts = np.unique(codes, axis=0, return_counts=True)
    return FrequencySet(hierarchies, np.ascontiguousarray(tuples), counts.astype(np.int64))


@settings(deadline=None, max_examples=40)
@given(cases(), st.sampled_from([2, 3, 5]), st.integers(0, 2 ** 32))
def test_same_features(case: Case, k: int, seed: int) -> None:
    lattice = Lattice(tuple(len(paths[0]) for paths in case.paths))
    nodes = np.random.default_rng(seed).integers(0, lattice.size, 12)
    for cost in COSTS:
        compare(case.frequency, cost, k, lattice.levels(nodes))


@pytest.mark.parametrize("cost", COSTS)
def test_same_features_of_many_tuples(cost: str) -> None:
    frequency = big(np.random.default_rng(3), 3000, (7, 1, 12, 5))
    compare(frequency, cost, 4, Lattice((3, 3, 3, 3)).levels(np.arange(81)))


def test_a_full_arena_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for two sets of all tuples only: sets are dropped and made again, and nothing changes."""
    frequency = big(np.random.default_rng(5), 3000, (9, 8, 11, 6))
    levels = Lattice((3, 3, 3, 3)).levels(np.random.default_rng(1).permutation(81))
    roomy = compare(frequency, "entropy", 3, levels)
    monkeypatch.setattr(compiled, "ARENA_WORDS", 1)
    tight = compare(frequency, "entropy", 3, levels)
    assert stored(tight) < stored(roomy)


def stored(engine: CompiledEvaluator) -> int:
    """The frequency sets that all of its workers hold."""
    return sum(int((worker.slot_of >= 0).sum()) for worker in engine.workers)


def test_wide_tables_are_left_to_the_plain_evaluator() -> None:
    """Whatever the widths: a field has a bit even where there is one value, and 64 is a word."""
    def chosen(values: list[int]) -> type:
        rng = np.random.default_rng(0)
        hierarchies = tuple(Hierarchy(f"q{j}", tuple((str(v), "*") for v in range(d)))
                            for j, d in enumerate(values))
        codes = np.unique(np.stack([rng.integers(0, d, 40) for d in values], axis=1), axis=0).astype(np.int32)
        frequency = FrequencySet(hierarchies, codes, np.ones(len(codes), np.int64))
        cost = make("ncp", frequency, np.ones(len(values)))
        return type(evaluator(frequency, Lattice((2,) * len(values)), (criterion("k-anonymity", k=2),), cost))

    assert chosen([1000] * 4 + [1] * 6) is CompiledEvaluator
    assert chosen([1000] * 6) is PlainEvaluator
    assert chosen([16000] * 4 + [1] * 12) is PlainEvaluator
