"""Confidence after two releases: how sure whoever intersects two sampled releases may be of a value.

After Baig, M. M., Li, J., Liu, J., Ding, X., Wang, H. (2012), DASFAA, LNCS, 320-334, of which it is known
that (ρ, α)-anonymization samples. What ρ and α say here is **ours**.

Both publishers draw each record with probability ρ. With ρ² a person is in both releases, and the values
common to both classes are the person's and F others (the law of `criteria.linkable`): a guess is right with
1 / (1 + F). Else one class alone is seen, and a guess is right with the largest share that a value has of it,
or of the whole release, whichever is more: confidence = ρ² E[1 / (1 + F)] + (1 - ρ²) share.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from sfumato.classes import ClassStats, Floats
from sfumato.criteria.base import Criterion
from sfumato.criteria.linkable import PORTION, companions, covered
from sfumato.criteria.shares import histogram_of, largest, shares


class Confidence(Criterion):
    """Nobody who intersects two such releases is more than α sure of a value, on average over the other.

    Mergeable: a union has at least the companions of each part (see `criteria.linkable`), and its largest
    share is at most the larger of theirs. Not upward: records of one value may join.
    """

    name: ClassVar[str] = "confidence"
    citation: ClassVar[str] = "after Baig et al. 2012"
    needs_whole: ClassVar[bool] = True

    column: str = Field(min_length=1)
    rho: float = Field(gt=0, le=1)
    alpha: float = Field(gt=0, le=1)
    size: int = Field(default=4, ge=1)  # records of the person's class in the other release

    @property
    def threshold(self) -> float:
        """The confidence allowed."""
        return self.alpha

    @property
    def promise(self) -> str:
        """As in "ρ = 0.6, α = 0.5 for 'income'"."""
        return f"ρ = {self.rho:g}, α = {self.alpha:g}, classes of {self.size} for {self.column!r}"

    def measure(self, stats: ClassStats) -> Floats:
        """The confidence that every class leaves, for its worst own value."""
        histogram = histogram_of(stats, self.column)
        p = histogram.whole_share
        top = largest(histogram, shares(stats, histogram), stats.n_classes)
        single = np.maximum(top, p.max(initial=0.0))
        both = np.empty(stats.n_classes)
        for low in range(0, stats.n_classes, PORTION):
            high = min(low + PORTION, stats.n_classes)
            rows = slice(*np.searchsorted(histogram.classes, [low, high]))
            member = np.zeros((high - low, len(p)), dtype=bool)
            member[histogram.classes[rows] - low, histogram.values[rows]] = True
            both[low:high] = expected(covered(companions(member, p), p, self.size, self.size + 1))
        return np.asarray(self.rho ** 2 * both + (1 - self.rho ** 2) * single)


def expected(at_least: Floats) -> Floats:
    """E[1 / (1 + F)] from P(F >= f), f = 0, 1, …

    >>> float(expected(np.array([1.0, 0.9375, 0.4128])).round(3))
    0.462
    """
    exactly = at_least - np.concatenate([at_least[..., 1:], np.zeros_like(at_least[..., :1])], axis=-1)
    return np.asarray((exactly / (1 + np.arange(at_least.shape[-1]))).sum(axis=-1))
