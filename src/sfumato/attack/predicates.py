"""Singling out: predicates that just one released row satisfies (Giomi et al. 2023, section 5.1).

With one column: values that occur once, and a number below or above all others. With several: a random row's
values of random columns; a number counts as at least where it is above the column's median, else as at most.
Each table counts every distinct row once. Where people and control differ in number, the control's successes
are scaled by the chance that a predicate of such weight singles somebody out (section 5.1 of the paper).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sfumato.attack.redrawn import Scales
from sfumato.classes import Bools, Floats, Ints
from sfumato.hierarchy.core import Codes

TRIES = 20  # for every predicate that is wanted
SIZES, REPEATS = 10, 5  # of the fit
EQUAL, LEAST, MOST = 0, 1, 2


class Part(NamedTuple):
    """One column's part of a predicate: equal to a value, at least its number, or at most."""

    column: int
    relation: int
    value: int


Predicate = tuple[Part, ...]


def singled_out(rows: Codes, people: Codes, control: Codes, scales: Scales, trials: int, width: int,
                rng: np.random.Generator) -> tuple[float, ...]:
    """Successes: main, control (scaled to the people's number), baseline, and predicates found."""
    rows, people, control = (np.unique(table, axis=0) for table in (rows, people, control))
    width = min(width, rows.shape[1])
    drawn = univariate(rows, scales, rng) if width == 1 else multivariate(rows, scales, width, rng)
    found = unique(drawn, rows, scales, trials)
    guesses = [guess(rows, scales, width, rng) for _ in found]
    own, other, base = ([satisfied(one, table, scales) for one in each] for each, table in (
        (found, people), (found, control), (guesses, people)))
    scaled = other.count(1) * ratio(found, control, scales, len(people), rng)
    return float(own.count(1)), min(scaled, float(len(found))), float(base.count(1)), float(len(found))


def unique(drawn: Iterator[Predicate], rows: Codes, scales: Scales, wanted: int) -> list[Predicate]:
    """The first so many distinct predicates that just one released row satisfies."""
    found: dict[Predicate, None] = {}
    for tries, one in enumerate(drawn):
        if len(found) >= wanted or tries >= TRIES * wanted:
            break
        if one not in found and satisfied(one, rows, scales) == 1:
            found[one] = None
    return list(found)


def satisfied(predicate: Predicate, rows: Codes, scales: Scales) -> int:
    """How many rows satisfy a predicate."""
    hit = np.ones(len(rows), dtype=bool)
    for part in predicate:
        hit &= _holds(part, rows[:, part.column], scales)
    return int(hit.sum())


def _holds(part: Part, codes: Codes, scales: Scales) -> Bools:
    numbers = scales.numbers[part.column]
    if part.relation == EQUAL or numbers is None:
        return np.asarray(codes == part.value)
    held = np.where(codes >= 0, numbers[codes], np.nan)
    bound = numbers[part.value]
    return np.asarray(held >= bound if part.relation == LEAST else held <= bound)


def univariate(rows: Codes, scales: Scales, rng: np.random.Generator) -> Iterator[Predicate]:
    """Values that occur once, and both ends of every column of numbers, in random order."""
    parts = []
    for j in range(rows.shape[1]):
        values, counts = np.unique(rows[:, j], return_counts=True)
        parts += [Part(j, EQUAL, int(value)) for value in values[counts == 1] if value >= 0]
        numbers = scales.numbers[j]
        real = [] if numbers is None else [int(v) for v in values if v >= 0 and not np.isnan(numbers[v])]
        if numbers is not None and real:
            ordered = sorted(real, key=numbers.__getitem__)
            parts += [Part(j, MOST, ordered[0]), Part(j, LEAST, ordered[-1])]
    for n in rng.permutation(len(parts)):
        yield (parts[n],)


def multivariate(rows: Codes, scales: Scales, width: int, rng: np.random.Generator) -> Iterator[Predicate]:
    """A random row's values of random columns, without end."""
    medians = [_median(rows[:, j], scales.numbers[j]) for j in range(rows.shape[1])]
    while True:
        row = rows[rng.integers(len(rows))]
        columns = sorted(rng.choice(rows.shape[1], width, replace=False).tolist())
        yield tuple(_part(j, int(row[j]), scales.numbers[j], medians[j]) for j in columns)


def _median(codes: Codes, numbers: Floats | None) -> float:
    held = np.array([]) if numbers is None else numbers[codes[codes >= 0]]
    held = held[~np.isnan(held)]
    return float(np.median(held)) if len(held) else np.nan


def _part(column: int, value: int, numbers: Floats | None, median: float) -> Part:
    if numbers is None or value < 0 or np.isnan(numbers[value]):
        return Part(column, EQUAL, value)
    return Part(column, LEAST if numbers[value] > median else MOST, value)


def guess(rows: Codes, scales: Scales, width: int, rng: np.random.Generator) -> Predicate:
    """A predicate without the release: random columns, relations and values."""
    parts = []
    for j in sorted(rng.choice(rows.shape[1], width, replace=False).tolist()):
        value = int(rng.integers(len(scales.space.values[j])))
        numbers = scales.numbers[j]
        real = numbers is not None and not np.isnan(numbers[value])
        parts.append(Part(j, int(rng.integers(3)) if real else EQUAL, value))
    return tuple(parts)


def integral(n: int, low: float, high: float) -> float:
    """The chance that a predicate with a weight between the bounds has one of n people, averaged over them.

    >>> round(integral(1000, 0, 1) * 1001, 9), round(integral(1000, 0, 0.001), 9)
    (1.0, 0.000264345)
    """
    return float(((n * low + 1) * (1 - low) ** n - (n * high + 1) * (1 - high) ** n) / (n + 1))


def ratio(found: list[Predicate], control: Codes, scales: Scales, people: int,
          rng: np.random.Generator) -> float:
    """How many times likelier it is to single out one of so many people than one of the control."""
    n = len(control)
    if people == n or not found or n < SIZES:
        return 1.0
    sizes = np.linspace(max(n // SIZES, 2), n, SIZES).astype(int)
    rates = [np.mean([[satisfied(one, control[rng.choice(n, size, replace=False)], scales) == 1
                       for one in found[:50]] for _ in range(REPEATS)]) for size in sizes]
    weight = fitted(sizes, np.array(rates))
    return integral(people, 0, weight) / integral(n, 0, weight)


def fitted(sizes: Ints, rates: Floats) -> float:
    """The greatest weight of the predicates, by least squares over a fine grid; the height follows."""
    weights = np.geomspace(1e-6, 1, 400)
    curves = np.array([[integral(int(n), 0, weight) for n in sizes] for weight in weights])
    squares = (curves**2).sum(axis=1)
    height = np.divide(curves @ rates, squares, out=np.zeros_like(squares), where=squares > 0)
    return float(weights[np.argmin(((height[:, None] * curves - rates) ** 2).sum(axis=1))])
