"""The steps of local recoding on one table: sweep, attach, polish."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.classes import Bools, Ints
from sfumato.clusters.axes import Axis
from sfumato.clusters.cuts import Judge, elements
from sfumato.clusters.labels import Elements
from sfumato.criteria.base import Criterion
from sfumato.frequency import FrequencySet
from sfumato.local.grid import State, Trie, dearest_first, grid_of, state_of, trie_of
from sfumato.local.kernels import joins, polish, trie
from sfumato.local.kernels.sweep import sweep
from sfumato.local.levels import levels_of
from sfumato.local.prices import Prices

WORK = 4e9  # tuples that a sweep may look at, node by node
FEW = 0.01  # of the records: changes for which another pass does not pay
PASSES = 4


class Search:
    """The classes of a table, from the sweep on."""

    def __init__(self, frequency: FrequencySet, criteria: Sequence[Criterion], axes: Sequence[Axis],
                 prices: Prices, rng: np.random.Generator) -> None:
        self.frequency, self.axes, self.prices = frequency, axes, prices
        self.least = max(criterion.least for criterion in criteria)
        self.judge = Judge(frequency, criteria)
        self.counted = all(criterion.counted for criterion in criteria)
        self.grid = grid_of(frequency, axes, prices)
        self.levels = levels_of(frequency, axes, self.grid, prices)
        self.words, self.starts = self.levels.words(np.random.default_rng(0))
        self.order = dearest_first(frequency, self.levels.losses)
        several = {column: 0 for criterion in criteria for column in criterion.columns}
        for criterion in criteria:
            for column in criterion.columns:
                several[column] = max(several[column], criterion.several)
        self.columns = [list(frequency.sensitive).index(name) for name, least in several.items() if least > 1]
        self.needed = np.array([least for least in several.values() if least > 1], dtype=np.int64)
        self.pieces = elements(frequency, criteria, True, rng)
        self.state, self.trie = self._swept()

    def _swept(self) -> tuple[State, Trie]:
        """The sweep over cells of equal records; then every record is an item of its own."""
        pieces, n = self.pieces, len(self.pieces.counts)
        class_of, active = np.full(n, -1, dtype=np.int64), np.arange(n)
        self.nodes = self.levels.cheapest_first()
        self.yields = np.zeros(len(self.nodes), dtype=np.int64)
        n_classes, _ = sweep(self.words, self.starts, self.nodes,
                             self.grid.places[pieces.tuple_of], pieces.counts, np.zeros((n, 0), np.uint64),
                             np.zeros(0, np.int64), self.least, 0.0, WORK, active, class_of,
                             self.yields)
        assert pieces.cell_of is not None
        self.piece_of, counts = singles(pieces.counts, 2 * self.least)
        values = self.frequency.cells.values[pieces.cell_of[self.piece_of]][:, self.columns]
        n_classes = max(n_classes, int(counts.sum()) // self.least + 1)  # as many as there can ever be
        state = state_of(n_classes, self.frequency.n_quasi, class_of[self.piece_of],
                         pieces.tuple_of[self.piece_of], counts, np.ascontiguousarray(values))
        joins.gather(self.grid, state)
        index = trie_of(n_classes, self.order)
        trie.fill(self.grid, index, state, state.head >= 0)
        polish.attach(self.grid, state, index, np.flatnonzero(state.class_of < 0), self.least)
        return state, index

    @property
    def cost(self) -> float:
        """What the classes cost."""
        return self.prices.score(self.state.cost)

    def polish(self, passes: int = PASSES) -> None:
        """Dissolve and move, until little changes; nothing where sizes and values do not decide."""
        if not self.counted:
            return
        trie.fill(self.grid, self.trie, self.state, self.state.head >= 0)
        for _ in range(passes):
            if self._polish_once() < FEW * len(self.state.class_of):
                return

    def _polish_once(self) -> int:
        order = np.argsort(-self.state.weight, kind="stable")
        moved = self._move(order) if len(self.needed) else 0  # what was merged is moved first
        gone = polish.dissolve(self.grid, self.state, self.trie, order, self.least)
        return int(gone + moved + self._move(order))

    def _move(self, order: Ints) -> int:
        return int(polish.move(self.grid, self.state, self.trie, order, self.least, self.needed))

    def bad(self, items: Ints, fresh: State, n: int) -> Bools:
        """Which of n new classes of some items break a criterion."""
        assert self.pieces.cell_of is not None
        cells = self.pieces.cell_of[self.piece_of[items]]
        return ~self.judge.holds(Elements(fresh.tuple_of, fresh.counts, fresh.class_of, cells), n)

    def found(self) -> Elements:
        """The classes as pieces of cells."""
        pieces, state = self.pieces, self.state
        assert pieces.cell_of is not None
        cells = pieces.cell_of[self.piece_of]
        order = np.lexsort((state.class_of, cells))
        first = np.flatnonzero((np.diff(cells[order], prepend=-1) != 0)
                               | (np.diff(state.class_of[order], prepend=-1) != 0))
        chosen = order[first]
        return Elements(state.tuple_of[chosen], np.add.reduceat(state.counts[order], first),
                        state.class_of[chosen], cells[chosen])


def singles(counts: Ints, most: int) -> tuple[Ints, Ints]:
    """Pieces as items of one record, at most so many a piece, and one item for what is over.

    >>> singles(np.array([2, 5]), 3)
    (array([0, 0, 1, 1, 1, 1]), array([1, 1, 1, 1, 1, 2]))
    """
    own = np.minimum(counts, most)
    over = counts > most
    piece_of = np.repeat(np.arange(len(counts)), own + over)
    made = np.ones(len(piece_of), dtype=np.int64)
    made[np.cumsum(own + over)[over] - 1] = counts[over] - most
    return piece_of, made


