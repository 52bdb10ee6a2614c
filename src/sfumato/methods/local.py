"""Local recoding: one sweep of the lattice, cheapest node first, then a polish of its classes.

The method is our own; `docs/methods/local.md` describes it with its experiments. The cost: Xu, J., Wang,
W., Pei, J., Wang, X., Shi, B., Fu, A. W.-C. (2006). Utility-based anonymization using local recoding. KDD.

| page | here |
| --- | --- |
| class, its label, its price | `State`: members, label, `weight` of one record |
| sweep | `kernels.sweep` |
| dissolve, move | `kernels.polish` |
| index over labels | `kernels.trie` |
| repair | `repair.mend` |
| peel | `peel.peel` |
| neighbourhoods | `neighbourhoods.Neighbourhoods` |
| certificate | `bound.Prover` |

1. Every node of the lattice, in the order of the sum over columns of its squared losses: each cell of it with
   enough records that have no class yet becomes one. Records left over join the class they cost least.
2. The label of a class: in each column the lowest node above its values.
3. Classes that break a criterion join others until it holds. Of a class that has enough records without them,
   those of its most frequent combination leave it, where that costs less.
4. Dissolve: a class goes if its records cost less in other classes. Move: a record goes to another class if
   both together cost less. Until little changes.
5. Neighbourhoods: classes that are alike in some columns are dissolved together, their records swept again in
   an order changed by chance; what became cheaper is kept. So many steps, or as long as there is time.
6. The certificate: values of records that no recoding can be cheaper than (`bound`).

Cost: nodes x tuples left, then items x classes that the index cannot rule out.

>>> import numpy as np
>>> from sfumato.criteria.k_anonymity import KAnonymity
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> from sfumato.methods.base import Problem
>>> age = Hierarchy("age", (("20", "2*", "*"), ("25", "2*", "*"), ("31", "3*", "*"), ("38", "3*", "*")))
>>> frequency = FrequencySet((age,), np.array([[0], [1], [2], [3]], np.int32), np.array([3, 3, 1, 1]))
>>> problem = Problem(frequency, (KAnonymity(k=2),), 0.0, np.ones(1))
>>> found = Local().solve(problem, np.random.default_rng(0))
>>> sorted(found.labelling(frequency, 0).texts)
['20', '25', '3*']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, Field

from sfumato.clusters.axes import axes_of
from sfumato.clusters.labels import recoding
from sfumato.clusters.refusal import require_feasible
from sfumato.costs.measured import score
from sfumato.costs.registry import make
from sfumato.local.bound import Prover, certificate
from sfumato.local.neighbourhoods import Neighbourhoods
from sfumato.local.peel import peel
from sfumato.local.prices import SUMS, Prices
from sfumato.local.repair import diversify, mend
from sfumato.local.search import Search
from sfumato.methods.base import Method, Problem
from sfumato.recoding import Regrouping
from sfumato.search import Clock

STEPS, SENSITIVE_STEPS = 50, 20  # of `auto`, at most; where sensitive values count
ITEMS = 1_500_000  # records that these may look at
RANGED = "ncp"  # the cost that tells a range from the node above it
EVEN = ("ncp", "precision")  # the costs under which a suppressed record costs what one does that shows only *
SEARCHED = 0.75  # of the time, what the search may take; the rest is the proof's


def _sum_over_cells(name: str) -> str:
    if name not in SUMS:
        raise ValueError(f"{name!r} is no sum over cells; choose one of {', '.join(SUMS)}")
    return name


def proven(search: Search, problem: Problem, costs: Sequence[int]) -> dict[str, Any]:
    """Step 6."""
    prover = Prover(search.axes, search.grid, search.prices, search.least)
    return certificate(prover.run(search.state, problem.clock), search, costs)


class Local(Method):
    """Classes of the lattice's cells, swept cheapest first and polished."""

    name: ClassVar[str] = "local"
    citation: ClassVar[str] = "docs/methods/local.md"
    by_names: ClassVar[bool] = True
    by_seed: ClassVar[bool] = True

    cost: Annotated[str, AfterValidator(_sum_over_cells)] = "ncp"
    numeric: Literal["hierarchy", "range", "auto"] = "auto"  # numbers: nodes of their hierarchy, or ranges
    steps: Annotated[int, Field(ge=0, strict=True)] | Literal["auto"] = "auto"  # of step 5
    seconds: float | None = Field(default=None, gt=0)  # as many steps as fit into this
    certificate: bool = True  # whether a bound on every recoding's cost is proven

    def faults(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Iterable[tuple[str, str]]:
        """Ranges under a cost that counts each as the node above it."""
        if self.numeric == "range" and self.cost != RANGED:
            yield "numeric", (f"The cost {self.cost} counts a range as the node above it, so that ranges "
                              f"gain nothing. Choose cost: {RANGED}, or numeric: hierarchy.")

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """Steps 1 to 6."""
        frequency = problem.frequency
        require_feasible(problem, self.name)
        axes = axes_of(frequency, self.numeric if self.cost == RANGED else "hierarchy", "hierarchy")
        cost = make(self.cost, frequency, problem.weights)
        search = Search(frequency, problem.criteria, axes, Prices(frequency, axes, cost), rng)
        diversify(search)
        mend(search)
        peel(search)
        search.polish()
        further = Neighbourhoods(search, rng)
        self.go_on(further, problem)
        facts: dict[str, Any] = {"search_steps": further.done}
        if self.certificate:
            facts["certificate"] = proven(search, problem, further.costs)
        may_suppress = problem.affordable if self.cost in EVEN else 0
        made = recoding(frequency, axes, search.found(), problem.weights, may_suppress, facts)
        notes = {**made.notes, "cost": self.cost, "score": score(cost, frequency, made)}
        return replace(made, notes=notes)

    def go_on(self, further: Neighbourhoods, problem: Problem) -> None:
        """Step 5, as long as was asked for."""
        seconds = self.seconds or problem.clock.seconds
        problem.clock.seconds = seconds
        clock = Clock(None if seconds is None else SEARCHED * seconds, problem.clock.interruptible,
                      problem.clock.started)
        most = SENSITIVE_STEPS if further.search.judge.sensitive else STEPS
        steps: int | None = min(most, ITEMS // len(further.search.state.class_of))
        if self.steps != "auto":
            steps = self.steps
        elif seconds is not None:
            steps = None
        further.run(steps, clock, problem.watch)
        problem.clock.interrupted = clock.interrupted
