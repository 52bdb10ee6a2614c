"""Every criterion against plain loops, its own claims (upward, mergeable) and the papers' numbers."""

from __future__ import annotations

import csv
import json
import math
import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.oracles import criteria as oracle
from tests.oracles.class_stats import stats_of

from sfumato.classes import ClassStats, Histogram
from sfumato.criteria.base import Criterion
from sfumato.criteria.registry import CRITERIA, parse
from sfumato.criteria.t_closeness import TCloseness
from sfumato.errors import HierarchyError, RecipeError, RequestError
from sfumato.hierarchy.core import Hierarchy

quick = settings(deadline=None, max_examples=80)

TREE = {"10": ("a", "x"), "20": ("b", "y"), "30": ("b", "y"), "40": ("a", "x"), "50": ("c", "x"),
        None: (None, None)}
values = st.sampled_from([*TREE])
tables = st.lists(st.tuples(st.sampled_from("pqr"), values), min_size=1, max_size=14)
bystanders = st.lists(values, max_size=5)  # suppressed records: in the whole table, in no class
pairs = st.lists(st.tuples(st.sampled_from("pq"), values), min_size=2, max_size=14).filter(
    lambda records: len({name for name, _ in records}) == 2)


def path(value: str | None) -> tuple[str | None, ...]:
    return (value, *TREE[value], "*")


def rank(whole: list[str | None]) -> dict[str | None, int]:
    return {value: n for n, value in enumerate(sorted({v for v in whole if v is not None}))}


def make(name: str, **parameters: Any) -> Criterion:
    column = {} if name == "k-anonymity" else {"column": "s"}
    criterion = parse({name: {**column, **parameters}})
    if isinstance(criterion, TCloseness) and criterion.hierarchy:
        return criterion.with_hierarchy(Hierarchy("s", tuple(path(value) for value in TREE)))
    return criterion


EVERY = [
    make("k-anonymity", k=3),
    make("l-diversity", l=2),
    make("l-diversity", l=1.7, kind="entropy"),
    make("l-diversity", l=2, kind="recursive", c=1.5),
    make("l-diversity", l=3, kind="recursive", c=2),
    make("t-closeness", t=0.3),
    make("t-closeness", t=0.3, distance="ordered"),
    make("t-closeness", t=0.3, distance="hierarchical", hierarchy="tree.csv"),
    make("alpha-k-anonymity", alpha=0.5, k=3),
    make("alpha-k-anonymity", alpha=0.4, k=2, values=["10", 30, None]),
    make("beta-likeness", beta=0.8),
    make("beta-likeness", beta=0.8, kind="enhanced"),
    make("delta-disclosure", delta=0.9),
    make("linkable", d=2, alpha=0.5, size=3),
]
every = pytest.mark.parametrize("criterion", EVERY, ids=lambda c: f"{c.name}: {c.promise}")
Named = dict[str, Any]


def measured(criterion: Criterion, records: list[oracle.Record], whole: list[str | None]) -> Named:
    answer = criterion.measure(stats_of(records, whole))
    return dict(zip(sorted({n for n, _ in records}), answer.tolist(), strict=True))


def holding(criterion: Criterion, records: list[oracle.Record], whole: list[str | None]) -> Named:
    answer = criterion.holds(stats_of(records, whole))
    return dict(zip(sorted({n for n, _ in records}), answer.tolist(), strict=True))


def whole_of(records: list[oracle.Record], suppressed: list[str | None]) -> list[str | None]:
    return [value for _, value in records] + suppressed


# Against plain loops


@quick
@given(tables, bystanders)
def test_k_anonymity_counts_records(records, suppressed):
    assert measured(EVERY[0], records, whole_of(records, suppressed)) == oracle.sizes(records)


@quick
@given(tables, bystanders)
def test_distinct_l_diversity_counts_values(records, suppressed):
    assert measured(EVERY[1], records, whole_of(records, suppressed)) == oracle.distinct(records)


