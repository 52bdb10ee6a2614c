"""xk-anonymity: pairs that lack a few records to k are filled up with false ones, smaller ones are repaired.

Brown, E. E. (2019). Adaptable privacy-preserving model. Doctoral dissertation, Nova Southeastern
University. Instrument Development (the data processing program), Experiments 1 to 6; for quasi-identifiers
that are introduced gradually: Brown (2017), Improving privacy-preserving methods to enhance data mining for
correlation research, SoutheastCon, as the dissertation reports it.

| dissertation | here |
| --- | --- |
| quasi-identifier pair | a combination of released labels, in the end a class |
| elected quasi-identifier | a key of `generalize`, a column of `suppress_cells` |
| ranked quasi-identifiers | the recipe's order of columns, or `order`: the most important first |
| single-processed, gradually introduced | `introduce: together`, `gradually` |

1. Unification: every missing value has one code (done when the table was counted).
2. `diversify`: of a pair that is not diverse the records are suppressed, or, with `sensitive_suppression`,
   only its sensitive cells.
3. `generalize`: in pairs below xk, the elected quasi-identifier goes to its level; pairs are counted again.
4. `suppress_cells`: in pairs still below xk, its cell becomes *; pairs are counted again.
5. What is still below xk is suppressed.
6. `fill`: a pair of at least xk records, but fewer than k, is filled up with false records. (The
   dissertation fills before it deletes; no pair takes part in both.)
7. Confirmation: the verdict, which counts real and false records apart.

Gradually: the first quasi-identifier alone goes through steps 3 and 4, then the first two together, and so
on; what is modified is always the one that was introduced last, so that the more important ones stay.

Departures. Any number of quasi-identifiers may be elected, each at a level of its own; together, all of
them are modified at once. `introduce: best` tries both ways, gradually in every order, and takes what keeps
most records. A pair must be diverse in every column that a criterion names. A record of which nothing but *
would be left is a suppressed one. A false record repeats the sensitive values of a real one of its pair, so
the release is as diverse as its real records are. The recipe's `suppression` holds.

Cost: one pass over the tuples for every counting of pairs: two, or two for each elected column.

>>> from sfumato.criteria.k_anonymity import KAnonymity
>>> from sfumato.hierarchy.core import Hierarchy
>>> year = Hierarchy("year", (("1980", "1980-84", "*"), ("1981", "1980-84", "*"), ("1990", "1990-94", "*")))
>>> frequency = FrequencySet((year,), np.array([[0], [1], [2]], np.int32), np.array([2, 2, 6]))
>>> problem = Problem(frequency, (KAnonymity(k=5),), 0.0, np.ones(1))
>>> found = Adaptable(xk=3, generalize={"year": 1}).solve(problem, np.random.default_rng(0))
>>> sorted(zip(found.labelling(frequency, 0).texts, found.sizes(frequency).tolist())), found.n_added
([('1980-84', 4), ('1990', 6)], 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.classes import Bools, Ints
from sfumato.costs.measured import score
from sfumato.costs.registry import make
from sfumato.criteria.base import Criterion
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.criteria.l_diversity import LDiversity
from sfumato.errors import InfeasibleError, RequestError
from sfumato.frequency import FrequencySet, distinct
from sfumato.hierarchy.core import ROOT, Codes
from sfumato.methods.base import Method, Problem
from sfumato.recoding import SUPPRESSED, Regrouping

MOST_ORDERED = 5  # quasi-identifiers of which every order is tried


@dataclass
class Pairs:
    """The table on its way: per tuple, the level of each label, and whether its records are suppressed."""

    frequency: FrequencySet
    ids: list[list[Ints]]  # per quasi-identifier and level: a number for each node's label
    levels: Codes
    out: Bools
    hidden: dict[str, Bools]
    xk: int
    kept_steps: list[tuple[str, Regrouping]] | None = None
    told: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, frequency: FrequencySet, xk: int, keep: bool) -> Pairs:
        """Step 1: the pairs as they were counted."""
        pairs = cls(frequency, [label_ids(h.labels) for h in frequency.hierarchies],
                    np.zeros_like(frequency.codes), np.zeros(frequency.n_tuples, dtype=bool), {}, xk,
                    [] if keep else None)
        pairs.tell("unified")
        return pairs

    def numbered(self, columns: Iterable[int]) -> tuple[Ints, Ints]:
        """The pairs that the labels of some columns make: each tuple's, and where each first stands."""
        labels = [self.labels(j) for j in columns]
        return distinct(np.stack(labels, axis=1), [int(one.max(initial=0)) + 1 for one in labels])

    def labels(self, j: int) -> Ints:
        """Per tuple: a number for its label in a column."""
        codes, found = self.frequency.codes[:, j], np.empty(self.frequency.n_tuples, dtype=np.int64)
        for level in np.unique(self.levels[:, j]):
            at = self.levels[:, j] == level
            found[at] = self.ids[j][level][self.frequency.hierarchies[j].nodes[level][codes[at]]]
        return found

    def below(self, columns: Sequence[int]) -> Bools:
        """Which tuples stand in pairs of fewer than xk records."""
        pair_of, first = self.numbered(columns)
        counts = np.where(self.out, 0, self.frequency.counts)
        sizes = np.bincount(pair_of, weights=counts, minlength=len(first))
        return np.asarray(~self.out & (sizes[pair_of] < self.xk))

    def recoding(self) -> Regrouping:
        """The pairs as classes, whatever they hold."""
        pair_of, _ = self.numbered(range(self.frequency.n_quasi))
        class_of = np.full(len(pair_of), SUPPRESSED, dtype=np.int64)
        kept = np.flatnonzero(~self.out)
        class_of[kept] = np.unique(pair_of[kept], return_inverse=True)[1]
        coarsest = kept[np.lexsort((-self.levels[kept].sum(axis=1), class_of[kept]))]
        first = coarsest[np.flatnonzero(np.diff(class_of[coarsest], prepend=-1))]
        nodes = [h.nodes[self.levels[first, j], self.frequency.codes[first, j]]
                 for j, h in enumerate(self.frequency.hierarchies)]
        return Regrouping(class_of, self.levels[first], np.stack(nodes, axis=1), hidden=dict(self.hidden))

    def tell(self, step: str) -> None:
        """Note how things stand after a step; keep them as they are where that is asked for."""
        counts = self.frequency.counts
        pair_of, _ = self.numbered(range(self.frequency.n_quasi))
        self.told.append({"step": step, "pairs": len(np.unique(pair_of[~self.out])),
                          "records": int(counts[~self.out].sum()), "suppressed": int(counts[self.out].sum()),
                          "hidden_cells": sum(int(counts[hidden & ~self.out].sum())
                                              for hidden in self.hidden.values()), "added": 0})
        if self.kept_steps is not None:
            self.kept_steps.append((step, self.recoding()))

    def copy(self) -> Pairs:
        """The same, to be taken another way."""
        return replace(self, levels=self.levels.copy(), out=self.out.copy(), told=list(self.told),
                       kept_steps=None if self.kept_steps is None else list(self.kept_steps))


