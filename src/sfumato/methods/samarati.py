"""Samarati's binary search: the generalizations of least height that keep the promise, and one of them.

Samarati 2001, Protecting respondents' identities in microdata release, TKDE 13(6), sections 4 and 5; as told
by Tandon & Jain 2010, chapter 3.1.

| symbol | here |
| --- | --- |
| VL_DT, vec | the lattice, one of its nodes |
| height(vec) | the sum of the levels, whatever the columns' weights |
| MaxSup | `Problem.affordable`: records that may be suppressed |
| satisfies(vec, k, T, MaxSup) | at `vec`, the classes that fail a criterion hold at most MaxSup records |
| low, try, high | the same |

1. low = 0, high = the height of the top.
2. While low < high: try = (low + high) div 2; if a node of that height satisfies, high = try,
   else low = try + 1.
3. At the height that is left, all nodes that satisfy are k-minimal: none of less height satisfies.
4. One of them is released, by the preference.

Departures. The loop never tests the top; here the height that is left is always tested, so that a table that
cannot satisfy ends in a refusal. The paper returns the first node that it meets; here all of that height are
found, and `prefer` chooses: fewest records suppressed (then least certainty penalty), or least of any cost. A
node below one that failed, or above one that satisfied, is not counted again. Distance vectors only save
candidates; these closures save more. Where a criterion does not pass on to generalizations, the heights are
tried one by one from the lowest, since halving them would prove nothing.

Cost: the nodes of about log2(height of the top) heights, each one frequency set.

>>> import numpy as np
>>> from sfumato.criteria.k_anonymity import KAnonymity
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> race = Hierarchy("race", (("asian", "*"), ("black", "*"), ("white", "*")))
>>> zip_code = Hierarchy("zip", (("94138", "9413*", "*"), ("94139", "9413*", "*"), ("94141", "9414*", "*")))
>>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]], np.int32)
>>> frequency = FrequencySet((race, zip_code), codes, np.ones(5, int))
>>> problem = Problem(frequency, (KAnonymity(k=2),), 0.2, np.ones(2))
>>> found = Samarati().solve(problem, np.random.default_rng(0)).notes
>>> found["facts"]["samarati"]["height"], found["facts"]["samarati"]["solutions"]
(1, [{'levels': [0, 1], 'suppressed': 1}, {'levels': [1, 0], 'suppressed': 1}])
>>> found["levels"]
[0, 1]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import AfterValidator

from sfumato.classes import Ints
from sfumato.costs.base import Cost
from sfumato.costs.measured import score
from sfumato.costs.registry import COSTS, make
from sfumato.errors import RequestError
from sfumato.evaluate import ENUMERABLE, evaluator
from sfumato.lattice import Lattice
from sfumato.methods.base import Method, Problem
from sfumato.methods.full_domain import infeasible, release_node
from sfumato.recoding import Regrouping
from sfumato.search import Found, Limits, Progress

MOST_TOLD = 50  # solutions that the manifest lists
WAVE = 64  # nodes counted before looking whether one satisfies
SUPPRESSED = "suppressed"
TIES = "ncp"  # the cost that decides between solutions that suppress as many


def _known(name: str) -> str:
    if name != SUPPRESSED and name not in COSTS:
        raise ValueError(f"there is no preference {name!r}; choose one of {SUPPRESSED}, {', '.join(COSTS)}")
    return name


class Samarati(Method):
    """A generalization of least height."""

    name: ClassVar[str] = "samarati"
    citation: ClassVar[str] = "Samarati 2001; Tandon & Jain 2010, section 3.1"

    prefer: Annotated[str, AfterValidator(_known)] = SUPPRESSED

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """Find the least height, then the preferred one of its solutions."""
        heights = Heights(problem, TIES if self.prefer == SUPPRESSED else self.prefer)
        height = heights.least() if heights.carries else heights.first()
        solutions = heights.all_of(height)
        if not len(solutions):
            raise infeasible(problem, Found(None, np.inf, np.inf, heights.counted, True, heights.closest,
                                            heights.missing))
        ranks = zip(heights.suppressed[solutions], heights.scores[solutions], solutions, strict=True)
        ranked = sorted((int(out), round(float(cost), 12), int(node)) for out, cost, node in ranks)
        if self.prefer != SUPPRESSED:
            ranked.sort(key=lambda one: (one[1], one[0], one[2]))
        levels = heights.lattice.levels(ranked[0][2])
        recoding = release_node(problem, levels, {})
        told = {"height": height, "height_of_top": int(heights.lattice.heights[-1]),
                "may_suppress": problem.affordable, "frequency_sets": heights.counted,
                "nodes": heights.lattice.size, "prefer": self.prefer, "solutions_found": len(ranked),
                "solutions": [{"levels": heights.lattice.levels(node).tolist(), "suppressed": out}
                              for out, _, node in ranked[:MOST_TOLD]]}
        return replace(recoding, notes={
            "levels": [int(level) for level in levels], "cost": heights.cost.name,
            "score": score(heights.cost, problem.frequency, recoding), "facts": {"samarati": told}})


class Heights:
    """The lattice by heights, with what is known of its nodes."""

    def __init__(self, problem: Problem, cost: str) -> None:
        self.problem = problem
        self.lattice = Lattice(tuple(h.n_levels for h in problem.frequency.hierarchies))
        if self.lattice.size > ENUMERABLE:
            raise RequestError(f"The lattice has {self.lattice.size:,} nodes, and this method keeps a table "
                               f"of at most {ENUMERABLE:,}.", "Choose another method, such as optimal, or "
                               "fewer quasi-identifiers.")
        self.cost: Cost = make(cost, problem.frequency, problem.weights, problem.least)
        self.engine = evaluator(problem.frequency, self.lattice, problem.criteria, self.cost)
        upward, mergeable = (all(getattr(criterion, name) for criterion in problem.criteria)
                             for name in ("upward", "mergeable"))
        self.limits = Limits(problem.affordable, problem.frequency.n_records, upward, mergeable)
        self.carries = upward or (mergeable and problem.affordable == 0)
        self.totals = [self.cost.totals(j) for j in range(len(self.lattice.shape))]
        self.suppressed = np.full(self.lattice.size, -1, dtype=np.int64)  # -1: not counted
        self.scores = np.full(self.lattice.size, np.inf)
        self.holds, self.fails = np.zeros(self.lattice.size, bool), np.zeros(self.lattice.size, bool)
        self.closest, self.missing = self.lattice.levels(self.lattice.top), problem.frequency.n_records

    @property
    def counted(self) -> int:
        """Frequency sets counted."""
        return int((self.suppressed >= 0).sum())

    def least(self) -> int:
        """Lines 1 to 13: the height to which halving leads."""
        low, high = 0, int(self.lattice.heights[-1])
        while low < high:
            middle = (low + high) // 2
            if self.reached(middle):
                high = middle
            else:
                low = middle + 1
        return low

    def first(self) -> int:
        """The lowest height of which a node satisfies, the top's if none does."""
        top = int(self.lattice.heights[-1])
        return next((height for height in range(top) if self.reached(height)), top)

    def reached(self, height: int) -> bool:
        """Lines 4 to 9: whether a node of a height satisfies."""
        nodes = np.flatnonzero(self.lattice.heights == height)
        if self.holds[nodes].any():
            return True
        return any(self.count(some) for some in waves(nodes[~self.fails[nodes]]))

    def all_of(self, height: int) -> Ints:
        """All nodes of a height that satisfy."""
        nodes = np.flatnonzero(self.lattice.heights == height)
        for some in waves(nodes[~self.fails[nodes] & (self.suppressed[nodes] < 0)]):
            self.count(some)
        return nodes[self.holds[nodes]]

    def count(self, nodes: Ints) -> bool:
        """Count nodes and close what follows from them; whether one satisfies."""
        levels = self.lattice.levels(nodes)
        features = self.engine.evaluate(levels)
        columns = np.stack([totals[levels[:, j]] for j, totals in enumerate(self.totals)], axis=1)
        self.suppressed[nodes] = features.suppressed
        self.scores[nodes] = self.cost.score(columns + self.cost.penalties(features), features)
        excess = features.suppressed - self.limits.affordable
        if excess.min() < self.missing:
            self.missing, self.closest = max(int(excess.min()), 0), levels[excess.argmin()]
        self.holds[nodes], self.fails[nodes] = excess <= 0, excess > 0
        if self.carries:
            self.holds, self.fails = self.lattice.spread_up(self.holds), self.lattice.spread_down(self.fails)
        if self.problem.watch:
            self.problem.watch(Progress(self.counted, int((~self.holds & ~self.fails).sum()), np.inf, np.inf))
        return bool((excess <= 0).any())


def waves(nodes: Ints) -> Iterator[Ints]:
    """The nodes, some at a time."""
    yield from (nodes[start:start + WAVE] for start in range(0, len(nodes), WAVE))
