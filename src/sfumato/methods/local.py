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
| certificate | `bound.Prover` |

1. Every node of the lattice, in the order of the sum over columns of its squared losses: each cell of it with
   enough records that have no class yet becomes one. Records left over join the class they cost least.
2. The label of a class: in each column the lowest node above its values.
3. Classes that break a criterion join others until it holds.
4. Dissolve: a class goes if its records cost less in other classes. Move: a record goes to another class if
   both together cost less. Until little changes.
5. The certificate: values of records that no recoding can be cheaper than (`bound`).

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

from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator

from sfumato.clusters.axes import axes_of
from sfumato.clusters.labels import recoding
from sfumato.clusters.refusal import require_feasible
from sfumato.costs.measured import score
from sfumato.costs.registry import make
from sfumato.local.bound import Prover, certificate
from sfumato.local.prices import SUMS, Prices
from sfumato.local.repair import mend
from sfumato.local.search import Search
from sfumato.methods.base import Method, Problem
from sfumato.recoding import Regrouping


def _sum_over_cells(name: str) -> str:
    if name not in SUMS:
        raise ValueError(f"{name!r} is no sum over cells; choose one of {', '.join(SUMS)}")
    return name


def proven(search: Search, problem: Problem) -> dict[str, Any]:
    """Step 5."""
    prover = Prover(search.axes, search.grid, search.prices, search.least)
    return certificate(prover.run(search.state, problem.clock), search)


class Local(Method):
    """Classes of the lattice's cells, swept cheapest first and polished."""

    name: ClassVar[str] = "local"
    citation: ClassVar[str] = "docs/methods/local.md"
    by_names: ClassVar[bool] = True
    by_seed: ClassVar[bool] = True

    cost: Annotated[str, AfterValidator(_sum_over_cells)] = "ncp"
    numeric: Literal["hierarchy", "range", "auto"] = "auto"  # numbers: nodes of their hierarchy, or ranges
    certificate: bool = True  # whether a bound on every recoding's cost is proven

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """Steps 1 to 5."""
        frequency = problem.frequency
        require_feasible(problem, self.name)
        axes = axes_of(frequency, self.numeric, "hierarchy")
        cost = make(self.cost, frequency, problem.weights)
        search = Search(frequency, problem.criteria, axes, Prices(frequency, axes, cost), rng)
        mend(search)
        if search.counted:
            search.polish()
        facts = {"certificate": proven(search, problem)} if self.certificate else {}
        made = recoding(frequency, axes, search.found(), problem.weights, problem.affordable, facts)
        notes = {**made.notes, "cost": self.cost, "score": score(cost, frequency, made)}
        return replace(made, notes=notes)
