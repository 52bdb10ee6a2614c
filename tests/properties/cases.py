"""Random small tables with their hierarchies, criteria and weights, for the package and for the oracles."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from hypothesis import strategies as st
from tests.oracles import criteria as oracle
from tests.oracles.lattice import Judge, Label

from sfumato.classes import Histogram
from sfumato.criteria.base import Criterion
from sfumato.criteria.registry import parse
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy

Path = tuple[Label, ...]


@dataclass(frozen=True)
class Case:
    """One table: records, hierarchies, two sensitive columns, weights."""

    records: list[tuple[Label, ...]]
    paths: list[list[Path]]
    s: list[Label]
    t: list[Label]
    weights: list[float]

    @cached_property
    def frequency(self) -> FrequencySet:
        """What `prepare` would hand over."""
        hierarchies = tuple(Hierarchy(f"q{j}", tuple(paths)) for j, paths in enumerate(self.paths))
        coded = [tuple(h.code_of[v] for h, v in zip(hierarchies, r, strict=True)) for r in self.records]
        tuples = sorted(set(coded))
        counts = Counter(coded)
        histograms = {name: histogram([tuples.index(c) for c in coded], values)
                      for name, values in (("s", self.s), ("t", self.t))}
        return FrequencySet(hierarchies, np.array(tuples, np.int32).reshape(len(tuples), -1),
                            np.array([counts[t] for t in tuples], np.int64), histograms)


def histogram(rows: list[int], values: list[Label]) -> Histogram:
    """The sorted triples of one sensitive column."""
    labels = (*sorted({v for v in values if v is not None}), *([None] if None in values else []))
    found = sorted(Counter((row, labels.index(v)) for row, v in zip(rows, values, strict=True)).items())
    triples = np.array([(row, value, count) for (row, value), count in found], np.int64).reshape(-1, 3)
    return Histogram(triples[:, 0], triples[:, 1], triples[:, 2], labels,
                     np.array([values.count(label) for label in labels], np.int64))


def hierarchy(rng: random.Random, n_values: int, depth: int, missing: bool) -> list[Path]:
    """Random nested levels between the values and `*`; some levels merge nothing."""
    column: list[list[Label]] = [[str(value) for value in range(n_values)]]
    for level in range(1, depth):
        below = sorted(set(column[-1]), key=str)
        parent = {label: f"{level}.{rng.randrange(max(1, len(below) - rng.randrange(2)))}" for label in below}
        column.append([parent[label] for label in column[-1]])
    paths: list[Path] = [(*path, "*") for path in zip(*column, strict=True)]
    return [*paths, (*[None] * depth, "*")] if missing else paths


@st.composite
def cases(draw: st.DrawFn, most_columns: int = 3, most_records: int = 20) -> Case:
    """Tables of one row and more, one value and more; hierarchies may know values the table lacks."""
    n_columns = draw(st.integers(1, most_columns))
    n_records = draw(st.integers(1, most_records))
    rng = random.Random(draw(st.integers(0, 2 ** 32)))
    paths = [hierarchy(rng, rng.choice([1, 2, 3, 5]), rng.choice([1, 1, 2, 3]), rng.random() < 0.3)
             for _ in range(n_columns)]
    pool = [tuple(rng.choice(column)[0] for column in paths) for _ in range(max(1, n_records // 2))]
    skew = rng.choice([1.0, 2.0, 3.0])
    values: list[Label] = [*"abcd"[:rng.choice([1, 2, 3, 4])], *([None] if rng.random() < 0.3 else [])]
    records = [rng.choice(pool) for _ in range(n_records)]
    usual = {record: rng.choice(values) for record in pool}
    sensitive = [[usual[record] if rng.random() < 0.4 else values[int(len(values) * rng.random() ** skew)]
                  for record in records] for _ in "st"]
    weights = [rng.choice([0.0, 0.5, 1.0, 1.0, 3.0]) for _ in paths]
    if not any(weights):
        weights[0] = 1.0
    return Case(records, paths, *sensitive, weights)


Promise = tuple[Criterion, Judge]


def criterion(name: str, **parameters: object) -> Criterion:
    """A criterion as a recipe writes it."""
    return parse({name: parameters})


def on(values: list[Label], judge: object) -> Judge:
    """A judge of a class from an oracle that takes (class, value) records."""
    return lambda members, n: judge([("class", values[m]) for m in members])["class"]  # type: ignore[operator]


def equal_distance(values: list[Label], members: list[int]) -> Fraction:
    """Half the sum of the differences of shares."""
    p, q = oracle.shares(values), oracle.shares([values[m] for m in members])
    return sum((abs(q.get(v, Fraction(0)) - p[v]) for v in p), Fraction(0)) / 2


def ordered_distance(values: list[Label], members: list[int]) -> float:
    """The oracle's, where some value is not missing."""
    if not any(value is not None for value in values):
        return 0.0
    return oracle.ordered_formula([("class", values[m]) for m in members], values)["class"]


