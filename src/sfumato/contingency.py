"""How two coded columns go together: the pairs that occur, and what they add up to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.classes import Ints

ROUNDING = 1e-12
DENSE = 1 << 20  # cells of a contingency table that is worth laying out


class Phi(NamedTuple):
    """Mean-square contingency of two columns, and how many values of each occur."""

    squared: float  # chi-squared / n
    rows: int
    columns: int


def phi_squared(left: Ints, right: Ints, counts: Ints) -> Phi:
    """Sum of (f_ij - f_i f_j)^2 / (f_i f_j) over all pairs of values that occur by themselves.

    >>> import numpy as np
    >>> phi_squared(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([30, 10, 20, 40])).squared
    0.1666...
    """
    rows, columns = (np.bincount(codes, weights=counts) for codes in (left, right))
    pairs, together = pair_counts(left, right, len(columns), counts)
    expected = rows[pairs // len(columns)] * columns[pairs % len(columns)]
    squared = float((together / expected * together).sum()) - 1
    return Phi(squared, int((rows > 0).sum()), int((columns > 0).sum()))


def association(left: Ints, right: Ints, counts: Ints) -> float | None:
    """Bias-corrected Cramér's V of two coded columns; None for fewer than two records."""
    n = int(counts.sum())
    if n < 2:
        return None
    phi, rows, columns = phi_squared(left, right, counts)
    r, c = rows - 1, columns - 1
    corrected = phi - r * c / (n - 1)
    reach = min(r - r * r / (n - 1), c - c * c / (n - 1))
    if corrected < ROUNDING or reach <= 0:
        return 0.0
    return min(1.0, float(np.sqrt(corrected / reach)))


def pair_counts(left: Ints, right: Ints, width: int, counts: Ints) -> tuple[Ints, Ints]:
    """The pairs of codes that occur, as `left * width + right`, and their records."""
    keys = left * width + right
    if int(keys.max()) < max(DENSE, 4 * len(keys)):
        table = np.bincount(keys, weights=counts)
        pairs = np.flatnonzero(table)
        return pairs, table[pairs].astype(np.int64)
    pairs, position = np.unique(keys, return_inverse=True)
    return pairs, np.bincount(position, weights=counts).astype(np.int64)
