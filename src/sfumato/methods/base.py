"""The contract of a method: frequency set and criteria in, recoding out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from sfumato.classes import Floats
from sfumato.criteria.base import Criterion
from sfumato.frequency import FrequencySet
from sfumato.recoding import Regrouping
from sfumato.search import Clock, Watch


@dataclass(frozen=True)
class Problem:
    """What is to be solved."""

    frequency: FrequencySet
    criteria: tuple[Criterion, ...]
    suppression: float  # share of records that may be suppressed
    weights: Floats  # per quasi-identifier
    clock: Clock = field(default_factory=Clock)
    watch: Watch | None = None  # told about progress

    @property
    def affordable(self) -> int:
        """How many records may be suppressed."""
        return int(np.floor(self.suppression * self.frequency.n_records + 1e-9))

    @property
    def least(self) -> int:
        """Records that the criteria demand of every class."""
        return max(criterion.least for criterion in self.criteria)


class Method(BaseModel, ABC):
    """A method's parameters, and how it solves a problem with them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]  # as in a recipe
    citation: ClassVar[str]
    by_names: ClassVar[bool] = False  # ties fall by the order of values: renaming them may move a score

    @abstractmethod
    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """The recoding; an InfeasibleError where there is none."""
