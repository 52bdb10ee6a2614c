"""The composition attack beside plain loops, on releases of every kind."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.oracles import attacks as oracle
from tests.properties import hospital

import sfumato
from sfumato import judge, table
from sfumato.attack import matching
from sfumato.attack.composition import tell
from sfumato.attack.run import scene
from sfumato.methods.registry import METHODS
from sfumato.recipe import Recipe
from sfumato.slices import matching as of_slices

QUASI = ("age", "zip", "sex", "group")
CLASSES = {"optimal": {"name": "optimal"}, "mondrian": {"name": "mondrian"},
           "ranges": {"name": "mondrian", "numeric": "range", "categorical": "set", "relaxed": True}}
SLICED: dict[str, dict[str, Any]] = {
    name: {"name": name, "k": 4, "l": 2} for name, method in METHODS.items() if method.kind == "slices"}
SLICED["named"] = {**SLICED["slicing"], "groups": [["age", "sex"], ["zip", "group", "illness"]]}


def covers(column: str, label: str | None, value: str | None) -> bool:
    """What the labels of the hospital's recipe mean, read by hand."""
    if label == "*" or label == value:
        return True
    if label is None or value is None:
        return False
    if label.startswith("{"):
        return value in label[1:-1].split(", ")
    if found := re.fullmatch(r"\[(\d+)\.\.(\d+)([])])", label):
        low, high = int(found[1]), int(found[2])
        return low <= int(value) < high + (found[3] == "]")
    if column == "zip":
        return label.endswith("*") and value.startswith(label.rstrip("*"))
    return column == "group" and label in hospital.TOWNS[value]


def text(value: Any) -> str | None:
    return None if hospital.absent(value) else str(value)


def rows_of(frame: pa.Table) -> list[oracle.Row]:
    return [{name: text(value) for name, value in row.items()} for row in frame.to_pylist()]


def released(method: dict[str, Any], seed: int, first: int, last: int) -> sfumato.Result:
    records = hospital.records(n=400, seed=seed)[first:last]
    recipe = hospital.recipe(method=method, seed=seed)
    if method["name"] in METHODS and METHODS[method["name"]].kind == "slices":
        del recipe["criteria"]
    return sfumato.anonymize(pa.Table.from_pylist(records), recipe, report=False)


def expected(result: sfumato.Result, person: oracle.Row) -> dict[str | None, Fraction]:
    rows = rows_of(result.release)
    if groups := result.manifest.get("column_groups"):
        return oracle.of_slices(rows, person, groups, covers)
    return oracle.of_classes(rows, person, QUASI, "illness", covers)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", [*CLASSES, *SLICED])
