"""Slicing: the published example, the contingency of Adult in both versions, the column groups."""

from __future__ import annotations

import csv
import json
from collections import Counter
from functools import cache
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import SHARED

from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.measure.utility.loss import distortion
from sfumato.measure.utility.queries import count, draw, errors_of
from sfumato.recoding import Regrouping
from sfumato.slices.cells import RATES, Pair
from sfumato.slices.correlation import contingency, discretize
from sfumato.slices.grouping import EXACT, _greedy, pairing, pam

needs_shared = pytest.mark.needs_shared
NAMES = ("age", "workclass", "education", "marital-status", "occupation", "relationship", "sex", "salary")
FIELDS = (0, 1, 3, 5, 6, 7, 9, 14)


@cache
def golden() -> dict[str, dict[str, Any]]:
    path = SHARED / "golden" / "003_binjubeir.json"
    entries = json.loads(path.read_text(encoding="utf-8"))["entries"] if path.exists() else []
    return {entry["id"]: entry for entry in entries}


@cache
def adult(missing: bool, distinct: bool = False) -> tuple[tuple[str, ...], ...]:
    """The eight columns of Adult: all of its rows, or the complete ones."""
    with (SHARED / "data" / "adult" / "adult.data").open(encoding="utf-8") as lines:
        read = [[field.strip() for field in row] for row in csv.reader(lines) if row]
    rows = [tuple(row[n] for n in FIELDS) for row in read if missing or "?" not in row]
    return tuple(dict.fromkeys(rows)) if distinct else tuple(rows)


def coded(values: list[str]) -> np.ndarray[Any, Any]:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


