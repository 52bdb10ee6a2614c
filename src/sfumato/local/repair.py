"""Classes that break a criterion join others until all hold, whatever the criterion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.classes import Bools, ClassStats, Floats, Histogram, Ints
from sfumato.clusters.cuts import Judge
from sfumato.criteria.base import Criterion
from sfumato.local.grid import state_of, trie_of
from sfumato.local.kernels import diversify as kernel
from sfumato.local.kernels import trie
from sfumato.local.kernels.merge import merge, partners
from sfumato.local.search import Search

TRIED = 12  # others that a class may join, in a round


def diversify(search: Search) -> None:
    """Give every class the different values that it needs, the cheapest classes first."""
    if not len(search.needed):
        return
    state, grid = search.state, search.grid
    n, q = grid.places.shape
    tuples, leaves = trie_of(n, search.order), grid.places.astype(np.int64)
    leaves = np.where(grid.ranged, leaves * grid.gaps + leaves, leaves)
    alone = state_of(n, q, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), state.values)
    alone.label[:] = leaves
    trie.fill(grid, tuples, alone, np.ones(n, dtype=bool))
    items = np.argsort(state.tuple_of, kind="stable")
    first = np.searchsorted(state.tuple_of[items], np.arange(n + 1))
    order = np.argsort(state.weight, kind="stable")
    kernel.diversify(grid, state, search.trie, tuples, first, items, order, search.least, search.needed)


def mend(search: Search) -> int:
    """Merge failing classes, each with the cheapest that makes it hold, round by round; how many merged.

    It ends: every criterion holds in one class of all records, and every round merges two at least.
    """
    done = 0
    while True:
        stats = stats_of(search)
        failing = np.flatnonzero((search.state.head >= 0) & ~holding(search.judge, stats, search.state.size))
        if not len(failing):
            return done
        done += _round(search, stats, failing)


def stats_of(search: Search) -> ClassStats:
    """The classes as the criteria see them; those without members have size 0."""
    return search.judge.stats(search.found(), len(search.state.size))


def holding(judge: Judge, stats: ClassStats, sizes: Ints) -> Bools:
    """Which classes satisfy every criterion, asked of those with members only."""
    alive = np.flatnonzero(sizes)
    good = np.ones(len(sizes), dtype=bool)
    good[alive] = judge.good(together(stats, [alive]))
    return good


def _round(search: Search, stats: ClassStats, failing: Ints) -> int:
    """Merge disjoint pairs, the cheapest first."""
    state = search.state
    found = np.empty((len(failing), TRIED), dtype=np.int64)
    costs = np.empty_like(found)
    partners(search.grid, state, search.trie, failing, search.least, found, costs)
    row, column = np.nonzero(found >= 0)
    one, other, cost = failing[row], found[row, column], costs[row, column]
    unions = together(stats, [one, other])
    good = search.judge.good(unions)
    off = excess(search.judge.criteria, unions)
    order = np.lexsort((other, cost, np.where(good, 0.0, off), row))  # those that hold first, by cost
    best = order[np.flatnonzero(np.diff(row[order], prepend=-1))]
    taken, merged = np.zeros(len(state.size), dtype=bool), 0
    for at in best[np.lexsort((one[best], cost[best]))]:
        a, b = int(one[at]), int(other[at])
        if not taken[a] and not taken[b]:
            taken[[a, b]] = True
            merge(search.grid, state, search.trie, a, b)
            merged += 1
    return merged


def excess(criteria: Sequence[Criterion], stats: ClassStats) -> Floats:
    """Per class: how far it is from holding, relative to the thresholds."""
    worst = np.zeros(stats.n_classes)
    for criterion in criteria:
        measured = np.nan_to_num(criterion.measure(stats), posinf=1e9)
        off = criterion.threshold - measured if criterion.higher_is_better else measured - criterion.threshold
        worst = np.maximum(worst, off / max(abs(criterion.threshold), 1e-9))
    return worst


def together(stats: ClassStats, parts: list[Ints]) -> ClassStats:
    """Row n of the answer: the union of the n-th class of every part."""
    sizes = np.sum([stats.sizes[part] for part in parts], axis=0)
    joined = {name: _joined(histogram, parts, stats.n_classes) for name, histogram in stats.sensitive.items()}
    return ClassStats(sizes, joined)


def _joined(histogram: Histogram, parts: list[Ints], n_classes: int) -> Histogram:
    starts = np.searchsorted(histogram.classes, np.arange(n_classes + 1))
    picked, owners = [], []
    for part in parts:
        lengths = starts[part + 1] - starts[part]
        shift = np.repeat(starts[part] - (np.cumsum(lengths) - lengths), lengths)
        picked.append(shift + np.arange(int(lengths.sum())))
        owners.append(np.repeat(np.arange(len(part)), lengths))
    return tallied(np.concatenate(owners), histogram.values[np.concatenate(picked)],
                   histogram.counts[np.concatenate(picked)], histogram)


def tallied(owners: Ints, values: Ints, counts: Ints, like: Histogram) -> Histogram:
    """Triples in any order, with repetitions, as a histogram; what adds up to nothing is left out."""
    keys = owners * len(like.labels) + values
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    total, named = np.add.reduceat(counts[order], first), keys[order][first]
    named, total = named[total > 0], total[total > 0]
    return Histogram(named // len(like.labels), named % len(like.labels), total, like.labels, like.whole)

