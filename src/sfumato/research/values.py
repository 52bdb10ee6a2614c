"""The research value (RV) of every level of every column.

Morton et al., An enhanced utility-driven data anonymization method, section 4.

    numeric      RV = w * S0 / Sg * DRg / DR,   S = sum over groups of records * values spanned
    categorical  RV = w * |Ag| / |A0| * DRg / DR

w: the column's weight. DRg: the importance of the rules that level g keeps; DR: of all of its rules; without
rules their quotient is 1. |Ag|: labels that occur. The top level, where all is `*`, is worth nothing.

The printed numeric formula has S0 and Sg the wrong way round; the worked example below it is right. The paper
divides by the rules that level 0 keeps. Those are all, save where values that stand by themselves cannot yet
be *together*; dividing by all keeps RV at most w, and leaves no division by zero.

>>> round(numeric([(25, 10), (45, 15), (55, 25)], [(125, 1)], 0.2, 50 / 100), 4)
0.0054
>>> categorical(2, 4, 1.0, 25 / 40)
0.3125
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.hierarchy.core import Hierarchy
from sfumato.hierarchy.domain import number
from sfumato.hierarchy.numeric import interval
from sfumato.research.rules import kept
from sfumato.research.said import Formula, Rule

Groups = Iterable[tuple[float, float]]  # records, values spanned


@dataclass(frozen=True)
class Price:
    """What one level of a column is worth, and why."""

    level: int
    labels: int  # that occur
    value: float
    share: float  # of the rules' importance that the level keeps
    breaks: tuple[Rule, ...]


def numeric(groups: Groups, specific: Groups, weight: float, share: float) -> float:
    """The research value of numbers in groups."""
    return weight * _spread(specific) / _spread(groups) * share


def _spread(groups: Groups) -> float:
    return float(sum(records * spanned for records, spanned in groups))


def categorical(labels: int, values: int, weight: float, share: float) -> float:
    """The research value of labels."""
    return weight * labels / values * share


def prices(hierarchy: Hierarchy, marginal: Ints, weight: float, rules: Sequence[Rule] = (),
           given: Sequence[float] | None = None, formula: Formula | None = None) -> tuple[Price, ...]:
    """The price of every level of a column, by its formula or as given by hand."""
    formula = formula or formula_of(hierarchy)
    total = sum(rule.importance for rule in rules)
    found = []
    for level in range(hierarchy.n_levels):
        broken = tuple(rule for rule in rules if not kept(rule, hierarchy, level))
        share = 1 - sum(rule.importance for rule in broken) / total if total else 1.0
        records = np.bincount(hierarchy.nodes[level], weights=marginal)
        if given is not None:
            value = given[level]
        elif level == hierarchy.n_levels - 1 and level:
            value = 0.0
        elif formula == "numeric":
            value = numeric(zip(records, spans(hierarchy, level), strict=True), [(float(marginal.sum()), 1)],
                            weight, share)
        else:
            value = categorical(int((records > 0).sum()), int((marginal > 0).sum()), weight, share)
        found.append(Price(level, int((records > 0).sum()), value, share, broken))
    return tuple(found)


def formula_of(hierarchy: Hierarchy) -> Formula:
    """Numeric where all values are numbers and no label below the top masks digits."""
    real = [value for value in hierarchy.values if value is not None]
    between = [label for level in hierarchy.labels[1:-1] for label in level if label is not None]
    masked = any("*" in label for label in between)
    numbers = bool(real) and all(number(value) is not None for value in real)
    return "numeric" if numbers and not masked else "categorical"


def spans(hierarchy: Hierarchy, level: int) -> Floats:
    """Per label of a column of numbers: how many values it spans, in steps of the column (20 to 29: 10).

    An interval spans what it says, open ends as far as the column goes; another label what stands under it.
    """
    points = np.array([np.nan if value is None else float(value) for value in hierarchy.values])
    step, labels = _step(points), hierarchy.labels[level]
    lows, highs = np.full(len(labels), np.inf), np.full(len(labels), -np.inf)
    known = ~np.isnan(points)
    np.minimum.at(lows, hierarchy.nodes[level][known], points[known])
    np.maximum.at(highs, hierarchy.nodes[level][known], points[known])
    for node, label in enumerate(labels):
        ends = interval(label) if label is not None and level else None
        if ends is not None:
            lows[node] = ends[0] if np.isfinite(ends[0]) else np.nanmin(points)
            highs[node] = ends[1] - step if np.isfinite(ends[1]) else np.nanmax(points)
    return np.where(np.isfinite(lows), np.maximum((highs - lows) / step + 1, 1.0), 1.0)


def _step(points: Floats) -> float:
    """The unit of a column: 1 for whole numbers, else the smallest distance of two values."""
    real = np.unique(points[~np.isnan(points)])
    if len(real) < 2 or (real == np.floor(real)).all():
        return 1.0
    return float(np.diff(real).min())


def rising(of_column: Sequence[Price]) -> list[int]:
    """The levels worth more than the one below them."""
    return [coarse.level for fine, coarse in pairwise(of_column) if coarse.value > fine.value + 1e-12]