@quick
@given(tables, bystanders)
def test_entropy_l_diversity_measures_the_exponential(records, suppressed):
    found = measured(EVERY[2], records, whole_of(records, suppressed))
    assert {n: math.log(v) for n, v in found.items()} == pytest.approx(oracle.entropy(records), abs=1e-12)


@quick
@given(tables, bystanders, st.integers(2, 4), st.integers(1, 3))
def test_linkability_against_every_other_class_written_out(records, suppressed, d, size):
    whole = whole_of(records, suppressed)
    expected = oracle.linked(records, whole, d, size)
    assert measured(make("linkable", d=d, alpha=0.5, size=size), records, whole) == pytest.approx(
        expected, abs=1e-12)


@quick
@given(st.integers(0, 10**6))
def test_linkability_falls_with_d_and_rises_with_the_other_class(seed):
    rng = random.Random(seed)
    whole = rng.choices("abcdef", k=30)
    records = [("p", value) for value in whole[:rng.randrange(1, 9)]]
    of = [[measured(make("linkable", d=d, alpha=0.5, size=size), records, whole)["p"] for d in (2, 3, 4)]
          for size in (2, 4, 9)]
    assert all(a >= b - 1e-12 for row in of for a, b in pairwise(row))
    assert all(b >= a - 1e-12 for small, large in pairwise(of) for a, b in zip(small, large, strict=True))


def test_linkability_by_drawing():
    """Twenty values, classes of six: the exact law beside 40,000 drawn classes."""
    rng = np.random.default_rng(0)
    whole = [str(v) for v in range(20) for _ in range(1 + v)]
    records = [("p", str(v)) for v in (1, 4, 9, 16, 19)]
    p = np.arange(1, 21) / 210
    drawn = rng.choice(20, (40_000, 6), p=p)
    common = sum((drawn == v).any(axis=1).astype(int) for v in (1, 4, 9, 16))  # 19 is the worst own value
    for d in (2, 3, 4):
        found = measured(make("linkable", d=d, alpha=0.5, size=6), records, whole)["p"]
        assert found == pytest.approx((common >= d - 1).mean(), abs=0.01)


@quick
@given(tables, st.integers(2, 4), st.fractions(Fraction(1, 4), 4, max_denominator=4))
def test_recursive_l_diversity(records, least, c):
    criterion = make("l-diversity", l=least, kind="recursive", c=float(c))
    assert holding(criterion, records, whole_of(records, [])) == oracle.recursive_holds(records, c, least)


@quick
@given(tables, bystanders)
def test_equal_t_closeness(records, suppressed):
    whole = whole_of(records, suppressed)
    expected = oracle.closeness(records, whole, lambda a, b: Fraction(a != b))
    assert measured(EVERY[5], records, whole) == pytest.approx(expected, abs=1e-12)


@quick
@given(tables, bystanders)
def test_ordered_t_closeness(records, suppressed):
    whole = whole_of(records, suppressed)
    found = measured(EVERY[6], records, whole)
    assert found == pytest.approx(oracle.ordered_formula(records, whole), abs=1e-12)

    def apart(a: str | None, b: str | None) -> Fraction:
        if (a is None) != (b is None):
            return Fraction(1)
        return Fraction(0) if a == b else Fraction(abs(place[a] - place[b]), len(place) - 1)

    place = rank(whole)
    truth = oracle.closeness(records, whole, apart)
    if None in whole:  # our reading is a plan to move the earth, never cheaper than the cheapest
        assert all(truth[name] - 1e-12 <= found[name] <= 1 for name in found)
    else:
        assert found == pytest.approx(truth, abs=1e-12)


@quick
@given(tables, bystanders)
def test_hierarchical_t_closeness(records, suppressed):
    whole = whole_of(records, suppressed)
    found = measured(EVERY[7], records, whole)
    assert found == pytest.approx(oracle.hierarchical_formula(records, whole, path), abs=1e-12)

    def apart(a: str | None, b: str | None) -> Fraction:
        return Fraction(next(level for level in range(4) if path(a)[level] == path(b)[level]), 3)

    assert found == pytest.approx(oracle.closeness(records, whole, apart), abs=1e-12)


