"""Steps that methods over the lattice share: search it, release a node, say why none will do."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator

from sfumato.classes import Ints
from sfumato.costs.base import Cost
from sfumato.costs.registry import COSTS
from sfumato.errors import InfeasibleError
from sfumato.evaluate import ENUMERABLE, evaluator, group_at
from sfumato.frontier import BestFirst
from sfumato.lattice import Lattice
from sfumato.methods.base import Problem
from sfumato.recoding import SUPPRESSED, Regrouping
from sfumato.search import Found, Limits, TopDown


def _known_cost(name: str) -> str:
    if name not in COSTS:
        raise ValueError(f"there is no cost {name!r}; choose one of {', '.join(COSTS)}")
    return name


CostName = Annotated[str, AfterValidator(_known_cost)]


def search(problem: Problem, lattice: Lattice, cost: Cost) -> Found:
    """The node of least cost."""
    limits = Limits(problem.affordable, problem.frequency.n_records,
                    all(c.upward for c in problem.criteria), all(c.mergeable for c in problem.criteria))
    engine = evaluator(problem.frequency, lattice, problem.criteria, cost)
    strategy = TopDown if lattice.size <= ENUMERABLE else BestFirst
    return strategy(lattice, cost, engine, limits, problem.clock, problem.watch).run()


def release_node(problem: Problem, levels: Ints, notes: dict[str, Any]) -> Regrouping:
    """The classes of a node, the failing ones suppressed."""
    class_of, first, nodes = group_at(problem.frequency, levels)
    stats = problem.frequency.regroup(class_of, len(first))
    good = np.logical_and.reduce([criterion.holds(stats) for criterion in problem.criteria])
    number = np.where(good, np.cumsum(good) - 1, SUPPRESSED)
    kept = nodes[first[good]]
    return Regrouping(number[class_of], np.tile(levels.astype(np.int32), (len(kept), 1)), kept, notes)


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
