"""Full-domain generalization by plain loops over records: every node, every criterion, every cost.

Nothing here is shared with the package. A table is a list of records, each a tuple of quasi-identifier
values; `paths[j]` lists, for every value of a hierarchy, its labels from the value to the root.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

Label = str | None
Paths = Sequence[Sequence[tuple[Label, ...]]]
Node = tuple[int, ...]
Classes = dict[tuple[Label, ...], list[int]]  # released labels -> positions of records
Judge = Callable[[list[int], int], bool]  # (records of a class, records of the table) -> good


@dataclass(frozen=True)
class Released:
    """A table at a node: the classes kept and the records suppressed."""

    node: Node
    kept: Classes
    failing: Classes

    @property
    def suppressed(self) -> list[int]:
        return [record for members in self.failing.values() for record in members]


def nodes(paths: Paths) -> Iterator[Node]:
    return itertools.product(*(range(len(column[0])) for column in paths))


def path_of(paths: Paths, column: int, value: Label) -> tuple[Label, ...]:
    for path in paths[column]:
        if path[0] == value:
            return path
    raise KeyError(value)


def release(records: Sequence[tuple[Label, ...]], paths: Paths, node: Node,
            judges: Sequence[Judge]) -> Released:
    classes: Classes = {}
    for position, record in enumerate(records):
        labels = tuple(path_of(paths, j, value)[node[j]] for j, value in enumerate(record))
        classes.setdefault(labels, []).append(position)
    kept, failing = {}, {}
    for labels, members in classes.items():
        good = all(judge(members, len(records)) for judge in judges)
        (kept if good else failing)[labels] = members
    return Released(node, kept, failing)


def leaves(paths: Paths, column: int, level: int, label: Label) -> int:
    return sum(1 for path in paths[column] if path[level] == label)


def area(paths: Paths, node: Node, labels: tuple[Label, ...]) -> int:
    product = 1
    for column, label in enumerate(labels):
        product *= leaves(paths, column, node[column], label)
    return product


def everything(paths: Paths) -> int:
    return math.prod(len(column) for column in paths)


def mean_cells(records: Sequence[tuple[Label, ...]], paths: Paths, released: Released,
               cell: Callable[[int, Label], float]) -> list[float]:
    """Per column: the mean cell cost, a suppressed cell costing 1."""
    means = []
    for column in range(len(paths)):
        total = 0.0
        for labels, members in released.kept.items():
            total += len(members) * cell(column, labels[column])
        if len(paths[column]) > 1:
            total += len(released.suppressed)
        means.append(total / len(records))
    return means


def ncp_means(records: Sequence[tuple[Label, ...]], paths: Paths, released: Released) -> list[float]:
    def cell(column: int, label: Label) -> float:
        under = leaves(paths, column, released.node[column], label)
        return (under - 1) / (len(paths[column]) - 1) if len(paths[column]) > 1 else 0.0
    return mean_cells(records, paths, released, cell)


def ncp(records, paths, weights, released):  # type: ignore[no-untyped-def]
    means = ncp_means(records, paths, released)
    return sum(w * mean for w, mean in zip(weights, means, strict=True)) / sum(weights)


def loss(records, paths, weights, released):  # type: ignore[no-untyped-def]
    product = 1.0
    for w, mean in zip(weights, ncp_means(records, paths, released), strict=True):
        product *= (1 + mean) ** (w / sum(weights))
    return product - 1


def aecs(records, paths, weights, released):  # type: ignore[no-untyped-def]
    return len(records) / (len(released.kept) + (1 if released.failing else 0))


def discernibility(records, paths, weights, released):  # type: ignore[no-untyped-def]
    return sum(len(m) ** 2 for m in released.kept.values()) + len(released.suppressed) * len(records)


def precision(records, paths, weights, released):  # type: ignore[no-untyped-def]
    total = 0.0
    for column, w in enumerate(weights):
        share = released.node[column] / (len(paths[column][0]) - 1)
        for members in released.kept.values():
            total += w * share * len(members)
        total += w * len(released.suppressed)
    return total / len(records) / sum(weights)


def height(records, paths, weights, released):  # type: ignore[no-untyped-def]
    return sum(w * level for w, level in zip(weights, released.node, strict=True))


def entropy(records, paths, weights, released):  # type: ignore[no-untyped-def]
    total = 0.0
    for column, w in enumerate(weights):
        labels = [path_of(paths, column, record[column])[released.node[column]] for record in records]
        of_label, of_value = Counter(labels), Counter(record[column] for record in records)
        lost = 0.0
        for label, record in zip(labels, records, strict=True):
            lost -= math.log2(of_value[record[column]] / of_label[label])
        gone = [labels[position] for position in released.suppressed]
        for count in Counter(gone).values():
            lost -= count * math.log2(count / len(gone))
        total += w * lost
    return total * len(weights) / sum(weights)


def kl(records, paths, weights, released):  # type: ignore[no-untyped-def]
    n, spread = len(records), {}
    for labels, members in released.kept.items():
        for position in members:
            spread[records[position]] = len(members) / n / area(paths, released.node, labels)
    for position in released.suppressed:
        spread[records[position]] = len(released.suppressed) / n / everything(paths)
    return sum(count / n * math.log2(count / n / spread[record])
               for record, count in Counter(records).items())


def ambiguity(records, paths, weights, released):  # type: ignore[no-untyped-def]
    total = len(released.suppressed) * everything(paths)
    for labels, members in released.kept.items():
        total += len(members) * area(paths, released.node, labels)
    return total / len(records)


def worths(records: Sequence[tuple[Label, ...]], paths: Paths, column: int) -> list[float]:
    """The research value of every level of a column without rules, for a weight of 1."""
    at = [path_of(paths, column, record[column]) for record in records]
    real = [path[0] for path in paths[column] if path[0] is not None]
    numbers = bool(real) and all(value.isdigit() for value in real)
    found = []
    for level in range(len(at[0]) - 1):
        spread = 0
        for path in at:
            under = [int(p[0]) for p in paths[column] if p[level] == path[level] and p[0] is not None]
            spread += 1 if path[level] is None or not under else max(under) - min(under) + 1
        labels, values = {path[level] for path in at}, {path[0] for path in at}
        found.append(len(at) / spread if numbers else len(labels) / len(values))
    return [*found, 0.0]


def research(records, paths, weights, released):  # type: ignore[no-untyped-def]
    total, gone = 0.0, len(released.suppressed)
    for column, w in enumerate(weights):
        worth = worths(records, paths, column)
        lost = (len(records) - gone) * (max(worth) - worth[released.node[column]]) + gone * max(worth)
        total += w / sum(weights) * lost / len(records)
    return total


COSTS = {cost.__name__: cost for cost in
         (ncp, loss, aecs, discernibility, precision, height, entropy, kl, ambiguity)}
COSTS["research-value"] = research


def affordable(limit: Fraction, n: int) -> int:
    """Whole records within the limit, one at least being kept."""
    return min(math.floor(limit * n), n - 1)


def feasible(released: Released, limit: Fraction, n: int) -> bool:
    return len(released.suppressed) <= affordable(limit, n)
