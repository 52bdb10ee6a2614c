"""The contract of a criterion: what every class, or the whole release, must satisfy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from sfumato.classes import Bools, ClassStats, Floats

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Finding:
    """What a criterion found over all classes of a release."""

    name: str  # "k-anonymity"
    promise: str  # "k = 5"
    holds: bool
    worst: float | None  # the worst class's value; None where there is no class
    threshold: float
    failing: int  # classes that do not satisfy it
    margin: float | None  # how far the worst class is on the good side (negative: on the bad)


class Criterion(BaseModel, ABC):
    """One privacy model. Its fields are its parameters, as a recipe writes them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]  # as in a recipe
    citation: ClassVar[str]
    # Two classes that satisfy it, merged, satisfy it. Then a node with all classes good has only
    # good generalizations.
    mergeable: ClassVar[bool] = True
    # It compares classes with the whole table's distribution.
    needs_whole: ClassVar[bool] = False

    @property
    def upward(self) -> bool:
        """A class that satisfies it does so whatever records join it.

        Then suppression shrinks as generalization grows, and a search may tag by it.
        """
        return False

    @property
    def higher_is_better(self) -> bool:
        """Whether `measure` must reach the threshold (else it must not pass it)."""
        return False

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns it reads."""
        column = getattr(self, "column", None)
        return () if column is None else (str(column),)

    @property
    def least(self) -> int:
        """Records that a class needs at the very least to satisfy it."""
        return 1

    @property
    def several(self) -> int:
        """Different values of its column that a class needs at the very least."""
        return 1

    @property
    def counted(self) -> bool:
        """Whether `least` records with `several` values are all that it asks."""
        return False

    @property
    @abstractmethod
    def threshold(self) -> float:
        """The bound that `measure` is compared with."""

    @property
    @abstractmethod
    def promise(self) -> str:
        """What is promised, in a few words for a report: "k = 5"."""

    @abstractmethod
    def measure(self, stats: ClassStats) -> Floats:
        """The value every class attains."""

    def holds(self, stats: ClassStats) -> Bools:
        """Which classes satisfy it."""
        measured = self.measure(stats)
        if self.higher_is_better:
            return np.asarray(measured >= self.threshold - TOLERANCE)
        return np.asarray(measured <= self.threshold + TOLERANCE)

    def find(self, stats: ClassStats) -> Finding:
        """Judge all classes at once and point at the worst."""
        measured, good = self.measure(stats), self.holds(stats)
        if not len(measured):
            return Finding(self.name, self.promise, True, None, self.threshold, 0, None)
        worst = float(measured.min() if self.higher_is_better else measured.max())
        margin = worst - self.threshold if self.higher_is_better else self.threshold - worst
        return Finding(self.name, self.promise, bool(good.all()), worst, self.threshold,
                       int((~good).sum()), float(margin))
