"""Mondrian: the table is cut in two at the median of a column, its parts again, while both sides are good.

LeFevre, K., DeWitt, D. J., Ramakrishnan, R. (2006). Mondrian multidimensional k-anonymity. ICDE 2006.
Section 4 (greedy partitioning), 5.1 (relaxed), 3 and 6 (categorical columns).

| paper | here |
| --- | --- |
| region, partition | part, in the end a class |
| allowable cut | both sides satisfy every criterion |
| normalized range of a dimension | penalty of the part's label in that column, times its weight |
| frequency set of a dimension | `tallied` |
| strict, relaxed | `relaxed: false`, `true` |

1. The whole table is one part.
2. Of an open part, the column with the widest normalized range is chosen (`choose_dimension`).
3. It is cut at the median (`find_median`); in a column with a hierarchy, between two nodes under the part's
   label, those nearest to the median; records of the median value stay together (strict) or are divided
   evenly (relaxed, where no strict cut of the column is allowable).
4. If that cut is not allowable, the next lower level of the hierarchy, then the next widest column is tried;
   a part without an allowable cut is a class.
5. The label of a class: the lowest node above its values; without a hierarchy their range, or their set.

Departures. Allowable is what every criterion of the recipe takes on both sides, not k-anonymity alone.
Under a hierarchy the paper parts a node into all of its children at once; two sides are easier to allow.
The median is the boundary between two values with the most even sides, so that a frequent value in the
middle does not end the cutting. A missing value is cut off from the real ones before these are parted.
All open parts are cut in one round; the result is the same as one after the other.

Cost: tuples x columns in each round, about log2(records / k) rounds.

>>> import numpy as np
>>> from sfumato.criteria.k_anonymity import KAnonymity
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> from sfumato.methods.base import Problem
>>> zipcode = Hierarchy("zipcode", tuple((z, "*") for z in ("53710", "53711", "53712")))
>>> age = Hierarchy("age", tuple((a, "*") for a in ("25", "26", "27", "28")))
>>> codes = np.array([[1, 0], [2, 0], [1, 1], [0, 2], [2, 2], [1, 3]], np.int32)
>>> frequency = FrequencySet((zipcode, age), codes, np.ones(6, np.int64))
>>> problem = Problem(frequency, (KAnonymity(k=2),), 0.0, np.ones(2))
>>> found = Mondrian().solve(problem, np.random.default_rng(0))
>>> sorted(zip(*(found.labelling(frequency, j).texts for j in range(2))))
[('53711', '[25..26]'), ('53712', '[25..27]'), ('[53710..53711]', '[27..28]')]
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sfumato.clusters.axes import Categorical, Numeric
from sfumato.clusters.medians import cut
from sfumato.methods.base import Method, Problem
from sfumato.recoding import Regrouping


class Mondrian(Method):
    """Parts of the table, each cut at medians until no cut is allowed."""

    name: ClassVar[str] = "mondrian"
    citation: ClassVar[str] = "LeFevre et al. 2006"
    by_names: ClassVar[bool] = True

    relaxed: bool = False  # whether records of the median value may be divided
    numeric: Numeric = "auto"  # columns of numbers: nodes of their hierarchy, or ranges
    categorical: Categorical = "auto"  # other columns: nodes of their hierarchy, or sets of values

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """Steps 1 to 5."""
        return cut(problem, self.name, rng, numeric=self.numeric, categorical=self.categorical,
                   relaxed=self.relaxed)
