"""The proven best full-domain generalization with record suppression.

Every quasi-identifier is generalized to one level for all records; records in classes that fail a
criterion are suppressed, up to a limit. Of all nodes of the lattice the cheapest feasible one is
returned, and that no node is cheaper is proven by bounds rather than by visiting all of them.

Full-domain generalization: Samarati 2001, TKDE 13(6). Predictive tagging and roll-up: LeFevre et
al. 2005 (Incognito), SIGMOD; Kohlmayer et al. 2012 (Flash), PASSAT.

| symbol | here |
| --- | --- |
| lattice node | `Lattice` position |
| suppression limit (MaxSup) | `Problem.affordable` |
| roll-up | `evaluate`: chains of frequency sets |

1. Give every node its floor: the cost without suppression (a sum over columns).
2. Visit the top node; then dive to the cheapest feasible specialization until there is none.
3. Visit open nodes from the top down, closing others by tagging and bounds (`search`).
4. Release the best node: classes that satisfy every criterion are kept, the rest suppressed.

Departures: none of the sources bounds by the suppression that a generalization already proves
(`Cost.penalties` spread downwards); it is what makes the search short. Lattices of more than
`ENUMERABLE` nodes are searched best-first without a table of nodes (`frontier`).

Cost: nodes visited x tuples of the coarsest stored specialization.

>>> import numpy as np
>>> from sfumato.methods.base import Problem
>>> from sfumato.criteria.k_anonymity import KAnonymity
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> age = Hierarchy("age", (("20", "2*", "*"), ("25", "2*", "*"), ("31", "3*", "*"), ("38", "3*", "*")))
>>> frequency = FrequencySet((age,), np.array([[0], [1], [2], [3]], np.int32), np.array([1, 2, 1, 1]))
>>> problem = Problem(frequency, (KAnonymity(k=2),), 0.0, np.ones(1))
>>> Optimal().solve(problem, np.random.default_rng(0)).notes["levels"]
[1]
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from sfumato.costs.registry import make
from sfumato.lattice import Lattice
from sfumato.methods.base import Method, Problem
from sfumato.methods.full_domain import CostName, infeasible, release_node, search
from sfumato.recoding import Regrouping
from sfumato.search import Found


class Optimal(Method):
    """The full-domain generalization with the least cost."""

    name: ClassVar[str] = "optimal"
    citation: ClassVar[str] = "LeFevre et al. 2005; Kohlmayer et al. 2012"

    cost: CostName = "ncp"
    seconds: float | None = Field(default=None, gt=0)  # give up proving after this long

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """The best node's recoding."""
        lattice = Lattice(tuple(h.n_levels for h in problem.frequency.hierarchies))
        cost = make(self.cost, problem.frequency, problem.weights, problem.least)
        problem.clock.seconds = self.seconds or problem.clock.seconds
        found = search(problem, lattice, cost)
        if found.levels is None:
            raise infeasible(problem, found)
        return release_node(problem, found.levels, report(self.cost, lattice, found, problem))


def report(cost: str, lattice: Lattice, found: Found, problem: Problem) -> dict[str, Any]:
    """What the manifest says of the search."""
    gap = 0.0 if found.proven else (found.score - found.bound) / max(abs(found.score), 1e-300)
    assert found.levels is not None
    return {"levels": [int(level) for level in found.levels], "cost": cost, "score": found.score,
            "search": {"status": "optimal" if found.proven else "best found", "bound": found.bound,
                       "gap": gap, "nodes": lattice.size, "checked": found.visited,
                       "seconds": problem.clock.spent}}
