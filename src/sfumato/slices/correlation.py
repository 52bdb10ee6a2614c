"""Mean-square contingency between columns (Li et al. 2012, section 5.1), from pair counts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.contingency import phi_squared
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Label

Divisor = Literal["min-1", "min"]
Bins = Literal["width", "quantiles"]


def correlations(frequency: FrequencySet, sensitive: str, *, bins: int = 4, by: Bins = "width",
                 divisor: Divisor = "min-1") -> Floats:
    """r² of every pair of columns: the quasi-identifiers in their order, the sensitive column last."""
    rows = frequency.sensitive[sensitive]
    columns = [discretize(h.values, frequency.codes[rows.classes, j], rows.counts, bins, by)
               for j, h in enumerate(frequency.hierarchies)]
    columns.append(discretize(rows.labels, rows.values, rows.counts, bins, by))
    matrix = np.eye(len(columns))
    for i, j in combinations(range(len(columns)), 2):
        matrix[i, j] = matrix[j, i] = contingency(columns[i], columns[j], rows.counts, divisor)
    return matrix


def contingency(left: Ints, right: Ints, counts: Ints, divisor: Divisor = "min-1") -> float:
    """r² of two coded columns; 0 where one of them has a single value.

    Li et al. divide by min(d1, d2) - 1, so that a column that gives the other away has 1; d is the
    number of values that occur. The thesis prints min(d1, d2).

    >>> import numpy as np
    >>> sex, salary, n = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([4, 1, 1, 4])
    >>> round(contingency(sex, salary, n), 12), round(contingency(sex, salary, n, "min"), 12)
    (0.36, 0.18)
    """
    phi = phi_squared(left, right, counts)
    values = min(phi.rows, phi.columns)
    if values < 2:
        return 0.0
    return min(1.0, max(0.0, phi.squared / (values - 1 if divisor == "min-1" else values)))


def discretize(values: Sequence[Label], codes: Ints, counts: Ints, bins: int, by: Bins = "width") -> Ints:
    """The codes of a column of numbers put into bins; other columns, and few numbers, as they are.

    Equal width: the range of the numbers that occur, cut into parts of one length, the last one
    closed. Quantiles: parts of about the same number of records. Missing is a bin of its own.
    """
    codes = codes.astype(np.int64)
    numbers = positions(values)
    if numbers is None or len(np.unique(codes)) <= bins:
        return codes
    at = numbers[codes]
    real = ~np.isnan(at)
    low, high = float(at[real].min()), float(at[real].max())
    if by == "width":
        edges = low + (high - low) * np.arange(1, bins) / bins
    else:
        order = np.argsort(at[real], kind="stable")
        reached = np.cumsum(counts[real][order])
        edges = at[real][order][np.searchsorted(reached, reached[-1] * np.arange(1, bins) / bins)]
        edges = np.unique(edges)
    return np.where(real, np.searchsorted(edges, at, side="right" if by == "width" else "left"), bins)


def positions(values: Sequence[Label]) -> Floats | None:
    """Where each value lies if the column is one of numbers, missing as NaN; None if it is not."""
    try:
        numbers = [math.nan if value is None else float(value) for value in values]
    except ValueError:
        return None
    known = [number for number, value in zip(numbers, values, strict=True) if value is not None]
    if not known or not all(map(math.isfinite, known)):  # "nan" is text: only None is missing
        return None
    return np.array(numbers)
