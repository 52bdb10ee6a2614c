"""OKA: one pass of k-means builds clusters of about k records, an adjustment gives every one at least k.

Lin, J.-L., Wei, M.-C. (2008). An efficient clustering method for k-anonymization. PAIS 2008; as in Tandon,
A., Jain, S. K. (2010). Balancing between data utility and privacy preservation in data mining, 3.2, 3.3, 4.

| paper | here |
| --- | --- |
| T, r, n | records of a block, one record, how many |
| k | records that the criteria demand of every class, at least 2 (`problem.least`) |
| N, P_i, centroid | `Crowd.n_clusters`, a cluster, `Crowd.centres` and `Crowd.modes` |
| R | `pool` |

Clustering stage. 1. The records are sorted by their quasi-identifiers. 2. N = ⌊n / k⌋. 3, 4. N records drawn
by chance are the clusters' seeds. 5 to 10. Each record in turn joins its closest cluster, whose centroid
moves.
Adjustment stage. 1 to 8. From every cluster of more than k records the farthest from the centroid are removed
until k are left. 9 to 17. The removed join, in an order of chance, the closest cluster of fewer than k
records; when there is none such, the closest.
Generalization (3.3). Numbers become the cluster's mean, or an interval; other values climb their hierarchy
until all of the cluster are equal.

Readings. The distance is a sum over the columns: of numbers |x - c| as a share of the column's range; of
other values the level of their lowest common ancestor as a share of the hierarchy's height (Lin & Wei), or 0
and 1 (`distance: equal`). The centroid is the mean, and the most frequent value (of equals the one that was
so first); it moves in the adjustment stage too. Removal takes the distances once for each cluster, as the
pseudo-code sorts once.

Departures. Columns have their recipe's weights. A missing value is at distance 1 from every other. Criteria
beyond k: a cluster that does not satisfy them is merged, or suppressed, after the adjustment
(`clusters.repair`). Labels are true by default; a mean (`numeric: mean`, as in the thesis) is not, and the
release says so. A table of more than `block` records is cut into blocks first. Of equal distances the first
cluster is taken, in the order of chance of the seeds.

Cost: records² / k distances in each block, on all cores. Each batch of records looks for its nearest
clusters at once; only clusters that moved since are measured again, so that the result is that of one record
after the other.

>>> import numpy as np
>>> from sfumato.criteria.k_anonymity import KAnonymity
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> age = Hierarchy("age", tuple((str(a), "*") for a in (1, 2, 4, 20, 21, 23, 40, 44)))
>>> frequency = FrequencySet((age,), np.arange(8, dtype=np.int32)[:, None], np.ones(8, np.int64))
>>> problem = Problem(frequency, (KAnonymity(k=2),), 0.0, np.ones(1))
>>> OKA().solve(problem, np.random.default_rng(2)).labelling(frequency, 0).texts
['[1..2]', '[20..21]', '[4..23]', '[40..44]']
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from sfumato.classes import Ints
from sfumato.clusters.axes import Categorical, Numbers, axes_of
from sfumato.clusters.blocks import clustered, counted, records
from sfumato.clusters.crowd import Crowd
from sfumato.clusters.labels import Elements
from sfumato.clusters.space import Distance, Space
from sfumato.methods.base import Method, Problem
from sfumato.recoding import Regrouping


class OKA(Method):
    """Clusters of about k records around drawn seeds, adjusted to at least k."""

    name: ClassVar[str] = "oka"
    citation: ClassVar[str] = "Lin & Wei 2008; Tandon & Jain 2010"
    by_names: ClassVar[bool] = True
    by_seed: ClassVar[bool] = True

    numeric: Numbers = "auto"  # columns of numbers: nodes of their hierarchy, ranges, or means
    categorical: Categorical = "auto"  # other columns: nodes of their hierarchy, or sets of values
    distance: Distance = "hierarchy"  # of values that are no numbers: where they meet, or 0 and 1
    block: Annotated[int, Field(ge=100, strict=True)] = 40_000  # records that are clustered at once

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """Both stages in every block, then repair and labels."""
        axes = axes_of(problem.frequency, self.numeric, self.categorical)
        space = Space.of(problem.frequency, problem.weights, self.distance)
        k = max(problem.least, 2)

        def group(part: Elements, rng: np.random.Generator) -> Elements:
            """One block's clusters."""
            element_of = in_order(problem, part, rng)
            found = stages(space.taken(part.tuple_of[element_of]), k, rng)
            return counted(part, element_of, found.cluster_of)

        return clustered(problem, self.name, axes, self.block, group, rng)


def in_order(problem: Problem, part: Elements, rng: np.random.Generator) -> Ints:
    """Line 1: the element of each record, sorted by quasi-identifiers, equal ones in an order of chance."""
    element_of = records(part)
    codes = problem.frequency.codes[part.tuple_of[element_of]]
    order = np.lexsort((rng.random(len(codes)), *codes.T[::-1]))
    return np.asarray(element_of[order])


def stages(space: Space, k: int, rng: np.random.Generator) -> Crowd:
    """Clustering and adjustment of the records of a space, which are in order."""
    n = len(space.points)
    seeds = rng.permutation(n)[:max(n // k, 1)]
    crowd = clustering(space, seeds)
    kept, pool = trimmed(crowd, k, rng.permutation(n))
    return adjusted(crowd, kept, rng.permutation(pool), k)


def clustering(space: Space, seeds: Ints) -> Crowd:
    """Clustering stage, lines 4 to 10."""
    crowd = Crowd(space, len(seeds))
    crowd.put(seeds, np.arange(len(seeds)))
    crowd.join(np.setdiff1d(np.arange(len(space.points)), seeds))
    return crowd


def trimmed(crowd: Crowd, k: int, chance: Ints) -> tuple[Ints, Ints]:
    """Adjustment stage, lines 1 to 8: the records that stay, and the pool, the farthest first.

    Of records that are equally far, those that stand first in the order of chance are removed last.
    """
    every = np.arange(len(crowd.cluster_of))
    order = np.lexsort((chance, crowd.distances(every), crowd.cluster_of))
    starts = np.cumsum(crowd.sizes) - crowd.sizes
    rank = np.empty_like(every)
    rank[order] = every - np.repeat(starts, crowd.sizes)
    kept, pool = order[rank[order] < k], order[::-1]
    pool = pool[rank[pool] >= k]
    return kept, pool[np.argsort(crowd.cluster_of[pool], kind="stable")]


def adjusted(before: Crowd, kept: Ints, pool: Ints, k: int) -> Crowd:
    """Adjustment stage, lines 9 to 17, with the pool in the order that is given."""
    crowd = Crowd(before.space, before.n_clusters)
    crowd.put(kept, before.cluster_of[kept])
    placed = crowd.join(pool, limit=k)
    crowd.join(pool[placed:])
    return crowd
