"""The sweep: all nodes of the lattice, cheapest first; every cell with enough records becomes a class."""

from __future__ import annotations

import numba as nb
import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: 2^64 / golden ratio


@nb.njit(cache=True, boundscheck=False, nogil=True)
def bits_for(n):
    """The width of a hash table that n keys fill to a half at most."""
    bits = 4
    while (1 << bits) < 2 * n:
        bits += 1
    return bits


@nb.njit(cache=True, boundscheck=False, nogil=True)
def many(mask):
    """How many bits are set."""
    found = 0
    while mask:
        mask &= mask - np.uint64(1)
        found += 1
    return found


@nb.njit(cache=True, boundscheck=False, nogil=True)
def slots(words, starts, node, rows, n, keys, stamps, stamp, slot_of, bits):
    """Hash n rows generalized to a node: each row's slot; the slots that are new carry the stamp."""
    q = len(node)
    down, wrap = np.uint64(64 - bits), (1 << bits) - 1
    for a in range(n):
        key = np.uint64(0)
        for j in range(q):
            key ^= words[starts[j, node[j]] + rows[a, j]]
        at = np.int64((key * GOLDEN) >> down)
        while stamps[at] == stamp and keys[at] != key:
            at = (at + 1) & wrap
        stamps[at] = stamp
        keys[at] = key
        slot_of[a] = at


@nb.njit(cache=True, boundscheck=False, nogil=True)
def tally(slot_of, active, n, counts, masks, totals, classes, seen):
    """Add up the records and the values of every slot."""
    for a in range(n):
        s = slot_of[a]
        totals[s], classes[s] = 0, -1
        for b in range(masks.shape[1]):
            seen[s, b] = 0
    for a in range(n):
        s = slot_of[a]
        totals[s] += counts[active[a]]
        for b in range(masks.shape[1]):
            seen[s, b] |= masks[active[a], b]


@nb.njit(cache=True, boundscheck=False, nogil=True)
def good(seen, needed, key, stamp, passed):
    """Whether a cell has the values it needs and is not one of those that chance passes over."""
    if passed and ((key * GOLDEN + np.uint64(stamp)) * GOLDEN) >> np.uint64(32) < passed:
        return False
    enough = True
    for b in range(len(needed)):
        enough = enough and many(seen[b]) >= needed[b]
    return enough


@nb.njit(cache=True, boundscheck=False, nogil=True)
def further(position, n_nodes, n, work):
    """The next node to look at: all of them, or where the work would not last, some at even distances."""
    left = n_nodes - int(position)
    stride = 1.0
    if left > 1 and float(n) * left > work:
        stride = max(1.0, min(float(n) * left / max(work, 1.0), left / 8.0))
    last = n_nodes - 1  # takes all that can be taken
    return last if int(position) < last <= position + stride else position + stride


@nb.njit(cache=True, boundscheck=False, nogil=True)
def sweep(words, starts, nodes, rows, counts, masks, needed, least, skip, work, active, class_of,
          yields):
    """Give each active row a class, or leave -1; how many classes there are, and how many rows are left.

    `rows` and `active` are overwritten. A cell needs `least` records and, of each column of `masks` (a bit
    per value), `needed` values. `skip` is the share of good cells passed over, by a hash of their key.
    `yields` counts the classes that each node gave.
    `work` limits what is read: where it would not last, nodes are left out evenly.
    """
    n, m = len(active), masks.shape[1]
    bits = bits_for(n)
    keys, stamps = np.empty(1 << bits, dtype=np.uint64), np.zeros(1 << bits, dtype=np.int32)
    totals, classes = np.empty(1 << bits, dtype=np.int64), np.empty(1 << bits, dtype=np.int64)
    seen = np.zeros((1 << bits if m else 1, m), dtype=np.uint64)
    slot_of = np.empty(n, dtype=np.int64)
    passed, number, stamp, position = np.uint64(skip * 2.0 ** 32), 0, 0, 0.0
    while n and position < len(nodes):
        here = int(position)
        position = further(position, len(nodes), n, work)
        work -= n
        stamp += 1
        while bits > 4 and (1 << (bits - 1)) >= 2 * n:
            bits -= 1
        slots(words, starts, nodes[here], rows, n, keys, stamps, stamp, slot_of, bits)
        tally(slot_of, active, n, counts, masks, totals, classes, seen)
        kept = 0
        for a in range(n):
            s = slot_of[a]
            if totals[s] >= least and classes[s] == -1:
                classes[s] = -2
                if good(seen[s if m else 0], needed, keys[s], stamp, passed):
                    classes[s] = number
                    number += 1
                    yields[here] += 1
            if classes[s] >= 0:
                class_of[active[a]] = classes[s]
                continue
            if kept != a:
                active[kept] = active[a]
                for j in range(rows.shape[1]):
                    rows[kept, j] = rows[a, j]
            kept += 1
        n = kept
    return number, n
