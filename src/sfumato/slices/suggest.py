"""Rules suggested by the data: pairs of values that no record has, though many would be expected to."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.frequency import FrequencySet
from sfumato.slices.cells import Pair
from sfumato.slices.correlation import positions

MANY = 200  # values of a column that is looked at; of a column of numbers a tenth of that
LEAST = 5.0  # records that would be expected to have a pair


@dataclass(frozen=True)
class Absent:
    """Two values that never occur together."""

    columns: tuple[str, str]
    values: tuple[str, str]
    expected: float  # records that would have both, had the columns nothing to do with each other

    @property
    def rule(self) -> dict[str, str]:
        """As a recipe writes it."""
        return dict(zip(self.columns, self.values, strict=True))


def never_together(frequency: FrequencySet, least: float = LEAST) -> list[Absent]:
    """Pairs of values of two quasi-identifiers that no record has, the most surprising first.

    Expected are n(v) n(w) / n records. Missing values, and columns with too many values for rules that
    people would write, are left out.
    """
    found = []
    for i, j in combinations(_few(frequency), 2):
        pair = Pair.of(frequency, i, j)
        expected = np.outer(pair.counts.sum(axis=1), pair.counts.sum(axis=0)) / frequency.n_records
        first, second = (frequency.hierarchies[at] for at in (i, j))
        for v, w in zip(*np.nonzero(pair.never_together() & (expected >= least)), strict=True):
            one, other = first.values[v], second.values[w]
            if one is not None and other is not None:
                found.append(Absent((first.column, second.column), (one, other), float(expected[v, w])))
    return sorted(found, key=lambda absent: (-absent.expected, absent.columns, absent.values))


def _few(frequency: FrequencySet) -> list[int]:
    """Columns with values that can be told apart in rules."""
    return [j for j, hierarchy in enumerate(frequency.hierarchies)
            if hierarchy.n_values <= (MANY if positions(hierarchy.values) is None else MANY // 10)]
