"""What every method is told whose rows are drawn from counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from sfumato.criteria.base import Criterion
from sfumato.errors import InfeasibleError
from sfumato.frequency import FrequencySet
from sfumato.methods.base import Kind, Method


class Drawing(Method):
    """Methods that count, change the counts, and write rows by them; their promise is their own."""

    kind: ClassVar[Kind] = "drawn"
    by_seed: ClassVar[bool] = True

    def faults(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Iterable[tuple[str, str]]:
        """Rows are counted by class and by the value of one sensitive column."""
        if len(sensitive) != 1:
            have = "none" if not sensitive else ", ".join(map(repr, sensitive))
            yield "", (f"{self.name} counts the values of one sensitive column, and the recipe has {have}. "
                       "Give exactly one column the role sensitive.")

    def kept(self, sensitive: str, told: Mapping[str, Any]) -> tuple[Criterion, ...]:
        """What every class of the release keeps, given how it was drawn."""
        return ()


def require_sample(sample: FrequencySet, k: int, rate: float) -> None:
    """A sample in which no class could have k records."""
    if sample.n_records < k:
        raise InfeasibleError(f"A class must have {k:,} records, and the sample has {sample.n_records:,} "
                              f"(each record is drawn with probability {rate:g}).",
                              "Lower k, or raise the rate.")
