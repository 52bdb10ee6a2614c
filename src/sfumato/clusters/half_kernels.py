"""The compiled kernels that cut a group in two around seeds far apart. Each has a plain twin."""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.clusters.box_kernels import NODE, SET, SPAN, lost, ones


@nb.njit(cache=True, boundscheck=False, nogil=True)
def grown(low, high, word, at, labels):
    """The weighted loss per record of a box with one more element."""
    first_word, kinds, widths, absent, nodes, losses, firsts, pairs, first_pair, weights = labels
    total = 0.0
    for j in range(len(kinds)):
        one, other, most = min(low[j], at[j]), max(high[j], at[j]), max(widths[j] - 1, 1)
        whole = kinds[j] != NODE and other == absent[j] and one != other
        if kinds[j] == SET:
            bit = word[first_word[j] + at[j] // 64] >> np.uint64(at[j] % 64)
            members = 1 - np.int64(bit & np.uint64(1))
            for w in range(first_word[j], first_word[j + 1]):
                members += ones(word[w])
            total += weights[j] * (1.0 if whole else (members - 1) / most)
        elif kinds[j] == SPAN:
            total += weights[j] * (1.0 if whole else (other - one) / most)
        elif first_pair[j] >= 0:
            total += weights[j] * pairs[first_pair[j] + one * widths[j] + other]
        else:
            total += weights[j] * lost(one, other, nodes, losses, firsts[j], widths[j])
    return total


@nb.njit(cache=True, boundscheck=False, nogil=True)
def enter(low, high, word, at, labels):
    """A box takes one more element."""
    first_word, kinds = labels[0], labels[1]
    for j in range(len(kinds)):
        low[j] = min(low[j], at[j])
        high[j] = max(high[j], at[j])
        if kinds[j] == SET:
            word[first_word[j] + at[j] // 64] |= np.uint64(1) << np.uint64(at[j] % 64)


@nb.njit(cache=True, boundscheck=False, nogil=True)
def start(low, high, word, at, labels):
    """A box of one element."""
    low[:] = at
    high[:] = at
    word[:] = 0
    enter(low, high, word, at, labels)


@nb.njit(cache=True, boundscheck=False, nogil=True)
def far_apart(members, draw, rounds, places, labels, low, high, word):
    """Two members that are far apart, as positions; equal where all are alike.

    From one drawn by chance to the farthest, from there to the farthest again; the last two of them.
    """
    v = min(np.int64(draw * len(members)), len(members) - 1)
    u = v
    for _ in range(rounds):
        u, farthest = v, 0.0
        start(low, high, word, places[members[u]], labels)
        for m in range(len(members)):
            off = grown(low, high, word, places[members[m]], labels)
            if off > farthest:
                farthest, v = off, m
        if v == u:
            break
    return u, v


@nb.njit(cache=True, boundscheck=False, nogil=True)
def deal(members, u, v, by_seed, places, counts, labels, low, high, word, sides):
    """Every member goes to the side that loses less with it, the seeds first; how many records each has."""
    for s in range(2):
        start(low[s], high[s], word[s], places[members[v if s else u]], labels)
    sides[v] = 1
    size = np.array([counts[members[u]], counts[members[v]]])
    lows, highs, words = low.copy(), high.copy(), word.copy()
    loss = np.empty(2)
    for m in range(len(members)):
        if m in (u, v):
            continue
        at, records = places[members[m]], counts[members[m]]
        for s in range(2):
            if by_seed:
                loss[s] = grown(lows[s], highs[s], words[s], at, labels)
            else:
                loss[s] = (size[s] + records) * grown(low[s], high[s], word[s], at, labels)
        s = 1 if loss[1] < loss[0] else 0
        sides[m] = s
        size[s] += records
        enter(low[s], high[s], word[s], at, labels)
    return size


@nb.njit(cache=True, boundscheck=False, nogil=True)
def top_up(members, size, least, places, counts, labels, low, high, word, sides):
    """A side of fewer than `least` records takes the nearest of the other, as far as that keeps so many."""
    s = 0 if size[0] < size[1] else 1
    if size[s] >= least:
        return
    off = np.full(len(members), np.inf)
    for m in range(len(members)):
        if sides[m] != s:
            off[m] = grown(low[s], high[s], word[s], places[members[m]], labels)
    while size[s] < least:
        m = int(np.argmin(off))
        if off[m] == np.inf:
            return
        off[m] = np.inf
        records = counts[members[m]]
        if size[1 - s] - records >= least:
            sides[m] = s
            size[s] += records
            size[1 - s] -= records


@nb.njit(cache=True, boundscheck=False, nogil=True)
def bisect(order, starts, draws, rounds, by_seed, least, places, counts, labels, sides):
    """For each stretch of `order` two seeds far apart, and to which of them every member goes (0 or 1)."""
    q, n_words = places.shape[1], labels[0][-1]
    low, high = np.empty((2, q), dtype=np.int32), np.empty((2, q), dtype=np.int32)
    word = np.zeros((2, n_words), dtype=np.uint64)
    for p in range(len(starts) - 1):
        members, side = order[starts[p]:starts[p + 1]], sides[starts[p]:starts[p + 1]]
        side[:] = 0
        u, v = far_apart(members, draws[p], rounds, places, labels, low[0], high[0], word[0])
        if u == v:
            continue
        size = deal(members, u, v, by_seed, places, counts, labels, low, high, word, side)
        top_up(members, size, least, places, counts, labels, low, high, word, side)
