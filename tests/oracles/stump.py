"""A decision stump in plain loops, record by record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

Value = str | None


def entropy(values: list[Value]) -> float:
    """Bits a value, times values."""
    return sum(-count * math.log2(count / len(values)) for count in Counter(values).values())


def number(value: Value) -> float | None:
    try:
        return float(value) if value is not None else None
    except ValueError:
        return None


def questions(column: list[Value]) -> Iterator[list[bool]]:
    """Every way in which one question divides the records."""
    numbers = [number(value) for value in column]
    words = [value for value, n in zip(column, numbers, strict=True)
             if n is None and value not in (None, "*")]
    if words or all(n is None for n in numbers):
        for asked in set(column):
            yield [value == asked for value in column]
    else:
        keys = [-math.inf if n is None else n for n in numbers]
        for bound in set(keys):
            yield [key <= bound for key in keys]


def told(target: list[Value], side: list[bool]) -> int:
    """Right guesses when either side's most frequent value is named; naming * is never right."""
    total = 0
    for wanted in (True, False):
        here = Counter(value for value, of in zip(target, side, strict=True) if of is wanted and value != "*")
        total += max(here.values(), default=0)
    return total


def right(columns: list[list[Value]], target: list[Value]) -> int:
    """Right guesses of the question that leaves least entropy; of equal ones the most."""
    found = [(entropy(target), told(target, [True] * len(target)))]
    for column in columns:
        for side in questions(column):
            parts = [[value for value, of in zip(target, side, strict=True) if of is wanted]
                     for wanted in (True, False)]
            if all(parts):
                found.append((sum(map(entropy, parts)), told(target, side)))
    least = min(doubt for doubt, _ in found)
    return max(guesses for doubt, guesses in found if doubt <= least + 1e-9)
