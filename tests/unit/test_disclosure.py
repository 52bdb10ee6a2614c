"""The attacks on classes against plain loops, and the examples of the thesis."""

from __future__ import annotations

import dataclasses
import json
import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import SHARED
from tests.oracles import disclosure as oracle
from tests.oracles import measures as plain

import sfumato
from sfumato.hierarchy.core import Hierarchy
from sfumato.measure.evidence import Measure
from sfumato.measure.released import see
from sfumato.measure.risk.disclosure import ATTACKS, Attacker, attacks

Hits = dict[str, int | None]
NAMES = ("homogeneity", "background", "skewness", "similarity", "positive", "negative", "breach")


def drawn(seed: int, rows: int, values: list[str | None], weights: list[int]) -> plain.Job:
    """A random job whose first sensitive column has these values."""
    job = plain.job(seed, n_rows=rows, n_quasi=1, n_values=3,
                    kind=random.Random(seed).choice(["full", "local", "all", "nothing"]))
    said = {**job.sensitive, "s": random.Random(seed).choices(values, weights, k=rows)}
    frequency = plain.frequency_set(job.hierarchies, job.rows, said)
    return dataclasses.replace(job, sensitive=said, frequency=frequency)


def found(job: plain.Job, attacker: Attacker) -> dict[str, Measure]:
    named = attacks(job.frequency, job.frequency, see(job.frequency, job.regrouping), attacker)
    return {one.name: one for one in named}


def expected(job: plain.Job, name: str, attacker: Attacker) -> tuple[Hits, Hits]:
    values = job.sensitive[name]
    tree = attacker.trees.get(name)
    below = None if tree is None else {path[0]: path[max(tree.n_levels - 2, 0)] for path in tree.paths}
    numbers = any(value is not None for value in values) and all(
        value is None or value.lstrip("-").isdigit() for value in values)
    shown = [n for n, label in enumerate(job.labels) if label is not None or attacker.sees_suppressed]
    before = oracle.hit(list(job.rows), values, values, below, numbers)
    after = oracle.hit([job.labels[n] for n in shown], [values[n] for n in shown], values, below, numbers)
    return before, after


KINDS = {
    "words": (["a", "b", "c", None], [8, 3, 1, 1], None),
    "tree": (["a", "b", "c", "d", None], [4, 4, 1, 1, 1],
             Hierarchy("s", (("a", "ab", "x", "*"), ("b", "ab", "x", "*"), ("c", "cd", "x", "*"),
                             ("d", "d", "y", "*"), (None, None, None, "*")))),
    "flat tree": (["a", "b"], [1, 1], Hierarchy("s", (("a", "*"), ("b", "*")))),
    "numbers": (["0", "2", "3", "10", None], [3, 3, 3, 1, 1], None),
    "one value": (["a"], [1], None),
    "rare": (["a", "b"], [12, 1], None),
}


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from(sorted(KINDS)), st.booleans())
def test_every_attack_counts_what_loops_count(seed: int, rows: int, kind: str, sees: bool) -> None:
    values, weights, tree = KINDS[kind]
    job = drawn(seed, rows, values, weights)
    attacker = Attacker(trees={} if tree is None else {"s": tree}, sees_suppressed=sees)
    named = found(job, attacker)
    for column in ("s", "u"):
        before, after = expected(job, column, attacker)
        for name in NAMES:
            one = named[f"{name}.{column}"]
            assert (one.before, one.value) == (before[name], after[name]), (name, column)
            assert (one.value is None) == ("Not defined here" in one.definition)
            assert one.low == 0 and one.high == rows and one.better == "lower" and one.citation
    assert len(named) == 2 * len(NAMES) == 2 * len(ATTACKS)


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.sampled_from(sorted(KINDS)))
def test_false_records_and_hidden_cells_are_seen_as_they_look(seed: int, rows: int, kind: str) -> None:
    values, weights, tree = KINDS[kind]
    job, draw = drawn(seed, rows, values, weights), random.Random(seed + 1)
    frequency = dataclasses.replace(job.frequency, sensitive={"s": job.frequency.sensitive["s"]})
    added = np.array([draw.choice([0, 0, 1, 3]) for _ in frequency.cells.counts])
    hidden = np.array([draw.random() < 0.3 for _ in frequency.counts])
    regrouping = dataclasses.replace(job.regrouping, added=added, hidden={"s": hidden})
    seen, real = regrouping.shown(frequency), dataclasses.replace(regrouping, added=None).shown(frequency)
    attacker = Attacker(trees={} if tree is None else {"s": tree})
    found = attacks(frequency, seen, see(seen, regrouping), attacker, real, ["s"])
    named = {one.name: one for one in found}
    shown: list[tuple[object, str | None, bool]] = []
    for n, (t, value) in enumerate(zip(frequency.cells.tuple_of, frequency.cells.values[:, 0], strict=True)):
        label = oracle.HIDDEN if hidden[t] else frequency.sensitive["s"].labels[value]
        row = next(i for i, r in enumerate(job.rows)
                   if [h.code_of[v] for h, v in zip(job.hierarchies, r, strict=True)]
                   == frequency.codes[t].tolist())
        shown += [(job.labels[row], label, k >= frequency.cells.counts[n])
                  for k in range(frequency.cells.counts[n] + added[n])]
    below = None if tree is None else {path[0]: path[max(tree.n_levels - 2, 0)] for path in tree.paths}
    everybody = job.sensitive["s"]
    numbers = any(v is not None for v in everybody) and all(v is None or v.isdigit() for v in everybody)
    classes, labels, false = zip(*shown, strict=True)
    wanted = oracle.hit(list(classes), list(labels), everybody, below, numbers, list(false))
    assert {name: named[f"{name}.s"].value for name in NAMES} == wanted


