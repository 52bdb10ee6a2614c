"""OKA: the traces of the golden file, its stages by plain loops, the kernels beside their twins, Adult."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numba  # noqa: F401  (loaded, so that the kernels serve)
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import SHARED
from tests.methods.local import keeps_its_promises, whole
from tests.properties.cases import Case, cases

from sfumato.clusters import crowd as crowds
from sfumato.clusters import plain_centres
from sfumato.clusters.crowd import Crowd
from sfumato.clusters.space import Space
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.methods.base import Problem
from sfumato.methods.oka import OKA, adjusted, clustering, stages, trimmed

quick = settings(max_examples=120, deadline=None)
forms = st.fixed_dictionaries({"numeric": st.sampled_from(["auto", "hierarchy", "range", "mean"]),
                               "categorical": st.sampled_from(["auto", "hierarchy", "set"]),
                               "distance": st.sampled_from(["hierarchy", "equal"])})


@quick
@given(cases(), forms, st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
def test_every_class_keeps_every_promise(case: Case, form: dict[str, Any], seed: int, share: float) -> None:
    keeps_its_promises(OKA(**form), case, seed, share)


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", ["oka/toy-a", "oka/toy-b"])
def test_golden_traces(name: str) -> None:
    """Fixed seeds, and a pool that is placed again in its own order."""
    golden = json.loads((SHARED / "golden" / "002_tandon_jain.json").read_text())["entries"]
    entry = next(one for one in golden if one["id"] == name)
    values, k, wanted = entry["inputs"]["values"], entry["inputs"]["k"], entry["recomputed"]
    space = line(values)
    seeds = np.array([values.index(seed) for seed in entry["inputs"]["seeds"]])
    crowd = clustering(space, seeds)
    assert [sorted(one) for one in members(crowd, values)] == [sorted(one) for one in wanted["clustered"]]
    kept, pool = trimmed(crowd, k, np.arange(len(values)))
    assert [values[record] for record in pool] == wanted["pool"]
    final = adjusted(crowd, kept, pool, k)
    assert [sorted(one) for one in members(final, values)] == [sorted(one) for one in wanted["final"]]
    low, high = min(values), max(values)
    assert final.centres[0] * (high - low) + low == pytest.approx(wanted["means"])


def line(values: list[int]) -> Space:
    """Records of one column of numbers."""
    column = Hierarchy("v", tuple((str(v), "*") for v in values))
    frequency = FrequencySet((column,), np.arange(len(values), dtype=np.int32)[:, None],
                             np.ones(len(values), np.int64))
    return Space.of(frequency, np.ones(1), "hierarchy")


def members(crowd: Crowd, values: list[int]) -> list[list[int]]:
    return [[values[i] for i in np.flatnonzero(crowd.cluster_of == c)] for c in range(crowd.n_clusters)]


def test_the_number_of_clusters() -> None:
    for n, k, wanted in ((1000, 3, 333), (1000, 8, 125), (3000, 11, 272), (4, 5, 1)):
        found = stages(line(list(range(n))), k, np.random.default_rng(0))
        assert found.n_clusters == wanted and found.sizes.min() >= min(k, n)


@quick
@given(cases(most_columns=4, most_records=60), st.integers(2, 4), st.integers(0, 10**6), st.booleans())
def test_stages_by_plain_loops(case: Case, k: int, seed: int, words: bool) -> None:
    """Both stages as the paper has them, each distance and centroid counted afresh from the members."""
    if words:
        case = in_words(case)
    frequency = whole(case)
    weights = np.array(case.weights)
    records = np.repeat(np.arange(frequency.n_tuples), frequency.counts)
    rng = np.random.default_rng(seed)
    space = Space.of(frequency, weights, "hierarchy").taken(records)
    seeds = rng.permutation(len(records))[:max(len(records) // k, 1)]
    crowd, slow = clustering(space, seeds), Slowly(case, frequency, records)
    clusters = [[int(s)] for s in seeds]
    for r in sorted(set(range(len(records))) - set(map(int, seeds))):
        slow.join(r, clusters, range(len(clusters)))
    assert [sorted(one) for one in clusters] == groups(crowd)
    kept, pool = trimmed(crowd, k, np.arange(len(records)))
    for c, cluster in enumerate(clusters):
        off = {r: slow.apart(r, cluster) for r in cluster}
        mine = [int(r) for r in pool if crowd.cluster_of[r] == c]
        assert len(cluster) - len(mine) == min(len(cluster), k)
        assert all(off[out] >= off[r] - 1e-9 for out in mine for r in set(cluster) - set(mine))
        assert [off[r] for r in mine] == pytest.approx(sorted((off[r] for r in mine), reverse=True))
    order = rng.permutation(pool)
    left = [[int(r) for r in kept if crowd.cluster_of[r] == c] for c in range(len(clusters))]
    for r in order:
        small = [c for c, cluster in enumerate(left) if len(cluster) < k]
        slow.join(int(r), left, small or range(len(left)))
    assert [sorted(one) for one in left] == groups(adjusted(crowd, kept, order, k))


def groups(crowd: Crowd) -> list[list[int]]:
    return [np.flatnonzero(crowd.cluster_of == c).tolist() for c in range(crowd.n_clusters)]


def in_words(case: Case) -> Case:
    """The same case with no number among its values."""
    def named(value: str | None) -> str | None:
        return None if value is None else f"v{value}"

    paths = [[(named(path[0]), *path[1:]) for path in column] for column in case.paths]
    return Case([tuple(map(named, record)) for record in case.records], paths, case.s, case.t, case.weights)


class Slowly:
    """Distances and centroids from the records' own values."""

    def __init__(self, case: Case, frequency: FrequencySet, records: np.ndarray) -> None:
        self.weights = case.weights
        self.values = [[h.values[frequency.codes[t, j]] for j, h in enumerate(frequency.hierarchies)]
                       for t in records]
        self.paths = [{path[0]: path for path in column} for column in case.paths]

    def apart(self, record: int, cluster: list[int]) -> float:
        total = 0.0
        for j, weight in enumerate(self.weights):
            own, others = self.values[record][j], [self.values[i][j] for i in cluster]
            if any(value is not None and value.startswith("v") for value in self.paths[j]):
                total += weight * self.risen(j, own, mode(others))
            elif any(value is not None for value in self.paths[j]):
                total += weight * self.off(j, own, others)
        return total

    def off(self, j: int, own: str | None, others: list[str | None]) -> float:
        """Numbers, as a share of the column's range."""
        known = [float(row[j]) for row in self.values if row[j] is not None]
        real = [float(value) for value in others if value is not None]
        centre = sum(real) / len(real) if 2 * len(real) >= len(others) else None
        if own is None or centre is None:
            return float((own is None) != (centre is None))
        gap = max(known) - min(known)
        return abs(float(own) - centre) / gap if gap else 0.0

    def risen(self, j: int, one: str | None, other: str | None) -> float:
        """Other values: how far up their paths meet."""
        here, there = self.paths[j][one], self.paths[j][other]
        return next(level for level in range(len(here)) if here[level:] == there[level:]) / (len(here) - 1)

    def join(self, record: int, clusters: list[list[int]], among: Any) -> None:
        """Join the nearest; of clusters nearer to each other than rounding, the first."""
        off = {c: self.apart(record, clusters[c]) for c in among}
        least = min(off.values())
        clusters[min(c for c in off if math.isclose(off[c], least, abs_tol=1e-12))].append(record)