@quick
@given(tables, bystanders)
def test_alpha_k(records, suppressed):
    whole, size = whole_of(records, suppressed), oracle.sizes(records)
    for criterion, protected, k in [(EVERY[8], {*TREE}, 3), (EVERY[9], {"10", "30", None}, 2)]:
        highest = oracle.highest_share(records, protected)
        expected = {name: highest[name] if size[name] >= k else math.inf for name in highest}
        assert measured(criterion, records, whole) == pytest.approx(expected, abs=1e-12)


@quick
@given(tables, bystanders, st.fractions(Fraction(1, 8), 3, max_denominator=8))
def test_beta_likeness(records, suppressed, beta):
    whole = whole_of(records, suppressed)
    basic, enhanced = (make("beta-likeness", beta=float(beta), kind=k) for k in ("basic", "enhanced"))
    assert measured(basic, records, whole) == pytest.approx(oracle.largest_gain(records, whole), abs=1e-12)
    assert holding(basic, records, whole) == oracle.beta_holds(records, whole, beta, enhanced=False)
    assert holding(enhanced, records, whole) == oracle.beta_holds(records, whole, beta, enhanced=True)


@quick
@given(tables, bystanders)
def test_delta_disclosure(records, suppressed):
    whole = whole_of(records, suppressed)
    assert measured(EVERY[12], records, whole) == pytest.approx(oracle.delta(records, whole), abs=1e-12)


@pytest.mark.parametrize("missing", [False, True])
def test_many_values_agree_with_a_dense_matrix(missing):
    rng = np.random.default_rng(5)
    n, m = 200, 300
    dense = rng.poisson(0.05, (n, m))
    dense[np.arange(n), rng.integers(0, m, n)] += 1
    classes, where = np.nonzero(dense)
    labels = tuple(f"{v:03}" for v in range(m - 1)) + ((None,) if missing else ("999",))
    histogram = Histogram(classes, where, dense[classes, where], labels, dense.sum(axis=0))
    stats = ClassStats(dense.sum(axis=1), {"s": histogram})
    q, p = dense / dense.sum(axis=1, keepdims=True), dense.sum(axis=0) / dense.sum()
    stay_q, stay_p = (1 - q[:, -1:], 1 - p[-1]) if missing else (np.ones((n, 1)), 1.0)
    last = m - missing
    cumulative = np.cumsum(q[:, :last] - p[:last] / stay_p * stay_q, axis=1)
    expected = np.abs(cumulative).sum(axis=1) / (last - 1) + np.abs(stay_q[:, 0] - stay_p)
    assert expected.max() < 1
    np.testing.assert_allclose(EVERY[6].measure(stats), expected, rtol=1e-9)
    np.testing.assert_allclose(EVERY[5].measure(stats), np.abs(q - p).sum(axis=1) / 2, rtol=1e-9)


# What each criterion claims of itself


def test_claims():
    assert {c.name for c in EVERY} == set(CRITERIA)
    assert len(CRITERIA) == 7
    assert [c.promise for c in EVERY if c.upward] == [
        "k = 3", "distinct l = 2 for 's'", "d = 2, α = 0.5, classes of 3 for 's'"]
    assert all(c.mergeable for c in EVERY)
    assert {c.name for c in EVERY if c.needs_whole} == {
        "t-closeness", "beta-likeness", "delta-disclosure", "linkable"}


@every
@quick
@given(pairs, bystanders)
def test_a_union_is_no_worse_than_its_worse_part(criterion, records, suppressed):
    """Mergeable, tested at the tightest threshold that both parts satisfy."""
    whole = whole_of(records, suppressed)
    parts = measured(criterion, records, whole).values()
    union = measured(criterion, [("p", value) for _, value in records], whole)["p"]
    if criterion.higher_is_better:
        assert union >= min(parts) - 1e-12
    else:
        assert union <= max(parts) + 1e-12


@pytest.mark.parametrize("criterion", [c for c in EVERY if c.upward], ids=lambda c: c.promise)
@quick
@given(pairs)
def test_upward_criteria_survive_whatever_joins(criterion, records):
    assume(holding(criterion, records, whole_of(records, []))["p"])
    assert holding(criterion, [("p", value) for _, value in records], whole_of(records, []))["p"]


