"""Weights from correlations: columns that say what no other says weigh more (Morton et al., section 4).

The paper names a correlation matrix of all pairs and leaves open which. Here it is Cramér's V, corrected for
bias, which takes columns of any type; numbers are first put into GROUPS groups of about as many records.
A column's weight is proportional to 1 - its mean V with the others; the weights sum to 1.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.contingency import association
from sfumato.frequency import FrequencySet
from sfumato.research.values import formula_of

GROUPS = 10


def independence(frequency: FrequencySet) -> Floats:
    """The weight of every quasi-identifier."""
    n = frequency.n_quasi
    columns = [grouped(frequency, j) for j in range(n)]
    matrix = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        matrix[i, j] = matrix[j, i] = association(columns[i], columns[j], frequency.counts) or 0.0
    alone = 1 - matrix.sum(axis=1) / max(n - 1, 1)
    if alone.sum() < 1e-9:  # each gives all others away
        alone = np.ones(n)
    return np.asarray(alone / alone.sum())


def grouped(frequency: FrequencySet, column: int) -> Ints:
    """A column's codes, numbers in groups of about as many records, missing a group of its own."""
    hierarchy, codes = frequency.hierarchies[column], frequency.codes[:, column].astype(np.int64)
    if formula_of(hierarchy) == "categorical" or hierarchy.n_values <= GROUPS:
        return codes
    points = np.array([np.inf if value is None else float(value) for value in hierarchy.values])
    order = np.argsort(points, kind="stable")
    below = np.concatenate([[0], np.cumsum(frequency.marginals[column][order])[:-1]])
    group = np.empty(hierarchy.n_values, dtype=np.int64)
    group[order] = below * GROUPS // max(frequency.n_records, 1)
    group[points == np.inf] = GROUPS
    return group[codes]
