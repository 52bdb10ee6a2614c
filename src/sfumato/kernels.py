"""The compiled kernels. Each has a plain numpy twin in `evaluate.py`, and tests compare the two.

A tuple is one 64-bit word with a bit field per quasi-identifier. Rolling up raises one field through
a table (`lift`) and merges equal words with a small open-addressing hash.
"""

from __future__ import annotations

import numba as nb
import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: 2^64 / golden ratio


@nb.njit(cache=True, boundscheck=False, nogil=True)
def roll_up(keys, counts, lift, mask, shift, table, out_keys, out_counts):
    """Raise one field of the words from level 0 and merge equal ones; return how many remain."""
    n, keep = len(keys), ~mask
    bits = 4
    while (1 << bits) < n + n // 4:
        bits += 1
    down, wrap = np.uint64(64 - bits), (1 << bits) - 1
    table[: 1 << bits] = -1
    merged = 0
    for i in range(n):
        key = (keys[i] & keep) | lift[np.int64((keys[i] & mask) >> shift)]
        slot = np.int64((key * GOLDEN) >> down)
        at = table[slot]
        while at >= 0 and out_keys[at] != key:
            slot = (slot + 1) & wrap
            at = table[slot]
        if at >= 0:
            out_counts[at] += counts[i]
        else:
            table[slot] = merged
            out_keys[merged] = key
            out_counts[merged] = counts[i]
            merged += 1
    return merged


@nb.njit(cache=True, boundscheck=False, nogil=True, fastmath={"reassoc"})
def summarize(keys, counts, levels, k, masks, shifts, cells, starts, leaves, counter, uses, failing,
              sums, cell_sums, label_sums):
    """The features of one node, from its words (see costs.base.Features).

    `sums` holds, of the classes kept and then of the failing ones: how many, records, sum of
    squares, sum of s log2 s, sum of s x area. `uses` says which of cells, spread, labels, areas are wanted.
    The failing classes are set apart in `failing`, so that each column's look-ups are one tight loop.
    """
    sums[:] = 0.0
    n_failing = 0
    for i in range(len(keys)):
        part = 0 if counts[i] >= k else 5
        sums[part] += 1.0
        sums[part + 1] += counts[i]
        sums[part + 2] += float(counts[i]) * counts[i]
        if part:
            failing[n_failing] = i
            n_failing += 1
    if uses[1]:
        for i in range(len(keys)):
            sums[3 if counts[i] >= k else 8] += counts[i] * np.log2(float(counts[i]))
    if uses[3]:
        for i in range(len(keys)):
            area = 1.0
            for j in range(len(levels)):
                area *= leaves[starts[j, levels[j]] + np.int64((keys[i] & masks[j]) >> shifts[j])]
            sums[4 if counts[i] >= k else 9] += counts[i] * area
    for j in range(len(levels)):
        weights, mask, shift = cells[starts[j, levels[j]]:], masks[j], shifts[j]
        cell_sums[j] = 0.0
        if uses[0]:
            total = 0.0
            for i in failing[:n_failing]:
                total += counts[i] * weights[np.int64((keys[i] & mask) >> shift)]
            cell_sums[j] = total
        label_sums[j] = 0.0
        if uses[2]:
            seen = counter[starts[j, levels[j]]:starts[j, levels[j] + 1]]
            for i in failing[:n_failing]:
                seen[np.int64((keys[i] & mask) >> shift)] += counts[i]
            for at in range(len(seen)):
                if seen[at] > 0:
                    label_sums[j] += seen[at] * np.log2(float(seen[at]))
                    seen[at] = 0


@nb.njit(cache=True, boundscheck=False, nogil=True)
def visit(nodes, order, strides, base_keys, base_counts, slot_of, firsts, lengths, used, arena_keys,
          arena_counts, lift, lift_at, masks, shifts, table, k, cells, starts, leaves, counter, uses,
          failing, sums, cell_sums, label_sums):
    """Evaluate nodes one by one, each rolled up along a chain of ever coarser stored sets.

    The chain to a node raises its columns one after the other, those first that merge most; its
    links are shared by many nodes and stored, `slot_of` mapping a node to its set (-1: none). A node
    whose last column is raised is no link of any chain: it is rolled into the arena's free end.
    `used` holds [stored sets, arena words in use, words rolled so far].
    A full arena is emptied.
    """
    last = order[len(order) - 1]
    for i in range(len(nodes)):
        keys, counts = base_keys, base_counts
        at = np.int64(0)
        for j in order:
            level = nodes[i, j]
            if level == 0:
                continue
            at += level * strides[j]
            slot = slot_of[at]
            if slot >= 0:
                first, end = firsts[slot], firsts[slot] + lengths[slot]
                keys, counts = arena_keys[first:end], arena_counts[first:end]
                continue
            if used[1] + len(keys) > len(arena_keys) or used[0] == len(firsts):
                keys, counts = keys.copy(), counts.copy()  # the source goes with the arena
                slot_of[:] = -1
                used[0] = 0
                used[1] = 0
            slot, first = used[0], used[1]
            used[2] += len(keys)
            end = first + roll_up(keys, counts, lift[lift_at[j, level]:], masks[j], shifts[j], table,
                                  arena_keys[first:], arena_counts[first:])
            keys, counts = arena_keys[first:end], arena_counts[first:end]
            if j != last:
                slot_of[at], firsts[slot], lengths[slot] = slot, first, end - first
                used[0] += 1
                used[1] = end
        summarize(keys, counts, nodes[i], k, masks, shifts, cells, starts, leaves, counter, uses,
                  failing, sums[i], cell_sums[i], label_sums[i])
