"""What one cell costs under a label, as whole numbers, so that sums are exact and ties are ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.clusters.axes import Axis
from sfumato.costs.base import Cost
from sfumato.costs.cells import Entropy
from sfumato.frequency import FrequencySet

FINEST = 1 << 32  # whole units of the dearest record
SUMS = ("ncp", "precision", "height", "entropy")  # the costs that are sums over cells


@dataclass(frozen=True)
class Prices:
    """A cost that is a sum over cells, in whole units: a record is at most `FINEST` of them."""

    frequency: FrequencySet
    axes: Sequence[Axis]
    cost: Cost

    @cached_property
    def factors(self) -> Floats:
        """Per column: what its cells are multiplied by, and the sum divided by records where it is a mean."""
        share = self.cost.scene.share
        if isinstance(self.cost, Entropy):
            return share * len(share)
        own = self.cost.scene.weights if self.cost.name == "height" else share
        return np.asarray(own / self.frequency.n_records)

    def cells(self, column: int, level: int) -> Floats:
        """What a cell adds to the cost under each node of a level, up to a constant of its value."""
        hierarchy = self.frequency.hierarchies[column]
        if not isinstance(self.cost, Entropy):
            return self.cost.cell(column, level)
        under = np.bincount(hierarchy.nodes[level], weights=self.frequency.marginals[column])
        return np.log2(np.maximum(under, 1.0))

    @cached_property
    def unit(self) -> float:
        """The cost of one unit."""
        dearest = sum(float(self.cells(j, len(h.nodes) - 1).max()) * self.factors[j]
                      for j, h in enumerate(self.frequency.hierarchies))
        return dearest / FINEST if dearest else 1.0

    def of_level(self, column: int, level: int) -> Ints:
        """Per node of a level: the units of a cell under it."""
        units = self.cells(column, level) * self.factors[column] / self.unit
        return np.asarray(np.floor(units), dtype=np.int64)

    def whole(self, column: int) -> int:
        """The units of a cell under the whole range of a column of ranges."""
        return int(self.of_level(column, len(self.frequency.hierarchies[column].nodes) - 1)[0])

    @cached_property
    def base(self) -> float:
        """What is in the units of every recoding though it costs nothing: the values' own information."""
        if not isinstance(self.cost, Entropy):
            return 0.0
        return float(sum(self.factors[j] * float(m @ np.log2(np.maximum(m, 1)))
                         for j, m in enumerate(self.frequency.marginals)))

    def score(self, units: int) -> float:
        """The cost of a sum of units over all records."""
        return units * self.unit - self.base
