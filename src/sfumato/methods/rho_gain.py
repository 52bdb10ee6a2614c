"""ρ-Gain: what one generalization had to suppress is generalized again by itself, ρ times.

Vural & Aydos 2017, A new approach to utility-based privacy preserving in data publishing, IEEE CIT:
Table I (steps), section III (results).

| symbol | here |
| --- | --- |
| T, T* | the outliers left, the classes released so far |
| ρ | `rounds`: how often the outliers are generalized again, after the first time |
| GAIN | `left`: the tuples that are still outliers |
| OEC | the records that a round suppresses |

L1, preparation layer. Roles and hierarchies come from the recipe (1.1 to 1.5); all records are left (1.4).
L2, anonymization layer. Criteria, cost and ρ come from the recipe (2.1 to 2.4); the lattice is searched for
the best node of what is left, with no limit on suppression (2.6); what it keeps is released (2.8), its
outliers are left (2.7).
L3, gain layer. The outliers, as they were before, go through the second layer again (3.1 to 3.3).
L4, publishing layer. All rounds' classes together (4.1); the outliers left at the end are suppressed.

Readings of Table I. Step 3.3 adds one to ρ' and not to ρ; 2.5 lets ρ + 1 rounds run, as Figures 3 to 8
do; 3.1 takes the outliers' values from the private table; 3.2 with 3.4 would publish the last outliers as
they are, so they stay suppressed.

Departures. The recipe's `suppression` holds for the outliers left at the end: where the rounds leave
more, the last of them that can keep within it is made to, and ends the run. Classes of several rounds with
the same labels are one class (the paper adds them up). A round that would show nothing but * is not run.
`rounds: auto` answers the paper's question for the best ρ: rounds go on while one lowers the cost of the
whole release by at least `gain` of it.

Cost: a search of the lattice for each round, over the tuples left.

>>> import numpy as np
>>> from sfumato.criteria.k_anonymity import KAnonymity
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> age = Hierarchy("age", (("20", "2*", "*"), ("25", "2*", "*"), ("31", "3*", "*"), ("38", "3*", "*")))
>>> frequency = FrequencySet((age,), np.array([[0], [1], [2], [3]], np.int32), np.array([3, 3, 1, 1]))
>>> problem = Problem(frequency, (KAnonymity(k=2),), 1.0, np.ones(1))
>>> found = RhoGain(rounds=1).solve(problem, np.random.default_rng(0))
>>> found.labelling(frequency, 0).texts
['20', '25', '3*']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.classes import Floats, Ints
from sfumato.costs.measured import score
from sfumato.costs.registry import make
from sfumato.frequency import FrequencySet, distinct
from sfumato.lattice import Lattice
from sfumato.methods.base import Method, Problem
from sfumato.methods.full_domain import CostName, infeasible, release_node, search
from sfumato.recoding import SUPPRESSED, Regrouping
from sfumato.search import Found

THRESHOLDS = (50, 20, 10, 5, 2, 1)  # percent
LONGEST = 1000  # rounds that `auto` may run


@dataclass(frozen=True)
class Round:
    """One pass of the anonymization layer."""

    before: Ints  # the tuples it was given
    found: Found
    recoding: Regrouping  # of these tuples

    @property
    def outliers(self) -> Ints:
        """The tuples that it suppressed."""
        return np.asarray(self.before[self.recoding.class_of == SUPPRESSED])


class RhoGain(Method):
    """Full-domain generalization of the table, then of its outliers, then of theirs."""

    name: ClassVar[str] = "rho-gain"
    citation: ClassVar[str] = "Vural & Aydos 2017"
    by_names: ClassVar[bool] = True  # of nodes that cost the same, columns' order picks; outliers follow

    rounds: Annotated[int, Field(ge=0, strict=True)] | Literal["auto"] = "auto"
    cost: CostName = "aecs"
    gain: Annotated[float, Field(gt=0, lt=1, strict=True)] = 0.02  # the least for which `auto` runs a round

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """The four layers."""
        rounds, curve = self._rounds(problem)
        if not rounds or outliers(problem, rounds) > problem.affordable:
            rounds = self._limited(problem, rounds)
            curve = curve[: len(rounds) - 1]
        together = published(problem.frequency, rounds)
        total = self._score(problem, rounds)
        if len(curve) < len(rounds):
            curve.append(step(problem, rounds, curve, total, taken=True))
        facts = {"rho": len(rounds) - 1, "rounds": [told(problem, one) for one in rounds], "gains": curve,
                 "gain_asked": self.gain if self.rounds == "auto" else None}
        return replace(together, notes={"cost": self.cost, "score": total, "facts": facts})

    def _rounds(self, problem: Problem) -> tuple[list[Round], list[dict[str, Any]]]:
        """Layers 2 and 3, each round without a limit on what it suppresses; and what each gained."""
        rounds: list[Round] = []
        curve: list[dict[str, Any]] = []
        left = np.arange(problem.frequency.n_tuples)
        for _ in range(LONGEST if self.rounds == "auto" else self.rounds + 1):
            one = self._round(problem, left, problem.frequency.n_records)
            if one is None:
                break
            now = step(problem, [*rounds, one], curve, self._score(problem, [*rounds, one]), taken=True)
            enough = outliers(problem, rounds) <= problem.affordable if rounds else False
            if self.rounds == "auto" and enough and now["gain"] < self.gain:
                curve.append({**now, "taken": False})
                break
            rounds, left, curve = [*rounds, one], one.outliers, [*curve, now]
            if not len(left) or problem.clock.over:
                break
        return rounds, curve

    def _score(self, problem: Problem, rounds: Sequence[Round]) -> float:
        """The cost of the release of these rounds."""
        cost = make(self.cost, problem.frequency, problem.weights, problem.least)
        return score(cost, problem.frequency, published(problem.frequency, rounds))

    def _limited(self, problem: Problem, rounds: Sequence[Round]) -> list[Round]:
        """The rounds up to the last that can keep within the recipe's suppression, which does."""
        for last in reversed(range(max(len(rounds), 1))):
            before = rounds[last].before if rounds else np.arange(problem.frequency.n_tuples)
            one = self._round(problem, before, problem.affordable, first=last == 0)
            if one is not None:
                return [*rounds[:last], one]
        raise AssertionError("the first round finds a node, or says that there is none")

    def _round(self, problem: Problem, left: Ints, affordable: int, first: bool = False) -> Round | None:
        """Steps 2.6 to 2.8 for the tuples left; None if no node but the top keeps a record of them."""
        whole = len(left) == problem.frequency.n_tuples
        frequency = problem.frequency if whole else problem.frequency.part(left)
        share = min(affordable / frequency.n_records, 1.0)
        part = replace(problem, frequency=frequency, suppression=share)
        lattice = Lattice(tuple(h.n_levels for h in frequency.hierarchies))
        found = search(part, lattice, make(self.cost, frequency, problem.weights, problem.least))
        if found.levels is None:
            if first:
                raise infeasible(problem, found)
            return None
        if not whole and lattice.node(found.levels) == lattice.top:
            return None
        return Round(left, found, release_node(part, found.levels, {}))


