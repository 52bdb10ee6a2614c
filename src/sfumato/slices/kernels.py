"""The compiled kernels of slicing. Each has a plain twin beside its caller, and tests compare the two."""

from __future__ import annotations

import numba as nb
import numpy as np

SLACK = 1e-9


@nb.njit(cache=True, nogil=True)
def diverse(at, low, high, starts, cell, block_of, counts, allowed, of_cell, of_block):
    """Whether no sensitive value has more than its share of any block of these tuples."""
    good = True
    for i in range(low, high):
        for row in range(starts[at[i]], starts[at[i] + 1]):
            of_cell[cell[row]] += counts[row]
            of_block[block_of[row]] += counts[row]
    for i in range(low, high):
        for row in range(starts[at[i]], starts[at[i] + 1]):
            if of_cell[cell[row]] > of_block[block_of[row]] * allowed + SLACK:
                good = False
    for i in range(low, high):
        for row in range(starts[at[i]], starts[at[i] + 1]):
            of_cell[cell[row]] = 0
            of_block[block_of[row]] = 0
    return good


@nb.njit(cache=True, nogil=True)
def cut_of(at, low, high, ranks, sizes, records, column, counter):
    """The rank up to which about half of the records lie, and how many do; both sides get some."""
    least, most = ranks[at[low], column], ranks[at[low], column]
    for i in range(low, high):
        rank = ranks[at[i], column]
        least, most = min(least, rank), max(most, rank)
        counter[rank] += sizes[at[i]]
    below, best, kept = 0, -1, 0
    for rank in range(least, most):
        below += counter[rank]
        if counter[rank] and (best < 0 or abs(2 * below - records) < abs(2 * kept - records)):
            best, kept = rank, below
    for i in range(low, high):
        counter[ranks[at[i], column]] = 0
    return best, kept


@nb.njit(cache=True, nogil=True)
def partition(ranks, places, spans, sizes, starts, cell, block_of, counts, n_cells, n_blocks, k, allowed):
    """The bucket of every tuple: cut in two while both halves are large and diverse enough."""
    n, q = ranks.shape
    at = np.arange(n)
    other = np.empty(n, dtype=np.int64)
    bucket_of = np.empty(n, dtype=np.int64)
    counter = np.zeros(places.shape[1], dtype=np.int64)
    of_cell = np.zeros(n_cells, dtype=np.int64)
    of_block = np.zeros(n_blocks, dtype=np.int64)
    stack = [(0, n)]
    buckets = 0
    widths = np.empty(q)
    while len(stack):
        low, high = stack.pop()
        records = 0
        for i in range(low, high):
            records += sizes[at[i]]
        for j in range(q):
            least, most = ranks[at[low], j], ranks[at[low], j]
            for i in range(low, high):
                least, most = min(least, ranks[at[i], j]), max(most, ranks[at[i], j])
            widths[j] = (places[j, most] - places[j, least]) / spans[j] if most > least else 0.0
        middle = low
        while records >= 2 * k and middle == low:
            j = int(np.argmax(widths))
            if widths[j] <= 0.0:
                break
            widths[j] = 0.0
            rank, left = cut_of(at, low, high, ranks, sizes, records, j, counter)
            if left < k or records - left < k:
                continue
            front, back = low, high
            for i in range(low, high):
                if ranks[at[i], j] <= rank:
                    other[front] = at[i]
                    front += 1
                else:
                    back -= 1
                    other[back] = at[i]
            if (diverse(other, low, front, starts, cell, block_of, counts, allowed, of_cell, of_block)
                    and diverse(other, front, high, starts, cell, block_of, counts, allowed, of_cell,
                                of_block)):
                at[low:high] = other[low:high]
                middle = front
        if middle > low:
            stack.append((middle, high))
            stack.append((low, middle))
        else:
            for i in range(low, high):
                bucket_of[at[i]] = buckets
            buckets += 1
    return bucket_of


@nb.njit(cache=True, nogil=True)
def found(starts, buckets, value, bucket):
    """Where a bucket stands in the list of those that hold a value; -1 if it is not there."""
    low, high = starts[value], starts[value + 1]
    while low < high:
        middle = (low + high) >> 1
        if buckets[middle] < bucket:
            low = middle + 1
        else:
            high = middle
    return low if low < starts[value + 1] and buckets[low] == bucket else -1


