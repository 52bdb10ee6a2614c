"""The public functions: frames in and out, three ways to say a recipe, answers that show themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato
from sfumato.errors import DestinationError, InfeasibleError, RecipeError, RequestError, TableError

RECIPE: dict[str, Any] = {
    "columns": {"name": {"role": "identifying"}, "age": {"role": "quasi", "hierarchy": {"interval": [5, 10]}},
                "sex": {"role": "quasi", "hierarchy": "suppress"}, "income": {"role": "sensitive"}},
    "criteria": [{"k-anonymity": {"k": 5}}],
    "suppression": 0.05,
    "seed": 3,
}


@pytest.fixture
def people() -> pd.DataFrame:
    n = 240
    return pd.DataFrame({"name": [f"n{i}" for i in range(n)], "age": [20 + i * 7 % 40 for i in range(n)],
                         "sex": ["f" if i % 3 else "m" for i in range(n)],
                         "income": ["high" if i % 4 else "low" for i in range(n)]})


def test_frames_come_back_as_they_went_in(people: pd.DataFrame) -> None:
    for frame in (people, pl.from_pandas(people), pa.Table.from_pandas(people)):
        result = sfumato.anonymize(frame, RECIPE)
        assert type(result.release) is type(frame)
        assert result.verdict and len(result.release) == 240
        assert "name" not in list(getattr(result.release, "columns", [])) + list(
            getattr(result.release, "column_names", []))


def test_a_recipe_is_a_path_a_mapping_or_itself(people: pd.DataFrame, tmp_path: Path) -> None:
    recipe = sfumato.Recipe.from_dict(RECIPE)
    (tmp_path / "r.yaml").write_text(recipe.to_yaml())
    answers = [sfumato.anonymize(people, said).release
               for said in (RECIPE, recipe, tmp_path / "r.yaml", str(tmp_path / "r.yaml"))]
    assert all(answer.equals(answers[0]) for answer in answers)


def test_words_say_the_same_as_a_recipe(people: pd.DataFrame) -> None:
    with pytest.warns(UserWarning, match="name: released as it is"):
        loud = sfumato.anonymize(people, quasi={"age": {"interval": [5, 10]}, "sex": "suppress"}, k=5)
    assert "name" in loud.release.columns
    said = sfumato.anonymize(people, quasi={"age": {"interval": [5, 10]}, "sex": "suppress"},
                             identifying="name", sensitive=["income"], k=5, suppression=0.05, seed=3)
    assert said.release.equals(sfumato.anonymize(people, RECIPE).release)


def test_a_hierarchy_is_suggested_where_none_is_said(people: pd.DataFrame) -> None:
    with pytest.warns(UserWarning, match="age: hierarchy {interval:"):
        result = sfumato.anonymize(people, quasi=["age", "sex"], identifying=["name"], k=5)
    assert "interval" in result.manifest["recipe"]


def test_words_beside_a_recipe_win(people: pd.DataFrame) -> None:
    result = sfumato.anonymize(people, RECIPE, k=30, sensitive="income", l=2, missing=["?"])
    assert result.verdict.findings[0].promise == "k = 30"
    assert [f.name for f in result.verdict.findings] == ["k-anonymity", "l-diversity"]
    assert sfumato.check(result.release, RECIPE, k=30)


def test_check_is_true_or_false_and_says_why(people: pd.DataFrame) -> None:
    result = sfumato.anonymize(people, RECIPE)
    verdict = sfumato.check(result.release, RECIPE)
    assert verdict and verdict.holds and "The promise holds" in repr(verdict)
    broken = sfumato.check(people, RECIPE)
    assert not broken and "identifying column 'name' is still there" in str(broken)
    assert not sfumato.check(people, quasi=["age", "sex"], k=50)


def test_check_counts_missing_as_a_value_of_its_own() -> None:
    frame = pd.DataFrame({"age": ["a"] * 4 + [None]}, index=[9, 9, 9, 9, 9])
    assert sfumato.check(frame, quasi="age", k=2).findings[0].worst == 1
    marked = pd.DataFrame({"age": ["a"] * 4 + [None, "?"]})
    assert sfumato.check(marked, quasi="age", k=2, missing="?")
    assert not sfumato.check(marked, quasi="age", k=2)


def test_check_binds_a_hierarchical_distance() -> None:
    frame = pd.DataFrame({"age": ["a", "a", "b", "b"], "job": ["x1", "x2", "x1", "y1"]})
    tree = {"tree": {"*": {"x": ["x1", "x2"], "y": ["y1"]}}}
    recipe = {"columns": {"age": {"role": "quasi"}, "job": {"role": "sensitive"}},
              "criteria": [{"t-closeness": {"column": "job", "t": 0.3, "distance": "hierarchical",
                                            "hierarchy": tree}}]}
    verdict = sfumato.check(frame, recipe)
    assert verdict.findings[0].worst == pytest.approx(0.25 * 0.5 + 0.25 - 0.125)


def test_measure_a_frame_and_a_release(people: pd.DataFrame) -> None:
    result = sfumato.anonymize(people, RECIPE)
    before = sfumato.measure(people, quasi=["age", "sex"])
    assert before.risk_after.records == 240 and before.utility == ()
    after = sfumato.measure(result.release, RECIPE, original=people)
    found = {one.name: one.value for one in after.utility}
    assert found["mean_ncp"] == pytest.approx(result.manifest["measures"]["mean_ncp"])
    assert "mean_ncp" in repr(after)


def test_measure_takes_rows_of_stars_as_suppressed() -> None:
    frame = pd.DataFrame({"age": ["1"] * 3 + ["*"] * 2 + ["*"], "sex": ["f"] * 3 + ["*"] * 2 + ["m"]})
    risk = sfumato.measure(frame, quasi=["age", "sex"]).risk_after
    assert (risk.records, risk.suppressed, risk.unique) == (4, 2, 1)
    hidden = sfumato.measure(frame[3:5], quasi=["age", "sex"]).risk_after
    assert (hidden.records, hidden.suppressed) == (2, 0)


def test_measure_refuses_another_table(people: pd.DataFrame) -> None:
    result = sfumato.anonymize(people, RECIPE)
    with pytest.raises(RequestError, match="another number of records"):
        sfumato.measure(result.release, RECIPE, original=pd.concat([people, people[:7]]))


def test_a_finer_level_with_the_same_label_is_not_mistaken() -> None:
    """Level 1 calls the family of a and b `a`, too: the counts tell the levels apart."""
    original = pd.DataFrame({"x": ["a"] * 3 + ["b"] * 3 + ["c"] * 5})
    tree = {"tree": {"*": {"a": ["a", "b"], "c": ["c"]}}}
    recipe = {"columns": {"x": {"role": "quasi", "hierarchy": tree}}, "criteria": [{"k-anonymity": {"k": 2}}]}
    release = pd.DataFrame({"x": ["a"] * 6 + ["c"] * 5})
    evidence = sfumato.measure(release, recipe, original=original)
    assert evidence.risk_after.suppressed == 0 and evidence.columns[0].level == 1


def test_suggest_and_init(people: pd.DataFrame, tmp_path: Path) -> None:
    roles = {one.column: one.role for one in sfumato.suggest(people)}
    assert roles["name"] == "identifying" and roles["age"] == "quasi"
    people.to_csv(tmp_path / "people.csv", index=False)
    text = sfumato.init(tmp_path / "people.csv", tmp_path / "r.yaml")
    assert (tmp_path / "r.yaml").read_text() == text
    assert sfumato.Recipe.load(tmp_path / "r.yaml").table == "people.csv"
    with pytest.raises(DestinationError, match="exists already"):
        sfumato.init(tmp_path / "people.csv", tmp_path / "r.yaml")
    assert sfumato.anonymize(recipe=tmp_path / "r.yaml", k=2, report=False).verdict


def test_a_result_shows_itself(people: pd.DataFrame) -> None:
    result = sfumato.anonymize(people, RECIPE)
    assert "The promise holds" in repr(result) and "levels: age" in repr(result) and len(repr(result)) < 500
    assert "<" in result._repr_html_() and "<html" in result.report


def test_what_is_refused(people: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="Neither a recipe nor"):
        sfumato.check(people)
    with pytest.raises(RequestError, match="No table is named"):
        sfumato.anonymize(recipe=RECIPE)
    with pytest.raises(RequestError, match="sensitive column"):
        sfumato.check(people, quasi="age", l=2)
    with pytest.raises(RecipeError, match="There is no criterion"):
        sfumato.check(people, quasi="age")
    with pytest.raises(TableError, match="did you mean 'age'"):
        sfumato.check(people, quasi="agee", k=2)
    with pytest.raises(InfeasibleError):
        sfumato.anonymize(people, RECIPE, k=1000, out=tmp_path / "r")
    with pytest.raises(TableError, match="no records"):
        sfumato.check(people[:0], quasi="age", k=2)
    with pytest.raises(RequestError, match="should hold one release"):
        sfumato.check(tmp_path, RECIPE)
    assert not (tmp_path / "r").exists()


def test_the_caller_keeps_what_it_gave(people: pd.DataFrame) -> None:
    before, words = people.copy(), {"age": {"interval": [5, 10]}, "sex": None}
    with pytest.warns(UserWarning):
        sfumato.anonymize(people, quasi=words, identifying="name", k=5)
    assert people.equals(before) and words == {"age": {"interval": [5, 10]}, "sex": None}


def test_import_is_quick_and_names_are_there() -> None:
    code = ("import sys, sfumato\n"
            "assert not {'numpy', 'ibis', 'duckdb', 'pydantic'} & set(sys.modules)\n"
            "assert set(sfumato.__all__) <= set(dir(sfumato))\n"
            "import sfumato.measure.collect\n"
            "assert all(getattr(sfumato, name) for name in sfumato.__all__)\n"
            "assert callable(sfumato.measure)\n"
            "try: sfumato.nonsense\n"
            "except AttributeError as error: print(error)\n")
    source = str(Path(__file__).resolve().parents[2] / "src")
    done = subprocess.run([sys.executable, "-W", "error::ImportWarning", "-c", code], capture_output=True,
                          text=True, env={**os.environ, "PYTHONPATH": source}, check=True)
    assert done.stdout == "module 'sfumato' has no attribute 'nonsense'\n"
