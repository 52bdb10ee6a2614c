"""DiffGen's cut: predictors start at their roots and are specialized by noisy choices (Mohammed et al. 2011).

A column's cut covers its domain with disjoint nodes. A node's score looks at all records that carry it,
whatever their other columns are; so a column's own counts by class are all that is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.draws.noise import choose
from sfumato.hierarchy.core import Hierarchy, Label

Score = Literal["max", "gain"]
Node = tuple[int, int]


def score(children: Floats, by: Score) -> Floats:
    """[…, child, class] → how well the children tell the classes: Max, or information gain in bits.

    >>> v1 = np.array([[6.0, 1], [2, 3]])
    >>> float(score(v1, "max")), float(score(v1, "gain").round(5))
    (9.0, 0.16859)
    """
    if by == "max":
        return np.asarray(children.max(axis=-1).sum(axis=-1))
    sizes = children.sum(axis=-1)
    whole = sizes.sum(axis=-1)
    below = (sizes * _entropy(children)).sum(axis=-1)
    return np.asarray(_entropy(children.sum(axis=-2)) - below / np.maximum(whole, 1))


def _entropy(counts: Floats) -> Floats:
    """In bits, of the last axis; 0 where nothing is."""
    share = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    return np.asarray(-(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=-1))


def sensitivity(by: Score, n_classes: int) -> float:
    """How far one record moves a score: 1, or log2 of the number of classes."""
    return 1.0 if by == "max" else float(np.log2(max(n_classes, 2)))


class Column(ABC):
    """One predictor, its counts by class, and its cut."""

    numeric = False
    name: str
    cut: list[Node]

    @abstractmethod
    def children(self, node: Node) -> list[Node]:
        """What a node would be replaced by; nothing where it cannot be specialized."""

    @abstractmethod
    def counts(self, node: Node) -> Floats:
        """Per class: the records that carry the node."""

    @abstractmethod
    def label(self, node: Node) -> Label:
        """As it is released."""

    @abstractmethod
    def position(self) -> Ints:
        """Per value code: the node of the cut that covers it; -1 for missing."""

    def replace(self, node: Node) -> list[Node]:
        """Specialize a node of the cut."""
        at, made = self.cut.index(node), self.children(node)
        self.cut[at:at + 1] = made
        return made


class Taxonomy(Column):
    """A column with a hierarchy, which says the whole domain."""

    def __init__(self, hierarchy: Hierarchy, matrix: Floats) -> None:
        self.name, self.hierarchy, self.matrix = hierarchy.column, hierarchy, matrix
        self.real = np.array([value is not None for value in hierarchy.values])
        self.cut = [(hierarchy.n_levels - 1, 0)]

    def children(self, node: Node) -> list[Node]:
        """The nodes of the next level below that has more than one of them, the missing value's left out."""
        level, number = node
        inside = (self.hierarchy.nodes[level] == number) & self.real
        for below in range(level - 1, -1, -1):
            found = np.unique(self.hierarchy.nodes[below][inside])
            if len(found) > 1:
                return [(below, int(n)) for n in found]
        return []

    def counts(self, node: Node) -> Floats:
        """Summed over the values under it."""
        return np.asarray(self.matrix[(self.hierarchy.nodes[node[0]] == node[1]) & self.real].sum(axis=0))

    def label(self, node: Node) -> Label:
        """The hierarchy's."""
        return self.hierarchy.labels[node[0]][node[1]]

    def position(self) -> Ints:
        """By the hierarchy."""
        found = np.full(self.hierarchy.n_values, -1, dtype=np.int64)
        for n, (level, number) in enumerate(self.cut):
            found[(self.hierarchy.nodes[level] == number) & self.real] = n
        return found


@dataclass(frozen=True)
class Bounds:
    """A column of numbers whose domain is known: from `low` up to, and not including, `high`, in steps."""

    low: float
    high: float
    step: float

    @property
    def parts(self) -> int:
        """How many steps there are."""
        return max(1, int(np.ceil((self.high - self.low) / self.step - 1e-9)))

    def part_of(self, values: Floats) -> Ints:
        """Per number: its step; numbers beyond the bounds count as the nearest, missing ones as -1."""
        missing = np.isnan(values)
        found = np.floor((np.where(missing, self.low, values) - self.low) / self.step + 1e-9)
        return np.where(missing, -1, np.clip(found, 0, self.parts - 1)).astype(np.int64)

    def text(self, part: int) -> str:
        """Where a part begins, as text."""
        return f"{min(self.low + part * self.step, self.high):.12g}"


