"""The method xk against plain loops: what is kept, what is added, and what Brown's formulas promise of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.xk_oracle import Answer, process

from sfumato.classes import Histogram
from sfumato.costs.precision import measured_loss, measured_precision
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.criteria.l_diversity import LDiversity
from sfumato.errors import InfeasibleError, RecipeError, RequestError
from sfumato.frequency import Cells, FrequencySet, distinct
from sfumato.hierarchy.core import Hierarchy
from sfumato.measure.utility.precision import changed
from sfumato.methods.base import Problem
from sfumato.methods.xk import Adaptable
from sfumato.recipe import Recipe
from sfumato.recoding import SUPPRESSED, Regrouping
from sfumato.recommend.xk import pairs_of, recommend

PATHS = ({1: (1, "1-2", "*"), 2: (2, "1-2", "*"), 3: (3, "3-4", "*"), 4: (4, "3-4", "*"),
          None: (None, None, "*")},
         {"a": ("a", "ab", "*"), "b": ("b", "ab", "*"), "c": ("c", "c", "*")},
         {"x": ("x", "*"), "y": ("y", "*")})
TECHNIQUES = list(product((False, True), repeat=3))  # generalization, cell suppression, sensitive suppression
COLUMNS = 7  # of the file


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[tuple[Any, ...]], dict[str, list[Any]]]:
    """Rows of three quasi-identifiers and two sensitive columns, mostly in small pairs."""
    n = draw(st.integers(1, 60))
    values = [tuple(draw(st.sampled_from(list(path))) for path in PATHS) for _ in range(n)]
    grades = {"g": [draw(st.sampled_from("AABCD")) for _ in range(n)],
              "h": [draw(st.integers(0, 2)) for _ in range(n)]}
    return values, grades


def frequency_of(values: list[tuple[Any, ...]], grades: dict[str, list[Any]]) -> FrequencySet:
    """The rows counted."""
    hierarchies = tuple(Hierarchy(f"q{j}", tuple(path.values())) for j, path in enumerate(PATHS))
    codes = np.array([[h.code_of[v] for h, v in zip(hierarchies, row, strict=True)] for row in values],
                     dtype=np.int32)
    tuple_of, first = distinct(codes, [h.n_values for h in hierarchies])
    counts = np.bincount(tuple_of).astype(np.int64)
    histograms, columns = {}, []
    for name, column in grades.items():
        labels = sorted(set(column))
        at = np.array([labels.index(value) for value in column])
        columns.append(at)
        keys, records = np.unique(tuple_of * len(labels) + at, return_counts=True)
        histograms[name] = Histogram(keys // len(labels), keys % len(labels), records.astype(np.int64),
                                     tuple(map(str, labels)), np.bincount(at).astype(np.int64))
    joint = Cells(tuple_of, np.stack(columns, axis=1), np.ones(len(values), np.int64))
    return FrequencySet(hierarchies, codes[first], counts, histograms, joint)


def solved(frequency: FrequencySet, method: Adaptable, k: int,
           diversity: dict[str, int]) -> Regrouping | None:
    """What the method answers; None where no pair is left."""
    criteria = (KAnonymity(k=k), *(LDiversity(column=c, l=d) for c, d in diversity.items()))
    try:
        return method.solve(Problem(frequency, criteria, 1.0, np.ones(3)), np.random.default_rng(0))
    except InfeasibleError:
        return None


def told(frequency: FrequencySet, found: Regrouping) -> Answer:
    """A recoding in the oracle's words."""
    texts = list(zip(*(found.labelling(frequency, j).texts for j in range(3)), strict=True))
    labels = [tuple(int(t) if t is not None and str(t).isdigit() else t for t in row) for row in texts]
    sizes = found.sizes(frequency).tolist()
    shown: dict[Any, Counter[Any]] = {}
    added: Counter[Any] = Counter()
    for n, (t, values, count) in enumerate(zip(*(getattr(frequency.cells, name) for name in (
            "tuple_of", "values", "counts")), strict=True)):
        if found.class_of[t] == SUPPRESSED:
            assert found.added is not None and found.added[n] == 0
            continue
        seen = tuple("*" if name in found.hidden and found.hidden[name][t] else h.labels[v]
                     for (name, h), v in zip(frequency.sensitive.items(), values, strict=True))
        shown.setdefault(labels[found.class_of[t]], Counter())[seen] += int(count)
        assert found.added is not None
        added[labels[found.class_of[t]]] += int(found.added[n])
    cells = changed(frequency, found)
    pairs = Counter(dict(zip(labels, sizes, strict=True)))
    return Answer(pairs, shown, {p: n for p, n in added.items() if n}, found.suppressed(frequency),
                  cells.generalized, cells.suppressed)


