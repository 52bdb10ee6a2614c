"""A few records that joined a large class leave most of it as it was: that many are taken out again."""

from __future__ import annotations

import numpy as np

from sfumato.classes import Bools, Ints
from sfumato.local.grid import state_of
from sfumato.local.kernels import joins, renew
from sfumato.local.search import Search

ROUNDS = 20  # one combination of every class in each


def peel(search: Search) -> int:
    """Take records of one combination out of classes that keep enough without them; how many new classes.

    None of them has fewer records than a class needs.
    """
    made = 0
    for _ in range(ROUNDS):
        new = _round(search)
        made += new
        if not new:
            break
    return made


def _round(search: Search) -> int:
    """Out of every class the records of its most frequent combination, where that costs less."""
    state, grid = search.state, search.grid
    large = (state.size >= 2 * search.least) & (state.weight > 0)
    items = np.flatnonzero(large[state.class_of])
    if not len(items):
        return 0
    items = items[np.lexsort((-state.counts[items], state.tuple_of[items], state.class_of[items]))]
    out = _taken(items, search)
    open_classes = np.unique(state.class_of[items[out]])
    inside = np.isin(state.class_of[items], open_classes)
    items, out = items[inside], out[inside]
    if not len(items):
        return 0
    class_of = 2 * np.searchsorted(open_classes, state.class_of[items]) + out
    n = 2 * len(open_classes)
    fresh = state_of(n, state.label.shape[1], class_of, state.tuple_of[items], state.counts[items],
                     state.values[items])
    joins.gather(grid, fresh)
    bad = search.bad(items, fresh, n) if search.judge.sensitive else np.zeros(n, dtype=bool)
    kept = renew.better(state, items, fresh, n, bad)
    if kept.any():
        renew.replace(grid, state, items, fresh, kept, np.flatnonzero(state.head < 0))
    return int(kept.sum()) // 2


def _taken(items: Ints, search: Search) -> Bools:
    """Which items leave; they stand by class and combination, those of most records first."""
    state, counts = search.state, search.state.counts[items]
    first = np.flatnonzero((np.diff(state.class_of[items], prepend=-1) != 0)
                           | (np.diff(state.tuple_of[items], prepend=-1) != 0))
    group = np.cumsum(np.isin(np.arange(len(items)), first)) - 1
    owner, total = state.class_of[items[first]], np.add.reduceat(counts, first)
    spared = np.minimum(total, state.size[owner] - search.least)
    before = np.cumsum(counts) - counts
    fits = before - before[first][group] + counts <= spared[group]
    leaving = np.bincount(group, weights=counts * fits, minlength=len(first)).astype(np.int64)
    best = np.zeros(len(first), dtype=bool)
    order = np.lexsort((-leaving, owner))
    best[order[np.flatnonzero(np.diff(owner[order], prepend=-1))]] = True
    best &= (leaving >= search.least) & (leaving < state.size[owner])
    return np.asarray(fits & best[group])
