"""What a method answers: how each tuple is to be released."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.classes import Bools, ClassStats, Floats, Ints
from sfumato.frequency import Cells, FrequencySet
from sfumato.hierarchy.core import ROOT, Codes, Hierarchy, Label

SUPPRESSED = -1


class Labelling(ABC):
    """One column's labels, a label per class: what each says, and for which values it stands."""

    @cached_property
    @abstractmethod
    def texts(self) -> list[Label]:
        """Per class: the label as it is released."""

    @property
    @abstractmethod
    def place(self) -> Ints:
        """Per class: where the label stands among the column's labels, for people to read."""

    @abstractmethod
    def under(self, weights: npt.ArrayLike) -> Floats:
        """Per class: the sum of a weight per value code over the values that the label stands for."""

    @abstractmethod
    def ends(self, rank: Ints) -> tuple[Ints, Ints]:
        """Per class: the lowest and the highest rank of the values that the label stands for.

        Of a label that stands for none of the table's values: one more than the last, and -1.
        """

    @abstractmethod
    def spread(self, mass: npt.ArrayLike, n_values: int) -> Floats:
        """Per value code: what it gets of a mass per class that stands evenly over the label's values."""

    def leaves(self, n_values: int) -> Ints:
        """Per class: how many values the label stands for."""
        return self.under(np.ones(n_values)).astype(np.int64)


class Nodes(Labelling):
    """Labels that are nodes of the column's hierarchy."""

    def __init__(self, hierarchy: Hierarchy, levels: Codes, nodes: Codes) -> None:
        self.hierarchy, self.levels, self.nodes = hierarchy, levels, nodes
        used, rank = np.unique(levels, return_inverse=True)
        starts = np.cumsum([0, *(len(hierarchy.labels[level]) for level in used)])
        self.of_class = starts[rank] + nodes
        self.of_value = np.array([hierarchy.nodes[level] + start for level, start
                                  in zip(used, starts[:-1], strict=True)], dtype=np.intp)
        self.of_value = self.of_value.reshape(len(used), hierarchy.n_values)
        self.n_nodes = int(starts[-1])

    @cached_property
    def texts(self) -> list[Label]:
        """The nodes' labels."""
        names = self.hierarchy.labels
        return [names[level][node] for level, node in zip(self.levels, self.nodes, strict=True)]

    @property
    def place(self) -> Ints:
        """Level by level, as in the hierarchy."""
        return np.asarray(self.of_class, dtype=np.int64)

    def under(self, weights: npt.ArrayLike) -> Floats:
        """Summed over the values under each node."""
        repeated = np.broadcast_to(np.asarray(weights, dtype=np.float64), self.of_value.shape).ravel()
        total = np.bincount(self.of_value.ravel(), weights=repeated, minlength=self.n_nodes)
        return np.asarray(total[self.of_class], dtype=np.float64)

    def ends(self, rank: Ints) -> tuple[Ints, Ints]:
        """Over the values under each node."""
        repeated, nodes = np.broadcast_to(rank, self.of_value.shape).ravel(), self.of_value.ravel()
        lowest, highest = np.full(self.n_nodes, len(rank)), np.full(self.n_nodes, -1)
        np.minimum.at(lowest, nodes, repeated)
        np.maximum.at(highest, nodes, repeated)
        return lowest[self.of_class], highest[self.of_class]

    def spread(self, mass: npt.ArrayLike, n_values: int) -> Floats:
        """Node by node, over all levels."""
        of_node = np.bincount(self.of_class, weights=np.asarray(mass, float), minlength=self.n_nodes)
        leaves = np.bincount(self.of_value.ravel(), minlength=self.n_nodes)
        return np.asarray((of_node / np.maximum(leaves, 1))[self.of_value].sum(axis=0))


class Spans(Labelling):
    """Labels that are intervals of a column's values in an order: `first` to `last`, both included."""

    def __init__(self, order: Ints, first: Ints, last: Ints, texts: list[Label]) -> None:
        self.order, self.first, self.last = order, first, last
        self._texts = texts

    @cached_property
    def texts(self) -> list[Label]:
        """As the method wrote them."""
        return self._texts

    @property
    def place(self) -> Ints:
        """By the first value, then by the last."""
        return self.first * len(self.order) + self.last

    def under(self, weights: npt.ArrayLike) -> Floats:
        """Summed from the first value to the last."""
        so_far = np.concatenate([[0.0], np.cumsum(np.asarray(weights, dtype=np.float64)[self.order])])
        return np.asarray(so_far[self.last + 1] - so_far[self.first])

    def ends(self, rank: Ints) -> tuple[Ints, Ints]:
        """Over each stretch of the order."""
        bounds = np.stack([self.first, self.last + 1], axis=1).ravel()
        ranked = np.append(rank[self.order], 0)  # so that a stretch may reach the end
        return np.minimum.reduceat(ranked, bounds)[::2], np.maximum.reduceat(ranked, bounds)[::2]

    def spread(self, mass: npt.ArrayLike, n_values: int) -> Floats:
        """From the first value to the last."""
        each = np.asarray(mass, dtype=np.float64) / (self.last - self.first + 1)
        steps = np.bincount(self.first, weights=each, minlength=len(self.order) + 1)
        steps -= np.bincount(self.last + 1, weights=each, minlength=len(self.order) + 1)
        spread = np.empty(len(self.order))
        spread[self.order] = np.cumsum(steps)[:-1]
        return spread


