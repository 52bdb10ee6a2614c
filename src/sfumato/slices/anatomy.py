"""Groups of records with different sensitive values (Xiao & Tao 2006, algorithm Anatomize)."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from sfumato.classes import Ints


def anatomized(counts: Ints, l: int) -> tuple[Ints, Ints]:  # noqa: E741
    """Groups of l different values each, and the values that are left over.

    `counts` says how many records have each value. Again and again, one record is taken of each of
    the l values that have the most left; of two with as many, the lower value comes first.

    >>> groups, left = anatomized(np.array([2, 3, 2]), 2)  # asthma, flu, ulcer
    >>> groups.tolist(), left.tolist()
    ([[1, 0], [1, 2], [0, 1]], [2])
    """
    heap = [(-int(count), value) for value, count in enumerate(counts) if count]
    heapify(heap)
    groups = []
    while len(heap) >= l:
        taken = [heappop(heap) for _ in range(l)]
        groups.append([value for _, value in taken])
        for left, value in taken:
            if left < -1:
                heappush(heap, (left + 1, value))
    rest = [value for left, value in sorted(heap) for _ in range(-left)]
    return np.array(groups, dtype=np.int64).reshape(-1, l), np.array(rest, dtype=np.int64)


def placed(groups: Ints, left: Ints, rng: np.random.Generator) -> Ints:
    """For each value left over, a random group that lacks it; there is one if l values were eligible."""
    return np.array([rng.choice(np.flatnonzero((groups != value).all(axis=1))) for value in left],
                    dtype=np.int64)


def dealt(values: Ints, held: Ints, rng: np.random.Generator) -> Ints:
    """Per record its group: `held` says which value each place of the groups takes, one group after the
    other; which of the value's records goes there is left to chance."""
    places = np.argsort(held, kind="stable")
    records = np.lexsort((rng.random(len(values)), values))
    place_of = np.empty(len(values), dtype=np.int64)
    place_of[records] = places
    return place_of


def reconstruction_error(values: Ints, bucket_of: Ints) -> float:
    """Sum over records of the squared distance between the true value and the bucket's distribution.

    A bucket of n records with shares f gives n (1 - sum f²); no l-diverse publication has less than
    n (1 - 1/l) over all records, and Anatomize at most 1 + 1/n times that (section 5).
    """
    sizes = np.bincount(bucket_of)
    cells, counts = np.unique(bucket_of * (int(values.max()) + 1) + values, return_counts=True)
    squares = (counts / sizes[cells // (int(values.max()) + 1)]) ** 2
    return float(len(values) - (squares * sizes[cells // (int(values.max()) + 1)]).sum())
