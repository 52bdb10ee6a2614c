"""Distributed search: subsets of columns whose strings fit in memory, solved in processes of their own.

Morton, Mahoui, Gibson & Yechuri, section 5.3.5. A string on some columns is a string on all of them with the
others at the root, so one that fails fails in every combination (the subset property).

1. Split the columns, in their order, into subsets of at most so many strings.
2. Of each subset find *all* strings that hold; what one test decides of others is not tested.
3. Combine the subsets' successes and test the combinations as global search does (`strings.combined`).

Where all combinations fit, the answer is that of global search. The paper keeps the successes of a global
search of each subset, which are the most specific; of many subsets no combination of these holds.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod

import numpy as np

from sfumato.classes import Ints
from sfumato.criteria.base import Criterion
from sfumato.errors import RequestError
from sfumato.frequency import FrequencySet, distinct, merge
from sfumato.lattice import Lattice
from sfumato.search import Clock, Limits, Progress, Watch
from sfumato.strings.listed import Levels
from sfumato.strings.trial import Trial

WAVE = 128  # strings tested before what they decide is closed
SMALL = 1e8  # tuples x strings of all subsets below which processes cost more than they save
CHILD = "import sys; sys.path[:] = {path!r}; from sfumato.strings.worker import main; main()"


@dataclass(frozen=True)
class Job:
    """One subset of the columns."""

    columns: tuple[int, ...]
    frequency: FrequencySet  # of these columns alone
    criteria: tuple[Criterion, ...]
    limits: Limits
    kept: tuple[Ints, ...]
    seconds: float | None


@dataclass(frozen=True)
class Solved:
    """What a subset's search found."""

    levels: Levels  # every string that holds, a row each
    counted: int  # frequency sets
    held: int  # bytes of its tables
    complete: bool  # no string was left open


def split(kept: Sequence[Ints], fits: int) -> list[tuple[int, ...]]:
    """Step 1: the columns in their order, as many in a subset as fit."""
    subsets: list[list[int]] = [[]]
    for j, levels in enumerate(kept):
        if subsets[-1] and prod(len(kept[i]) for i in subsets[-1]) * len(levels) > fits:
            subsets.append([])
        subsets[-1].append(j)
    return [tuple(subset) for subset in subsets]


def job(trial: Trial, columns: tuple[int, ...], kept: Sequence[Ints], seconds: float | None) -> Job:
    """A subset's own table."""
    whole = trial.frequency
    codes = whole.codes[:, columns]
    tuple_of, first = distinct(codes, [whole.hierarchies[j].n_values for j in columns])
    counts = np.bincount(tuple_of, weights=whole.counts).astype(np.int64)
    sensitive = {name: merge(histogram, tuple_of) for name, histogram in whole.sensitive.items()}
    part = FrequencySet(tuple(whole.hierarchies[j] for j in columns), codes[first], counts, sensitive)
    return Job(columns, part, tuple(trial.criteria), trial.limits, tuple(kept[j] for j in columns), seconds)


def solve(one: Job) -> Solved:
    """Step 2: every string of a subset that holds.

    Strings of middle height are tested first: what holds closes all above, what fails all below.
    """
    clock = Clock(one.seconds)
    trial = Trial(one.frequency, one.criteria, one.limits, [np.zeros(h.n_levels) for h in
                                                            one.frequency.hierarchies])
    lattice = Lattice(tuple(map(len, one.kept)))
    places = lattice.levels(np.arange(lattice.size))
    levels = np.stack([kept[places[:, j]] for j, kept in enumerate(one.kept)], axis=1)
    holds, fails = np.zeros(lattice.size, dtype=bool), np.zeros(lattice.size, dtype=bool)
    counted = 0
    while len(left := np.flatnonzero(~holds & ~fails)) and not clock.over:
        heights = lattice.heights[left]
        left = left[heights == np.quantile(heights, 0.5, method="nearest")]
        tested = left[np.linspace(0, len(left) - 1, min(WAVE, len(left))).astype(np.int64)]
        good = trial.engine.evaluate(levels[tested]).suppressed <= one.limits.affordable
        holds[tested], fails[tested] = good, ~good
        holds, fails = lattice.spread_up(holds), lattice.spread_down(fails)
        counted += len(tested)
    held = levels.nbytes + places.nbytes + holds.nbytes + fails.nbytes
    return Solved(levels[holds].astype(np.int16), counted, held, bool((holds | fails).all()))


def solve_all(jobs: Sequence[Job], processes: int, watch: Watch | None = None) -> list[Solved]:
    """Every subset, several at a time where that pays."""
    work = sum(float(one.frequency.n_tuples) * prod(map(len, one.kept)) for one in jobs)
    if processes == 1 or len(jobs) == 1 or work < SMALL:
        return collected(map(solve, jobs), jobs, watch)
    with ThreadPoolExecutor(processes) as pool:  # each thread waits for one process
        return collected(pool.map(elsewhere, jobs), jobs, watch)


def collected(found: Iterable[Solved], jobs: Sequence[Job], watch: Watch | None) -> list[Solved]:
    """The subsets' answers, each told of when it is there: strings done and left."""
    answers, done, left = [], 0, [prod(map(len, one.kept)) for one in jobs]
    for answer in found:
        answers.append(answer)
        done += left.pop(0)
        if watch:
            watch(Progress(done, sum(left), np.inf, np.inf))
    return answers


def elsewhere(one: Job) -> Solved:
    """A subset solved by a process of its own; the table goes there and back through pipes alone."""
    program = [sys.executable, "-c", CHILD.format(path=sys.path)]
    done = subprocess.run(program, input=pickle.dumps(one), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode:
        names = ", ".join(one.frequency.quasi)
        raise RequestError(f"The process that searched the columns {names} ended with code "
                           f"{done.returncode}.", "Say processes: 1, or let fewer strings fit: fits: 1000.")
    found = pickle.loads(done.stdout)
    assert isinstance(found, Solved)
    return found
