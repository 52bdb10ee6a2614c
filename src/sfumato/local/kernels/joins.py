"""Labels and what joins them: the lowest label above two, and what it costs."""

from __future__ import annotations

import numba as nb


@nb.njit(cache=True, boundscheck=False, nogil=True)
def joined(grid, j, label, place):
    """The lowest label of column j above a label and a value's place."""
    if grid.ranged[j]:
        n = grid.gaps[j]
        low, high = label // n, label % n
        if low <= place <= high:
            return label
        if low == grid.missing[j] or place == grid.missing[j]:
            return n - 1
        return min(low, place) * n + max(high, place)
    first = grid.first[j]
    while place < grid.low[first + label] or place > grid.high[first + label]:
        label = grid.parent[first + label]
    return label


@nb.njit(cache=True, boundscheck=False, nogil=True)
def merged(grid, j, one, other):
    """The lowest label of column j above two labels."""
    if grid.ranged[j]:
        low, high = other // grid.gaps[j], other % grid.gaps[j]
    else:
        low, high = grid.low[grid.first[j] + other], grid.high[grid.first[j] + other]
    return joined(grid, j, joined(grid, j, one, low), high)


@nb.njit(cache=True, boundscheck=False, nogil=True)
def leaf(grid, j, place):
    """The label of one value alone."""
    return place * grid.gaps[j] + place if grid.ranged[j] else place


@nb.njit(cache=True, boundscheck=False, nogil=True)
def weigh(grid, j, label):
    """What one cell under a label costs."""
    if grid.ranged[j]:
        n = grid.gaps[j]
        return grid.unit[j] * (label % n - label // n) // max(n - 1, 1)
    return grid.weight[grid.first[j] + label]


@nb.njit(cache=True, boundscheck=False, nogil=True)
def with_tuple(grid, state, c, t):
    """What a record of class c would cost if tuple t joined it."""
    total = 0
    for j in range(grid.places.shape[1]):
        total += weigh(grid, j, joined(grid, j, state.label[c, j], grid.places[t, j]))
    return total


@nb.njit(cache=True, boundscheck=False, nogil=True)
def stretch(grid, state, c, t):
    """Tuple t joins the label of class c; whether that changed it."""
    changed, total = False, 0
    for j in range(grid.places.shape[1]):
        label = joined(grid, j, state.label[c, j], grid.places[t, j])
        if label != state.label[c, j]:
            state.label[c, j] = label
            changed = True
        total += weigh(grid, j, label)
    state.weight[c] = total
    return changed


@nb.njit(cache=True, boundscheck=False, nogil=True)
def begin(grid, state, c, t):
    """Class c, empty, gets the label of tuple t."""
    total = 0
    for j in range(grid.places.shape[1]):
        state.label[c, j] = leaf(grid, j, grid.places[t, j])
        total += weigh(grid, j, state.label[c, j])
    state.weight[c] = total
    state.size[c] = 0
    state.head[c] = -1


@nb.njit(cache=True, boundscheck=False, nogil=True)
def link(state, c, i):
    """Item i becomes a member of class c; the label is left alone."""
    state.after[i], state.before[i] = state.head[c], -1
    if state.head[c] >= 0:
        state.before[state.head[c]] = i
    state.head[c] = i
    state.size[c] += state.counts[i]
    state.class_of[i] = c


@nb.njit(cache=True, boundscheck=False, nogil=True)
def unlink(state, c, i):
    """Item i leaves class c; the label is left alone."""
    if state.before[i] >= 0:
        state.after[state.before[i]] = state.after[i]
    else:
        state.head[c] = state.after[i]
    if state.after[i] >= 0:
        state.before[state.after[i]] = state.before[i]
    state.size[c] -= state.counts[i]
    state.class_of[i] = -1


@nb.njit(cache=True, boundscheck=False, nogil=True)
def gather(grid, state):
    """Make members, sizes and labels of all classes from `class_of`."""
    state.head[:] = -1
    state.size[:] = 0
    state.weight[:] = 0
    for i in range(len(state.class_of) - 1, -1, -1):
        c = state.class_of[i]
        if c < 0:
            continue
        if state.head[c] < 0:
            begin(grid, state, c, state.tuple_of[i])
        else:
            stretch(grid, state, c, state.tuple_of[i])
        link(state, c, i)
