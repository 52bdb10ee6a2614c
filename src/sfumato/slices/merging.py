"""Cell generalization: values that point at one bucket share a label with a value of another bucket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.hierarchy.core import Codes, Hierarchy
from sfumato.slices.base import Labels
from sfumato.slices.grouping import coded


@dataclass
class Cells:
    """The cells of one column group: a value in a bucket, the label that it is released under."""

    hierarchies: Sequence[Hierarchy]
    value: Ints  # per cell: a number for its value
    values: Codes  # [value, column]: what the numbers stand for
    bucket: Ints
    rows: Ints
    levels: Ints  # [cell, column]: the label, as a level over the value …
    leaf: Ints  # … of some value under it

    @classmethod
    def of(cls, hierarchies: Sequence[Hierarchy], codes: Codes, bucket_of: Ints) -> tuple[Cells, Ints]:
        """The cells of some columns of the records, and each record's cell."""
        value, first = coded(list(codes.T.astype(np.int64)))
        keys = value * (int(bucket_of.max()) + 1) + bucket_of
        _, at, cell_of, rows = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        leaf = codes[at].astype(np.int64)
        return cls(hierarchies, value[at], codes[first], bucket_of[at], rows.astype(np.int64),
                   np.zeros_like(leaf), leaf), cell_of.astype(np.int64)

    def ncp(self, levels: Ints, leaf: Ints) -> Floats:
        """The certainty penalty of labels, summed over columns."""
        total = np.zeros(len(levels))
        for j, hierarchy in enumerate(self.hierarchies):
            nodes = hierarchy.nodes[levels[:, j], leaf[:, j]]
            for level in np.unique(levels[:, j]):
                here = levels[:, j] == level
                total[here] += hierarchy.ncp(int(level))[nodes[here]]
        return total

    def common(self, cell: int) -> Ints:
        """[cell, column]: the level of the lowest node above the label of each cell and of this one."""
        found = np.empty_like(self.levels)
        for j, hierarchy in enumerate(self.hierarchies):
            least = np.maximum(self.levels[:, j], self.levels[cell, j])
            found[:, j] = hierarchy.n_levels - 1
            for level in range(hierarchy.n_levels - 2, -1, -1):
                row = hierarchy.nodes[level]
                met = (level >= least) & (row[self.leaf[:, j]] == row[self.leaf[cell, j]])
                found[met, j] = level
        return found

    def covered(self, cell: int, values: Ints) -> Bools:
        """Which of some values the label of a cell stands for."""
        inside = np.ones(len(values), dtype=bool)
        for j, hierarchy in enumerate(self.hierarchies):
            row = hierarchy.nodes[self.levels[cell, j]]
            inside &= row[self.values[values, j]] == row[self.leaf[cell, j]]
        return inside

    def labels(self) -> Codes:
        """Per cell: the codes of its labels."""
        made = [Labels(h).starts[self.levels[:, j]] + h.nodes[self.levels[:, j], self.leaf[:, j]]
                for j, h in enumerate(self.hierarchies)]
        return np.stack(made, axis=1).astype(np.int32)


@dataclass(frozen=True)
class Merged:
    """What was done to one group: each record's labels, and counts of it."""

    labels: Codes  # [record, column of the group]
    flagged: int  # values that matched too few buckets
    steps: int
    unresolved: int  # values that still do


def merged(hierarchies: Sequence[Hierarchy], codes: Codes, bucket_of: Ints, least: int) -> Merged:
    """Share labels until every value matches so many buckets, the cheapest step first.

    A step takes a value that matches too few buckets, and of all cells of other buckets the one with which
    it can share a label at the least cost: rows touched times the certainty penalty they gain. A value's cost
    is looked at again when its turn comes, since labels may have changed.
    """
    cells, cell_of = Cells.of(hierarchies, codes, bucket_of)
    reached = [set(cells.bucket[cells.value == v].tolist()) for v in _few(cells, least)]
    flagged = _few(cells, least)
    if int(bucket_of.max()) + 1 < least:
        return Merged(cells.labels()[cell_of], len(flagged), 0, len(flagged))
    own = {int(v): int(np.flatnonzero(cells.value == v)[0]) for v in flagged}
    heap = [(*_partner(cells, own[int(v)], reached[n])[:1], n) for n, v in enumerate(flagged)]
    heapify(heap)
    steps = 0
    while heap:
        cost, n = heappop(heap)
        if len(reached[n]) >= least:
            continue
        now, other = _partner(cells, own[int(flagged[n])], reached[n])
        if heap and now > max(cost, heap[0][0]):
            heappush(heap, (now, n))
            continue
        touched = _share(cells, own[int(flagged[n])], other)
        steps += 1
        for cell in touched:
            for m in np.flatnonzero(cells.covered(cell, flagged)):
                reached[m].add(int(cells.bucket[cell]))
        heappush(heap, (now, n))
    return Merged(cells.labels()[cell_of], len(flagged), steps, sum(len(held) < least for held in reached))


def _few(cells: Cells, least: int) -> Ints:
    """The values that stand in fewer buckets."""
    return np.flatnonzero(np.bincount(cells.value) < least).astype(np.int64)


def _partner(cells: Cells, cell: int, reached: set[int]) -> tuple[float, int]:
    """The cell of another bucket with which a cell shares a label at the least cost, and that cost."""
    levels = cells.common(cell)
    shared = cells.ncp(levels, cells.leaf)
    now = cells.ncp(cells.levels, cells.leaf)
    cost = cells.rows * (shared - now) + cells.rows[cell] * (shared - now[cell])
    cost[np.isin(cells.bucket, list(reached))] = np.inf
    other = int(np.argmin(cost))
    return float(cost[other]), other


def _share(cells: Cells, one: int, other: int) -> tuple[int, int]:
    """Give two cells their lowest common label."""
    cells.levels[one] = cells.levels[other] = cells.common(one)[other]
    return one, other
