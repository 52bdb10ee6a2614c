"""What no recoding can go below, proven; and how far from it a recoding is.

Give every record a value of at least 0. If in every cell of the lattice that has k records the k dearest are
together worth no more than k records in the cell cost, then no release costs less than all values together: a
class lies in the cell of its label, and its records are on average worth no more than the k dearest there.

Values are found so: they start above what the records cost now; the dearest of every cell that is worth too
much are lowered; all are raised a little, and lowered again. The last pass looks at every cell, and
lowering breaks nothing that holds, so the bound is proven whatever came before.

A lattice with too many nodes is proven over fewer: a level that is left out is represented by the next one's
cells, at the price of its own. Labels that are ranges lie in one of two overlapping rows of blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from sfumato.classes import Ints
from sfumato.clusters.axes import Axis
from sfumato.local.grid import Grid, State
from sfumato.local.kernels.bound import lower
from sfumato.local.levels import Levels
from sfumato.local.prices import Prices
from sfumato.local.search import Search
from sfumato.search import Clock

WORK = 150_000_000  # tuples looked at in one pass over all nodes
ABOVE = 1.2  # where values start, times what the records cost
RAISE, SHRINK, FINEST_RAISE = 1.15, 0.75, 1.008  # the first raise; how it shrinks where it gains little
LITTLE = 1e-3


@dataclass(frozen=True)
class Cover:
    """Groups of a column's places: every label that is not in an earlier cover lies in one of them."""

    groups: tuple[Ints, ...]  # one row of groups, or two that overlap
    price: Ints  # per place: what such a label costs at least


@dataclass(frozen=True)
class Bound:
    """The proven bound, in units, and the records' values behind it."""

    total: int
    values: Ints  # per tuple
    rises: tuple[int, ...]  # the sum of values after each raise, some nodes unlooked at
    nodes: int
    passes: int


