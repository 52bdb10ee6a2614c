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
    if isinstance(cost, Entropy):
        return _entropy(frequency, regrouping, j)
    sizes = regrouping.sizes(frequency)
    kept = float(_weights(cost, frequency, regrouping, j) @ sizes)
    suppressed = 0 if isinstance(cost, Height) else regrouping.suppressed(frequency)
    if isinstance(cost, Height):  # a node's height counts all of its records
        kept *= frequency.n_records / max(int(sizes.sum()), 1)
    return kept + suppressed * float(cost.full[j])


def _weights(cost: Cost, frequency: FrequencySet, regrouping: Regrouping, j: int) -> Floats:
    """Per class: the weight of its cells in one column."""
    levels, nodes = regrouping.levels[:, j], regrouping.nodes[:, j]
    weights = np.empty(len(levels))
    for level in np.unique(levels):
        weights[levels == level] = cost.cell(j, level)[nodes[levels == level]]
    if j not in regrouping.narrower:
        return weights
    leaves = regrouping.narrower[j].leaves(frequency.hierarchies[j].n_values)
    return cost.narrower(j, leaves, weights)


def _entropy(frequency: FrequencySet, regrouping: Regrouping, j: int) -> float:
    """Non-uniform entropy of one column (see costs.cells.Entropy).

    Where all labels are nodes of one level, suppressed records lose their label's information first
    and their labels' entropy on top; elsewhere they go straight to the root.
    """
    counted = regrouping.of(frequency)
    hierarchy, counts, codes = counted.hierarchies[j], counted.counts, counted.codes[:, j]
    marginal = np.bincount(codes, weights=counts, minlength=hierarchy.n_values)
    out = regrouping.class_of == SUPPRESSED
    used = np.unique(regrouping.levels[:, j])
    records_under = np.full(len(counts), float(marginal.sum()))
    records_under[~out] = regrouping.labelling(frequency, j).under(marginal)[regrouping.class_of[~out]]
    single = len(used) == 1 and j not in regrouping.narrower
    if single:
        nodes = hierarchy.nodes[used[0]][codes[out]]
        records_under[out] = np.bincount(hierarchy.nodes[used[0]], weights=marginal)[nodes]
    loss = float(counts @ (np.log2(records_under) - np.log2(marginal[codes])))
    if single and out.any():
        labels = np.bincount(nodes, weights=counts[out])
        loss += float(xlogx(counts[out].sum()) - xlogx(labels).sum())
    return loss


def _features(cost: Cost, frequency: FrequencySet, regrouping: Regrouping) -> Features:
    """The class sums of a recoding, as one row."""
    sizes = regrouping.sizes(frequency).astype(float)
    suppressed = regrouping.suppressed(frequency)
    areas = np.ones(regrouping.n_classes)
    if cost.uses_areas:
        for j, hierarchy in enumerate(frequency.hierarchies):
            areas *= regrouping.labelling(frequency, j).leaves(hierarchy.n_values)
    none, count = np.zeros((1, frequency.n_quasi)), np.array([regrouping.n_classes])
    squares, spread, covered = (np.array([total]) for total in
                                ((sizes ** 2).sum(), xlogx(sizes).sum(), sizes @ areas))
    return Features(count, np.array([suppressed]), np.array([0]), squares, spread, covered, count, squares,
                    spread, covered, none, none)