def as_told(answer: Answer) -> Answer:
    """The oracle's sensitive values as text, as histograms have them."""
    return replace(answer, shown={pair: Counter({tuple(map(str, one)): n for one, n in seen.items()})
                                  for pair, seen in answer.shown.items()})


def ways() -> Iterator[tuple[bool, tuple[int, ...]]]:
    yield False, (0, 1, 2)
    yield from ((True, order) for order in permutations(range(3)))


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(2, 6), st.data())
def test_plain_loops_give_the_same(table: Any, k: int, data: st.DataObject) -> None:
    """All eight combinations, one or several elected columns, together and gradually in every order."""
    values, grades = table
    frequency, xk = frequency_of(values, grades), data.draw(st.integers(1, k))
    diversity = data.draw(st.sampled_from([{}, {"g": 2}, {"g": 3, "h": 2}]))
    elected = data.draw(st.sampled_from([(0,), (1,), (0, 1), (0, 1, 2)]))
    for (generalizing, suppressing, cells_only), (gradually, order) in product(TECHNIQUES, ways()):
        levels = {j: 1 for j in elected} if generalizing else {}
        cells = elected if suppressing else ()
        method = Adaptable(xk=xk, generalize={f"q{j}": level for j, level in levels.items()},
                           suppress_cells=[f"q{j}" for j in cells], sensitive_suppression=cells_only,
                           introduce="gradually" if gradually else "together", order=[f"q{j}" for j in order])
        found = solved(frequency, method, k, diversity)
        expected = as_told(process(values, grades, PATHS, k, xk, diversity, levels, cells, cells_only,
                                   gradually, order))
        if found is None:
            assert expected.suppressed == len(values)
        else:
            assert told(frequency, found) == expected


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(2, 6), st.data())
def test_measured_precision_and_loss_are_within_what_is_proven(table: Any, k: int,
                                                               data: st.DataObject) -> None:
    frequency = frequency_of(*table)
    diversity = data.draw(st.sampled_from([{}, {"g": 2}]).filter(lambda d: max(d.values(), default=1) <= k))
    for generalizing, suppressing, cells_only in TECHNIQUES:
        if diversity.get("g", 1) > len(set(table[1]["g"])) or k > len(table[0]):
            return
        try:
            said = recommend(pairs_of(frequency), k, 3, diversity, cells_only, columns=COLUMNS, elected=1)
        except InfeasibleError:
            continue
        for approach in said.approaches:
            method = Adaptable(xk=approach.xk, generalize={"q0": 1} if generalizing else {},
                               suppress_cells=["q0"] if suppressing else [], sensitive_suppression=cells_only)
            found = solved(frequency, method, k, diversity)
            if found is None:
                continue
            cells = changed(frequency, found)
            lost = found.suppressed(frequency)
            precision = measured_precision(cells.kept, found.n_added, cells.generalized, cells.suppressed,
                                           COLUMNS)
            low, high = approach.proven_range
            assert low - 1e-9 <= precision <= high + 1e-9
            loss = measured_loss(frequency.n_records, lost, cells.generalized + cells.suppressed, COLUMNS)
            assert loss <= approach.proven_loss + 1e-9
            if not cells_only:
                assert loss <= approach.maximum_loss + 1e-9  # Equation 2 as published
            if not (generalizing or suppressing):
                assert (lost, found.n_added) == (approach.suppressed, approach.added)


