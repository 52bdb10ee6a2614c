"""The compiled kernels of the clusters. Each has a plain twin, and tests compare the two."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, boundscheck=False, nogil=True)
def tallied(places, counts, members, j, low, high, tally, values, totals):
    """A stretch's values in one column with the records of each, ascending; how many there are."""
    n, width = len(members), high - low + 1
    if width <= 4 * n + 64:
        for v in range(width):
            tally[v] = 0
        for i in members:
            tally[places[i, j] - low] += counts[i]
        found = 0
        for v in range(width):
            if tally[v]:
                values[found] = low + v
                totals[found] = tally[v]
                found += 1
        return found
    own = np.empty(n, dtype=np.int64)
    for at in range(n):
        own[at] = places[members[at], j]
    order = np.argsort(own)
    found = 0
    for at in order:
        if found == 0 or own[at] != values[found - 1]:
            values[found] = own[at]
            totals[found] = 0
            found += 1
        totals[found - 1] += counts[members[at]]
    return found


@nb.njit(cache=True, boundscheck=False, nogil=True)
def boundary(values, totals, found, all_records, above, below, least):
    """The place after which to cut, the nearest to the median, or -1.

    A cut parts two nodes of the level `below` that share their node of the level `above`, with
    `least` records on either side.
    """
    best, place, so_far = all_records + 1, -1, 0
    for at in range(found - 1):
        so_far += totals[at]
        one, other = values[at], values[at + 1]
        if below[one] == below[other] or above[one] != above[other]:
            continue
        if so_far < least or all_records - so_far < least:
            continue
        off = abs(2 * so_far - all_records)
        if off < best:
            best, place = off, one
    return place


@nb.njit(cache=True, boundscheck=False, nogil=True)
def middle(values, totals, found, all_records, least):
    """The median's place and how many of its records go to the left; -1 where a half is too small."""
    half = all_records // 2
    if half < least:
        return -1, 0
    so_far = 0
    for at in range(found):
        if so_far + totals[at] > half:
            return (values[at], half - so_far) if half > so_far else (values[at - 1], 0)
        so_far += totals[at]
    return -1, 0


@nb.njit(cache=True, boundscheck=False, nogil=True)
def ends(places, counts, members, low, high):
    """How many records a stretch has, and its first and last place in every column."""
    records = 0
    low[:] = places[members[0]]
    high[:] = low
    for i in members:
        records += counts[i]
        for j in range(len(low)):
            at = places[i, j]
            if at < low[j]:
                low[j] = at
            elif at > high[j]:
                high[j] = at
    return records


@nb.njit(cache=True, boundscheck=False, nogil=True)
def measure(low, high, nodes, first_node, heights, penalties, gaps, weights, level, width):
    """Per column the level of the lowest node above a stretch, and its weighted penalty (-1: one value)."""
    for j in range(len(low)):
        level[j] = heights[j] - 1
        while level[j] > 0:
            row = first_node[j] + (level[j] - 1) * gaps[j]
            if nodes[row + low[j]] != nodes[row + high[j]]:
                break
            level[j] -= 1
        share = penalties[first_node[j] + level[j] * gaps[j] + low[j]]
        if share < 0:  # a range: what it spans, unless it holds the missing value beside others
            share = (high[j] - low[j]) / max(gaps[j] - 1, 1)
        width[j] = weights[j] * share if low[j] != high[j] else -1.0


@nb.njit(cache=True, boundscheck=False, nogil=True)
def propose(order, starts, places, counts, nodes, first_node, heights, penalties, gaps, weights, least,
            relaxed, tried, columns, cuts, shares):
    """For each stretch of `order` the next cut to try: the column, the last place to the left, its share.

    The columns stand by their penalty, the widest first; in each, cuts between the nodes of ever lower
    levels and, where it is relaxed, the median itself, parted (`shares`: how many of its records go left).
    `tried` counts the cuts of a stretch that were looked at; a column of -1 says that none is left.
    """
    q = places.shape[1]
    widest = 0
    for j in range(q):
        widest = max(widest, gaps[j])
    tally = np.zeros(widest + 1, dtype=np.int64)
    values, totals = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64)
    low, high = np.empty(q, dtype=np.int64), np.empty(q, dtype=np.int64)
    level, width = np.empty(q, dtype=np.int64), np.empty(q)
    for p in range(len(starts) - 1):
        members = order[starts[p]:starts[p + 1]]
        records = ends(places, counts, members, low, high)
        columns[p] = -1
        if records < 2 * least:
            continue
        measure(low, high, nodes, first_node, heights, penalties, gaps, weights, level, width)
        number = 0
        for _ in range(q):
            j = int(np.argmax(width))
            if width[j] < 0.0:
                break
            width[j] = -1.0
            found = -1
            for step in range(level[j] + relaxed):
                number += 1
                if number <= tried[p]:
                    continue
                if found < 0:
                    found = tallied(places, counts, members, j, low[j], high[j], tally, values, totals)
                tried[p] = number
                if step < level[j]:
                    row = first_node[j] + (level[j] - 1 - step) * gaps[j]
                    above = nodes[row + gaps[j]:row + 2 * gaps[j]]
                    cut = boundary(values, totals, found, records, above, nodes[row:row + gaps[j]], least)
                    share_left = 0
                else:
                    cut, share_left = middle(values, totals, found, records, least)
                if cut >= 0:
                    columns[p], cuts[p], shares[p] = j, cut, share_left
                    break
            if columns[p] >= 0:
                break



@nb.njit(cache=True, boundscheck=False, nogil=True)
def grouped(part_of, n_parts):
    """The members of each part (-1: of none), part by part in their order, and where each part begins."""
    starts = np.zeros(n_parts + 1, dtype=np.int64)
    for p in part_of:
        if p >= 0:
            starts[p + 1] += 1
    for p in range(n_parts):
        starts[p + 1] += starts[p]
    at = starts[:-1].copy()
    order = np.empty(starts[-1], dtype=np.int64)
    for i in range(len(part_of)):
        p = part_of[i]
        if p >= 0:
            order[at[p]] = i
            at[p] += 1
    return order, starts
