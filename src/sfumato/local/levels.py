"""The lattice that is swept: per column its levels, with a word for every node, and the nodes in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from sfumato.classes import Floats, Ints
from sfumato.clusters.axes import Axis
from sfumato.compiled import bits
from sfumato.frequency import FrequencySet
from sfumato.local.grid import Grid
from sfumato.local.prices import Prices

Words = npt.NDArray[np.uint64]
MOST_NODES = 1 << 20  # of a lattice that is listed whole


@dataclass(frozen=True)
class Levels:
    """Per column, the partitions of its places that a sweep may take, and what they lose."""

    groups: Sequence[Ints]  # per column: [level, place]
    losses: Sequence[Floats]  # per column, per level: the mean cost of a cell

    @property
    def size(self) -> int:
        """How many nodes."""
        return prod(len(loss) for loss in self.losses)

    def words(self, rng: np.random.Generator) -> tuple[Words, Ints]:
        """Every group's part of a key, and where each column's levels begin.

        Keys are exact where the groups' numbers fit into 64 bits, else their parts are random words: two
        cells might share a key once in many millions of tables, and be one class.
        """
        widths = [bits(int(group.max()) + 1) for group in self.groups]
        shifts = np.cumsum([0, *widths[:-1]])
        exact = sum(widths) <= 64
        starts = np.zeros((len(self.groups), max(len(g) for g in self.groups)), dtype=np.int64)
        parts, end = [], 0
        for j, group in enumerate(self.groups):
            for level, row in enumerate(group):
                starts[j, level] = end
                end += len(row)
                drawn = rng.integers(0, 2 ** 64, int(row.max()) + 1, dtype=np.uint64) if not exact else None
                parts.append(row.astype(np.uint64) << np.uint64(shifts[j]) if drawn is None else drawn[row])
        return np.concatenate(parts), starts

    def cheapest_first(self) -> Ints:
        """All nodes, by the sum over columns of the squared loss."""
        squares = [np.asarray(loss) ** 2 for loss in self.losses]
        order = np.argsort(self.sums(squares), kind="stable")
        return self.nodes(order)

    def sums(self, columns: Sequence[Floats]) -> Floats:
        """Per node: the sum over columns."""
        total = np.zeros(1)
        for column in columns:
            total = (total[:, None] + column[None, :]).ravel()
        return total

    def nodes(self, numbers: Ints) -> Ints:
        """[node, column]: levels."""
        shape = tuple(len(loss) for loss in self.losses)
        return np.ascontiguousarray(np.stack(np.unravel_index(numbers, shape), axis=1).astype(np.int64))


def levels_of(frequency: FrequencySet, axes: Sequence[Axis], grid: Grid, prices: Prices) -> Levels:
    """The hierarchies' levels; of ranges, blocks that double. Levels go until the lattice can be listed."""
    groups, losses = [], []
    for j, axis in enumerate(axes):
        rows, cost = (_blocks(axis, grid, j) if axis.style == "range" else _nodes(axis, prices, j))
        marginal = frequency.marginals[j][axis.order]
        means = cost @ marginal / frequency.n_records
        fresh = np.array([n == 0 or bool((rows[n] != rows[n - 1]).any()) for n in range(len(rows))])
        groups.append(rows[fresh])
        losses.append((means[fresh] - means[0]) / max(float(grid_top(grid, j)), 1.0) * prices.factors[j])
    return thinned(Levels(groups, losses))


def grid_top(grid: Grid, j: int) -> int:
    """What the root of a column costs."""
    if grid.ranged[j]:
        return int(grid.unit[j])
    end = grid.first[j + 1] if j + 1 < len(grid.first) else len(grid.low)
    return int(grid.weight[grid.first[j]:end].max())


def _nodes(axis: Axis, prices: Prices, j: int) -> tuple[Ints, Ints]:
    costs = [prices.of_level(j, level)[nodes] for level, nodes in enumerate(axis.nodes)]
    numbered = [np.unique(nodes, return_inverse=True)[1] for nodes in axis.nodes]
    return np.stack(numbered).astype(np.int64), np.stack(costs)


def _blocks(axis: Axis, grid: Grid, j: int) -> tuple[Ints, Ints]:
    """Blocks of 1, 2, 4 … places, the missing value always by itself, then everything."""
    n, real = axis.n_values, axis.n_values - (axis.missing >= 0)
    rows, costs = [], []
    shift = 0
    while True:
        row = np.arange(n) >> shift
        if axis.missing >= 0:
            row[axis.missing] = n
        rows.append(np.unique(row, return_inverse=True)[1])
        costs.append(np.full(n, grid.unit[j] * (min(1 << shift, real) - 1) // max(n - 1, 1)))
        if 1 << shift >= real:
            break
        shift += 1
    if axis.missing >= 0:
        rows.append(np.zeros(n, dtype=np.int64))
        costs.append(np.full(n, grid.unit[j]))
    return np.stack(rows).astype(np.int64), np.stack(costs).astype(np.int64)


def thinned(levels: Levels) -> Levels:
    """Levels that lose nearly what the next one loses are left out until the lattice can be listed."""
    kept = [list(range(len(loss))) for loss in levels.losses]
    while prod(map(len, kept)) > MOST_NODES:
        steps = [(float(levels.losses[j][one[n + 1]] - levels.losses[j][one[n - 1]]), j, n)
                 for j, one in enumerate(kept) for n in range(1, len(one) - 1)]
        if not steps:
            break
        _, j, n = min(steps)
        del kept[j][n]
    return Levels([group[one] for group, one in zip(levels.groups, kept, strict=True)],
                  [loss[one] for loss, one in zip(levels.losses, kept, strict=True)])
