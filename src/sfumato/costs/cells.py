"""Costs that are sums over cells: NCP, geometric Loss, precision, height, non-uniform entropy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.classes import Floats, Ints
from sfumato.costs.base import CellCost, Features


class Ncp(CellCost):
    """Mean normalized certainty penalty: (leaves - 1) / (D - 1) over all cells, suppressed ones 1."""

    name = "ncp"
    citation = "Xu et al. 2006, KDD, section 3"

    def combine(self, columns: Floats) -> Floats:
        """The weighted mean over columns."""
        return np.asarray(columns @ self.scene.share / self.scene.n_records)


class Loss(CellCost):
    """Geometric mean over quasi-identifiers of (1 + mean NCP), minus 1."""

    name = "loss"
    citation = "Iyengar 2002, KDD; geometric mean as in ARX"

    def combine(self, columns: Floats) -> Floats:
        """The weighted geometric mean over columns."""
        return np.expm1(np.log1p(columns / self.scene.n_records) @ self.scene.share)


class Precision(CellCost):
    """1 - Prec: mean level reached, as a share of each hierarchy's height; suppressed cells 1."""

    name = "precision"
    citation = "Sweeney 2002, IJUFKS 10(5), definition of Prec"

    def cell(self, column: int, level: int) -> Floats:
        """The share of the way to the root."""
        hierarchy = self.scene.hierarchies[column]
        share = level / max(hierarchy.n_levels - 1, 1)
        return np.full(len(hierarchy.labels[level]), share)

    def narrower(self, column: int, leaves: Ints, covering: Floats) -> Floats:
        """As far up as the lowest node above the label."""
        return covering

    def combine(self, columns: Floats) -> Floats:
        """The weighted mean over columns."""
        return np.asarray(columns @ self.scene.share / self.scene.n_records)


class Height(CellCost):
    """The sum of levels, weighted; suppression costs nothing."""

    name = "height"
    citation = "Samarati 2001, TKDE 13(6), section 4"
    uses_cells = False

    def cell(self, column: int, level: int) -> Floats:
        """The level, for every record."""
        return np.full(len(self.scene.hierarchies[column].labels[level]), float(level))

    def narrower(self, column: int, leaves: Ints, covering: Floats) -> Floats:
        """The level of the lowest node above the label."""
        return covering

    def penalties(self, features: Features) -> Floats:
        """None: the height of a node does not depend on suppression."""
        return np.zeros_like(features.cells)

    def combine(self, columns: Floats) -> Floats:
        """The weighted sum over columns of the level."""
        return np.asarray(columns @ self.scene.weights / self.scene.n_records)


class Entropy(CellCost):
    """Non-uniform entropy in bits: what is lost about each value by seeing only its label.

    A cell loses log2(records with its label / records with its value). Suppressed records lose, on
    top, the distribution of their labels: -sum c log2(c / s) over the labels of the s suppressed.
    """

    name = "entropy"
    citation = "Gionis & Tassa 2009, TKDE 21(2); suppression as in ARX"
    uses_labels = True

    def cell(self, column: int, level: int) -> Floats:
        """Not a sum over labels alone: `totals` and `penalties` are defined directly."""
        return np.zeros(len(self.scene.hierarchies[column].labels[level]))

    def totals(self, column: int) -> Floats:
        """Sum over records of log2(count of the label) - log2(count of the value)."""
        hierarchy, marginal = self.scene.hierarchies[column], self.scene.marginals[column]
        grouped = [np.bincount(nodes, weights=marginal) for nodes in hierarchy.nodes]
        return np.array([xlogx(counts).sum() - xlogx(marginal).sum() for counts in grouped])

    def penalties(self, features: Features) -> Floats:
        """The entropy of the suppressed records' labels, times their number."""
        return np.asarray(xlogx(features.suppressed)[:, None] - features.labels)

    def combine(self, columns: Floats) -> Floats:
        """The sum over columns; weights count relative to their mean."""
        return np.asarray(columns @ (self.scene.share * len(self.scene.share)))


def xlogx(counts: npt.ArrayLike) -> Floats:
    """x log2 x, with 0 log2 0 = 0."""
    x = np.asarray(counts, dtype=np.float64)
    return np.asarray(x * np.log2(np.where(x > 0, x, 1.0)), dtype=np.float64)
