"""Top-down branch and bound over the generalization lattice.

Start at the top, dive greedily to a good node, then visit what is still open from the top down
(class costs with suppression: from two thirds of the way up, where closing goes both ways).
Three facts close nodes unvisited (all are closures along the lattice's order):

- a node that must suppress too much condemns its specializations (predictive tagging);
- what a node certainly suppresses is suppressed in its specializations too, so its penalty adds to
  their floor, the cost without suppression, which needs no grouping;
- for class costs, a node bounds the cost of its generalizations (`Cost.rise`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.costs.base import Cost, Features
from sfumato.evaluate import Evaluator
from sfumato.lattice import Lattice

WAVE = 256
EPSILON = 1e-12


def margin(score: float) -> float:
    """Costs nearer to each other than this are equal; no score yet needs none."""
    return EPSILON * max(1.0, abs(score)) if score < np.inf else 0.0


@dataclass(frozen=True)
class Limits:
    """What a node may suppress, and what follows for its neighbours."""

    suppressed: int  # records at most
    records: int
    upward: bool  # every criterion is: suppression shrinks on the way up
    mergeable: bool  # every criterion is: a node without suppression has none above it

    @property
    def affordable(self) -> int:
        """Records that may be suppressed with at least one left."""
        return min(self.suppressed, self.records - 1)


@dataclass(frozen=True)
class Progress:
    """How a search stands."""

    visited: int
    open: int
    score: float
    bound: float


Watch = Callable[[Progress], None]


@dataclass
class Clock:
    """When to stop: a time budget, and whether Ctrl-C means "take the best so far"."""

    seconds: float | None = None
    interruptible: bool = False
    started: float = field(default_factory=time.perf_counter)
    interrupted: bool = False

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def over(self) -> bool:
        """Whether to stop."""
        return self.interrupted or (self.seconds is not None and self.spent > self.seconds)


@dataclass(frozen=True)
class Found:
    """The best node visited, and what is proven of it."""

    levels: Ints | None  # None: no node keeps the promise, or none was met in time
    score: float
    bound: float  # no node scores less
    visited: int
    proven: bool  # nothing is left open
    closest: Ints  # levels of the node that came closest to being feasible
    missing: int  # records it would suppress beyond the limit


class TopDown:
    """One search. `run` returns what it found."""

    def __init__(self, lattice: Lattice, cost: Cost, evaluator: Evaluator, limits: Limits,
                 clock: Clock, watch: Watch | None = None) -> None:
        self.lattice, self.cost, self.evaluator, self.limits = lattice, cost, evaluator, limits
        self.clock, self.watch = clock, watch
        columns = [cost.totals(j) for j in range(len(lattice.shape))]
        levels = lattice.levels(np.arange(lattice.size))
        self.totals = np.stack([columns[j][levels[:, j]] for j in range(len(columns))], axis=1)
        self.penalties: Floats | None = np.zeros_like(self.totals) if self._penalized else None
        self.certain = np.zeros(lattice.size, dtype=np.int64)
        self.rises = np.full(lattice.size, -np.inf)
        self.failed = np.zeros(lattice.size, dtype=bool)
        self.visited = np.zeros(lattice.size, dtype=bool)
        self.open = np.ones(lattice.size, dtype=bool)
        self.bounds = cost.floor(self.totals, self.certain)
        self.best, self.score = -1, np.inf
        self.closest, self.missing = lattice.top, limits.records

    @property
    def _penalized(self) -> bool:
        return (self.cost.uses_cells and self.cost.falling and self.limits.upward
                and self.limits.suppressed > 0)

    @property
    def _where(self) -> float:
        """Where among the heights of open nodes to go on: at the top, where bounds on what stands below
        close most; but lower where a class cost bounds what stands above, and both can be closed.
        """
        return 1.0 if self.cost.uses_cells or not self.limits.suppressed else 2 / 3

    def run(self) -> Found:
        """Search until nothing is open or the clock says stop."""
        try:
            self._visit(np.array([self.lattice.top]))
            self._dive()
            while len(nodes := self._next_wave()):
                self._visit(nodes)
                if self.clock.over:
                    break
        except KeyboardInterrupt:
            if not self.clock.interruptible or self.best < 0:
                raise
            self.clock.interrupted = True
        return self._found()

    def _dive(self) -> None:
        """Walk down from the top, each time to the cheapest feasible specialization."""
        node = self.lattice.top
        while not self.clock.over:
            below = self.lattice.below(node)
            if not len(below):
                return
            feasible, scores = self._visit(below)
            if not feasible.any():
                return
            node = int(below[np.argmin(np.where(feasible, scores, np.inf))])

    def _next_wave(self) -> Ints:
        """Open nodes of one height, most promising first, as many as one wave takes."""
        self._close()
        nodes = np.flatnonzero(self.open)
        if not len(nodes):
            return nodes
        if self.watch:
            self.watch(Progress(int(self.visited.sum()), len(nodes), self.score,
                                min(self.score, float(self.bounds[nodes].min()))))
        heights = self.lattice.heights[nodes]
        nodes = nodes[heights == np.quantile(heights, self._where, method="nearest")]
        take = max(WAVE, self.lattice.size // 64)
        return np.sort(nodes[np.argsort(self.bounds[nodes], kind="stable")[:take]])

    def _close(self) -> None:
        """Close every node that cannot be feasible or cannot be better."""
        lattice, cost = self.lattice, self.cost
        certain = lattice.spread_down(self.certain) if self.limits.upward else self.certain
        columns = self.totals
        if self.penalties is not None:
            columns = columns + lattice.spread_down(self.penalties)
        self.bounds = np.maximum(cost.floor(columns, certain), lattice.spread_up(self.rises))
        self.open = ~self.visited & ~lattice.spread_down(self.failed)
        slack = margin(self.score)
        self.open &= (self.bounds < self.score - slack) | ((self.bounds <= self.score + slack) & self._lower)

    @property
    def _lower(self) -> Bools:
        """Nodes preferred to the best one if they cost the same: lower ones, then earlier ones."""
        if self.best < 0:
            return np.zeros(self.lattice.size, dtype=bool)
        heights, height = self.lattice.heights, self.lattice.heights[self.best]
        earlier = np.arange(self.lattice.size) < self.best
        return np.asarray((heights < height) | ((heights == height) & earlier))

    def _visit(self, nodes: Ints) -> tuple[Bools, Floats]:
        """Evaluate nodes and keep what they prove; return their feasibility and cost."""
        features = self.evaluator.evaluate(self.lattice.levels(nodes))
        penalties, totals = self.cost.penalties(features), self.totals[nodes]
        scores = self.cost.score(totals + penalties, features)
        feasible = features.suppressed <= self.limits.affordable
        if self.penalties is not None:
            self.penalties[nodes] = penalties
        self.certain[nodes] = features.certain
        self.rises[nodes] = self.cost.rise(totals, features)
        self.failed[nodes] = self._condemns(features)
        self._remember(nodes, feasible, scores, features)
        self.visited[nodes] = True  # last: an interrupted wave stays open
        return feasible, scores

    def _condemns(self, features: Features) -> Bools:
        """Nodes whose specializations cannot be feasible."""
        condemned = features.certain > self.limits.affordable
        if self.limits.mergeable and self.limits.suppressed == 0:
            condemned |= features.suppressed > 0
        return condemned

    def _remember(self, nodes: Ints, feasible: Bools, scores: Floats, features: Features) -> None:
        """Keep the best feasible node (ties: lowest, then first) and the closest infeasible one."""
        excess = features.suppressed - self.limits.affordable
        if excess.min() < self.missing:
            self.missing, self.closest = int(excess.min()), int(nodes[excess.argmin()])
        if not feasible.any():
            return
        good, cheap = nodes[feasible], scores[feasible]
        ties = good[cheap <= cheap.min() + margin(float(cheap.min()))]
        first = int(ties[np.lexsort((ties, self.lattice.heights[ties]))[0]])
        score = float(scores[nodes == first][0])
        slack = margin(score)
        lower = (self.lattice.heights[first], first) < (self.lattice.heights[self.best], self.best)
        if score < self.score - slack or (score <= self.score + slack and lower):
            self.best, self.score = first, score

    def _found(self) -> Found:
        proven = not self.clock.over or not len(self._next_wave())
        bound = self.score
        if not proven:
            bound = min(self.score, float(self.bounds[self.open].min()))
        levels = self.lattice.levels(self.best) if self.best >= 0 else None
        return Found(levels, self.score, bound, int(self.visited.sum()), proven,
                     self.lattice.levels(self.closest), max(self.missing, 0))
