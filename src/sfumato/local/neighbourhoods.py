"""The search on: some classes are dissolved together and their records swept again in another order."""

from __future__ import annotations

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.local.grid import State, state_of, trie_of
from sfumato.local.kernels import joins, polish, renew, trie
from sfumato.local.kernels.sweep import sweep
from sfumato.local.search import Search
from sfumato.search import Clock, Progress, Watch

POLISH = 60  # steps between two passes of the polish
ROUNDS = 3  # of a search that is shorter than that: how it went is told from them
SHARES = 0.15, 0.7  # of the classes that a step dissolves, from and to
FEWER = 0.02, 0.2  # where sensitive values count: many of the freed records find no class of their own
SKIPS = 0.05  # of the good cells that a step passes over
WORK = 4e8
OTHERS = 0.05  # of the nodes that never gave a class, those that a step tries all the same
BITS = np.uint64(1)


class Neighbourhoods:
    """Steps of a large-neighbourhood search. None of them makes the classes dearer."""

    def __init__(self, search: Search, rng: np.random.Generator) -> None:
        self.search, self.rng = search, rng
        losses = [np.asarray(loss)[search.nodes[:, j]] for j, loss in enumerate(search.levels.losses)]
        self.squares = np.stack(losses, axis=1) ** 2
        self.masks = BITS << (search.state.values % 64).astype(np.uint64)  # if two share a bit, they are one
        self.done = 0
        self.costs = [search.state.cost]

    def run(self, steps: int | None, clock: Clock, watch: Watch | None) -> None:
        """So many steps, or until time is up; a polish now and then, and one at the end."""
        rounds = POLISH if steps is None else max(1, min(POLISH, steps // ROUNDS))
        try:
            while (steps is None or self.done < steps) and not clock.over:
                self.step()
                self.done += 1
                if self.done % POLISH == 0:
                    self.search.polish(1)
                if self.done % rounds == 0:
                    self.costs.append(self.search.state.cost)
                if watch:
                    left = steps - self.done if steps is not None else 0
                    watch(Progress(self.done, left, self.search.cost, 0.0))
        except KeyboardInterrupt:
            if not clock.interruptible:
                raise
            clock.interrupted = True
        if self.done:
            self.search.polish()
            self.costs.append(self.search.state.cost)

    def step(self) -> None:
        """Free classes that are alike in some columns, sweep their records, keep what became cheaper."""
        state, grid = self.search.state, self.search.grid
        items = np.flatnonzero(self._freed()[state.class_of])
        if not len(items):
            return
        fresh, n = self._swept(items)
        if not n:
            return
        bad = np.zeros(n, dtype=bool) if self.search.counted else self.search.bad(items, fresh, n)
        kept = renew.better(state, items, fresh, n, bad)
        if kept.any():
            renew.replace(grid, state, items, fresh, kept, np.flatnonzero(state.head < 0))

    def _freed(self) -> Bools:
        """Per class whether it is freed: a hash of its labels in a random choice of columns says so."""
        state, rng = self.search.state, self.rng
        q = state.label.shape[1]
        chosen = rng.permutation(q)[: rng.integers(1, q + 1)]
        odd = rng.integers(0, 2 ** 63, len(chosen), dtype=np.uint64) | BITS
        mixed = (state.label[:, chosen].astype(np.uint64) + BITS) * odd
        keys = np.bitwise_xor.reduce(mixed ^ (mixed >> np.uint64(29)), axis=1) * odd[0]
        share = np.exp(rng.uniform(*np.log(FEWER if self.search.judge.sensitive else SHARES)))
        return np.asarray((keys >> np.uint64(11)).astype(np.float64) < share * 2.0 ** 53)

    def _swept(self, items: Ints) -> tuple[State, int]:
        """The freed items' new classes; how many."""
        search, state = self.search, self.search.state
        rows = search.grid.places[state.tuple_of[items]]
        class_of, active = np.full(len(items), -1, dtype=np.int64), np.arange(len(items))
        nodes, skip = self._order(), SKIPS if self.rng.random() < 0.5 else 0.0
        yields = np.zeros(len(nodes), dtype=np.int64)
        n, _ = sweep(search.words, search.starts, search.nodes[nodes], rows, state.counts[items],
                     self.masks[items], search.needed, search.least, skip, WORK, active, class_of, yields)
        search.yields[nodes] += yields
        fresh = state_of(n, state.label.shape[1], class_of, state.tuple_of[items], state.counts[items],
                         state.values[items])
        joins.gather(search.grid, fresh)
        if n:
            index = trie_of(n, search.order)
            trie.fill(search.grid, index, fresh, fresh.head >= 0)
            polish.attach(search.grid, fresh, index, np.flatnonzero(class_of < 0), search.least)
        return fresh, n

    def _order(self) -> Ints:
        """Nodes that gave classes before and some others, by losses that chance has changed."""
        nodes = np.flatnonzero((self.search.yields > 0) | (self.rng.random(len(self.search.yields)) < OTHERS))
        nodes = np.union1d(nodes, [len(self.search.yields) - 1])  # everything, at last
        factors = np.exp(self.rng.normal(0, 0.5, self.squares.shape[1]))
        sums: Floats = self.squares[nodes] @ factors
        return nodes[np.argsort(sums * self.rng.uniform(0.85, 1.15, len(sums)), kind="stable")]
