"""(α,k)-anonymity: classes of at least k records, no sensitive value above a share of α in any.

Wong, R. C.-W., Li, J., Fu, A. W.-C., Wang, K. (2006). (α,k)-anonymity: an enhanced k-anonymity model for
privacy preserving data publishing. KDD 2006.

The paper protects one sensitive value, or all of them (its general model): `values` names those to
protect, all by default. The missing value is a value of its own, `null` in `values`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from sfumato.classes import ClassStats, Floats, Histogram
from sfumato.criteria.base import Criterion
from sfumato.criteria.shares import histogram_of, largest, shares
from sfumato.errors import RequestError


class AlphaKAnonymity(Criterion):
    """No protected value has more than a share α of any class, and every class has k records.

    Not upward: records of one value may join and raise its share. Mergeable: a share in a union lies
    between the shares in its parts, and the union is larger than either.
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    citation: ClassVar[str] = "Wong et al. 2006"

    column: str = Field(min_length=1)
    alpha: float = Field(gt=0, le=1)
    k: int = Field(ge=1)
    values: tuple[str | int | float | None, ...] | None = Field(default=None, min_length=1)

    @property
    def least(self) -> int:
        """k of them."""
        return self.k

    @property
    def threshold(self) -> float:
        """The largest share allowed."""
        return self.alpha

    @property
    def promise(self) -> str:
        """As in "α = 0.5, k = 5 for 'income'"."""
        only = "" if self.values is None else f" ({len(self.values)} of its values)"
        return f"α = {self.alpha:g}, k = {self.k} for {self.column!r}{only}"

    def check_values(self, labels: Sequence[str | None]) -> None:
        """Refuse `values` that the whole table lacks: misspelt, they would protect nothing."""
        absent = self._protected() - set(labels)
        if absent:
            raise RequestError(
                f"alpha-k-anonymity: {len(absent)} of the {len(self._protected())} values to protect "
                f"do not occur in column {self.column!r}.",
                "Write them as the table does, or leave `values` out to protect all.")

    def measure(self, stats: ClassStats) -> Floats:
        """The largest share of a protected value; infinite, no α would do, in a class below k."""
        histogram = histogram_of(stats, self.column)
        q = shares(stats, histogram)
        if self.values is not None:
            q = np.where(self._is_protected(histogram)[histogram.values], q, 0.0)
        return np.where(stats.sizes >= self.k, largest(histogram, q, stats.n_classes), np.inf)

    def _protected(self) -> set[str | None]:
        return {None if value is None else str(value) for value in self.values or ()}

    def _is_protected(self, histogram: Histogram) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        protected = self._protected()
        return np.array([label in protected for label in histogram.labels], dtype=np.bool_)
