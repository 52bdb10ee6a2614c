"""Probabilistic-style: the worked example of its law, and Mondrian's cuts under it."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_slices import table
from tests.oracles import criteria as oracle

from sfumato.criteria.linkable import covered
from sfumato.errors import InfeasibleError, RecipeError
from sfumato.methods.base import Problem
from sfumato.methods.mondrian import Mondrian
from sfumato.methods.probabilistic_style import Probabilistic
from sfumato.recipe import Recipe


def test_the_worked_example() -> None:
    """Flu ½, asthma 0.3, ulcer 0.2, four draws: the companions of each own value, one after the other."""
    p = np.array([0.5, 0.3, 0.2])
    others = ~np.eye(3, dtype=bool)
    found = covered(others, p, 4, 3)
    assert found[:, 1].round(4).tolist() == [0.9375, 0.9919, 0.9984]
    assert round(found[0, 2], 4) == 0.4128
    two = covered(np.array([[False, True, False], [True, False, False]]), p, 4, 2)[:, 1]  # {flu, asthma}
    assert two.min().round(4) == 0.7599


def rows_of(seed: int, n: int) -> list[tuple[str, ...]]:
    rng = random.Random(seed)
    return [(str(rng.randrange(20, 60)), rng.choice("xyz"), rng.choice("sssttuvw")) for _ in range(n)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(12, 80), st.integers(2, 4), st.sampled_from([0.3, 0.5, 0.8]))
def test_every_class_is_large_and_linkable(seed: int, n: int, d: int, alpha: float) -> None:
    rows = rows_of(seed, n)
    frequency = table(rows, ("age", "kind", "ill"))
    method = Probabilistic(k=3, d=d, alpha=alpha)
    problem = Problem(frequency, method.promises(["ill"]), 0.0, np.ones(2))
    whole = [row[-1] for row in rows]
    if oracle.linked([("all", s) for s in whole], whole, d, 3)["all"] < alpha:
        with pytest.raises(InfeasibleError, match="linkable"):
            method.solve(problem, np.random.default_rng(0))
        return
    found = method.solve(problem, np.random.default_rng(0))
    records = []
    for row in rows:
        codes = [h.code_of[v] for h, v in zip(frequency.hierarchies, row, strict=False)]
        at = int(np.flatnonzero((frequency.codes == codes).all(axis=1))[0])
        records.append((str(found.class_of[at]), row[-1]))
    assert min(oracle.sizes(records).values()) >= 3
    assert min(oracle.linked(records, whole, d, 3).values()) >= alpha - 1e-9


def test_more_is_asked_than_of_mondrian() -> None:
    frequency = table(rows_of(1, 400), ("age", "kind", "ill"))
    strict, loose = Probabilistic(k=3, d=3, alpha=0.5), Probabilistic(k=3, d=2, alpha=0.01)
    of = [method.solve(Problem(frequency, method.promises(["ill"]), 0.0, np.ones(2)),
                       np.random.default_rng(0)).n_classes for method in (strict, loose)]
    plain = Mondrian().solve(Problem(frequency, loose.promises([])[:1], 0.0, np.ones(2)),
                             np.random.default_rng(0)).n_classes
    assert of[0] < of[1] <= plain


def test_faults_of_the_recipe() -> None:
    said = {"columns": {"age": {"role": "quasi"}}, "method": {"name": "probabilistic-style", "k": 3}}
    with pytest.raises(RecipeError, match="no sensitive column"):
        Recipe.from_dict(said)
    said["columns"] = {**said["columns"], "ill": {"role": "sensitive"}}  # type: ignore[dict-item]
    assert [one.name for one in Recipe.from_dict(said).promised] == ["k-anonymity", "linkable"]
    for wrong in ({"alpha": 1.2}, {"d": 1}, {"k": 1}, {"alpha": True}):
        with pytest.raises(RecipeError, match=next(iter(wrong))):
            Recipe.from_dict({**said, "method": {**said["method"], **wrong}})  # type: ignore[dict-item]
