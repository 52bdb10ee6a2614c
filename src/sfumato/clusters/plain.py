"""The plain twins of the kernels: they serve small tables, for which no compiler need be loaded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.classes import Floats, Ints


def propose(order: Ints, starts: Ints, places: Ints, counts: Ints, nodes: Ints, first_node: Ints,
            heights: Ints, penalties: Floats, gaps: Ints, weights: Floats, least: int, relaxed: int,
            tried: Ints, columns: Ints, cuts: Ints, shares: Ints) -> None:
    """As `kernels.propose`."""
    levels = [nodes[first:first + height * gap].reshape(height, gap)
              for first, height, gap in zip(first_node, heights, gaps, strict=True)]
    losses = [penalties[first:first + height * gap].reshape(height, gap)
              for first, height, gap in zip(first_node, heights, gaps, strict=True)]
    for p in range(len(starts) - 1):
        members = order[starts[p]:starts[p + 1]]
        columns[p] = -1
        if counts[members].sum() < 2 * least:
            continue
        found = _cuts(places[members], counts[members], levels, losses, weights, least, bool(relaxed))
        for number, (column, cut, share) in enumerate(found, 1):
            if number > tried[p]:
                tried[p] = number
                if cut >= 0:
                    columns[p], cuts[p], shares[p] = column, cut, share
                    break


def _cuts(places: Ints, counts: Ints, levels: list[Ints], losses: list[Floats], weights: Floats, least: int,
          relaxed: bool) -> Iterator[tuple[int, int, int]]:
    """Every cut to try, in order: column, last place to the left (-1: too small a side), share."""
    low, high = places.min(axis=0), places.max(axis=0)
    top = [next(n for n, row in enumerate(levels[j]) if row[low[j]] == row[high[j]])
           for j in range(len(levels))]
    widths = [_width(losses[j][top[j], low[j]], int(low[j]), int(high[j]), levels[j].shape[1]) * weights[j]
              for j in range(len(levels))]
    for j in sorted(range(len(levels)), key=lambda j: (-widths[j], j)):
        if low[j] == high[j]:
            continue
        values, position = np.unique(places[:, j], return_inverse=True)
        totals = np.bincount(position, weights=counts).astype(np.int64)
        for level in range(top[j] - 1, -1, -1):
            yield j, _boundary(values, totals, levels[j][level + 1], levels[j][level], least), 0
        if relaxed:
            yield j, *_middle(values, totals, least)


def _width(penalty: float, low: int, high: int, gap: int) -> float:
    return penalty if penalty >= 0 else (high - low) / max(gap - 1, 1)


def _boundary(values: Ints, totals: Ints, above: Ints, below: Ints, least: int) -> int:
    """As `kernels.boundary`."""
    one, other = values[:-1], values[1:]
    left = np.cumsum(totals)[:-1]
    right = int(totals.sum()) - left
    fits = (below[one] != below[other]) & (above[one] == above[other]) & (left >= least) & (right >= least)
    if not fits.any():
        return -1
    off = np.where(fits, abs(left - right), np.iinfo(np.int64).max)
    return int(one[np.argmin(off)])


def _middle(values: Ints, totals: Ints, least: int) -> tuple[int, int]:
    """As `kernels.middle`."""
    half = int(totals.sum()) // 2
    if half < least:
        return -1, 0
    before = np.cumsum(totals) - totals
    at = int(np.flatnonzero(before + totals > half)[0])
    share = half - int(before[at])
    return (int(values[at]), share) if share else (int(values[at - 1]), 0)


def grouped(part_of: Ints, n_parts: int) -> tuple[Ints, Ints]:
    """As `kernels.grouped`."""
    members = np.flatnonzero(part_of >= 0)
    order = members[np.argsort(part_of[members], kind="stable")]
    sizes = np.bincount(part_of[members], minlength=n_parts)
    return order, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
