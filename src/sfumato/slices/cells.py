"""Cells that give people away, pairs of values in a group of two columns, and how they are protected.

BinJubier 2024, section 3.4: lower and upper protection levels (Figure 3.6), rank swapping or
generalization (Figure 3.8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sfumato.classes import Bools, Floats, Ints
from sfumato.errors import RequestError
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Codes, Hierarchy
from sfumato.slices.base import Labels
from sfumato.slices.correlation import positions

RATES = (0.01, 0.02, 0.05, 0.1, 0.15)  # of Tables 4.1 and 4.2
FEW = 2000  # records for which a compiler does not pay
Rules = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Pair:
    """A group of two columns, and how likely each first value is beside each second one."""

    first: int
    second: int
    counts: Ints  # [values of the first, values of the second]: records with both

    @classmethod
    def of(cls, frequency: FrequencySet, first: int, second: int) -> Pair:
        """Count the pairs of values of two quasi-identifiers."""
        shape = [frequency.hierarchies[j].n_values for j in (first, second)]
        keys = frequency.codes[:, first].astype(np.int64) * shape[1] + frequency.codes[:, second]
        counts = np.bincount(keys, weights=frequency.counts, minlength=shape[0] * shape[1])
        return cls(first, second, counts.reshape(shape).astype(np.int64))

    @property
    def r(self) -> Floats:
        """r(v, w) = records with both / records with w: the reading that gives the published counts."""
        return np.asarray(self.counts / np.maximum(self.counts.sum(axis=0), 1))

    def rare(self, lower: float) -> Bools:
        """The lower protection level: 0 < r <= lower."""
        return np.asarray((self.counts > 0) & (self.r <= lower))

    def nearly_certain(self, upper: float, certain: bool = False) -> Bools:
        """The upper protection level: upper <= r < 1, or also r = 1."""
        return np.asarray((self.r >= upper) & ((self.r < 1) | certain) & (self.counts > 0))

    def table(self, rates: Sequence[float] = RATES) -> list[dict[str, float]]:
        """How many cells and records each rate selects (Tables 4.1 and 4.2), so that one can be chosen."""
        rows = []
        for rate in rates:
            rare, certain = self.rare(rate), self.nearly_certain(1 - rate)
            rows.append({"rate": rate, "rare_cells": int(rare.sum()),
                         "rare_records": int(self.counts[rare].sum()), "certain_cells": int(certain.sum()),
                         "certain_records": int(self.counts[certain].sum())})
        return rows

    def never_together(self) -> Bools:
        """Pairs of values that no record has: what the table itself suggests to be nonsensical."""
        return np.asarray(self.counts == 0)


def rank_groups(hierarchy: Hierarchy) -> tuple[Ints, Ints, bool]:
    """Per value: its rank group and its rank; and whether ranks (a column of numbers) are what counts.

    Values with the same parent in the hierarchy are of one group.
    """
    at = positions(hierarchy.values)
    numeric = at is not None
    order = np.argsort(np.arange(hierarchy.n_values) if at is None else at, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return hierarchy.nodes[min(1, hierarchy.n_levels - 1)].astype(np.int64), rank, numeric


def rules_about(frequency: FrequencySet, rules: Rules, column: int, sensitive: str,
                labels: Sequence[str | None], codes: Codes) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The rules that speak of a column: the value each forbids there, and which records meet the rest."""
    names = [*frequency.quasi, sensitive]
    values, holds = [], []
    for rule in rules:
        if names[column] not in rule:
            continue
        met = np.ones(len(codes), dtype=bool)
        for name, value in rule.items():
            j = names.index(name)
            if j != column:
                met &= codes[:, j] == code_of(frequency, j, value, labels)
        values.append(code_of(frequency, column, rule[names[column]], labels))
        holds.append(met)
    return (np.array(values, dtype=np.int64),
            np.array(holds, dtype=bool).reshape(len(values), len(codes)))


