"""Hierarchies built from a column's values: every form of the recipe."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import HierarchyError
from sfumato.hierarchy.check import check
from sfumato.hierarchy.core import Hierarchy, Label
from sfumato.hierarchy.numeric import interval
from sfumato.hierarchy.spec import FORMS, build, faults

numbers = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.decimals(-1000, 1000, places=2).map(str),
    st.floats(-1e200, 1e200).map(repr),
)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
iso = st.dates(date(1, 1, 1), date(9999, 12, 31)).map(date.isoformat)
width = st.sampled_from([1, 5, 0.1, 0.25, 7])

SPECS: list[tuple[st.SearchStrategy[str], st.SearchStrategy[Any]]] = [
    (words, st.just("suppress")),
    (words, st.none()),
    (words, st.builds(lambda n: {"prefix": n}, st.integers(1, 8))),
    (words, st.builds(lambda n: {"suffix": n}, st.integers(1, 8))),
    (words, st.builds(lambda n: {"frequency": n}, st.integers(1, 5))),
    (
        numbers,
        st.builds(
            lambda w, a, b: {"interval": [w, w * a, w * a * b]},
            st.sampled_from([1, 5, 7]),
            st.integers(2, 5),
            st.integers(2, 5),
        ),
    ),
    (st.integers(-(10**6), 10**6).map(str), st.builds(lambda w: {"interval": w}, width)),
    (numbers, st.builds(lambda n: {"quantiles": n}, st.integers(2, 20))),
    (
        numbers,
        st.builds(
            lambda b: {"bounds": [sorted(b), sorted(b)[::2]]},
            st.sets(st.integers(-100, 100), min_size=2, max_size=9),
        ),
    ),
    (numbers, st.builds(lambda w, s: {"growing": w, "start": s}, width, st.integers(-50, 50))),
    (
        iso,
        st.sampled_from(
            [
                {"dates": ["day", "month", "quarter", "year", "decade"]},
                {"dates": "year"},
                {"dates": ["month", "decade"]},
            ]
        ),
    ),
]
cases = st.one_of(
    [
        st.tuples(st.lists(st.one_of(st.none(), value), min_size=1, max_size=30, unique=True), spec)
        for value, spec in SPECS
    ]
)


def made(spec: Any, *values: Label, counts: list[int] | None = None) -> Hierarchy:
    return build("x", spec, values, counts or [1] * len(values), Path())


def path(hierarchy: Hierarchy, value: Label) -> tuple[Label, ...]:
    return hierarchy.paths[hierarchy.code_of[value]]


def nested(hierarchy: Hierarchy) -> bool:
    """Plain loops: two values that share a label share every label above it."""
    return all(
        one[above] == two[above]
        for one in hierarchy.paths
        for two in hierarchy.paths
        for level in range(1, hierarchy.n_levels)
        if one[level] == two[level]
        for above in range(level, hierarchy.n_levels)
    )


@settings(max_examples=150, deadline=None)
@given(cases, st.data())
def test_every_built_hierarchy_is_total_nested_and_has_one_root(case: Any, data: st.DataObject) -> None:
    values, spec = case
    counts = data.draw(st.lists(st.integers(1, 50), min_size=len(values), max_size=len(values)))
    hierarchy = build("x", spec, values, counts, Path())
    check(hierarchy, values)
    assert set(hierarchy.values) == set(values) and hierarchy.n_values == len(values)
    assert {way[-1] for way in hierarchy.paths} == {"*"}
    assert nested(hierarchy)
    assert all((label is None) == (way[0] is None) for way in hierarchy.paths for label in way[:-1])
    order = data.draw(st.permutations(range(len(values))))
    assert hierarchy == build("x", spec, [values[i] for i in order], [counts[i] for i in order], Path())


@settings(max_examples=100, deadline=None)
@given(
    st.lists(numbers, min_size=1, max_size=20, unique=True),
    st.sampled_from(
        [{"interval": [0.1, 0.3, 60]}, {"quantiles": 5}, {"growing": 3}, {"bounds": [-5, 0.3, 18]}]
    ),
)
def test_every_interval_holds_its_numbers(values: list[str], spec: Any) -> None:
    for value, *labels, _ in build("x", spec, values, [1] * len(values), Path()).paths:
        for label in labels:
            ends = interval(str(label))
            assert ends is not None
            assert ends[0] <= float(str(value)) <= ends[1]  # the same number may be an end's nearest double
            if 1e-6 < abs(float(str(value))) < 1e6:
                assert float(str(value)) < ends[1]


def test_intervals_start_at_multiples_and_stay_exact() -> None:
    hierarchy = made({"interval": [5, 10, 20]}, "39", "39.0", "1e1", " 7", "-3", "20")
    assert path(hierarchy, "39") == ("39", "[35..40)", "[30..40)", "[20..40)", "*")
    assert path(hierarchy, "39.0")[1:] == path(hierarchy, "39")[1:]
    assert path(hierarchy, "1e1")[1:3] == ("[10..15)", "[10..20)")
    assert path(hierarchy, " 7")[1] == "[5..10)"
    assert path(hierarchy, "-3")[1] == "[-5..0)"
    assert path(hierarchy, "20")[1] == "[20..25)"
    assert path(made({"interval": [0.1]}, "0.3"), "0.3")[1] == "[0.3..0.4)"
    assert made({"interval": 5}, "0", "39").labels[-2] == ("[0..20)", "[20..40)")


@pytest.mark.parametrize(
    ("label", "ends"),
    [
        ("[20..25)", (20, 25)),
        ("[-1.5..-0.25)", (-1.5, -0.25)),
        ("<18", (float("-inf"), 18)),
        (">=65", (65, float("inf"))),
        ("20", None),
        ("[a..b)", None),
        ("*", None),
    ],
)
def test_interval_labels_are_read_back(label: str, ends: Any) -> None:
    assert interval(label) == ends


def test_quantiles_weigh_records_and_halve() -> None:
    hierarchy = made({"quantiles": 4}, *"12345678")
    assert [len(level) for level in hierarchy.labels] == [8, 4, 2, 1]
    assert path(hierarchy, "3") == ("3", "[3..5)", "<5", "*")
    heavy = made({"quantiles": 2}, "1", "2", "3", "4", counts=[1, 1, 1, 97])
    assert heavy.n_levels == 2 or path(heavy, "1")[1] == path(heavy, "3")[1]


def test_bounds_and_growing_widths() -> None:
    hierarchy = made({"bounds": [[18, 30, 65], [18, 65]]}, "17", "18", "40", "65")
    assert [way[1:3] for way in hierarchy.paths] == [
        ("<18", "<18"),
        ("[18..30)", "[18..65)"),
        ("[30..65)", "[18..65)"),
        (">=65", ">=65"),
    ]
    assert made({"growing": 10}, "5", "25", "60", "80").labels[1] == (
        "[0..10)",
        "[10..30)",
        "[30..70)",
        ">=70",
    )


def test_masks_pad_to_the_longest_value() -> None:
    hierarchy = made({"prefix": 5}, "81667", "816", None)
    assert path(hierarchy, "81667") == ("81667", "8166*", "816**", "81***", "8****", "*")
    assert path(hierarchy, "816") == ("816", "816**", "816**", "81***", "8****", "*")
    assert path(hierarchy, None) == (None, None, None, None, None, "*")
    assert made({"prefix": 2}, "81667").n_levels == 4
    assert path(made({"suffix": 2}, "81667", "7"), "7") == ("7", "****7", "****7", "*")


def test_dates_in_all_steps_and_in_a_form_of_their_own() -> None:
    every = {"dates": ["day", "month", "quarter", "year", "decade"]}
    assert path(made(every, "1999-12-01 12:30:00"), "1999-12-01 12:30:00")[1:] == (
        "1999-12-01",
        "1999-12",
        "1999-Q4",
        "1999",
        "1990s",
        "*",
    )
    assert path(made({"dates": "year", "format": "%d.%m.%Y"}, "31.01.2020"), "31.01.2020")[1] == "2020"
    assert path(made({"dates": "decade"}, "1987"), "1987")[1] == "1980s"
    for wrong in ("1987", "2021-02-30", "yesterday"):
        with pytest.raises(HierarchyError, match="1 value that cannot be read as dates"):
            made({"dates": "month"}, wrong, "2020-01-01")


def test_rare_values_fold_together_and_ties_are_not_broken() -> None:
    hierarchy = made({"frequency": 3}, "big", "mid", "rare", "odd", "other", counts=[50, 30, 5, 5, 10])
    assert path(hierarchy, "rare")[1:] == ("(other)", "(other)", "(other)", "*")
    assert path(hierarchy, "odd")[1] == "(other)"
    assert path(hierarchy, "mid")[1:4] == ("mid", "(other)", "(other)")
    assert path(hierarchy, "big")[1:4] == ("big", "big", "big")
    assert made({"frequency": 2}, "a", "b").labels[1] == ("a", "b")


def test_what_is_no_number_is_counted_and_shown() -> None:
    with pytest.raises(
        HierarchyError, match=r"Column 'x' has 5 values .*'1_0', '1e999999999', 'NaN' and 2 more"
    ):
        made({"interval": 5}, "a", "NaN", "inf", "1_0", "1e999999999", "3", None)


@pytest.mark.parametrize(
    "spec",
    [
        "suppress",
        {"interval": 5},
        {"prefix": 3},
        {"dates": "year"},
        {"frequency": 2},
        {"quantiles": 3},
        {"bounds": [1]},
        {"growing": 1},
    ],
)
def test_a_column_of_missing_values_only(spec: Any) -> None:
    assert {way[0] for way in made(spec, None).paths} == {None}
    with pytest.raises(HierarchyError, match="no values"):
        made(spec)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("supress", "did you mean suppress"),
        ("interval", r"did you mean \{interval: \[5, 10, 20\]\}"),
        ("", "is no file"),
        ({"intervall": 5}, "did you mean interval.*known are .*frequency"),
        ({}, "empty mapping"),
        (3, "neither a file"),
        ({"interval": 5, "dates": "year"}, "exclude each other"),
        ({"interval": [5, 12]}, "12 is not a multiple of 5"),
        ({"interval": [5, 5]}, "not a multiple"),
        ({"interval": -1}, "not above zero"),
        ({"interval": True}, "finite"),
        ({"interval": []}, "no width"),
        ({"interval": float("nan")}, "finite"),
        ({"bounds": [3, 2]}, "ascending"),
        ({"bounds": [[1, 2], [3]]}, "3 is no bound"),
        ({"bounds": [1, [2]]}, "mixed"),
        ({"bounds": []}, "not a list"),
        ({"dates": ["year", "month"]}, "fine to coarse"),
        ({"dates": "week"}, "'week' is not one of day"),
        ({"dates": []}, "not a list of date levels"),
        ({"prefix": 0}, "whole number"),
        ({"suffix": True}, "whole number"),
        ({"growing": 3, "factor": 1}, "not above 1"),
        ({"growing": 3, "by": 2}, "'by' is unknown"),
        ({"tree": {"a": {"b": "c"}}}, "'c' must stand in a list"),
        ({"tree": {"a": [False]}}, "truth value"),
        ({"tree": {}}, "neither a file nor a tree"),
        ({"csv": 3}, "not a text"),
        ({"quantiles": 1}, "whole number"),
    ],
)
def test_faults_of_form_are_told_without_a_table(spec: Any, said: str) -> None:
    assert faults(spec)
    with pytest.raises(HierarchyError, match=said):
        made(spec, "1")


def test_all_faults_of_one_specification_come_together() -> None:
    assert len(faults({"growing": -3, "factor": 0, "by": 2})) == 3


def test_every_forms_example_is_well_formed() -> None:
    import yaml

    for form in FORMS.values():
        assert faults(yaml.safe_load(form.example)) == []


def test_too_many_levels_or_intervals_are_refused() -> None:
    with pytest.raises(HierarchyError, match="more than 50 levels"):
        made({"interval": 1}, "0", "1e100")
    with pytest.raises(HierarchyError, match="more than 10,000 intervals"):
        made({"growing": 1, "factor": 1.0001}, "0", "1e9")


def test_an_inline_tree() -> None:
    hierarchy = made({"tree": {"few": [1, 2], "many": {"tens": [10]}}}, "1", "10", None)
    assert hierarchy.paths == (
        ("1", "1", "few", "*"),
        ("2", "2", "few", "*"),
        ("10", "tens", "many", "*"),
        (None, None, None, "*"),
    )
    with pytest.raises(HierarchyError, match="lacks 1 value of column 'x': '3'"):
        made({"tree": {"few": [1, 2]}}, "3")


def test_quarters_hold_three_months_each() -> None:
    months = [f"2020-{month:02}" for month in range(1, 13)]
    quarters = [way[1] for way in made({"dates": "quarter"}, *months).paths]
    assert quarters == [f"2020-Q{quarter}" for quarter in (1, 2, 3, 4) for _ in range(3)]
