"""Drawn releases: rows by sampled or noisy counts; no row is a record that anybody could find."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato import table
from sfumato.draws.base import Drawn
from sfumato.measure.evidence import Evidence
from sfumato.prepare import Prepared
from sfumato.release_drawn import columns_of, drawn_table, examples
from sfumato.verify import Verdict, counted_rows, in_words
from sfumato.verify_drawn import verify_drawn


@dataclass(frozen=True)
class OfDrawn:
    """Drawn rows, ready to be released."""

    prepared: Prepared
    recoding: Drawn

    def released(self, seed: int) -> Any:
        """Labels and values as often as was drawn, in an order of their own."""
        return drawn_table(self.prepared, self.recoding, seed)

    def private(self, seed: int) -> dict[str, Any]:
        """Nothing but the table itself."""
        return {}

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that were counted."""
        return columns_of(self.prepared, self.recoding)

    def verdict(self, release: Any, false: Any = None) -> Verdict:
        """What can be counted again; what cannot is said."""
        recipe, drawn = self.prepared.recipe, self.recoding
        return verify_drawn(release, recipe.named("quasi"), drawn.sensitive, drawn.criteria,
                            recipe.method.get("values"), drawn.notes["facts"]["drawn"], recipe.missing,
                            table.fetch)

    def differences(self, release: Any, verdict: Verdict) -> list[str]:
        """Other rows than were drawn, or as many of them."""
        drawn, names = self.recoding, [*self.prepared.frequency.quasi, self.recoding.sensitive]
        columns, counts = counted_rows(release, names, self.prepared.recipe.missing, table.fetch)
        found: Counter[tuple[str | None, ...]] = Counter()
        for row, count in zip(zip(*columns, strict=True), counts, strict=True):
            found[tuple(None if value is None else in_words(value) for value in row)] += int(count)
        cells = drawn.cells
        texts = [drawn.texts(j) for j in range(len(names) - 1)]
        wanted: Counter[tuple[str | None, ...]] = Counter()
        for at, value, count in zip(cells.classes, cells.values, cells.counts, strict=True):
            wanted[(*(column[at] for column in texts), cells.labels[value])] += int(count)
        return [] if found == wanted else ["other rows than were drawn"]

    def evidence(self, rng: np.random.Generator) -> Evidence:
        """What it says of a person, and what a reader of the file gets wrong."""
        from sfumato.measure.drawn import collect

        return collect(self.prepared.frequency, self.recoding, least=5, rng=rng,
                       research=self.prepared.recipe.research)

    def examples(self) -> list[dict[str, Any]]:
        """Label combinations from frequent to rare."""
        return examples(self.prepared, self.recoding)
