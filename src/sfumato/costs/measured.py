"""The costs of a recoding as it stands, by whatever method it was found."""

from __future__ import annotations

import numpy as np

from sfumato.classes import Floats
from sfumato.costs.base import Cost, Features
from sfumato.costs.cells import Entropy, Height, xlogx
from sfumato.costs.registry import COSTS, make
from sfumato.frequency import FrequencySet
from sfumato.recoding import SUPPRESSED, Regrouping


def measure_all(frequency: FrequencySet, regrouping: Regrouping, weights: Floats) -> dict[str, float]:
    """Every cost of a recoding."""
    return {name: score(make(name, frequency, weights), frequency, regrouping) for name in COSTS}


def score(cost: Cost, frequency: FrequencySet, regrouping: Regrouping) -> float:
    """One cost of a recoding."""
    columns = np.array([_column(cost, frequency, regrouping, j) for j in range(frequency.n_quasi)])
    return float(cost.score(columns[None, :], _features(cost, frequency, regrouping))[0])


def _column(cost: Cost, frequency: FrequencySet, regrouping: Regrouping, j: int) -> float:
    """One quasi-identifier's loss, suppressed records included."""
    sizes = regrouping.sizes(frequency)
    levels, nodes = regrouping.levels[:, j], regrouping.nodes[:, j]
    if isinstance(cost, Entropy):
        return _entropy(frequency, regrouping, j)
    kept = sum(float(cost.cell(j, level)[nodes[levels == level]] @ sizes[levels == level])
               for level in np.unique(levels))
    suppressed = 0 if isinstance(cost, Height) else regrouping.suppressed(frequency)
    if isinstance(cost, Height):  # a node's height counts all of its records
        kept *= frequency.n_records / max(int(sizes.sum()), 1)
    return kept + suppressed * float(cost.full[j])


def _entropy(frequency: FrequencySet, regrouping: Regrouping, j: int) -> float:
    """Non-uniform entropy of one column (see costs.cells.Entropy).

    Where all labels stand on one level, suppressed records lose their label's information first and
    their labels' entropy on top; elsewhere they go straight to the root.
    """
    hierarchy, counts, class_of = frequency.hierarchies[j], frequency.counts, regrouping.class_of
    marginal = np.bincount(frequency.codes[:, j], weights=counts, minlength=hierarchy.n_values)
    under = [np.bincount(nodes, weights=marginal) for nodes in hierarchy.nodes]
    used = np.unique(regrouping.levels[:, j])
    single = int(used[0]) if len(used) == 1 else None
    out = class_of == SUPPRESSED
    fallback = single if single is not None else hierarchy.n_levels - 1
    levels = np.full(len(counts), fallback)
    levels[~out] = regrouping.levels[class_of[~out], j]
    nodes = hierarchy.nodes[levels, frequency.codes[:, j]]
    records_under = np.empty(len(counts))
    for level in np.unique(levels):
        at = levels == level
        records_under[at] = under[level][nodes[at]]
    loss = counts @ (np.log2(records_under) - np.log2(marginal[frequency.codes[:, j]]))
    if single is not None and out.any():
        labels = np.bincount(nodes[out], weights=counts[out])
        loss += float(xlogx(counts[out].sum()) - xlogx(labels).sum())
    return float(loss)


def _features(cost: Cost, frequency: FrequencySet, regrouping: Regrouping) -> Features:
    """The class sums of a recoding, as one row."""
    sizes = regrouping.sizes(frequency).astype(float)
    suppressed = regrouping.suppressed(frequency)
    areas = np.ones(regrouping.n_classes)
    if cost.uses_areas:
        for j, hierarchy in enumerate(frequency.hierarchies):
            pairs = zip(regrouping.levels[:, j], regrouping.nodes[:, j], strict=True)
            areas *= [hierarchy.leaves[level][node] for level, node in pairs]
    none, count = np.zeros((1, frequency.n_quasi)), np.array([regrouping.n_classes])
    squares, spread, covered = (np.array([total]) for total in
                                ((sizes ** 2).sum(), xlogx(sizes).sum(), sizes @ areas))
    return Features(count, np.array([suppressed]), np.array([0]), squares, spread, covered, count, squares,
                    spread, covered, none, none)