@pytest.mark.parametrize("criterion", [c for c in EVERY if not c.upward], ids=lambda c: c.promise)
def test_the_others_do_not(criterion):
    """Two of each of three values, as the whole table is mixed; then forty records of one value join."""
    balanced = [("p", value) for value in ("10", "20", "30") * 2]
    joining = [("p", "10")] * 40
    whole = ["10", "20", "30"] * 40
    assert holding(criterion, balanced, whole) == {"p": True}
    assert holding(criterion, balanced + joining, whole) == {"p": False}


def test_ignoring_absent_values_would_not_be_mergeable():
    """Why δ-disclosure counts them: both parts are fair to what they hold, their union is not."""
    def present_only(values: list[str]) -> float:
        whole = oracle.shares(["10"] * 8 + ["20"] * 12)
        return max(abs(math.log(q / whole[v])) for v, q in oracle.shares(values).items())

    mixed, single = ["10"] * 2 + ["20"], ["20"] * 8
    assert max(present_only(mixed), present_only(single)) < 0.6 < present_only(mixed + single)


# Missing values, bounds met exactly, and findings


def test_missing_is_a_value_of_its_own():
    records = [("p", "10"), ("p", None), ("q", None), ("q", None)]
    whole = whole_of(records, [])
    assert measured(make("l-diversity", l=2), records, whole) == {"p": 2, "q": 1}
    assert measured(make("t-closeness", t=1, distance="ordered"), records, whole) == {"p": 0.25, "q": 0.25}


def test_missing_is_as_far_from_the_last_value_as_from_the_first():
    ordered = make("t-closeness", t=1, distance="ordered")
    whole = ["10", "20", "30", None]
    first, last = (measured(ordered, [("p", v)], [*whole, None, v])["p"] for v in ("10", "30"))
    assert first == pytest.approx(last)


def test_the_plan_for_missing_values_never_costs_more_than_the_largest_distance():
    ordered = make("t-closeness", t=1, distance="ordered")  # 0.4 + 2/3 of the earth moved, some of it twice
    assert measured(ordered, [("p", "10")], ["10", "20", "20", None, None]) == {"p": 1}


def test_bounds_met_exactly():
    fair, whole = [("p", "10"), ("p", "20"), ("p", "20")], ["10", "20", "20"]
    for bound, holds in [(3, True), (3.01, False)]:
        criterion = make("l-diversity", l=bound, kind="entropy")
        assert holding(criterion, [("p", v) for v in ("10", "20", "30")], ["10", "20", "30"])["p"] is holds
    assert holding(make("l-diversity", l=2, kind="recursive", c=2), fair, whole) == {"p": False}  # 2 < 2 · 1
    assert holding(make("l-diversity", l=2, kind="recursive", c=2.01), fair, whole) == {"p": True}
    assert holding(make("alpha-k-anonymity", alpha=2 / 3, k=3), fair, whole) == {"p": True}
    assert holding(make("t-closeness", t=0), fair, whole) == {"p": True}
    doubled = make("delta-disclosure", delta=math.log(2))
    assert holding(doubled, fair, ["10"] * 4 + ["20"] * 2) == {"p": False}  # |ln(1/3 ÷ 2/3)| = ln 2
    assert holding(make("beta-likeness", beta=1), fair, ["10"] * 4 + ["20"] * 2) == {"p": True}


def test_enhanced_likeness_is_infinite_where_no_beta_would_do():
    records, whole = [("p", "10")], ["10"] * 6 + ["20"] * 4  # gain 2/3, -ln 0.6 = 0.51
    assert measured(make("beta-likeness", beta=9), records, whole)["p"] == pytest.approx(2 / 3)
    assert measured(make("beta-likeness", beta=9, kind="enhanced"), records, whole) == {"p": math.inf}


