"""Releases of classes: records that share their labels, or are suppressed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sfumato import table
from sfumato.measure.evidence import Evidence
from sfumato.prepare import Prepared
from sfumato.recoding import Regrouping
from sfumato.release import added_table, examples, pairs_table, released_table
from sfumato.release_added import FalseRecords, false_records
from sfumato.verify import Verdict, verify

LONGEST = 50  # letters of a step in a file's name


@dataclass(frozen=True)
class OfClasses:
    """A regrouping, ready to be released."""

    prepared: Prepared
    recoding: Regrouping
    _false: dict[int, FalseRecords | None] = field(default_factory=dict, repr=False, compare=False)

    def false(self, seed: int) -> FalseRecords | None:
        """The records that are nobody's; None where there are none."""
        if seed not in self._false:
            self._false[seed] = false_records(self.prepared, self.recoding, seed)
        return self._false[seed]

    def released(self, seed: int) -> Any:
        """Every record under its class's labels, false ones among them."""
        return released_table(self.prepared, self.recoding, seed, self.false(seed))

    def private(self, seed: int) -> dict[str, Any]:
        """What only the publisher may see: which records are false, and each step's table and pairs."""
        false = self.false(seed)
        kept = {"added": added_table(self.prepared, self.recoding, seed, false)} if false else {}
        for n, (step, so_far) in enumerate(self.recoding.steps, start=1):
            words = re.sub(r"[\W_]+", "-", step).strip("-")  # a column may be called anything, ../ too
            name = f"steps/{n}-{words[:LONGEST]}"
            added = None if so_far.added is None else self.false(seed)
            kept[name] = released_table(self.prepared, so_far, seed, added)
            kept[f"{name}-pairs"] = pairs_table(self.prepared, so_far)
        return kept

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's, without those that identify."""
        return self.prepared.released

    def verdict(self, release: Any, false: Any = None) -> Verdict:
        """Every criterion, over the classes that the labels make; the records of `false` are nobody's."""
        recipe = self.prepared.recipe
        return verify(release, recipe.named("quasi"), recipe.named("sensitive"), self.prepared.criteria,
                      recipe.missing, table.fetch, hides=bool(self.recoding.hidden), false=false,
                      real=None if self.recoding.added is None else self.recoding.real)

    def differences(self, release: Any, verdict: Verdict) -> list[str]:
        """Another number of records than were to be released."""
        frequency = self.prepared.frequency
        drop = self.prepared.recipe.suppressed == "drop"
        wanted = frequency.n_records - (self.recoding.suppressed(frequency) if drop else 0)
        wanted += self.recoding.n_added
        wrong = [] if verdict.records == wanted else [f"{verdict.records:,} records"]
        same = verdict.added == self.recoding.n_added
        return wrong if same else [*wrong, f"{verdict.added:,} false records"]

    def evidence(self, rng: np.random.Generator) -> Evidence:
        """All measures of classes and labels."""
        from sfumato.costs.measured import measure_all
        from sfumato.measure.collect import attacker_of, collect
        from sfumato.measure.utility.precision import of_file

        frequency = self.prepared.frequency
        costs = measure_all(frequency, self.recoding, self.prepared.weights)
        least = max(5, *(criterion.least for criterion in self.prepared.criteria))
        found = collect(frequency, self.recoding, costs=costs, least=least, rng=rng,
                        research=self.prepared.recipe.research,
                        attacker=attacker_of(self.prepared.recipe, frequency))
        if self.recoding.added is None:
            return found
        return replace(found, utility=(*of_file(frequency, self.recoding, len(self.columns)), *found.utility))

    def examples(self) -> list[dict[str, Any]]:
        """Classes from large to small."""
        return examples(self.prepared, self.recoding)
