"""Evaluate lattice nodes: group the tuples at a node, let the criteria judge, add up the features.

Both evaluators answer alike. `PlainEvaluator` is numpy and takes any criteria; `CompiledEvaluator`
takes k-anonymity alone and is an order of magnitude faster once its kernels are loaded. `evaluator`
is the one place that chooses.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sfumato.classes import Bools, ClassStats, Ints
from sfumato.costs.base import Cost, Features, stack
from sfumato.costs.cells import xlogx
from sfumato.criteria.base import Criterion
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.frequency import FrequencySet, distinct, merge
from sfumato.hierarchy.core import Codes
from sfumato.lattice import Lattice

WORD_BITS = 56  # a field has at least one bit
ENUMERABLE = 1_500_000  # nodes for which a search keeps tables
SMALL_JOB = 3e8  # tuples x nodes below which loading the compiler costs more than it saves
ARENA_WORDS = 1 << 22


class Evaluator(Protocol):
    """Turns nodes into features."""

    def evaluate(self, levels: Ints) -> Features:
        """The features of nodes, given as one row of levels each."""


def evaluator(frequency: FrequencySet, lattice: Lattice, criteria: Sequence[Criterion],
              cost: Cost) -> Evaluator:
    """The evaluator for a job: compiled where it can serve and pays."""
    only_k = len(criteria) == 1 and isinstance(criteria[0], KAnonymity)
    fits = sum(max(1, (h.n_values - 1).bit_length()) for h in frequency.hierarchies) <= WORD_BITS
    pays = "numba" in sys.modules or float(frequency.n_tuples) * lattice.size > SMALL_JOB
    if only_k and fits and pays and lattice.size <= ENUMERABLE:
        from sfumato.compiled import CompiledEvaluator

        return CompiledEvaluator(frequency, lattice, criteria[0].k, cost)  # type: ignore[attr-defined]
    return PlainEvaluator(frequency, criteria, cost)


@dataclass(frozen=True)
class Grouped:
    """The frequency set of one node."""

    levels: tuple[int, ...]
    nodes: Codes  # [n_classes, n_quasi]
    stats: ClassStats


class PlainEvaluator:
    """Any criteria, by sorting; the twin of the compiled kernels."""

    def __init__(self, frequency: FrequencySet, criteria: Sequence[Criterion], cost: Cost) -> None:
        self.frequency, self.criteria, self.cost = frequency, criteria, cost
        names = {column for criterion in criteria for column in criterion.columns}
        needed = {name: frequency.sensitive[name] for name in sorted(names)}
        bottom = (0,) * frequency.n_quasi
        self.base = Grouped(bottom, frequency.codes, ClassStats(frequency.counts, needed))
        self.order = chain_order(frequency)
        self.stored: dict[tuple[int, ...], Grouped] = {}
        self.words = 0

    def evaluate(self, levels: Ints) -> Features:
        """The features of nodes."""
        return stack([self._features(self.group(node)) for node in levels])

    def group(self, levels: Ints) -> Grouped:
        """The frequency set of a node, rolled up along the chain that kernels.visit describes."""
        grouped, reached = self.base, np.zeros_like(levels)
        for j in self.order:
            if levels[j]:
                reached[j] = levels[j]
                grouped = self._stored(grouped, tuple(int(level) for level in reached))
        return grouped

    def _stored(self, source: Grouped, levels: tuple[int, ...]) -> Grouped:
        if levels not in self.stored:
            rolled = roll_up(source, levels, self.frequency)
            if self.words + rolled.stats.n_classes > ARENA_WORDS:
                self.stored.clear()
                self.words = 0
            self.stored[levels] = rolled
            self.words += rolled.stats.n_classes
        return self.stored[levels]

    def _features(self, grouped: Grouped) -> Features:
        stats = grouped.stats
        good = np.ones(stats.n_classes, dtype=bool)
        always = good.copy()
        for criterion in self.criteria:
            holds = criterion.holds(stats)
            good &= holds
            if criterion.upward:
                always &= holds
        return features(grouped, good, always, self.frequency, self.cost)


def roll_up(source: Grouped, levels: tuple[int, ...], frequency: FrequencySet) -> Grouped:
    """The frequency set of a node from that of a specialization."""
    nodes = source.nodes.copy()
    for j, (low, high) in enumerate(zip(source.levels, levels, strict=True)):
        if low != high:
            hierarchy = frequency.hierarchies[j]
            lift = np.empty(len(hierarchy.labels[low]), dtype=np.int32)
            lift[hierarchy.nodes[low]] = hierarchy.nodes[high]
            nodes[:, j] = lift[nodes[:, j]]
    widths = [len(h.labels[level]) for h, level in zip(frequency.hierarchies, levels, strict=True)]
    class_of, first = distinct(nodes, widths)
    sizes = np.bincount(class_of, weights=source.stats.sizes, minlength=len(first)).astype(np.int64)
    merged = {name: merge(histogram, class_of) for name, histogram in source.stats.sensitive.items()}
    return Grouped(levels, nodes[first], ClassStats(sizes, merged))


def group_at(frequency: FrequencySet, levels: Ints) -> tuple[Ints, Ints, Codes]:
    """Group the tuples at a node: each tuple's class, each class's first tuple, the tuples' nodes."""
    columns = enumerate(zip(frequency.hierarchies, levels, strict=True))
    nodes = np.stack([h.nodes[level][frequency.codes[:, j]] for j, (h, level) in columns], axis=1)
    widths = [len(h.labels[level]) for h, level in zip(frequency.hierarchies, levels, strict=True)]
    return *distinct(nodes, widths), nodes


def features(grouped: Grouped, good: Bools, always: Bools, frequency: FrequencySet,
             cost: Cost) -> Features:
    """Add up one node's features: `good` classes are kept, `always` marks the upward criteria."""
    sizes, bad = grouped.stats.sizes.astype(float), ~good
    areas = np.ones(len(sizes))
    cells, labels = np.zeros(frequency.n_quasi), np.zeros(frequency.n_quasi)
    for j, level in enumerate(grouped.levels):
        nodes = grouped.nodes[:, j]
        if cost.uses_areas:
            areas = areas * frequency.hierarchies[j].leaves[level][nodes]
        if cost.uses_cells and bad.any():
            cells[j] = cost.cell(j, level)[nodes[bad]] @ sizes[bad]
            if cost.uses_labels:
                labels[j] = xlogx(np.bincount(nodes[bad], weights=sizes[bad])).sum()
    squares, spread, covered = sizes ** 2, xlogx(sizes), sizes * areas
    row = (good.sum(), sizes[bad].sum(), sizes[~always].sum(), squares[good].sum(), spread[good].sum(),
           covered[good].sum(), len(sizes), squares.sum(), spread.sum(), covered.sum())
    counts, sums = [np.array([int(n)]) for n in row], [np.array([float(n)]) for n in row]
    return Features(counts[0], counts[1], counts[2], sums[3], sums[4], sums[5], counts[6], sums[7], sums[8],
                    sums[9], cells[None, :], labels[None, :])


def chain_order(frequency: FrequencySet) -> Ints:
    """The quasi-identifiers in the order in which a chain raises them: those with most values first.

    A value counts by how often it occurs (Rényi's entropy of order ½ between the number of values
    and Shannon's): what follows a raised column is smaller by about as many times as it had values.
    """
    roots = [np.sqrt(marginal).sum() for marginal in frequency.marginals]
    return np.argsort(-np.array(roots), kind="stable").astype(np.int64)
