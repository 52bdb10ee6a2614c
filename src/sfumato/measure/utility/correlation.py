"""Association between columns, before and after (Bergsma 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.classes import Histogram, Ints
from sfumato.contingency import association
from sfumato.frequency import FrequencySet
from sfumato.measure.evidence import Correlations, Measure, because
from sfumato.measure.released import Released

CITATION = ("Bergsma 2013, A bias-correction for Cramér's V and Tschuprow's T, "
            "J Korean Stat Soc 42(3), 323-328")
DEFINITION = (
    "How closely two columns go together, from 0 (not at all) to 1 (one gives the other away): Cramér's V "
    "with Bergsma's correction, before on the values of all records, after on the labels of those that are "
    "kept. A column with one label, or with a label for each record, goes with nothing: 0. Two sensitive "
    "columns are not compared, and nothing is with fewer than two records.")

Matrix = tuple[tuple[float | None, ...], ...]


def correlate(frequency: FrequencySet, released: Released,
              of: FrequencySet | None = None) -> Correlations | None:
    """Both association matrices; None with fewer than two columns. The release may count by `of`."""
    columns = (*frequency.quasi, *frequency.sensitive)
    if len(columns) < 2:
        return None
    before = _matrix(frequency.codes, frequency.counts, list(frequency.sensitive.values()))
    merged = (of or frequency).regroup(released.class_of, len(released.sizes))
    after = _matrix(released.cells, released.sizes, list(merged.sensitive.values()))
    return Correlations(columns, before, after, _largest_change(before, after), DEFINITION, CITATION)


def _matrix(codes: npt.NDArray[np.integer], counts: Ints, sensitive: Sequence[Histogram]) -> Matrix:
    """Pairwise association of the columns of `codes`, and of each with each sensitive column."""
    n_quasi = codes.shape[1]
    columns = [np.unique(column, return_inverse=True)[1] for column in codes.T]
    size = n_quasi + len(sensitive)
    matrix: list[list[float | None]] = [[None] * size for _ in range(size)]
    for i, j in combinations(range(n_quasi), 2):
        matrix[i][j] = matrix[j][i] = association(columns[i], columns[j], counts)
    for j, histogram in enumerate(sensitive, start=n_quasi):
        for i in range(n_quasi):
            matrix[i][j] = matrix[j][i] = association(
                columns[i][histogram.classes], histogram.values, histogram.counts)
    if counts.sum() > 1:
        for i in range(size):
            matrix[i][i] = 1.0
    return tuple(tuple(row) for row in matrix)


def _largest_change(before: Matrix, after: Matrix) -> float | None:
    changes = [abs(b - a) for i, (first, second) in enumerate(zip(before, after, strict=True))
               for b, a in zip(first[i + 1:], second[i + 1:], strict=True)
               if b is not None and a is not None]
    return max(changes, default=None)


def change(correlations: Correlations | None) -> Measure:
    """The association that changed most, as a number."""
    value = correlations.largest_change if correlations else None
    return Measure("correlation_change", "Largest change of an association", value, None, "lower", 0, 1,
                   "The largest difference between before and after among all pairs of columns. " + DEFINITION
                   + because(value, "no pair of columns can be compared"), CITATION)