def test_one_value_and_one_row():
    records, whole = [("p", "10")], ["10"]
    for criterion in EVERY[5:8]:
        assert measured(criterion, records, whole) == {"p": 0}
    assert measured(EVERY[10], records, whole) == measured(EVERY[11], records, whole) == {"p": 0}
    assert measured(EVERY[12], records, whole) == {"p": 0}
    assert measured(EVERY[3], records, whole) == {"p": math.inf}


@every
def test_no_classes_hold_anything(criterion):
    none = np.array([], dtype=np.int64)
    empty = ClassStats(none, {"s": Histogram(none, none, none, ("10", None), np.array([2, 1]))})
    finding = criterion.find(empty)
    assert finding.holds and finding.worst is None and finding.failing == 0


def test_a_finding_names_the_worst_class():
    records = [("p", v) for v in ("10", "20")] + [("q", "10")] * 3
    finding = make("l-diversity", l=2).find(stats_of(records, whole_of(records, [])))
    assert (finding.holds, finding.worst, finding.failing, finding.margin) == (False, 1, 1, -1)
    strict = make("l-diversity", l=2, kind="recursive", c=1).find(stats_of(records[:2], ["10", "20"]))
    assert (strict.holds, strict.worst, strict.margin) == (False, 1, 0)


# Numbers in print


Published = tuple[list[oracle.Record], list[str]]


def published(shared: Path, file: str, qi: list[str], sensitive: str) -> Published:
    with open(shared / "data/examples/published" / file) as source:
        rows = list(csv.DictReader(source))
    return ([(" ".join(row[q] for q in qi), row[sensitive].zfill(2)) for row in rows],
            [row[sensitive].zfill(2) for row in rows])


@pytest.mark.needs_shared
def test_inpatients_of_the_l_diversity_paper(shared):
    four = published(shared, "ldiversity_inpatient.csv", ["qi_zip_4anon", "qi_age_4anon"], "condition")
    three = published(shared, "ldiversity_inpatient.csv", ["qi_zip_3div", "qi_age_3div"], "condition")
    assert set(measured(make("k-anonymity", k=4), *four).values()) == {4}
    assert sorted(measured(make("l-diversity", l=3), *four).values()) == [1, 2, 3]
    assert set(measured(make("l-diversity", l=3), *three).values()) == {3}
    effective = measured(make("l-diversity", l=2, kind="entropy"), *three).values()
    assert min(effective) == pytest.approx(2 * 2 ** 0.5)


SYSTEMS = {
    "flu": ("respiratory infection", "respiratory"), "pneumonia": ("respiratory infection", "respiratory"),
    "bronchitis": ("respiratory infection", "respiratory"), "gastric ulcer": ("stomach", "digestive"),
    "gastritis": ("stomach", "digestive"), "stomach cancer": ("stomach", "digestive"),
}


@pytest.mark.needs_shared
def test_salaries_and_diseases_of_the_t_closeness_paper(shared):
    file = "tcloseness_salary_disease.csv"
    ordered = make("t-closeness", t=0.2, distance="ordered")
    salaries = measured(ordered, *published(shared, file, ["qi_zip_3div", "qi_age_3div"], "salary_k"))
    assert salaries["476** 2*"] == pytest.approx(0.375)
    assert salaries["4790* >=40"] == pytest.approx(0.167, abs=5e-4)
    close = ["qi_zip_tclose", "qi_age_tclose"]
    salaries = measured(ordered, *published(shared, file, close, "salary_k"))
    assert max(salaries.values()) == pytest.approx(0.167, abs=5e-4)
    diseases = published(shared, file, close, "disease")
    hierarchical = TCloseness(column="s", t=0.3, distance="hierarchical", hierarchy="tree.csv")
    by_three = Hierarchy("s", tuple((disease, *up, "*") for disease, up in SYSTEMS.items()))
    assert measured(hierarchical.with_hierarchy(by_three), *diseases) == pytest.approx(
        {"4767* <=40": 7 / 27, "4790* >=40": 8 / 27, "4760* <=40": 5 / 27})
    # The print says 0.278, which the paper's tree of height 3 does not give and one of height 4 does.
    by_four = Hierarchy("s", tuple((disease, *up, up[-1], "*") for disease, up in SYSTEMS.items()))
    printed = max(measured(hierarchical.with_hierarchy(by_four), *diseases).values())
    assert printed == pytest.approx(0.278, abs=5e-4)


