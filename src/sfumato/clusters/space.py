"""How far records are from each other: numbers by their range, other values by the hierarchy.

A column of numbers has its values scaled to [0, 1] over the table's range, and a difference counts up to 1;
the missing value stands 2 away from the lowest, so 1 from any. Any other column counts where two values
meet: the level of their lowest common ancestor, as a share of the hierarchy's height; without levels between
values and root, 0 or 1. A column's part is multiplied by its weight. """

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.clusters.axes import natural
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Codes, Hierarchy
from sfumato.hierarchy.domain import number

MISSING = 2.0  # where the missing value stands among numbers from 0 to 1
Distance = Literal["hierarchy", "equal"]


@dataclass(frozen=True)
class Ladders:
    """The categorical columns as the kernels read them: levels of nodes, one after the other."""

    nodes: Codes
    first_node: Ints  # per column: where its levels begin
    widths: Ints  # per column: how many values
    heights: Ints  # per column: how many levels

    @classmethod
    def of(cls, hierarchies: Sequence[Hierarchy], distance: Distance) -> Ladders:
        """Flatten the levels; `equal` leaves the values and the root only."""
        levels = [h.nodes if distance == "hierarchy" else h.nodes[[0, -1]] for h in hierarchies]
        flat = [one.ravel() for one in levels]
        return cls(np.concatenate([*flat, np.zeros(0, np.int32)]).astype(np.int32),
                   np.cumsum([0, *(len(one) for one in flat)])[:-1].astype(np.int64),
                   np.array([h.n_values for h in hierarchies], dtype=np.int64),
                   np.array([len(one) for one in levels], dtype=np.int64))


@dataclass(frozen=True)
class Space:
    """Tuples as points, with what their distance takes."""

    points: Floats  # [tuple, numeric column]: from 0 to 1, or MISSING
    codes: Codes  # [tuple, other column]
    numeric: Floats  # per numeric column: its weight
    other: Floats  # per other column: its weight
    ladders: Ladders

    @classmethod
    def of(cls, frequency: FrequencySet, weights: Floats, distance: Distance) -> Space:
        """The columns of a frequency set."""
        ranks = [natural(hierarchy) for hierarchy in frequency.hierarchies]
        numbers = [j for j, found in enumerate(ranks) if found is not None]
        others = [j for j, found in enumerate(ranks) if found is None]
        points = [_scaled(frequency, j) for j in numbers]
        return cls(np.ascontiguousarray(np.array(points).reshape(len(numbers), frequency.n_tuples).T),
                   np.ascontiguousarray(frequency.codes[:, np.array(others, dtype=np.int64)]),
                   np.asarray(weights[numbers], dtype=np.float64), np.asarray(weights[others], np.float64),
                   Ladders.of([frequency.hierarchies[j] for j in others], distance))

    def taken(self, tuples: Ints) -> Space:
        """Some of the tuples, in this order and with repetitions."""
        return Space(np.ascontiguousarray(self.points[tuples]), np.ascontiguousarray(self.codes[tuples]),
                     self.numeric, self.other, self.ladders)


def _scaled(frequency: FrequencySet, column: int) -> Floats:
    """Per tuple: its number as a share of the table's range."""
    values = frequency.hierarchies[column].values
    read = [None if value is None else number(value) for value in values]
    known = np.array([np.nan if one is None else float(one) for one in read])[frequency.codes[:, column]]
    if np.isnan(known).all():
        return np.full(len(known), MISSING)
    low, high = np.nanmin(known), np.nanmax(known)
    share = (known - low) / (high - low) if high > low else known - low
    return np.where(np.isnan(share), MISSING, share)
