"""Groups that do not keep the promise are merged with others, or suppressed where that loses less.

Each group that fails looks at the groups that it is best merged with, by what all records of both lose more
than before. It takes the nearest with which it would keep the promise, or else the nearest. The cheapest
mergers are made first, each group in one of them at most; then the groups that still fail look again. Every
criterion is mergeable and the groups of a block keep it all together, so this ends. """

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.classes import Bools, ClassStats, Floats, Histogram, Ints
from sfumato.clusters.boxes import Boxes, Labels
from sfumato.clusters.cuts import Judge
from sfumato.clusters.labels import Elements
from sfumato.hierarchy.core import Codes
from sfumato.recoding import SUPPRESSED

PARTNERS = 8  # groups that a failing one looks at


def repaired(judge: Judge, labels: Labels, at: Codes, found: Elements, affordable: int) -> Elements:
    """Groups that all keep the promise; at most so many records are suppressed.

    What is left after a suppression may fail even as one group: then nothing is suppressed.
    """
    settled = _settled(judge, labels, at, found, affordable)
    if settled is None:
        settled = _settled(judge, labels, at, found, 0)
    if settled is None:
        raise ValueError("the groups do not even keep the promise all together")
    return settled


def _settled(judge: Judge, labels: Labels, at: Codes, found: Elements, affordable: int) -> Elements | None:
    group_of = np.unique(found.class_of, return_inverse=True)[1].astype(np.int64)
    while True:
        kept = np.flatnonzero(group_of != SUPPRESSED)
        n_groups = int(group_of.max()) + 1
        if not n_groups:
            return None
        pieces = _of(found, kept, group_of)
        stats = judge.stats(pieces, n_groups)
        failing = np.flatnonzero(~judge.good(stats))
        if not len(failing):
            return replace(found, class_of=group_of)
        if n_groups == 1:
            return None
        boxes = Boxes.of(labels, at[kept], pieces.counts, pieces.class_of, n_groups)
        partners, costs = boxes.closest(failing, min(PARTNERS, n_groups - 1))
        holding = _holding(judge, stats, failing, partners)
        affordable, target = _mergers(boxes, failing, partners, costs, holding, affordable)
        group_of[kept] = _renumbered(target)[group_of[kept]]


def _of(found: Elements, kept: Ints, group_of: Ints) -> Elements:
    cells = None if found.cell_of is None else found.cell_of[kept]
    return Elements(found.tuple_of[kept], found.counts[kept], group_of[kept], cells)


def _mergers(boxes: Boxes, failing: Ints, partners: Ints, costs: Floats, holding: Bools,
             affordable: int) -> tuple[int, Ints]:
    """What may still be suppressed, and per group the group that it becomes."""
    target = np.arange(boxes.n_groups)
    order = np.argsort(~holding, axis=1, kind="stable")  # those that make it good first
    partners = np.take_along_axis(partners, order, axis=1)
    costs = np.take_along_axis(costs, order, axis=1)
    whole = float(boxes.labels.weights.sum())
    given_up = boxes.sizes[failing] * (whole - boxes.alone[failing])
    taken = np.zeros(boxes.n_groups, dtype=bool)
    for r in np.argsort(costs[:, 0], kind="stable"):
        group = int(failing[r])
        if taken[group]:
            continue
        if given_up[r] < costs[r, 0] and boxes.sizes[group] <= affordable:
            affordable -= int(boxes.sizes[group])
            target[group], taken[group] = SUPPRESSED, True
            continue
        free = [p for p in partners[r] if p >= 0 and not taken[p]]
        if free:
            taken[group] = taken[free[0]] = True
            target[group] = free[0]
    return affordable, target


def _renumbered(target: Ints) -> Ints:
    """The targets numbered from 0 on; suppressed ones stay so."""
    kept = target != SUPPRESSED
    numbers = np.full(len(target), SUPPRESSED, dtype=np.int64)
    numbers[kept] = np.unique(target[kept], return_inverse=True)[1]
    return numbers


def _holding(judge: Judge, stats: ClassStats, failing: Ints, partners: Ints) -> Bools:
    """[failing, partner]: whether both together keep the promise."""
    one = np.repeat(failing, partners.shape[1])
    other = partners.ravel()
    real = other >= 0
    held = np.zeros(len(one), dtype=bool)
    held[real] = judge.good(together(stats, one[real], other[real]))
    return held.reshape(partners.shape)


def together(stats: ClassStats, one: Ints, other: Ints) -> ClassStats:
    """The statistics of the unions of pairs of classes."""
    merged = {name: _added(histogram, stats.n_classes, one, other)
              for name, histogram in stats.sensitive.items()}
    return ClassStats(stats.sizes[one] + stats.sizes[other], merged)


def _added(histogram: Histogram, n_classes: int, one: Ints, other: Ints) -> Histogram:
    starts = np.searchsorted(histogram.classes, np.arange(n_classes + 1))
    asked, union = np.concatenate([one, other]), np.tile(np.arange(len(one)), 2)
    lengths = starts[asked + 1] - starts[asked]
    first = np.repeat(starts[asked] - np.cumsum(lengths) + lengths, lengths)
    rows = first + np.arange(int(lengths.sum()))
    width = len(histogram.labels)
    keys, position = np.unique(np.repeat(union, lengths) * width + histogram.values[rows],
                               return_inverse=True)
    counts = np.bincount(position, weights=histogram.counts[rows], minlength=len(keys)).astype(np.int64)
    return Histogram(keys // width, keys % width, counts, histogram.labels, histogram.whole)
