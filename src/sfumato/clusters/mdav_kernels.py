"""The compiled kernel of microaggregation. It has a plain twin, and tests compare the two."""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.clusters.centre_kernels import MISSING, spread


@nb.njit(cache=True, boundscheck=False, nogil=True)
def centre(points, codes, left, widths, point, code):
    """The mean and the most frequent values of what is left; of equals the one that stands first."""
    m = len(left)
    for j in range(len(point)):
        total, real, absent = 0.0, 0, 0
        for i in range(m):
            if points[j, i] < MISSING:
                total += left[i] * points[j, i]
                real += left[i]
            else:
                absent += left[i]
        point[j] = total / real if real >= absent else MISSING
    for j in range(len(code)):
        records = np.zeros(widths[j], dtype=np.int64)
        for i in range(m):
            records[codes[j, i]] += left[i]
        most = records.max()
        for i in range(m):
            if left[i] and records[codes[j, i]] == most:
                code[j] = codes[j, i]
                break


@nb.njit(cache=True, boundscheck=False, nogil=True)
def farthest(off, left):
    """The element that is farthest; of equals the first."""
    best, most = -1, -1.0
    for i in range(len(left)):
        if left[i] and off[i] > most:
            best, most = i, off[i]
    return best


@nb.njit(cache=True, boundscheck=False, nogil=True)
def take(off, left, k, source, group, pieces, taken, groups, end, near):
    """The k records that are nearest make a group; how many entries there are then, and elements used up."""
    held, records = 0, 0  # the nearest so far, as few as have k records
    for i in range(len(left)):
        if not left[i] or (records >= k and off[i] >= off[near[held - 1]]):
            continue
        at = held
        while at > 0 and off[near[at - 1]] > off[i]:
            near[at] = near[at - 1]
            at -= 1
        near[at] = i
        held += 1
        records += left[i]
        while records - left[near[held - 1]] >= k:
            held -= 1
            records -= left[near[held]]
    wanted, gone = k, 0
    for at in range(held):
        i = near[at]
        pieces[end], taken[end], groups[end] = source[i], min(left[i], wanted), group
        wanted -= taken[end]
        left[i] -= taken[end]
        gone += left[i] == 0
        end += 1
    return end, gone


@nb.njit(cache=True, boundscheck=False, nogil=True)
def squeeze(points, codes, left, source):
    """Drop the elements that are used up; how many are left."""
    m = 0
    for i in range(len(left)):
        if left[i]:
            points[:, m] = points[:, i]
            codes[:, m] = codes[:, i]
            left[m] = left[i]
            source[m] = source[i]
            m += 1
    return m


@nb.njit(cache=True, boundscheck=False, nogil=True)
def microaggregate(points, codes, left, numeric, other, nodes, firsts, widths, heights, k, pieces, taken,
                   groups):
    """Groups of k records around those that are farthest; how many entries (element, records, group).

    `points`, `codes` [column, element] and `left`, the records of each, are used up.
    """
    m, total, group, end, dead = len(left), left.sum(), 0, 0, 0
    source, off, near = np.arange(m), np.empty(m), np.empty(m + 1, dtype=np.int64)
    point, code = np.empty(len(numeric)), np.empty(len(other), dtype=np.int32)
    row = np.empty(widths.max() if len(widths) else 1)
    while total >= 2 * k:
        if dead > m // 8:
            m, dead = squeeze(points[:, :m], codes[:, :m], left[:m], source[:m]), 0
        there, gap = left[:m], off[:m]
        centre(points, codes, there, widths, point, code)
        spread(point, code, points, codes, numeric, other, nodes, firsts, widths, heights, True, row, gap)
        r = farthest(gap, there)
        spread(points[:, r], codes[:, r], points, codes, numeric, other, nodes, firsts, widths, heights, True,
               row, gap)
        s = farthest(gap, there)
        end, gone = take(gap, there, k, source, group, pieces, taken, groups, end, near)
        dead, group, total = dead + gone, group + 1, total - k
        if total < 2 * k:  # there were fewer than 3k
            break
        spread(points[:, s], codes[:, s], points, codes, numeric, other, nodes, firsts, widths, heights, True,
               row, gap)
        end, gone = take(gap, there, k, source, group, pieces, taken, groups, end, near)
        dead, group, total = dead + gone, group + 1, total - k
    for i in range(m):
        if left[i]:
            pieces[end], taken[end], groups[end] = source[i], left[i], group
            end += 1
    return end
