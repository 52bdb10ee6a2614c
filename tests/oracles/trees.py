"""Recursive partitioning by plain loops: records one by one, their cells as sets of values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations


@dataclass(frozen=True)
class Record:
    """What can be read of a person: the values each cell stands for, and the target."""

    cells: tuple[frozenset[int], ...]
    target: int


def likelihood(records: Sequence[Record]) -> float:
    """The logarithm of how likely these targets are, given their shares."""
    counts = Counter(record.target for record in records)
    return math.fsum(n * math.log(n / len(records)) for n in counts.values())


def divided(records: Sequence[Record], column: int,
            values: frozenset[int]) -> tuple[list[Record], list[Record]]:
    """Those whose cell lies within the values, and the others."""
    inside = [record for record in records if record.cells[column] <= values]
    return inside, [record for record in records if not record.cells[column] <= values]


def gain(records: Sequence[Record], column: int, values: frozenset[int], least: int) -> float:
    """G² of a test, 0 where a side has too few records."""
    parts = divided(records, column, values)
    if min(map(len, parts)) < least:
        return 0.0
    return 2 * (math.fsum(map(likelihood, parts)) - likelihood(records))


def cuts(order: Sequence[int]) -> Iterator[frozenset[int]]:
    """The values from each place of an order up, and down."""
    for place in range(1, len(order)):
        yield frozenset(order[place:])
        yield frozenset(order[:place])


def by_share(records: Sequence[Record], column: int, n_values: int) -> list[int]:
    """Values by the share of the most frequent target among their records, cells spread evenly."""
    counts = Counter(record.target for record in records)
    frequent = min(counts, key=lambda target: (-counts[target], target))
    having, whole = Counter[int](), Counter[int]()
    for record in records:
        for value in record.cells[column]:
            part = Fraction(1, len(record.cells[column]))
            whole[value] += part  # type: ignore[assignment]
            having[value] += part * (record.target == frequent)  # type: ignore[assignment]
    return sorted(range(n_values), key=lambda v: (Fraction(having[v]) / whole[v] if whole[v] else -1, v))


def subsets(n_values: int) -> Iterator[frozenset[int]]:
    """All tests that a column allows."""
    every = range(n_values)
    return map(frozenset, chain.from_iterable(combinations(every, n) for n in range(1, n_values)))


def best(records: Sequence[Record], orders: Sequence[list[int] | None], widths: Sequence[int],
         least: int) -> float:
    """The largest gain of any column and cut."""
    found = [0.0]
    for column, order in enumerate(orders):
        line = by_share(records, column, widths[column]) if order is None else order
        found += [gain(records, column, values, least) for values in cuts(line)]
    return max(found)
