"""Buckets: the table cut in two again and again, as Mondrian does, without generalizing anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.classes import Bools, Floats, Histogram, Ints
from sfumato.frequency import FrequencySet
from sfumato.slices.correlation import positions
from sfumato.slices.grouping import coded

SMALL = 2000  # tuples for which a compiler does not pay
SLACK = 1e-9


@dataclass(frozen=True)
class Blocks:
    """The sensitive column group: a block is one combination of its quasi-identifiers' values."""

    of_row: Ints  # per distinct row: its block
    cells: Ints  # per distinct row: its block and sensitive value together
    n_blocks: int
    n_cells: int

    @classmethod
    def of(cls, frequency: FrequencySet, rows: Histogram, members: list[int]) -> Blocks:
        """The blocks of a group that has these quasi-identifiers beside the sensitive column."""
        columns = [frequency.codes[rows.classes, j].astype(np.int64) for j in members]
        of_row, first = coded([np.zeros(len(rows.counts), dtype=np.int64), *columns])
        cells, found = coded([of_row, rows.values])
        return cls(of_row, cells, len(first), len(found))

    def diverse(self, counts: Ints, l: float) -> bool:  # noqa: E741
        """Whether the whole table as one bucket keeps every p(t, s) at 1/l or below."""
        of_block = np.bincount(self.of_row, weights=counts)
        of_cell = np.bincount(self.cells, weights=counts)
        return bool((of_cell[self.cells] * l <= of_block[self.of_row] + SLACK).all())

    def worst(self, counts: Ints) -> float:
        """The largest share that a sensitive value has of a block of the whole table."""
        of_block = np.bincount(self.of_row, weights=counts)
        return float((np.bincount(self.cells, weights=counts)[self.cells] / of_block[self.of_row]).max())


def buckets(frequency: FrequencySet, rows: Histogram, blocks: Blocks, k: int, l: float) -> Ints:  # noqa: E741
    """Per tuple: its bucket. The widest quasi-identifier is cut at its median; the next ones are tried."""
    ranks, places, spans = geometry(frequency)
    starts = np.searchsorted(rows.classes, np.arange(frequency.n_tuples + 1))
    if frequency.n_tuples <= SMALL:
        return _plain(frequency, rows, blocks, k, l)
    from sfumato.slices import kernels

    made: Ints = kernels.partition(ranks, places, spans, frequency.counts, starts, blocks.cells,
                                   blocks.of_row, rows.counts, blocks.n_cells, blocks.n_blocks, k, 1 / l)
    return made


def geometry(frequency: FrequencySet) -> tuple[Ints, Floats, Floats]:
    """Each tuple's rank in each quasi-identifier, where the ranks lie, and how far they reach.

    Numbers lie where they are, missing beyond the largest; other values one step apart, in the order
    of their hierarchy.
    """
    widest = max(h.n_values for h in frequency.hierarchies)
    ranks = np.empty((frequency.n_tuples, frequency.n_quasi), dtype=np.int64)
    places = np.zeros((frequency.n_quasi, widest))
    for j, hierarchy in enumerate(frequency.hierarchies):
        at = positions(hierarchy.values)
        if at is None:
            at = np.arange(hierarchy.n_values, dtype=float)
        at = np.where(np.isnan(at), np.nanmax(at) + 1, at)
        order = np.argsort(at, kind="stable")
        rank_of = np.empty_like(order)
        rank_of[order] = np.arange(len(order))
        ranks[:, j] = rank_of[frequency.codes[:, j]]
        places[j, : len(order)] = at[order]
    spans = np.array([np.ptp(places[j, ranks[:, j]]) for j in range(frequency.n_quasi)])
    return ranks, places, np.where(spans > 0, spans, 1.0)


def _plain(frequency: FrequencySet, rows: Histogram, blocks: Blocks, k: int, l: float) -> Ints:  # noqa: E741
    """The twin of `kernels.partition` in plain numpy."""
    ranks, places, spans = geometry(frequency)
    bucket_of = np.empty(frequency.n_tuples, dtype=np.int64)
    queue, done = [np.arange(frequency.n_tuples)], 0
    while queue:
        tuples = queue.pop()
        halves = next((halves for halves in _cuts(tuples, ranks, places, spans, frequency.counts, k)
                       if all(_diverse(half, frequency.n_tuples, rows, blocks, l) for half in halves)), None)
        if halves is None:
            bucket_of[tuples] = done
            done += 1
        else:
            queue += [halves[1], halves[0]]
    return bucket_of


def _cuts(tuples: Ints, ranks: Ints, places: Floats, spans: Floats, sizes: Ints,
          k: int) -> Iterator[tuple[Ints, Ints]]:
    """The two halves by each quasi-identifier in turn, the widest first, where both are large enough."""
    mine = ranks[tuples]
    widths = np.array([np.ptp(places[j, mine[:, j]]) / spans[j] for j in range(mine.shape[1])])
    records = int(sizes[tuples].sum())
    for j in np.argsort(-widths, kind="stable"):
        if widths[j] <= 0 or records < 2 * k:
            return
        found, position = np.unique(mine[:, j], return_inverse=True)
        below = np.cumsum(np.bincount(position, weights=sizes[tuples]))[:-1]
        rank = found[np.argmin(abs(2 * below - records))]
        left: Bools = mine[:, j] <= rank
        if min(sizes[tuples[left]].sum(), sizes[tuples[~left]].sum()) >= k:
            yield tuples[left], tuples[~left]


def _diverse(tuples: Ints, n_tuples: int, rows: Histogram, blocks: Blocks, l: float) -> Any:  # noqa: E741
    inside = np.zeros(n_tuples, dtype=bool)
    inside[tuples] = True
    return blocks.diverse(np.where(inside[rows.classes], rows.counts, 0), l)
