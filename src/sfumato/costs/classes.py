"""Costs that are functions of the classes: average size, discernibility, KL divergence, ambiguity."""

from __future__ import annotations

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.costs.base import Cost, Features, Scene
from sfumato.costs.cells import xlogx


class ClassCount(Cost):
    """A cost that falls with the number of classes, which never exceeds the label combinations."""

    uses_cells = False

    def totals(self, column: int) -> Floats:
        """Per level: log2 of the labels that occur. Their sum is the log of the combinations."""
        marginal = self.scene.marginals[column]
        return np.array([np.log2(np.count_nonzero(np.bincount(nodes, weights=marginal)))
                         for nodes in self.scene.hierarchies[column].nodes])

    def most_classes(self, columns: Floats, certain: Ints) -> Floats:
        """At most as many as combinations, and as many of least size as may be kept."""
        combinations = np.exp2(np.minimum(columns.sum(axis=-1), 60.0)) * (1 + 1e-9)
        return np.asarray(np.minimum(combinations, (self.scene.n_records - certain) // self.scene.least))


class Aecs(ClassCount):
    """Average class size: records / (classes + 1 if any record is suppressed)."""

    name = "aecs"
    citation = "LeFevre et al. 2006, ICDE, section 3"

    def score(self, columns: Floats, features: Features) -> Floats:
        """Suppressed records count as one more class."""
        return self.scene.n_records / np.maximum(features.classes + (features.suppressed > 0), 1)

    def floor(self, columns: Floats, certain: Ints) -> Floats:
        """The most classes there can be, and one of suppressed records."""
        return self.scene.n_records / (self.most_classes(columns, certain) + 1)

    def rise(self, totals: Floats, features: Features) -> Floats:
        """On the way up a class holds one of those kept here, or records suppressed here, and enough."""
        more = features.classes + -(-features.suppressed // self.scene.least)
        return np.asarray(self.scene.n_records / np.minimum(features.all_classes, more))


class Discernibility(ClassCount):
    """Sum of squared class sizes, plus suppressed records times all records."""

    name = "discernibility"
    citation = "Bayardo & Agrawal 2005, ICDE, section 2"

    def score(self, columns: Floats, features: Features) -> Floats:
        """Each record is charged its class's size, a suppressed one the whole table."""
        return features.squares + features.suppressed * float(self.scene.n_records)

    def floor(self, columns: Floats, certain: Ints) -> Floats:
        """Squares are least where classes are equal. With two classes or more (a single one costs
        more than two), suppressing another record never lowers the sum.
        """
        n, kept = float(self.scene.n_records), self.scene.n_records - certain
        return certain * n + kept ** 2.0 / np.maximum(self.most_classes(columns, certain), 2)

    def rise(self, totals: Floats, features: Features) -> Floats:
        """Merging classes raises the sum of squares, and suppressing raises it further."""
        return features.all_squares


class KlDivergence(Cost):
    """Kullback-Leibler divergence in bits of the table from the release.

    A released class spreads its records evenly over the value combinations it covers; suppressed
    records are spread over all combinations.
    """

    name = "kl"
    citation = "Machanavajjhala et al. 2007, TKDD 1(1), section 6"
    uses_spread = True

    def cell(self, column: int, level: int) -> Floats:
        """log2 of the values covered: the sum over columns is the log of the area."""
        return np.log2(self.scene.hierarchies[column].leaves[level])

    def narrower(self, column: int, leaves: Ints, covering: Floats) -> Floats:
        """log2 of the values covered."""
        return np.log2(leaves)

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.constant = 0.0  # sum of p log2 p over tuples, set by `know`

    def know(self, counts: Ints) -> None:
        """Tell the sizes of the tuples, which fix the entropy of the table."""
        self.constant = float(xlogx(counts / self.scene.n_records).sum())

    def score(self, columns: Floats, features: Features) -> Floats:
        """Sum p log2(p / q) = constant - sum over classes of s/N log2(s / (N area))."""
        return self._divergence(columns, features.spread + xlogx(features.suppressed))

    def floor(self, columns: Floats, certain: Ints) -> Floats:
        """One class of everything has the largest s log s; areas are known."""
        n = self.scene.n_records
        return self._divergence(columns, np.full(len(columns), n * np.log2(max(n, 1))))

    def rise(self, totals: Floats, features: Features) -> Floats:
        """A histogram of coarser cells diverges more (log-sum inequality)."""
        return self._divergence(totals, features.all_spread)

    def _divergence(self, columns: Floats, spread: Floats) -> Floats:
        n = self.scene.n_records
        divergence = self.constant - (spread - columns.sum(axis=-1)) / n + np.log2(max(n, 1))
        return np.asarray(np.maximum(divergence, 0.0))  # below zero by rounding only


class Ambiguity(Cost):
    """Mean number of value combinations that a released record may stand for."""

    name = "ambiguity"
    citation = "Goldberger & Tassa 2010, TDP 3(2), section 4; a mean over records"
    uses_areas = True

    def score(self, columns: Floats, features: Features) -> Floats:
        """A suppressed record may stand for any combination."""
        return (features.areas + features.suppressed * self._everything) / self.scene.n_records

    def cell(self, column: int, level: int) -> Floats:
        """log2 of the values covered."""
        return np.log2(self.scene.hierarchies[column].leaves[level])

    def narrower(self, column: int, leaves: Ints, covering: Floats) -> Floats:
        """log2 of the values covered."""
        return np.log2(leaves)

    def floor(self, columns: Floats, certain: Ints) -> Floats:
        """The mean area is at least the geometric one; those certainly suppressed may be anything."""
        n = self.scene.n_records
        geometric = np.exp2(columns.sum(axis=-1) / n) * (1 - 1e-9)
        return np.asarray(np.maximum(geometric, certain * self._everything / n))

    def rise(self, totals: Floats, features: Features) -> Floats:
        """Labels only widen on the way up."""
        return features.all_areas / self.scene.n_records

    @property
    def _everything(self) -> float:
        return float(np.prod([float(h.n_values) for h in self.scene.hierarchies]))
