"""UL protection: slicing, and the cells that give people away are swapped or generalized.

BinJubier 2024, Enhanced slicing-based anonymization approach for privacy-preserving data publishing with
improved data utility, thesis, Universiti Malaysia Pahang Al-Sultan Abdullah: sections 3.3 and 3.4,
Figures 3.5 to 3.8. After Li et al. 2012 (slicing).

| symbol | here |
| --- | --- |
| T^c | the sensitive column's group, the last one |
| T** | `protect`: groups of two columns whose cells are protected |
| T* | the other groups |
| r(v, w) | `slices.cells.Pair.r` |
| LPL, UPL, phi | `lower`, `upper` |
| E | bucket |

1. Correlation and pairs of columns (T*, T**, T^c), as in slicing.
2. Buckets, with the diversity check (Figures 3.5 and 3.7), as in slicing.
3. LPL and UPL (Figure 3.6): cells (v, w) of T** with 0 < r <= lower, or upper <= r < 1.
4. Rank swapping (Figure 3.8, lines 1 to 3): a value of such a cell and one of the same rank group and
   bucket change places, if that makes no nonsensical combination.
5. Else both values are generalized (lines 4 and 5), in their bucket alone.
6. Diversity check again; random permutation within the columns.

Readings. r(v, w) is P(first value | second value) over the whole table, the one of ten measures that
gives the first columns of Tables 4.1 and 4.2. The tables label the weakest pairs "highly correlated";
here T** is the strongest pair beside T^c. A rank group is the values with the same parent in the
hierarchy; for numbers, those whose ranks differ by at most `reach` of the values. The first column is
tried, then the second. A swap between equal values, or that leaves the bucket's pairs as they were,
protects nothing and is not made. A generalized cell rises at least one level, and until k records of
its bucket lie under its labels.

Departures. A combination that never occurs in the table is taken as nonsensical (`unseen: allow`
lifts that), beside the rules. The diversity check needs no second run in step 6: swapping touches T**
alone, and in every bucket the values of T^c stay what they were, so that no sensitive value has more
than 1/l of any of its parts; the recount proves it on the file.

Cost: as slicing; swapping is linear in selected records times records of their buckets.

>>> import numpy as np
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> a = Hierarchy("marital", (("Married", "*"), ("Single", "*")))
>>> b = Hierarchy("relationship", (("Husband", "*"), ("Own-child", "*")))
>>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int32)
>>> pair = Pair.of(FrequencySet((a, b), codes, np.array([99, 2, 1, 98])), 0, 1)
>>> pair.rare(0.02).tolist(), pair.nearly_certain(0.98).tolist()
([[False, True], [True, False]], [[True, False], [False, True]])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.classes import Floats, Ints
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Codes
from sfumato.methods.base import Problem
from sfumato.methods.parameters import Real
from sfumato.methods.sliced import GroupedSlicing, names_of
from sfumato.slices.base import Slices
from sfumato.slices.cells import Pair, generalized, require_known, rules_about, swapped
from sfumato.slices.columns import records, released
from sfumato.slices.grouping import Groups
from sfumato.slices.partition import buckets

Rate = Annotated[Real, Field(gt=0, lt=0.5)]


class UpperLower(GroupedSlicing):
    """Slicing that swaps the cells which are rare, or almost certain."""

    name: ClassVar[str] = "ul"
    citation: ClassVar[str] = "BinJubier 2024"

    groups: Literal["pam", "pairs"] | tuple[tuple[str, ...], ...] = "pairs"
    lower: Rate = 0.02  # LPL: cells that are at most this likely
    upper: Real = Field(default=0.98, gt=0.5, lt=1)  # UPL: cells that are at least this likely
    certain: bool = False  # whether cells with r = 1 are protected too
    protect: tuple[tuple[str, str], ...] | None = None  # T**: the strongest pair beside T^c
    reach: Real = Field(default=0.1, ge=0, le=1)  # of the values: how far numbers may be swapped
    unseen: Literal["forbid", "allow"] = "forbid"  # combinations that never occur in the table
    rules: tuple[dict[str, str], ...] = ()  # combinations that no record may be given

    def faults(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Iterable[tuple[str, str]]:
        """Rules and protected pairs name columns of the recipe."""
        yield from super().faults(quasi, sensitive)
        names = [*quasi, *sensitive]
        for rule in self.rules:
            unknown = [name for name in rule if name not in names]
            if unknown or len(rule) < 2:
                what = f"has {unknown[0]!r}" if unknown else "has fewer than two columns"
                yield "rules", (f"A rule is a combination of values that makes no sense, such as "
                                f"{{relationship: Husband, sex: Female}}, of quasi-identifiers and the "
                                f"sensitive column ({', '.join(names)}); one {what}.")
        for pair in self.protect or ():
            if not set(pair) <= set(quasi) or pair[0] == pair[1]:
                yield "protect", f"A protected pair is two quasi-identifiers; one is {', '.join(pair)}."
            elif not isinstance(self.groups, str) and not any(set(pair) == set(g) for g in self.groups):
                yield "protect", f"The pair {', '.join(pair)} should be one of the groups."
        paired = [name for pair in self.protect or () for name in dict.fromkeys(pair)]
        for name in dict.fromkeys(name for name in paired if paired.count(name) > 1):
            yield "protect", (f"{name!r} is in two protected pairs; each pair becomes a group of its own, "
                              "and a column is in one group.")

    def solve(self, problem: Problem, rng: np.random.Generator) -> Slices:
        """Steps 1 to 6."""
        frequency = problem.frequency
        [(sensitive, rows)] = frequency.sensitive.items()
        require_known(frequency, self.rules, sensitive, rows.labels)
        matrix, groups, blocks = self.arrange(frequency, sensitive)  # step 1
        pairs, groups = self.protected(frequency, matrix, groups)
        bucket_of = buckets(frequency, rows, blocks, self.k, self.l)  # step 2
        bucket_of, source, values = records(frequency, sensitive, bucket_of, rng)
        already = self.broken(frequency, sensitive, values)
        labels, cells = values.copy(), []
        for pair in pairs:
            cells.append(self.protect_cells(frequency, sensitive, pair, bucket_of, values, labels, rng))
        named = names_of(groups, frequency, sensitive)
        facts = {"cells": summed(cells, frequency, pairs), "rules_broken": already}
        return released(named, frequency, (bucket_of, source, values), self.k, self.l, rng, facts,
                        self.rules, labels if (labels != values).any() else None)

    def protected(self, frequency: FrequencySet, matrix: Floats,
                  groups: Groups) -> tuple[list[Pair], Groups]:
        """T**: the pairs named, each a group of its own; else the strongest pair beside T^c, if any."""
        if self.protect is None:
            found = sorted((g for g in groups[:-1] if len(g) == 2), key=lambda g: -matrix[g[0], g[1]])[:1]
        else:
            found = [sorted(frequency.quasi.index(name) for name in pair) for pair in self.protect]
            taken = {j for pair in found for j in pair}
            rest = [[j for j in group if j not in taken] for group in groups]
            groups = [*found, *(group for group in rest if group)]
        return [Pair.of(frequency, *pair) for pair in found], groups

    def protect_cells(self, frequency: FrequencySet, sensitive: str, pair: Pair, bucket_of: Ints,
                      values: Codes, labels: Codes, rng: np.random.Generator) -> dict[str, int]:
        """Steps 3 to 5 for one pair: swap in `values`, generalize in `labels`, and count."""
        picked = pair.rare(self.lower) | pair.nearly_certain(self.upper, self.certain)  # step 3
        chosen = picked[values[:, pair.first], values[:, pair.second]]
        allowed = np.ones(pair.counts.shape, dtype=bool) if self.unseen == "allow" else ~pair.never_together()
        state = np.zeros(len(values), dtype=bool)
        starts = np.flatnonzero(np.diff(bucket_of, prepend=-1, append=bucket_of[-1] + 1))
        names = frequency.sensitive[sensitive].labels
        for j, other, fits in ((pair.first, pair.second, allowed), (pair.second, pair.first, allowed.T)):
            own = values[:, j].astype(np.int64)  # step 4
            swapped(own, values[:, other].astype(np.int64), chosen, state, starts, frequency.hierarchies[j],
                    self.reach, np.ascontiguousarray(fits),
                    rules_about(frequency, self.rules, j, sensitive, names, values), rng.random(len(values)))
            values[:, j] = own
        pending = chosen & ~state
        one, two = frequency.hierarchies[pair.first], frequency.hierarchies[pair.second]
        raised = generalized((one, two), values[:, pair.first].astype(np.int64),  # step 5
                             values[:, pair.second].astype(np.int64), pending, bucket_of, self.k)
        labels[:, pair.first], labels[:, pair.second] = raised
        return {"selected": int(picked.sum()), "records": int(chosen.sum()),
                "swapped": int((chosen & state).sum()), "partners": int((state & ~chosen).sum()),
                "generalized": int(pending.sum())}

    def broken(self, frequency: FrequencySet, sensitive: str, values: Codes) -> list[int]:
        """Per rule: how many records of the table break it already."""
        found = []
        for rule in self.rules:
            column = [*frequency.quasi, sensitive].index(next(iter(rule)))
            labels = frequency.sensitive[sensitive].labels
            [value], [holds] = rules_about(frequency, (rule,), column, sensitive, labels, values)
            found.append(int((holds & (values[:, column] == value)).sum()))
        return found


def summed(cells: Sequence[Mapping[str, int]], frequency: FrequencySet,
           pairs: Sequence[Pair]) -> dict[str, Any]:
    """What the manifest says of the protected cells: never which they are."""
    total = {name: sum(one[name] for one in cells)
             for name in ("selected", "records", "swapped", "partners", "generalized")}
    names = [[frequency.quasi[pair.first], frequency.quasi[pair.second]] for pair in pairs]
    return {"groups": names, **total, "rates": [pair.table() for pair in pairs]}
