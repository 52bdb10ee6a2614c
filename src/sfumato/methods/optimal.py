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
from pydantic import Field, field_validator

from sfumato.classes import Ints
from sfumato.costs.base import Cost
from sfumato.costs.registry import COSTS, make
from sfumato.errors import InfeasibleError
from sfumato.evaluate import ENUMERABLE, evaluator, group_at
from sfumato.frontier import BestFirst
from sfumato.lattice import Lattice
from sfumato.methods.base import Method, Problem
from sfumato.recoding import SUPPRESSED, Regrouping
from sfumato.search import Found, Limits, TopDown


class Optimal(Method):
    """The full-domain generalization with the least cost."""

    name: ClassVar[str] = "optimal"
    citation: ClassVar[str] = "LeFevre et al. 2005; Kohlmayer et al. 2012"

    cost: str = "ncp"
    seconds: float | None = Field(default=None, gt=0)  # give up proving after this long

    @field_validator("cost")
    @classmethod
    def _known_cost(cls, name: str) -> str:
        if name not in COSTS:
            raise ValueError(f"there is no cost {name!r}; choose one of {', '.join(COSTS)}")
        return name

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """The best node's recoding."""
        lattice = Lattice(tuple(h.n_levels for h in problem.frequency.hierarchies))
        cost = make(self.cost, problem.frequency, problem.weights, problem.least)
        problem.clock.seconds = self.seconds or problem.clock.seconds
        found = search(problem, lattice, cost)
        if found.levels is None:
            raise infeasible(problem, found)
        return release_node(problem, found.levels, report(self.cost, lattice, found, problem))


def search(problem: Problem, lattice: Lattice, cost: Cost) -> Found:
    """Steps 1 to 3."""
    limits = Limits(problem.affordable, problem.frequency.n_records,
                    all(c.upward for c in problem.criteria), all(c.mergeable for c in problem.criteria))
    engine = evaluator(problem.frequency, lattice, problem.criteria, cost)
    strategy = TopDown if lattice.size <= ENUMERABLE else BestFirst
    return strategy(lattice, cost, engine, limits, problem.clock, problem.watch).run()


def release_node(problem: Problem, levels: Ints, notes: dict[str, Any]) -> Regrouping:
    """Step 4: the classes of a node, the failing ones suppressed."""
    class_of, first, nodes = group_at(problem.frequency, levels)
    stats = problem.frequency.regroup(class_of, len(first))
    good = np.logical_and.reduce([criterion.holds(stats) for criterion in problem.criteria])
    number = np.where(good, np.cumsum(good) - 1, SUPPRESSED)
    kept = nodes[first[good]]
    return Regrouping(number[class_of], np.tile(levels.astype(np.int32), (len(kept), 1)), kept, notes)


def report(cost: str, lattice: Lattice, found: Found, problem: Problem) -> dict[str, Any]:
    """What the manifest says of the search."""
    gap = 0.0 if found.proven else (found.score - found.bound) / max(abs(found.score), 1e-300)
    assert found.levels is not None
    return {"levels": [int(level) for level in found.levels], "cost": cost, "score": found.score,
            "search": {"status": "optimal" if found.proven else "best found", "bound": found.bound,
                       "gap": gap, "nodes": lattice.size, "checked": found.visited,
                       "seconds": problem.clock.spent}}


def infeasible(problem: Problem, found: Found) -> InfeasibleError:
    """Say which criterion cannot be met, how close one came, and what to relax."""
    frequency = problem.frequency
    class_of, first, _ = group_at(frequency, found.closest)
    stats = frequency.regroup(class_of, len(first))
    failing = [c for c in problem.criteria if not c.holds(stats).all()]
    named = " and ".join(f"{c.name} ({c.promise})" for c in failing) or "the criteria together"
    place = ", ".join(f"{h.column} at level {level}" for h, level in
                      zip(frequency.hierarchies, found.closest, strict=True))
    least = max(criterion.least for criterion in problem.criteria)
    proof = "No generalization satisfies" if found.proven else "No generalization found so far satisfies"
    return InfeasibleError(
        f"{proof} {named} with at most {problem.suppression:.1%} of {frequency.n_records:,} records "
        f"suppressed. The closest node ({place}) would suppress {found.missing:,} too many.",
        f"Relax the criterion: no suppression limit makes a class of {least:,} records in so small a table."
        if least > frequency.n_records else
        "Raise the suppression limit, relax the criterion, or use fewer quasi-identifiers.")
