"""Trees of a target on table and release, and what becomes of their rules."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato
from sfumato.classes import Histogram
from sfumato.errors import RecipeError, RequestError
from sfumato.frequency import Cells, FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.measure.evidence import Patterns
from sfumato.measure.utility import patterns as module
from sfumato.measure.utility.tree import Node, Table
from sfumato.recipe import Recipe
from sfumato.recoding import SUPPRESSED, Portions, Regrouping, Sets
from sfumato.report import render

# A release as it can be read

def jobs(seed: int) -> tuple[FrequencySet, Regrouping, list[dict[str, Any]]]:
    """Cells dealt out to classes at random, whose labels are random sets; and every record by itself."""
    rng = random.Random(seed)
    hierarchies = tuple(Hierarchy(f"q{j}", tuple((str(v), "*") for v in range(4))) for j in range(2))
    codes = np.array([(a, b) for a in range(4) for b in range(4)], dtype=np.int32)
    cells = [(t, v, w, rng.randrange(1, 9)) for t in range(16) for v in range(2) for w in range(2)
             if rng.random() < 0.6 or v == w == 0]
    joint = Cells(np.array([c[0] for c in cells]), np.array([c[1:3] for c in cells]),
                  np.array([c[3] for c in cells]))
    names = {"s": ("no", "yes"), "t": ("left", None)}
    sensitive = {}
    for n, (name, labels) in enumerate(names.items()):
        found: dict[tuple[int, int], int] = {}
        for cell in cells:
            found[cell[0], cell[1 + n]] = found.get((cell[0], cell[1 + n]), 0) + cell[3]
        triples = np.array([(*key, count) for key, count in sorted(found.items())])
        sensitive[name] = Histogram(triples[:, 0], triples[:, 1], triples[:, 2], labels,
                                    np.bincount(triples[:, 1], triples[:, 2], minlength=2).astype(np.int64))
    frequency = FrequencySet(hierarchies, codes, np.bincount(joint.tuple_of, joint.counts).astype(np.int64),
                             sensitive, joint)
    classes, sets, class_of, portion, records = 3, [], [], [], []
    for _ in range(2):
        sets.append([sorted(rng.sample(range(4), rng.randrange(1, 5))) for _ in range(classes)])
    exact = frequency.cells
    for cell, count in enumerate(exact.counts.tolist()):
        left = count
        for number in rng.sample([SUPPRESSED, *range(classes)], 3):
            part = rng.randint(0, left) if number != SUPPRESSED else min(left, 1)
            left -= part
            portion += [(cell, part)] if part else []
            class_of += [number] if part else []
            records += [(cell, number)] * part
        portion += [(cell, left)] if left else []
        class_of += [0] if left else []
        records += [(cell, 0)] * left
    portions = Portions.of(frequency, np.array([c for c, _ in portion]), np.array([n for _, n in portion]))
    narrower = {j: Sets(np.cumsum([0, *map(len, one)]), np.concatenate(one), ["?"] * classes)
                for j, one in enumerate(sets)}
    root = np.ones((classes, 2), np.int32)
    regrouping = Regrouping(np.array(class_of), root, np.zeros_like(root),
                            narrower=narrower, portions=portions)
    told = []
    for cell, number in records:
        code, values = codes[exact.tuple_of[cell]].tolist(), exact.values[cell].tolist()
        labels = None if number == SUPPRESSED else tuple(frozenset(one[number]) for one in sets)
        told.append({"q0": code[0], "q1": code[1], "s": values[0], "t": values[1], "labels": labels})
    return frequency, regrouping, told


def reading(table: Table) -> dict[tuple[Any, ...], int]:
    """The rows of a table as sets of values and a target, with their records."""
    found: dict[tuple[Any, ...], int] = {}
    for row, (target, count) in enumerate(zip(table.target, table.counts, strict=True)):
        cells = []
        for predictor in table.predictors:
            every = np.arange(predictor.n_values)
            singles = [predictor.labels.under(every == value) for value in every]
            cells.append(frozenset(v for v, one in enumerate(singles) if one[predictor.at[row]]))
        found[*cells, int(target)] = found.get((*cells, int(target)), 0) + int(count)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_labels_are_read_as_the_values_they_stand_for(seed: int) -> None:
    """Portions of cells, two sensitive columns, one a predictor; then a generalized target."""
    frequency, regrouping, records = jobs(seed)
    asked = module.question(frequency, "s", ("q0", "q1", "t"), 1)
    released, untold = module.of_release(frequency, regrouping, asked)
    expected: dict[tuple[Any, ...], int] = {}
    for record in (one for one in records if one["labels"]):
        key = (*record["labels"], frozenset({record["t"]}), record["s"])
        expected[key] = expected.get(key, 0) + 1
    assert reading(released) == expected and untold == 0
    asked = module.question(frequency, "q1", ("q0", "s"), 1)
    released, untold = module.of_release(frequency, regrouping, asked)
    kept = [one for one in records if one["labels"]]
    assert untold == sum(len(one["labels"][1]) > 1 for one in kept)
    assert sum(reading(released).values()) == len(kept) - untold
    assert all(row[-1] in range(4) for row in reading(released))
    private = module.of_table(frequency, asked, regrouping)
    assert sum(reading(private).values()) == len(records)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_said_of_a_rule_is_counted_record_by_record(seed: int,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """Common people, truth, certain and possible records, by the sets of values that the rules allow."""
    frequency, regrouping, records = jobs(seed)
    made: list[tuple[Node, Node]] = []
    kept = module.fates
    monkeypatch.setattr(module, "fates", lambda a, b, trees, q: made.append(trees) or kept(a, b, trees, q))
    monkeypatch.setattr(module, "SHARE", 0.0)
    found = module.patterns(frequency, regrouping, "s", ("q0", "q1"), few=1)
    [(before, after)] = made

    def allows(node: Node, values: tuple[int, int]) -> bool:
        return all(bool(allowed[values[j]]) for j, allowed in node.allowed.items())

    def picked(node: Node) -> set[int]:
        return {n for n, one in enumerate(records) if allows(node, (one["q0"], one["q1"]))}

    leaves = [node for node in before.walk() if node.depth and node.split is None]
    assert len(leaves) == sum(fate.before is not None for fate in found.fates)
    for leaf, fate in zip(leaves, found.fates, strict=False):
        value = int(leaf.histogram.argmax())
        allowed = {j: frozenset(np.flatnonzero(values).tolist()) for j, values in leaf.allowed.items()}
        told = [one for one in records if one["labels"]]
        sure = [one for one in told if all(one["labels"][j] <= a for j, a in allowed.items())]
        assert fate.certain is not None and fate.certain[0] == len(sure)
        if sure:
            assert fate.certain[1] == pytest.approx(sum(one["s"] == value for one in sure) / len(sure))
        assert fate.possible == sum(all(one["labels"][j] & a for j, a in allowed.items()) for one in told)
        common = {id(node): len(picked(leaf) & picked(node)) / len(picked(leaf) | picked(node))
                  for node in after.walk() if node.depth and node.histogram.argmax() == value}
        nearest = max(common.values(), default=0.0)
        assert fate.state == ("lost" if nearest <= 0.5 else "survives" if nearest == 1 else "moved")
        assert fate.common == (None if nearest <= 0.5 else pytest.approx(nearest))
        if fate.after is not None and fate.truth is not None:
            same = [node for node in after.walk() if common.get(id(node)) == nearest]
            assert any(fate.truth == (len(picked(node)), pytest.approx(
                sum(records[n]["s"] == value for n in picked(node)) / len(picked(node)))) for node in same)


# Adult

@pytest.fixture(scope="module")
def adult(shared: Path) -> FrequencySet:
    """The complete records of the whole table: gains, age, education, salary."""
    with open(shared / "data" / "adult" / "adult.data", newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    rows = [row for row in rows if "?" not in row]
    columns = {"capital-gain": 10, "age": 0, "education-num": 4}
    hierarchies, codes = [], []
    for name, at in columns.items():
        values = sorted({row[at] for row in rows}, key=int)
        bound = 6001 if name == "capital-gain" else 28
        groups = [f">={bound}" if int(value) >= bound else f"<{bound}" for value in values]
        hierarchies.append(Hierarchy(name, tuple(zip(values, groups, ["*"] * len(values), strict=True))))
        codes.append([values.index(row[at]) for row in rows])
    labels = ("<=50K", ">50K")
    tuples, tuple_of, counts = np.unique(np.array(codes, np.int32).T, axis=0, return_inverse=True,
                                         return_counts=True)
    salary = np.array([labels.index(row[14]) for row in rows])
    found, cells = np.unique(tuple_of.ravel() * 2 + salary, return_counts=True)
    histogram = Histogram(found // 2, found % 2, cells.astype(np.int64), labels, np.bincount(salary))
    return FrequencySet(tuple(hierarchies), tuples, counts.astype(np.int64), {"salary": histogram})


def full_domain(frequency: FrequencySet, levels: tuple[int, ...]) -> Regrouping:
    """Every tuple in the class of its labels at these levels."""
    nodes = np.stack([h.nodes[level][frequency.codes[:, j]] for j, (h, level)
                      in enumerate(zip(frequency.hierarchies, levels, strict=True))], axis=1)
    distinct, class_of = np.unique(nodes, axis=0, return_inverse=True)
    return Regrouping(class_of.ravel(), np.tile(np.array(levels, np.int32), (len(distinct), 1)),
                      distinct.astype(np.int32))


def rule(found: Patterns, *conditions: str) -> Any:
    """The private rule with these conditions."""
    return next(fate for fate in found.fates if fate.before and fate.before.conditions == conditions)


@pytest.mark.needs_shared
def test_figure_6_and_7(adult: FrequencySet, shared: Path) -> None:
    """The tree of the private table, and that grouping capital gains at 6001 keeps its first rule."""
    entries = json.loads((shared / "golden" / "001_morton.json").read_text())["entries"]
    golden = {one["id"]: one for one in entries}
    found = module.patterns(adult, full_domain(adult, (1, 0, 0)), "salary", few=5)
    root, first, second = found.before[:3]
    assert (root.records, first.test, second.test) == (30162, "capital-gain ≥ 7298", "capital-gain < 7298")
    gains = rule(found, "capital-gain ≥ 7298")
    expected = golden["cart/bucket1"]["recomputed"]
    assert (gains.before.records, gains.before.value) == (expected["n"], ">50K") == (1330, ">50K")
    assert gains.before.share == pytest.approx(expected["share"], abs=1e-5)
    assert f"{gains.before.share:.2%}" == "98.65%"
    young = rule(found, "capital-gain < 7298", "age < 28")
    expected = golden["cart/bucket2"]["recomputed"]
    assert (young.before.records, young.before.value) == (expected["n"], "<=50K") == (7162, "<=50K")
    assert young.before.share == pytest.approx(expected["share"], abs=1e-5)
    assert f"{young.before.share:.2%}" == "97.07%"
    education = {step.test: step.records for step in found.before}
    assert (education["education-num < 13"], education["education-num ≥ 13"]) == (15979, 5691)
    expected = golden["cart/global-k5"]["recomputed"]
    assert (gains.state, gains.after.conditions) == ("moved", ("capital-gain ≥ 6001",))
    assert gains.after.records == expected["raw_n"] == gains.truth[0] == 1387
    assert gains.after.share == pytest.approx(expected["raw_share"], abs=1e-5) == gains.truth[1]
    assert gains.common == pytest.approx(1330 / 1387)
    assert gains.certain == (0, None) or gains.certain[0] <= 1387
    assert gains.possible == 1387


@pytest.mark.needs_shared
def test_nothing_generalized_every_rule_survives(adult: FrequencySet) -> None:
    found = module.patterns(adult, full_domain(adult, (0, 0, 0)), "salary", few=5)
    assert {fate.state for fate in found.fates} == {"survives"} and len(found.fates) == 6
    assert all(fate.before == fate.after for fate in found.fates)
    assert module.lost(found).value == 0.0
    everything = module.patterns(adult, full_domain(adult, (2, 2, 2)), "salary", few=5)
    assert {fate.state for fate in everything.fates} == {"lost"} and len(everything.after) == 1
    assert module.lost(everything).value == 1.0


@pytest.mark.needs_shared
def test_rules_whose_records_are_suppressed_are_lost(adult: FrequencySet) -> None:
    whole = full_domain(adult, (0, 0, 0))
    rich = adult.hierarchies[0].nodes[1][adult.codes[:, 0]] == 1
    without = replace(whole, class_of=np.where(rich, SUPPRESSED, whole.class_of))
    found = module.patterns(adult, without, "salary", few=5)
    gains = rule(found, "capital-gain ≥ 7298")
    assert (gains.state, gains.certain, gains.possible) == ("lost", (0, None), 0)
    assert rule(found, "capital-gain < 7298", "age < 28").state == "moved"  # whom it picks out has changed
    empty = replace(whole, class_of=np.full_like(whole.class_of, SUPPRESSED))
    nobody = module.patterns(adult, empty, "salary", few=5)
    assert nobody.after[0].records == 0 and {fate.state for fate in nobody.fates} == {"lost"}


def test_targets_of_few_private_records_are_not_shown() -> None:
    assert module.hidden(np.array([100, 4, 5, 0]), 5).tolist() == [104, 0, 5, 0]
    assert module.hidden(np.array([3, 1]), 5).tolist() == [4, 0]


# From the recipe to the report

COLUMNS = {"age": {"role": "quasi", "hierarchy": {"interval": [5, 20]}}, "job": {"role": "quasi"},
           "town": {"role": "plain"}, "income": {"role": "sensitive"}}


def people(n: int = 600) -> dict[str, list[Any]]:
    rng = random.Random(5)
    ages = [rng.randrange(20, 70) for _ in range(n)]
    work = [rng.choice(["cook", "clerk", "guard"]) for _ in range(n)]
    return {"age": ages, "job": work, "town": [rng.choice("xy") for _ in range(n)],
            "income": ["high" if (a >= 44) != (rng.random() < 0.1) else "low" for a in ages]}


def frame() -> Any:
    import pyarrow as pa

    return pa.table(people())


def asked(**changes: Any) -> dict[str, Any]:
    return {"columns": {**COLUMNS, "job": {"role": "quasi", "hierarchy": "suppress"}},
            "criteria": [{"k-anonymity": {"k": 5}}], "seed": 1, "suppression": 0.05, **changes}


@pytest.mark.parametrize("method", [
    {"name": "optimal"}, {"name": "rho-gain"}, {"name": "mondrian"},
    {"name": "mondrian", "relaxed": True, "numeric": "range", "categorical": "set"}])
def test_releases_of_classes(method: dict[str, Any]) -> None:
    result = sfumato.anonymize(frame(), asked(method=method, research={"target": "income"}))
    found = result.manifest["patterns"]
    kept = result.manifest["records"]["kept"]
    assert found["after"][0]["records"] == kept and found["predictors"] == ("age", "job")
    old = next(fate for fate in found["fates"] if fate["before"]["value"] == "high")
    assert old["state"] != "lost" and old["before"]["conditions"] == ("age ≥ 44",)
    assert result.manifest["measures"]["patterns_lost"] == 0.0
    page = result.report
    assert "Does the pattern survive?" in page and "age ≥ 44" in page and "income" in page


def test_sliced_releases_are_read_as_they_stand() -> None:
    said = asked(method={"name": "bucketization", "l": 2}, research={"target": "income"})
    del said["criteria"], said["suppression"]
    table = frame()
    thirds = [("low", "mid", "high")[min(age // 10 - 2, 4) // 2] for age in table["age"].to_pylist()]
    result = sfumato.anonymize(table.set_column(3, "income", [thirds]), said)
    found = result.manifest["patterns"]
    assert found["rows"].startswith("rows as they stand in the file, which are nobody's")
    assert found["after"][0]["records"] == 600
    assert "which are nobody" in result.report


def test_drawn_releases_are_read_as_they_stand() -> None:
    said = asked(method={"name": "composition-style", "k": 4, "alpha": 0.6}, research={"target": "income"})
    del said["criteria"], said["suppression"]
    result = sfumato.anonymize(frame(), said)
    found = result.manifest["patterns"]
    assert found["rows"] == "rows as they stand in the file, drawn from counts and nobody's"
    assert 0 < found["after"][0]["records"] == len(result.release) < 600
    high = result.release["income"].to_pylist().count("high") / len(result.release)
    assert found["after"][0]["shares"][found["values"].index("high")] == pytest.approx(high)
    assert any(fate["before"] and fate["before"]["value"] == "high" for fate in found["fates"])


def test_a_few_suppressed_records_are_left_out_on_both_sides() -> None:
    hierarchy = Hierarchy("q", tuple((str(value), "*") for value in range(100)))
    codes = np.arange(100, dtype=np.int32)[:, None]
    labels = np.repeat(np.arange(100), 2)
    each = np.array([1 + 8 * (n % 2 == n // 100) for n in range(200)])
    histogram = Histogram(labels, np.tile([0, 1], 100), each, ("no", "yes"), np.array([500, 500]))
    counts = np.bincount(labels, histogram.counts).astype(np.int64)
    frequency = FrequencySet((hierarchy,), codes, counts, {"s": histogram})
    whole = Regrouping(np.arange(100), np.zeros((100, 1), np.int32), codes)
    for gone, seen in ((1, 990), (2, 1000)):  # a tuple has ten records; fewer than twelve are too few to show
        class_of = np.where(np.arange(100) < gone, SUPPRESSED, np.arange(100))
        found = module.patterns(frequency, replace(whole, class_of=class_of), "s", few=12)
        assert found.before[0].records == seen and found.after[0].records == 1000 - 10 * gone


def test_text_from_users_is_only_text() -> None:
    table = frame().rename_columns(["a<b>|", "job", "town", "<script>x</script>"])
    said = {"columns": {"a<b>|": COLUMNS["age"], "<script>x</script>": COLUMNS["income"]},
            "criteria": [{"k-anonymity": {"k": 5}}], "seed": 1, "research": {"target": "<script>x</script>"}}
    result = sfumato.anonymize(table, said)
    assert "<script" not in result.report and "a<b>" not in result.report
    assert "a&lt;b&gt;| ≥ 44" in result.report
    text = render.markdown(result.summary or {}).split("### Does the pattern survive?")[1].split("## ")[0]
    assert "<script" not in text and "script>x" in text
    rows = [line for line in text.splitlines() if line.startswith("|") and "≥ 44" in line]
    assert rows and all(line.count("|") - line.count("\\|") in (5, 6) for line in rows)


def test_without_a_target_nothing_is_said() -> None:
    result = sfumato.anonymize(frame(), asked())
    assert "patterns" not in result.manifest and "patterns_lost" not in result.manifest["measures"]
    assert "Does the pattern survive" not in result.report


@pytest.mark.parametrize("research, where, part", [
    ({"target": "town"}, "research.target", "'town' is neither"),
    ({"target": "income", "predictors": ["age", "nobody"]}, "research.predictors.1", "'nobody' is neither"),
    ({"predictors": ["age"]}, "research", "none is named"),
    ({"target": "age", "predictors": ["age"]}, "research.predictors", "cannot explain itself"),
    ({"targets": "age"}, "research.targets", "Did you mean 'target'?"),
])
def test_faults(research: dict[str, Any], where: str, part: str) -> None:
    with pytest.raises(RecipeError) as caught:
        Recipe.from_dict(asked(research=research))
    [fault] = caught.value.faults
    assert fault.where == where and part in fault.what


def test_round_trip() -> None:
    recipe = Recipe.from_dict(asked(research={"target": "income", "predictors": ["age"]}))
    assert Recipe.parse(recipe.to_yaml()) == recipe and recipe.research.predictors == ("age",)
    assert Recipe.parse("columns: {1: {role: quasi, hierarchy: suppress}, s: {role: sensitive}}\n"
                        "criteria: [{k-anonymity: {k: 2}}]\nresearch: {target: s, predictors: [1]}\n"
                        ).research.predictors == ("1",)


def test_a_release_measured_later(tmp_path: Path) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(frame(), tmp_path / "table.csv")
    made = sfumato.anonymize(tmp_path / "table.csv", asked(research={"target": "income"}),
                             out=tmp_path / "out").manifest["patterns"]
    again = sfumato.measure(tmp_path / "out", original=tmp_path / "table.csv")
    assert again.patterns is not None and len(again.patterns.fates) == len(made["fates"])
    asked_now = sfumato.measure(tmp_path / "out", original=tmp_path / "table.csv",
                                research={"target": "job", "predictors": ["age", "income"]})
    assert asked_now.patterns is not None and asked_now.patterns.target == "job"
    with pytest.raises(RequestError, match="no table is named"):
        sfumato.measure(tmp_path / "out", research={"target": "job"})
