"""The compiled evaluator: the kernels of `kernels.py` and the memory they work in."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise

import numba
import numpy as np
import numpy.typing as npt

from sfumato import kernels
from sfumato.classes import Ints
from sfumato.costs.base import Cost, Features, stack
from sfumato.evaluate import chain_order
from sfumato.frequency import FrequencySet
from sfumato.lattice import Lattice

Words = npt.NDArray[np.uint64]
ARENA_WORDS = 1 << 23
FEW = 16  # nodes for which threads do not pay


class CompiledEvaluator:
    """k-anonymity alone, by the kernels."""

    def __init__(self, frequency: FrequencySet, lattice: Lattice, k: int, cost: Cost) -> None:
        self.k, self.cost, self.lattice = k, cost, lattice
        self._weigh(frequency, cost)
        self.order = chain_order(frequency)
        keys = self._pack(frequency)
        by_word = np.argsort(keys)
        self.keys, self.counts = keys[by_word], frequency.counts[by_word]
        self.workers = [Worker(self, frequency.n_tuples) for _ in range(cores())]

    def _pack(self, frequency: FrequencySet) -> Words:
        """Tuples as words; `lift` holds shifted nodes, so that raising is one look-up and one or.

        The first column of a chain has the lowest bits, so that in sorted words those that merge
        stand near each other.
        """
        order, widths = self.order, [bits(h.n_values) for h in frequency.hierarchies]
        shifts = np.zeros(frequency.n_quasi, dtype=np.uint64)
        shifts[order[1:]] = np.cumsum(np.array(widths)[order])[:-1]
        self.shifts = shifts
        self.masks = np.array([((1 << w) - 1) << int(s) for w, s in zip(widths, shifts, strict=True)],
                              dtype=np.uint64)
        keys = np.zeros(frequency.n_tuples, dtype=np.uint64)
        for j in range(frequency.n_quasi):
            keys |= frequency.codes[:, j].astype(np.uint64) << shifts[j]
        deepest = max(self.lattice.shape)
        self.lift_at = np.zeros((frequency.n_quasi, deepest), dtype=np.int64)
        tables, end = [], 0
        for j, hierarchy in enumerate(frequency.hierarchies):
            for level in range(hierarchy.n_levels):
                self.lift_at[j, level] = end
                tables.append(hierarchy.nodes[level].astype(np.uint64) << shifts[j])
                end += hierarchy.n_values
        self.lift = np.concatenate(tables)
        return keys

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
        self.uses = np.array([cost.uses_cells, cost.uses_spread, cost.uses_labels, cost.uses_areas])

    def evaluate(self, levels: Ints) -> Features:
        """The features of nodes: each worker takes those whose chains start in its part."""
        if len(levels) == 1:
            return self.workers[0].visit(levels)
        row = np.lexsort(levels[:, self.order[::-1]].T)  # neighbours share their chains
        part = levels[row][:, self.order[:2]].sum(axis=1) % len(self.workers)
        shares = [row[part == n] for n in range(len(self.workers))]
        busy = [(worker, share) for worker, share in zip(self.workers, shares, strict=True) if len(share)]
        if len(busy) == 1 or len(row) < FEW:
            found = [worker.visit(np.ascontiguousarray(levels[share])) for worker, share in busy]
        else:
            found = list(pool().map(lambda job: job[0].visit(np.ascontiguousarray(levels[job[1]])), busy))
        back = np.argsort(np.concatenate([share for _, share in busy]))
        return stack(found).take(back)


class Worker:
    """What one thread works in: an arena of frequency sets and a hash table."""

    def __init__(self, shared: CompiledEvaluator, n_tuples: int) -> None:
        self.shared = shared
        self.keys, self.counts = arena(self, max(2 * n_tuples, ARENA_WORDS))
        self.slot_of = np.full(shared.lattice.size, -1, dtype=np.int32)
        sets = min(shared.lattice.size, 1 << 20)
        self.firsts, self.lengths = np.zeros(sets, dtype=np.int64), np.zeros(sets, dtype=np.int64)
        self.used = np.zeros(3, dtype=np.int64)
        self.table = np.empty(1 << max(4, (n_tuples + n_tuples // 4 - 1).bit_length()), dtype=np.int32)
        self.counter = np.zeros(len(shared.cells), dtype=np.int64)
        self.failing = np.empty(n_tuples, dtype=np.int32)

    def visit(self, levels: Ints) -> Features:
        """The features of nodes."""
        s, (n, q) = self.shared, levels.shape
        sums, cells, labels = np.empty((n, 10)), np.empty((n, q)), np.empty((n, q))
        kernels.visit(levels, s.order, s.lattice.strides, s.keys, s.counts, self.slot_of, self.firsts,
                      self.lengths, self.used, self.keys, self.counts, s.lift, s.lift_at, s.masks, s.shifts,
                      self.table, s.k, s.cells, s.node_at, s.leaves, self.counter, s.uses, self.failing,
                      sums, cells, labels)
        kept, whole = sums[:, :5].T, (sums[:, :5] + sums[:, 5:]).T
        suppressed = sums[:, 6].astype(np.int64)
        return Features(kept[0].astype(np.int64), suppressed, suppressed, kept[2], kept[3], kept[4],
                        whole[0].astype(np.int64), whole[2], whole[3], whole[4], cells, labels)


_spare: list[tuple[Words, Ints]] = []


def arena(owner: Worker, words: int) -> tuple[Words, Ints]:
    """Room for frequency sets: what a worker before left, since fresh pages cost more than the search."""
    if words > ARENA_WORDS or not _spare:
        room = np.empty(words, dtype=np.uint64), np.empty(words, dtype=np.int64)
    else:
        room = _spare.pop()
    if words == ARENA_WORDS:
        weakref.finalize(owner, _give_back, room)
    return room


def _give_back(room: tuple[Words, Ints]) -> None:
    if len(_spare) < cores():
        _spare.append(room)


@lru_cache(maxsize=1)
def pool() -> ThreadPoolExecutor:
    """The threads that workers run in."""
    return ThreadPoolExecutor(cores(), thread_name_prefix="sfumato")


def by_all_cores(work: Callable[[slice], None], n: int) -> None:
    """Do something to each of n things, each core to a stretch of them."""
    ends = np.linspace(0, n, cores() + 1).astype(int)
    list(pool().map(work, [slice(*pair) for pair in pairwise(ends)]))


def cores() -> int:
    """How many workers serve: the cores there are, few enough that each finds shared chains."""
    return min(4, int(numba.get_num_threads()))


def bits(values: int) -> int:
    """The width of a field that numbers so many values."""
    return max(1, (values - 1).bit_length())
