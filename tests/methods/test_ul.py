"""UL protection: what is swapped, what is generalized, and what never happens."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_slices import table

from sfumato.errors import RecipeError, RequestError
from sfumato.hierarchy.core import Hierarchy
from sfumato.measure.sliced import distortion
from sfumato.methods.base import Problem
from sfumato.methods.ul import UpperLower
from sfumato.recipe import Recipe
from sfumato.slices import cells, kernels
from sfumato.slices.base import Labels
from sfumato.slices.cells import Pair, generalized, rank_groups

WORK = [("Federal-gov", "Government", "*"), ("Local-gov", "Government", "*"),
        ("State-gov", "Government", "*"),
        ("Self-emp-inc", "Self-employed", "*"), ("Self-emp-not-inc", "Self-employed", "*"),
        ("Private", "Private", "*"), ("Never", "None", "*"), ("Without", "None", "*")]
TREE = {"marital": [("Civ", "Married", "*"), ("AF", "Married", "*"), ("Never", "Alone", "*"),
                    ("Divorced", "Alone", "*")],
        "relation": [("Husband", "Spouse", "*"), ("Wife", "Spouse", "*"), ("Own-child", "Child", "*"),
                     ("Other", "Else", "*")],
        "sex": [("F", "*"), ("M", "*")], "age": [(str(n), "*") for n in range(20, 60)]}
NAMES = ("age", "sex", "marital", "relation", "disease")
RULES = ({"relation": "Husband", "sex": "F"}, {"marital": "Never", "relation": "Wife"})
Row = tuple[str, ...]


def people(seed: int, n: int) -> list[Row]:
    rng = random.Random(seed)
    made = []
    for _ in range(n):
        sex = rng.choice("FM")
        spouse = rng.random() < 0.4
        marital = rng.choice(["Civ"] * 30 + ["AF"]) if spouse else rng.choice(["Never", "Divorced", "AF"])
        relation = ({"F": "Wife", "M": "Husband"}[sex] if spouse else rng.choice(["Own-child", "Other"]))
        made.append((str(rng.randrange(20, 60)), sex, marital, relation, rng.choice("abcdef")))
    return made


def solved(rows: list[Row], seed: int = 0, **said: Any) -> Any:
    frequency = table(rows, NAMES, TREE)
    method = UpperLower.model_validate({"k": 3, "l": 2, "lower": 0.1, "upper": 0.9, "rules": RULES, "groups":
                                        (("age", "sex"), ("marital", "relation"), ("disease",)), **said})
    return frequency, method.solve(Problem(frequency, (), 0.0, np.ones(4)), np.random.default_rng(seed))


def texts(frequency: Any, slices: Any, codes: Any) -> list[Row]:
    names = [Labels(h).names for h in frequency.hierarchies] + [slices.rows(frequency).labels]
    return [tuple(names[j][code] for j, code in enumerate(row)) for row in codes]


def original(frequency: Any, slices: Any) -> list[Row]:
    rows = slices.rows(frequency)
    codes = np.column_stack([frequency.codes[rows.classes[slices.source]], rows.values[slices.source]])
    return texts(frequency, slices, codes)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(30, 400))
def test_what_is_released_of_every_bucket(seed: int, n: int) -> None:
    """Values of a column stay in their bucket; new pairs occur in the table and break no rule."""
    rows = people(seed, n)
    frequency, slices = solved(rows, seed, protect=(("marital", "relation"),))  # not always the strongest
    seen = {row[2:4] for row in rows}
    before, hidden = original(frequency, slices), texts(frequency, slices, slices.values)
    shown = texts(frequency, slices, slices.codes)
    held = defaultdict(lambda: ([], [], []))  # type: ignore[var-annotated]
    for bucket, *three in zip(slices.bucket_of.tolist(), before, hidden, shown, strict=True):
        for side, row in zip(held[bucket], three, strict=True):
            side.append(row)
    changed = 0
    for was, values, labels in held.values():
        for j in range(5):
            assert Counter(row[j] for row in was) == Counter(row[j] for row in values)
        for group in ((0, 1), (4,)):
            assert all(Counter(tuple(row[j] for j in group) for row in was)
                       == Counter(tuple(row[j] for j in group) for row in side) for side in (values, labels))
        ours, theirs = (Counter(row[2:4] for row in side) for side in (values, was))
        assert set(ours) <= seen
        changed += (ours - theirs).total()
        for row, label in zip(values, labels, strict=True):
            if row[2:4] == label[2:4]:
                continue
            for j in (2, 3):
                assert label[j] in next(path for path in TREE[NAMES[j]] if path[0] == row[j])[1:]
            under = sum(all(label[j] in next(p for p in TREE[NAMES[j]] if p[0] == other[j]) for j in (2, 3))
                        for other in values)
            assert under >= min(3, len(values))
    told = slices.notes["facts"]["cells"]
    assert changed <= 2 * told["swapped"] + told["partners"]
    assert told["records"] == told["swapped"] + told["generalized"]
    counts = Counter(row[2:4] for row in rows)
    beside = Counter(row[3] for row in rows)
    r = {cell: counts[cell] / beside[cell[1]] for cell in counts}
    picked = {cell for cell in r if r[cell] <= 0.1 or 0.9 <= r[cell] < 1}
    assert told["selected"] == len(picked) and told["records"] == sum(counts[cell] for cell in picked)
    coarser = sum(row[2:4] != label[2:4] for row, label in zip(hidden, shown, strict=True))
    assert coarser == told["generalized"]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["forbid", "allow"]))
def test_no_record_is_given_a_nonsensical_combination(seed: int, unseen: str) -> None:
    """Record by record, before anything is permuted: rules within a pair and beyond it."""
    rows = people(seed, 300)
    frequency = table(rows, NAMES, TREE)
    method = UpperLower.model_validate({"k": 3, "l": 1, "lower": 0.3, "upper": 0.7, "rules": RULES,
                                        "unseen": unseen})
    histogram = frequency.sensitive["disease"]
    source = np.repeat(np.arange(len(histogram.counts)), histogram.counts)
    values = np.column_stack([frequency.codes[histogram.classes], histogram.values])[source]
    before = values.copy()
    bucket_of = np.arange(len(values)) // 30
    pair = Pair.of(frequency, 2, 3)
    told = method.protect_cells(frequency, "disease", pair, bucket_of, values, values.copy(),
                                np.random.default_rng(seed))
    assert (told["swapped"] > 0) == bool((values != before).any())
    slices = solved(rows)[1]
    for old, new in zip(*(texts(frequency, slices, v) for v in (before, values)), strict=True):
        for rule in RULES:
            wanted = {NAMES.index(name): value for name, value in rule.items()}
            breaks = [all(row[j] == value for j, value in wanted.items()) for row in (old, new)]
            assert breaks != [False, True]
        if old != new:
            assert (old[2] == new[2]) != (old[3] == new[3]), "one value of a pair changes, or none"
            for j in (2, 3):
                same = [next(path for path in TREE[NAMES[j]] if path[0] == row[j])[1] for row in (old, new)]
                assert same[0] == same[1], "another rank group"
    if unseen == "forbid":
        assert {row[2:4] for row in texts(frequency, slices, values)} <= {row[2:4] for row in rows}


def test_rules_that_forbid_everything_leave_generalization() -> None:
    rows = people(1, 300)
    everything = tuple({"marital": m, "relation": r} for m in ("Civ", "AF", "Never", "Divorced")
                       for r in ("Husband", "Wife", "Own-child", "Other"))
    _, slices = solved(rows, rules=everything)
    told = slices.notes["facts"]["cells"]
    assert told["swapped"] == told["partners"] == 0 and told["generalized"] == told["records"] > 0
    assert slices.notes["facts"]["rules_broken"] == [sum(row[2:4] == tuple(rule.values()) for row in rows)
                                                     for rule in everything]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_the_twins_swap_alike(seed: int, numeric: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 80))
    own, beside = rng.integers(0, 6, n), rng.integers(0, 3, n)
    starts = np.unique([0, *rng.integers(0, n, 3), n])
    labels = [str(v) for v in range(6)] if numeric else list("abcdef")
    group, rank, is_numeric = rank_groups(Hierarchy("x", tuple((v, v < "d", "*") for v in labels)))  # type: ignore[misc]
    assert is_numeric == numeric
    chosen, allowed = rng.random(n) < 0.5, rng.random((6, 3)) < 0.8
    rules = (np.array([1, 4]), rng.random((2, n)) < 0.3)
    draws, found = rng.random(n), []
    for swap in (cells._swap, kernels.swap):
        values, state = own.copy(), np.zeros(n, dtype=bool)
        swap(values, beside, chosen, state, starts, group, rank, 2 if numeric else -1, allowed, *rules, draws)
        found.append((values.tolist(), state.tolist()))
        for low, high in pairwise(starts):
            assert sorted(values[low:high]) == sorted(own[low:high])
    assert found[0] == found[1]


def test_a_cell_rises_until_enough_records_lie_under_it() -> None:
    hierarchies = (Hierarchy("w", tuple(WORK)), Hierarchy("x", (("a", "*"), ("b", "*"))))
    first, second = np.array([0, 1, 2, 3, 3, 5]), np.array([0, 0, 0, 0, 1, 1])
    pending = np.array([True, False, False, True, False, False])
    one, two = generalized(hierarchies, first, second, pending, np.zeros(6, int), 3)
    names = [Labels(h).names for h in hierarchies]
    assert [names[0][c] for c in one] == ["Government", "Local-gov", "State-gov", "*", "Self-emp-inc",
                                          "Private"]
    assert [names[1][c] for c in two] == ["*", "a", "a", "*", "b", "b"]


@pytest.mark.parametrize(("labels", "expected"), [
    (["Federal-gov", "Local-gov"], 0), (["Government", "Government"], 0.375),
    (["Self-employed", "Self-employed"], 0.25), (["*", "*"], 1.0)])
def test_distortion_by_the_lowest_common_ancestor(labels: list[str], expected: float) -> None:
    """Eq 2.3 on the hierarchy of Figure 3.9, which has eight leaves; the sensitive column counts nothing."""
    from tests.methods.test_slices import sliced

    rows = [(path[0], "s") for path in WORK]
    frequency = table(rows, ("work", "S"), {"work": WORK})
    slices = sliced(frequency, (("work",), ("S",)), [[(label, "s") for label in labels]], 1)
    assert distortion(frequency, slices).value == pytest.approx(expected / 2)


@pytest.mark.parametrize(("said", "what"), [
    ({"lower": 0}, "greater than 0"), ({"lower": 0.5}, "less than 0.5"), ({"upper": 0.5}, "greater than 0.5"),
    ({"upper": 1}, "less than 1"), ({"lower": True}, "It should be a number"), ({"reach": 2}, "reach"),
    ({"rules": [{"sex": "F"}]}, "one has fewer than two columns"),
    ({"rules": [{"sex": "F", "x": "y"}]}, "one has 'x'"),
    ({"protect": [["age", "ill"]]}, "A protected pair is two quasi-identifiers"),
    ({"protect": [["age", "sex"], ["sex", "age"]]}, "'age' is in two protected pairs"),
    ({"groups": [["age"], ["sex"]]}, "every quasi-identifier and the sensitive column once"),
    ({"groups": [["age", "sex", "ill"]]}, "breaks no link"), ({"groups": "some"}, "'pam' or 'pairs'"),
    ({"columns": 9}, "cannot make 9 groups")])
def test_faults_of_the_recipe(said: dict[str, Any], what: str) -> None:
    columns = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    with pytest.raises(RecipeError, match=what):
        Recipe.from_dict({"columns": columns, "method": {"name": "ul", "k": 3, "l": 2, **said}})


@pytest.mark.parametrize("columns", [{"age": {"role": "quasi"}}, {"ill": {"role": "sensitive"}}])
def test_one_column_only(columns: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match=r"No column is a quasi-identifier|exactly one column the role"):
        Recipe.from_dict({"columns": columns, "method": {"name": "ul", "k": 3, "l": 2}})


def test_a_rule_about_a_value_that_does_not_exist_is_refused() -> None:
    with pytest.raises(RequestError, match="Rule 2 speaks of a value that the column 'relation' does not "
                                           "have"):
        solved(people(1, 60), rules=[RULES[0], {"sex": "F", "relation": "Husbnd"}])
    with pytest.raises(RequestError) as caught:
        solved(people(1, 60), rules=[{"sex": "F", "disease": "secret"}])
    assert "secret" not in str(caught.value)
