"""k-anonymity: every class has at least k records.

Samarati, P. (2001). Protecting respondents' identities in microdata release. IEEE Transactions on
Knowledge and Data Engineering 13(6); Sweeney, L. (2002). k-anonymity: a model for
protecting privacy. International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5).
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from sfumato.classes import ClassStats, Floats
from sfumato.criteria.base import Criterion


class KAnonymity(Criterion):
    """At least k records in every class.

    Upward and mergeable: a class never shrinks when records join it.
    """

    name: ClassVar[str] = "k-anonymity"
    citation: ClassVar[str] = "Samarati 2001; Sweeney 2002"

    k: int = Field(ge=2)

    @property
    def upward(self) -> bool:
        """Records that join a class only add to its size."""
        return True

    @property
    def counted(self) -> bool:
        """It asks for k records and nothing else."""
        return True

    @property
    def higher_is_better(self) -> bool:
        """Larger classes are better."""
        return True

    @property
    def least(self) -> int:
        """k of them."""
        return self.k

    @property
    def threshold(self) -> float:
        """The smallest size allowed."""
        return float(self.k)

    @property
    def promise(self) -> str:
        """As in "k = 5"."""
        return f"k = {self.k}"

    def measure(self, stats: ClassStats) -> Floats:
        """The size of every class."""
        return stats.sizes.astype(float)