class Interval(Column):
    """A column of numbers, cut at points that are drawn."""

    numeric = True

    def __init__(self, name: str, bounds: Bounds, part_of: Ints, matrix: Floats) -> None:
        self.name, self.bounds, self.part_of = name, bounds, part_of
        by_part = np.zeros((bounds.parts + 1, matrix.shape[1]))
        np.add.at(by_part, part_of[part_of >= 0] + 1, matrix[part_of >= 0])
        self.so_far = by_part.cumsum(axis=0)
        self.cut = [(0, bounds.parts)]
        self.split: dict[Node, int] = {}  # the point at which each node of the cut would be cut

    def draw(self, node: Node, by: Score, epsilon: float, delta: float) -> None:
        """Choose the point of a node (step 5 of the specification): all points of the grid are candidates."""
        points = np.arange(node[0] + 1, node[1])
        left, right = self.so_far[points] - self.so_far[node[0]], self.so_far[node[1]] - self.so_far[points]
        self.split[node] = int(points[choose(score(np.stack([left, right], axis=1), by), epsilon, delta)])

    def children(self, node: Node) -> list[Node]:
        """Both sides of the drawn point."""
        point = self.split.get(node)
        return [] if point is None else [(node[0], point), (point, node[1])]

    def counts(self, node: Node) -> Floats:
        """From one end to the other."""
        return np.asarray(self.so_far[node[1]] - self.so_far[node[0]])

    def label(self, node: Node) -> Label:
        """As in `[17..38)`."""
        return f"[{self.bounds.text(node[0])}..{self.bounds.text(node[1])})"

    def position(self) -> Ints:
        """By the part of the domain that each value is in."""
        ends = np.array([end for _, end in self.cut])
        return np.where(self.part_of < 0, -1, np.searchsorted(ends, self.part_of, side="right"))


@dataclass
class Ledger:
    """What of the budget was spent on what."""

    epsilon: float
    spent: list[tuple[str, float]] = field(default_factory=list)

    def spend(self, what: str, epsilon: float) -> float:
        """Note it."""
        self.spent.append((what, epsilon))
        return epsilon

    @property
    def total(self) -> float:
        """All of it so far."""
        return sum(epsilon for _, epsilon in self.spent)

    def told(self) -> list[dict[str, float | str]]:
        """What was spent, by purpose."""
        purposes = dict.fromkeys(what for what, _ in self.spent)
        return [{"for": purpose, "times": sum(what == purpose for what, _ in self.spent),
                 "epsilon": sum(epsilon for what, epsilon in self.spent if what == purpose)}
                for purpose in purposes]


def share(epsilon: float, numeric: int, specializations: int) -> float:
    """ε' of one choice: half of the budget over |A_num| + 2h choices.

    >>> [round(share(1.0, *each), 6) for each in ((6, 10), (2, 4), (0, 4))]
    [0.019231, 0.05, 0.0625]
    """
    return epsilon / (2 * max(numeric + 2 * specializations, 1))


def specialize(columns: list[Column], specializations: int, by: Score, ledger: Ledger,
               n_classes: int) -> None:
    """Steps 2 to 4: choose so many nodes, one after the other, and replace each by its children."""
    each = share(ledger.epsilon, sum(column.numeric for column in columns), specializations)
    delta = sensitivity(by, n_classes)
    for column in columns:
        _draw(column, column.cut, by, each, delta, ledger)
    for _ in range(specializations):
        candidates = [(column, node, made) for column in columns for node in column.cut
                      if (made := column.children(node))]
        if not candidates:
            return  # what is left of the budget for choices is not used
        scores = np.array([score(np.stack([column.counts(child) for child in made]), by)
                           for column, _, made in candidates])
        ledger.spend("choices of what to specialize", each)
        column, node, _ = candidates[choose(scores, each, delta)]
        _draw(column, column.replace(node), by, each, delta, ledger)


def _draw(column: Column, nodes: list[Node], by: Score, each: float, delta: float, ledger: Ledger) -> None:
    """Draw the points of new nodes of numbers: no record is in two of them, so it costs once."""
    if not isinstance(column, Interval):
        return
    wide = [node for node in nodes if node[1] - node[0] > 1]
    if wide:
        ledger.spend("points at which numbers are cut", each)
    for node in wide:
        column.draw(node, by, each, delta)
