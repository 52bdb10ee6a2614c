"""The contract of a method: frequency set and criteria in, recoding out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from sfumato.classes import Floats
from sfumato.criteria.base import Criterion
from sfumato.draws.base import Drawn
from sfumato.frequency import FrequencySet
from sfumato.recoding import Regrouping
from sfumato.search import Clock, Watch
from sfumato.slices.base import Slices

Kind = Literal["classes", "slices", "drawn"]  # what a release is made of, and so what it can promise
Recoding = Regrouping | Slices | Drawn


@dataclass(frozen=True)
class Problem:
    """What is to be solved."""

    frequency: FrequencySet
    criteria: tuple[Criterion, ...]
    suppression: float  # share of records that may be suppressed
    weights: Floats  # per quasi-identifier
    clock: Clock = field(default_factory=Clock)
    watch: Watch | None = None  # told about progress
    keep_steps: bool = False  # whether the table after each step is kept too

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
    kind: ClassVar[Kind] = "classes"
    by_names: ClassVar[bool] = False  # ties fall by the order of values: renaming them may move a score
    adds: ClassVar[bool] = False  # false records may stand in its releases
    ours: ClassVar[str] = ""  # what of a method in the style of a paper is our completion
    by_seed: ClassVar[bool] = False  # chance has a part in the search: another seed may move a score

    def faults(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Iterable[tuple[str, str]]:
        """What is wrong between the parameters and the columns: the parameter, and a sentence."""
        return ()

    def refuses(self, criterion: Criterion) -> str | None:
        """Why the method cannot keep a criterion, if it cannot."""
        return None

    @property
    def hides(self) -> bool:
        """Whether sensitive cells may be released as *."""
        return False

    @property
    def real(self) -> int | None:
        """Real records that every class has where there are false ones among them."""
        return None

    def domain_faults(self, specs: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Quasi-identifiers whose hierarchies do not say enough for the method: the column, and why."""
        return ()

    def promises(self, sensitive: Sequence[str]) -> tuple[Criterion, ...]:
        """Criteria that the method keeps beside those of the recipe."""
        return ()

    @abstractmethod
    def solve(self, problem: Problem, rng: np.random.Generator) -> Recoding:
        """The recoding; an InfeasibleError where there is none."""
