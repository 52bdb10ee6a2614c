"""Bucketization (Anatomy): quasi-identifiers as they are, sensitive values apart, linked by buckets alone.

Xiao, X., Tao, Y. (2006). Anatomy: simple and effective privacy preservation. VLDB, 139-150: sections 3
(definitions), 5 (algorithm Anatomize, Figure 3).

| paper | here |
| --- | --- |
| T, A^qi, A^s | table, quasi-identifiers, sensitive column |
| QI-group, Group-ID | bucket |
| QIT, ST | the release's group of quasi-identifiers and its sensitive column |
| l | `l`: no sensitive value has more than 1/l of a bucket |
| eligible | no sensitive value has more than 1/l of the table |

1. Records are put together by sensitive value (lines 1 and 2).
2. While at least l values have records left: a group takes one record of each of the l values that have the
   most (lines 3 to 8, group creation).
3. Each record left over goes to a random group without its value (lines 9 to 12, residue assignment).
4. Release: within a bucket the quasi-identifiers, all together, and the sensitive values stand in orders of
   their own (lines 13 to 18, where the paper writes two tables that share the Group-ID).

Departures. One table instead of two: it says the same, and every sliced release is read alike. Where `k` asks
for larger buckets than l, as many groups as it takes are put together at random; a union of l-diverse groups
is l-diverse. An l that is no whole number is raised to the next.

Cost: records x log(sensitive values).

>>> import numpy as np
>>> from sfumato.classes import Histogram
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> from sfumato.methods.base import Problem
>>> age = Hierarchy("age", tuple((str(n), "*") for n in range(20, 27)))
>>> ill = Histogram(np.arange(7), np.array([1, 1, 1, 0, 0, 2, 2]), np.ones(7, int),
...                 ("asthma", "flu", "ulcer"), np.array([2, 3, 2]))
>>> frequency = FrequencySet((age,), np.arange(7)[:, None], np.ones(7, int), {"disease": ill})
>>> found = Bucketization(l=2).solve(Problem(frequency, (), 0.0, np.ones(1)), np.random.default_rng(0))
>>> sorted(found.sizes.tolist()), found.notes["facts"]["reconstruction_error"]
([2, 2, 3], {'total': 4.0, 'least_possible': 3.5})
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from sfumato.methods.base import Problem
from sfumato.methods.parameters import Whole
from sfumato.methods.sliced import Slicing
from sfumato.slices.anatomy import anatomized, dealt, placed, reconstruction_error
from sfumato.slices.base import Slices
from sfumato.slices.columns import Named, gathered, released, require_diverse, require_records


class Bucketization(Slicing):
    """Quasi-identifiers and sensitive values, linked by buckets of different values."""

    name: ClassVar[str] = "bucketization"
    citation: ClassVar[str] = "Xiao & Tao 2006"

    k: Whole = Field(default=1, ge=1)  # the least number of records of a bucket: l at any rate

    @property
    def least(self) -> int:
        """A group has l records at least."""
        return max(self.k, self.values)

    @property
    def values(self) -> int:
        """Different sensitive values of every group."""
        return int(np.ceil(self.l - 1e-9))

    def column_groups(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Named | None:
        """Always the same two."""
        return tuple(quasi), tuple(sensitive)

    def solve(self, problem: Problem, rng: np.random.Generator) -> Slices:
        """Steps 1 to 4."""
        frequency = problem.frequency
        [(sensitive, rows)] = frequency.sensitive.items()
        require_records(frequency, self.k)
        require_diverse(frequency, sensitive, self.values)
        groups, left = anatomized(rows.whole, self.values)  # steps 1 and 2
        of_left = placed(groups, left, rng)  # step 3
        source = np.repeat(np.arange(len(rows.counts)), rows.counts)
        group_of = np.concatenate([np.repeat(np.arange(len(groups)), self.values), of_left])
        place_of = dealt(rows.values[source], np.concatenate([groups.ravel(), left]), rng)
        bucket_of = joined(group_of, self.k, rng)[place_of]
        held = gathered(frequency, sensitive, source, bucket_of, rng)
        error = {"total": round(reconstruction_error(rows.values[held[1]], held[0]), 6),
                 "least_possible": len(source) * (1 - 1 / self.values)}
        return released((frequency.quasi, (sensitive,)), frequency, held, self.least, self.l, rng,  # step 4
                        {"reconstruction_error": error})


def joined(group_of: np.ndarray[tuple[int], np.dtype[np.int64]], k: int,
           rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Groups put together in a random order, each bucket closed as soon as it has k records."""
    sizes = np.bincount(group_of)
    bucket_of_group, bucket, inside = np.empty(len(sizes), dtype=np.int64), 0, 0
    for group in rng.permutation(len(sizes)):
        bucket_of_group[group] = bucket
        inside += int(sizes[group])
        if inside >= k:
            bucket, inside = bucket + 1, 0
    if inside and bucket:  # too few at the end: they join the bucket before
        bucket_of_group[bucket_of_group == bucket] = bucket - 1
    return bucket_of_group[group_of]