@pytest.mark.needs_shared
def test_diversity_in_the_golden_numbers(shared):
    entries = json.loads((shared / "golden/002_tandon_jain.json").read_text())["entries"]
    table, = (entry for entry in entries if entry["id"] == "ldiv/table2.3")
    for column, position in [("Salary", 2), ("Disease", 3)]:
        records = [(f"{column}/{row[0]},{row[1]}", row[position]) for row in table["inputs"]]
        whole = whole_of(records, [])
        expected = {name: cell for name, cell in table["recomputed"].items() if name.startswith(column)}
        assert len(expected) == 3
        for kind, key in [("distinct", "distinct"), ("entropy", "entropy_l")]:
            found = measured(make("l-diversity", l=3, kind=kind), records, whole)
            assert found == pytest.approx({name: cell[key] for name, cell in expected.items()})
            assert all(holding(make("l-diversity", l=3, kind=kind), records, whole).values())
        for least in (2, 3):
            found = measured(make("l-diversity", l=least, kind="recursive", c=2), records, whole)
            assert found == {name: cell[f"recursive_c_min_l{least}"] for name, cell in expected.items()}


@pytest.mark.needs_shared
def test_skewness_attack_in_the_golden_numbers(shared):
    entries = json.loads((shared / "golden/002_tandon_jain.json").read_text())["entries"]
    skewed = [entry for entry in entries if entry["id"].startswith("ldiv/skew/")]
    assert len(skewed) == 3
    for entry in skewed:
        counts, expected = entry["inputs"]["counts"], entry["recomputed"]
        records = [("p", "pos")] * counts[0] + [("p", "neg")] * counts[1]
        found = measured(make("l-diversity", l=2, kind="entropy"), records, whole_of(records, []))["p"]
        assert math.log(found) == pytest.approx(expected["entropy"], abs=1e-6)
        assert measured(make("l-diversity", l=2), records, whole_of(records, []))["p"] == expected["distinct"]


# Recipes and refusals


@pytest.mark.parametrize(("item", "where", "words"), [
    ({"k-anonimity": {"k": 5}}, "criteria", ["'k-anonimity'", "did you mean 'k-anonymity'?", "t-closeness"]),
    ({"zzz": {}}, "criteria", ["'zzz'", "k-anonymity, l-diversity, t-closeness"]),
    ({"k-anonymity": {"k": 5}, "l-diversity": {}}, "criteria", ["one name", "own dash"]),
    ("k-anonymity", "criteria", ["one name"]),
    ({"k-anonymity": 5}, "criteria.k-anonymity", ["mapping of k"]),
    ({"k-anonymity": {"k": 1}}, "criteria.k-anonymity.k", ["at least 2", "is 1"]),
    ({"k-anonymity": {"k": 2.5}}, "criteria.k-anonymity.k", ["whole number", "2.5"]),
    ({"k-anonymity": {"k": "many"}}, "criteria.k-anonymity.k", ["whole number", "'many'"]),
    ({"k-anonymity": {}}, "criteria.k-anonymity.k", ["missing"]),
    ({"l-diversity": {"column": "s", "l": 2, "type": "entropy"}}, "criteria.l-diversity.type",
     ["no parameter 'type'", "column, l, kind, c"]),
    ({"l-diversity": {"column": "s", "l": 2, "kind": "entropic"}}, "criteria.l-diversity.kind",
     ["'distinct', 'entropy' or 'recursive'", "'entropic'"]),
    ({"l-diversity": {"column": "s", "l": 2, "kind": "recursive"}}, "criteria.l-diversity", ["c is missing"]),
    ({"l-diversity": {"column": "s", "l": 2, "c": 3}}, "criteria.l-diversity", ["kind: recursive"]),
    ({"l-diversity": {"column": "s", "l": 2.5}}, "criteria.l-diversity", ["2.5", "whole number"]),
    ({"l-diversity": {"column": "s", "l": 1, "kind": "entropy"}}, "criteria.l-diversity", ["more than 1"]),
    ({"t-closeness": {"column": "s", "t": 1.5}}, "criteria.t-closeness.t", ["at most 1", "1.5"]),
    ({"t-closeness": {"column": "s", "t": 0.1, "distance": "hierarchical"}}, "criteria.t-closeness",
     ["hierarchy is missing"]),
    ({"t-closeness": {"column": "s", "t": 0.1, "hierarchy": "x"}}, "criteria.t-closeness", ["leave it out"]),
    ({"beta-likeness": {"column": "s", "beta": 0}}, "criteria.beta-likeness.beta", ["more than 0"]),
    ({"linkable": {"column": "s", "d": 1, "alpha": 0.5}}, "criteria.linkable.d", ["at least 2", "is 1"]),
    ({"linkable": {"column": "s", "d": 2, "alpha": 0}}, "criteria.linkable.alpha", ["more than 0"]),
    ({"alpha-k-anonymity": {"column": "s", "alpha": 0.5, "k": 2, "values": []}},
     "criteria.alpha-k-anonymity.values", ["must not be empty"]),
])
def test_a_faulty_item_says_what_is_wrong(item, where, words):
    with pytest.raises(RecipeError) as caught:
        parse(item)
    fault, = caught.value.faults
    assert fault.where == where
    assert all(word in fault.what for word in words), fault.what


