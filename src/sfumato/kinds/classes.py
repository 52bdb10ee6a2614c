"""Releases of classes: records that share their labels, or are suppressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato import table
from sfumato.measure.evidence import Evidence
from sfumato.prepare import Prepared
from sfumato.recoding import Regrouping
from sfumato.release import examples, released_table
from sfumato.verify import Verdict, verify


@dataclass(frozen=True)
class OfClasses:
    """A regrouping, ready to be released."""

    prepared: Prepared
    recoding: Regrouping

    def released(self, seed: int) -> Any:
        """Every record under its class's labels."""
        return released_table(self.prepared, self.recoding, seed)

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's, without those that identify."""
        return self.prepared.released

    def verdict(self, release: Any) -> Verdict:
        """Every criterion, over the classes that the labels make."""
        recipe = self.prepared.recipe
        return verify(release, recipe.named("quasi"), recipe.named("sensitive"), self.prepared.criteria,
                      recipe.missing, table.fetch)

    def differences(self, release: Any, verdict: Verdict) -> list[str]:
        """Another number of records than were to be released."""
        frequency = self.prepared.frequency
        drop = self.prepared.recipe.suppressed == "drop"
        wanted = frequency.n_records - (self.recoding.suppressed(frequency) if drop else 0)
        return [] if verdict.records == wanted else [f"{verdict.records:,} records"]

    def evidence(self, rng: np.random.Generator) -> Evidence:
        """All measures of classes and labels."""
        from sfumato.costs.measured import measure_all
        from sfumato.measure.collect import collect

        frequency = self.prepared.frequency
        costs = measure_all(frequency, self.recoding, self.prepared.weights)
        least = max(5, *(criterion.least for criterion in self.prepared.criteria))
        return collect(frequency, self.recoding, costs=costs, least=least, rng=rng,
                       research=self.prepared.recipe.research)

    def examples(self) -> list[dict[str, Any]]:
        """Classes from large to small."""
        return examples(self.prepared, self.recoding)
