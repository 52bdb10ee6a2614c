"""Best-first search of a lattice too large for a table of its nodes.

Nodes are generated upwards from the bottom, each exactly once (a child raises its parent's last
raised column or a later one), and taken in the order of their lower bounds. When the cheapest bound
left reaches the best score, that score is proven; when time runs out, it is the bound of the answer.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.costs.base import Cost
from sfumato.evaluate import Evaluator
from sfumato.lattice import Lattice
from sfumato.search import Clock, Found, Limits, Progress, Watch, margin

SECONDS = 60.0  # the budget where none is given
BATCH = 32


class BestFirst:
    """One search. `run` returns what it found."""

    def __init__(self, lattice: Lattice, cost: Cost, evaluator: Evaluator, limits: Limits,
                 clock: Clock, watch: Watch | None = None) -> None:
        self.cost, self.evaluator, self.limits = cost, evaluator, limits
        self.clock, self.watch = clock, watch
        self.clock.seconds = self.clock.seconds or SECONDS
        self.tops = np.array(lattice.shape, dtype=np.int64) - 1
        self.totals = [cost.totals(j) for j in range(len(lattice.shape))]
        self.least = self.totals  # here or above
        if not cost.falling:
            self.least = [np.minimum.accumulate(column[::-1])[::-1] for column in self.totals]
        self.best: Ints | None = None
        self.score = np.inf
        self.closest, self.missing = self.tops, limits.records
        self.visited = 0
        bottom = np.zeros_like(self.tops)
        self.bound = float(self._floor(bottom[None, :])[0])  # of the nodes still in line or in hand
        self.heap = [(self.bound, tuple(bottom.tolist()), 0)]

    def run(self) -> Found:
        """Dive from the top for a good score, then prove it or better it from below."""
        try:
            self._visit(self.tops[None, :])
            self._dive()
            while self.bound < self._to_beat and not self.clock.over:
                self._expand()
                self.bound = self.heap[0][0] if self.heap else np.inf
        except KeyboardInterrupt:
            if not self.clock.interruptible or self.best is None:
                raise
            self.clock.interrupted = True
        proven = self.bound >= self._to_beat
        return Found(self.best, self.score, self.score if proven else self.bound, self.visited, proven,
                     self.closest, max(self.missing, 0))

    @property
    def _to_beat(self) -> float:
        return self.score - margin(self.score)

    def _dive(self) -> None:
        """Walk down from the top, each time to the cheapest feasible specialization."""
        node = self.tops
        while not self.clock.over:
            below = node - np.eye(len(node), dtype=np.int64)[node > 0]
            if not len(below):
                return
            feasible, scores = self._visit(below)
            if not feasible.any():
                return
            node = below[np.argmin(np.where(feasible, scores, np.inf))]

    def _expand(self) -> None:
        """Visit the nodes with the lowest bounds and put their children in line."""
        taken = [heapq.heappop(self.heap) for _ in range(min(BATCH, len(self.heap)))]
        self._visit(np.array([node for _, node, _ in taken]))
        for node, last in ((node, last) for _, node, last in taken):
            for child, column in self._children(node, last):
                bound = float(self._floor(np.array([child]))[0])
                if bound < self._to_beat:
                    heapq.heappush(self.heap, (bound, child, column))
        if self.watch:
            self.watch(Progress(self.visited, len(self.heap), self.score, min(self.bound, self.score)))

    def _children(self, node: tuple[int, ...], last: int) -> Iterable[tuple[tuple[int, ...], int]]:
        for j in range(last, len(node)):
            if node[j] < self.tops[j]:
                yield (*node[:j], node[j] + 1, *node[j + 1:]), j

    def _columns(self, levels: Ints, of: list[Floats] | None = None) -> Floats:
        return np.stack([column[levels[:, j]] for j, column in enumerate(of or self.totals)], axis=1)

    def _floor(self, levels: Ints) -> Floats:
        return self.cost.floor(self._columns(levels, self.least), np.zeros(len(levels), dtype=np.int64))

    def _visit(self, levels: Ints) -> tuple[Bools, Floats]:
        """Evaluate nodes and remember the best; return their feasibility and cost."""
        features = self.evaluator.evaluate(levels)
        self.visited += len(levels)
        scores = self.cost.score(self._columns(levels) + self.cost.penalties(features), features)
        excess = features.suppressed - self.limits.affordable
        feasible = excess <= 0
        if excess.min() < self.missing:
            self.missing, self.closest = int(excess.min()), levels[excess.argmin()]
        if feasible.any():
            first = int(np.argmin(np.where(feasible, scores, np.inf)))
            if scores[first] < self._to_beat:
                self.best, self.score = levels[first], float(scores[first])
        return feasible, scores
