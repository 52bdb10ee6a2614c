"""The bound: values of records that no class can be cheaper than, lowered until that is so everywhere."""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.local.kernels.sweep import GOLDEN, bits_for


@nb.njit(cache=True, boundscheck=False, nogil=True)
def ceiling(values, counts, members, n, least, price):
    """What no member may be above, so that `least` are worth no more than `least` x price; -1: they are not.

    `members` are n tuples; they are put in falling order of their values.
    """
    order = np.argsort(-values[members[:n]])
    members[:n] = members[order]
    total, taken = 0, 0
    for a in range(n):
        share = min(counts[members[a]], least - taken)
        total += share * values[members[a]]
        taken += share
        if taken == least:
            break
    room = least * price
    if total <= room:
        return -1
    above = 0
    for a in range(n):  # those before and with a are lowered to one height, the others stay
        share = min(counts[members[a]], least - above)
        above += share
        total -= share * values[members[a]]
        height = (room - total) // above
        if above == least or a + 1 == n or height >= values[members[a + 1]]:
            return height
    return price


@nb.njit(cache=True, boundscheck=False, nogil=True)
def suspects(words, starts, costs, node, floor, rows, heights, values, keys, stamps, stamp, price):
    """Enter the cells in which some tuple is worth more than the cell; how many such tuples there are.

    `heights` are the values as they were when the tuples were sorted by them: no value is above its own.
    """
    q, wrap, found = len(node), len(keys) - 1, 0
    down = np.uint64(64 - int(np.log2(len(keys)) + 0.5))
    for t in range(len(rows)):
        if heights[t] <= floor:
            break
        paid = 0
        for j in range(q):
            paid += costs[starts[j, node[j]] + rows[t, j]]
        if values[t] <= paid:
            continue
        key = np.uint64(0)
        for j in range(q):
            key ^= words[starts[j, node[j]] + rows[t, j]]
        at = np.int64((key * GOLDEN) >> down)
        while stamps[at] == stamp and keys[at] != key:
            at = (at + 1) & wrap
        if stamps[at] != stamp:
            stamps[at], keys[at], price[at] = stamp, key, paid
            found += 1
        price[at] = min(price[at], paid)
    return found


@nb.njit(cache=True, boundscheck=False, nogil=True)
def collect(words, starts, node, rows, counts, values, least, keys, stamps, stamp, records, worth, first,
            following, found):
    """Link the members of the cells that were entered, and add up their records; how many cells."""
    q, wrap, size = len(node), len(keys) - 1, 0
    down = np.uint64(64 - int(np.log2(len(keys)) + 0.5))
    for t in range(len(rows)):
        key = np.uint64(0)
        for j in range(q):
            key ^= words[starts[j, node[j]] + rows[t, j]]
        at = np.int64((key * GOLDEN) >> down)
        while stamps[at] == stamp and keys[at] != key:
            at = (at + 1) & wrap
        if stamps[at] != stamp:
            continue
        if first[at] < 0:
            found[size], records[at], worth[at] = at, 0, 0
            size += 1
        following[t] = first[at]
        first[at] = t
        records[at] += counts[t]
        worth[at] += min(counts[t], least) * values[t]
    return size


@nb.njit(cache=True, boundscheck=False, nogil=True)
def lower(words, starts, costs, floors, nodes, rows, counts, values, least, hits):
    """Visit every cell of the nodes; where `least` records are worth more than it, lower the dearest.

    The tuples are given by falling value. `floors` has the cheapest cell of every node. `hits` counts per
    node the cells that were lowered.
    """
    n, heights = len(rows), values.copy()
    most = bits_for(n)
    keys, stamps = np.empty(1 << most, dtype=np.uint64), np.zeros(1 << most, dtype=np.int32)
    worth = np.empty(1 << most, dtype=np.int64)
    records, price = np.empty(1 << most, dtype=np.int64), np.empty(1 << most, dtype=np.int64)
    first, following = np.full(1 << most, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    members, found = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for at in range(len(nodes)):
        if heights[0] <= floors[at]:
            continue
        if not suspects(words, starts, costs, nodes[at], floors[at], rows, heights, values, keys, stamps,
                        at + 1, price):
            continue
        size = collect(words, starts, nodes[at], rows, counts, values, least, keys, stamps, at + 1, records,
                       worth, first, following, found)
        for b in range(size):
            s, many, t = found[b], 0, first[found[b]]
            first[s] = -1
            if records[s] < least or worth[s] <= least * price[s]:
                continue
            while t >= 0:
                members[many] = t
                many += 1
                t = following[t]
            height = ceiling(values, counts, members, many, least, price[s])
            if height >= 0:
                hits[at] += 1
                for m in range(many):
                    values[members[m]] = min(values[members[m]], height)
