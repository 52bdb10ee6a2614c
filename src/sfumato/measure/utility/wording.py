"""A set of a column's values in words, without values that few records have."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

from sfumato.classes import Bools, Ints
from sfumato.hierarchy.core import Label
from sfumato.hierarchy.domain import number
from sfumato.hierarchy.numeric import interval, written

DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T].*)?")
NAMED = 4  # values that a condition names
MISSING = "missing"


@dataclass(frozen=True)
class Values:
    """One column's values, with the records of each in the private table."""

    column: str
    labels: tuple[Label, ...]
    records: Ints
    least: int  # a value that fewer records have is not named
    bounds: Mapping[int, str] = field(default_factory=dict)  # rank -> how the release's labels write the cut

    @cached_property
    def rank(self) -> Ints | None:
        """The place of each value among numbers or dates, missing values first; None for words."""
        real = [(label, code) for code, label in enumerate(self.labels) if label is not None]
        numbers = [number(label) for label, _ in real]
        if None in numbers and not all(DATE.fullmatch(label) for label, _ in real):
            return None
        keys = [label for label, _ in real] if None in numbers else numbers
        order = sorted(range(len(real)), key=lambda n: (keys[n], real[n]))
        codes = [code for code, label in enumerate(self.labels) if label is None]
        rank = np.empty(len(self.labels), dtype=np.int64)
        rank[[*codes, *(real[n][1] for n in order)]] = np.arange(len(self.labels))
        return rank

    @cached_property
    def order(self) -> Ints:
        """The codes of the values by their rank."""
        assert self.rank is not None
        return np.argsort(self.rank)

    def cut_as(self, labels: Iterable[Label]) -> Values:
        """The same values with the cuts that interval labels make, as they write them."""
        if self.rank is None:
            return self
        real = [self.labels[code] for code in self.order if self.labels[code] is not None]
        numbers = [found for label in real if (found := number(str(label))) is not None]
        if len(numbers) < len(real):
            return self
        ends = {Decimal(repr(end)) for label in set(labels) if label is not None
                for end in interval(label) or () if math.isfinite(end)}
        absent = len(self.labels) - len(real)
        bounds = {absent + bisect_left(numbers, end): written(end) for end in sorted(ends)}
        return replace(self, bounds=bounds)

    @property
    def missing(self) -> Bools:
        """Per value: is it the missing one?"""
        return np.array([label is None for label in self.labels])

    def told(self, values: Bools) -> str:
        """A condition: the column's value is one of these."""
        return self._named(values) if self.rank is None else self._between(values)

    def _named(self, values: Bools) -> str:
        inside = np.flatnonzero(values & (self.records > 0))
        others = np.flatnonzero(~values & (self.records > 0))
        if len(others) < len(inside) and len(others) <= NAMED:
            return f"{self.column} not {self._list(others)}"
        return f"{self.column} {self._list(inside)}"

    def _list(self, codes: Ints) -> str:
        frequent = codes[np.argsort(-self.records[codes], kind="stable")]
        shown = [code for code in frequent[:NAMED] if self.records[code] >= self.least]
        names = [MISSING if self.labels[code] is None else str(self.labels[code]) for code in shown]
        left = len(codes) - len(shown)
        more = f"{left:,} more" if shown else f"one of {left:,} rare values"
        return ", ".join([*names, *([more] if left else [])]) or "none"

    def _between(self, values: Bools) -> str:
        real = [int(code) for code in self.order if self.labels[code] is not None]
        inside = [n for n, code in enumerate(real) if values[code]]
        absent = bool((values & self.missing).any())
        if not inside:
            return f"{self.column} {MISSING if absent else 'none'}"
        low, high = inside[0], inside[-1] + 1
        lower = self.cut(real[low - 1], real[low]) if low else ""
        upper = self.cut(real[high - 1], real[high]) if high < len(real) else ""
        if not lower and not upper:
            return f"{self.column} {'any' if absent or not self.missing.any() else 'not ' + MISSING}"
        said = (f"{lower} ≤ {self.column} < {upper}" if lower and upper else
                f"{self.column} ≥ {lower}" if lower else f"{self.column} < {upper}")
        return said + (f" or {MISSING}" if absent else "")

    def cut(self, below: int, above: int) -> str:
        """A boundary between two neighbours: the upper one, or a rounder place if few records have it."""
        assert self.rank is not None
        if known := self.bounds.get(int(self.rank[above])):
            return known
        low, high = str(self.labels[below]), str(self.labels[above])
        if self.records[above] >= self.least:
            return high
        ends = number(low), number(high)
        if ends[0] is None or ends[1] is None:
            return next(high[:n] for n in (4, 7, 10, len(high)) if high[:n] > low)
        return roundest(ends[0], ends[1])


def roundest(low: Decimal, high: Decimal) -> str:
    """The first number above `low` and up to `high` with the fewest digits.

    >>> roundest(Decimal(6849), Decimal(7298)), roundest(Decimal("0.27"), Decimal("0.31"))
    ('7000', '0.3')
    """
    for power in range(max(low.adjusted(), high.adjusted()) + 1, -400, -1):
        step = Decimal(1).scaleb(power)
        place = ((low / step).to_integral_value(rounding="ROUND_FLOOR") + 1) * step
        if place <= high:
            return f"{place:f}".removesuffix(".0") if place else "0"
    return f"{high:f}"


def classes_of(values: Values, most: int) -> tuple[tuple[str, ...], Ints]:
    """The target's classes: its values; quarters of many numbers; the most frequent of many words.

    Values that few records have are one class, `(other)`.
    """
    frequent = values.records >= values.least
    if values.rank is not None and int((values.records > 0).sum()) > most:
        return _quarters(values)
    shown = np.flatnonzero(frequent)
    if len(shown) > most:
        shown = np.sort(shown[np.argsort(-values.records[shown], kind="stable")][:most - 1])
    names = ["(missing)" if values.labels[code] is None else str(values.labels[code]) for code in shown]
    found = np.full(len(values.labels), len(shown), dtype=np.int64)
    found[shown] = np.arange(len(shown))
    return (*names, *(["(other)"] if (found == len(shown)).any() else [])), found


def _quarters(values: Values) -> tuple[tuple[str, ...], Ints]:
    real = values.order[~values.missing[values.order]]
    so_far = np.cumsum(values.records[real]) - values.records[real]
    total = int(values.records[real].sum())
    quarter = np.unique(4 * so_far // max(total, 1), return_inverse=True)[1]
    found = np.full(len(values.labels), int(quarter.max()) + 1, dtype=np.int64)
    found[real] = quarter
    names = [values.told(found == n) for n in range(int(quarter.max()) + 1)]
    return (*names, *(["(missing)"] if values.missing.any() else [])), found
