"""e-DP: a table of counts over a partition chosen with noise, and noise on the counts (DiffGen).

Mohammed, N., Chen, R., Fung, B. C. M., Yu, P. S. (2011). Differentially private data release for data mining.
KDD, 493-501; read in the authors' program.

| theirs | here |
| --- | --- |
| class attribute | the sensitive column; its domain is `values` |
| taxonomy tree | the column's hierarchy, or `bounds` for numbers that are cut at drawn points |
| cut | one set of nodes per column that covers its domain |
| h | `specializations` |
| ε' = ε / (2 (|A_num| + 2h)) | `draws.diffgen.share` |
| Max, InfoGain | `score` |

1. Records with a missing value are left out; every column stands at its root.
2. A point is drawn for every column of numbers.
3. h times: one node of all cuts is chosen, by the exponential mechanism with ε'; its children replace it.
4. Points are drawn for the new nodes of numbers.
5. Points: all points of the domain's grid are candidates, by the same mechanism.
6. Every combination of nodes and sensitive value, the empty ones too, is counted, with noise of scale
   1/ε_leaf.
7. So many rows with the nodes' labels and the value are written; counts below zero are zero.

Departures. The program gives the interval before the first value and the one after the last a score of their
own, which lets the output depend on the data; here every point of the grid has its true score. Noise is the
discrete Laplace distribution, where the program rounds up. With more than two classes the sensitivity of the
information gain is log2 of their number. `leaf_budget: half` is the paper's, `remaining` the program's.
Neither noise nor choices have a seed.

Cost: columns x values x classes at each choice; then the product of the cuts' sizes x classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.classes import Histogram, Ints
from sfumato.draws.base import Drawn, Evenly, drawn, rows_of
from sfumato.draws.diffgen import Bounds, Column, Interval, Ledger, Score, Taxonomy, specialize
from sfumato.draws.noise import laplace
from sfumato.errors import InfeasibleError, TableError
from sfumato.frequency import FrequencySet
from sfumato.methods.base import Problem
from sfumato.methods.drawing import Drawing
from sfumato.methods.parameters import Real, Whole
from sfumato.recoding import Regrouping
from sfumato.slices.correlation import positions

MOST = 2_000_000  # counts with noise


class DiffGen(Drawing):
    """Noisy counts over a partition that was chosen with noise: ε-differentially private."""

    name: ClassVar[str] = "e-dp"
    citation: ClassVar[str] = "Mohammed et al. 2011"

    epsilon: Real = Field(gt=0)
    values: tuple[str, ...] = Field(min_length=2)  # the sensitive column's domain
    bounds: Mapping[str, tuple[Real, ...]] = Field(default_factory=dict)  # column: low, high and the step
    specializations: Whole = Field(default=10, ge=0)
    score: Score = "max"
    leaf_budget: Literal["half", "remaining"] = "remaining"

    def faults(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Iterable[tuple[str, str]]:
        """Bounds are about quasi-identifiers, and span something; values differ."""
        yield from super().faults(quasi, sensitive)
        if len(set(self.values)) < len(self.values):
            yield "values", "The sensitive values should differ, and one is there twice."
        for name, said in self.bounds.items():
            if name not in quasi:
                yield "bounds", f"{name!r} has bounds and is no quasi-identifier ({', '.join(quasi)})."
            elif len(said) not in (2, 3) or said[0] >= said[1] or (len(said) == 3 and said[2] <= 0):
                yield "bounds", (f"The bounds of {name!r} should be the lowest number, one above the "
                                 "highest, and the step if it is not 1, such as [0, 100]; they are "
                                 f"{list(said)}.")
            elif self.grid(name).parts > 100_000:
                yield "bounds", f"{name!r} has {self.grid(name).parts:,} steps; use a larger step."

    def domain_faults(self, specs: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """A domain taken from the table would tell which values occur in it."""
        for name, spec in specs.items():
            written = isinstance(spec, str) and spec != "suppress"
            named = isinstance(spec, Mapping) and set(spec) & {"csv", "tree"}
            if name not in self.bounds and not written and not named:
                yield name, (f"{self.name} must know every value that {name!r} could have from elsewhere "
                             "than the table. Write a hierarchy's file or tree, or, for numbers, bounds in "
                             f"the method: {{{name}: [0, 100]}}.")

    def grid(self, name: str) -> Bounds:
        """The domain of a column of numbers."""
        low, high, *step = self.bounds[name]
        return Bounds(low, high, step[0] if step else 1.0)

    def solve(self, problem: Problem, rng: np.random.Generator) -> Drawn:
        """Steps 1 to 7."""
        frequency = problem.frequency
        [(sensitive, rows)] = frequency.sensitive.items()
        classes = self.classes_of(sensitive, rows)
        columns = [self.column(frequency, j, rows, classes) for j in range(frequency.n_quasi)]  # step 1
        ledger = Ledger(self.epsilon)
        specialize(columns, self.specializations, self.score, ledger, len(self.values))  # steps 2 to 5
        left = self.epsilon - ledger.total if self.leaf_budget == "remaining" else self.epsilon / 2
        sizes = [len(column.cut) for column in columns]
        cells, labels = counted(frequency, columns, rows, classes, len(self.values))
        noisy = laplace(cells, ledger.spend("noise on the counts", left))  # step 6
        of = np.arange(len(cells))
        domain = Histogram(rows.classes[:0], rows.values[:0], rows.counts[:0], self.values,
                           np.zeros(len(self.values), dtype=np.int64))
        made = rows_of(of // len(self.values), of % len(self.values), noisy, domain)
        if not len(made.counts):
            raise InfeasibleError("After the noise no row is left: the table is too small for the budget.",
                                  "Raise epsilon, or lower specializations.")
        noise = {"kind": "discrete Laplace", "on": "every count of a combination and a sensitive value",
                 "epsilon": left, "scale": 1 / left}
        budget = {"epsilon": self.epsilon, "spent": ledger.told(), "total": ledger.total}
        facts = {"noise": noise, "budget": budget,
                 "cut": {c.name: [c.label(node) for node in c.cut] for c in columns},
                 "combinations": math.prod(sizes)}
        return drawn(frequency, sensitive, labels, made, facts)  # step 7

    def classes_of(self, sensitive: str, rows: Histogram) -> Ints:
        """Per sensitive value of the table: its place in the domain, -1 for missing."""
        strange = sum(label is not None and label not in self.values for label in rows.labels)
        if strange:
            raise TableError(f"{strange} of the values of {sensitive!r} are not among the method's values.",
                             "Name all that the column could have: values: [...].")
        return np.array([-1 if label is None else self.values.index(label) for label in rows.labels])

    def column(self, frequency: FrequencySet, j: int, rows: Histogram, classes: Ints) -> Column:
        """One predictor with its counts by class, of the records that lack nothing."""
        hierarchy = frequency.hierarchies[j]
        whole = complete(frequency, rows, classes)
        matrix = np.zeros((hierarchy.n_values, len(self.values)))
        np.add.at(matrix, (frequency.codes[rows.classes[whole], j], classes[rows.values[whole]]),
                  rows.counts[whole])
        if hierarchy.column not in self.bounds:
            return Taxonomy(hierarchy, matrix)
        at = positions(hierarchy.values)
        if at is None:
            raise TableError(f"{hierarchy.column!r} has bounds, and values that are no numbers.",
                             "Take its bounds out and write a hierarchy's file or tree.")
        grid = self.grid(hierarchy.column)
        return Interval(hierarchy.column, grid, grid.part_of(at), matrix)


def complete(frequency: FrequencySet, rows: Histogram, classes: Ints) -> Ints:
    """The distinct rows in which nothing is missing."""
    missing = classes[rows.values] < 0
    for j, hierarchy in enumerate(frequency.hierarchies):
        absent = np.array([value is None for value in hierarchy.values])
        missing |= absent[frequency.codes[rows.classes, j]]
    return np.flatnonzero(~missing)


def counted(frequency: FrequencySet, columns: Sequence[Column], rows: Histogram, classes: Ints,
            n_classes: int) -> tuple[Ints, Regrouping]:
    """True counts of every combination of nodes and sensitive value; and the combinations' labels."""
    sizes = [len(column.cut) for column in columns]
    if math.prod(sizes) * n_classes > MOST:
        raise InfeasibleError(f"The partition has {math.prod(sizes) * n_classes:,} counts, which would be "
                              "more noise than anything else.", "Lower specializations.")
    whole = complete(frequency, rows, classes)
    leaf = np.zeros(len(whole), dtype=np.int64)
    for j, column in enumerate(columns):
        leaf = leaf * sizes[j] + column.position()[frequency.codes[rows.classes[whole], j]]
    keys = leaf * n_classes + classes[rows.values[whole]]
    cells = np.bincount(keys, weights=rows.counts[whole], minlength=math.prod(sizes) * n_classes)
    return cells.astype(np.int64), labelled(frequency, columns, sizes)


def labelled(frequency: FrequencySet, columns: Sequence[Column], sizes: Sequence[int]) -> Regrouping:
    """One class for each combination of nodes."""
    at = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1)
    levels, nodes = np.zeros_like(at), np.zeros_like(at)
    narrower = {}
    for j, column in enumerate(columns):
        cut = np.array(column.cut)[at[:, j]]
        if isinstance(column, Interval):
            texts = [column.label(node) for node in column.cut]
            narrower[j] = Evenly(column.part_of, cut[:, 0], cut[:, 1], [texts[n] for n in at[:, j]])
            levels[:, j] = frequency.hierarchies[j].n_levels - 1
        else:
            levels[:, j], nodes[:, j] = cut[:, 0], cut[:, 1]
    return Regrouping(np.arange(len(at)), levels.astype(np.int32), nodes.astype(np.int32), narrower=narrower)
