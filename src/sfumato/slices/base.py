"""Slices: what a method answers that breaks links between columns instead of coarsening values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.classes import Histogram, Ints
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Codes, Hierarchy, Label
from sfumato.recoding import Regrouping
from sfumato.slices.grouping import coded

BUCKET = "bucket"  # the column that a sliced release has beside the table's


@dataclass(frozen=True)
class Slices:
    """Every record joins a bucket, and within it the values of each column group stand anywhere.

    Records stand bucket by bucket. `codes` is what is released, already permuted, so that the
    groups of one row come from different people; `source` says which distinct rows of the table a
    bucket holds, and has nothing to do with the rows of `codes` beyond that.
    """

    groups: tuple[tuple[str, ...], ...]  # the sensitive column's group comes last, the column itself last
    bucket_of: Ints  # per record: its bucket, ascending from 0
    codes: Codes  # [n_records, n_quasi + 1]: a label of each quasi-identifier (see `Labels`), then the value
    values: Codes  # the same with the values that the labels stand for: private where a label is coarser
    source: Ints  # per record: a distinct row of the table, as a position in the sensitive histogram
    k: int  # the least number of records of a bucket
    l: float  # noqa: E741  (no sensitive value has more than 1/l of any block)
    rules: tuple[Mapping[str, str], ...] = ()  # combinations that no record may be given
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def sensitive(self) -> str:
        """The sensitive column."""
        return self.groups[-1][-1]

    @property
    def n_classes(self) -> int:
        """How many buckets there are."""
        return int(self.bucket_of[-1]) + 1

    @property
    def sizes(self) -> Ints:
        """Records per bucket."""
        return np.bincount(self.bucket_of).astype(np.int64)

    def suppressed(self, frequency: FrequencySet) -> int:
        """No record is suppressed."""
        return 0

    def rows(self, frequency: FrequencySet) -> Histogram:
        """The table's distinct rows: a tuple, a sensitive value and a count each."""
        return frequency.sensitive[self.sensitive]

    def as_table(self, frequency: FrequencySet) -> tuple[FrequencySet, Regrouping]:
        """The release read as an ordinary table: its rows, and the labels that they have."""
        both = np.column_stack([self.codes, self.values[:, :-1]])
        row_of, first = coded(list(both.T))
        counts = np.bincount(row_of).astype(np.int64)
        tuple_of, shown = coded(list(both[first][:, np.arange(both.shape[1]) != frequency.n_quasi].T))
        at = first[shown]
        rows, order = self.rows(frequency), np.lexsort((self.codes[first, -1], tuple_of))
        histogram = Histogram(tuple_of[order], self.codes[first, -1][order].astype(np.int64), counts[order],
                              rows.labels, rows.whole)
        sizes = np.bincount(tuple_of, weights=counts).astype(np.int64)
        labels = [Labels(hierarchy) for hierarchy in frequency.hierarchies]
        levels = np.stack([one.level(self.codes[at, j]) for j, one in enumerate(labels)], axis=1)
        nodes = np.stack([one.node(self.codes[at, j]) for j, one in enumerate(labels)], axis=1)
        shadow = FrequencySet(frequency.hierarchies, self.values[at, :-1], sizes, {self.sensitive: histogram})
        return shadow, Regrouping(np.arange(len(at)), levels, nodes)

    def members(self, frequency: FrequencySet) -> list[list[int]]:
        """The groups as positions among the columns of `codes`."""
        names = (*frequency.quasi, self.sensitive)
        return [[names.index(name) for name in group] for group in self.groups]


@dataclass(frozen=True)
class Labels:
    """The labels of one column that could be released: the values first, then every coarser node."""

    hierarchy: Hierarchy

    @cached_property
    def starts(self) -> Ints:
        """Per level: the code of its first node."""
        return np.cumsum([0, *(len(names) for names in self.hierarchy.labels)])[:-1].astype(np.int64)

    @cached_property
    def names(self) -> tuple[Label, ...]:
        """All labels, in the order of their codes."""
        return tuple(label for names in self.hierarchy.labels for label in names)

    @cached_property
    def leaves(self) -> Ints:
        """How many values stand under each label."""
        return np.concatenate(self.hierarchy.leaves)

    def level(self, codes: Codes) -> Codes:
        """The level that each label stands on."""
        return (np.searchsorted(self.starts, codes, side="right") - 1).astype(np.int32)

    def node(self, codes: Codes) -> Codes:
        """Which node of its level each label is."""
        return (codes - self.starts[self.level(codes)]).astype(np.int32)

    def above(self, values: Ints, level: int) -> Ints:
        """The codes of the labels over some values at one level."""
        return np.asarray(self.starts[level] + self.hierarchy.nodes[level][values], dtype=np.int64)

    def covers(self, label: int) -> Ints:
        """The values under a label."""
        level, node = int(self.level(np.array(label))), int(self.node(np.array(label)))
        return np.flatnonzero(self.hierarchy.nodes[level] == node)


def orders(groups: list[list[int]], bucket_of: Ints, rng: np.random.Generator) -> Iterator[Ints]:
    """For each column group an order of its own within every bucket, all orders equally likely."""
    for _ in groups:
        yield np.argsort(bucket_of + rng.random(len(bucket_of)))


def renumbered(bucket_of: Ints, rng: np.random.Generator) -> Ints:
    """The same buckets under numbers that say nothing of how they were found."""
    return np.asarray(rng.permutation(int(bucket_of.max()) + 1)[bucket_of], dtype=np.int64)
