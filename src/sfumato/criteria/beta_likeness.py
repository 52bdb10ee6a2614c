"""β-likeness: no class makes a sensitive value much more likely than the whole table does.

Cao, J., Karras, P. (2012). Publishing microdata with a robust privacy guarantee. Proceedings of the
VLDB Endowment 5(11).

| paper | here |
| --- | --- |
| p_i | share of value i in the whole table |
| q_i | share of value i in the class |
| D(p_i, q_i) = (q_i - p_i) / p_i | gain; only values with q_i > p_i are looked at |

Basic: every gain is at most β. Enhanced: every gain is at most min(β, -ln p_i), which keeps the share of a
frequent value away from one. The missing value is a value of its own.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.classes import ClassStats, Floats
from sfumato.criteria.base import TOLERANCE, Criterion
from sfumato.criteria.shares import histogram_of, largest, shares


class BetaLikeness(Criterion):
    """No sensitive value gains more than β, relative to its share in the whole table.

    Not upward: records of one value may join and raise its gain. Mergeable: both kinds bound each
    q_i from above by a number that depends on the table alone, and a share in a union lies between
    the shares in its parts.
    """

    name: ClassVar[str] = "beta-likeness"
    citation: ClassVar[str] = "Cao & Karras 2012"
    needs_whole: ClassVar[bool] = True

    column: str = Field(min_length=1)
    beta: float = Field(gt=0)
    kind: Literal["basic", "enhanced"] = "basic"

    @property
    def threshold(self) -> float:
        """The largest gain allowed."""
        return self.beta

    @property
    def promise(self) -> str:
        """As in "basic β = 2 for 'income'"."""
        return f"{self.kind} β = {self.beta:g} for {self.column!r}"

    def measure(self, stats: ClassStats) -> Floats:
        """The smallest β the class satisfies: its largest gain.

        Enhanced, it is infinite as soon as one gain passes its own -ln p_i, since no β would do;
        otherwise only β is left to bound the gains. So measure <= β says exactly the definition.
        """
        histogram = histogram_of(stats, self.column)
        p = histogram.whole_share[histogram.values]
        with np.errstate(divide="ignore"):
            gain = shares(stats, histogram) / p - 1
            if self.kind == "enhanced":
                gain = np.where((gain > 0) & (gain > TOLERANCE - np.log(p)), np.inf, gain)
        return np.maximum(largest(histogram, gain, stats.n_classes), 0.0)
