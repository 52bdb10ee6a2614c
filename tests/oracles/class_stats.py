"""Records to what a criterion sees of them, one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sfumato.classes import ClassStats, Histogram


def stats_of(records: list[tuple[str, str | None]], whole: list[str | None]) -> ClassStats:
    """What prepare hands over: (class, value) pairs; classes and values in text order, missing last."""
    names = sorted({name for name, _ in records})
    labels = (*sorted({value for value in whole if value is not None}), *([None] if None in whole else []))
    found = sorted(Counter((names.index(name), labels.index(value)) for name, value in records).items())
    histogram = Histogram(np.array([c for (c, _), _ in found], dtype=np.int64),
                          np.array([v for (_, v), _ in found], dtype=np.int64),
                          np.array([n for _, n in found], dtype=np.int64), labels,
                          np.array([whole.count(label) for label in labels], dtype=np.int64))
    sizes = Counter(name for name, _ in records)
    return ClassStats(np.array([sizes[name] for name in names], dtype=np.int64), {"s": histogram})
