"""Testing a generalization string: one level for each column, and whether the criteria hold there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.costs.registry import make
from sfumato.criteria.base import Criterion
from sfumato.evaluate import evaluator
from sfumato.frequency import FrequencySet
from sfumato.lattice import Lattice
from sfumato.search import Limits

Classes = Callable[[Ints], tuple[Ints, int]]  # each tuple's class at a string, and how many classes


class Outcome(NamedTuple):
    """What testing a string says."""

    holds: bool
    suppressed: int
    condemns: bool  # no more specific string holds either


@dataclass(frozen=True)
class Success:
    """A string that holds."""

    levels: tuple[int, ...]
    value: float  # its total research value
    roots: int  # columns at the root
    suppressed: int

    @property
    def rank(self) -> tuple[float, int, int, int, tuple[int, ...]]:
        """Best first: highest value, fewest roots; then lowest, fewest suppressed, first."""
        return (-self.value, self.roots, sum(self.levels), self.suppressed, self.levels)


class Trial:
    """Tests strings of a table and keeps those that hold."""

    def __init__(self, frequency: FrequencySet, criteria: Sequence[Criterion], limits: Limits,
                 worth: Sequence[Floats]) -> None:
        names = {column for criterion in criteria for column in criterion.columns}
        sensitive = {name: frequency.sensitive[name] for name in sorted(names)}
        self.frequency = replace(frequency, sensitive=sensitive, joint=None)  # what the criteria look at
        self.criteria, self.limits, self.worth = criteria, limits, worth
        self.tops = np.array([h.n_levels for h in frequency.hierarchies]) - 1
        self.carries = limits.upward or (limits.mergeable and limits.suppressed == 0)
        lattice = Lattice(tuple(int(top) + 1 for top in self.tops))
        self.engine = evaluator(frequency, lattice, criteria, make("height", frequency, np.ones(len(worth))))
        self.counted = 0  # frequency sets
        self.successes: list[Success] = []
        self.closest, self.missing = self.tops, frequency.n_records
        self.classes: Classes | None = None  # another way to group than the engine's

    def value(self, levels: Ints) -> float:
        """The total research value of a string; rounded as in a list of strings, to the last bit."""
        return float(np.round(sum(worth[level] for worth, level in zip(self.worth, levels, strict=True)), 12))

    def test(self, levels: Ints) -> Outcome:
        """Test a string."""
        if self.classes is not None:
            return self.grouped(levels, *self.classes(levels))
        found = self.engine.evaluate(levels[None, :].astype(np.int64))
        return self.judged(levels, int(found.suppressed[0]), int(found.certain[0]))

    def grouped(self, levels: Ints, class_of: Ints, n_classes: int) -> Outcome:
        """Test a string whose classes are known."""
        return self.judged(levels, *counted(self.frequency, self.criteria, class_of, n_classes))

    def judged(self, levels: Ints, suppressed: int, certain: int) -> Outcome:
        """Whether a string holds that suppresses so many records."""
        self.counted += 1
        excess = suppressed - self.limits.affordable
        if excess > 0:
            if excess < self.missing:
                self.missing, self.closest = excess, levels
            return Outcome(False, suppressed, self.carries or certain > self.limits.affordable)
        self.successes.append(Success(tuple(int(level) for level in levels), self.value(levels),
                                      int((levels == self.tops).sum()), suppressed))
        return Outcome(True, suppressed, False)

    @property
    def best(self) -> Success | None:
        """The success with the highest value, of these the one with the fewest roots."""
        return min(self.successes, key=lambda one: one.rank, default=None)


def counted(frequency: FrequencySet, criteria: Sequence[Criterion], class_of: Ints,
            n_classes: int) -> tuple[int, int]:
    """Records in classes that fail, and in those that fail in every specialization, too."""
    stats = frequency.regroup(class_of, n_classes)
    good, always = np.ones(n_classes, dtype=bool), np.ones(n_classes, dtype=bool)
    for criterion in criteria:
        holds = criterion.holds(stats)
        good &= holds
        if criterion.upward:
            always &= holds
    return int(stats.sizes[~good].sum()), int(stats.sizes[~always].sum())


def prepruned(trial: Trial) -> list[Ints]:
    """Figure 3: the levels of every column at which the column by itself holds, all others at the root.

    Once a level holds, all coarser ones do, so they are tried from the root down. Of a column that
    does not even hold at its root, the root is left.
    """
    kept = []
    for j, hierarchy in enumerate(trial.frequency.hierarchies):
        lowest = hierarchy.n_levels - 1
        while lowest > 0 and trial.carries:
            occurs = np.bincount(hierarchy.nodes[lowest - 1], weights=trial.frequency.marginals[j]) > 0
            number = (np.cumsum(occurs) - 1)[hierarchy.nodes[lowest - 1]]
            trial.counted += 1
            out, _ = counted(trial.frequency, trial.criteria, number[trial.frequency.codes[:, j]],
                             int(occurs.sum()))
            if out > trial.limits.affordable:
                break
            lowest -= 1
        kept.append(np.arange(lowest if trial.carries else 0, hierarchy.n_levels))
    return kept


def compact(class_of: Ints) -> tuple[Ints, int]:
    """Classes numbered without gaps, and how many they are."""
    found, number = np.unique(class_of, return_inverse=True)
    return number.astype(np.int64), len(found)