def require_known(frequency: FrequencySet, rules: Rules, sensitive: str,
                  labels: Sequence[str | None]) -> None:
    """A rule about a value that its column cannot have would forbid nothing, silently."""
    names = [*frequency.quasi, sensitive]
    for number, rule in enumerate(rules, start=1):
        for name, value in rule.items():
            if code_of(frequency, names.index(name), value, labels) < 0:
                raise RequestError(f"Rule {number} speaks of a value that the column {name!r} does not "
                                   "have, so it forbids nothing.", "Correct the value, or take the rule out.")


def code_of(frequency: FrequencySet, column: int, value: str, labels: Sequence[str | None]) -> int:
    """The code of a value of a column; -1 where the table has no such value."""
    if column < frequency.n_quasi:
        return int(frequency.hierarchies[column].code_of.get(value, -1))
    return labels.index(value) if value in labels else -1


def swapped(own: Ints, beside: Ints, chosen: Bools, state: Bools, starts: Ints, hierarchy: Hierarchy,
            reach: float, allowed: Bools, forbidden: tuple[Ints, npt.NDArray[np.bool_]],
            draws: Floats) -> None:
    """Rank swapping of one column, in place (Figure 3.8, lines 1 to 3)."""
    group, rank, numeric = rank_groups(hierarchy)
    far = int(reach * hierarchy.n_values) if numeric else -1
    swap = _swap
    if len(own) > FEW:
        from sfumato.slices import kernels

        swap = kernels.swap
    swap(own, beside, chosen, state, starts, group, rank, far, allowed, *forbidden, draws)


def _swap(own: Ints, beside: Ints, chosen: Bools, state: Bools, starts: Ints, group: Ints, rank: Ints,
          reach: int, allowed: Bools, rule_value: Ints, rule_holds: npt.NDArray[np.bool_],
          draws: Floats) -> None:
    """The twin of `kernels.swap`, a bucket at once."""
    for low, high in pairwise(starts):
        for i in range(low, high):
            if not chosen[i] or state[i]:
                continue
            others = low + (int(draws[i] * (high - low)) + np.arange(high - low)) % (high - low)
            near = (abs(rank[own[others]] - rank[own[i]]) <= reach if reach >= 0 else
                    group[own[others]] == group[own[i]])
            fine = near & ~state[others] & (own[others] != own[i]) & (beside[others] != beside[i])
            fine &= allowed[own[others], beside[i]] & allowed[own[i], beside[others]]
            for value, holds in zip(rule_value, rule_holds, strict=True):
                fine &= ~((own[others] == value) & holds[i]) & ~((own[i] == value) & holds[others])
            if fine.any():
                j = others[np.argmax(fine)]
                own[i], own[j] = own[j], own[i]
                state[i] = state[j] = True


def generalized(hierarchies: tuple[Hierarchy, Hierarchy], first: Ints, second: Ints, pending: Bools,
                bucket_of: Ints, k: int) -> tuple[Ints, Ints]:
    """The labels of both columns, the pending cells raised together (Figure 3.8, line 5).

    Level by level, at least one: a cell stays at the first one where k records of its bucket lie under
    both of its labels. Values that have no coarser level stay.
    """
    one, two = map(Labels, hierarchies)
    made = first.copy(), second.copy()
    left = pending.copy()
    for level in range(1, max(h.n_levels for h in hierarchies)):
        raised = one.above(first, min(level, hierarchies[0].n_levels - 1)), two.above(
            second, min(level, hierarchies[1].n_levels - 1))
        keys = (bucket_of * len(one.names) + raised[0]) * len(two.names) + raised[1]
        _, at, counts = np.unique(keys, return_inverse=True, return_counts=True)
        last = level == max(h.n_levels for h in hierarchies) - 1
        settled = left & ((counts[at] >= k) | last)
        for labels, higher in zip(made, raised, strict=True):
            labels[settled] = higher[settled]
        left &= ~settled
    return made
