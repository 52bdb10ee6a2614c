"""t-closeness: a sensitive value is distributed in every class much as in the whole table.

Li, N., Li, T., Venkatasubramanian, S. (2007). t-closeness: privacy beyond k-anonymity and l-diversity.
ICDE 2007.

| paper | here |
| --- | --- |
| P, p_i | the class's distribution: q |
| Q, q_i | the whole table's distribution: p |
| m | number of values; `ordered` counts those that are not missing |
| D[P, Q] | earth mover's distance (EMD): `measure` |
| extra(N), cost(N) | surplus of a node; level / H times the lesser of its children's surpluses and deficits |

Readings.
- equal: half the sum of |q - p|, which is the sum of the surpluses, so only present values count.
- ordered: the sum of |cumulative q - cumulative p| / (m - 1). The missing value has no place in an
  order: it lies at the largest distance, 1, from every value. Its surplus comes from the values, and its
  deficit goes to them, in the proportions of the whole table; what remains moves in order; the
  cost is counted up to 1, the largest distance there is. That is a valid plan to move the earth, so it
  is never below the true distance, and it equals the paper's formula where nothing is missing.
- hierarchical: two values under a common node at level h are h / H apart. On such a tree the paper's sum
  of cost(N) is the mean, over the levels below the root, of the equal distance between their nodes:
  every level that separates surplus from deficit adds 1 / H to the way. The missing value is at
  distance 1 by its branch of the hierarchy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, PrivateAttr, model_validator

from sfumato.classes import ClassStats, Floats, Histogram, Ints
from sfumato.criteria.base import Criterion
from sfumato.criteria.shares import histogram_of, shares, starts, total
from sfumato.errors import HierarchyError

Label = str | None


class Tree(Protocol):
    """What is read of a sensitive column's hierarchy: see hierarchy.core.Hierarchy."""

    @property
    def column(self) -> str:
        """The column whose values it groups."""

    @property
    def n_levels(self) -> int:
        """Levels, the values themselves and the root included."""

    @property
    def code_of(self) -> Mapping[Label, int]:
        """Value to code."""

    @property
    def nodes(self) -> npt.NDArray[np.int32]:
        """`nodes[level, value code]`: the node above a value at a level."""


class TCloseness(Criterion):
    """The earth mover's distance of every class from the whole table is at most t.

    Not upward: records of one value may join and skew a class. Mergeable: each distance is a sum of
    absolute values of terms linear in q, hence convex, and the distribution of a union is a mixture
    of those of its parts; counting up to 1 leaves the order of distances as it is.
    """

    name: ClassVar[str] = "t-closeness"
    citation: ClassVar[str] = "Li et al. 2007"
    needs_whole: ClassVar[bool] = True

    column: str = Field(min_length=1)
    t: float = Field(ge=0, le=1)
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"
    hierarchy: str | dict[str, Any] | None = None  # as a quasi-identifier's: see hierarchy/spec.py
    _resolved: Tree | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _fits_its_distance(self) -> Self:
        if self.distance == "hierarchical" and self.hierarchy is None:
            raise ValueError("hierarchy is missing; distance: hierarchical needs the sensitive column's")
        if self.distance != "hierarchical" and self.hierarchy is not None:
            raise ValueError(f"hierarchy belongs to distance: hierarchical, and the distance is "
                             f"{self.distance}; leave it out")
        return self

    def with_hierarchy(self, hierarchy: Tree) -> Self:
        """The same criterion, ready to measure by this hierarchy of its sensitive column."""
        ready = self.model_copy()
        ready._resolved = hierarchy
        return ready

    @property
    def threshold(self) -> float:
        """The largest distance allowed."""
        return self.t

    @property
    def promise(self) -> str:
        """As in "t = 0.2 for 'income', ordered"."""
        return f"t = {self.t:g} for {self.column!r}, {self.distance}"

    def measure(self, stats: ClassStats) -> Floats:
        """The earth mover's distance of every class from the whole table."""
        histogram = histogram_of(stats, self.column)
        if self.distance == "equal":
            return equal(stats, histogram)
        if self.distance == "ordered":
            return ordered(stats, histogram)
        if self._resolved is None:
            raise HierarchyError(f"t-closeness of {self.column!r} has no hierarchy to measure distances by: "
                                 "its `hierarchy` is not read yet.", "Hand it over by with_hierarchy().")
        return hierarchical(stats, histogram, self._resolved)


def equal(stats: ClassStats, histogram: Histogram) -> Floats:
    """Half the sum of |q - p|: all values are equally far apart."""
    surplus = shares(stats, histogram) - histogram.whole_share[histogram.values]
    return total(histogram, np.maximum(surplus, 0), stats.n_classes)


