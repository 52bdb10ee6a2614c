"""Cut a table in two, and its parts again, as long as both sides keep what is promised.

All open parts are cut at once, round by round: a kernel proposes the next cut of each, the criteria judge all
sides together, and what they refuse is proposed otherwise in the next round.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.classes import Bools, ClassStats, Floats, Histogram, Ints
from sfumato.clusters.axes import Axis, places
from sfumato.clusters.labels import Elements
from sfumato.criteria.base import Criterion
from sfumato.frequency import FrequencySet
from sfumato.search import Clock, Progress, Watch

SMALL = 1500  # elements for which loading a compiler does not pay


@dataclass(frozen=True)
class Lines:
    """The axes as the kernels read them: levels of nodes, one after the other, and penalties beside."""

    nodes: Ints
    first_node: Ints  # per column: where its levels begin
    heights: Ints  # per column: how many levels
    penalties: Floats  # as `nodes`: of the label above; negative where it is a range
    gaps: Ints  # per column: how many values

    @classmethod
    def of(cls, axes: Sequence[Axis]) -> Lines:
        """Flatten the axes."""
        flat = [axis.nodes.ravel() for axis in axes]
        return cls(np.concatenate(flat).astype(np.int64),
                   np.cumsum([0, *(len(one) for one in flat[:-1])]).astype(np.int64),
                   np.array([len(axis.nodes) for axis in axes]),
                   np.concatenate([_penalties(axis).ravel() for axis in axes]),
                   np.array([axis.n_values for axis in axes]))


def _penalties(axis: Axis) -> Floats:
    """[level, place]: the certainty penalty of the node, -1 where the label is the range itself."""
    if axis.style == "node":
        return np.stack([axis.hierarchy.ncp(level)[nodes] for level, nodes in enumerate(axis.nodes)])
    penalties = np.full(axis.nodes.shape, -1.0)
    penalties[0] = 0.0
    if axis.missing >= 0:
        penalties[-1] = 1.0
        penalties[1, axis.missing] = 0.0
    return penalties


def elements(frequency: FrequencySet, criteria: Sequence[Criterion], parted: bool,
             rng: np.random.Generator) -> Elements:
    """The tuples; or, where sensitive values matter or tuples may be parted, their cells."""
    nowhere = np.zeros(0, dtype=np.int64)
    if not parted and not any(criterion.columns for criterion in criteria):
        return Elements(np.arange(frequency.n_tuples), frequency.counts, nowhere)
    cells = frequency.cells
    order = rng.permutation(len(cells.counts)) if parted else np.arange(len(cells.counts))
    return Elements(cells.tuple_of[order], cells.counts[order], nowhere, order)


@dataclass(frozen=True)
class Judge:
    """The criteria, and the sensitive values that they read."""

    frequency: FrequencySet
    criteria: Sequence[Criterion]

    @property
    def sensitive(self) -> bool:
        """Whether a criterion reads sensitive values."""
        return any(criterion.columns for criterion in self.criteria)

    def holds(self, pieces: Elements, n_classes: int) -> Bools:
        """Which classes of the pieces satisfy every criterion."""
        return self.good(self.stats(pieces, n_classes))

    def good(self, stats: ClassStats) -> Bools:
        """Which classes satisfy every criterion."""
        return np.asarray(np.logical_and.reduce([criterion.holds(stats) for criterion in self.criteria]))

    def stats(self, pieces: Elements, n_classes: int) -> ClassStats:
        """What the criteria see of the classes of the pieces."""
        sizes = np.bincount(pieces.class_of, weights=pieces.counts, minlength=n_classes).astype(np.int64)
        wanted = {column for criterion in self.criteria for column in criterion.columns}
        histograms = {name: self._histogram(pieces, n, histogram) for n, (name, histogram)
                      in enumerate(self.frequency.sensitive.items()) if name in wanted}
        return ClassStats(sizes, histograms)

    def _histogram(self, pieces: Elements, column: int, like: Histogram) -> Histogram:
        values = self.frequency.cells.values[pieces.cell_of, column]
        keys = pieces.class_of * len(like.labels) + values
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        found = keys[order][starts]
        counts = np.add.reduceat(pieces.counts[order], starts)
        return Histogram(found // len(like.labels), found % len(like.labels), counts, like.labels, like.whole)


class Cutting:
    """The table, cut round by round."""

    def __init__(self, frequency: FrequencySet, axes: Sequence[Axis], judge: Judge, pieces: Elements,
                 weights: Floats, relaxed: bool) -> None:
        self.judge, self.weights, self.relaxed = judge, weights, relaxed
        self.least = max(criterion.least for criterion in judge.criteria)
        self.lines, self.of_tuple = Lines.of(axes), places(axes, frequency)
        self.pieces = replace(pieces, class_of=np.zeros(len(pieces.counts), dtype=np.int64))
        self.places = np.ascontiguousarray(self.of_tuple[pieces.tuple_of])
        self.work = workers(len(pieces.counts))
        self.tried = np.zeros(1, dtype=np.int64)  # per part
        self.closed = np.zeros(1, dtype=bool)

    def run(self, clock: Clock, watch: Watch | None) -> Elements:
        """Cut until nothing can be cut, or time is up: the parts are good at any time."""
        try:
            while not self.closed.all() and not clock.over:
                self._round()
                if watch:
                    watch(Progress(int(self.closed.sum()), int((~self.closed).sum()), np.inf, 0.0))
        except KeyboardInterrupt:
            if not clock.interruptible:
                raise
            clock.interrupted = True
        return self.pieces

    def _round(self) -> None:
        """Propose a cut for every open part; make those whose sides the criteria take."""
        parts = np.flatnonzero(~self.closed)
        order, starts = self._members(parts)
        columns, cuts, shares, tried = self._propose(order, starts, self.tried[parts])
        self.tried[parts], proposed = tried, columns >= 0
        self.closed[parts[~proposed]] = True
        if not proposed.any():
            return
        parts, columns, cuts, shares = parts[proposed], columns[proposed], cuts[proposed], shares[proposed]
        sizes = np.diff(starts)
        order, part_of = order[np.repeat(proposed, sizes)], np.repeat(np.arange(len(parts)), sizes[proposed])
        right, left_share = self._sides(order, part_of, columns, cuts, shares)
        sides = self._with_sides(order, part_of, right, left_share)
        held = self.judge.holds(sides, 2 * len(parts))
        good = held[::2] & held[1::2]
        if good.any():
            self._accept(parts, good, order, part_of, right, left_share)

    def _members(self, parts: Ints) -> tuple[Ints, Ints]:
        """The elements of the parts, part by part, and where each begins."""
        rank = np.full(len(self.closed), -1, dtype=np.int64)
        rank[parts] = np.arange(len(parts))
        found: tuple[Ints, Ints] = self.work.grouped(rank[self.pieces.class_of], len(parts))
        return found

    def _propose(self, order: Ints, starts: Ints, tried: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        found = [np.zeros(len(starts) - 1, dtype=np.int64) for _ in range(3)]
        lines = self.lines
        self.work.propose(order, starts, self.places, self.pieces.counts, lines.nodes, lines.first_node,
                          lines.heights, lines.penalties, lines.gaps, self.weights, self.least,
                          int(self.relaxed), tried, *found)
        return found[0], found[1], found[2], tried

    def _sides(self, order: Ints, part_of: Ints, columns: Ints, cuts: Ints,
               shares: Ints) -> tuple[Bools, Ints]:
        """Per member: whether it goes to the right, and how many of its records go left all the same."""
        place = self.places[order, columns[part_of]]
        right = place > cuts[part_of]
        left_share = np.zeros(len(order), dtype=np.int64)
        tied = np.flatnonzero((place == cuts[part_of]) & (shares > 0)[part_of])
        counts = self.pieces.counts[order[tied]]
        before = np.cumsum(counts) - counts
        first = np.searchsorted(part_of[tied], part_of[tied])
        room = shares[part_of[tied]] - (before - before[first])  # left for it on the left side
        right[tied] = room < counts
        left_share[tied] = np.where(room < counts, np.maximum(room, 0), 0)
        return right, left_share

    def _with_sides(self, order: Ints, part_of: Ints, right: Bools, left_share: Ints) -> Elements:
        """The members with part and side as their class, the parted ones twice."""
        twice = np.flatnonzero(left_share)
        class_of = np.concatenate([2 * part_of + right, 2 * part_of[twice]])
        counts = np.concatenate([self.pieces.counts[order] - left_share, left_share[twice]])
        chosen = np.concatenate([order, order[twice]])
        cells = None if self.pieces.cell_of is None else self.pieces.cell_of[chosen]
        return Elements(self.pieces.tuple_of[chosen], counts, class_of, cells)

    def _accept(self, parts: Ints, good: Bools, order: Ints, part_of: Ints, right: Bools,
                left_share: Ints) -> None:
        """Number the right sides of the accepted cuts as new parts."""
        fresh = np.full(len(parts), -1, dtype=np.int64)
        fresh[good] = len(self.closed) + np.arange(int(good.sum()))
        moved = right & good[part_of]
        pieces = self.pieces
        class_of, counts = pieces.class_of.copy(), pieces.counts.copy()
        class_of[order[moved]] = fresh[part_of[moved]]
        twice = np.flatnonzero(moved & (left_share > 0))
        if len(twice):
            source = order[twice]
            counts[source] -= left_share[twice]
            counts = np.concatenate([counts, left_share[twice]])
            class_of = np.concatenate([class_of, parts[part_of[twice]]])
            assert pieces.cell_of is not None
            pieces = Elements(np.concatenate([pieces.tuple_of, pieces.tuple_of[source]]), counts, class_of,
                              np.concatenate([pieces.cell_of, pieces.cell_of[source]]))
            self.places = np.concatenate([self.places, self.places[source]])
        self.pieces = replace(pieces, class_of=class_of, counts=counts)
        self.tried[parts[good]] = 0
        self.tried = np.concatenate([self.tried, np.zeros(int(good.sum()), dtype=np.int64)])
        self.closed = np.concatenate([self.closed, np.zeros(int(good.sum()), dtype=bool)])


def workers(n_elements: int) -> Any:
    """Who does the work: the kernels, where it pays to load them, or their plain twins."""
    if compiled_pays(n_elements):
        from sfumato.clusters import kernels

        return kernels
    from sfumato.clusters import plain

    return plain


def compiled_pays(n_elements: int) -> bool:
    """Whether it pays to load the compiler, or it is there already."""
    return n_elements >= SMALL or "numba" in sys.modules
