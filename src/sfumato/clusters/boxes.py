"""Groups of records as boxes: what a label over a group loses, and which groups are best merged.

A group's label in a column is the lowest node above its values, their range or their set. Nodes and ranges
are given by the first and the last of the group's values in the column's order; sets by a bit a value. """

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.classes import Bools, Floats, Ints
from sfumato.clusters.axes import Axis
from sfumato.clusters.cuts import compiled_pays
from sfumato.hierarchy.core import Codes

BATCH = 256  # groups whose partners are sought at once
NEAREST = 12  # partners kept for each: enough that some was not touched meanwhile
PAIRED = 512  # values up to which a column's nodes are looked up by pairs of values
KINDS = {"node": 0, "range": 1, "mean": 1, "set": 2, "mode": 2}


class Labels:
    """What labels lose, as the kernels read it."""

    def __init__(self, axes: Sequence[Axis], weights: Floats) -> None:
        self.kinds = np.array([KINDS[axis.style] for axis in axes])
        self.weights = np.asarray(weights, dtype=np.float64)
        self.widths = np.array([axis.n_values for axis in axes])
        self.absent = np.array([axis.missing for axis in axes])
        words = [(axis.n_values + 63) // 64 if kind == 2 else 0
                 for axis, kind in zip(axes, self.kinds, strict=True)]
        self.first_word = np.cumsum([0, *words]).astype(np.int64)
        nodes = [axis.nodes if axis.style == "node" else np.zeros((1, 1), np.int64) for axis in axes]
        losses = [_losses(axis) if axis.style == "node" else np.zeros((1, 1)) for axis in axes]
        self.nodes = np.concatenate([one.ravel() for one in nodes]).astype(np.int64)
        self.losses = np.concatenate([one.ravel() for one in losses])
        self.firsts = np.cumsum([0, *(one.size for one in nodes)])[:-1].astype(np.int64)
        self.pairs, self.first_pair = _paired(axes)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """In the kernels' order."""
        return (self.first_word, self.kinds, self.widths, self.absent, self.nodes, self.losses, self.firsts,
                self.pairs, self.first_pair, self.weights)


def _losses(axis: Axis) -> Floats:
    """[level, place]: what the node loses."""
    return np.stack([axis.hierarchy.ncp(level)[row] for level, row in enumerate(axis.nodes)])


def _paired(axes: Sequence[Axis]) -> tuple[Floats, Ints]:
    """The loss of the node above each two places, column by column, and where each column begins (or -1)."""
    tables, begins, end = [np.zeros(0)], [], 0
    for axis in axes:
        if axis.style != "node" or axis.n_values > PAIRED:
            begins.append(-1)
            continue
        low, high = np.indices((axis.n_values, axis.n_values)).reshape(2, -1)
        levels, _ = axis.lowest(low, high)
        tables.append(_losses(axis)[levels, low])
        begins.append(end)
        end += axis.n_values ** 2
    return np.concatenate(tables), np.array(begins, dtype=np.int64)


@dataclass(frozen=True)
class Boxes:
    """Some groups of records."""

    labels: Labels
    lows: Codes  # [column, group]: the first place of its values
    highs: Codes  # [column, group]: the last
    words: npt.NDArray[np.uint64]  # [word, group]: of columns that are labelled by sets, a bit a place
    sizes: Ints

    @classmethod
    def of(cls, labels: Labels, at: Codes, counts: Ints, group_of: Ints, n_groups: int) -> Boxes:
        """The boxes of elements at these places [element, column]; every group has one at least."""
        order = np.argsort(group_of, kind="stable")
        starts = np.searchsorted(group_of[order], np.arange(n_groups))
        lows = np.minimum.reduceat(at[order], starts).T
        highs = np.maximum.reduceat(at[order], starts).T
        words = np.zeros((int(labels.first_word[-1]), n_groups), dtype=np.uint64)
        for j in np.flatnonzero(labels.kinds == 2):
            word = labels.first_word[j] + at[:, j] // 64
            np.bitwise_or.at(words, (word, group_of), np.uint64(1) << (at[:, j] % 64).astype(np.uint64))
        sizes = np.bincount(group_of, weights=counts, minlength=n_groups).astype(np.int64)
        return cls(labels, np.ascontiguousarray(lows), np.ascontiguousarray(highs), words, sizes)

    @property
    def n_groups(self) -> int:
        """How many groups."""
        return len(self.sizes)

    @cached_property
    def alone(self) -> Floats:
        """Per group: the weighted loss of one of its records."""
        from sfumato.clusters import plain_boxes

        every = np.arange(self.n_groups)
        return plain_boxes.unions(self, every, every)

    def closest(self, wanted: Ints, most: int, alive: Bools | None = None,
                increase: bool = True) -> tuple[Ints, Floats]:
        """As `box_kernels.closest`, by all cores: [wanted, most] groups, -1 where there are no more."""
        alive = np.ones(self.n_groups, dtype=bool) if alive is None else alive
        if not compiled_pays(self.n_groups):
            from sfumato.clusters import plain_boxes

            return plain_boxes.closest(self, wanted, most, alive, increase)
        from sfumato.clusters import box_kernels
        from sfumato.compiled import by_all_cores

        found = np.empty((len(wanted), most), dtype=np.int64)
        keys = np.full((len(wanted), most), np.inf)

        kernels: Any = box_kernels

        def seek(part: slice) -> None:
            kernels.closest(wanted[part], self.sizes, self.alone, alive, increase, self.lows, self.highs,
                            self.words, self.labels.arrays, found[part], keys[part])

        by_all_cores(seek, len(wanted))
        return found, keys

    def merge_in_turn(self, wanted: Ints, least: int, increase: bool, alive: Bools, into: Ints) -> None:
        """Each wanted group of fewer than `least` records is merged with the best other, in turn."""
        if not compiled_pays(self.n_groups):
            from sfumato.clusters import plain_boxes

            plain_boxes.merge_in_turn(self, wanted, least, increase, alive, into)
            return
        from sfumato.clusters import box_kernels

        kernels: Any = box_kernels
        touched = np.zeros(self.n_groups, dtype=bool)
        for first in range(0, len(wanted), BATCH):
            batch = wanted[first:first + BATCH]
            batch = batch[alive[batch] & (self.sizes[batch] < least)]
            found, keys = self.closest(batch, min(NEAREST, max(self.n_groups - 1, 1)), alive, increase)
            kernels.merge_in_turn(batch, found, keys, least, increase, self.sizes, self.alone, alive, into,
                                  touched, self.lows, self.highs, self.words, self.labels.arrays)
