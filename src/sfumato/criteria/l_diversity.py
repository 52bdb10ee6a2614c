"""l-diversity: the sensitive values of every class are well represented.

Machanavajjhala, A., Kifer, D., Gehrke, J., Venkitasubramaniam, M. (2007). l-diversity: privacy beyond
k-anonymity. ACM Transactions on Knowledge Discovery from Data 1(1).

| paper | here |
| --- | --- |
| q*-block | class |
| p(q*, s) | share of value s in the class |
| r_1 >= r_2 >= … >= r_m | the class's counts of its m values, most frequent first |

Reading: a missing sensitive value is a value of its own, in all three kinds, so that an entropy
l-diverse class is always distinct l-diverse. It may hide one of the values beside it: to have l known
values in every class whatever is missing, ask for l + 1 distinct ones.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sfumato.classes import Bools, ClassStats, Floats
from sfumato.criteria.base import TOLERANCE, Criterion
from sfumato.criteria.shares import histogram_of, largest, shares, starts, total


class LDiversity(Criterion):
    """At least l well-represented values of a sensitive column in every class.

    Upward only when distinct: values never leave a class that records join, while many records of one
    value lower the entropy and raise r_1. Mergeable in every kind: distinct, because it is upward;
    entropy, because it is concave, so a mixture has at least the smaller entropy of the two; recursive,
    because the most frequent value and the l - 1 most frequent values of a union count at most the sum
    of what they count in its parts, hence r_1 <= r_1' + r_1'' < c (tail' + tail'') <= c tail.
    """

    name: ClassVar[str] = "l-diversity"
    citation: ClassVar[str] = "Machanavajjhala et al. 2007"

    column: str = Field(min_length=1)
    l: float = Field(ge=1)  # noqa: E741  (the paper's letter)
    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.kind == "entropy" and self.l <= 1:
            raise ValueError(f"l is {self.l:g}; entropy l-diversity needs more than 1")
        if self.kind != "entropy" and (self.l < 2 or self.l != int(self.l)):
            raise ValueError(f"l is {self.l:g}; {self.kind} l-diversity needs a whole number of at least 2")
        if self.kind == "recursive" and self.c is None:
            raise ValueError("c is missing; recursive (c,l)-diversity needs it, for example c: 3")
        if self.kind != "recursive" and self.c is not None:
            raise ValueError(f"c belongs to kind: recursive, and the kind is {self.kind}; leave c out")
        return self

    @property
    def upward(self) -> bool:
        """Only the number of distinct values cannot fall when records join."""
        return self.kind == "distinct"

    @property
    def several(self) -> int:
        """l, in every kind: fewer values have a lower entropy, and no r_l."""
        return int(np.ceil(self.l))

    @property
    def counted(self) -> bool:
        """Distinct asks for l values and nothing else."""
        return self.kind == "distinct"

    @property
    def higher_is_better(self) -> bool:
        """More values are better; for recursive the smallest c is measured, where less is."""
        return self.kind != "recursive"

    @property
    def least(self) -> int:
        """One for each of l values."""
        return int(np.ceil(self.l))

    @property
    def threshold(self) -> float:
        """l, or c where the kind is recursive."""
        return self.l if self.c is None else self.c

    @property
    def promise(self) -> str:
        """As in "recursive l = 2, c = 3 for 'income'"."""
        c = "" if self.c is None else f", c = {self.c:g}"
        return f"{self.kind} l = {self.l:g}{c} for {self.column!r}"

    def measure(self, stats: ClassStats) -> Floats:
        """Number of values; exp(entropy), the number of equally frequent values with the same entropy;
        or the bound r_1 / (r_l + … + r_m) that c must exceed, infinite where m < l."""
        measures = {"distinct": self._distinct, "entropy": self._entropy, "recursive": self._recursive}
        return measures[self.kind](stats)

    def holds(self, stats: ClassStats) -> Bools:
        """Which classes satisfy it; recursive is a strict inequality."""
        if self.kind == "recursive":
            return np.asarray(self.measure(stats) < self.threshold - TOLERANCE)
        return super().holds(stats)

    def _distinct(self, stats: ClassStats) -> Floats:
        histogram = histogram_of(stats, self.column)
        return np.bincount(histogram.classes, minlength=stats.n_classes).astype(float)

    def _entropy(self, stats: ClassStats) -> Floats:
        histogram = histogram_of(stats, self.column)
        q = shares(stats, histogram)
        return np.exp(total(histogram, -q * np.log(q), stats.n_classes))

    def _recursive(self, stats: ClassStats) -> Floats:
        histogram = histogram_of(stats, self.column)
        falling = histogram.counts[np.lexsort((-histogram.counts, histogram.classes))]
        first = starts(histogram)
        rank = np.arange(len(falling)) - np.repeat(first, np.diff(first, append=len(falling)))
        tail = total(histogram, np.where(rank >= self.l - 1, falling, 0), stats.n_classes)
        with np.errstate(divide="ignore"):
            return np.asarray(largest(histogram, falling, stats.n_classes) / tail)
