"""All strings in a list sorted by research value, and the three ways to search it in one process.

Morton, Mahoui, Gibson & Yechuri, sections 5.3.2 (global), 5.3.3 (local), 5.3.4 (hybrid).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.classes import Bools, Floats, Ints
from sfumato.lattice import Lattice
from sfumato.search import Clock, Progress, Watch
from sfumato.strings.trial import Outcome, Trial

Pruning = Literal["sound", "paper"]
Levels = npt.NDArray[np.int16]
MOST_HALVED = 4  # times that the list is halved again for failures
EVERY = 64  # tests between two reports of progress


class Strings:
    """List A: strings in ascending order of their research value, less those pruned."""

    def __init__(self, levels: Levels, values: Floats, pruning: Pruning = "sound") -> None:
        order = np.argsort(values, kind="stable")
        self.levels, self.values, self.pruning = levels[order], values[order], pruning
        self.left = np.arange(len(order))
        self.failed = 0  # tests since the last success

    @classmethod
    def all_of(cls, kept: Sequence[Ints], worth: Sequence[Floats], pruning: Pruning = "sound") -> Strings:
        """Line 1: all combinations of the kept levels."""
        lattice = Lattice(tuple(map(len, kept)))
        levels = np.empty((lattice.size, len(kept)), dtype=np.int16)
        for j, (column, stride) in enumerate(zip(kept, lattice.strides, strict=True)):
            levels[:, j] = column[np.arange(lattice.size) // stride % len(column)]
        values: Floats = lattice.along([values[levels] for values, levels in zip(worth, kept, strict=True)])
        return cls(levels, values.round(12), pruning)

    @property
    def held(self) -> int:
        """Bytes of the list."""
        return self.levels.nbytes + self.values.nbytes + len(self.levels) * self.left.itemsize

    def middle(self) -> Ints:
        """Line 3: the string in the middle of those left; after a failure, in the middle of the lower half.

        Those of low value are general: where they fail, they take most others with them, and cost least.
        """
        halved = 0 if self.pruning == "paper" else min(self.failed, MOST_HALVED)
        return np.asarray(self.levels[self.left[len(self.left) >> halved + 1]], dtype=np.int64)

    def prune(self, tested: Ints, value: float, outcome: Outcome) -> None:
        """Lines 5 to 12: take out the string tested and all that it decides.

        A success decides those of lower value (line 6) and the more general ones (line 7); of these,
        sound pruning spares those of higher value: where generality does not lower the value, they may
        be better. A failure decides the more specific ones (line 10), where the criteria allow it.
        """
        self.failed = 0 if outcome.holds else self.failed + 1
        levels, values = self.levels[self.left], self.values[self.left]
        if outcome.holds:
            general = every(levels >= tested)
            gone = (values < value) | (general & ((values <= value) | (self.pruning == "paper")))
        elif outcome.condemns or self.pruning == "paper":
            gone = every(levels <= tested)
        else:
            gone = every(levels == tested)
        self.left = self.left[~gone]


def every(column_by_column: Bools) -> Bools:
    """Where it is so in every column."""
    return np.asarray(column_by_column.all(axis=1))


@contextmanager
def interruptible(trial: Trial, clock: Clock) -> Iterator[None]:
    """Ctrl-C takes the best so far, where that is wanted and there is one."""
    try:
        yield
    except KeyboardInterrupt:
        if not clock.interruptible or not trial.successes:
            raise
        clock.interrupted = True


def globally(strings: Strings, trial: Trial, clock: Clock, watch: Watch | None = None) -> None:
    """Figure 4: test the middle of the list and prune, until the list is empty."""
    with interruptible(trial, clock):
        while len(strings.left) and not clock.over:
            tested = strings.middle()
            strings.prune(tested, trial.value(tested), trial.test(tested))
            tell(trial, len(strings.left), watch)


def locally(kept: Sequence[Ints], trial: Trial, clock: Clock, strings: Strings | None = None) -> None:
    """Figure 5: one triple of pointers a column over its levels from general to specific.

    All columns move together, towards the specific after a success and the general after a failure;
    a column stops when its middle stays. Given a list, what each test decides is taken out of it.
    """
    low = np.zeros(len(kept), dtype=np.int64)
    high = np.array([len(levels) for levels in kept])
    middle = (high + low) // 2
    moving = True
    with interruptible(trial, clock):
        while moving and not clock.over:
            tested = np.array([levels[::-1][at] for levels, at in zip(kept, middle, strict=True)])
            outcome = trial.test(tested)
            if strings is not None:
                strings.prune(tested, trial.value(tested), outcome)
            low, high = (middle, high) if outcome.holds else (low, middle)
            before, middle = middle, (high + low) // 2
            moving = bool((middle != before).any())


def tell(trial: Trial, left: int, watch: Watch | None) -> None:
    """Say how a search stands, now and then."""
    if watch and trial.counted % EVERY == 0:
        watch(Progress(trial.counted, left, np.inf, np.inf))
