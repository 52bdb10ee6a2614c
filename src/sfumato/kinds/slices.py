"""Sliced releases: buckets of records whose column groups stand in orders of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato import table
from sfumato.measure.evidence import Evidence
from sfumato.prepare import Prepared
from sfumato.release_slices import examples, sliced_table
from sfumato.slices.base import BUCKET, Labels, Slices
from sfumato.verify import Verdict
from sfumato.verify_slices import same_rows, verify_slices


@dataclass(frozen=True)
class OfSlices:
    """Slices, ready to be released."""

    prepared: Prepared
    recoding: Slices

    def released(self, seed: int) -> Any:
        """Bucket by bucket, each column group in its own order."""
        return sliced_table(self.prepared, self.recoding, seed)

    def private(self, seed: int) -> dict[str, Any]:
        """Nothing but the table itself."""
        return {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The bucket, then the table's columns without those that identify."""
        return (BUCKET, *self.prepared.released)

    def verdict(self, release: Any, false: Any = None) -> Verdict:
        """Bucket sizes and matching probabilities."""
        slices = self.recoding
        return verify_slices(release, slices.groups, slices.k, slices.l, self.prepared.recipe.missing,
                             table.fetch, slices.rules, slices.notes["facts"].get("rules_broken", ()))

    def differences(self, release: Any, verdict: Verdict) -> list[str]:
        """Column groups whose values in a bucket are not those that were to be released."""
        slices, frequency = self.recoding, self.prepared.frequency
        numbers = [str(n) for n in range(slices.n_classes)]
        texts = [*(Labels(h).names for h in frequency.hierarchies), slices.rows(frequency).labels]
        wrong = []
        for names, group in zip(slices.groups, slices.members(frequency), strict=True):
            expected = [slices.bucket_of, *(slices.codes[:, j].astype(np.int64) for j in group)]
            if not same_rows(release, names, self.prepared.recipe.missing, table.fetch, expected,
                             [numbers, *(texts[j] for j in group)]):
                wrong.append(f"other values of {', '.join(names)} in a bucket")
        return wrong

    def evidence(self, rng: np.random.Generator) -> Evidence:
        """What can be told of a person, and what a reader of the file gets wrong."""
        from sfumato.measure.sliced import collect

        return collect(self.prepared.frequency, self.recoding, least=max(5, self.recoding.k), rng=rng,
                       research=self.prepared.recipe.research)

    def examples(self) -> list[dict[str, Any]]:
        """Buckets from large to small."""
        return examples(self.prepared, self.recoding)
