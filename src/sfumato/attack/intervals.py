"""Wilson's interval: the share that lies behind a count (Wilson 1927), as the estimators of risk use it."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Risk:
    """What an attack wins beyond what it wins of people who are not in the release (Giomi et al. 2023, 3).

    `attack` is its success on people of the release, `control` on others, `baseline` that of guesses without
    the release. The residual risk is (attack - control) / (1 - control).
    """

    name: str
    trials: int
    successes: float
    attack: Share
    control: Share | None
    baseline: Share

    @property
    def residual(self) -> Share:
        """The residual risk, its error propagated from both shares."""
        if self.control is None:
            return self.attack
        main, other = self.attack, self.control
        left = 1 - other.rate
        error = ((main.error / left) ** 2 + (other.error * (main.rate - 1) / left**2) ** 2) ** 0.5
        return Share((main.rate - other.rate) / left, error)

    @property
    def value(self) -> float:
        """The residual risk within its range."""
        return min(max(self.residual.rate, 0.0), 1.0)

    @property
    def stronger_than_guessing(self) -> bool:
        """An attack that does not beat guesses says nothing of the risk."""
        return self.attack.rate > self.baseline.rate


def risk(name: str, successes: float, trials: int, control: tuple[float, int] | None,
         baseline: tuple[float, int]) -> Risk:
    """The risk from counts of successes and trials.

    >>> found = risk("inference", 60, 500, (40, 500), (10, 500))
    >>> round(found.residual.rate, 5), round(found.residual.error, 5)
    (0.0433, 0.03988)
    """
    return Risk(name, trials, successes, wilson(successes, trials),
                None if control is None else wilson(*control), wilson(*baseline))
