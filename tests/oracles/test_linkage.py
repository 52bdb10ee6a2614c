"""Record linkage by Splink beside plain loops: a record is any of the people whom all of its labels cover."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from tests.oracles.test_attacks import covers, rows_of
from tests.properties import hospital

import sfumato
from sfumato.attack import linkage

QUASI = ("age", "zip", "sex", "group")


def table(n: int, seed: int) -> pa.Table:
    return pa.Table.from_pylist(hospital.records(n, seed)).drop(["name", "note"])


def recipe(method: dict[str, Any], k: int = 4) -> dict[str, Any]:
    asked = hospital.recipe(method=method, suppression=0.0)
    del asked["columns"]["name"]
    return {**asked, "criteria": [] if method["name"] == "slicing" else [{"k-anonymity": {"k": k}}]}


@pytest.mark.parametrize("labels", [{}, {"numeric": "range", "categorical": "set"}])
def test_links_are_right_as_often_as_plain_loops_have_it(labels: dict[str, str]) -> None:
    everyone = table(160, 2)
    result = sfumato.anonymize(everyone, recipe({"name": "mondrian", **labels}), report=False)
    some = everyone.slice(0, 90)
    found = sfumato.link(result, known=some, identity="id")
    people, expected, owned = rows_of(some), 0.0, 0
    for row in rows_of(result.release):
        could = [one for one in people if all(covers(name, row[name], one[name]) for name in QUASI)]
        if any(one["id"] == row["id"] for one in people):
            owned += 1
            expected += any(one["id"] == row["id"] for one in could) / max(len(could), 1)
    assert (found.records, found.people, found.owned) == (160, 90, owned)
    assert found.right == pytest.approx(expected) and found.chance == 1 / 90


def test_a_table_as_it_is_links_nearly_everybody_and_a_suppressed_one_nobody() -> None:
    people = table(80, 3)
    plain = sfumato.link(people, known=people, identity="id", quasi=QUASI, missing=["?", "NA"])
    alike = [tuple(row[name] for name in QUASI) for row in rows_of(people)]
    assert plain.right == pytest.approx(len(set(alike))) and plain.linked > 60
    starred = pa.table({**{name: ["*"] * 80 for name in QUASI}, "id": people["id"]})
    hidden = sfumato.link(starred, known=people, identity="id", quasi=QUASI)
    assert hidden.right == pytest.approx(1.0) and hidden.right_linked == 0


def test_rows_of_a_sliced_release_are_nobodys() -> None:
    people = table(240, 4)
    result = sfumato.anonymize(people, recipe({"name": "slicing", "k": 4, "l": 2}), report=False)
    found = sfumato.link(result, known=people, identity="id")
    assert found.records == found.owned == 240 and found.rate.high < 0.25


def test_what_cannot_be_linked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    people = table(40, 5)
    with pytest.raises(sfumato.errors.TableError, match="no column 'who'"):
        sfumato.link(people, known=people, identity="who", quasi=QUASI)
    with pytest.raises(sfumato.errors.RequestError, match="no column in common"):
        sfumato.link(people, known=people.select(["id"]), identity="id")
    with monkeypatch.context() as patch:
        patch.setattr(linkage, "MOST", 1000)
        with pytest.raises(sfumato.errors.RequestError, match="1,600 pairs"):
            sfumato.link(people, known=people, identity="id", quasi=QUASI)

    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(linkage, "import_module", missing)
    with pytest.raises(sfumato.errors.MissingExtraError, match=r"sfumato\[linkage\]"):
        sfumato.link(people, known=people, identity="id", quasi=QUASI)
