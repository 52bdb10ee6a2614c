"""The frequency set: every tuple with its count and its histograms of sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sfumato.classes import ClassStats, Histogram, Ints
from sfumato.hierarchy.core import Codes, Hierarchy


@dataclass(frozen=True)
class FrequencySet:
    """The distinct combinations of quasi-identifier values, as value codes of their hierarchies."""

    hierarchies: tuple[Hierarchy, ...]  # one per quasi-identifier, in the recipe's order
    codes: Codes  # [n_tuples, n_quasi]
    counts: Ints  # [n_tuples]
    sensitive: Mapping[str, Histogram] = field(default_factory=dict)  # its classes are the tuples

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