@pytest.mark.parametrize("name", ["independent-2x2", "perfect-2x2", "perfect-3x3", "2x3", "2x2-mixed"])
@needs_shared
def test_small_tables(name: str) -> None:
    entry = golden()[f"mscc/toy/{name}"]
    table = np.array(entry["inputs"]["table"])
    rows, columns = np.indices(table.shape)
    found = [contingency(rows.ravel(), columns.ravel(), table.ravel(), d) for d in ("min", "min-1")]
    expected = [entry["recomputed"][key] for key in ("r2_min", "r2_min_minus_1")]
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("missing", [False, True])
@needs_shared
def test_contingency_of_adult_in_both_versions(missing: bool) -> None:
    rows = adult(missing)
    assert len(rows) == (32561 if missing else 30162)
    columns = {name: coded([row[n] for row in rows]) for n, name in enumerate(NAMES)}
    columns["age"] = np.array([(int(row[0]) - 17) // 21 for row in rows])
    ones = np.ones(len(rows), dtype=np.int64)
    expected = golden()[f"mscc/adult/{len(rows)}"]["recomputed"]
    assert len(expected) == 28
    matrix = {d: np.eye(8) for d in ("min", "min-1")}
    for i, j in combinations(range(8), 2):
        found = expected[f"{NAMES[i]}~{NAMES[j]}"]
        for divisor, key in (("min", "r2_min"), ("min-1", "r2_min_minus_1")):
            value = contingency(columns[NAMES[i]], columns[NAMES[j]], ones, divisor)  # type: ignore[arg-type]
            assert value == pytest.approx(found[key], abs=6e-9)
            matrix[divisor][i, j] = matrix[divisor][j, i] = value
    for divisor, key in (("min", "r2_min"), ("min-1", "r2_min_minus_1")):
        for k, best in golden()[f"pam/adult/{len(rows)}/{key}"]["recomputed"].items():
            groups = pam(1 - matrix[divisor], int(k))
            assert cost(1 - matrix[divisor], groups) == pytest.approx(best["cost"], abs=1e-7)
            assert sorted([NAMES[n] for n in group] for group in groups) == sorted(best["clusters"])


def cost(distance: np.ndarray[Any, Any], groups: list[list[int]]) -> float:
    return sum(min(sum(distance[m, n] for n in group) for m in group) for group in groups)


@needs_shared
def test_groups_of_the_printed_matrix() -> None:
    weight = np.array(golden()["mscc/table3.4"]["expected"]["matrix"]) ** 2
    entry = golden()["pam/table3.4"]
    named = [sorted(NAMES[n] for n in group) for group in pairing(weight)]
    assert sorted(named) == sorted(sorted(pair) for pair in entry["recomputed"]["max_weight_pairing"])
    published = next(iter(entry["expected"].values()))
    assert sorted(named) == sorted(sorted(pair) for pair in published)
    assert sum(weight[tuple(pair)] for pair in pairing(weight)) == pytest.approx(0.461326, abs=1e-6)
    for k, best in entry["recomputed"]["pam"].items():
        assert cost(1 - weight, pam(1 - weight, int(k))) == pytest.approx(best["cost"], abs=1e-8)


@needs_shared
def test_age_codes_of_the_first_rows() -> None:
    ages = [row[0] for row in adult(True)]
    values = sorted(set(ages), key=int)
    codes = np.array([values.index(age) for age in ages])
    ones = np.ones(len(codes), dtype=np.int64)
    assert (discretize(values, codes, ones, 5)[:5] + 1).tolist() == golden()["age/codes"]["expected"]
    quarters = np.bincount(discretize(values, codes, ones, 4, "quantiles"))
    largest = max(map(ages.count, set(ages))) / len(ages)  # one age stands on one side of a cut
    assert len(quarters) == 4 and abs(quarters / len(ages) - 0.25).max() < largest


def test_missing_numbers_are_a_bin_of_their_own() -> None:
    values, codes = ["1", "2", "3", "4", None], np.array([0, 1, 2, 3, 4, 4])
    assert discretize(values, codes, np.ones(6, int), 2).tolist() == [0, 0, 1, 1, 2, 2]
    assert discretize(["a", "b", "c"], np.array([0, 1, 2]), np.ones(3, int), 2).tolist() == [0, 1, 2]


def matrices(most: int) -> Any:
    def symmetric(draw: Any) -> np.ndarray[Any, Any]:
        n = draw(st.integers(1, most))
        upper = np.array(draw(st.lists(st.floats(0, 1), min_size=n * n, max_size=n * n))).reshape(n, n)
        made = np.triu(upper, 1)
        return made + made.T + np.eye(n)
    return st.composite(symmetric)()


@given(matrices(7), st.integers(1, 7))
def test_groups_are_partitions_and_no_swap_is_better(matrix: np.ndarray[Any, Any], k: int) -> None:
    n = len(matrix)
    groups = pam(1 - matrix, k)
    assert sorted(chain(*groups)) == list(range(n)) and len(groups) == min(k, n)
    pairs = pairing(matrix)
    assert sorted(chain(*pairs)) == list(range(n)) and [len(p) for p in pairs].count(1) == n % 2
    assert weight_of(pairs, matrix) == pytest.approx(brute(list(range(n)), matrix))
    greedy = _greedy(matrix)
    assert sorted(chain(*greedy)) == list(range(n)) and max(map(len, greedy)) <= 2
    assert weight_of(greedy, matrix) <= weight_of(pairs, matrix) + 1e-9
    assert n <= EXACT


def weight_of(pairs: list[list[int]], matrix: np.ndarray[Any, Any]) -> float:
    return float(sum(matrix[tuple(pair)] for pair in pairs if len(pair) == 2))


def brute(left: list[int], matrix: np.ndarray[Any, Any]) -> float:
    """The best weight by trying everything, one column left alone if their number is odd."""
    if len(left) < 2:
        return 0.0
    first, *rest = left
    totals = [float(matrix[first, other]) + brute([n for n in rest if n != other], matrix) for other in rest]
    if len(left) % 2:
        totals.append(brute(rest, matrix))
    return max(totals)


@cache
def pair(first: str, second: str, missing: bool, distinct: bool) -> Pair:
    """Two columns of Adult as the method counts them."""
    chosen = [(row[NAMES.index(first)], row[NAMES.index(second)]) for row in adult(missing, distinct)]
    columns = [sorted({row[n] for row in chosen}) for n in (0, 1)]
    hierarchies = tuple(Hierarchy(name, tuple((value, "*") for value in column))
                        for name, column in zip((first, second), columns, strict=True))
    counted = Counter(chosen)
    codes = np.array([[h.code_of[v] for h, v in zip(hierarchies, row, strict=True)] for row in counted])
    return Pair.of(FrequencySet(hierarchies, codes, np.array([*counted.values()])), 0, 1)


@pytest.mark.parametrize(("name", "missing", "distinct"), [
    ("32561d", True, True), ("30162d", False, True), ("32561p", True, False)])
@needs_shared
def test_count_tables_of_the_cells(name: str, missing: bool, distinct: bool) -> None:
    """Tables 4.1 and 4.2 by the reading that gives their first column; 30 numbers a file."""
    entry = golden()[f"cells/adult/{name}"]
    assert list(RATES) == entry["inputs"]["phi_lpl"]
    short = {"marital": "marital-status"}
    for reading, expected in entry["recomputed"].items():
        first, second = reading[2:-1].split("|")
        rows = pair(short.get(first, first), second, missing, distinct).table()
        for ours, theirs in (("rare_cells", "lpl_cells"), ("rare_records", "lpl_tuples"),
                             ("certain_cells", "upl_cells"), ("certain_records", "upl_tuples")):
            assert [row[ours] for row in rows] == expected[theirs], (reading, theirs)


@needs_shared
def test_the_almost_certain_cells_are_husbands_and_wives() -> None:
    """The published shares of the two cells of Table 4.2 are those of distinct tuples."""
    found = pair("marital-status", "relationship", True, True)
    assert int(found.nearly_certain(0.98).sum()) == 2
    shares = golden()["data/dedup"]["recomputed"]["distinct_on_8"]
    assert found.counts[found.nearly_certain(0.98)].sum() / found.counts.sum() == pytest.approx(
        shares["husband"] + shares["wife"], abs=0.01)


@needs_shared
def test_distortion_is_leaves_under_the_lowest_common_ancestor() -> None:
    entry = golden()["eq/DR"]
    tree, expected = entry["inputs"]["hierarchy"], entry["recomputed"]
    named = {leaf: parent for parent, leaves in tree.items() for leaf in leaves}
    others = [f"other {n}" for n in range(entry["inputs"]["leaves"] - len(named))]
    paths = tuple((value, named.get(value, "Other"), "*") for value in [*named, *others])
    one = FrequencySet((Hierarchy("work", paths),), np.arange(8, dtype=np.int32)[:, None], np.ones(8, int))
    levels = {"equal": 0, "generalise_Federal_Local": 1, "generalise_to_root": 2}
    for name, level in levels.items():
        nodes = one.hierarchies[0].nodes[level][:1, None]
        federal = Regrouping(np.where(np.arange(8) == 0, 0, 1), np.array([[level], [0]], np.int32),
                             np.concatenate([nodes, [[1]]]).astype(np.int32))
        assert distortion(one, federal).value == pytest.approx(expected[name] / 8)
    employed = Regrouping(np.array([0] * 3 + [1] * 2 + [0] * 3), np.array([[0], [1]], np.int32),
                          np.array([[0], [1]], np.int32))
    assert distortion(one, employed).value == pytest.approx(2 * expected["generalise_SelfInc_SelfNotInc"] / 8)


@needs_shared
def test_query_error_is_the_mean_of_relative_errors() -> None:
    """The recommended reading: absolute, so that errors of both signs do not cancel."""
    assert "mean over queries of 100*|org-anz|/org" in golden()["eq/query-error"]["recomputed"]["recommended"]
    paths = tuple((value, "*") for value in "abcd")
    codes = np.arange(4, dtype=np.int32)[:, None]
    four = FrequencySet((Hierarchy("q", paths),), codes, np.array([4, 3, 2, 1]))
    drawn = draw(four, np.random.default_rng(0), selectivity=0.25)
    mean, _ = errors_of(four, lambda asked: count(four, asked) + np.resize([1.0, -1.0], len(asked)),
                        np.random.default_rng(0), "")
    assert mean.value == pytest.approx(float(np.mean(1 / count(four, drawn))))
