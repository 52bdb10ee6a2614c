"""MDAV: groups of k records around those that are farthest from the average, published as their centres.

Domingo-Ferrer, J., Torra, V. (2005). Ordinal, continuous and heterogeneous k-anonymity through
microaggregation. Data Mining and Knowledge Discovery 11(2). Section 3 (MDAV-generic), 4 (types of data).

| paper | here |
| --- | --- |
| k | records that the criteria demand of every class, at least 2 (`problem.least`) |
| average record | the mean of numbers, the most frequent of other values (`mdav_kernels.centre`) |
| x_r, x_s | the record farthest from the average, and the one farthest from it |

1. While 3k records and more are left: the average record, x_r, x_s; the k records nearest to x_r are a group,
   and of the others the k nearest to x_s (`take`).
2. If 2k records and more are left: x_r, its k nearest, and the rest as one group.
3. Fewer are one group.
Each group's values are replaced by their average record: numbers by the mean, others by the mode.

Departures. Numbers are scaled by their range, not by their deviation, so that they weigh as much as other
values, whose distance is the level at which they meet under their hierarchy, or 0 and 1 (`distance: equal`);
both are squared, and columns have their recipe's weights. Ordered categories are no type of their own: write
them as numbers. A missing value is at distance 1 from every other, and a class that mixes it with others
shows `*`. Criteria beyond k: a group that does not satisfy them is merged, or suppressed
(`clusters.repair`). Nodes, ranges and sets may be released in the place of centres. A table of more than
`block` records is cut into blocks first. Of equals the first in an order of chance is taken.

Cost: in each block records² / k, times the columns; records alike are measured once.

>>> import numpy as np
>>> from sfumato.criteria.k_anonymity import KAnonymity
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> age = Hierarchy("age", tuple((str(a), "*") for a in (20, 21, 25, 40, 42, 60, 61, 65)))
>>> frequency = FrequencySet((age,), np.arange(8, dtype=np.int32)[:, None], np.ones(8, np.int64))
>>> problem = Problem(frequency, (KAnonymity(k=3),), 0.0, np.ones(1))
>>> found = MDAV().solve(problem, np.random.default_rng(0))
>>> sorted(found.labelling(frequency, 0).texts), found.notes["facts"]["centres"]
(['30', '62'], {'age': 'mean'})
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from sfumato.classes import Ints
from sfumato.clusters.axes import Numbers, Values, axes_of
from sfumato.clusters.blocks import clustered, counted
from sfumato.clusters.cuts import compiled_pays
from sfumato.clusters.labels import Elements
from sfumato.clusters.space import Distance, Space
from sfumato.methods.base import Method, Problem
from sfumato.recoding import Regrouping


class MDAV(Method):
    """Groups of k records, the farthest from the average first."""

    name: ClassVar[str] = "mdav"
    citation: ClassVar[str] = "Domingo-Ferrer & Torra 2005"
    by_names: ClassVar[bool] = True
    by_seed: ClassVar[bool] = True

    numeric: Numbers = "mean"  # columns of numbers: means, ranges, or nodes of their hierarchy
    categorical: Values = "mode"  # other columns: modes, sets of values, or nodes of their hierarchy
    distance: Distance = "hierarchy"  # of values that are no numbers: where they meet, or 0 and 1
    block: Annotated[int, Field(ge=100, strict=True)] = 40_000  # records that are grouped at once

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """Steps 1 to 3 in every block, then repair and labels."""
        axes = axes_of(problem.frequency, self.numeric, self.categorical)
        space = Space.of(problem.frequency, problem.weights, self.distance)
        k = max(problem.least, 2)

        def group(part: Elements, rng: np.random.Generator) -> Elements:
            """One block's groups; its elements stand in an order of chance."""
            return counted(part, *grouped(space.taken(part.tuple_of), part.counts, k))

        return clustered(problem, self.name, axes, self.block, group, rng)


def grouped(space: Space, counts: Ints, k: int) -> tuple[Ints, Ints]:
    """Per record its element and its group."""
    if not compiled_pays(len(counts)):
        from sfumato.clusters import plain_mdav

        return plain_mdav.microaggregate(space, counts, k)
    from sfumato.clusters import mdav_kernels

    kernels: Any = mdav_kernels
    room = len(counts) + int(counts.sum()) // k + 1
    pieces, taken, groups = (np.empty(room, dtype=np.int64) for _ in range(3))
    ladders = space.ladders
    points, codes = (np.array(one.T, order="C") for one in (space.points, space.codes))  # they are used up
    end = kernels.microaggregate(points, codes, counts.copy(), space.numeric, space.other, ladders.nodes,
                                 ladders.first_node, ladders.widths, ladders.heights, k, pieces, taken,
                                 groups)
    return np.repeat(pieces[:end], taken[:end]), np.repeat(groups[:end], taken[:end])
