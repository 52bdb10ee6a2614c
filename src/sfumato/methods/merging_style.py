"""Merging-style: slicing, and values that point at one bucket share a coarser label with another bucket.

After Hasan, A. S. M. T., Jiang, Q., Chen, H., Wang, S. (2018). A new approach to privacy-preserving multiple
independent data publishing. Applied Sciences 8(5), 783.

| theirs (abstract, and a later thesis) | here |
| --- | --- |
| cell | a value of a column group in a bucket |
| cell generalization | `slices.merging`: two cells of different buckets share their lowest common label |
| false matches | buckets beside the own one that match a person: `matches` says how many in all |
| fake tuples | combinations that nobody in the bucket has, made by the permutation |

1. Column groups and buckets as in slicing (Li et al. 2012), with its diversity check.
2. In every group, values that match fewer than `matches` buckets.
3. The cheapest first, each shares a label with a cell of another bucket, until it matches so many.
4. A person matches a bucket if, in every group, some label of it stands for the person's values.
5. Random permutation within the buckets.

Departures. Steps 2 to 4 are **ours**: only that cells are generalized, and not columns or classes, is known.
Labels are nodes of the columns' hierarchies, for numbers too; without a hierarchy a cell becomes `*`.
Generalizing never breaks the promise: records that come to share a label in a bucket were blocks in which no
sensitive value had more than 1/l, and so is their union. The thesis also speaks of N further fake records;
none are added here.

Cost: as slicing; then values that match too few buckets x cells of their group.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from sfumato.classes import Ints
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Codes
from sfumato.methods.base import Problem
from sfumato.methods.parameters import Whole
from sfumato.methods.sliced import GroupedSlicing, names_of
from sfumato.slices.base import Slices
from sfumato.slices.columns import records, released
from sfumato.slices.grouping import Groups
from sfumato.slices.merging import merged
from sfumato.slices.partition import buckets


class Merging(GroupedSlicing):
    """Slicing whose rare values share labels across buckets."""

    name: ClassVar[str] = "merging-style"
    citation: ClassVar[str] = "after Hasan et al. 2018"
    ours: ClassVar[str] = (
        "The method is in the style of Hasan et al. 2018, whose abstract alone was read: slicing with "
        "generalized cells, so that more buckets match, is theirs; which cells, and how, is sfumato's "
        "completion.")

    matches: Whole = Field(default=2, ge=1)  # buckets that every value of a group matches

    def solve(self, problem: Problem, rng: np.random.Generator) -> Slices:
        """Steps 1 to 5."""
        frequency = problem.frequency
        [(sensitive, rows)] = frequency.sensitive.items()
        _, groups, blocks = self.arrange(frequency, sensitive)  # step 1
        bucket_of = buckets(frequency, rows, blocks, self.k, self.l)
        held = records(frequency, sensitive, bucket_of, rng)
        labels, told = self.share_labels(frequency, groups, held[0], held[2])  # steps 2 to 4
        named = names_of(groups, frequency, sensitive)
        return released(named, frequency, held, self.k, self.l, rng, {"merged": told},  # step 5
                        labels=labels if (labels != held[2]).any() else None)

    def share_labels(self, frequency: FrequencySet, groups: Groups, bucket_of: Ints,
                     values: Codes) -> tuple[Codes, dict[str, Any]]:
        """Every group in turn; the sensitive column itself stays."""
        labels = values.copy()
        told: dict[str, Any] = {"matches": self.matches, "groups": [], "values": 0, "steps": 0,
                                "unresolved": 0}
        for group in groups:
            members = [j for j in group if j < frequency.n_quasi]
            if not members:
                continue
            found = merged([frequency.hierarchies[j] for j in members], values[:, members], bucket_of,
                           self.matches)
            labels[:, members] = found.labels
            told["values"] += found.flagged
            told["steps"] += found.steps
            told["unresolved"] += found.unresolved
            if (found.labels != values[:, members]).any():
                told["groups"].append([frequency.quasi[j] for j in members])
        told["records"] = int((labels != values).any(axis=1).sum())
        return labels, told
