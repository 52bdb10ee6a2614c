"""The contract of a cost: what a generalization loses, for searches and for measures alike.

A cost reads `Features` of nodes and `columns`, the loss of each quasi-identifier. Both are sums over
records, so a search gets them from classes and never from rows:

- a *cell cost* is a function of the columns' losses alone. Raising any of them raises the cost, and
  a node's losses without suppression are known before anything is grouped: that is its floor.
- a *class cost* is a function of the classes' sizes. It cannot be known before grouping, but a node
  bounds all of its generalizations (`rise`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.hierarchy.core import Hierarchy


@dataclass(frozen=True)
class Features:
    """What evaluating nodes yields, one row per node."""

    classes: Ints  # classes kept
    suppressed: Ints  # records in classes that fail
    certain: Ints  # records suppressed in every specialization too (criteria that are `upward`)
    squares: Floats  # sum of size ** 2 over classes kept
    spread: Floats  # sum of size * log2(size) over classes kept
    areas: Floats  # sum of size * covered value combinations over classes kept
    all_classes: Ints  # the same four sums over all classes, failing ones included
    all_squares: Floats
    all_spread: Floats
    all_areas: Floats
    cells: Floats  # [n, q]: sum of the cost's cell weights over suppressed records
    labels: Floats  # [n, q]: sum over released labels of c * log2(c), c = suppressed records with it

    def take(self, rows: Ints) -> Features:
        """Some of the nodes."""
        return Features(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def stack(rows: Sequence[Features]) -> Features:
    """Many nodes' features as one."""
    return Features(*(np.concatenate([getattr(row, f.name) for row in rows]) for f in fields(Features)))


@dataclass(frozen=True)
class Scene:
    """What a cost must know of the table: its size, hierarchies, marginal counts and weights."""

    hierarchies: tuple[Hierarchy, ...]
    marginals: tuple[Ints, ...]  # per quasi-identifier: records per value code
    weights: Floats  # per quasi-identifier
    least: int = 1  # records that the criteria demand of every class
    worth: tuple[Floats, ...] | None = None  # per quasi-identifier: the research value of its levels, if said

    @property
    def n_records(self) -> int:
        """Records of the table."""
        return int(self.marginals[0].sum())

    @property
    def share(self) -> Floats:
        """The weights, scaled to sum to one."""
        return np.asarray(self.weights / self.weights.sum())


class Cost(ABC):
    """One cost. Lower is better."""

    name: ClassVar[str]  # as in a recipe
    citation: ClassVar[str]
    uses_cells: ClassVar[bool] = True  # its columns' losses depend on what is suppressed
    uses_spread: ClassVar[bool] = False  # reads Features.spread
    uses_labels: ClassVar[bool] = False  # reads Features.labels
    uses_areas: ClassVar[bool] = False  # reads Features.areas

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.full = np.array([self.cell(j, h.n_levels - 1).max(initial=0.0)
                              for j, h in enumerate(scene.hierarchies)])

    @property
    def falling(self) -> bool:
        """Whether a cell never weighs less at a coarser level: searches bound by it."""
        return True

    def cell(self, column: int, level: int) -> Floats:
        """The weight of a released cell, per node of a level; a suppressed cell weighs the root's."""
        return self.scene.hierarchies[column].ncp(level)

    def narrower(self, column: int, leaves: Ints, covering: Floats) -> Floats:
        """The weights of cells whose labels stand for so many values, below nodes with these weights."""
        return (leaves - 1) / max(self.scene.hierarchies[column].n_values - 1, 1)

    def totals(self, column: int) -> Floats:
        """Per level: the column's loss when no record is suppressed."""
        hierarchy, marginal = self.scene.hierarchies[column], self.scene.marginals[column]
        return np.array([float(self.cell(column, level)[hierarchy.nodes[level]] @ marginal)
                         for level in range(hierarchy.n_levels)])

    def penalties(self, features: Features) -> Floats:
        """[n, q]: what suppression adds to the columns' losses."""
        return np.asarray(features.suppressed[:, None] * self.full - features.cells)

    @abstractmethod
    def score(self, columns: Floats, features: Features) -> Floats:
        """The cost of evaluated nodes; `columns` is totals plus penalties."""

    @abstractmethod
    def floor(self, columns: Floats, certain: Ints) -> Floats:
        """A lower bound from lower bounds on the columns' losses and on the suppressed records."""

    def rise(self, totals: Floats, features: Features) -> Floats:
        """A lower bound on the cost of every generalization of evaluated nodes.

        `totals` are their columns' losses without suppression.
        """
        return np.full(len(features.classes), -np.inf)


class CellCost(Cost):
    """A cost that is a rising function of the columns' losses."""

    @abstractmethod
    def combine(self, columns: Floats) -> Floats:
        """The cost from the columns' losses, [..., q]."""

    def score(self, columns: Floats, features: Features) -> Floats:
        """The cost of evaluated nodes."""
        return self.combine(columns)

    def floor(self, columns: Floats, certain: Ints) -> Floats:
        """The same function of lower bounds is a lower bound."""
        return self.combine(columns)