@nb.njit(cache=True, nogil=True)
def matching(values, firsts, starts, buckets, shares, inside, inside_value, inside_share, n_values):
    """p(t, s) of each target, its matching buckets, and f(t) (Li et al. 2012, section 4).

    The lists of all column groups stand one after the other: `starts[firsts[g] + v]` begins the
    buckets that hold value v of group g, with the share of the bucket that has it. `inside` begins
    the sensitive values of each entry of the last group. The shortest list is walked.
    """
    n, groups = values.shape
    p = np.zeros((n, n_values))
    matches = np.zeros(n, dtype=np.int64)
    total = np.zeros(n)
    for t in range(n):
        walked, shortest = 0, np.int64(1) << 62
        for g in range(groups):
            entry = firsts[g] + values[t, g]
            length = starts[entry + 1] - starts[entry]
            if length < shortest:
                walked, shortest = g, length
        entry = firsts[walked] + values[t, walked]
        for at in range(starts[entry], starts[entry + 1]):
            f, last = shares[at], at
            for g in range(groups):
                place = at
                if g != walked:
                    place = found(starts, buckets, firsts[g] + values[t, g], buckets[at])
                    if place < 0:
                        f = 0.0
                        break
                    f *= shares[place]
                if g == groups - 1:
                    last = place
            if f > 0.0:
                matches[t] += 1
                total[t] += f
                for i in range(inside[last], inside[last + 1]):
                    p[t, inside_value[i]] += f * inside_share[i]
        if total[t] > 0.0:
            for s in range(n_values):
                p[t, s] /= total[t]
    return p, matches, total


@nb.njit(cache=True, nogil=True)
def swap(own, beside, chosen, state, starts, group, rank, reach, allowed, rule_value, rule_holds, draws):
    """Swap values of one column between records of a bucket; `state` marks those that were swapped.

    A record that is chosen and not yet protected gives its value to another one of its bucket and
    takes its value: of the same rank group, with another partner value, both new pairs allowed, no
    rule broken. The search begins at a random record and goes round.
    """
    failed = np.full(allowed.shape, -1)  # the bucket in which a pair last found no partner
    for b in range(len(starts) - 1):
        low, high = starts[b], starts[b + 1]
        size = high - low
        for i in range(low, high):
            if not chosen[i] or state[i]:
                continue
            if failed[own[i], beside[i]] == b:
                continue  # partners only become fewer
            first = np.int64(draws[i] * size)
            for step in range(size):
                j = low + (first + step) % size
                if state[j] or own[i] == own[j] or beside[i] == beside[j]:
                    continue
                if reach >= 0:
                    if abs(rank[own[i]] - rank[own[j]]) > reach:
                        continue
                elif group[own[i]] != group[own[j]]:
                    continue
                if not (allowed[own[j], beside[i]] and allowed[own[i], beside[j]]):
                    continue
                fine = True
                for r in range(len(rule_value)):
                    if ((rule_value[r] == own[j] and rule_holds[r, i])
                            or (rule_value[r] == own[i] and rule_holds[r, j])):
                        fine = False
                        break
                if fine:
                    own[i], own[j] = own[j], own[i]
                    state[i] = state[j] = True
                    break
            if not state[i]:
                free = True
                for r in range(len(rule_value)):
                    free = free and not rule_holds[r, i]
                if free:  # no rule spoke of this record: the next one with its pair fails, too
                    failed[own[i], beside[i]] = b


@nb.njit(cache=True, nogil=True)
def expected(labels, firsts, share, starts, columns, ends):
    """The expected answer to a query: sum over buckets of records times the groups' mean shares.

    `columns` are those asked for, group after group, each group's ending at `ends`; `share` is per label.
    """
    total = 0.0
    for b in range(len(firsts) - 1):
        size = firsts[b + 1] - firsts[b]
        product, begin = float(size), 0
        for g in range(len(ends)):
            held = 0.0
            for row in range(firsts[b], firsts[b + 1]):
                one = 1.0
                for at in range(begin, ends[g]):
                    j = columns[at]
                    one *= share[starts[j] + labels[row, j]]
                held += one
            product *= held / size
            begin = ends[g]
            if product == 0.0:
                break
        total += product
    return total
