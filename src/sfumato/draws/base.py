"""Drawn: what a method answers whose rows come from counts, sampled or noisy, and not from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.classes import Bools, Floats, Histogram, Ints
from sfumato.criteria.base import Criterion
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Label
from sfumato.recoding import Labelling, Regrouping


@dataclass(frozen=True)
class Drawn:
    """Rows by class and sensitive value; each row says its class's labels and the value.

    `shadow` is the release seen as a table: one tuple per class that has rows, with how many rows of
    which value. Its codes stand for the tuple's number alone.
    """

    shadow: FrequencySet
    labels: Regrouping  # per tuple of `shadow`: its class, and the classes' labels
    criteria: tuple[Criterion, ...] = ()  # what can be counted again
    rate: float = 1.0  # a row stands for so many records: 1 / rate
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def sensitive(self) -> str:
        """The sensitive column."""
        [name] = self.shadow.sensitive
        return name

    @property
    def cells(self) -> Histogram:
        """Class, sensitive value and rows, in that order."""
        return self.shadow.sensitive[self.sensitive]

    @property
    def n_classes(self) -> int:
        """Label combinations that have rows."""
        return self.shadow.n_tuples

    def suppressed(self, frequency: FrequencySet) -> int:
        """Records that were not drawn are not suppressed ones."""
        return 0

    def texts(self, column: int) -> list[Label]:
        """Per class that has rows: its label in one column."""
        names = self.labels.labelling(self.shadow, column).texts
        return [names[at] for at in self.labels.class_of]

    def covers(self, column: int, codes: Ints, classes: Ints) -> Bools:
        """[code, class]: whether the class's label in a column stands for the value."""
        labelling = self.labels.labelling(self.shadow, column)
        made, at = np.empty((len(codes), len(classes)), dtype=bool), self.labels.class_of[classes]
        for n, code in enumerate(codes):
            one = np.zeros(self.shadow.hierarchies[column].n_values)
            one[code] = 1.0
            made[n] = labelling.under(one)[at] > 0
        return made


def drawn(frequency: FrequencySet, sensitive: str, labels: Regrouping, rows: Histogram,
          facts: Mapping[str, Any], criteria: Sequence[Criterion] = (), rate: float = 1.0) -> Drawn:
    """The classes that have rows, under numbers of their own; what is not `rows` comes from the table."""
    kept, class_of = np.unique(rows.classes, return_inverse=True)
    own = Histogram(class_of.astype(np.int64), rows.values, rows.counts, rows.labels, rows.whole)
    sizes = np.bincount(class_of, weights=rows.counts, minlength=len(kept)).astype(np.int64)
    shadow = FrequencySet(frequency.hierarchies, np.zeros((len(kept), frequency.n_quasi), np.int32), sizes,
                          {sensitive: own})
    made = Regrouping(kept.astype(np.int64), labels.levels, labels.nodes, narrower=labels.narrower)
    total = int(sizes.sum())
    records = {"received": frequency.n_records, "kept": total, "suppressed": 0, "added": 0}
    told = {"records": total, "rate": rate, **facts}
    return Drawn(shadow, made, tuple(criteria), rate, {"facts": {"records": records, "drawn": told}})


def sampled(frequency: FrequencySet, sensitive: str, rate: float, rng: np.random.Generator) -> FrequencySet:
    """Every record with the same probability, by itself; the table of those that were drawn."""
    rows = frequency.sensitive[sensitive]
    counts = rng.binomial(rows.counts, rate).astype(np.int64)
    some = counts > 0
    tuples, classes = np.unique(rows.classes[some], return_inverse=True)
    values, counts = rows.values[some], counts[some]
    whole = np.bincount(values, weights=counts, minlength=len(rows.labels)).astype(np.int64)
    histogram = Histogram(classes.astype(np.int64), values, counts, rows.labels, whole)
    sizes = np.bincount(classes, weights=counts, minlength=len(tuples)).astype(np.int64)
    return FrequencySet(frequency.hierarchies, frequency.codes[tuples], sizes, {sensitive: histogram})


class Evenly(Labelling):
    """Labels that stand for equal parts of a domain, `[low..high)`, also where the table has no values."""

    def __init__(self, part_of: Ints, first: Ints, end: Ints, texts: list[Label]) -> None:
        self.part_of, self.first, self.end, self._texts = part_of, first, end, texts

    @cached_property
    def texts(self) -> list[Label]:
        """As the method wrote them."""
        return self._texts

    @property
    def place(self) -> Ints:
        """By where they begin, then by where they end."""
        return self.first * (int(self.end.max(initial=0)) + 1) + self.end

    def under(self, weights: Any) -> Floats:
        """Summed over the table's values whose part lies in the label."""
        real = self.part_of >= 0
        sums = np.bincount(self.part_of[real], weights=np.asarray(weights, dtype=np.float64)[real],
                           minlength=int(self.end.max(initial=0)))
        so_far = np.concatenate([[0.0], np.cumsum(sums)])
        return np.asarray(so_far[self.end] - so_far[self.first])

    def ends(self, rank: Ints) -> tuple[Ints, Ints]:
        """Over the table's values in the label's parts."""
        real, parts = self.part_of >= 0, int(self.end.max(initial=0)) + 1
        lowest, highest = np.full(parts, len(rank), dtype=np.int64), np.full(parts, -1, dtype=np.int64)
        np.minimum.at(lowest, self.part_of[real], rank[real])
        np.maximum.at(highest, self.part_of[real], rank[real])
        bounds = np.stack([self.first, self.end], axis=1).ravel()
        return np.minimum.reduceat(lowest, bounds)[::2], np.maximum.reduceat(highest, bounds)[::2]

    def spread(self, mass: Any, n_values: int) -> Floats:
        """To the table's values in the label's parts alike."""
        each = np.asarray(mass, dtype=np.float64) / np.maximum(self.under(np.ones(n_values)), 1)
        parts = int(self.end.max(initial=0)) + 1
        steps = np.bincount(self.first, weights=each, minlength=parts)
        steps -= np.bincount(self.end, weights=each, minlength=parts)
        return np.asarray(np.where(self.part_of >= 0, np.cumsum(steps)[self.part_of], 0.0))

    def leaves(self, n_values: int) -> Ints:
        """Parts of the domain, not values of the table."""
        return self.end - self.first


def rows_of(classes: Ints, values: Ints, counts: Ints, like: Histogram) -> Histogram:
    """Counts of (class, value) pairs as a histogram: ordered, without those that have none."""
    some = np.flatnonzero(counts > 0)
    keys = classes[some] * len(like.labels) + values[some]
    order = some[np.argsort(keys, kind="stable")]
    whole = np.bincount(values[order], weights=counts[order], minlength=len(like.labels)).astype(np.int64)
    return Histogram(classes[order], values[order], counts[order], like.labels, whole)

