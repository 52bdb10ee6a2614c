"""Mondrian's cuts, from a problem to the classes: shared by the methods that cut a table at its medians."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.clusters.axes import Axis, Categorical, Numeric, axes_of
from sfumato.clusters.cuts import Cutting, Judge, elements
from sfumato.clusters.labels import recoding
from sfumato.clusters.refusal import require_feasible
from sfumato.recoding import Regrouping


def cut(problem: Any, method: str, rng: np.random.Generator, *, numeric: Numeric = "auto",
        categorical: Categorical = "auto", relaxed: bool = False) -> Regrouping:
    """Cut at medians while both sides satisfy every criterion; a refusal if the whole table does not."""
    frequency, criteria = problem.frequency, problem.criteria
    require_feasible(problem, method)
    axes: tuple[Axis, ...] = axes_of(frequency, numeric, categorical)
    pieces = elements(frequency, criteria, relaxed, rng)
    cutting = Cutting(frequency, axes, Judge(frequency, criteria), pieces, problem.weights, relaxed)
    found = cutting.run(problem.clock, problem.watch)
    facts = {"stopped": "parts could still be cut"} if not cutting.closed.all() else {}
    return recoding(frequency, axes, found, problem.weights, problem.affordable, facts)
