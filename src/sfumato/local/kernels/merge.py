"""Classes that join: which would cost least, and the joining."""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.local.kernels.joins import link, merged, unlink, weigh
from sfumato.local.kernels.polish import members
from sfumato.local.kernels.trie import enter, remove


@nb.njit(cache=True, boundscheck=False, nogil=True)
def partners(grid, state, trie, classes, least, found, costs):
    """Per class the others that it joins for the least, into `found` (-1: none) and `costs`."""
    q, most = len(trie.order), found.shape[1]
    at = np.empty(q, dtype=np.int64)
    paid, own = np.zeros(q + 1, dtype=np.int64), np.zeros(q + 1, dtype=np.int64)
    found[:] = -1
    costs[:] = np.iinfo(np.int64).max
    for row in range(len(classes)):
        c, depth = classes[row], 0
        spent = state.size[c] * state.weight[c]
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
            if state.size[c] * (new + trie.floor[here]) + least * (new - old) - spent >= costs[row, most - 1]:
                continue
            if depth < q - 1:
                at[depth] = here
                depth += 1
                at[depth] = trie.child[here]
                continue
            other = trie.child[here]
            while other >= 0:
                cost = (state.size[c] + state.size[other]) * new - spent - state.size[other] * old
                if other != c and cost < costs[row, most - 1]:
                    a = most - 1
                    while a > 0 and costs[row, a - 1] > cost:
                        costs[row, a], found[row, a] = costs[row, a - 1], found[row, a - 1]
                        a -= 1
                    costs[row, a], found[row, a] = cost, other
                other = trie.next[other]


@nb.njit(cache=True, boundscheck=False, nogil=True)
def merge(grid, state, trie, one, other):
    """All members of a class join another."""
    remove(trie, one)
    remove(trie, other)
    total = 0
    for j in range(grid.places.shape[1]):
        state.label[other, j] = merged(grid, j, state.label[other, j], state.label[one, j])
        total += weigh(grid, j, state.label[other, j])
    state.weight[other] = total
    for i in members(state, one):
        unlink(state, one, i)
        link(state, other, i)
    enter(grid, trie, state, other)
