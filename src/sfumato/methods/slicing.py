"""Slicing: values stay as they are, links between groups of columns are broken within buckets.

Li, Li, Zhang, Molloy 2012, Slicing: a new approach for privacy preserving data publishing, IEEE TKDE
24(3), 561-574: sections 3 (sliced table), 4 (l-diverse slicing), 5 (algorithm).

| symbol | here |
| --- | --- |
| T, t | table, tuple |
| C_1 … C_c | `groups`; C_c, the sensitive column, comes last |
| B | bucket |
| r² (phi²) | `slices.correlation.contingency` |
| p(t, B), D(t, B), p(t, s) | `slices.matching.match` |
| l | `l`; k is the least number of records of a bucket |

1. Discretize columns of numbers for the correlation; mean-square contingency of every pair.
2. Attribute partition: k-medoids with distance 1 - r², or pairs of the greatest weight.
3. The group that has the sensitive column comes last.
4. Column generalization: left out.
5. Tuple partition: a bucket is cut in two, as Mondrian does, without generalizing.
6. Diversity check: a cut stands if both halves have k records and keep the promise.
7. Permute the values of each group within each bucket.

Departures. Step 4 is optional in the paper and would need a second promise. Step 6 looks at the two
halves alone, not at all buckets again: cuts by thresholds make boxes that do not overlap, and a tuple
whose values all occur in a bucket lies in its box, so it matches its own bucket and no other. Then
p(t, B) = 1 and p(t, s) = D(t, B)(s), and the promise is that in every bucket, among the records that
agree on the other columns of the sensitive group, no sensitive value has more than 1/l. (For other
partitions this suffices, since p(t, s) is a mean of such shares, for everybody who could be in the
table; it is what the recount asks, because a release does not say which of its combinations are real.)
The sensitive group gives up columns, the least correlated first, until the table as one bucket keeps
the promise.

Cost: distinct rows x depth of the cuts x quasi-identifiers tried at each.

>>> import numpy as np
>>> from sfumato.classes import Histogram
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> from sfumato.methods.base import Problem
>>> age = Hierarchy("age", tuple((str(n), "*") for n in (22, 28, 30, 32, 39, 53, 60, 64)))
>>> flu = Histogram(np.arange(8), np.array([0, 1, 1, 0, 1, 0, 0, 1]), np.ones(8, int), ("flu", "other"),
...                 np.array([4, 4]))
>>> frequency = FrequencySet((age,), np.arange(8)[:, None], np.ones(8, int), {"disease": flu})
>>> found = Sliced(k=2, l=2).solve(Problem(frequency, (), 0.0, np.ones(1)), np.random.default_rng(0))
>>> found.sizes.tolist(), found.groups
([2, 2, 2, 2], (('age',), ('disease',)))
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sfumato.methods.base import Problem
from sfumato.methods.sliced import GroupedSlicing, names_of
from sfumato.slices.base import Slices
from sfumato.slices.columns import records, released
from sfumato.slices.partition import buckets


class Sliced(GroupedSlicing):
    """Buckets of records whose column groups are permuted independently."""

    name: ClassVar[str] = "slicing"
    citation: ClassVar[str] = "Li et al. 2012"

    def solve(self, problem: Problem, rng: np.random.Generator) -> Slices:
        """Steps 1 to 7."""
        frequency = problem.frequency
        [(sensitive, rows)] = frequency.sensitive.items()
        _, groups, blocks = self.arrange(frequency, sensitive)  # steps 1 to 3
        bucket_of = buckets(frequency, rows, blocks, self.k, self.l)  # steps 5 and 6
        held = records(frequency, sensitive, bucket_of, rng)
        return released(names_of(groups, frequency, sensitive), frequency, held, self.k, self.l, rng, {})
