"""The shape of the evidence: what the measures return and the report draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

SUPPRESSED_TOO = " Suppressed records are released, as *: they form a class like any other."
SUPPRESSED_GONE = " Suppressed records are not in the release, and not hit."
Labelled = Mapping[str, float]  # label -> share or count, in drawing order


@dataclass(frozen=True)
class Measure:
    """One number with everything needed to read it."""

    name: str  # "mean_ncp"
    title: str  # "Mean certainty penalty"
    value: float | None  # None where it is not defined (a reason stands in `definition`)
    before: float | None  # the same number of the private table, where that makes sense
    better: Literal["lower", "higher"]
    low: float | None
    high: float | None  # the range of possible values, None where unbounded
    definition: str  # one sentence, plain words, the formula where it helps
    citation: str


def because(value: float | None, why: str) -> str:
    """The end of a definition: why the number is missing, if it is."""
    return f" Not defined here: {why}." if value is None else ""


@dataclass(frozen=True)
class RiskProfile:
    """The re-identification risk of a table's records, from its class sizes."""

    records: int
    classes: int
    unique: int  # records alone in their class
    suppressed: int  # counted apart, in none of the other numbers
    lowest: float | None  # None, like the next four, where no record is left
    average: float | None
    highest: float | None
    smallest: int | None  # class
    largest: int | None
    at_lowest: float  # share of records at the lowest risk
    at_highest: float  # share of records at the highest risk
    at_risk: Labelled  # "> 50 %", "> 33 %", "> 20 %", "> 10 %", "> 5 %", "> 1 %": share of records
    sizes: Labelled  # "1", "2", "3-4", "5-9", "10-19", ...: share of records in classes that large


@dataclass(frozen=True)
class ColumnPicture:
    """One column's distribution before and after (of its most frequent labels)."""

    column: str
    role: str
    level: int | None  # released level where all labels share one
    levels: int | None  # how many there are, the values themselves and the root included
    loss: float | None  # mean NCP of its released cells
    contribution: float | None  # share of the private table's unique records due to it
    distinction: float | None  # values per record of the private table
    separation: float | None  # share of the private table's pairs of records that differ in it
    before: Labelled
    after: Labelled


@dataclass(frozen=True)
class Correlations:
    """Association matrices before and after, by one coefficient for all kinds of columns."""

    columns: tuple[str, ...]
    before: tuple[tuple[float | None, ...], ...]  # None where it is not defined
    after: tuple[tuple[float | None, ...], ...]
    largest_change: float | None
    definition: str
    citation: str


@dataclass(frozen=True)
class Rule:
    """What a tree says of some records: most of them have this value of the target."""

    conditions: tuple[str, ...]
    value: str
    records: int
    share: float  # of them have the value


@dataclass(frozen=True)
class Step:
    """One node of a tree, in drawing order."""

    depth: int
    test: str  # what sets it apart from the other half of the node above; nothing at the root
    records: int
    shares: tuple[float, ...]  # of the target's values
    leaf: bool


@dataclass(frozen=True)
class Fate:
    """What became of a rule."""

    state: Literal["survives", "moved", "lost", "new"]
    before: Rule | None  # in the private table; None for a rule that only the release shows
    after: Rule | None  # in the release; None for a lost rule
    common: float | None  # of the private records that either rule picks out, the share that both do
    truth: tuple[int, float] | None  # private records that `after` picks out, share with its value
    certain: tuple[int, float | None] | None  # released records that surely meet `before`, share as above
    possible: int | None  # released records that may meet it, those included


@dataclass(frozen=True)
class Patterns:
    """The trees of a target column, before and after, and what became of each rule."""

    target: str
    values: tuple[str, ...]  # of the target
    predictors: tuple[str, ...]
    before: tuple[Step, ...]
    after: tuple[Step, ...]
    fates: tuple[Fate, ...]  # private rules as in their tree, then new ones
    untold: int  # kept records whose label does not tell the target
    rows: str  # what a row of the release is
    definition: str
    citation: str


@dataclass(frozen=True)
class Evidence:
    """All of it."""

    risk_before: RiskProfile
    risk_after: RiskProfile
    risk: tuple[Measure, ...]
    utility: tuple[Measure, ...]
    columns: tuple[ColumnPicture, ...]
    correlations: Correlations | None  # None with fewer than two columns
    definitions: Mapping[str, str]  # field of RiskProfile or ColumnPicture -> what it means
    patterns: Patterns | None = None  # None where no target is named
    attacks: tuple[Measure, ...] = ()  # records hit, by attacks on sensitive columns

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Every one of them."""
        return (*self.risk, *self.attacks, *self.utility)

    def __repr__(self) -> str:
        def shown(value: float | None) -> str:
            return "not defined" if value is None else f"{value:.4g}"

        lines = [f"  {one.name}: {shown(one.value)} (before: {shown(one.before)})"
                 for one in self.measures]
        return "\n".join(["Evidence", *lines])