def ordered(stats: ClassStats, histogram: Histogram) -> Floats:
    """Values as far apart as their ranks, the missing value at distance 1 from all (see Readings)."""
    if None not in histogram.labels:
        return _ordered(histogram, stats.sizes)
    known = _known(histogram)
    sizes = total(known, known.counts, stats.n_classes).astype(np.int64)
    stay, stay_whole = sizes / stats.sizes, known.whole.sum() / max(int(histogram.whole.sum()), 1)
    moved = stay * _ordered(known, sizes) + np.abs(stay - stay_whole)
    return np.asarray(np.minimum(moved, 1.0))


def _known(histogram: Histogram) -> Histogram:
    """The histogram without its missing value, which is the last."""
    last = len(histogram.labels) - 1
    kept = histogram.values != last
    return Histogram(histogram.classes[kept], histogram.values[kept], histogram.counts[kept],
                     histogram.labels[:last], histogram.whole[:last])


def _ordered(histogram: Histogram, sizes: Ints) -> Floats:
    """Sum |cumulative q - cumulative p| / (m - 1), in time linear in the triples.

    Between a present value and the next one, cumulative q stands still at a height while cumulative p
    climbs: below the height the differences are one sign, above it the other, and running sums of
    cumulative p give either part.
    """
    m = len(histogram.labels)
    if m < 2 or not len(histogram.counts):
        return np.zeros(len(sizes))
    climb = np.cumsum(histogram.whole_share)
    area = np.concatenate([[0.0], np.cumsum(climb)])  # area[i]: sum of climb[:i]
    first = starts(histogram)
    height = _cumulative(histogram, first) / sizes[histogram.classes]
    begin = histogram.values
    end = np.append(begin[1:], m)
    end[first[1:] - 1] = m
    cross = np.clip(np.searchsorted(climb, height), begin, end)
    below = height * (cross - begin) - (area[cross] - area[begin])
    above = (area[end] - area[cross]) - height * (end - cross)
    sums = total(histogram, below + above, len(sizes))
    sums[histogram.classes[first]] += area[begin[first]]  # before the first present value q is 0
    return sums / (m - 1)


def _cumulative(histogram: Histogram, first: Ints) -> Ints:
    """Per triple: the records of its class up to its value."""
    running = np.cumsum(histogram.counts)
    before = running[first] - histogram.counts[first]
    return np.asarray(running - np.repeat(before, np.diff(first, append=len(running))))


def hierarchical(stats: ClassStats, histogram: Histogram, hierarchy: Tree) -> Floats:
    """Values as far apart as the level of their closest common node."""
    levels = hierarchy.n_levels - 1
    if not levels:
        return np.zeros(stats.n_classes)
    nodes = hierarchy.nodes[:levels, _codes(histogram.labels, hierarchy)]
    branches = np.lexsort(nodes)  # values in an order that keeps every node in one piece
    position = np.argsort(branches)
    placed = _by_position(replace(
        histogram, values=position[histogram.values], whole=histogram.whole[branches]))
    distances = [equal(stats, _lift(placed, nodes[level, branches])) for level in range(levels)]
    return np.asarray(np.mean(distances, axis=0))


def _codes(labels: Sequence[Label], hierarchy: Tree) -> Ints:
    """The hierarchy's codes of a histogram's values."""
    absent = sum(label not in hierarchy.code_of for label in labels)
    if absent:
        raise HierarchyError(f"The hierarchy of sensitive column {hierarchy.column!r} lacks {absent} of the "
                             f"{len(labels)} values of the column.", "Add them to the hierarchy.")
    return np.array([hierarchy.code_of[label] for label in labels], dtype=np.int64)


def _by_position(histogram: Histogram) -> Histogram:
    """The triples in order again after their values were renumbered."""
    order = np.lexsort((histogram.values, histogram.classes))
    return replace(histogram, values=histogram.values[order], counts=histogram.counts[order])


def _lift(histogram: Histogram, nodes: Ints) -> Histogram:
    """The histogram of the nodes of one level, each of which covers neighbouring values."""
    runs = np.cumsum(np.diff(nodes, prepend=nodes[0]) != 0)
    keys = histogram.classes * len(nodes) + runs[histogram.values]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.add.reduceat(histogram.counts, first) if len(first) else histogram.counts
    whole = np.bincount(runs, histogram.whole).astype(np.int64)
    return Histogram(histogram.classes[first], runs[histogram.values[first]], counts, (), whole)