def test_where_equation_1_does_not_hold() -> None:
    """Four records that cell suppression brings back as two pairs of two: the page's counter-example."""
    values = [(1, "a", "x"), (1, "a", "y"), (2, "a", "x"), (2, "a", "y"), *[(3, "b", "x")] * 2,
              *[(4, "b", "x")] * 2, *[(1, "b", "x")] * 5]
    frequency = frequency_of(values, {"g": ["A"] * 13})
    said = recommend(pairs_of(frequency), 5, 3, columns=20, elected=1)
    found = solved(frequency, Adaptable(xk=said.best.xk, suppress_cells=["q2"]), 5, {})
    assert found is not None
    cells = changed(frequency, found)
    assert (said.best.xk, cells.kept, cells.suppressed, found.n_added) == (2, 13, 4, 12)
    measured = measured_precision(13, found.n_added, 0, 4, 20)
    assert said.precision_range == (55, 60) and round(measured, 1) == 51.2
    assert said.best.proven_range[0] <= measured <= said.best.proven_range[1]


def test_the_best_way_keeps_most() -> None:
    """Every order and both ways are tried; none that was tried keeps more than the one taken."""
    rng = np.random.default_rng(5)
    values = [(int(rng.integers(1, 5)), str(rng.choice(list("abc"))), str(rng.choice(list("xy"))))
              for _ in range(70)]
    frequency = frequency_of(values, {"g": ["A"] * 70})
    elected: dict[str, Any] = {"generalize": {"q0": 1, "q1": 1}, "suppress_cells": ["q0", "q1", "q2"]}
    best = solved(frequency, Adaptable(xk=5, introduce="best", **elected), 6, {})
    assert best is not None
    tried = best.notes["facts"]["adaptable"]["tried"]
    assert len(tried) == 7 and len({way["original"] for way in tried}) > 1
    assert best.sizes(frequency).sum() == max(way["original"] for way in tried)
    for way in tried:
        method = Adaptable(xk=5, introduce=way["introduce"], order=way["order"], **elected)
        alone = solved(frequency, method, 6, {})
        assert alone is not None and alone.sizes(frequency).sum() == way["original"]
        assert alone.n_added == way["added"]


@pytest.mark.parametrize(("method", "told"), [
    ({"xk": 9}, "xk is 9; it can be at most k, which is 5"),
    ({"generalize": {"a": 7}}, "level 7; its highest is 1"),
    ({}, "To keep k-anonymity (k = 5) with xk = 5, 2 of 8 records (25.0%)"),
])
def test_what_cannot_be_done_is_said(method: dict[str, Any], told: str) -> None:
    frequency = FrequencySet((Hierarchy("a", (("1", "*"), ("2", "*"))),), np.array([[0], [1]], np.int32),
                             np.array([6, 2]))
    with pytest.raises((RequestError, InfeasibleError)) as caught:
        Adaptable(**method).solve(Problem(frequency, (KAnonymity(k=5),), 0.0, np.ones(1)),
                                  np.random.default_rng(0))
    assert told in str(caught.value)


@pytest.mark.parametrize(("method", "criteria", "told"), [
    ({"generalize": {"b": 1}}, [], "The column 'b' is not a quasi-identifier"),
    ({"suppress_cells": ["b"]}, [], "The column 'b' is not a quasi-identifier"),
    ({"order": ["a", "b"]}, [], "names every quasi-identifier once"),
    ({"xk": 0}, [], "greater than or equal to 1"),
    ({}, [{"t-closeness": {"column": "b", "t": 0.2}}], "promises k-anonymity and distinct l-diversity"),
    ({}, [{"l-diversity": {"column": "b", "l": 2, "kind": "entropy"}}], "promises k-anonymity and distinct"),
])
def test_a_recipe_that_makes_no_sense_is_refused(method: dict[str, Any], criteria: list[Any],
                                                 told: str) -> None:
    with pytest.raises(RecipeError) as caught:
        Recipe.from_dict({"columns": {"a": {"role": "quasi"}, "b": {"role": "sensitive"}},
                          "criteria": [{"k-anonymity": {"k": 5}}, *criteria],
                          "method": {"name": "xk", **method}})
    assert told in str(caught.value)