def classes_of(counts: list[dict[str, int]], outside: dict[str, int], **said: object) -> Hits:
    """Hits on classes with these values, in a table that has others besides (one more class)."""
    rows = [(f"v{n}",) for n, values in enumerate([*counts, outside]) for _ in range(sum(values.values()))]
    values = [value for here in [*counts, outside] for value, n in here.items() for _ in range(n)]
    tree = Hierarchy("q", tuple((f"v{n}", "*") for n in range(len(counts) + 1)))
    frequency = plain.frequency_set((tree,), rows, {"s": values})
    as_it_is = plain.full_domain(frequency, [0], lambda n: True)
    named = attacks(frequency, frequency, see(frequency, as_it_is), Attacker(**said))  # type: ignore[arg-type]
    return {one.name.partition(".")[0]: one.value for one in named}


def test_the_skewed_classes_of_the_thesis() -> None:
    """Section 2.10.1: a table 1 % positive; classes of 25 and 25, 49 and 1, 1 and 49."""
    rest = {"negative": 9925, "positive": 25}
    even = classes_of([{"positive": 25, "negative": 25}], rest)
    assert even["skewness"] == 50 and even["homogeneity"] == 0 and even["breach"] == 50 - 50
    most = classes_of([{"positive": 49, "negative": 1}], rest)
    assert most["skewness"] == 50 and most["breach"] == 50 and most["positive"] == 49 + 9925
    few = classes_of([{"positive": 1, "negative": 49}], {**rest, "positive": 99})
    assert few["breach"] == 0


