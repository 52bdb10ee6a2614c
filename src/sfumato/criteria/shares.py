"""What the criteria on sensitive values share: sums and extremes over the triples of a histogram."""

from __future__ import annotations

import numpy as np

from sfumato.classes import ClassStats, Floats, Histogram, Ints
from sfumato.errors import RequestError


def histogram_of(stats: ClassStats, column: str) -> Histogram:
    """The histogram of a sensitive column, or a refusal that lists those that were counted."""
    if column in stats.sensitive:
        return stats.sensitive[column]
    counted = ", ".join(map(repr, stats.sensitive)) or "none"
    raise RequestError(f"A criterion reads column {column!r}, which is not counted as sensitive "
                       f"(sensitive: {counted}).", f"Give {column!r} the role 'sensitive' in the recipe.")


def shares(stats: ClassStats, histogram: Histogram) -> Floats:
    """Per triple: the share q of the value among the records of its class."""
    return np.asarray(histogram.counts / stats.sizes[histogram.classes])


def starts(histogram: Histogram) -> Ints:
    """Where each class that has triples begins."""
    return np.flatnonzero(np.diff(histogram.classes, prepend=-1))


def total(histogram: Histogram, per_triple: Floats | Ints, n_classes: int) -> Floats:
    """Add up a number of each triple, class by class."""
    return np.bincount(histogram.classes, per_triple, minlength=n_classes).astype(np.float64)


def largest(histogram: Histogram, per_triple: Floats | Ints, n_classes: int) -> Floats:
    """The largest number of the triples of each class."""
    found = np.zeros(n_classes)
    if len(per_triple):
        first = starts(histogram)
        found[histogram.classes[first]] = np.maximum.reduceat(per_triple, first)
    return found
