"""The compiled kernels of boxes: what a label over two groups of records loses. Each has a plain twin.

`labels` is `boxes.Labels.arrays`: what the labels of each column are, and what they lose.
"""

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
def unions(f, lows, highs, words, labels, out):
    """Per group: the weighted loss per record of the label over it and group f, as `union` has it."""
    first_word, kinds, widths, absent, nodes, losses, firsts, pairs, first_pair, weights = labels
    n = len(out)
    out[:] = 0.0
    for j in range(len(kinds)):
        low, high, weight, width = lows[j, f], highs[j, f], weights[j], widths[j]
        below, above, most = lows[j], highs[j], max(widths[j] - 1, 1)
        if kinds[j] == SET:
            for g in range(n):
                members, other = 0, max(high, above[g])
                for w in range(first_word[j], first_word[j + 1]):
                    members += ones(words[w, f] | words[w, g])
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
def union(f, g, lows, highs, words, labels):
    """The weighted loss per record of the label over two groups."""
    first_word, kinds, widths, absent, nodes, losses, firsts, pairs, first_pair, weights = labels
    total = 0.0
    for j in range(len(kinds)):
        low, high = min(lows[j, f], lows[j, g]), max(highs[j, f], highs[j, g])
        whole, most = kinds[j] != NODE and high == absent[j] and low != high, max(widths[j] - 1, 1)
        if kinds[j] == SET:
            members = 0
            for w in range(first_word[j], first_word[j + 1]):
                members += ones(words[w, f] | words[w, g])
            total += weights[j] * (1.0 if whole else (members - 1) / most)
        elif kinds[j] == SPAN:
            total += weights[j] * (1.0 if whole else (high - low) / most)
        elif first_pair[j] >= 0:
            total += weights[j] * pairs[first_pair[j] + low * widths[j] + high]
        else:
            total += weights[j] * lost(low, high, nodes, losses, firsts[j], widths[j])
    return total


@nb.njit(cache=True, boundscheck=False, nogil=True, inline="always")
def cost(penalty, f, g, sizes, alone, increase):
    """What merging two groups costs, whose label loses so much per record."""
    whole = (sizes[f] + sizes[g]) * penalty
    return whole - sizes[f] * alone[f] - sizes[g] * alone[g] if increase else whole


@nb.njit(cache=True, boundscheck=False, nogil=True)
def closest(wanted, sizes, alone, alive, increase, lows, highs, words, labels, found, keys):
    """For each wanted group the other groups that it is best merged with, and what each merger costs.

    The cost is the loss of all records of both (`increase`: less what they lose apart, `alone` each).
    Of equals the next in the order of groups, which goes round.
    """
    n, most = len(sizes), found.shape[1]
    out = np.empty(n)
    for r in range(len(wanted)):
        f = wanted[r]
        unions(f, lows, highs, words, labels, out)
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


@nb.njit(cache=True, boundscheck=False, nogil=True)
def best_of(f, among, increase, sizes, alone, alive, lows, highs, words, labels, best, lowest):
    """The best partner among some groups and the one that is known (-1: none), and its cost."""
    n = len(sizes)
    for g in among:
        if g == f or not alive[g]:
            continue
        d = cost(union(f, g, lows, highs, words, labels), f, g, sizes, alone, increase)
        if best < 0 or d < lowest or (d == lowest and (g - f) % n < (best - f) % n):
            best, lowest = g, d
    return best, lowest


@nb.njit(cache=True, boundscheck=False, nogil=True)
def unite(f, g, sizes, alone, alive, into, lows, highs, words, labels):
    """Group f becomes a part of group g."""
    alone[g] = union(f, g, lows, highs, words, labels)
    for j in range(len(lows)):
        lows[j, g] = min(lows[j, f], lows[j, g])
        highs[j, g] = max(highs[j, f], highs[j, g])
    for w in range(len(words)):
        words[w, g] |= words[w, f]
    sizes[g] += sizes[f]
    alive[f] = False
    into[f] = g


@nb.njit(cache=True, boundscheck=False, nogil=True)
def merge_in_turn(wanted, found, keys, least, increase, sizes, alone, alive, into, touched, lows, highs,
                  words, labels):
    """Each wanted group that still has fewer than `least` records is merged with the best other, in turn.

    `found` and `keys` are what `closest` answers before the first merger. Groups that were touched since are
    measured again; where the answer is not sure to be among them, all are. `into` says what became of a
    group; `touched` is all False before and after.
    """
    n, most, n_moved = len(sizes), found.shape[1], 0
    moved, every = np.empty(2 * len(wanted), dtype=np.int64), np.arange(n)
    for r in range(len(wanted)):
        f = wanted[r]
        if not alive[f] or sizes[f] >= least:
            continue
        best, lowest, at = -1, np.inf, 0
        again = touched[f]
        if not again:
            while at < most and found[r, at] >= 0 and touched[found[r, at]]:
                at += 1
            if at < most and found[r, at] >= 0:
                best, lowest = found[r, at], keys[r, at]
            best, lowest = best_of(f, moved[:n_moved], increase, sizes, alone, alive, lows, highs, words,
                                   labels, best, lowest)
            if at == most:
                last, off = keys[r, most - 1], (found[r, most - 1] - f) % n
                again = best < 0 or lowest > last or (lowest == last and (best - f) % n > off)
        if again:
            best, lowest = best_of(f, every, increase, sizes, alone, alive, lows, highs, words, labels, -1,
                                   np.inf)
        if best < 0:
            break
        unite(f, best, sizes, alone, alive, into, lows, highs, words, labels)
        for g in (f, best):
            if not touched[g]:
                touched[g] = True
                moved[n_moved] = g
                n_moved += 1
    for t in range(n_moved):
        touched[moved[t]] = False
