"""Some classes made anew: what of the new ones is kept, component by component."""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.local.kernels.joins import begin, link, stretch


@nb.njit(cache=True, boundscheck=False, nogil=True)
def leader(above, x):
    """The representative of x in a forest of unions."""
    while above[x] != x:
        above[x] = above[above[x]]
        x = above[x]
    return x


@nb.njit(cache=True, boundscheck=False, nogil=True)
def better(state, items, fresh, n_fresh, bad):
    """Per new class whether it is kept: it and all that shares records with it cost less than the old."""
    n_old = len(state.size)
    above = np.arange(n_fresh + n_old)
    for a in range(len(items)):
        one = leader(above, fresh.class_of[a])
        other = leader(above, n_fresh + state.class_of[items[a]])
        if one != other:
            above[max(one, other)] = min(one, other)
    gain, spoilt = np.zeros(n_fresh + n_old, dtype=np.int64), np.zeros(n_fresh + n_old, dtype=np.bool_)
    for c in range(n_fresh):
        top = leader(above, c)
        gain[top] -= fresh.size[c] * fresh.weight[c]
        spoilt[top] |= bad[c]
    for a in range(len(items)):
        c = state.class_of[items[a]]
        gain[leader(above, n_fresh + c)] += state.counts[items[a]] * state.weight[c]
    kept = np.zeros(n_fresh, dtype=np.bool_)
    for c in range(n_fresh):
        top = leader(above, c)
        kept[c] = gain[top] > 0 and not spoilt[top]
    return kept


@nb.njit(cache=True, boundscheck=False, nogil=True)
def replace(grid, state, items, fresh, kept, spare):
    """Put the kept new classes in the place of the old; `spare` are numbers without members."""
    numbers, used, named = np.full(len(kept), -1, dtype=np.int64), 0, 0
    old = np.empty(len(items), dtype=np.int64)
    for a in range(len(items)):
        if kept[fresh.class_of[a]]:
            c = state.class_of[items[a]]
            if state.head[c] >= 0:
                state.head[c], state.size[c], state.weight[c] = -1, 0, 0
                old[used] = c
                used += 1
    for a in range(len(items)):
        f = fresh.class_of[a]
        if not kept[f]:
            continue
        i, t = items[a], state.tuple_of[items[a]]
        if numbers[f] < 0:
            numbers[f] = old[named] if named < used else spare[named - used]
            named += 1
            begin(grid, state, numbers[f], t)
        link(state, numbers[f], i)
        stretch(grid, state, numbers[f], t)
