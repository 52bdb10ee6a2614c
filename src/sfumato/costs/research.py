"""The research value that a generalization gives up."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.costs.base import CellCost
from sfumato.research.values import prices


class ResearchValue(CellCost):
    """The research value lost: a cell costs what its column's best level is worth more than its own.

    Values are those of the recipe's `research`; without it, of the formulas without rules. A suppressed
    cell is worth what the root is.
    """

    name = "research-value"
    citation = "Morton, Mahoui, Gibson & Yechuri, section 4"

    @cached_property
    def worth(self) -> tuple[Floats, ...]:
        """Per column: the research value of each level."""
        scene = self.scene
        if scene.worth is not None:
            return scene.worth
        return tuple(np.array([price.value for price in prices(h, marginal, weight)]) for h, marginal, weight
                     in zip(scene.hierarchies, scene.marginals, scene.share, strict=True))

    @property
    def falling(self) -> bool:
        """Whether no level is worth more than a finer one; rules of togetherness may make one so."""
        return all((np.diff(values) <= 0).all() for values in self.worth)

    def cell(self, column: int, level: int) -> Floats:
        """What is lost of the best level's value, for every label."""
        values = self.worth[column]
        return np.full(len(self.scene.hierarchies[column].labels[level]), float(values.max() - values[level]))

    def narrower(self, column: int, leaves: Ints, covering: Floats) -> Floats:
        """What the lowest node above the label is worth."""
        return covering

    def combine(self, columns: Floats) -> Floats:
        """The sum over columns; their weights are in the values."""
        return np.asarray(columns.sum(axis=-1) / self.scene.n_records)