class Sets(Labelling):
    """Labels that are any sets of values: those of class c are members[starts[c]:starts[c + 1]]."""

    def __init__(self, starts: Ints, members: Ints, texts: list[Label]) -> None:
        self.starts, self.members = starts, members
        self.owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        self._texts = texts

    @cached_property
    def texts(self) -> list[Label]:
        """As the method wrote them."""
        return self._texts

    @property
    def place(self) -> Ints:
        """By the first member."""
        return self.members[self.starts[:-1]]

    def under(self, weights: npt.ArrayLike) -> Floats:
        """Summed over the members."""
        chosen = np.asarray(weights, dtype=np.float64)[self.members]
        total = np.bincount(self.owners, weights=chosen, minlength=len(self._texts))
        return np.asarray(total, dtype=np.float64)

    def ends(self, rank: Ints) -> tuple[Ints, Ints]:
        """Over the members."""
        ranked, starts = rank[self.members], self.starts[:-1]
        return np.minimum.reduceat(ranked, starts), np.maximum.reduceat(ranked, starts)

    def spread(self, mass: npt.ArrayLike, n_values: int) -> Floats:
        """To each member alike."""
        each = np.asarray(mass, dtype=np.float64) / np.diff(self.starts)
        found = np.bincount(self.members, weights=each[self.owners], minlength=n_values)
        return np.asarray(found, dtype=np.float64)


@dataclass(frozen=True)
class Portions:
    """Tuples whose records go to several classes: the portions stand in the place of tuples."""

    cell_of: Ints  # per portion: the cell of `FrequencySet.cells` that its records are of
    frequency: FrequencySet

    @classmethod
    def of(cls, frequency: FrequencySet, cell_of: Ints, counts: Ints) -> Portions:
        """Divide a frequency set; a cell's portions add up to its records."""
        return cls(cell_of, frequency.divided(cell_of, counts))


@dataclass(frozen=True)
class Regrouping:
    """Every tuple joins a class, or is suppressed; a class has one label a column.

    A label is a node of the hierarchy, or says more: then it stands in `narrower`, and `levels` and
    `nodes` hold the lowest node above it.
    """

    class_of: Ints  # per tuple, or per portion where there are any: its class, or SUPPRESSED
    levels: Codes  # [n_classes, n_quasi]: the level of each label
    nodes: Codes  # [n_classes, n_quasi]: the node at that level
    notes: dict[str, Any] = field(default_factory=dict)  # what the method reports of its search
    narrower: Mapping[int, Labelling] = field(default_factory=dict)  # column -> labels outside its hierarchy
    portions: Portions | None = None
    added: Ints | None = None  # per cell of `FrequencySet.cells`: false records that look like its records
    hidden: Mapping[str, Bools] = field(default_factory=dict)  # sensitive column -> per tuple: cells are *
    real: int = 1  # real records that every class has
    steps: tuple[tuple[str, Regrouping], ...] = ()  # how the table stood after each, where that is kept

    @property
    def n_added(self) -> int:
        """How many false records there are."""
        return 0 if self.added is None else int(self.added.sum())

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.levels)

    def of(self, frequency: FrequencySet) -> FrequencySet:
        """The frequency set that `class_of` counts by: the table's, or its portions."""
        return frequency if self.portions is None else self.portions.frequency

    def stats(self, frequency: FrequencySet) -> ClassStats:
        """Sizes and histograms of the classes."""
        return self.of(frequency).regroup(self.class_of, self.n_classes)

    def sizes(self, frequency: FrequencySet) -> Ints:
        """Records per class."""
        kept = self.class_of != SUPPRESSED
        counts = self.of(frequency).counts[kept]
        return np.bincount(self.class_of[kept], weights=counts, minlength=self.n_classes).astype(np.int64)

    def labelling(self, frequency: FrequencySet, column: int) -> Labelling:
        """One quasi-identifier's labels."""
        if column in self.narrower:
            return self.narrower[column]
        return Nodes(frequency.hierarchies[column], self.levels[:, column], self.nodes[:, column])

    def suppressed(self, frequency: FrequencySet) -> int:
        """How many records are suppressed."""
        return int(self.of(frequency).counts[self.class_of == SUPPRESSED].sum())

    def shown(self, frequency: FrequencySet) -> FrequencySet:
        """The frequency set as an onlooker counts it: false records among the others, hidden cells as *."""
        counted = self.of(frequency)
        if self.added is None and not self.hidden:
            return counted
        cells, values, labels = counted.cells, counted.cells.values.copy(), {}
        for n, (name, histogram) in enumerate(counted.sensitive.items()):
            labels[name] = histogram.labels
            if name in self.hidden:
                labels[name] = tuple(dict.fromkeys((*histogram.labels, ROOT)))
                values[self.hidden[name][cells.tuple_of], n] = labels[name].index(ROOT)
        records = cells.counts if self.added is None else cells.counts + self.added
        return counted.recounted(Cells(cells.tuple_of, values, records), labels)
