"""The compiled kernels of boxes: what a label over two groups of records loses. Each has a plain twin."""

from __future__ import annotations

import numba as nb
import numpy as np

NODE, SPAN, SET = 0, 1, 2  # kinds of labels


@nb.njit(cache=True, boundscheck=False, nogil=True, inline="always")
def ones(word):
    """How many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@nb.njit(cache=True, boundscheck=False, nogil=True, inline="always")
def lost(low, high, nodes, losses, first, width):
    """The loss of the lowest node above all places from `low` to `high`."""
    at = first
    while nodes[at + low] != nodes[at + high]:
        at += width
    return losses[at + low]


@nb.njit(cache=True, boundscheck=False, nogil=True)
def unions(f, lows, highs, words, first_word, kinds, widths, absent, nodes, losses, firsts, pairs,
           first_pair, weights, out):
    """Per group: the weighted loss per record of the label over it and group f."""
    n = len(out)
    out[:] = 0.0
    for j in range(len(kinds)):
        low, high, weight, width = lows[j, f], highs[j, f], weights[j], widths[j]
        below, above = lows[j], highs[j]
        most = max(width - 1, 1)
        if kinds[j] == SET:
            for g in range(n):
                members = 0
                for w in range(first_word[j], first_word[j + 1]):
                    members += ones(words[w, f] | words[w, g])
                other = max(high, above[g])
                whole = other == absent[j] and min(low, below[g]) != other
                out[g] += weight * (1.0 if whole else (members - 1) / most)
        elif kinds[j] == SPAN:
            for g in range(n):
                one, other = min(low, below[g]), max(high, above[g])
                whole = other == absent[j] and one != other
                out[g] += weight * (1.0 if whole else (other - one) / most)
        elif first_pair[j] >= 0:
            base = first_pair[j]
            for g in range(n):
                out[g] += weight * pairs[base + min(low, below[g]) * width + max(high, above[g])]
        else:
            for g in range(n):
                out[g] += weight * lost(min(low, below[g]), max(high, above[g]), nodes, losses, firsts[j],
                                        width)


@nb.njit(cache=True, boundscheck=False, nogil=True)
def closest(wanted, sizes, alone, alive, increase, lows, highs, words, first_word, kinds, widths, absent,
            nodes, losses, firsts, pairs, first_pair, weights, found, keys):
    """For each wanted group the other groups that it is best merged with, and what each merger costs.

    The cost is the loss of all records of both (`increase`: less what they lose apart, `alone` each).
    Of equals the next in the order of groups, which goes round.
    """
    n, most = len(sizes), found.shape[1]
    out = np.empty(n)
    for r in range(len(wanted)):
        f = wanted[r]
        unions(f, lows, highs, words, first_word, kinds, widths, absent, nodes, losses, firsts, pairs,
               first_pair, weights, out)
        filled = 0
        for step in range(1, n):
            g = f + step
            if g >= n:
                g -= n
            if not alive[g]:
                continue
            d = cost(out[g], f, g, sizes, alone, increase)
            if filled == most and d >= keys[r, most - 1]:
                continue
            at = min(filled, most - 1)
            while at > 0 and keys[r, at - 1] > d:
                keys[r, at] = keys[r, at - 1]
                found[r, at] = found[r, at - 1]
                at -= 1
            keys[r, at] = d
            found[r, at] = g
            filled = min(filled + 1, most)
        found[r, filled:] = -1


@nb.njit(cache=True, boundscheck=False, nogil=True, inline="always")
def cost(penalty, f, g, sizes, alone, increase):
    """What merging two groups costs, whose label loses so much per record."""
    whole = (sizes[f] + sizes[g]) * penalty
    return whole - sizes[f] * alone[f] - sizes[g] * alone[g] if increase else whole
