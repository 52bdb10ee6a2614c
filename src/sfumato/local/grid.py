"""What the kernels read: the columns' labels with their costs, the records in items, the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.classes import Bools, Floats, Ints
from sfumato.clusters.axes import Axis, places
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Codes
from sfumato.local.prices import Prices

Int32s = npt.NDArray[np.int32]


class Grid(NamedTuple):
    """The columns: where tuples stand, which labels there are, what a cell under each costs.

    A label of a column of nodes is a number: its values' places, then the nodes above them. It covers the
    places from `low` to `high`. A label of a column of ranges is low x values + high.
    """

    places: Codes  # [tuple, column]
    gaps: Ints  # per column: how many values
    ranged: Bools  # per column: whether its labels are ranges
    missing: Ints  # per column of ranges: the place of the missing value, or -1
    unit: Ints  # per column of ranges: what the whole range costs
    first: Ints  # per column of nodes: where its labels begin in what follows
    low: Ints
    high: Ints
    parent: Ints
    weight: Ints


class State(NamedTuple):
    """The classes and their members; a class without members is no class."""

    label: Ints  # [class, column]
    weight: Ints  # per class: the cost of one of its records
    size: Ints  # per class: records
    head: Ints  # per class: its first member
    after: Ints  # per item: the next member of its class
    before: Ints
    class_of: Ints
    tuple_of: Ints
    counts: Ints  # per item: records
    values: Ints  # [item, column]: its sensitive values, of columns that need several

    @property
    def cost(self) -> int:
        """The sum over all records."""
        return int(self.size @ self.weight)


class Trie(NamedTuple):
    """See `kernels.trie`."""

    order: Ints  # the columns, that with the dearest mismatches first
    label: Ints  # per trie node
    child: Ints  # the first below it; of a last column, its first class
    sibling: Ints
    parent: Ints
    live: Ints  # classes under it
    floor: Ints  # what the columns further on cost in any class under it, at least
    place: Ints  # per class: its trie node, or -1
    next: Ints  # per class: the next with the same label
    previous: Ints
    used: Ints


def grid_of(frequency: FrequencySet, axes: Sequence[Axis], prices: Prices) -> Grid:
    """The axes as the kernels read them."""
    q = len(axes)
    first, unit, missing = (np.full(q, fill, dtype=np.int64) for fill in (0, 0, -1))
    tables: list[tuple[Ints, Ints, Ints, Ints]] = []
    end = 0
    for j, axis in enumerate(axes):
        first[j] = end
        if axis.style == "range":
            unit[j], missing[j] = prices.whole(j), axis.missing
            continue
        tables.append(_labels(axis, j, prices))
        end += len(tables[-1][0])
    low, high, parent, weight = (np.concatenate([table[n] for table in tables] or [np.zeros(0, np.int64)])
                                 for n in range(4))
    return Grid(places(axes, frequency), np.array([axis.n_values for axis in axes]),
                np.array([axis.style == "range" for axis in axes]), missing, unit, first, low, high, parent,
                weight)


def _labels(axis: Axis, j: int, prices: Prices) -> tuple[Ints, Ints, Ints, Ints]:
    """The different nodes of a column: the places they cover, the node above, the price."""
    n = axis.n_values
    low, high = list(range(n)), list(range(n))
    parent, weight = list(range(n)), [int(w) for w in prices.of_level(j, 0)[axis.nodes[0]]]
    standing = np.arange(n)  # per place: the highest label so far
    for level in range(1, len(axis.nodes)):
        nodes, price = axis.nodes[level], prices.of_level(j, level)
        starts = np.flatnonzero(np.diff(nodes, prepend=-1))
        for a, b in zip(starts, np.append(starts[1:], n), strict=True):
            below = int(standing[a])
            if low[below] == a and high[below] == b - 1:
                continue  # the same values: the lower level says it for less
            for child in dict.fromkeys(standing[a:b].tolist()):
                parent[child] = len(low)
            standing[a:b] = len(low)
            parent.append(len(low))
            low.append(int(a))
            high.append(int(b) - 1)
            weight.append(int(price[nodes[a]]))
    made = [np.array(one, dtype=np.int64) for one in (low, high, parent, weight)]
    return made[0], made[1], made[2], made[3]


def state_of(n_classes: int, q: int, class_of: Ints, tuple_of: Ints, counts: Ints, values: Ints) -> State:
    """Room for so many classes; `kernels.joins.gather` fills it."""
    def room(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    n = len(class_of)
    return State(room(n_classes, q), room(n_classes), room(n_classes), np.full(n_classes, -1), room(n),
                 room(n), class_of, tuple_of, counts, values)


def trie_of(n_classes: int, order: Ints) -> Trie:
    """Room for the index."""
    def room(n: int) -> Ints:
        return np.full(n, -1, dtype=np.int64)

    n = 2 * (n_classes + 1) * len(order) + 2
    return Trie(order, room(n), room(n), room(n), room(n), room(n), room(n), room(n_classes), room(n_classes),
                room(n_classes), np.ones(1, dtype=np.int64))


def dearest_first(frequency: FrequencySet, losses: Sequence[Floats]) -> Ints:
    """The columns, those first whose first level above the values costs most."""
    steps = [loss[1] - loss[0] if len(loss) > 1 else 0.0 for loss in losses]
    return np.argsort(-np.array(steps), kind="stable").astype(np.int64)
