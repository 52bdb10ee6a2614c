"""What every method that slices is told: the promise, and how columns are grouped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

from pydantic import Field

from sfumato.classes import Floats
from sfumato.frequency import FrequencySet
from sfumato.methods.base import Kind, Method
from sfumato.methods.parameters import Real, Whole
from sfumato.slices.columns import Named, arranged, fitted, named, require_records
from sfumato.slices.correlation import Bins, Divisor, correlations
from sfumato.slices.grouping import Groups
from sfumato.slices.partition import Blocks


class Slicing(Method):
    """Parameters of the methods that slice; their promise is their own, about buckets and not classes."""

    kind: ClassVar[Kind] = "slices"

    k: Whole = Field(ge=1)  # the least number of records of a bucket
    l: Real = Field(ge=1)  # noqa: E741  (every p(t, s) is at most 1/l)

    @property
    def least(self) -> int:
        """Records that every bucket is promised to have."""
        return self.k

    def column_groups(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Named | None:
        """The groups, where they are known before the table is seen."""
        return None

    def faults(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Iterable[tuple[str, str]]:
        """One sensitive column is what the probabilities are about."""
        if len(sensitive) != 1:
            have = "none" if not sensitive else ", ".join(map(repr, sensitive))
            yield "", (f"{self.name} protects one sensitive column, and the recipe has {have}. Give exactly "
                       "one column the role sensitive; others may be plain: each plain column is permuted by "
                       "itself.")


class GroupedSlicing(Slicing):
    """Slicing whose column groups are found from the correlations."""

    groups: Literal["pam", "pairs"] | tuple[tuple[str, ...], ...] = "pam"
    columns: Whole | None = Field(default=None, ge=2)  # how many groups PAM makes: half of the columns
    sensitive_size: Whole | None = Field(default=None, ge=1)  # columns of the sensitive group, at most
    bins: Whole = Field(default=4, ge=2)  # of a column of numbers, for the correlation alone
    by: Bins = "width"
    divisor: Divisor = "min-1"

    def faults(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Iterable[tuple[str, str]]:
        """Groups written out have every column once."""
        yield from super().faults(quasi, sensitive)
        names = [*quasi, *sensitive]
        if self.columns is not None and self.columns > len(names):
            yield "columns", f"There are {len(names)} columns, which cannot make {self.columns} groups."
        if isinstance(self.groups, str):
            return
        said = [name for group in self.groups for name in group]
        if sorted(said) != sorted(names) or not all(self.groups):
            yield "groups", ("The groups should have every quasi-identifier and the sensitive column once: "
                             f"{', '.join(names)}.")
        elif len(self.groups) < 2:
            yield "groups", "One group of all columns breaks no link. Write at least two groups."

    def column_groups(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Named | None:
        """Those written out, the sensitive column's group last and the column itself last in it."""
        if isinstance(self.groups, str):
            return None
        ordered = [tuple(name for name in (*quasi, *sensitive) if name in group) for group in self.groups]
        return tuple(sorted(ordered, key=lambda group: sensitive[0] in group))

    def arrange(self, frequency: FrequencySet, sensitive: str) -> tuple[Floats, Groups, Blocks]:
        """Steps 1 to 3: correlations, groups, and what the sensitive column's group has as blocks."""
        require_records(frequency, self.k)
        names = [*frequency.quasi, sensitive]
        matrix = correlations(frequency, sensitive, bins=self.bins, by=self.by, divisor=self.divisor)
        groups = arranged(self.groups, names, matrix, self.columns)
        groups, blocks = fitted(groups, matrix, frequency, sensitive, self.l, self.sensitive_size)
        return matrix, groups, blocks


def names_of(groups: Groups, frequency: FrequencySet, sensitive: str) -> Named:
    """The groups by their columns' names."""
    return named(groups, [*frequency.quasi, sensitive])
