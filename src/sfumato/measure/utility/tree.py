"""Recursive partitioning of a table whose cells may be intervals or sets of values.

A test asks whether a value is one of some: those from a cut on in the order of the column. Numbers and
dates have an order of their own; other values are put in the order of the share that the most frequent
target has among their records, in which for two targets one of the cuts is the best of all subsets
(Breiman et al. 1984, 4.2.2). A record goes to `inside` if its label says that its value is one of them:
all of the label's values are. Any other goes to `outside`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.recoding import Labelling

MOST = 6  # rules of a tree
ROUNDING = 1e-12


@dataclass(frozen=True)
class Predictor:
    """One column as it can be read: the values that a record's label stands for."""

    name: str
    labels: Labelling
    at: Ints  # per row: its label
    n_labels: int
    n_values: int
    rank: Ints | None  # per value: its place in the column's own order, where it has one

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """Per label: where its values start and end in the column's own order."""
        assert self.rank is not None
        return self.labels.ends(self.rank)

    def within(self, values: Bools) -> Bools:
        """Per row: is its value certainly one of these?"""
        met, every = self.labels.under(values), self.labels.under(np.ones(self.n_values))
        return np.asarray(((met == every) & (every > 0))[self.at])

    def meets(self, values: Bools) -> Bools:
        """Per row: can its value be one of these?"""
        return np.asarray((self.labels.under(values) > 0)[self.at])


@dataclass(frozen=True)
class Table:
    """Records that agree in all predictors and in the target, as one row each."""

    predictors: tuple[Predictor, ...]
    target: Ints  # per row, ascending
    counts: Ints
    n_targets: int

    def histogram(self, rows: Ints) -> Ints:
        """The records of each target among some rows."""
        return np.bincount(self.target[rows], weights=self.counts[rows],
                           minlength=self.n_targets).astype(np.int64)


@dataclass(frozen=True)
class Split:
    """The test of a node: is the value of this predictor one of these?"""

    predictor: int
    values: Bools
    gain: float  # G²: twice the logarithm of how much likelier the targets become


@dataclass(eq=False)
class Node:
    """Some of the records, and how they are divided further."""

    rows: Ints
    histogram: Ints
    depth: int
    allowed: dict[int, Bools]  # predictor -> the values that the tests above leave
    best: Split | None
    split: Split | None = None
    inside: Node | None = None
    outside: Node | None = None

    def walk(self) -> Iterator[Node]:
        """This node and all below, each test's `inside` first."""
        yield self
        for child in (self.inside, self.outside):
            if child is not None:
                yield from child.walk()

    @property
    def leaves(self) -> list[Node]:
        """The nodes that are not divided."""
        return [node for node in self.walk() if node.split is None]


def grow(table: Table, least: int, most: int = MOST) -> Node:
    """Divide, again and again, the node that gains most, while a split says more than it takes to say it.

    That is so if G² is above (number of targets) · ln(records): Schwarz' criterion, for one more cut
    and one more distribution of the target. No side of a split has fewer than `least` records.
    """
    rows = np.arange(len(table.counts))
    price = table.n_targets * np.log(max(int(table.counts.sum()), 1))
    root = _node(table, rows, 0, {}, least)
    leaves = [root]
    while len(leaves) < most:
        node = max(leaves, key=lambda one: one.best.gain if one.best else 0.0)
        if node.best is None or node.best.gain <= price:
            break
        leaves.remove(node)
        leaves += _divide(table, node, node.best, least)
    return root


def _divide(table: Table, node: Node, split: Split, least: int) -> tuple[Node, Node]:
    inside = table.predictors[split.predictor].within(split.values)[node.rows]
    made = []
    for side, values in ((inside, split.values), (~inside, ~split.values)):
        before = node.allowed.get(split.predictor)
        allowed = {**node.allowed, split.predictor: values if before is None else values & before}
        made.append(_node(table, node.rows[side], node.depth + 1, allowed, least))
    node.split, (node.inside, node.outside) = split, made
    return made[0], made[1]


def _node(table: Table, rows: Ints, depth: int, allowed: dict[int, Bools], least: int) -> Node:
    histogram = table.histogram(rows)
    pure = np.count_nonzero(histogram) < 2 or histogram.sum() < 2 * least
    return Node(rows, histogram, depth, allowed, None if pure else _best(table, rows, histogram, least))


def _best(table: Table, rows: Ints, histogram: Ints, least: int) -> Split | None:
    """The split that gains most; of equal ones the first column's, with the fewest values inside."""
    starts = np.searchsorted(table.target[rows], np.arange(table.n_targets + 1))
    best: Split | None = None
    for n, predictor in enumerate(table.predictors):
        at, counts = predictor.at[rows], table.counts[rows]
        rank = predictor.rank
        if rank is None:
            rank = _by_share(predictor, at, counts, starts, int(histogram.argmax()))
        first, last = predictor.ends if predictor.rank is not None else predictor.labels.ends(rank)
        highest, none = predictor.n_values - 1, last < 0  # a label of no value lies within nothing
        up, down = np.where(none, 0, first), np.where(none, 0, highest - last)
        for place, ranked in ((up, rank), (down, highest - rank)):
            gains = _gains(place[at], counts, starts, histogram, least, predictor.n_values)
            cut = highest - int(gains[::-1].argmax())
            if gains[cut] > 0 and (best is None or gains[cut] > best.gain * (1 + ROUNDING)):
                best = Split(n, ranked >= cut, float(gains[cut]))
    return best


def _by_share(predictor: Predictor, at: Ints, counts: Ints, starts: Ints, frequent: int) -> Ints:
    """The values ranked by the share of the most frequent target; those that do not occur come first."""
    width = predictor.n_labels
    part = slice(starts[frequent], starts[frequent + 1])
    whole = predictor.labels.spread(np.bincount(at, weights=counts, minlength=width), predictor.n_values)
    having = predictor.labels.spread(np.bincount(at[part], weights=counts[part], minlength=width),
                                     predictor.n_values)
    share = np.where(whole > 0, having / np.maximum(whole, 1e-300), -1.0)
    rank = np.empty(predictor.n_values, dtype=np.int64)
    rank[np.argsort(share, kind="stable")] = np.arange(predictor.n_values)
    return rank


def _gains(place: Ints, counts: Ints, starts: Ints, histogram: Ints, least: int, length: int) -> Floats:
    """Per cut: G² of dividing the rows at or above it from the others; 0 where a side has too few."""
    inside = np.zeros(length)
    likelihood = np.zeros(length)
    for target, records in enumerate(histogram):
        if not records:
            continue
        part = slice(starts[target], starts[target + 1])
        found = np.bincount(place[part], weights=counts[part], minlength=length)[::-1].cumsum()[::-1]
        inside += found
        likelihood += _xlogx(found) + _xlogx(records - found) - _xlogx(records)
    outside = histogram.sum() - inside
    likelihood -= _xlogx(inside) + _xlogx(outside) - _xlogx(histogram.sum())
    return np.where((inside >= least) & (outside >= least), 2 * likelihood, 0.0)


def _xlogx(counts: Floats) -> Floats:
    return np.asarray(counts * np.log(np.maximum(counts, 1)))
