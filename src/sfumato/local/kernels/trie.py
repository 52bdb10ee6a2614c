"""An index over the labels of classes: which class takes a record for the least.

A trie with a column a level, those with the dearest mismatches first. What a record adds to a class grows
from level to level, so whole branches are passed over as soon as they cost more than the best so far.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.local.kernels.joins import joined, weigh


@nb.njit(cache=True, boundscheck=False, nogil=True)
def add(grid, trie, state, c):
    """Enter class c under its label; False if the index is full."""
    q = len(trie.order)
    if trie.used[0] + q >= len(trie.child):
        return False
    at, ahead = 0, state.weight[c]
    for depth in range(q):
        label = state.label[c, trie.order[depth]]
        ahead -= weigh(grid, trie.order[depth], label)
        below = trie.child[at]
        while below >= 0 and trie.label[below] != label:
            below = trie.sibling[below]
        if below < 0:
            below = trie.used[0]
            trie.used[0] += 1
            trie.label[below], trie.parent[below] = label, at
            trie.child[below], trie.live[below], trie.floor[below] = -1, 0, ahead
            trie.sibling[below], trie.child[at] = trie.child[at], below
        at = below
        trie.live[at] += 1
        trie.floor[at] = min(trie.floor[at], ahead)
    trie.place[c] = at
    trie.next[c], trie.previous[c] = trie.child[at], -1
    if trie.child[at] >= 0:
        trie.previous[trie.child[at]] = c
    trie.child[at] = c
    return True


@nb.njit(cache=True, boundscheck=False, nogil=True)
def remove(trie, c):
    """Take class c out."""
    at = trie.place[c]
    if trie.previous[c] >= 0:
        trie.next[trie.previous[c]] = trie.next[c]
    else:
        trie.child[at] = trie.next[c]
    if trie.next[c] >= 0:
        trie.previous[trie.next[c]] = trie.previous[c]
    trie.place[c] = -1
    while at > 0:
        trie.live[at] -= 1
        at = trie.parent[at]


@nb.njit(cache=True, boundscheck=False, nogil=True)
def fill(grid, trie, state, entered):
    """Enter classes, from the start."""
    trie.used[0] = 1
    trie.child[0], trie.parent[0], trie.sibling[0] = -1, -1, -1
    for c in range(len(state.size)):
        trie.place[c] = -1
        if entered[c]:
            add(grid, trie, state, c)


@nb.njit(cache=True, boundscheck=False, nogil=True)
def enter(grid, trie, state, c):
    """Enter class c, making room where there is none."""
    if not add(grid, trie, state, c):
        entered = trie.place >= 0
        entered[c] = True
        fill(grid, trie, state, entered)


@nb.njit(cache=True, boundscheck=False, nogil=True)
def nearest(grid, state, trie, t, count, least, without, limit):
    """The class that takes `count` records of tuple t for less than `limit` and least: cost, class or -1."""
    q = len(trie.order)
    at = np.empty(q, dtype=np.int64)
    paid, own = np.zeros(q + 1, dtype=np.int64), np.zeros(q + 1, dtype=np.int64)
    best, found, depth = limit, -1, 0
    at[0] = trie.child[0]
    while depth >= 0:
        here = at[depth]
        if here < 0:
            depth -= 1
            if depth >= 0:
                at[depth] = trie.sibling[at[depth]]
            continue
        at[depth] = trie.sibling[here]
        if not trie.live[here]:
            continue
        j = trie.order[depth]
        label = trie.label[here]
        before = weigh(grid, j, label)
        after = weigh(grid, j, joined(grid, j, label, grid.places[t, j]))
        paid[depth + 1] = paid[depth] + after
        own[depth + 1] = own[depth] + before
        new, old = paid[depth + 1], own[depth + 1]
        if count * (new + trie.floor[here]) + least * (new - old) >= best:
            continue
        if depth < q - 1:
            at[depth] = here
            depth += 1
            at[depth] = trie.child[here]
            continue
        c = trie.child[here]
        while c >= 0:
            if c != without:
                cost = count * new + state.size[c] * (new - old)
                if cost < best:
                    best, found = cost, c
            c = trie.next[c]
    return best, found
