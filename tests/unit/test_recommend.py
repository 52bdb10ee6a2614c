"""`sfumato.recommend`: counted in the engine as the frequency set is, and clear about wrong requests."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from tests.properties import hospital

import sfumato
from sfumato.errors import DestinationError, InfeasibleError, RequestError, TableError
from sfumato.pipeline import anonymize
from sfumato.prepare import pair_counts, prepare
from sfumato.recipe import Recipe
from sfumato.recommend.xk import PairSet, pairs_of, recommend
from sfumato.table import open_table

KEYS = ["xk", "label", "suppressed", "added", "original", "total", "precision", "difference", "ranks",
        "score"]


def students(n: int = 500, seed: int = 0) -> pa.Table:
    """Text, numbers, floats with NaN, booleans, dates; missing values in every spelling."""
    import datetime as dt

    rng = random.Random(seed)
    nan = float("nan")
    return pa.table({
        "course": rng.choices(["a", "b", " ", "", "?", None, "NA", " NA "], k=n),
        "yob": pa.array(rng.choices([1980, 1981, 1985, -9, None], k=n), pa.int64()),
        "score": pa.array(rng.choices([0.5, 1.0, nan, -9.0, None], k=n), pa.float64()),
        "flag": rng.choices([True, False, None], k=n),
        "day": rng.choices([dt.date(2020, 1, 1), dt.date(2020, 1, 2), None], k=n),
        "grade": rng.choices(["A", "B", "", "NA", None], k=n),
        "ward": pa.array(rng.choices([1, 2, 3, -9, None], k=n), pa.int64())})


@pytest.mark.parametrize("quasi", [("course",), ("course", "yob"), ("yob", "score", "flag"),
                                   ("day", "course", "score")])
@pytest.mark.parametrize("sensitive", [(), ("grade",), ("grade", "ward")])
def test_pairs_are_counted_as_the_frequency_set_counts_them(quasi: Any, sensitive: Any) -> None:
    missing = ("?", "NA", "-9")
    recipe = Recipe.from_dict({
        "missing": list(missing), "criteria": [{"k-anonymity": {"k": 2}}],
        "columns": {**{name: {"role": "quasi"} for name in quasi},
                    **{name: {"role": "sensitive"} for name in sensitive}}})
    with open_table(students()) as opened:
        expected = pairs_of(prepare(opened.table, recipe).frequency)
        sizes, distinct, values = pair_counts(opened.table, quasi, sensitive, missing)
    found = PairSet(sizes, distinct, values)
    assert profile(found, sensitive) == profile(expected, sensitive)
    assert dict(found.n_values) == dict(expected.n_values)


def profile(pairs: PairSet, sensitive: tuple[str, ...]) -> list[tuple[int, ...]]:
    return sorted(zip(*(column.tolist() for column in (pairs.sizes, *(pairs.distinct[s] for s in sensitive))),
                      strict=True))


def test_text_of_a_file_is_counted_the_same(tmp_path: Any) -> None:
    (tmp_path / "t.csv").write_bytes(hospital.as_csv(hospital.records()))
    found = sfumato.recommend(tmp_path / "t.csv", quasi=["zip", "sex"], sensitive="illness", diversity=3,
                              k=20, missing=["?", "NA"], identifying="name")
    with open_table(tmp_path / "t.csv") as opened:
        pairs = pairs_of(prepare(opened.table, found.recipe).frequency)
    assert found.recommendation == recommend(pairs, 20, 2, {"illness": 3}, columns=7, elected=1)
    assert found.left == ("age", "group", "id", "note")


def test_the_answer_for_programs_has_exactly_its_keys() -> None:
    found = sfumato.recommend(students(), quasi=["course", "yob", "flag"], sensitive="grade", diversity=2,
                              k=6)
    told = found.as_dict()
    assert list(told) == ["approaches", "recommended", "precision_range", "maximum_loss", "recipe"]
    assert all(list(one) == KEYS for one in told["approaches"]) and len(told["approaches"]) == 5
    assert set(told["approaches"][0]["ranks"]) == {"precision", "original", "difference"}
    assert Recipe.parse(told["recipe"]) == found.recipe
    assert [one.xk for one in found.curve] == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("suppression", [False, True])
def test_the_recipe_does_what_was_predicted(suppression: bool) -> None:
    table = students()
    found = sfumato.recommend(table, quasi=["course", "yob", "day"], sensitive=["grade", "ward"],
                              diversity={"grade": 2, "ward": 3}, k=8, missing=["?", "NA", "-9"],
                              sensitive_suppression=suppression)
    best = found.recommendation.best
    result = anonymize(table, found.recipe.with_(seed=1), report=False)
    counted = result.manifest["records"]
    assert (counted["suppressed"], counted["added"], counted["kept"]) == (
        best.suppressed, best.added, best.original)
    assert result.verdict.records == best.total
    low, high = best.proven_range
    assert low <= 100 * result.manifest["measures"]["file_precision"] <= high
    assert 100 * result.manifest["measures"]["file_loss"] <= best.proven_loss + 1e-9


@pytest.mark.parametrize(("said", "told"), [
    ({"quasi": []}, "No quasi-identifier is named"),
    ({"quasi": ["nothing"]}, "no column 'nothing'"),
    ({"k": 1}, "k is 1; it must be at least 2"),
    ({"k": 501}, "k is 501"),
    ({"sensitive": "grade", "diversity": 9, "k": 10}, "the column's 3 different values"),
    ({"sensitive": "grade", "diversity": 3, "k": 2}, "it can be at most k, which is 2"),
    ({"diversity": 2}, "no sensitive column is named"),
    ({"min_precision": 101}, "percentage from 0 to 100"),
    ({"prefer": "both"}, "The preference is 'both'"),
])
def test_wrong_requests_are_told(said: dict[str, Any], told: str) -> None:
    with pytest.raises((RequestError, TableError)) as caught:
        sfumato.recommend(students(), **{"quasi": ["course", "yob"], "missing": ["NA", "?"], **said})
    assert told in str(caught.value) and caught.value.exit_code == 2


def test_a_table_of_unique_records() -> None:
    """No level but those below k releases anything; asked for real precision, nothing does."""
    table = pa.table({"a": list(range(40))})
    found = sfumato.recommend(table, quasi="a", k=4)
    assert found.recommendation.best.xk == 1 and found.recommendation.best.added == 120
    with pytest.raises(InfeasibleError) as caught:
        sfumato.recommend(table, quasi="a", k=4, min_precision=50)
    assert "precision of 50% or more" in str(caught.value) and caught.value.exit_code == 3


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(RequestError, match="no records"):
        sfumato.recommend(pa.table({"a": pa.array([], pa.string())}), quasi="a")


def test_steps_are_kept_of_methods_that_have_them() -> None:
    recipe = {"columns": {"course": {"role": "quasi"}}, "criteria": [{"k-anonymity": {"k": 2}}]}
    with pytest.raises(RequestError, match="no steps to keep"):
        sfumato.anonymize(students(), recipe, keep_steps=True)
    assert DestinationError.exit_code == 2
