"""A release re-coded to single values, so that attacks on original values can be tried on it.

A coarse label becomes one of the values that it may stand for, at random; the column groups of a sliced
release are put together anew in every bucket. What is measured is averaged over several such draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.attack.view import Known, View
from sfumato.classes import Bools, Floats, Ints
from sfumato.hierarchy.core import Codes, Label
from sfumato.hierarchy.domain import number

UNKNOWN = -1  # a label that stands for no value that is known of anybody


@dataclass(frozen=True)
class Space:
    """The values of every column, of people and release alike; the sensitive column stands last."""

    names: tuple[str, ...]
    values: tuple[tuple[Label, ...], ...]

    def numbers(self, column: int) -> Floats | None:
        """Per value its number (missing: NaN), where all are numbers."""
        values = self.values[column]
        read = [None if value is None else number(value) for value in values]
        if any(one is None and value is not None for one, value in zip(read, values, strict=True)):
            return None
        return np.array([np.nan if one is None else float(one) for one in read])

    def coded(self, known: Known) -> Codes:
        """People in the codes of this space."""
        columns = [known.codes[:, known.names.index(name)] for name in self.names[:-1]]
        mapped = [self._codes(j, known.values[known.names.index(name)])[column]
                  for j, (name, column) in enumerate(zip(self.names[:-1], columns, strict=True))]
        assert known.truth is not None
        return np.stack([*mapped, self._codes(-1, known.truth)], axis=1).astype(np.int32)

    def _codes(self, column: int, values: tuple[Label, ...]) -> Ints:
        code = {value: n for n, value in enumerate(self.values[column])}
        return np.array([code[value] for value in values], dtype=np.int64)


def space_of(view: View, people: tuple[Known, ...]) -> Space:
    """All values that people have, and those that the release shows as they are."""
    columns = []
    for j, name in enumerate(view.names):
        covers = view.covers[name]
        plain = [label for n, label in enumerate(view.labels[j]) if not covers.coarse[n]]
        theirs = [value for one in people for value in one.values[one.names.index(name)]]
        columns.append(tuple(dict.fromkeys([*theirs, *plain])))
    truths = [value for one in people for value in one.truth or ()]
    columns.append(tuple(dict.fromkeys([*truths, *view.sensitive_labels])))
    return Space((*view.names, "sensitive"), tuple(columns))


def redraw(view: View, known: Known, space: Space, rng: np.random.Generator) -> Codes:
    """One draw: a row for every released record, in single values."""
    row = np.repeat(np.arange(len(view.counts)), view.counts)
    drawn = np.empty((len(row), len(space.names)), dtype=np.int32)
    for j in range(len(view.names)):
        drawn[:, j] = _single(view, known, space, j, view.codes[row, j], rng)
    place = {label: n for n, label in enumerate(space.values[-1])}
    drawn[:, -1] = np.array([place[label] for label in view.sensitive_labels])[view.sensitive[row]]
    if view.sliced:
        by_bucket = np.argsort(view.bucket_of[row], kind="stable")
        for n, group in enumerate(view.groups):
            order = np.argsort(view.bucket_of[row] + rng.random(len(row)))
            columns = [view.names.index(name) for name in group]
            columns += [len(space.names) - 1] if n == len(view.groups) - 1 else []
            moved = drawn[order]
            for j in columns:
                drawn[by_bucket, j] = moved[:, j]
    return drawn


def _single(view: View, known: Known, space: Space, j: int, labels: Codes, rng: np.random.Generator) -> Ints:
    """A value for each label, drawn evenly from those that it covers."""
    covers, name = view.covers[view.names[j]], view.names[j]
    code = {value: n for n, value in enumerate(space.values[j])}
    mine = np.array([code[value] for value in known.values[known.names.index(name)]], dtype=np.int64)
    plain = np.array([UNKNOWN if coarse else code[label] if same < 0 else mine[same] for label, coarse, same
                      in zip(view.labels[j], covers.coarse, covers.same, strict=True)], dtype=np.int64)
    values = plain[labels]
    for label in np.unique(labels[covers.coarse[labels]]):
        at = np.flatnonzero(labels == label)
        under = mine[covers.of(int(label))]
        values[at] = rng.choice(under, len(at)) if len(under) else UNKNOWN
    return values


@dataclass(frozen=True)
class Scales:
    """How far values are apart: numbers by their joint range, all others by being different."""

    space: Space
    numbers: tuple[Floats | None, ...]
    ranges: tuple[float, ...]

    @classmethod
    def of(cls, space: Space, *tables: Codes) -> Scales:
        """The joint ranges of some tables."""
        numbers = tuple(space.numbers(j) for j in range(len(space.names)))
        ranges = []
        for j, one in enumerate(numbers):
            seen = np.concatenate([table[:, j] for table in tables])
            held = np.array([]) if one is None else one[seen[seen >= 0]]
            held = held[~np.isnan(held)]
            ranges.append(float(np.ptp(held)) if len(held) else 0.0)
        return cls(space, numbers, tuple(one or 1.0 for one in ranges))

    def apart(self, targets: Codes, rows: Codes, columns: Ints) -> Floats:
        """[targets, rows]: the sum over columns (Gower's distance, not divided by their number)."""
        total = np.zeros((len(targets), len(rows)))
        for j in columns:
            left, right, numbers = targets[:, j], rows[:, j], self.numbers[j]
            if numbers is None:
                total += left[:, None] != right[None, :]
                continue
            a, b = numbers[left], np.where(right >= 0, numbers[right], np.nan)
            off = np.abs(a[:, None] - b[None, :]) / self.ranges[j]
            both = np.isnan(a)[:, None] & np.isnan(b)[None, :]
            total += np.where(np.isnan(off), np.where(both, 0.0, 1.0), off)
        return total

    def nearest(self, targets: Codes, rows: Codes, columns: Ints, k: int, rng: np.random.Generator) -> Ints:
        """[targets, k]: the nearest rows; of those equally near, some at random."""
        step = max(1, 4_000_000 // max(len(rows), 1))
        found = []
        for at in range(0, len(targets), step):
            off = self.apart(targets[at:at + step], rows, columns)
            off += rng.random(off.shape) * 1e-9
            found.append(np.argpartition(off, k - 1, axis=1)[:, :k])
        return np.concatenate(found)

    def same(self, guess: Codes, truth: Codes, column: int, tolerance: float) -> Bools:
        """Whether guesses of a column are right: equal, or a number within a relative tolerance."""
        numbers = self.numbers[column]
        if numbers is None:
            return np.asarray(guess == truth)
        a, b = np.where(guess >= 0, numbers[guess], np.nan), numbers[truth]
        near = np.abs(a - b) <= tolerance * (np.abs(a) + 1e-12)
        return np.asarray(near | (guess == truth))
