"""Classes with too few values: each fetches a record that brings one, or joins a class that has one."""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.local.kernels.joins import joined, leaf, link, merged, stretch, unlink, weigh
from sfumato.local.kernels.merge import merge
from sfumato.local.kernels.polish import keeps
from sfumato.local.kernels.trie import enter, remove


@nb.njit(cache=True, boundscheck=False, nogil=True)
def different(state, c, b, most, found):
    """The different values of class c in column b, `most` of them at most, into `found`; how many."""
    n, i = 0, state.head[c]
    while i >= 0 and n < most:
        fresh = True
        for a in range(n):
            fresh = fresh and found[a] != state.values[i, b]
        if fresh:
            found[n] = state.values[i, b]
            n += 1
        i = state.after[i]
    return n


@nb.njit(cache=True, boundscheck=False, nogil=True)
def brings(state, d, b, known, n):
    """Whether class d has a value in column b that is not among the n known ones."""
    i = state.head[d]
    while i >= 0:
        fresh = True
        for a in range(n):
            fresh = fresh and known[a] != state.values[i, b]
        if fresh:
            return True
        i = state.after[i]
    return False


@nb.njit(cache=True, boundscheck=False, nogil=True)
def donor(state, t, first_item, items, c, b, known, n, least, needed):
    """An item of tuple t whose class can spare it and that has a new value for class c; -1: none."""
    for at in range(first_item[t], first_item[t + 1]):
        i = items[at]
        d, fresh = state.class_of[i], True
        for a in range(n):
            fresh = fresh and known[a] != state.values[i, b]
        if fresh and d != c and state.size[d] - state.counts[i] >= least and keeps(state, d, i, needed):
            return i
    return -1


@nb.njit(cache=True, boundscheck=False, nogil=True)
def fetched(grid, state, tuples, first_item, items, c, b, known, n, least, needed, limit):
    """The record with a new value that class c takes for less than `limit` and least: cost, item or -1."""
    q = len(tuples.order)
    at, paid = np.empty(q, dtype=np.int64), np.zeros(q + 1, dtype=np.int64)
    own = np.zeros(q + 1, dtype=np.int64)  # what the columns from here on cost already
    for depth in range(q - 1, -1, -1):
        j = tuples.order[depth]
        own[depth] = own[depth + 1] + weigh(grid, j, state.label[c, j])
    size, spent = state.size[c], state.size[c] * state.weight[c]
    best, found, depth = limit, -1, 0
    at[0] = tuples.child[0]
    while depth >= 0:
        here = at[depth]
        if here < 0:
            depth -= 1
            if depth >= 0:
                at[depth] = tuples.sibling[at[depth]]
            continue
        at[depth] = tuples.sibling[here]
        j = tuples.order[depth]
        place = tuples.label[here] % grid.gaps[j] if grid.ranged[j] else tuples.label[here]
        paid[depth + 1] = paid[depth] + weigh(grid, j, joined(grid, j, state.label[c, j], place))
        cost = (size + 1) * (paid[depth + 1] + own[depth + 1]) - spent
        if cost >= best:
            continue
        if depth < q - 1:
            at[depth] = here
            depth += 1
            at[depth] = tuples.child[here]
            continue
        i = donor(state, tuples.child[here], first_item, items, c, b, known, n, least, needed)
        if i >= 0:
            best, found = cost, i
    return best, found


@nb.njit(cache=True, boundscheck=False, nogil=True)
def partner(grid, state, trie, c, b, known, n, least, limit):
    """The class with a new value that class c joins for less than `limit` and least: cost, class or -1."""
    q = len(trie.order)
    at = np.empty(q, dtype=np.int64)
    paid, own = np.zeros(q + 1, dtype=np.int64), np.zeros(q + 1, dtype=np.int64)
    spent, best, found, depth = state.size[c] * state.weight[c], limit, -1, 0
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
        paid[depth + 1] = paid[depth] + weigh(grid, j, merged(grid, j, label, state.label[c, j]))
        own[depth + 1] = own[depth] + weigh(grid, j, label)
        new, old = paid[depth + 1], own[depth + 1]
        if state.size[c] * (new + trie.floor[here]) + least * (new - old) - spent >= best:
            continue
        if depth < q - 1:
            at[depth] = here
            depth += 1
            at[depth] = trie.child[here]
            continue
        other = trie.child[here]
        while other >= 0:
            cost = (state.size[c] + state.size[other]) * new - spent - state.size[other] * old
            if other != c and cost < best and brings(state, other, b, known, n):
                best, found = cost, other
            other = trie.next[other]
    return best, found


@nb.njit(cache=True, boundscheck=False, nogil=True)
def relabel(grid, state, c):
    """The label of class c from its members."""
    i = state.head[c]
    for j in range(grid.places.shape[1]):
        state.label[c, j] = leaf(grid, j, grid.places[state.tuple_of[i], j])
    while i >= 0:
        stretch(grid, state, c, state.tuple_of[i])
        i = state.after[i]


@nb.njit(cache=True, boundscheck=False, nogil=True)
def diversify(grid, state, trie, tuples, first_item, items, order, least, needed):
    """Each class of `order` gets its values, for the least that each takes; how many were fetched, merged."""
    fetches, merges = 0, 0
    for c in order:
        for b in range(len(needed)):
            known = np.empty(needed[b], dtype=np.int64)
            while state.head[c] >= 0:
                n = different(state, c, b, needed[b], known)
                if n == needed[b]:
                    break
                most = np.iinfo(np.int64).max
                cost, i = fetched(grid, state, tuples, first_item, items, c, b, known, n, least, needed, most)
                _, other = partner(grid, state, trie, c, b, known, n, least, cost)
                if other >= 0:
                    merge(grid, state, trie, c, other)
                    merges += 1
                elif i >= 0:
                    d = state.class_of[i]
                    remove(trie, d)
                    remove(trie, c)
                    unlink(state, d, i)
                    relabel(grid, state, d)
                    link(state, c, i)
                    stretch(grid, state, c, state.tuple_of[i])
                    enter(grid, trie, state, d)
                    enter(grid, trie, state, c)
                    fetches += 1
                else:
                    break
    return fetches, merges
