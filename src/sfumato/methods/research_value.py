"""Research-value search: of the generalization strings that keep the promise, one of highest research value.

Morton, Mahoui, Gibson & Yechuri, An enhanced utility-driven data anonymization method, section 5.3.

| symbol | here |
| --- | --- |
| generalization string A1_i A2_j … | one level for each quasi-identifier |
| RV of a string | the sum of its levels' research values (`research.values`) |
| List L | `prepruned`: the levels of each column that hold by themselves |
| List A | `Strings`: all combinations of L, ascending by RV |
| SL | `Trial.successes` |
| min(count) >= k | `Trial.test`: every criterion holds, with at most the recipe's suppression |
| root | the top level, all `*` |

1. Pre-pruning (Figure 3): levels that fail by themselves are left out.
2. Global (Figure 4): test the middle of A. A success removes what has a lower RV or is more general, a
   failure what is more specific; until A is empty.
3. Local (Figure 5): one triple of pointers a column, all moved together by each test.
4. Hybrid (5.3.4): local first, its tests pruning A; then global on what is left.
5. Distributed (5.3.5): subsets of columns that fit, each solved by itself; their successes combined, tested.
6. Of all successes, the one with the highest RV, then the fewest columns at the root.

Departures. A success does not remove more general strings of *higher* RV (`pruning: sound`): rules of
togetherness can make a coarser level worth more, and the paper's pruning then loses the best string
(`pruning: paper` is as printed). "More general" is taken componentwise and not in every component, which
removes more and loses nothing. After a failure the sound search goes on in the lower half, as binary search
does; the paper's takes the middle of all that is left. Any criteria are taken, and the recipe's suppression;
where a criterion does not pass on to generalizations, nothing is removed for failing and no level pre-pruned.
A column of which no level holds stays, at its root, instead of being dropped.

Cost: a test groups the tuples once; global tests few of all strings, local about log2 of the highest column.

>>> import numpy as np
>>> from sfumato.methods.base import Problem
>>> from sfumato.criteria.k_anonymity import KAnonymity
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> race = Hierarchy("race", (("W", "W", "*"), ("B", "other", "*"), ("H", "other", "*")))
>>> frequency = FrequencySet((race,), np.array([[0], [1], [2]], np.int32), np.array([3, 1, 1]))
>>> problem = Problem(frequency, (KAnonymity(k=2),), 0.0, np.ones(1))
>>> ResearchValue().solve(problem, np.random.default_rng(0)).notes["facts"]["research"]["successes"]
[{'levels': [1], 'value': 0.6667, 'roots': 0}]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.classes import Floats, Ints
from sfumato.costs.measured import score
from sfumato.costs.registry import make
from sfumato.costs.research import ResearchValue as Lost
from sfumato.errors import InfeasibleError, RequestError
from sfumato.evaluate import ENUMERABLE
from sfumato.methods.base import Method, Problem
from sfumato.methods.full_domain import infeasible, release_node
from sfumato.recoding import Regrouping
from sfumato.search import Found, Limits
from sfumato.strings.combined import Joined, combinations, combine
from sfumato.strings.listed import Pruning, Strings, globally, locally
from sfumato.strings.subsets import job, solve_all, split
from sfumato.strings.trial import Success, Trial, prepruned

MOST_TOLD = 50  # successes that the manifest lists


class ResearchValue(Method):
    """The string of highest research value."""

    name: ClassVar[str] = "research-value"
    citation: ClassVar[str] = "Morton, Mahoui, Gibson & Yechuri"

    search: Literal["global", "local", "hybrid", "distributed"] = "global"
    pruning: Pruning = "sound"
    fits: Annotated[int, Field(ge=2, strict=True)] = 10_000  # strings in the list of one subset of columns
    processes: Annotated[int, Field(ge=1, le=64, strict=True)] = 2  # that solve subsets

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """Pre-prune, search, take the best success."""
        trial = Trial(problem.frequency, problem.criteria, limits_of(problem), worth_of(problem))
        kept = prepruned(trial)
        facts = self._search(problem, trial, kept)
        if trial.best is None and problem.clock.over:
            trial.test(trial.tops)  # out of time: what is left is to show nothing
        if trial.best is None:
            raise self._nothing(problem, trial)
        levels = np.array(trial.best.levels)
        recoding = release_node(problem, levels, {})
        cost = make("research-value", problem.frequency, problem.weights, problem.least)
        notes = {"levels": list(trial.best.levels), "cost": "research-value",
                 "score": score(cost, problem.frequency, recoding),
                 "facts": {"research": told(trial, kept, self.search, self.pruning) | facts}}
        return replace(recoding, notes=notes)

    def _search(self, problem: Problem, trial: Trial, kept: Sequence[Ints]) -> dict[str, Any]:
        """Run the search that is asked for; what the manifest says of the list."""
        if self.search == "local":
            locally(kept, trial, problem.clock)
            return {"held_bytes": 0, "complete": False}
        if self.search == "distributed":
            return self._distributed(problem, trial, kept)
        size = prod(map(len, kept))
        if size > ENUMERABLE:
            raise RequestError(f"The columns have {size:,} generalization strings, and a list of them holds "
                               f"at most {ENUMERABLE:,}.", "Choose search: distributed, or search: local.")
        strings = Strings.all_of(kept, trial.worth, self.pruning)
        if self.search == "hybrid":
            locally(kept, trial, problem.clock, strings)
        globally(strings, trial, problem.clock, problem.watch)
        return {"held_bytes": strings.held, "complete": not len(strings.left) and self._loses_none(trial)}

    def _distributed(self, problem: Problem, trial: Trial, kept: Sequence[Ints]) -> dict[str, Any]:
        """Split, solve, combine."""
        if not trial.carries:
            names = " and ".join(c.name for c in problem.criteria if not c.upward)
            raise RequestError("A distributed search relies on what fails on some columns failing on all, "
                               f"and {names} with suppression does not grant that.",
                               "Choose search: global, or set suppression: 0.")
        subsets, clock = split(kept, self.fits), problem.clock
        turns = -(-len(subsets) // self.processes)  # half of the time is for what they find
        seconds = None if clock.seconds is None else max(clock.seconds - clock.spent, 0.0) / 2 / turns
        solved = solve_all([job(trial, subset, kept, seconds) for subset in subsets], self.processes,
                           problem.watch)
        trial.counted += sum(one.counted for one in solved)
        if not all(len(one.levels) for one in solved):
            return {"held_bytes": 0, "complete": all(one.complete for one in solved)}
        strings, whole = combinations(trial, subsets, [one.levels for one in solved], self.pruning)
        joined = Joined(trial.frequency, subsets)
        trial.classes = joined.classes
        combine(trial, strings, kept, not whole, clock, problem.watch)
        held = self.processes * max(one.held for one in solved) + strings.held + joined.held
        parts = [{"columns": [problem.frequency.quasi[j] for j in subset], "successes": len(one.levels),
                  "strings": prod(len(kept[j]) for j in subset), "frequency_sets": one.counted}
                 for subset, one in zip(subsets, solved, strict=True)]
        complete = whole and not len(strings.left) and self._loses_none(trial)
        return {"held_bytes": held, "complete": complete, "subsets": parts, "combined": len(strings.levels)}

    def _loses_none(self, trial: Trial) -> bool:
        """Whether no string was pruned that could be worth more than a success."""
        falling = all((np.diff(values) <= 0).all() for values in trial.worth)
        return self.pruning == "sound" or (falling and trial.carries)

    def _nothing(self, problem: Problem, trial: Trial) -> InfeasibleError:
        """Why there is no success: the closest string, and what to do."""
        found = Found(None, np.inf, np.inf, trial.counted, self.search != "local" and not problem.clock.over,
                      trial.closest, trial.missing)
        fault = infeasible(problem, found)
        if self.search == "local":
            fault.remedy = f"The local search tries few strings: choose search: hybrid. {fault.remedy}"
        return fault


def limits_of(problem: Problem) -> Limits:
    """What a string may suppress, and what follows from it."""
    return Limits(problem.affordable, problem.frequency.n_records, all(c.upward for c in problem.criteria),
                  all(c.mergeable for c in problem.criteria))


def worth_of(problem: Problem) -> tuple[Floats, ...]:
    """Per column: the research value of each level."""
    cost = make("research-value", problem.frequency, problem.weights)
    assert isinstance(cost, Lost)
    return cost.worth


def told(trial: Trial, kept: Sequence[Ints], search: str, pruning: str) -> dict[str, Any]:
    """What the manifest says of a search."""
    ranked = sorted(set(trial.successes), key=lambda one: one.rank)
    return {"search": search, "pruning": pruning, "value": ranked[0].value, "roots": ranked[0].roots,
            "strings": prod(h.n_levels for h in trial.frequency.hierarchies),
            "strings_kept": prod(map(len, kept)),
            "levels_kept": {h.column: [int(level) for level in levels]
                            for h, levels in zip(trial.frequency.hierarchies, kept, strict=True)},
            "frequency_sets": trial.counted, "successes_found": len(ranked),
            "successes": [listed(one) for one in ranked[:MOST_TOLD]]}


def listed(one: Success) -> dict[str, Any]:
    """A success as the manifest lists it."""
    return {"levels": list(one.levels), "value": round(one.value, 4), "roots": one.roots}
