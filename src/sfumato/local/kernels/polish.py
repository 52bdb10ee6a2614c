"""The polish: a class is dissolved into others, or a record moves, where that costs less."""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.local.kernels.joins import joined, leaf, link, merged, stretch, unlink, weigh
from sfumato.local.kernels.trie import enter, nearest, remove


@nb.njit(cache=True, boundscheck=False, nogil=True)
def dissolve(grid, state, trie, order, least):
    """Each class of `order`: its records go where they cost least, if that is less than the class costs.

    How many classes are gone.
    """
    q = grid.places.shape[1]
    gone = 0
    for c in order:
        if state.head[c] < 0 or state.weight[c] == 0:
            continue
        budget = state.size[c] * state.weight[c]
        n = 0
        i = state.head[c]
        while i >= 0:
            n += 1
            i = state.after[i]
        items, takers = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        labels, weights = np.empty((n, q), dtype=np.int64), np.empty(n, dtype=np.int64)
        remove(trie, c)
        done, i = 0, state.head[c]
        while i >= 0:
            items[done] = i
            t, count = state.tuple_of[i], state.counts[i]
            cost, taker = nearest(grid, state, trie, t, count, least, c, budget)
            if taker < 0:
                break
            budget -= cost
            takers[done], weights[done] = taker, state.weight[taker]
            labels[done] = state.label[taker]
            if stretch(grid, state, taker, t):
                remove(trie, taker)
                enter(grid, trie, state, taker)
            state.size[taker] += count
            done += 1
            i = state.after[i]
        if done == n:
            for a in range(n):
                state.size[takers[a]] -= state.counts[items[a]]
                unlink(state, c, items[a])
                link(state, takers[a], items[a])
            gone += 1
            continue
        for a in range(done - 1, -1, -1):
            taker = takers[a]
            state.size[taker] -= state.counts[items[a]]
            if (state.label[taker] != labels[a]).any():
                remove(trie, taker)
                state.label[taker] = labels[a]
                state.weight[taker] = weights[a]
                enter(grid, trie, state, taker)
        enter(grid, trie, state, c)
    return gone


@nb.njit(cache=True, boundscheck=False, nogil=True)
def members(state, c):
    """The items of class c."""
    n, i = 0, state.head[c]
    while i >= 0:
        n += 1
        i = state.after[i]
    found = np.empty(n, dtype=np.int64)
    n, i = 0, state.head[c]
    while i >= 0:
        found[n] = i
        n += 1
        i = state.after[i]
    return found


@nb.njit(cache=True, boundscheck=False, nogil=True)
def suffixes(grid, state, items):
    """Per item the label of all that stand after it; after the last there is none."""
    q = grid.places.shape[1]
    label = np.full((len(items), q), -1, dtype=np.int64)
    for a in range(len(items) - 2, -1, -1):
        t = state.tuple_of[items[a + 1]]
        for j in range(q):
            p, further = grid.places[t, j], label[a + 1, j]
            label[a, j] = leaf(grid, j, p) if further < 0 else joined(grid, j, further, p)
    return label


@nb.njit(cache=True, boundscheck=False, nogil=True)
def between(grid, one, other, label):
    """The label above two labels (-1: nothing), into `label`; what it weighs."""
    total = 0
    for j in range(len(label)):
        if one[j] < 0 or other[j] < 0:
            label[j] = max(one[j], other[j])
        else:
            label[j] = merged(grid, j, one[j], other[j])
        total += weigh(grid, j, label[j])
    return total


@nb.njit(cache=True, boundscheck=False, nogil=True)
def keeps(state, c, i, needed):
    """Whether class c has the values that it needs, of every column of `values`, without item i."""
    for b in range(len(needed)):
        if needed[b] < 2:
            continue
        mine, other, lost = state.values[i, b], state.head[c], True
        while other >= 0 and lost:
            lost = other == i or state.values[other, b] != mine
            other = state.after[other]
        if not lost:
            continue
        left = np.empty(needed[b], dtype=np.int64)
        n, other = 0, state.head[c]
        while other >= 0 and n < needed[b]:
            value, fresh = state.values[other, b], other != i
            for a in range(n):
                fresh = fresh and left[a] != value
            if fresh:
                left[n] = value
                n += 1
            other = state.after[other]
        if n < needed[b]:
            return False
    return True


@nb.njit(cache=True, boundscheck=False, nogil=True)
def move(grid, state, trie, order, least, needed):
    """Each record of the classes of `order` that can be spared goes where it costs less, if it does.

    How many moved.
    """
    label = np.empty(grid.places.shape[1], dtype=np.int64)
    moved = 0
    for c in order:
        if state.head[c] < 0 or state.weight[c] == 0 or state.size[c] <= least:
            continue
        items = members(state, c)
        after, before = suffixes(grid, state, items), np.full(len(label), -1, dtype=np.int64)
        for a in range(len(items)):
            i = items[a]
            t, count, taker = state.tuple_of[i], state.counts[i], -1
            if state.size[c] - count >= least:
                weight = between(grid, before, after[a], label)
                gain = state.size[c] * state.weight[c] - (state.size[c] - count) * weight
                _, taker = nearest(grid, state, trie, t, count, least, c, gain)
            if taker >= 0 and keeps(state, c, i, needed):
                unlink(state, c, i)
                link(state, taker, i)
                moved += 1
                if (state.label[c] != label).any():
                    remove(trie, c)
                    state.label[c] = label
                    state.weight[c] = weight
                    enter(grid, trie, state, c)
                if stretch(grid, state, taker, t):
                    remove(trie, taker)
                    enter(grid, trie, state, taker)
                continue
            for j in range(len(label)):
                p = grid.places[t, j]
                before[j] = leaf(grid, j, p) if before[j] < 0 else joined(grid, j, before[j], p)
    return moved


@nb.njit(cache=True, boundscheck=False, nogil=True)
def attach(grid, state, trie, items, least):
    """Items without a class join, one by one, the class that takes them for the least."""
    most = np.iinfo(np.int64).max
    for i in items:
        t = state.tuple_of[i]
        _, taker = nearest(grid, state, trie, t, state.counts[i], least, -1, most)
        link(state, taker, i)
        if stretch(grid, state, taker, t):
            remove(trie, taker)
            enter(grid, trie, state, taker)
