"""The compiled evaluator: the kernels of `kernels.py` and the memory they work in."""

from __future__ import annotations

import numpy as np

from sfumato import kernels
from sfumato.classes import Ints
from sfumato.costs.base import Cost, Features
from sfumato.frequency import FrequencySet
from sfumato.lattice import Lattice

ARENA_WORDS = 1 << 23


class CompiledEvaluator:
    """k-anonymity alone, by the kernels."""

    def __init__(self, frequency: FrequencySet, lattice: Lattice, k: int, cost: Cost) -> None:
        self.k, self.cost, self.lattice = k, cost, lattice
        self._weigh(frequency, cost)
        self._store(frequency.n_tuples)
        self._pack(frequency, np.arange(frequency.n_quasi))
        self._pack(frequency, self._merging_order())

    def _pack(self, frequency: FrequencySet, order: Ints) -> None:
        """Tuples as words; `lift` holds shifted nodes, so that raising is one look-up and one or.

        The first column of a chain has the lowest bits and the words are sorted: those that merge
        stand near each other.
        """
        self.order = order
        widths = [bits(h.n_values) for h in frequency.hierarchies]
        shifts = np.zeros(frequency.n_quasi, dtype=np.uint64)
        shifts[order[1:]] = np.cumsum(np.array(widths)[order])[:-1]
        self.shifts = shifts
        self.masks = np.array([((1 << w) - 1) << int(s) for w, s in zip(widths, shifts, strict=True)],
                              dtype=np.uint64)
        self.keys = np.zeros(frequency.n_tuples, dtype=np.uint64)
        for j in range(frequency.n_quasi):
            self.keys |= frequency.codes[:, j].astype(np.uint64) << shifts[j]
        by_word = np.argsort(self.keys)
        self.keys, self.counts = self.keys[by_word], frequency.counts[by_word]
        self.slot_of[:] = -1
        self.used[:] = 0
        deepest = max(self.lattice.shape)
        self.lift_at = np.zeros((frequency.n_quasi, deepest), dtype=np.int64)
        tables, end = [], 0
        for j, hierarchy in enumerate(frequency.hierarchies):
            for level in range(hierarchy.n_levels):
                self.lift_at[j, level] = end
                tables.append(hierarchy.nodes[level].astype(np.uint64) << shifts[j])
                end += hierarchy.n_values
        self.lift = np.concatenate(tables)

    def _weigh(self, frequency: FrequencySet, cost: Cost) -> None:
        """The cost's cell weights and the leaves, all nodes of all levels in one row."""
        deepest = max(self.lattice.shape)
        self.node_at = np.zeros((frequency.n_quasi, deepest + 1), dtype=np.int64)
        cells, leaves, end = [], [], 0
        for j, hierarchy in enumerate(frequency.hierarchies):
            for level in range(hierarchy.n_levels):
                self.node_at[j, level] = end
                cells.append(cost.cell(j, level))
                leaves.append(hierarchy.leaves[level].astype(float))
                end += len(hierarchy.labels[level])
            self.node_at[j, hierarchy.n_levels:] = end
        self.cells, self.leaves = np.concatenate(cells), np.concatenate(leaves)
        self.counter = np.zeros(end, dtype=np.int64)
        self.uses = np.array([cost.uses_cells, cost.uses_spread, cost.uses_labels, cost.uses_areas])

    def _store(self, n_tuples: int) -> None:
        words = max(2 * n_tuples, ARENA_WORDS)
        self.arena_keys = np.empty(words, dtype=np.uint64)
        self.arena_counts = np.empty(words, dtype=np.int64)
        self.slot_of = np.full(self.lattice.size, -1, dtype=np.int32)
        sets = min(self.lattice.size, 1 << 20)
        self.firsts, self.lengths = np.zeros(sets, dtype=np.int64), np.zeros(sets, dtype=np.int64)
        self.used = np.zeros(3, dtype=np.int64)
        self.table = np.empty(1 << max(4, (n_tuples + n_tuples // 4 - 1).bit_length()), dtype=np.int32)

    def _merging_order(self) -> Ints:
        """The quasi-identifiers, those first whose removal merges most tuples."""
        q = len(self.masks)
        tops = np.diag(np.array(self.lattice.shape, dtype=np.int64) - 1)
        tops = tops[tops.any(axis=1)]
        summary = self._visit(tops)
        remaining = np.full(q, len(self.keys), dtype=float)
        remaining[tops.argmax(axis=1)] = summary.all_classes
        return np.argsort(remaining, kind="stable").astype(np.int64)

    def evaluate(self, levels: Ints) -> Features:
        """The features of nodes, visited so that neighbours share their chains."""
        row = np.lexsort(levels[:, self.order[::-1]].T)
        back = np.empty_like(row)
        back[row] = np.arange(len(row))
        return self._visit(np.ascontiguousarray(levels[row])).take(back)

    def _visit(self, levels: Ints) -> Features:
        n, q = levels.shape
        sums, cells, labels = np.empty((n, 10)), np.empty((n, q)), np.empty((n, q))
        kernels.visit(levels, self.order, self.lattice.strides, self.keys, self.counts, self.slot_of,
                      self.firsts, self.lengths, self.used, self.arena_keys, self.arena_counts,
                      self.lift, self.lift_at, self.masks, self.shifts, self.table, self.k, self.cells,
                      self.node_at, self.leaves, self.counter, self.uses, sums, cells, labels)
        kept, whole = sums[:, :5].T, (sums[:, :5] + sums[:, 5:]).T
        suppressed = sums[:, 6].astype(np.int64)
        return Features(kept[0].astype(np.int64), suppressed, suppressed, *kept[2:],
                        whole[0].astype(np.int64), *whole[2:], cells, labels)


def bits(values: int) -> int:
    """The width of a field that numbers so many values."""
    return max(1, (values - 1).bit_length())
