"""The generalization lattice: nodes as integers, heights, and closures along its order.

A node is one level per quasi-identifier. It is addressed by its position in the row-major order of
the lattice, so that every function of nodes is one flat array and every statement about "all
generalizations of x" or "all specializations of x" is a cumulative maximum along the axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.classes import Ints

Values = npt.NDArray[Any]


@dataclass(frozen=True)
class Lattice:
    """All combinations of levels; `shape[j]` is the number of levels of quasi-identifier j."""

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return prod(self.shape)

    @property
    def top(self) -> int:
        """The node that generalizes everything to the root."""
        return self.size - 1

    @cached_property
    def strides(self) -> Ints:
        """Distance between a node and the node one level up, per quasi-identifier."""
        return np.array([prod(self.shape[j + 1:]) for j in range(len(self.shape))], dtype=np.int64)

    def levels(self, nodes: Ints | int) -> Ints:
        """Levels of nodes: one row each (or a single vector for a single node)."""
        return np.stack(np.unravel_index(np.asarray(nodes), self.shape), axis=-1).astype(np.int64)

    def node(self, levels: npt.ArrayLike) -> int:
        """The node with these levels."""
        return int(np.asarray(levels, dtype=np.int64) @ self.strides)

    @cached_property
    def heights(self) -> Ints:
        """The sum of levels of every node."""
        return self.along([np.arange(n, dtype=np.int64) for n in self.shape])

    def along(self, columns: list[Values]) -> Values:
        """Per node: the sum of one value per column and level."""
        total = np.zeros((1,) * len(self.shape))
        for j, values in enumerate(columns):
            total = total + values.reshape([-1 if i == j else 1 for i in range(len(self.shape))])
        return total.reshape(-1).astype(columns[0].dtype if columns else float)

    def below(self, node: int) -> Ints:
        """The direct specializations of a node."""
        return node - self.strides[self.levels(node) > 0]

    def spread_up(self, values: Values) -> Values:
        """Per node: the largest value among it and all its specializations."""
        return self._spread(values, 1)

    def spread_down(self, values: Values) -> Values:
        """Per node: the largest value among it and all its generalizations."""
        return self._spread(values, -1)

    def _spread(self, values: Values, step: int) -> Values:
        grid = values.reshape(self.shape + values.shape[1:]).copy()
        for axis, n in enumerate(self.shape):
            before = (slice(None),) * axis
            layers = [grid[(*before, slice(level, level + 1))] for level in range(n)][::step]  # views
            for lower, upper in pairwise(layers):
                np.maximum(upper, lower, out=upper)
        return grid.reshape(values.shape)
