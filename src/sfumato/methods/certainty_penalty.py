"""Certainty penalty: groups of records formed so that their labels lose little, merged upwards or cut
downwards.

Xu, J., Wang, W., Pei, J., Wang, X., Shi, B., Fu, A. W.-C. (2006). Utility-based anonymization using local
recoding. KDD 2006. Section 3 (weighted NCP), 4.1 (bottom-up), 4.2 (top-down).

| paper | here |
| --- | --- |
| NCP of a tuple | `Labels`: (values under the label - 1) / (values - 1), in each column times its weight |
| NCP of a group | its records times that of its label |
| k | records that the criteria demand of every class (`problem.least`) |
| u, v, G_u, G_v | the two seeds and their sides (`Halving`) |

Bottom-up. 1. Each record is a group. 2. Each group G of fewer than k records is merged with the group G' for
which NCP(G u G') is smallest, until none has fewer. 3. After each pass, groups of 2k records and more are cut
in two.
Top-down. 1. The table is one group; one of fewer than 2k records is done. 2. Two seeds: from a record drawn
by chance to the farthest, from there to the farthest again, three times. 3. The others go, in an order of
chance, to the side G for which NCP(G u {record}) is smaller. 4. A side of fewer than k records takes the
nearest from the other. 5. Both sides again.

Readings. Records alike are one group from the start: merging them costs nothing. The paper counts a value's
range in the column's unit and the leaves under a node; here the values under any label are counted (a value
alone loses 0, all of them 1), as the measure of the release has it. A cut in two of the first direction is
that of the second. The paper's step 4 also looks at other groups: taking from the sibling never loses more
than leaving both together. `objective: increase` merges by what is lost more than before.

Departures. In step 3 a record is compared with the two seeds (`assign: seed`, as in a known implementation):
with the sides as they grow (`assign: group`, the paper), both labels soon say little under a hierarchy, and
records go anywhere. A cut is accepted if both sides satisfy every criterion, with three pairs of seeds at
most; where merging leaves a group that does not, it is merged further, or suppressed (`clusters.repair`). Of
equals the next in an order of chance is taken. More than `block` different records are cut into blocks
before they are merged.

Cost: bottom-up the square of the different records in a block, top-down these times log2(records / k).

>>> import numpy as np
>>> from sfumato.criteria.k_anonymity import KAnonymity
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> age = Hierarchy("age", tuple((str(a), "*") for a in (20, 22, 40, 58, 60)))
>>> frequency = FrequencySet((age,), np.arange(5, dtype=np.int32)[:, None], np.ones(5, np.int64))
>>> problem = Problem(frequency, (KAnonymity(k=2),), 0.0, np.ones(1))
>>> for direction in ("top-down", "bottom-up"):
...     found = CertaintyPenalty(direction=direction).solve(problem, np.random.default_rng(0))
...     sorted(found.labelling(frequency, 0).texts)
['[20..40]', '[58..60]']
['[20..22]', '[40..60]']
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.classes import Ints
from sfumato.clusters.axes import Categorical, Numeric, axes_of, places
from sfumato.clusters.blocks import clustered
from sfumato.clusters.boxes import Boxes, Labels
from sfumato.clusters.cuts import Judge
from sfumato.clusters.halving import Halving
from sfumato.clusters.labels import Elements
from sfumato.hierarchy.core import Codes
from sfumato.methods.base import Method, Problem
from sfumato.recoding import Regrouping


class CertaintyPenalty(Method):
    """Groups whose labels have a small weighted certainty penalty."""

    name: ClassVar[str] = "certainty-penalty"
    citation: ClassVar[str] = "Xu et al. 2006"
    by_names: ClassVar[bool] = True
    by_seed: ClassVar[bool] = True

    direction: Literal["bottom-up", "top-down"] = "bottom-up"
    objective: Literal["total", "increase"] = "total"  # of a merger: all that is lost, or what is lost more
    assign: Literal["seed", "group"] = "seed"  # what a record's loss is counted with in a cut
    rounds: Annotated[int, Field(ge=1, le=100, strict=True)] = 3  # of the search for two seeds
    numeric: Numeric = "auto"  # columns of numbers: nodes of their hierarchy, or ranges
    categorical: Categorical = "auto"  # other columns: nodes of their hierarchy, or sets of values
    block: Annotated[int, Field(ge=100, strict=True)] = 20_000  # different records that are merged at once

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """One of the two directions in every block, then repair and labels."""
        frequency = problem.frequency
        axes = axes_of(frequency, self.numeric, self.categorical)
        labels, at = Labels(axes, problem.weights), places(axes, frequency)
        judge = Judge(frequency, problem.criteria)
        cut = Halving(labels, judge, max(problem.least, 2), self.rounds, self.assign == "seed")

        def group(part: Elements, rng: np.random.Generator) -> Elements:
            """One block's groups."""
            found = np.zeros(len(part.counts), dtype=np.int64)
            if self.direction == "top-down":
                found = cut.run(part, at[part.tuple_of], found, problem.clock, rng)
            else:
                found = self._merged(problem, cut, part, at[part.tuple_of], rng)
            return replace(part, class_of=found)

        return clustered(problem, self.name, axes, self._records(problem), group, rng)

    def _records(self, problem: Problem) -> int:
        """How many records there are in a block."""
        n, tuples = problem.frequency.n_records, problem.frequency.n_tuples
        return n if self.direction == "top-down" or tuples <= self.block else n * self.block // tuples

    def _merged(self, problem: Problem, cut: Halving, part: Elements, at: Codes,
                rng: np.random.Generator) -> Ints:
        """Bottom-up, steps 1 to 3."""
        _, first, group_of = np.unique(part.tuple_of, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))  # in the elements' order, which is one of chance
        group_of = rank[group_of]
        while True:
            n_groups = int(group_of.max()) + 1
            boxes = Boxes.of(cut.labels, at, part.counts, group_of, n_groups)
            wanted = np.flatnonzero(boxes.sizes < cut.least)
            if not len(wanted) or n_groups == 1 or problem.clock.over:
                return group_of
            alive, into = np.ones(n_groups, dtype=bool), np.arange(n_groups)
            boxes.merge_in_turn(wanted, cut.least, self.objective == "increase", alive, into)
            while (into != into[into]).any():
                into = into[into]
            group_of = np.unique(into[group_of], return_inverse=True)[1].astype(np.int64)
            group_of = cut.run(part, at, group_of, problem.clock, rng)
