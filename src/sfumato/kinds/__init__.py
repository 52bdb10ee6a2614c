"""What a release is made of decides how it is written, proven and measured: one file for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from sfumato.draws.base import Drawn
from sfumato.kinds.classes import OfClasses
from sfumato.kinds.drawn import OfDrawn
from sfumato.kinds.slices import OfSlices
from sfumato.measure.evidence import Evidence
from sfumato.methods.base import Recoding
from sfumato.prepare import Prepared
from sfumato.recoding import Regrouping
from sfumato.slices.base import Slices
from sfumato.verify import Verdict


class Kind(Protocol):
    """A recoding of one kind, ready to be released."""

    @property
    def prepared(self) -> Prepared:
        """The table made ready."""

    @property
    def recoding(self) -> Any:
        """What the method answered."""

    def released(self, seed: int) -> Any:
        """The released rows, as an Ibis expression that has not run yet."""

    def private(self, seed: int) -> dict[str, Any]:
        """Tables by their names that must not be handed on: which records are false (`added`), and steps."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that they have."""

    def verdict(self, release: Any, false: Any = None) -> Verdict:
        """The promise, counted from the written release, and the false records where there are any."""

    def differences(self, release: Any, verdict: Verdict) -> list[str]:
        """How the written release differs from the one that was found, if it does."""

    def evidence(self, rng: np.random.Generator) -> Evidence:
        """Risk and utility, before and after."""

    def examples(self) -> list[dict[str, Any]]:
        """A few released rows for the report."""


KINDS: Mapping[type, type[Any]] = {Regrouping: OfClasses, Slices: OfSlices, Drawn: OfDrawn}


def kind_of(prepared: Prepared, recoding: Recoding) -> Kind:
    """How this recoding of this table is released."""
    made: Kind = KINDS[type(recoding)](prepared, recoding)
    return made