def mode(values: list[str | None]) -> str | None:
    """The most frequent value; of equals the one that was so first."""
    best, counts = values[0], Counter()
    for value in values:
        counts[value] += 1
        if counts[value] > counts[best]:
            best = value
    return best


def mixed(rng: np.random.Generator, n: int) -> Space:
    """Records of numbers, of values under a hierarchy, and of missing ones."""
    number = Hierarchy("n", (*((str(v), "*") for v in range(30)), (None, "*")))
    town = Hierarchy("t", (*((f"t{v}", f"d{v // 3}", f"s{v // 9}", "*") for v in range(40)),
                           (None, None, None, "*")))
    wide = Hierarchy("w", tuple((f"w{v}", f"x{v // 10}", "*") for v in range(500)))
    codes = np.stack([rng.integers(0, 31, n), rng.integers(0, 41, n), rng.integers(0, 500, n)], axis=1)
    frequency = FrequencySet((number, town, wide), codes.astype(np.int32), np.ones(n, np.int64))
    return Space.of(frequency, np.array([2.0, 1.0, 0.5]), "hierarchy")


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 40]), st.sampled_from([1, 4, 300]))
def test_the_kernels_cluster_as_their_twin(seed: int, k: int, batch: int) -> None:
    """Whatever the batches are; with few candidates most records have to look again."""
    rng = np.random.default_rng(seed)
    space, chance = mixed(rng, 400), rng.integers(0, 10**6)
    was = crowds.BATCH, crowds.NEAREST, crowds.compiled_pays
    try:
        crowds.BATCH, crowds.NEAREST = batch, 2
        fast = stages(space, k, np.random.default_rng(chance))
        crowds.compiled_pays = lambda n: False
        slow = stages(space, k, np.random.default_rng(chance))
    finally:
        crowds.BATCH, crowds.NEAREST, crowds.compiled_pays = was
    assert fast.cluster_of.tolist() == slow.cluster_of.tolist()
    assert np.array_equal(fast.centres, slow.centres) and np.array_equal(fast.modes, slow.modes)
    every = np.arange(fast.n_clusters)
    one = [plain_centres.apart(fast, i, every)[fast.cluster_of[i]] for i in range(400)]
    assert fast.distances(np.arange(400)).tolist() == one


def test_a_large_table_is_cut_into_blocks_and_says_so() -> None:
    rng = np.random.default_rng(3)
    column = Hierarchy("v", tuple((str(v), "*") for v in range(1000)))
    frequency = FrequencySet((column,), np.arange(1000, dtype=np.int32)[:, None], np.full(1000, 1, np.int64))
    problem = Problem(frequency, (KAnonymity(k=3),), 0.0, np.ones(1))
    found = OKA(block=200).solve(problem, rng)
    told = found.notes["facts"]["blocks"]
    assert told["count"] >= 5 and told["largest"] <= 200 and told["smallest"] >= 100
    assert found.sizes(frequency).min() >= 3 and found.suppressed(frequency) == 0
    assert "blocks" not in OKA(block=1000).solve(problem, rng).notes["facts"]


def test_means_are_rounded_half_up_and_named() -> None:
    """As Figure 4.8 prints ages; the report has to say which labels are not true."""
    column = Hierarchy("age", tuple((str(v), "*") for v in (20, 21, 60, 63)))
    frequency = FrequencySet((column,), np.arange(4, dtype=np.int32)[:, None], np.ones(4, np.int64))
    problem = Problem(frequency, (KAnonymity(k=2),), 0.0, np.ones(1))
    texts = {tuple(sorted(OKA(numeric="mean").solve(problem, np.random.default_rng(s))
                          .labelling(frequency, 0).texts)) for s in range(8)}
    found = OKA(numeric="mean").solve(problem, np.random.default_rng(0))
    assert ("21", "62") in texts and found.notes["facts"]["centres"] == {"age": "mean"}