def covers_of(axis: Axis, j: int, grid: Grid, prices: Prices) -> list[Cover]:
    """A column's covers, from single values to everything."""
    if axis.style != "range":
        return [Cover((nodes,), prices.of_level(j, level)[axis.nodes[level]])
                for level, nodes in enumerate(axis.nodes)]
    n, missing = axis.n_values, axis.missing
    places, real = np.arange(n), n - (missing >= 0)
    found, size, span = [Cover((places,), np.zeros(n, dtype=np.int64))], 2, 1
    while size // 2 < real:
        rows = [places // size, (places + size // 2) // size]
        for row in rows:
            row[missing if missing >= 0 else n:] = n
        found.append(Cover(tuple(rows), np.full(n, grid.unit[j] * span // max(n - 1, 1))))
        size, span = 2 * size, size // 2 + 1
    price = grid.unit[j] * min(span, n - 1) // max(n - 1, 1)
    return [*found, Cover((np.zeros(n, dtype=np.int64),), np.full(n, price))] if n > 1 else found


def thinned(covers: Sequence[Sequence[Cover]], most: float) -> list[list[Cover]]:
    """Fewer covers, until their combinations are few enough; each left out lends its price to the next."""
    kept = [list(column) for column in covers]
    while prod(sum(len(c.groups) for c in column) for column in kept) > most:
        steps = [(float(np.mean(column[n + 1].price - column[n].price)), j, n)
                 for j, column in enumerate(kept) for n in range(1, len(column) - 1)]
        if not steps:
            break
        _, j, n = min(steps)
        taken, above = kept[j].pop(n), kept[j][n]
        kept[j][n] = Cover(above.groups, np.minimum(taken.price, above.price))
    return [[Cover(c.groups, _least(c)) for c in column] for column in kept]


def _least(cover: Cover) -> Ints:
    """Per place: the least price in its group (of two rows of groups: everywhere)."""
    if len(cover.groups) > 1:
        return np.full(len(cover.price), cover.price.min())
    least = np.full(int(cover.groups[0].max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, cover.groups[0], cover.price)
    return np.asarray(least[cover.groups[0]])


class Prover:
    """Lowers and raises the values of one table's tuples."""

    def __init__(self, axes: Sequence[Axis], grid: Grid, prices: Prices, least: int) -> None:
        self.grid, self.least, self.counts = grid, least, prices.frequency.counts
        every = [covers_of(axis, j, grid, prices) for j, axis in enumerate(axes)]
        covers = thinned(every, max(WORK / len(self.counts), 2.0 ** len(axes)))
        rows = [[(group, c.price) for c in column for group in c.groups] for column in covers]
        self.levels = Levels([np.stack([group for group, _ in column]) for column in rows],
                             [np.array([float(price.mean()) for _, price in column]) for column in rows])
        self.words, self.starts = self.levels.words(np.random.default_rng(1))
        self.costs = np.concatenate([price for column in rows for _, price in column])
        floors = [np.array([float(price.min()) for _, price in column]) for column in rows]
        order = np.argsort(self.levels.sums(floors), kind="stable")
        self.nodes = self.levels.nodes(order)
        self.floors = self.levels.sums(floors)[order].astype(np.int64)
        self.top = sum(int(column[-1][1].max()) for column in rows)

    def run(self, state: State, clock: Clock) -> Bound:
        """Values that are proven, from what the tuples cost in a recoding."""
        paid = np.bincount(state.tuple_of, weights=state.counts * state.weight[state.class_of],
                           minlength=len(self.counts)) / self.counts
        values = np.minimum(paid * ABOVE, self.top).astype(np.int64)
        binding = self._pass(values, np.arange(len(self.nodes)))
        rises, best, raised = [self._total(values)], values, RAISE
        while raised > FINEST_RAISE and len(binding) and not clock.over:
            values = np.minimum(values * raised, self.top).astype(np.int64)
            self._pass(values, binding)
            rises.append(self._total(values))
            best = values if rises[-1] >= max(rises) else best
            if rises[-1] - rises[-2] <= LITTLE * rises[-2]:
                raised = 1 + (raised - 1) * SHRINK
        best = best.copy()
        self._pass(best, np.arange(len(self.nodes)))
        return Bound(self._total(best), best, tuple(rises), len(self.nodes), 1 + len(rises))

    def _total(self, values: Ints) -> int:
        return int(values @ self.counts)

    def _pass(self, values: Ints, nodes: Ints) -> Ints:
        """Lower the values over some nodes; those that lowered any."""
        order = np.argsort(-values, kind="stable")
        falling, hits = values[order], np.zeros(len(nodes), dtype=np.int64)
        lower(self.words, self.starts, self.costs, self.floors[nodes], self.nodes[nodes],
              np.ascontiguousarray(self.grid.places[order]), self.counts[order], falling, self.least, hits)
        values[order] = falling
        return np.asarray(nodes[hits > 0])


def certificate(found: Bound, search: Search, costs: Sequence[int]) -> dict[str, Any]:
    """What is proven of a recoding, and what its search (through these costs) and proof might still do."""
    state, prices = search.state, search.prices
    score = search.cost
    bound = min(prices.score(found.total), score)
    worth = np.bincount(state.class_of, weights=state.counts * found.values[state.tuple_of],
                        minlength=len(state.size))
    tight = worth >= state.size * state.weight
    gap = max(score - bound, 0.0)
    rising = _share(found.rises, prices.unit, gap)
    falling = _share([-cost for cost in costs], prices.unit, gap * (1 - (rising or 0.0)), gap)
    return {"bound": float(bound), "score": float(score), "within": float(gap / bound) if bound > 0 else None,
            "records_at_their_bound": int(state.size[tight].sum()),
            "bound_part": rising, "search_part": falling, "nodes": found.nodes, "passes": found.passes}


def _share(series: Sequence[int], unit: float, most: float, gap: float | None = None) -> float | None:
    """The share of the gap that a rising series would still close; None where too short to judge by."""
    gap = most if gap is None else gap
    if not gap:
        return 0.0
    left = _further(series)
    return None if left is None else float(min(left * unit, most) / gap)


def _further(series: Sequence[int]) -> float | None:
    """What a rising series would still gain if its steps went on shrinking as its last ones do."""
    steps = np.diff(np.array(series, dtype=float))
    if len(steps) < 2:
        return None
    if steps[-1] <= 0 or steps[-2] <= 0:
        return 0.0
    ratio = min(steps[-1] / steps[-2], 0.9)
    return float(steps[-1] * ratio / (1 - ratio))

