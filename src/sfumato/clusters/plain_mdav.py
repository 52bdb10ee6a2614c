"""The plain twin of microaggregation: one list of records, no counts."""

from __future__ import annotations

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.clusters.plain_centres import risen
from sfumato.clusters.space import MISSING, Space


def microaggregate(space: Space, counts: Ints, k: int) -> tuple[Ints, Ints]:
    """As `mdav_kernels.microaggregate`: per record its element and its group."""
    element_of = np.repeat(np.arange(len(counts)), counts)
    left, groups = np.arange(len(element_of)), np.zeros(len(element_of), dtype=np.int64)
    group = 0
    while len(left) >= 2 * k:
        r = left[np.argmax(off(space, *centre(space, element_of[left]), element_of[left]))]
        gaps = off(space, space.points[element_of[r]], space.codes[element_of[r]], element_of[left])
        s = left[np.argmax(gaps)]
        left, group = _taken(left, gaps, k, groups, group)
        if len(left) < 2 * k:
            break
        gaps = off(space, space.points[element_of[s]], space.codes[element_of[s]], element_of[left])
        left, group = _taken(left, gaps, k, groups, group)
    groups[left] = group
    return element_of, groups


def _taken(left: Ints, gaps: Floats, k: int, groups: Ints, group: int) -> tuple[Ints, int]:
    """The nearest make a group; what is left then, and the next group."""
    near = left[np.argsort(gaps, kind="stable")[:k]]
    groups[near] = group
    return left[~np.isin(left, near)], group + 1


def centre(space: Space, elements: Ints) -> tuple[Floats, Ints]:
    """As `mdav_kernels.centre`, of records."""
    points = []
    kinds, counts = np.unique(elements, return_counts=True)
    for column in space.points[kinds].T:
        real = column < MISSING
        known = int(counts[real].sum())
        total = float(np.cumsum(counts[real] * column[real])[-1]) if known else 0.0
        points.append(total / known if 2 * known >= len(elements) else MISSING)
    modes = []
    for column in space.codes[elements].T:
        records = np.bincount(column)
        modes.append(int(column[np.argmax(records[column] == records.max())]))
    return np.array(points), np.array(modes, dtype=np.int64)


def off(space: Space, point: Floats, code: Ints, elements: Ints) -> Floats:
    """As `centre_kernels.spread` with squares, of records."""
    total = np.zeros(len(elements))
    for j, weight in enumerate(space.numeric):
        total += weight * np.minimum(np.abs(point[j] - space.points[elements, j]), 1.0) ** 2
    for j, weight in enumerate(space.other):
        total += weight * risen(space, j, int(code[j]), space.codes[elements, j]) ** 2
    return total