def test_all_faults_of_an_item_come_together():
    with pytest.raises(RecipeError) as caught:
        parse({"alpha-k-anonymity": {"alpha": 2, "k": 0, "colunm": "s"}})
    named = {fault.where.rsplit(".", 1)[1] for fault in caught.value.faults}
    assert named == {"alpha", "k", "colunm", "column"}


def test_a_fault_among_sensitive_values_does_not_show_them():
    with pytest.raises(RecipeError) as caught:
        parse({"alpha-k-anonymity": {"column": "s", "alpha": 0.5, "k": 2, "values": [["syphilis"]]}})
    assert "syphilis" not in str(caught.value)
    with pytest.raises(RecipeError) as caught:
        parse({"alpha-k-anonymity": {"column": "s", "alpha": 0.5, "k": 2, "values": "syphilis"}})
    assert "must be a list" in str(caught.value) and "syphilis" not in str(caught.value)


def test_values_that_the_table_lacks_are_refused_without_naming_them():
    criterion = make("alpha-k-anonymity", alpha=0.5, k=2, values=["aids", "flu", None])
    criterion.check_values(("AIDS", "aids", "flu", None))
    with pytest.raises(RequestError, match=r"2 of the 3 values") as caught:
        criterion.check_values(("AIDS", "flu"))
    assert "aids" not in str(caught.value).lower()
    make("alpha-k-anonymity", alpha=0.5, k=2).check_values(())


def test_a_column_that_is_not_counted_is_refused():
    with pytest.raises(RequestError, match=r"'income'.*sensitive: 's'.*role 'sensitive'"):
        parse({"l-diversity": {"column": "income", "l": 2}}).measure(stats_of([("p", "10")], ["10"]))


def test_a_hierarchy_must_be_read_and_cover_the_column():
    recipe = {"t-closeness": {"column": "s", "t": 0.2, "distance": "hierarchical", "hierarchy": "tree.csv"}}
    stats = stats_of([("p", "10"), ("p", "60")], ["10", "60"])
    with pytest.raises(HierarchyError, match="not read yet"):
        parse(recipe).measure(stats)
    with pytest.raises(HierarchyError, match="lacks 1 of the 2 values") as caught:
        EVERY[7].measure(stats)
    assert "60" not in str(caught.value)


def test_criteria_compare_by_their_parameters():
    assert parse({"k-anonymity": {"k": 5}}) == parse({"k-anonymity": {"k": 5}})
    assert parse({"k-anonymity": {"k": 5}}) != parse({"k-anonymity": {"k": 6}})
