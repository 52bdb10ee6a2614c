"""The compiled kernels of clusters with centres. Each has a plain twin, and tests compare the two."""

from __future__ import annotations

import numba as nb
import numpy as np

MISSING = 2.0


@nb.njit(cache=True, boundscheck=False, nogil=True, inline="always")
def risen(nodes, first, width, height, one, other):
    """The level at which two values meet, as a share of the way up to the root."""
    at = first
    level = 0
    while nodes[at + one] != nodes[at + other]:
        at += width
        level += 1
    return level / (height - 1)


@nb.njit(cache=True, boundscheck=False, nogil=True)
def apart(point, code, j_centre, centres, modes, numeric, other, nodes, firsts, widths, heights, squared):
    """The distance of one record from one centre."""
    total = 0.0
    for j in range(len(numeric)):
        off = min(abs(point[j] - centres[j, j_centre]), 1.0)
        total += numeric[j] * (off * off if squared else off)
    for j in range(len(other)):
        off = risen(nodes, firsts[j], widths[j], heights[j], code[j], modes[j, j_centre])
        total += other[j] * (off * off if squared else off)
    return total


@nb.njit(cache=True, boundscheck=False, nogil=True)
def spread(point, code, centres, modes, numeric, other, nodes, firsts, widths, heights, squared, row, out):
    """The distances of one record from all centres, as `apart` has them."""
    n = len(out)
    out[:] = 0.0
    for j in range(len(numeric)):
        at, weight, line = point[j], numeric[j], centres[j]
        if squared:
            for c in range(n):
                off = min(abs(at - line[c]), 1.0)
                out[c] += weight * (off * off)
        else:
            for c in range(n):
                out[c] += weight * min(abs(at - line[c]), 1.0)
    for j in range(len(other)):
        weight, line = other[j], modes[j]
        if widths[j] <= n:
            for v in range(widths[j]):
                off = risen(nodes, firsts[j], widths[j], heights[j], code[j], v)
                row[v] = weight * (off * off if squared else off)
            for c in range(n):
                out[c] += row[line[c]]
        else:
            for c in range(n):
                off = risen(nodes, firsts[j], widths[j], heights[j], code[j], line[c])
                out[c] += weight * (off * off if squared else off)


@nb.njit(cache=True, boundscheck=False, nogil=True)
def nearest(records, points, codes, centres, modes, numeric, other, nodes, firsts, widths, heights, found,
            keys):
    """For each record the nearest centres and their distances, nearest first; of equals the first."""
    n, most = centres.shape[1], found.shape[1]
    out, widest = np.empty(n), 1
    for j in range(len(other)):
        widest = max(widest, widths[j])
    row = np.empty(widest)
    for r in range(len(records)):
        i = records[r]
        spread(points[i], codes[i], centres, modes, numeric, other, nodes, firsts, widths, heights, False,
               row, out)
        filled = 0
        for c in range(n):
            d = out[c]
            if filled == most and d >= keys[r, most - 1]:
                continue
            at = min(filled, most - 1)
            while at > 0 and keys[r, at - 1] > d:
                keys[r, at] = keys[r, at - 1]
                found[r, at] = found[r, at - 1]
                at -= 1
            keys[r, at] = d
            found[r, at] = c
            filled = min(filled + 1, most)
        found[r, filled:] = -1


@nb.njit(cache=True, boundscheck=False, nogil=True)
def add(i, c, points, codes, centres, modes, sums, reals, tops, sizes, heads, following, cluster_of):
    """A record joins a cluster, whose centre moves: means of numbers, the most frequent of other values."""
    cluster_of[i] = c
    following[i] = heads[c]
    heads[c] = i
    sizes[c] += 1
    for j in range(points.shape[1]):
        if points[i, j] < MISSING:
            sums[j, c] += points[i, j]
            reals[j, c] += 1
        centres[j, c] = sums[j, c] / reals[j, c] if 2 * reals[j, c] >= sizes[c] else MISSING
    for j in range(codes.shape[1]):
        value, count = codes[i, j], 0
        if value == modes[j, c]:
            tops[j, c] += 1
            continue
        member = heads[c]
        while member >= 0:
            if codes[member, j] == value:
                count += 1
            member = following[member]
        if count > tops[j, c]:
            tops[j, c] = count
            modes[j, c] = value


@nb.njit(cache=True, boundscheck=False, nogil=True)
def join_in_turn(records, found, keys, among, limit, points, codes, numeric, other, nodes, firsts, widths,
                 heights, centres, modes, sums, reals, tops, sizes, heads, following, cluster_of, touched):
    """The records join their nearest clusters one after the other; answers how many found one.

    `found` and `keys` hold each record's nearest clusters (as positions in `among`) before the first of them
    moved any centre. Those that were touched since are measured again; where the answer is not sure to be
    among them, all are. Clusters of `limit` records take no more (0: there is no limit). `touched` is all
    False before and after.
    """
    most = found.shape[1]
    moved = np.empty(len(records), dtype=np.int64)
    n_moved, placed = 0, len(records)
    for r in range(len(records)):
        i = records[r]
        best, least, at = -1, np.inf, 0
        while at < most and found[r, at] >= 0:
            if not touched[among[found[r, at]]]:
                best, least = among[found[r, at]], keys[r, at]
                break
            at += 1
        for t in range(n_moved):
            c = moved[t]
            if limit and sizes[c] >= limit:
                continue
            d = apart(points[i], codes[i], c, centres, modes, numeric, other, nodes, firsts, widths, heights,
                      False)
            if d < least or (d == least and c < best):
                best, least = c, d
        if at == most and len(among) > most:
            last, farthest = among[found[r, most - 1]], keys[r, most - 1]
            if best < 0 or least > farthest or (least == farthest and best > last):
                best, least = -1, np.inf
                for c in among:
                    if limit and sizes[c] >= limit:
                        continue
                    d = apart(points[i], codes[i], c, centres, modes, numeric, other, nodes, firsts, widths,
                              heights, False)
                    if d < least:
                        best, least = c, d
        if best < 0:
            placed = r
            break
        add(i, best, points, codes, centres, modes, sums, reals, tops, sizes, heads, following, cluster_of)
        if not touched[best]:
            touched[best] = True
            moved[n_moved] = best
            n_moved += 1
    for t in range(n_moved):
        touched[moved[t]] = False
    return placed


@nb.njit(cache=True, boundscheck=False, nogil=True)
def add_all(records, clusters, points, codes, centres, modes, sums, reals, tops, sizes, heads, following,
            cluster_of):
    """Records join the clusters that are named."""
    for r in range(len(records)):
        add(records[r], clusters[r], points, codes, centres, modes, sums, reals, tops, sizes, heads,
            following, cluster_of)


@nb.njit(cache=True, boundscheck=False, nogil=True)
def own(records, clusters, points, codes, numeric, other, nodes, firsts, widths, heights, centres, modes):
    """Each record's distance from the centre of the cluster that is named."""
    found = np.empty(len(records))
    for r in range(len(records)):
        found[r] = apart(points[records[r]], codes[records[r]], clusters[r], centres, modes, numeric, other,
                         nodes, firsts, widths, heights, False)
    return found
