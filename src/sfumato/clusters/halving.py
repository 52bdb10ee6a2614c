"""Groups cut in two around two members that are far apart, as long as both sides keep the promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.clusters.boxes import Labels
from sfumato.clusters.cuts import Judge, compiled_pays, workers
from sfumato.clusters.labels import Elements
from sfumato.hierarchy.core import Codes
from sfumato.search import Clock

TRIES = 3  # pairs of seeds that are tried before a group is left as it is


@dataclass(frozen=True)
class Halving:
    """What a cut in two takes."""

    labels: Labels
    judge: Judge
    least: int  # records that a side must have
    rounds: int = 3  # of the search for two seeds
    by_seed: bool = False  # members go to the nearer seed; else to the side that loses less with them

    def run(self, part: Elements, at: Codes, group_of: Ints, clock: Clock, rng: np.random.Generator) -> Ints:
        """Cut every group of at least twice the least, and its sides again; the groups at the end."""
        group_of = group_of.copy()
        tries = np.zeros(int(group_of.max()) + 1, dtype=np.int64)
        while not clock.over:
            sizes = np.bincount(group_of, weights=part.counts, minlength=len(tries))
            open_ones = np.flatnonzero((sizes >= 2 * self.least) & (tries < TRIES))
            if not len(open_ones):
                break
            accepted, moved = self._round(part, at, group_of, open_ones, len(tries), rng)
            tries[open_ones] += 1
            tries[open_ones[accepted]] = 0
            fresh = np.full(len(tries), -1, dtype=np.int64)
            fresh[open_ones[accepted]] = len(tries) + np.arange(int(accepted.sum()))
            group_of[moved] = np.where(fresh[group_of[moved]] >= 0, fresh[group_of[moved]], group_of[moved])
            tries = np.concatenate([tries, np.zeros(int(accepted.sum()), dtype=np.int64)])
        return group_of

    def _round(self, part: Elements, at: Codes, group_of: Ints, open_ones: Ints, n_groups: int,
               rng: np.random.Generator) -> tuple[Bools, Ints]:
        """Which of the open groups are cut well, and the elements of all that go to a second side."""
        rank = np.full(n_groups, -1, dtype=np.int64)
        rank[open_ones] = np.arange(len(open_ones))
        order, starts = workers(len(group_of)).grouped(rank[group_of], len(open_ones))
        sides = self._bisect(order, starts, at, part.counts, rng.random(len(open_ones)))
        group = rank[group_of[order]]
        sizes = np.bincount(2 * group + sides, weights=part.counts[order], minlength=2 * len(open_ones))
        enough = sizes >= self.least
        whole = enough[::2] & enough[1::2]
        accepted = np.zeros(len(open_ones), dtype=bool)
        if whole.any():
            mine = whole[group]
            number = np.cumsum(whole) - 1
            cells = None if part.cell_of is None else part.cell_of[order[mine]]
            halves = Elements(part.tuple_of[order[mine]], part.counts[order[mine]],
                              2 * number[group[mine]] + sides[mine], cells)
            held = self.judge.holds(halves, 2 * int(whole.sum()))
            accepted[whole] = held[::2] & held[1::2]
        return accepted, order[sides == 1]

    def _bisect(self, order: Ints, starts: Ints, at: Codes, counts: Ints, draws: Floats) -> Ints:
        sides = np.zeros(len(order), dtype=np.int64)
        said = order, starts, draws, self.rounds, self.by_seed, self.least, at, counts
        if compiled_pays(len(order)):
            from sfumato.clusters import half_kernels

            kernels: Any = half_kernels
            kernels.bisect(*said, self.labels.arrays, sides)
        else:
            from sfumato.clusters import plain_halves

            plain_halves.bisect(self.labels, *said, sides)
        return sides