def label_ids(labels: Sequence[Sequence[Any]]) -> list[Ints]:
    """A number for every label of a hierarchy; the same label has the same number at every level."""
    number = {label: n for n, label in enumerate(dict.fromkeys(one for level in labels for one in level))}
    return [np.array([number[label] for label in level], dtype=np.int64) for level in labels]


@dataclass(frozen=True)
class Plan:
    """One way to introduce the quasi-identifiers."""

    gradually: bool
    order: tuple[int, ...]  # of the quasi-identifiers, the most important first


class Adaptable(Method):
    """Repair what is below xk, fill up to k what is not, suppress the rest."""

    name: ClassVar[str] = "xk"
    citation: ClassVar[str] = "Brown 2019"
    adds: ClassVar[bool] = True

    xk: Annotated[int, Field(ge=1, strict=True)] | None = None  # records of a pair worth filling up; else k
    generalize: dict[str, Annotated[int, Field(ge=1, strict=True)]] = Field(default_factory=dict)  # level
    suppress_cells: tuple[str, ...] = ()  # elected columns
    sensitive_suppression: bool = False  # of a pair that is not diverse, only the sensitive cells
    introduce: Literal["together", "gradually", "best"] = "together"
    order: tuple[str, ...] = ()  # in which they are introduced, if not in the recipe's order

    def faults(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Iterable[tuple[str, str]]:
        """Elected columns must be quasi-identifiers, and an order must have them all."""
        known = ", ".join(map(repr, quasi)) or "none"
        for name, columns in (("generalize", self.generalize), ("suppress_cells", self.suppress_cells)):
            for column in columns:
                if column not in quasi:
                    yield name, f"The column {column!r} is not a quasi-identifier. These are: {known}."
        if self.order and sorted(self.order) != sorted(quasi):
            yield "order", f"An order names every quasi-identifier once. These are: {known}."
        if self.introduce == "best" and len(quasi) > MOST_ORDERED:
            yield "introduce", (f"Every order is tried of up to {MOST_ORDERED} quasi-identifiers; there are "
                                f"{len(quasi)}. Say introduce: gradually, and the order.")

    def refuses(self, criterion: Criterion) -> str | None:
        """What false records and pairs can promise: sizes and distinct values."""
        distinct_values = isinstance(criterion, LDiversity) and criterion.kind == "distinct"
        if isinstance(criterion, KAnonymity) or distinct_values:
            return None
        return ("The method xk promises k-anonymity and distinct l-diversity. Take other criteria out, or "
                "choose another method.")

    @property
    def hides(self) -> bool:
        """Whether sensitive cells may be suppressed."""
        return self.sensitive_suppression

    @property
    def real(self) -> int | None:
        """Real records that every class has; None for as many as k."""
        return self.xk

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """The seven steps, in the way that was asked for or in the best."""
        k = self._k(problem)
        xk = self.xk or k
        pairs = Pairs.of(problem.frequency, xk, problem.keep_steps)
        diversify(pairs, problem.criteria, self.sensitive_suppression)
        as_it_is = outcome(pairs.recoding(), problem.frequency, xk, k)
        found, tried = self._best(problem, pairs, k)
        found.out |= found.below(range(problem.frequency.n_quasi)) | starred(found)
        found.tell("suppressed")
        chance = problem.frequency.secret(int(rng.integers(2**31)))
        made = fill(found.recoding(), problem.frequency, k, chance)
        lost = made.suppressed(problem.frequency)
        if lost > problem.affordable or not made.n_classes:
            raise too_many(problem, xk, lost)
        found.told.append(found.told[-1] | {"step": "filled", "added": made.n_added})
        cost = score(make("ncp", problem.frequency, problem.weights), problem.frequency, made)
        facts = {"xk": xk, "k": k, "sensitive_suppression": self.sensitive_suppression,
                 "elected": sorted({*self.generalize, *self.suppress_cells}), "as_it_is": as_it_is,
                 "hidden": {name: int(problem.frequency.counts[hidden & ~found.out].sum())
                            for name, hidden in found.hidden.items()},
                 "steps": found.told, "tried": tried}
        steps = found.kept_steps and (*found.kept_steps, ("filled", made))
        return replace(made, real=xk, steps=tuple(steps or ()),
                       notes={"cost": "ncp", "score": cost, "facts": {"adaptable": facts}})

    def _k(self, problem: Problem) -> int:
        asked = [criterion.k for criterion in problem.criteria if isinstance(criterion, KAnonymity)]
        if not asked:
            raise RequestError("The method xk fills pairs up to k records, and no k is said.",
                               "Add the criterion {k-anonymity: {k: 5}}.")
        if self.xk is not None and self.xk > max(asked):
            raise RequestError(f"xk is {self.xk}; it can be at most k, which is {max(asked)}.",
                               "Lower xk or raise k.")
        for name, level in self.generalize.items():
            hierarchy = problem.frequency.hierarchies[problem.frequency.quasi.index(name)]
            if level >= hierarchy.n_levels:
                raise RequestError(f"The column {name!r} is to be generalized to level {level}; its highest "
                                   f"is {hierarchy.n_levels - 1}.", "Lower the level.")
        return max(asked)

    def _best(self, problem: Problem, pairs: Pairs, k: int) -> tuple[Pairs, list[dict[str, Any]]]:
        """Steps 3 and 4 by every plan; the one that keeps most real records, then with fewest false ones."""
        names, ways = problem.frequency.quasi, []
        for n, plan in enumerate(self._plans(names)):
            if n and problem.clock.over:
                break
            taken = pairs.copy()
            self._repair(taken, plan)
            told = outcome(taken.recoding(), problem.frequency, taken.xk, k)
            ways.append((-told["original"], told["added"], n, taken, told | {
                "introduce": "gradually" if plan.gradually else "together",
                "order": [names[j] for j in plan.order]}))
        ways.sort(key=lambda way: way[:3])
        return ways[0][3], [way[4] for way in ways] if len(ways) > 1 else []

    def _plans(self, names: Sequence[str]) -> Iterator[Plan]:
        order = tuple(names.index(name) for name in self.order or names)
        if self.introduce != "gradually":
            yield Plan(False, order)
        if self.introduce == "gradually":
            yield Plan(True, order)
        if self.introduce == "best":
            yield from (Plan(True, one) for one in permutations(order))

    def _repair(self, pairs: Pairs, plan: Plan) -> None:
        """Steps 3 and 4: together, or with one quasi-identifier more each time."""
        quasi = pairs.frequency.quasi
        rounds = [plan.order[: n + 1] for n in range(len(plan.order))] if plan.gradually else [plan.order]
        for introduced in rounds:
            last = f" {quasi[introduced[-1]]}" if plan.gradually else ""
            new = introduced[-1:] if plan.gradually else introduced
            levels = {j: self.generalize[quasi[j]] for j in new if quasi[j] in self.generalize}
            tops = {j: pairs.frequency.hierarchies[j].n_levels - 1 for j in new
                    if quasi[j] in self.suppress_cells}
            for step, raised in (("generalized", levels), ("cells suppressed", tops)):
                if raised:
                    raise_below(pairs, introduced, raised)
                    pairs.tell(step + last)


def diversify(pairs: Pairs, criteria: Iterable[Criterion], cells_only: bool) -> None:
    """Step 2: pairs that are not diverse lose their records, or the cells of the columns in question."""
    asked = [criterion for criterion in criteria if isinstance(criterion, LDiversity)]
    stats = pairs.frequency.regroup(np.arange(pairs.frequency.n_tuples), pairs.frequency.n_tuples)
    for criterion in asked:
        failing = ~criterion.holds(stats)
        if cells_only:
            if ROOT in stats.sensitive[criterion.column].labels:
                raise RequestError(
                    f"The column {criterion.column!r} has cells that are {ROOT}, as suppressed ones will be.",
                    "Write them otherwise, or suppress records (sensitive_suppression: false).")
            before = pairs.hidden.get(criterion.column, np.zeros_like(failing))
            pairs.hidden[criterion.column] = before | failing
        else:
            pairs.out |= failing
    if asked:
        pairs.tell("sensitive cells suppressed" if cells_only else "not diverse suppressed")


def raise_below(pairs: Pairs, introduced: Sequence[int], levels: Mapping[int, int]) -> None:
    """Steps 3 and 4: in pairs below xk the elected columns go up to their levels."""
    below = pairs.below(introduced)
    for j, level in levels.items():
        pairs.levels[below, j] = np.maximum(pairs.levels[below, j], level)


def starred(pairs: Pairs) -> Bools:
    """Which tuples show nothing but roots: their records are suppressed ones."""
    nothing = np.ones(pairs.frequency.n_tuples, dtype=bool)
    for j in range(pairs.frequency.n_quasi):
        nothing &= pairs.labels(j) == pairs.ids[j][-1][0]
    return nothing & ~pairs.out


def fill(recoding: Regrouping, frequency: FrequencySet, k: int, rng: np.random.Generator) -> Regrouping:
    """Step 6: false records for classes below k, each like a real record of its class drawn at random."""
    sizes, cells = recoding.sizes(frequency), frequency.cells
    lacking = np.maximum(k - sizes, 0)
    order = np.argsort(recoding.class_of[cells.tuple_of], kind="stable")
    order = order[recoding.class_of[cells.tuple_of[order]] != SUPPRESSED]
    ends, starts = np.cumsum(cells.counts[order]), np.cumsum(sizes) - sizes
    of = np.repeat(np.arange(len(sizes)), lacking)
    places = starts[of] + (rng.random(len(of)) * sizes[of]).astype(np.int64)
    drawn = order[np.searchsorted(ends, places, side="right")]
    return replace(recoding, added=np.bincount(drawn, minlength=len(cells.counts)).astype(np.int64))


def outcome(recoding: Regrouping, frequency: FrequencySet, xk: int, k: int) -> dict[str, int]:
    """What filling and suppressing would make of the classes as they are (Figure 2, steps 2 and 3)."""
    sizes = recoding.sizes(frequency)
    kept = sizes[sizes >= xk]
    original, added = int(kept.sum()), int(np.maximum(k - kept, 0).sum())
    return {"suppressed": frequency.n_records - original, "added": added, "original": original,
            "total": original + added, "pairs": len(kept)}


def too_many(problem: Problem, xk: int, lost: int) -> InfeasibleError:
    """More records stand in small pairs than may be suppressed."""
    n_records = problem.frequency.n_records
    named = " and ".join(f"{c.name} ({c.promise})" for c in problem.criteria)
    share = f"{lost:,} of {n_records:,} records ({lost / n_records:.1%})"
    closest = ("no pair would be left, not even with every elected column at its highest level"
               if lost == n_records else f"the recipe allows {problem.affordable:,}")
    share_up = np.ceil(lost / n_records * 1e4) / 1e4
    enough = "" if lost == n_records else f", or raise suppression to {share_up:g}"
    return InfeasibleError(
        f"To keep {named} with xk = {xk}, {share} would have to be suppressed: {closest}.",
        f"Relax the criterion, elect further columns (generalize, suppress_cells){enough}.")
