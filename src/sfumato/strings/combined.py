"""The third step of distributed search: subsets' successes combined, tested and made more specific.

All combinations are listed where they are few enough. Else each subset gives a *ladder*: from its best
success up to its root, each rung the least loss of research value above the one before, thinned to a few. The
root of every subset is a rung, so that a string is found wherever the root holds.

The best of the combinations that hold are then refined (not in the paper, which stops at combinations): the
largest gain of research value first, a column's level is lowered if the criteria still hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from sfumato.classes import Ints
from sfumato.frequency import FrequencySet, distinct
from sfumato.search import Clock, Watch
from sfumato.strings.listed import Levels, Pruning, Strings, globally, interruptible, tell
from sfumato.strings.trial import Success, Trial, compact

MOST_COMBINED = 200_000  # combinations that are listed
MOST_THINNED = 10_000  # combinations of ladders
MOST_REFINED = 4  # successes
MOST_STORED = 1 << 28  # bytes of stored classes


class Joined:
    """Classes of combined strings, from the classes of their parts."""

    def __init__(self, frequency: FrequencySet, subsets: Sequence[tuple[int, ...]]) -> None:
        self.frequency, self.subsets = frequency, subsets
        self.stored: dict[tuple[int, tuple[int, ...]], tuple[Ints, int]] = {}
        self.held = 0  # bytes of stored classes, at their most

    def classes(self, levels: Ints) -> tuple[Ints, int]:
        """Each tuple's class at a string, and how many classes there are."""
        parts = [self.part(n, tuple(int(levels[j]) for j in subset)) for n, subset in enumerate(self.subsets)]
        class_of, first = distinct(np.stack([of for of, _ in parts], axis=1), [width for _, width in parts])
        return class_of, len(first)

    def part(self, subset: int, levels: tuple[int, ...]) -> tuple[Ints, int]:
        """The classes of a subset at its levels, stored."""
        key = subset, levels
        if key not in self.stored:
            frequency = self.frequency
            if (len(self.stored) + 1) * 8 * frequency.n_tuples > MOST_STORED:
                self.stored.clear()
            columns = [(frequency.hierarchies[j], level, frequency.codes[:, j])
                       for j, level in zip(self.subsets[subset], levels, strict=True)]
            nodes = np.stack([h.nodes[level][codes] for h, level, codes in columns], axis=1)
            class_of, first = distinct(nodes, [len(h.labels[level]) for h, level, _ in columns])
            self.stored[key] = class_of, len(first)
            self.held = max(self.held, len(self.stored) * 8 * frequency.n_tuples)
        return self.stored[key]


def combinations(trial: Trial, subsets: Sequence[tuple[int, ...]], found: Sequence[Levels],
                 pruning: Pruning) -> tuple[Strings, bool]:
    """The list of combined strings, and whether it is whole."""
    whole = prod(map(len, found)) <= MOST_COMBINED
    if not whole:
        rungs = max(2, int(MOST_THINNED ** (1 / len(subsets)) + 1e-9))
        found = [ladder(trial, subset, levels, rungs) for subset, levels in zip(subsets, found, strict=True)]
    rows = np.array(list(product(*(range(len(levels)) for levels in found))))
    strings = np.empty((len(rows), len(trial.tops)), dtype=np.int16)
    for n, (subset, levels) in enumerate(zip(subsets, found, strict=True)):
        strings[:, subset] = levels[rows[:, n]]
    values = sum(worth[strings[:, j]] for j, worth in enumerate(trial.worth))
    return Strings(strings, np.asarray(values, dtype=np.float64).round(12), pruning), whole


def ladder(trial: Trial, subset: tuple[int, ...], found: Levels, most: int) -> Levels:
    """A subset's best success and ever more general ones up to its root, each by the least loss."""
    worth, tops = [trial.worth[j] for j in subset], trial.tops[list(subset)]
    values = sum(column[found[:, n]] for n, column in enumerate(worth))
    roots = (found == tops).sum(axis=1)
    now = found[np.lexsort((roots, -np.asarray(values).round(12)))[0]].astype(np.int64)
    rungs = [now]
    while (now < tops).any():
        loss = [column[now[n]] - column[now[n] + 1] if now[n] < tops[n] else np.inf
                for n, column in enumerate(worth)]
        now = now + np.eye(len(tops), dtype=np.int64)[int(np.argmin(loss))]
        rungs.append(now)
    chosen = np.unique(np.linspace(0, len(rungs) - 1, min(most, len(rungs))).round().astype(int))
    return np.array([rungs[n] for n in chosen], dtype=np.int16)


def combine(trial: Trial, strings: Strings, kept: Sequence[Ints], refined: bool, clock: Clock,
            watch: Watch | None) -> None:
    """Test the combinations; refine the best where they were thinned."""
    globally(strings, trial, clock, watch)
    if not refined:
        return
    with interruptible(trial, clock):
        for one in sorted(set(trial.successes), key=lambda one: one.rank)[:MOST_REFINED]:
            refine(trial, one, kept, clock, watch)


def refine(trial: Trial, start: Success, kept: Sequence[Ints], clock: Clock,
           watch: Watch | None) -> None:
    """Lower one level at a time, that of most gain first; a column that failed once fails ever after."""
    assert trial.classes is not None
    levels = np.array(start.levels)
    class_of, _ = trial.classes(levels)
    lowest = np.array([column[0] for column in kept])
    open_ = levels > lowest
    while open_.any() and not clock.over:
        gain = [worth[level - 1] - worth[level] if free else -np.inf
                for worth, level, free in zip(trial.worth, levels, open_, strict=True)]
        j = int(np.argmax(gain))
        finer = levels - np.eye(len(levels), dtype=np.int64)[j]
        hierarchy = trial.frequency.hierarchies[j]
        nodes = hierarchy.nodes[finer[j]][trial.frequency.codes[:, j]]
        divided, n_classes = compact(class_of * len(hierarchy.labels[finer[j]]) + nodes)
        if gain[j] >= 0 and trial.grouped(finer, divided, n_classes).holds:
            levels, class_of = finer, divided
            open_[j] = levels[j] > lowest[j]
        else:
            open_[j] = False
        tell(trial, int(open_.sum()), watch)
