"""Research value: the paper's example and hierarchy, rules by plain loops, a recipe's faults, weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato
from sfumato import samples
from sfumato.errors import RecipeError
from sfumato.frequency import FrequencySet, distinct
from sfumato.hierarchy.core import Hierarchy, with_missing
from sfumato.pipeline import anonymize
from sfumato.recipe import Recipe
from sfumato.research.rules import kept, misfits
from sfumato.research.said import Members, Reading, Rule
from sfumato.research.values import categorical, numeric, prices, rising, spans
from sfumato.research.weights import independence

RACE = Hierarchy("race", (("White", "White", "White", "*"), ("Black", "Black", "Other", "*"),
                          ("Hispanic", "Other", "Other", "*"), ("Asian", "Other", "Other", "*")))
AGES = (*range(10, 30), 64, 65, 70)
AGE = Hierarchy("age", tuple((str(age), f"[{age // 10 * 10}..{age // 10 * 10 + 10})",
                              "<65" if age < 65 else ">=65", "*") for age in AGES))
TABLE_1 = [{"column": "race", "keep apart": pair, "importance": importance} for pair, importance in
           ((["White", "Hispanic"], 5), (["White", "Black"], 20), (["Hispanic", "Black"], 10),
            (["Hispanic", "Asian"], 5))]


def rules(*said: dict[str, Any]) -> tuple[Rule, ...]:
    reading = Reading()
    found = reading.rules(said)
    assert not reading.faults
    return found


@pytest.mark.needs_shared
def test_the_papers_numbers(shared: Path) -> None:
    golden = json.loads((shared / "golden" / "001_morton.json").read_text())
    entries = {one["id"]: one for one in golden["entries"]}
    said = entries["rv/numeric-example"]["inputs"]
    found = numeric(said["groups"], said["specific"], said["w"], said["dr_k"] / said["dr_0"])
    assert round(found, 4) == entries["rv/numeric-example"]["expected"] == 0.0054
    ours = prices(RACE, np.ones(4, np.int64), 1.0, rules(*TABLE_1))
    for one, place in zip(ours, ("level0", "level1", "level2", "root"), strict=True):
        expected = entries[f"dr/race-{place}"]["recomputed"]
        assert one.share == expected["dr_ratio"]
        assert one.value == pytest.approx(expected["rv_over_w"], abs=1e-15)


def test_mixing_hispanic_and_black_keeps_three_quarters() -> None:
    mixed = Hierarchy("race", (("White", "White", "*"), ("Black", "Other", "*"), ("Hispanic", "Other", "*"),
                               ("Asian", "Asian", "*")))
    one = prices(mixed, np.ones(4, np.int64), 0.5, rules(*TABLE_1))[1]
    assert one.share == 0.75 and one.value == categorical(3, 4, 0.5, 0.75)
    assert [str(rule) for rule in one.breaks] == ["keep Hispanic and Black apart (10)"]


def test_spans_are_what_a_label_says() -> None:
    assert spans(AGE, 0).tolist() == [1.0] * 23
    assert dict(zip(AGE.labels[1], spans(AGE, 1), strict=True)) == {
        "[10..20)": 10, "[20..30)": 10, "[60..70)": 10, "[70..80)": 10}
    assert spans(AGE, 2).tolist() == [55, 6], "from the lowest value, to the highest"
    named = Hierarchy("age", (("1", "low", "*"), ("4", "low", "*"), ("9", "high", "*"), (None, None, "*")))
    assert spans(named, 1).tolist() == [4, 1, 1], "another label spans what stands under it; missing is one"
    halves = Hierarchy("x", (("0.5", "[0..1)", "*"), ("1", "[1..2)", "*"), ("1.5", "[1..2)", "*")))
    assert spans(halves, 1).tolist() == [2, 2]


def test_a_rule_at_a_time() -> None:
    boundary, group, together = rules({"column": "age", "keep boundary": 65},
                                      {"column": "age", "keep group": "10 to 19"},
                                      {"column": "age", "keep together": "10 to 19"})
    assert [kept(boundary, AGE, level) for level in range(4)] == [True, False, True, False]
    assert [kept(group, AGE, level) for level in range(4)] == [True, True, False, False]
    assert [kept(together, AGE, level) for level in range(4)] == [False, True, False, False]
    assert rising(prices(AGE, np.ones(23, np.int64), 1.0, (together,))) == [1]
    assert not rising(prices(AGE, np.ones(23, np.int64), 1.0, (boundary, group)))


def test_ranges_in_words() -> None:
    said = [{"column": "age", "keep group": text} for text in ("12 to 18", "12–18", "12 – 18", "12-18", 12)]
    groups = [rule.groups[0] for rule in rules(*said)]
    assert groups[:3] == [Members((), "12", "18")] * 3
    assert groups[3:] == [Members(("12-18",)), Members(("12",))]
    [(_, what)] = misfits(rules(said[3]), AGE)
    assert "no value '12-18'" in what and "12 to 18" in what


@st.composite
def ruled(draw: st.DrawFn) -> tuple[Hierarchy, Rule]:
    n = draw(st.integers(2, 7))
    cuts = sorted(draw(st.sets(st.integers(1, n - 1))))
    halves = [sum(value >= cut for cut in cuts) for value in range(n)]
    paths = [(str(v), f"g{halves[v]}", f"h{halves[v] // 2}", "*") for v in range(n)]
    hierarchy = Hierarchy("x", with_missing(paths, 4) if draw(st.booleans()) else tuple(paths))
    some = st.lists(st.integers(0, n - 1).map(str), min_size=1, unique=True).map(tuple)
    word = draw(st.sampled_from(["keep apart", "keep boundary", "keep group", "keep together"]))
    if word == "keep boundary":
        return hierarchy, Rule("x", word, (), str(draw(st.integers(0, n)) - 0.5))
    if word == "keep apart":
        groups = tuple(Members(draw(some)) for _ in range(draw(st.integers(2, 3))))
        return hierarchy, Rule("x", word, groups)
    low, high = sorted([draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))])
    group = draw(st.sampled_from([Members(draw(some)), Members((), str(low), str(high))]))
    return hierarchy, Rule("x", word, (group,))


@settings(deadline=None)
@given(ruled())
def test_rules_by_plain_loops(case: tuple[Hierarchy, Rule]) -> None:
    """And all but togetherness, once broken, stay broken at coarser levels."""
    hierarchy, rule = case

    def within(value: str | None, members: Members) -> bool:
        if value is None:
            return False
        if members.listed:
            return value in members.listed
        return int(members.low) <= int(value) <= int(members.high)

    before = True
    for level in range(hierarchy.n_levels):
        labels: dict[Any, list[str | None]] = {}
        for path in hierarchy.paths:
            labels.setdefault(path[level], []).append(path[0])
        holds = True
        for under in labels.values():
            if rule.keep == "keep boundary":
                holds &= len({float(v) < float(rule.boundary) for v in under if v is not None}) < 2
            elif rule.keep == "keep apart":
                holds &= sum(any(within(v, one) for v in under) for one in rule.groups) < 2
            else:
                holds &= len({within(v, rule.groups[0]) for v in under}) < 2
        if rule.keep == "keep together":
            holds &= sum(any(within(v, rule.groups[0]) for v in under) for under in labels.values()) == 1
        assert kept(rule, hierarchy, level) is holds
        assert rule.keep == "keep together" or before or not holds
        before = holds


COLUMNS = "columns: {age: {role: quasi}, sex: {role: quasi}, s: {role: sensitive}}\n"
CRITERIA = "criteria: [{k-anonymity: {k: 2}}]\n"


@pytest.mark.parametrize("said, where, line, words", [
    ("rules: [{column: agee, keep boundary: 65}]", "research.rules.0.column", 3, "Did you mean 'age'?"),
    ("rules: [{column: s, keep boundary: 65}]", "research.rules.0.column", 3, "no quasi-identifier"),
    ("rules: [{column: age, keep bondary: 65}]", "research.rules.0.keep bondary", 3, "'keep boundary'?"),
    ("rules: [{column: age, keep boundary: 65, keep group: 1 to 2}]", "research.rules.0", 3, "one thing"),
    ("rules: [{column: age, keep apart: [1]}]", "research.rules.0.keep apart", 3, "two or more"),
    ("rules: [{column: age, keep apart: [a, [a, b]]}]", "research.rules.0.keep apart", 3, "both sides"),
    ("rules: [{column: age, keep boundary: 65, importance: 0}]", "research.rules.0.importance", 3, "above 0"),
    ("rules: [{column: age, keep group: 12 to 18}, {column: age, keep together: 15 to 22}]",
     "research.rules.1", 3, "overlap"),
    ("weights: {age: 0.7, sex: 0.7}", "research.weights", 3, "sum to 1.4"),
    ("weights: {age: 1}", "research.weights", 3, "'sex' has none"),
    ("weights: {age: -1, sex: 2}", "research.weights.age", 3, "at least 0"),
    ("weights: correlations", "research.weights", 3, "the word correlation"),
    ("values: {sex: [0.3, 0.5]}", "research.values.sex", 3, "level 1 (0.5) is worth more than level 0 (0.3)"),
    ("values: {town: [0.3, 0]}", "research.values.town", 3, "no quasi-identifier"),
    ("formulas: {sex: numbers}", "research.formulas.sex", 3, "numeric or categorical"),
    ("rulez: []", "research.rulez", 3, "Did you mean 'rules'?")])
def test_faults_of_a_recipe(said: str, where: str, line: int, words: str) -> None:
    with pytest.raises(RecipeError) as caught:
        Recipe.parse(f"{COLUMNS}{CRITERIA}research: {{{said}}}\n")
    assert (where, line) in [(fault.where, fault.line) for fault in caught.value.faults]
    assert words in str(caught.value)


def test_all_faults_come_together_each_with_its_line() -> None:
    text = (f"{COLUMNS}{CRITERIA}research:\n  rules:\n    - {{column: age, keep apart: [1]}}\n"
            "    - {column: aeg, keep boundary: 3}\n  weights: {age: 2}\n")
    with pytest.raises(RecipeError) as caught:
        Recipe.parse(text)
    assert [fault.line for fault in caught.value.faults] == [5, 6, 7, 7]


def test_a_weight_of_the_columns_own_beside_given_weights() -> None:
    text = COLUMNS.replace("age: {role: quasi}", "age: {role: quasi, weight: 2}") + CRITERIA
    with pytest.raises(RecipeError, match="weight of its own"):
        Recipe.parse(f"{text}research: {{weights: correlation}}\n")


def test_a_recipe_comes_back_from_its_text() -> None:
    text = (f"{COLUMNS}{CRITERIA}research: {{rules: [{{column: sex, keep apart: [[01, b], c]}}, "
            "{column: age, keep boundary: 65, importance: 50}, {column: age, keep together: 12 to 18}], "
            "weights: {age: 0.25, sex: 0.75}, values: {sex: [0.5, 0]}, formulas: {age: numeric}}\n")
    recipe = Recipe.parse(text)
    assert recipe.research.rules[0].groups[0].listed == ("01", "b"), "values stay text"
    assert Recipe.parse(recipe.to_yaml()).research == recipe.research
    assert Recipe.parse(recipe.to_yaml()).to_yaml() == recipe.to_yaml()


def test_what_the_columns_do_not_have() -> None:
    """All rules that do not fit the table are told at once; lists and ranges that overlap, too."""
    import pyarrow as pa

    table = pa.table({"age": [20, 30, 30, 40], "race": ["W", "B", "B", "W"]})
    research = {"rules": [{"column": "race", "keep apart": ["W", "Q"]},
                          {"column": "age", "keep boundary": 65}, {"column": "race", "keep boundary": 3},
                          {"column": "age", "keep group": "50 to 60"},
                          {"column": "age", "keep group": ["20", "30"]},
                          {"column": "age", "keep group": "30 to 40"}], "values": {"race": [1, 1, 0]}}
    recipe = Recipe.from_dict({"columns": {"age": {"role": "quasi"}, "race": {"role": "quasi"}},
                               "criteria": [{"k-anonymity": {"k": 2}}], "research": research})
    with pytest.raises(RecipeError) as caught:
        anonymize(table, recipe, report=False)
    told = str(caught.value)
    assert len(caught.value.faults) == 6 and caught.value.exit_code == 2
    for words in ("no value 'Q'", "no value at or above the boundary 65", "'3' has no place",
                  "one of its ranges", "groups 20 or 30 and 30 to 40 overlap",
                  "3 values, and the column has 2 levels"):
        assert words in told


def test_weights_fall_with_correlation() -> None:
    """Two columns that say the same, one that says something else."""
    rng = np.random.default_rng(0)
    twin, other = rng.integers(0, 40, 4000), rng.integers(0, 3, 4000)
    codes = np.stack([twin, twin, other], axis=1).astype(np.int32)
    class_of, first = distinct(codes, [40, 40, 3])
    column = tuple((str(v), "*") for v in range(40))
    frequency = FrequencySet((Hierarchy("a", column), Hierarchy("b", column), Hierarchy("c", column[:3])),
                             codes[first], np.bincount(class_of).astype(np.int64))
    weights = independence(frequency)
    assert weights.sum() == pytest.approx(1)
    assert weights[0] == weights[1] == pytest.approx(0.25, abs=0.02)
    assert weights[2] == pytest.approx(0.5, abs=0.02)
    same = FrequencySet(frequency.hierarchies[:2], frequency.codes[:, :2], frequency.counts)
    assert independence(same).tolist() == [0.5, 0.5], "columns that all say the same weigh the same"


def test_the_price_list_reaches_terminal_manifest_and_report(tmp_path: Path) -> None:
    path = samples.write_hospital(tmp_path, 400)
    recipe = Recipe.load(path).with_(
        columns={"age": {"role": "quasi", "hierarchy": {"interval": [5, 10, 20]}},
                 "postcode": {"role": "quasi", "hierarchy": {"prefix": 5}}}, suppression=0.9,
        research={"rules": [{"column": "age", "keep boundary": 65, "importance": 50}],
                  "weights": "correlation"}, method={"name": "optimal", "cost": "research-value"})
    listed = {one["column"]: one for one in sfumato.value(tmp_path / "stays.csv", recipe)}
    assert listed["age"]["levels"][3]["breaks"] == ["keep a boundary at 65 (50)"]
    assert sum(one["weight"] for one in listed.values()) == pytest.approx(1)
    assert listed["age"]["levels"][0]["value"] == pytest.approx(listed["age"]["weight"])
    result = anonymize(tmp_path / "stays.csv", recipe, tmp_path / "out")
    told = {one["column"]: one for one in result.manifest["research_values"]}
    assert told == listed
    kept_value = sum(one["levels"][result.manifest["levels"][name]]["value"] for name, one in told.items())
    share = result.manifest["records"]["kept"] / 400
    assert result.manifest["cost"]["score"] == pytest.approx(1 - share * kept_value)
    assert result.manifest["measures"]["research-value"] == pytest.approx(1 - share * kept_value)
    lowest = anonymize(tmp_path / "stays.csv", recipe.with_(method={"name": "samarati"}), tmp_path / "low")
    assert "Generalizations that hold, too" in (tmp_path / "low" / "report.html").read_text()
    assert any("height below" in sentence for sentence in lowest.manifest["story"])
    best = anonymize(tmp_path / "stays.csv", recipe.with_(method={"name": "research-value"}),
                     tmp_path / "best", report="md")
    assert len(best.manifest["research"]["successes"]) > 1
    told = (tmp_path / "best" / "report.md").read_text()
    assert "Generalizations that hold, too" in told and "Proven best" in told
    assert "That none is worth more is proven." in " ".join(best.manifest["story"])
    page = (tmp_path / "out" / "report.html").read_text()
    assert "What each level is worth to research" in page and "keep a boundary at 65 (50)" in page
