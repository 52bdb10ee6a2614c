"""The frequency set: every tuple with its count and its histograms of sensitive values."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.classes import ClassStats, Floats, Histogram, Ints
from sfumato.hierarchy.core import Codes, Hierarchy, Label


@dataclass(frozen=True)
class Cells:
    """The records by their quasi-identifiers and all sensitive values together."""

    tuple_of: Ints  # per cell: its tuple, ascending
    values: Ints  # [n_cells, n_sensitive]: positions in the histograms' labels
    counts: Ints  # per cell: records, at least 1


@dataclass(frozen=True)
class FrequencySet:
    """The distinct combinations of quasi-identifier values, as value codes of their hierarchies."""

    hierarchies: tuple[Hierarchy, ...]  # one per quasi-identifier, in the recipe's order
    codes: Codes  # [n_tuples, n_quasi]
    counts: Ints  # [n_tuples]
    sensitive: Mapping[str, Histogram] = field(default_factory=dict)  # its classes are the tuples
    joint: Cells | None = None  # as counted, in any order and with repetitions; needed for several columns
    worth: tuple[Floats, ...] | None = None  # per quasi-identifier: the research value of its levels, if said

    @property
    def n_tuples(self) -> int:
        """Distinct tuples."""
        return len(self.counts)

    @property
    def n_quasi(self) -> int:
        """Quasi-identifiers."""
        return int(self.codes.shape[1])

    @property
    def n_records(self) -> int:
        """Records of the table."""
        return int(self.counts.sum())

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers' names."""
        return tuple(hierarchy.column for hierarchy in self.hierarchies)

    @cached_property
    def marginals(self) -> tuple[Ints, ...]:
        """Per quasi-identifier: records per value code."""
        return tuple(np.bincount(self.codes[:, j], weights=self.counts, minlength=h.n_values).astype(np.int64)
                     for j, h in enumerate(self.hierarchies))

    @cached_property
    def cells(self) -> Cells:
        """The distinct cells, in the order of their tuples and values."""
        if not self.sensitive:
            return Cells(np.arange(self.n_tuples), np.empty((self.n_tuples, 0), np.int64), self.counts)
        if self.joint is None:
            [histogram] = self.sensitive.values()
            return Cells(histogram.classes, histogram.values[:, None], histogram.counts)
        cell_of, first = self.numbered_cells
        counts = np.bincount(cell_of, weights=self.joint.counts).astype(np.int64)
        return Cells(self.joint.tuple_of[first], self.joint.values[first], counts)

    @cached_property
    def numbered_cells(self) -> tuple[Ints, Ints]:
        """Per row of `joint` its cell, and per cell the first row."""
        assert self.joint is not None
        rows = np.column_stack([self.joint.tuple_of, self.joint.values])
        return distinct(rows, [self.n_tuples, *(len(h.labels) for h in self.sensitive.values())])

    def secret(self, seed: int) -> np.random.Generator:
        """Chance by the seed and the private counts: nobody without the table can repeat it."""
        cells = self.cells
        parts = (self.codes, self.counts, cells.tuple_of, cells.values, cells.counts)
        digest = hashlib.sha256(b"".join(np.ascontiguousarray(part, np.int64).tobytes() for part in parts))
        return np.random.default_rng([seed, *np.frombuffer(digest.digest(), dtype=np.uint32).tolist()])

    def divided(self, cell_of: Ints, counts: Ints) -> FrequencySet:
        """The same records with portions of cells in the place of tuples."""
        cells, portions = self.cells, np.arange(len(cell_of))
        sensitive = {name: Histogram(portions, cells.values[cell_of, n], counts, h.labels, h.whole)
                     for n, (name, h) in enumerate(self.sensitive.items())}
        return FrequencySet(self.hierarchies, self.codes[cells.tuple_of[cell_of]], counts, sensitive,
                            worth=self.worth)

    def recounted(self, cells: Cells, labels: Mapping[str, tuple[Label, ...]]) -> FrequencySet:
        """The same tuples with other records and sensitive values, which stand for positions in `labels`."""
        counts = np.bincount(cells.tuple_of, weights=cells.counts, minlength=self.n_tuples).astype(np.int64)
        sensitive = {}
        for n, (name, names) in enumerate(labels.items()):
            keys, at = np.unique(cells.tuple_of * len(names) + cells.values[:, n], return_inverse=True)
            records = np.bincount(at, weights=cells.counts).astype(np.int64)
            whole = np.bincount(cells.values[:, n], weights=cells.counts, minlength=len(names))
            sensitive[name] = Histogram(keys // len(names), keys % len(names), records, names,
                                        whole.astype(np.int64))
        return FrequencySet(self.hierarchies, self.codes, counts, sensitive, cells, worth=self.worth)

    def part(self, tuples: Ints) -> FrequencySet:
        """Some of the tuples, as a table of its own; criteria go on comparing with the whole table."""
        position = np.full(self.n_tuples, -1, dtype=np.int64)
        position[tuples] = np.arange(len(tuples))
        sensitive = {name: merge(histogram, position) for name, histogram in self.sensitive.items()}
        return FrequencySet(self.hierarchies, self.codes[tuples], self.counts[tuples], sensitive,
                            worth=self.worth)

    def sample(self, size: int, rng: np.random.Generator) -> FrequencySet:
        """Records drawn without replacement, as a table of its own with the same hierarchies."""
        cells = self.cells
        drawn = rng.multivariate_hypergeometric(cells.counts, size, method="marginals").astype(np.int64)
        here = drawn > 0
        tuples, tuple_of = np.unique(cells.tuple_of[here], return_inverse=True)
        counts, values = drawn[here], cells.values[here]
        sizes = np.bincount(tuple_of, weights=counts, minlength=len(tuples)).astype(np.int64)
        sensitive = {}
        for n, (name, old) in enumerate(self.sensitive.items()):
            whole = np.bincount(values[:, n], weights=counts, minlength=len(old.labels)).astype(np.int64)
            rows = Histogram(np.arange(len(counts)), values[:, n], counts, old.labels, whole)
            sensitive[name] = merge(rows, tuple_of)
        return FrequencySet(self.hierarchies, self.codes[tuples], sizes, sensitive,
                            Cells(tuple_of, values, counts) if sensitive else None)

    def regroup(self, class_of: Ints, n_classes: int) -> ClassStats:
        """The statistics of classes made of whole tuples; class -1 is suppressed and left out."""
        kept = class_of >= 0
        sizes = np.bincount(class_of[kept], weights=self.counts[kept], minlength=n_classes)
        merged = {name: merge(histogram, class_of) for name, histogram in self.sensitive.items()}
        return ClassStats(sizes.astype(np.int64), merged)


def merge(histogram: Histogram, class_of: Ints) -> Histogram:
    """Add up the histograms of rows that fall into one class."""
    rows = class_of[histogram.classes]
    kept = rows >= 0
    n_values = len(histogram.labels)
    keys = rows[kept] * n_values + histogram.values[kept]
    found, position = np.unique(keys, return_inverse=True)
    counts = np.bincount(position, weights=histogram.counts[kept], minlength=len(found))
    return Histogram(found // n_values, found % n_values, counts.astype(np.int64),
                     histogram.labels, histogram.whole)


def distinct(rows: Codes | Ints, widths: Sequence[int]) -> tuple[Ints, Ints]:
    """Number the distinct rows in their order: each row's number, and where each number first stands."""
    keys, width = np.zeros(len(rows), dtype=np.int64), 1
    for j, n in enumerate(widths):
        if width * n >= 1 << 62:  # a word is full: number what is there and go on from that
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            width = int(keys.max(initial=0)) + 1
        keys = keys * n + rows[:, j]
        width *= n
    _, first, class_of = np.unique(keys, return_index=True, return_inverse=True)
    return class_of.astype(np.int64), first.astype(np.int64)