def outliers(problem: Problem, rounds: Sequence[Round]) -> int:
    """Records left after the rounds."""
    if not rounds:
        return problem.frequency.n_records
    return int(problem.frequency.counts[rounds[-1].outliers].sum())


def step(problem: Problem, rounds: Sequence[Round], before: Sequence[dict[str, Any]], cost: float,
         taken: bool) -> dict[str, Any]:
    """One point of the curve that `auto` decides by: the whole release's cost after its last round."""
    worth = before[-1]["cost"] if before else None
    gain = None if worth is None else (worth - cost) / abs(worth) if worth else 0.0
    return {"round": len(rounds), "cost": cost, "gain": gain, "suppressed": outliers(problem, rounds),
            "taken": taken}


def published(frequency: FrequencySet, rounds: Sequence[Round]) -> Regrouping:
    """Step 4.1: the rounds' classes together, those with the same labels as one."""
    class_of = np.full(frequency.n_tuples, SUPPRESSED, dtype=np.int64)
    start = 0
    for one in rounds:
        kept = one.recoding.class_of != SUPPRESSED
        class_of[one.before[kept]] = one.recoding.class_of[kept] + start
        start += one.recoding.n_classes
    levels = np.concatenate([one.recoding.levels for one in rounds])
    nodes = np.concatenate([one.recoding.nodes for one in rounds])
    apart = Regrouping(class_of, levels, nodes)
    named = [np.unique(np.array([str((text is None, text)) for text in apart.labelling(frequency, j).texts]),
                       return_inverse=True)[1] for j in range(frequency.n_quasi)]
    same, first = distinct(np.stack(named, axis=1), [int(names.max()) + 1 for names in named])
    class_of[class_of != SUPPRESSED] = same[class_of[class_of != SUPPRESSED]]
    return Regrouping(class_of, levels[first], nodes[first])


def told(problem: Problem, one: Round) -> dict[str, Any]:
    """What the manifest says of a round."""
    frequency = problem.frequency.part(one.before)
    sizes, left = one.recoding.sizes(frequency), one.recoding.suppressed(frequency)
    assert one.found.levels is not None
    return {"levels": dict(zip(frequency.quasi, map(int, one.found.levels), strict=True)),
            "classes": one.recoding.n_classes, "kept": int(sizes.sum()), "suppressed": left,
            "status": "optimal" if one.found.proven else "best found", "checked": one.found.visited,
            "measures": measures(sizes.astype(float), left), "at_risk": at_risk(sizes.astype(float))}


def measures(sizes: Floats, suppressed: int) -> dict[str, float]:
    """A round's utility and risk as in Figures 3 to 8, 11 and 12; outliers are one more class of theirs.

    >>> found = measures(np.array([5.0, 10.0]), 15)
    >>> found["average_class"], found["average_class_with_outliers"], found["average_risk"]
    (7.5, 10.0, 0.1333...)
    """
    kept, largest, smallest = sizes.sum(), sizes.max(), sizes.min()
    total, classes = kept + suppressed, len(sizes) + (suppressed > 0)
    groups = np.append(sizes, suppressed) if suppressed else sizes  # outliers as one more class
    found = {
        "records": total, "kept_share": kept / total, "suppressed_share": suppressed / total,
        "classes_with_outliers": classes,
        "average_class": kept / len(sizes), "average_class_with_outliers": total / classes,
        "largest_class": largest, "largest_class_with_outliers": groups.max(),
        "smallest_class": smallest, "smallest_class_with_outliers": groups.min(),
        "lowest_risk": 1 / largest, "records_at_lowest_risk": sizes[sizes == largest].sum() / kept,
        "average_risk": len(sizes) / kept,
        "highest_risk": 1 / smallest, "records_at_highest_risk": sizes[sizes == smallest].sum() / kept,
        "prosecutor_risk": 1 / smallest, "journalist_risk": 1 / smallest, "marketer_risk": len(sizes) / kept}
    return {name: float(value) for name, value in found.items()}


def at_risk(sizes: Floats) -> dict[str, float]:
    """Figures 9 and 10: the share of the records kept whose prosecutor risk is above each threshold.

    >>> at_risk(np.array([5.0, 15.0]))["> 10 %"]
    0.25
    """
    return {f"> {share} %": float(sizes[sizes * share < 100].sum() / sizes.sum()) for share in THRESHOLDS}
