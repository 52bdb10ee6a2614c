"""Wilson's interval: the share that lies behind a count (Wilson 1927), as the estimators of risk use it."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

CONFIDENCE = 0.95
WILSON = ("Wilson 1927, Probable inference, the law of succession, and statistical inference, J Am Stat "
          "Assoc 22(158), 209-212")


class Share(NamedTuple):
    """Successes among trials: the interval's centre, and how far it reaches on either side."""

    rate: float
    error: float

    @property
    def low(self) -> float:
        """The lower end."""
        return max(0.0, self.rate - self.error)

    @property
    def high(self) -> float:
        """The upper end."""
        return min(1.0, self.rate + self.error)


def wilson(successes: float, trials: int, confidence: float = CONFIDENCE) -> Share:
    """Wilson's interval of a share.

    >>> share = wilson(60, 500)
    >>> round(share.rate, 5), round(share.error, 5)
    (0.1229, 0.02852)
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    inside = min(max(successes, 0.0), trials)
    rate = (inside + z * z / 2) / (trials + z * z)
    spread = max(inside * (trials - inside) / trials + z * z / 4, 0.0) if trials else z * z / 4
    return Share(rate, z / (trials + z * z) * spread**0.5)
