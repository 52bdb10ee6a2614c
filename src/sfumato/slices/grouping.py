"""Which columns go together: k-medoids (PAM), or pairs of the greatest weight."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.frequency import distinct

EXACT = 16  # columns up to which the best pairing is found by trying all that could be
SLACK = 1e-12
Groups = list[list[int]]


def pam(distance: Floats, k: int) -> Groups:
    """Partitioning around medoids (Kaufman & Rousseeuw 1990): BUILD, then SWAP while the cost falls.

    >>> import numpy as np
    >>> points = np.array([0.0, 1, 9, 10, 11])
    >>> pam(abs(points[:, None] - points), 2)
    [[0, 1], [2, 3, 4]]
    """
    n = len(distance)
    medoids = build(distance, min(k, n))
    while len(medoids) < n:
        cost = distance[:, medoids].min(axis=1).sum()
        tried = [(distance[:, swapped(medoids, at, other)].min(axis=1).sum(), at, other)
                 for at in range(len(medoids)) for other in range(n) if other not in medoids]
        best, at, other = min(tried)
        if best >= cost - SLACK:
            break
        medoids = swapped(medoids, at, other)
    return clusters(distance, medoids)


def build(distance: Floats, k: int) -> list[int]:
    """The column nearest to all, then again and again the one that lowers the cost most."""
    medoids = [int(np.argmin(distance.sum(axis=0)))]
    while len(medoids) < k:
        nearest = distance[:, medoids].min(axis=1)
        gains = np.maximum(nearest[:, None] - distance, 0).sum(axis=0)
        gains[medoids] = -1
        medoids.append(int(np.argmax(gains)))
    return medoids


def swapped(medoids: Sequence[int], at: int, other: int) -> list[int]:
    """The medoids with one of them replaced."""
    return [other if n == at else medoid for n, medoid in enumerate(medoids)]


def clusters(distance: Floats, medoids: Sequence[int]) -> Groups:
    """Every column with its nearest medoid, the lower one where two are as near; in column order."""
    ordered = sorted(medoids)
    nearest = np.argmin(distance[:, ordered], axis=1)
    nearest[ordered] = np.arange(len(ordered))
    found: Groups = [np.flatnonzero(nearest == n).tolist() for n in range(len(ordered))]
    return sorted(found)


def pairing(weight: Floats) -> Groups:
    """Pairs of the greatest total weight; of an odd number of columns one stays alone.

    Up to `EXACT` columns no other pairing weighs more; beyond, the heaviest pair is taken first, and
    two pairs are exchanged while that gains.
    """
    n = len(weight)
    return sorted(_exact(weight) if n <= EXACT else _greedy(weight))


def _exact(weight: Floats) -> Groups:
    """The best of all pairings, from the best of all smaller sets."""
    n = len(weight)

    @cache
    def best(left: int, single: bool) -> tuple[float, tuple[tuple[int, ...], ...]]:
        if not left:
            return 0.0, ()
        first = (left & -left).bit_length() - 1
        rest = left & (left - 1)
        options = []
        for other in range(first + 1, n):
            if rest >> other & 1:
                total, pairs = best(rest & ~(1 << other), single)
                options.append((total + float(weight[first, other]), ((first, other), *pairs)))
        if single:
            total, pairs = best(rest, False)
            options.append((total, ((first,), *pairs)))
        return max(options, key=lambda option: option[0])

    return [list(pair) for pair in best((1 << n) - 1, n % 2 == 1)[1]]


def _greedy(weight: Floats) -> Groups:
    n = len(weight)
    left, found = set(range(n)), []
    by_weight = sorted(combinations(range(n), 2), key=lambda pair: -weight[pair])
    for i, j in by_weight:
        if i in left and j in left:
            found.append([i, j])
            left -= {i, j}
    single = [[column] for column in left]
    while _exchange(found, weight):
        pass
    return [*map(sorted, found), *single]


def _exchange(pairs: Groups, weight: Floats) -> bool:
    """Exchange the partners of two pairs where that gains; whether any were."""
    for x, y in combinations(range(len(pairs)), 2):
        (a, b), (c, d) = pairs[x], pairs[y]
        now = weight[a, b] + weight[c, d]
        for one, other in (((a, c), (b, d)), ((a, d), (b, c))):
            if weight[one] + weight[other] > now + SLACK:
                pairs[x], pairs[y] = list(one), list(other)
                return True
    return False


def coded(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """One number for each combination of several columns' codes, and a row where each stands."""
    return distinct(np.column_stack(columns), [int(column.max(initial=0)) + 1 for column in columns])