@pytest.mark.needs_shared
def test_the_similarity_attack_of_the_thesis() -> None:
    """Tables 2.2 and 2.3: 3-diverse, yet the first class has low salaries and stomach diseases only."""
    golden = json.loads((SHARED / "golden" / "002_tandon_jain.json").read_text())
    entry = next(one for one in golden["entries"] if one["id"] == "ldiv/table2.3")
    rows = [(zip_code, age) for zip_code, age, _, _ in entry["inputs"]]
    trees = (Hierarchy("zip", (("476**", "*"), ("4790*", "*"))),
             Hierarchy("age", (("2*", "*"), (">=40", "*"), ("3*", "*"))))
    stomach = {"gastric ulcer", "gastritis", "stomach cancer"}
    diseases = {row[3] for row in entry["inputs"]}
    tree = Hierarchy("disease", tuple((d, "stomach" if d in stomach else "lungs", "*")
                                      for d in sorted(diseases)))
    frequency = plain.frequency_set(trees, rows, {"salary": [row[2].rstrip("K") for row in entry["inputs"]],
                                                  "disease": [row[3] for row in entry["inputs"]]})
    as_it_is = plain.full_domain(frequency, [0, 0], lambda n: True)
    named = {one.name: one.value for one in attacks(frequency, frequency, see(frequency, as_it_is),
                                                    Attacker(trees={"disease": tree}))}
    assert named["similarity.salary"] == 3 and named["similarity.disease"] == 3
    assert named["homogeneity.salary"] == named["background.disease"] == named["positive.disease"] == 0


@pytest.mark.needs_shared
def test_the_breaches_of_the_golden_examples() -> None:
    golden = json.loads((SHARED / "golden" / "002_tandon_jain.json").read_text())
    entries = [one for one in golden["entries"] if one["id"].startswith("breach/ex-")]
    assert len(entries) == 5
    for entry in entries:
        given = entry["inputs"]
        mine = {"s": round(100 * given["beta"]), "other": 100 - round(100 * given["beta"])}
        outside = round(10_000 * given["alpha"])
        rest = {"s": outside - mine["s"], "other": 9900 - (outside - mine["s"])}
        hits = classes_of([mine], rest, rho=(given["rho1"], given["rho2"]))["breach"]
        assert hits is not None and (hits >= 100) == entry["expected"], entry["id"]


def test_what_is_nearly_a_bound_has_not_passed_it() -> None:
    assert classes_of([{"a": 9, "b": 1}], {"a": 5, "b": 5})["positive"] == 0  # 9 / 10 is not above 1 - 0.1
    assert classes_of([{"a": 19, "b": 1}], {"a": 5, "b": 5})["negative"] == 0  # 1 / 20 is not below 0.05
    assert classes_of([{"a": 1, "b": 1}], {"a": 0, "b": 2})["skewness"] == 0  # twice is not more than twice


def test_a_stronger_attacker_hits_no_fewer() -> None:
    for seed in range(30):
        values, weights, _ = KINDS["numbers"]
        job = drawn(seed, 30, values, weights)
        weak, strong = Attacker(), Attacker(ruled_out=2, times=1.5, within=0.5, delta=0.3, epsilon=0.2)
        for name in ("background", "skewness", "similarity", "positive", "negative"):
            assert (found(job, strong)[f"{name}.s"].value or 0) >= (found(job, weak)[f"{name}.s"].value or 0)
    assert np.isclose(Attacker().rho[0], 0.2)


def test_a_sensitive_column_may_have_a_hierarchy_of_its_own() -> None:
    people = pd.DataFrame({"town": ["A", "A", "B", "B"], "ill": ["flu", "cold", "flu", "gout"]})
    tree = {"tree": {"lungs": ["flu", "cold"], "joints": ["gout"]}}
    columns = {"town": {"role": "quasi", "hierarchy": "suppress"},
               "ill": {"role": "sensitive", "hierarchy": tree}}
    recipe = {"columns": columns, "criteria": [{"k-anonymity": {"k": 2}}], "seed": 1}
    measures = sfumato.anonymize(people, recipe).manifest["measures"]
    assert measures["similarity.ill"] == 2 and measures["homogeneity.ill"] == 0  # A has lungs only
    del columns["ill"]["hierarchy"]
    closeness = {"t-closeness": {"column": "ill", "t": 0.9, "distance": "hierarchical", "hierarchy": tree}}
    for criteria, expected in (([closeness], 2), ([], None)):
        said = {**recipe, "criteria": [{"k-anonymity": {"k": 2}}, *criteria]}
        assert sfumato.anonymize(people, said).manifest["measures"]["similarity.ill"] == expected