def test_every_person_is_told_what_plain_loops_tell(name: str, compiled: bool,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    if compiled:
        monkeypatch.setattr(matching, "FEW", 0)
        monkeypatch.setattr(of_slices, "FEW", 0)
    method, seed = {**CLASSES, **SLICED}[name], 3
    releases = [released(method, seed, 0, 240), released(method, seed, 160, 400)]
    people = hospital.records(n=400, seed=seed)[130:270:3]
    whole = Counter(row["illness"] for one in releases for row in rows_of(one.release))
    overall = {value: Fraction(n, whole.total()) for value, n in whole.items()}
    with scene(releases, pa.Table.from_pylist(people), None, (), None, (), {}) as seen:
        told = tell(seen.views, seen.known)
    for n, row in enumerate(people):
        person = {key: text(row[key]) for key in QUASI}
        each = [expected(one, person) for one in releases]
        posterior = oracle.together(each, overall)
        assert told.found[:, n].tolist() == [bool(one) for one in each]
        assert told.alone[:, n].tolist() == [len(one or overall) for one in each]
        assert told.together[n] == len(posterior)
        likeliest = max((posterior or overall).values())
        assert told.highest[n] == pytest.approx(float(likeliest))
        assert told.right is not None and told.kept is not None
        own = text(row["illness"])
        assert told.right[n] == pytest.approx(float((posterior or overall).get(own, Fraction(0))))
        assert told.kept[n] == (own in posterior)
    found = sfumato.attack(releases, known=pa.Table.from_pylist(people))
    certain = told.found.all(axis=0) & (told.together == 1)
    assert (found.people, found.certain) == (len(people), int(certain.sum()))


def test_one_release_tells_what_it_tells_alone_and_the_same_twice_no_other_set() -> None:
    release = released(CLASSES["mondrian"], 3, 0, 240)
    people = pa.Table.from_pylist(hospital.records(n=400, seed=3)[:50])
    alone, twice = (sfumato.attack([release] * n, known=people) for n in (1, 2))
    assert alone.values == alone.values_alone[0] == twice.values
    assert not alone.contradicted and alone.certain == alone.certain_alone


def test_more_releases_leave_fewer_values() -> None:
    releases = [released(SLICED["slicing"], 3, first, first + 240) for first in (0, 60, 100)]
    people = pa.Table.from_pylist(hospital.records(n=400, seed=3)[110:230])
    values = [sfumato.attack(releases[:n], known=people, quasi=QUASI).values for n in (1, 2, 3)]
    assert values[0] > values[1] > values[2]


def test_the_worked_example_is_a_full_breach() -> None:
    """Both releases are 3-diverse; what they have in common is one value."""
    first = pa.table({"age": ["[20..30)"] * 3, "ill": ["flu", "asthma", "ulcer"]})
    second = pa.table({"age": ["[25..35)"] * 3, "ill": ["flu", "gout", "hiv"]})
    found = sfumato.attack([first, second], known=pa.table({"age": [27, 27], "ill": ["flu", "gout"]}),
                           sensitive="ill", l=3)
    assert (found.values_alone, found.values) == ((3.0, 3.0), 1.0)
    assert (found.certain, found.certain_alone, found.exact, found.wrong) == (2, 0, 1, 1)
    assert (found.likelier, found.likelier_alone) == (2, 0) and not found.holds
    assert (found.drr_certain, found.drr_matches) == (50.0, 50.0)
    assert found.own_value == 0.5


def test_order_within_a_class_changes_nothing() -> None:
    release = released(CLASSES["optimal"], 3, 0, 240)
    people = pa.Table.from_pylist(hospital.records(n=400, seed=3)[:50])
    shuffled = release.release.take(np.random.default_rng(0).permutation(release.release.num_rows))
    recipe = Recipe.parse(release.manifest["recipe"])
    told = [sfumato.attack(one, known=people, recipe=recipe) for one in (release.release, shuffled)]
    assert told[0] == told[1]


@pytest.mark.parametrize("releases, known, words, complaint", [
    (({"a": [1]}, {"b": [1]}), {"a": [1]}, {"sensitive": "a"}, "no column in common"),
    (({"a": [1], "s": [1]}, {"b": [1], "s": [1]}), {"c": [1]}, {"sensitive": "s"}, "no column in common"),
    (({"a": [1], "s": [1]}, {"b": [1], "s": [1]}), {"a": [1]}, {"sensitive": "s"}, "none of the columns"),
    (({"a": [1], "s": [1]},), {"a": [1]}, {}, "Which sensitive column"),
    (({"a": [1], "s": [1]},), {"a": [1]}, {"sensitive": "t"}, "no column 't'"),
    (({"a": [1], "s": [1]},), {"a": [1]}, {"sensitive": "s", "quasi": "q"}, "no column 'q'"),
    (({"a": [1], "s": [1]},), {"a": pa.array([], pa.int64())}, {"sensitive": "s"}, "knows nobody"),
    (({"a": [1], "s": [1]},), {"a": [1]}, {"sensitive": "s", "l": 0.5}, "l is 0.5"),
    (({"bucket": [1], "a": [1], "s": [1]},), {"a": [1]}, {"sensitive": "s"}, "seems to be sliced"),
    ((), {"a": [1]}, {"sensitive": "s"}, "No release"),
])
def test_what_cannot_be_attacked_is_refused(releases: Any, known: Any, words: Any, complaint: str) -> None:
    with pytest.raises(sfumato.errors.RequestError, match=complaint):
        sfumato.attack([pa.table(one) for one in releases], known=pa.table(known), **words)


def test_a_written_release_is_attacked_as_its_frame_is(tmp_path: Any) -> None:
    records = pa.Table.from_pylist(hospital.records(seed=5))
    recipe = {**hospital.recipe(method=SLICED["slicing"]), "criteria": []}
    result = sfumato.anonymize(records, recipe, out=tmp_path / "out", report=False)
    people = records.slice(0, 60)
    from_folder = sfumato.attack(tmp_path / "out", known=people)
    from_result = sfumato.attack(result, known=people)
    place = judge.locate(tmp_path / "out")
    with table.open_table(place.release) as opened:
        assert opened.table.columns[0] == "bucket"
    assert from_folder.values == from_result.values and from_folder.own_value == from_result.own_value
