"""A quasi-identifier as a line: in what order its values stand, where it may be cut, what a stretch loses.

A column that is released as nodes of its hierarchy has its values in the hierarchy's order, in which
every node is one stretch. A column that is released as ranges or sets has them in natural order, with the
missing value last and a level of its own between values and root, so that it can be cut off first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Codes, Hierarchy, Label
from sfumato.hierarchy.domain import number

Style = Literal["node", "range", "set", "mean", "mode"]  # how a column is released
Numeric = Literal["auto", "hierarchy", "range"]
Numbers = Literal["auto", "hierarchy", "range", "mean"]  # the last of these and of the next: not true
Categorical = Literal["auto", "hierarchy", "set"]
Values = Literal["auto", "hierarchy", "set", "mode"]


@dataclass(frozen=True)
class Axis:
    """One quasi-identifier's values in a row."""

    hierarchy: Hierarchy
    style: Style
    order: Ints  # per place: the value code that stands there
    nodes: Ints  # [level, place]: what stands above, from the values themselves to one root

    @property
    def n_values(self) -> int:
        """How many values there are."""
        return len(self.order)

    @cached_property
    def place_of(self) -> Ints:
        """Per value code: its place."""
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(self.order))
        return place

    def value(self, place: int) -> Label:
        """The value that stands at a place."""
        return self.hierarchy.values[int(self.order[place])]

    @property
    def missing(self) -> int:
        """The place of the missing value, or -1."""
        return int(self.place_of[self.hierarchy.code_of[None]]) if None in self.hierarchy.code_of else -1

    def lowest(self, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """The level and node of the lowest node above all places from `low` to `high`."""
        levels = np.full(len(low), len(self.nodes) - 1, dtype=np.int64)
        for level in range(len(self.nodes) - 2, -1, -1):
            levels[self.nodes[level][low] == self.nodes[level][high]] = level
        return levels, self.nodes[levels, low]

    def penalty(self, low: Ints, high: Ints) -> Floats:
        """The certainty penalty of the label for the values from `low` to `high`."""
        if self.style != "node":
            spanned = np.where((high == self.missing) & (low != high), self.n_values - 1, high - low)
            return np.asarray(spanned / max(self.n_values - 1, 1))
        levels, nodes = self.lowest(low, high)
        return np.array([self.hierarchy.ncp(level)[node] for level, node in zip(levels, nodes, strict=True)])


def axes_of(frequency: FrequencySet, numeric: str, categorical: str) -> tuple[Axis, ...]:
    """Every quasi-identifier as it is to be released; `auto` takes nodes where there are any between."""
    return tuple(_axis(h, *_asked(h, numeric, categorical)) for h in frequency.hierarchies)


def _asked(hierarchy: Hierarchy, numeric: str, categorical: str) -> tuple[Style, Ints | None]:
    """The style of a column, and the order of its values where it is not the hierarchy's."""
    ranks = natural(hierarchy)
    asked = categorical if ranks is None else numeric
    if asked == "auto":
        between = hierarchy.n_levels > 2
        asked = "hierarchy" if between else "set" if ranks is None else "range"
    styles: dict[str, Style] = {"hierarchy": "node", "range": "range", "set": "set", "mean": "mean",
                                "mode": "mode"}
    return styles[asked], ranks


def _axis(hierarchy: Hierarchy, style: Style, ranks: Ints | None) -> Axis:
    if style == "node":
        return in_hierarchy(hierarchy)
    order = np.argsort(np.arange(hierarchy.n_values) if ranks is None else ranks, kind="stable")
    real = np.array([hierarchy.values[code] is not None for code in order])
    order = np.concatenate([order[real], order[~real]])
    missing = np.zeros((0 if real.all() else 1, len(order)), dtype=np.int64)
    missing[:, int(real.sum()):] = 1
    levels = [np.arange(len(order))[None, :], missing, np.zeros((1, len(order)), dtype=np.int64)]
    return Axis(hierarchy, style, order, np.concatenate(levels))


def in_hierarchy(hierarchy: Hierarchy) -> Axis:
    """The values in the order of the hierarchy."""
    order = np.lexsort(hierarchy.nodes)
    return Axis(hierarchy, "node", order, hierarchy.nodes[:, order].astype(np.int64))


def natural(hierarchy: Hierarchy) -> Ints | None:
    """Per value code its rank among numbers, the missing value last; None if some value is no number."""
    numbers = [None if value is None else number(value) for value in hierarchy.values]
    if any(n is None and value is not None for n, value in zip(numbers, hierarchy.values, strict=True)):
        return None
    if all(n is None for n in numbers):
        return None
    order = sorted(range(len(numbers)), key=lambda code: (numbers[code] is None, numbers[code] or 0, code))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def places(axes: Sequence[Axis], frequency: FrequencySet) -> Codes:
    """[tuple, column]: where each value stands."""
    columns = [axis.place_of[frequency.codes[:, j]] for j, axis in enumerate(axes)]
    return np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int32))
