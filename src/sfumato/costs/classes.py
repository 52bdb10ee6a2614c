"""Costs that are functions of the classes: average size, discernibility, KL divergence, ambiguity."""

from __future__ import annotations

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.costs.base import Cost, Features, Scene
from sfumato.costs.cells import xlogx


class Aecs(Cost):
    """Average class size: records / (classes + 1 if any record is suppressed)."""

    name = "aecs"
    citation = "LeFevre et al. 2006, ICDE, section 3"
    uses_cells = False

    def score(self, columns: Floats, features: Features) -> Floats:
        """Suppressed records count as one more class."""
        return self.scene.n_records / np.maximum(features.classes + (features.suppressed > 0), 1)

    def floor(self, columns: Floats, certain: Ints) -> Floats:
        """As many classes as the criteria's least size allows of those that may be kept."""
        n = self.scene.n_records
        return n / ((n - certain) // self.scene.least + 1)

    def rise(self, totals: Floats, features: Features) -> Floats:
        """Classes only merge on the way up, so their number never exceeds this node's."""
        return self.scene.n_records / features.all_classes


class Discernibility(Cost):
    """Sum of squared class sizes, plus suppressed records times all records."""

    name = "discernibility"
    citation = "Bayardo & Agrawal 2005, ICDE, section 2"
    uses_cells = False

    def score(self, columns: Floats, features: Features) -> Floats:
        """Each record is charged its class's size, a suppressed one the whole table."""
        return features.squares + features.suppressed * float(self.scene.n_records)

    def floor(self, columns: Floats, certain: Ints) -> Floats:
        """Those certainly suppressed pay the whole table, the others a class of least size."""
        kept = self.scene.n_records - certain
        return certain * float(self.scene.n_records) + kept * float(self.scene.least)

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
        return np.maximum(divergence, 0.0)  # below zero by rounding only


class Ambiguity(Cost):
    """Mean number of value combinations that a released record may stand for."""

    name = "ambiguity"
    citation = "Goldberger & Tassa 2010, TDP 3(2), section 4; a mean over records"
    uses_cells = False
    uses_areas = True

    def score(self, columns: Floats, features: Features) -> Floats:
        """A suppressed record may stand for any combination."""
        return (features.areas + features.suppressed * self._everything) / self.scene.n_records

    def floor(self, columns: Floats, certain: Ints) -> Floats:
        """Those certainly suppressed may be anything, the others at least themselves."""
        rest = self.scene.n_records - certain
        return (certain * self._everything + rest) / self.scene.n_records

    def rise(self, totals: Floats, features: Features) -> Floats:
        """Labels only widen on the way up."""
        return features.all_areas / self.scene.n_records

    @property
    def _everything(self) -> float:
        return float(np.prod([float(h.n_values) for h in self.scene.hierarchies]))
