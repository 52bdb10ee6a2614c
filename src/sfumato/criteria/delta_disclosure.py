"""δ-disclosure privacy: no class moves the likelihood of a sensitive value by a factor of e^δ or more.

Brickell, J., Shmatikov, V. (2008). The cost of privacy: destruction of data-mining utility in anonymized
data publishing. KDD 2008.

| paper | here |
| --- | --- |
| p(T, s) | share p of value s in the whole table |
| p(QI, s) | share q of value s in the class |

Readings. The definition ranges over every value of the table, so a value that a class lacks has q = 0 and
the class fails whatever δ is: its absence is learnt with certainty. Other tools look only at the values
present (ARX, pycanon); then a class of one value could pass, and merging two good classes could give a bad
one. The logarithm is natural; δ in bits is δ · ln 2 here. The missing value is a value of its own.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from sfumato.classes import Bools, ClassStats, Floats
from sfumato.criteria.base import TOLERANCE, Criterion
from sfumato.criteria.shares import histogram_of, largest, shares


class DeltaDisclosure(Criterion):
    """|ln(q / p)| is below δ for every value of the table in every class.

    Not upward: records of one value may join and raise its share. Mergeable: each q must stay between
    p e^-δ and p e^δ, and a share in a union lies between the shares in its parts.
    """

    name: ClassVar[str] = "delta-disclosure"
    citation: ClassVar[str] = "Brickell & Shmatikov 2008"
    needs_whole: ClassVar[bool] = True

    column: str = Field(min_length=1)
    delta: float = Field(gt=0)

    @property
    def threshold(self) -> float:
        """What |ln(q / p)| must stay below."""
        return self.delta

    @property
    def promise(self) -> str:
        """As in "δ = 1.5 for 'income'"."""
        return f"δ = {self.delta:g} for {self.column!r}"

    def measure(self, stats: ClassStats) -> Floats:
        """The largest |ln(q / p)|, infinite in a class that lacks a value of the table."""
        histogram = histogram_of(stats, self.column)
        p = histogram.whole_share[histogram.values]
        with np.errstate(divide="ignore"):
            distance = np.abs(np.log(shares(stats, histogram) / p))
        present = np.bincount(histogram.classes, minlength=stats.n_classes)
        complete = present >= np.count_nonzero(histogram.whole)
        return np.where(complete, largest(histogram, distance, stats.n_classes), np.inf)

    def holds(self, stats: ClassStats) -> Bools:
        """Which classes satisfy it; the inequality is strict."""
        return np.asarray(self.measure(stats) < self.threshold - TOLERANCE)