TREE = {"a": ("x", "*"), "b": ("x", "*"), "c": ("y", "*"), "d": ("y", "*"), None: (None, "*")}


def hierarchical(case: Case, bound: float) -> Promise:
    """t-closeness by a tree over the sensitive values."""
    paths = tuple((value, *TREE[value]) for value in TREE)
    made = criterion("t-closeness", column="s", t=bound, distance="hierarchical", hierarchy="tree.csv")
    ready = made.with_hierarchy(Hierarchy("s", paths))  # type: ignore[attr-defined]
    way = {value: (value, *TREE[value]) for value in TREE}
    return ready, on(case.s, lambda r: {
        "class": oracle.hierarchical_formula(r, case.s, way.__getitem__)["class"] <= bound + 1e-9})


def promises(case: Case, rng: random.Random) -> dict[str, Promise]:
    """One of each criterion with the oracle that judges it."""
    k, values, t = rng.choice([2, 3]), rng.choice([2, 3]), rng.choice([0.15, 0.3, 0.5])
    alpha, beta, delta = rng.choice([0.4, 0.6, 0.8]), rng.choice([0.7, 1.3]), rng.choice([0.45, 0.9, 1.7])
    c, kind = rng.choice([1, 2, 3]), rng.choice(["basic", "enhanced"])
    log_l = rng.choice([1.4, 1.8, 2.3])
    s, u = case.s, case.t
    return {
        "k": (criterion("k-anonymity", k=k), lambda members, n: len(members) >= k),
        "distinct": (criterion("l-diversity", column="t", l=values),
                     on(u, lambda r: {"class": oracle.distinct(r)["class"] >= values})),
        "entropy": (criterion("l-diversity", column="s", l=log_l, kind="entropy"),
                    on(s, lambda r: {"class": math.exp(oracle.entropy(r)["class"]) >= log_l - 1e-9})),
        "recursive": (criterion("l-diversity", column="s", l=2, kind="recursive", c=c),
                      on(s, lambda r: oracle.recursive_holds(r, Fraction(c), 2))),
        "equal": (criterion("t-closeness", column="s", t=t),
                  lambda members, n: equal_distance(s, members) <= t + 1e-9),
        "ordered": (criterion("t-closeness", column="t", t=t, distance="ordered"),
                    lambda members, n: ordered_distance(u, members) <= t + 1e-9),
        "hierarchical": hierarchical(case, t),
        "alpha-k": (criterion("alpha-k-anonymity", column="s", alpha=alpha, k=k),
                    lambda members, n: len(members) >= k and on(s, lambda r: {
                        "class": oracle.highest_share(r, set(s))["class"] <= alpha + 1e-9})(members, n)),
        "beta": (criterion("beta-likeness", column="s", beta=beta, kind=kind),
                 on(s, lambda r: oracle.beta_holds(r, s, Fraction(beta), kind == "enhanced"))),
        "linkable": (criterion("linkable", column="s", d=2, alpha=alpha, size=3),
                     on(s, lambda r: {"class": oracle.linked(r, s, 2, 3)["class"] >= alpha - 1e-9})),
        "delta": (criterion("delta-disclosure", column="t", delta=delta),
                  on(u, lambda r: {"class": oracle.delta(r, u)["class"] < delta - 1e-9})),
    }


SETS = (("k",), ("k",), ("k",), ("k", "distinct"), ("distinct",), ("entropy",), ("recursive",), ("equal",),
        ("k", "ordered"), ("hierarchical",), ("alpha-k",), ("beta",), ("linkable",), ("k", "delta"),
        ("entropy", "distinct"),
        ("k", "distinct", "recursive", "equal"))
