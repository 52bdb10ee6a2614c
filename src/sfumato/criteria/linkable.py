"""(d, α)-linkability: whoever intersects two releases is left with several sensitive values, likely enough.

After Sattar, A. H. M. S., Li, J., Liu, J., Heatherly, R., Malin, B. (2014). A probabilistic approach to
mitigate composition attacks on privacy in non-coordinated environments. Knowledge-Based Systems 67,
361-372. Their abstract says that a group should be tied to d confidential values with likelihood α; the
formal definition below is **ours**.

| here | meaning |
| --- | --- |
| class E, S(E) | the person's class in this release, its different sensitive values |
| `size` (m') | records of the person's class in another release, of which we know nothing else |
| p | share of each sensitive value in the whole table |
| C | values common to both classes: the person's own, and those of S(E) among m' values drawn by p |

A class is (d, α)-linkable if C reaches d with probability α or more, whichever of its values is the
person's. The law is exact: values are taken one by one, each thinning the draws that are left.

The worst own value is the most frequent one. Its companions are the other values; of two sets of companions
that differ in one value, the one with the more frequent value covers as many or more, since of the draws that
fall on either the more frequent value gets some with the higher probability.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from sfumato.classes import Bools, ClassStats, Floats
from sfumato.criteria.base import Criterion
from sfumato.criteria.shares import histogram_of

PORTION = 4096  # classes looked at together


class Linkable(Criterion):
    """Of the values of a class, d or more are expected in another class, with probability α.

    Upward, hence mergeable: p and m' are fixed, so further values can only be further companions.
    """

    name: ClassVar[str] = "linkable"
    citation: ClassVar[str] = "after Sattar et al. 2014"
    needs_whole: ClassVar[bool] = True

    column: str = Field(min_length=1)
    d: int = Field(ge=2)
    alpha: float = Field(gt=0, le=1)
    size: int = Field(default=4, ge=1)  # m'

    @property
    def upward(self) -> bool:
        """Values never leave a class that records join."""
        return True

    @property
    def higher_is_better(self) -> bool:
        """A probability to be reached."""
        return True

    @property
    def least(self) -> int:
        """One for each of d values."""
        return self.d

    @property
    def threshold(self) -> float:
        """The probability asked for."""
        return self.alpha

    @property
    def promise(self) -> str:
        """As in "d = 2, α = 0.5 for 'income'"."""
        return f"d = {self.d}, α = {self.alpha:g}, classes of {self.size} for {self.column!r}"

    def measure(self, stats: ClassStats) -> Floats:
        """The probability of d common values, for the worst own value of each class."""
        histogram = histogram_of(stats, self.column)
        p = histogram.whole_share
        found = np.empty(stats.n_classes)
        for low in range(0, stats.n_classes, PORTION):
            high = min(low + PORTION, stats.n_classes)
            rows = slice(*np.searchsorted(histogram.classes, [low, high]))
            member = np.zeros((high - low, len(p)), dtype=bool)
            member[histogram.classes[rows] - low, histogram.values[rows]] = True
            found[low:high] = covered(companions(member, p), p, self.size, self.d)[:, self.d - 1]
        return found


def companions(member: Bools, p: Floats) -> Bools:
    """The values of each class without its most frequent one."""
    own = np.argmax(np.where(member, p, -1.0), axis=1)
    others = member.copy()
    others[np.arange(len(member)), own] = False
    return others


def covered(others: Bools, p: Floats, draws: int, d: int) -> Floats:
    """[class, f]: the probability that at least f of a class's companions occur among the draws, f < d.

    >>> p = np.array([0.5, 0.3, 0.2])  # flu, asthma, ulcer
    >>> covered(np.array([[False, True, True]]), p, 4, 3).round(4).tolist()
    [[1.0, 0.9375, 0.4128]]
    """
    state = np.zeros((len(others), draws + 1, d))  # probability of so many draws left, so many covered
    state[:, draws, 0] = 1.0
    left = 1.0
    for value, share in enumerate(p):
        taking = thinned(draws, min(1.0, share / left) if left > 0 else 1.0)
        left -= share
        passed = np.einsum("cns,nm->cms", state, taking)
        none = state * np.diag(taking)[None, :, None]
        some = passed - none
        counted = np.zeros_like(some)
        counted[:, :, 1:] = some[:, :, :-1]
        counted[:, :, -1] += some[:, :, -1]
        state = np.where(others[:, value, None, None], none + counted, passed)
    return np.cumsum(state.sum(axis=1)[:, ::-1], axis=1)[:, ::-1].clip(0.0, 1.0)


def thinned(draws: int, share: float) -> npt.NDArray[np.float64]:
    """[n, m]: the probability that of n draws m are left when a value takes each with some probability."""
    made = np.zeros((draws + 1, draws + 1))
    made[0, 0] = 1.0
    for n in range(1, draws + 1):
        made[n, 1:] = made[n - 1, :-1] * (1 - share)
        made[n, :] += made[n - 1, :] * share
    return made
