"""What every method promises whose rows are drawn from counts, over the registry, from the written file."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.properties import hospital
from tests.properties.test_battery import covers

from sfumato import api, kinds
from sfumato.errors import InfeasibleError, RecipeError, RequestError, UnprovenError
from sfumato.methods.registry import METHODS
from sfumato.pipeline import Result, anonymize
from sfumato.recipe import Recipe

QUASI = ("age", "zip", "sex", "group")
ASKED: dict[str, dict[str, Any]] = {
    "composition-style": {"k": 4, "alpha": 0.6},
    "hybrid-style": {"k": 4, "epsilon": 1.0},
    "e-dp": {"epsilon": 2.0, "values": ["flu", "hiv", "flu-flu", "cold", "gout"], "bounds": {"age": [20, 60]},
             "specializations": 5}}
SEEDED = ("composition-style",)  # no noise: the same rows again
every_method = pytest.mark.parametrize("method", ASKED)
Rows = list[dict[str, Any]]


def test_the_registry_is_whole() -> None:
    assert {name for name, method in METHODS.items() if method.kind == "drawn"} == set(ASKED)


def asked(method: str, /, **changes: Any) -> Recipe:
    said = {"name": method, **ASKED[method], **changes.pop("method", {})}
    columns = hospital.recipe()["columns"]
    if method == "e-dp":
        zips = {"tree": {"all": {"0": ["01234", "01299"], "8": ["8001", "80x"]}}}
        columns = {**columns, "zip": {"role": "quasi", "hierarchy": zips},
                   "sex": {"role": "quasi", "hierarchy": {"tree": {"all": ["f", "m", "x"]}}}}
    return Recipe.from_dict(hospital.recipe(**{"criteria": [], "suppression": 0.0, "columns": columns,
                                               "method": said, **changes}))


def run(folder: Path, rows: Rows, recipe: Recipe, out: str = "out") -> tuple[Result, Rows, bytes]:
    """Release the rows from a CSV file: the result, what was written as rows, and its bytes."""
    source = folder / "table.csv"
    source.write_bytes(hospital.as_csv(rows))
    result = anonymize(source, recipe, folder / out, report=True)
    data = (folder / out / "release.csv").read_bytes()
    return result, list(csv.DictReader(io.StringIO(data.decode()))), data


@pytest.fixture(scope="module", params=ASKED)
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    """One run of each method, looked at by many tests."""
    folder = tmp_path_factory.mktemp("run")
    rows = hospital.records()
    return request.param, folder / "out", rows, *run(folder, rows, asked(request.param))


def test_the_verdict_holds_and_says_what_cannot_be_seen(done: tuple[Any, ...]) -> None:
    method, folder, _, result, released, _ = done
    assert result.verdict.holds and result.manifest["verdict"]["holds"]
    assert len(released) == result.manifest["records"]["kept"] == result.manifest["drawn"]["records"] > 20
    noted = " ".join(result.verdict.notes)
    assert ("Laplace noise of scale" in noted) == (method != "composition-style")
    assert ("drawn with probability" in noted) == (method != "e-dp")
    again = api.check(folder)
    assert again.holds and again.notes == result.verdict.notes
    assert [one.name for one in again.findings if one.name != "identifying columns"] == [
        one.name for one in result.verdict.findings]
    page = (folder / "report.html").read_text()
    assert "rows were drawn" in page and ("Laplace" in page) == (method != "composition-style")


def test_columns_are_those_that_were_counted(done: tuple[Any, ...]) -> None:
    _, _, _, result, released, data = done
    assert list(released[0]) == [name for name in hospital.COLUMNS if name in (*QUASI, "illness")]
    told = json.dumps(result.manifest, ensure_ascii=False)
    assert b"person" not in data and "person 1" not in told and "r17" not in told
    assert result.manifest["columns"]["note"]["left_out"] and "left out" in " ".join(result.manifest["story"])
    if "values" not in result.manifest["method"]:
        assert "flu" not in told and "hiv" not in told


def test_labels_are_above_values_of_the_domain(done: tuple[Any, ...]) -> None:
    method, _, private, _, released, _ = done
    held = {name: {None if hospital.absent(row[name]) else row[name] for row in private} for name in QUASI}
    for row in released:
        for name in QUASI:
            label = row[name]
            if hospital.absent(label):
                assert None in held[name] and method != "e-dp"
            elif name == "age" and method == "e-dp":
                low, high = label.strip("[)").split("..")
                assert 20 <= int(low) < int(high) <= 60
            elif method != "e-dp":
                assert any(value is not None and covers(name, label, value) for value in held[name])
        assert row["illness"] in ("flu", "hiv", "flu-flu", "cold", "gout", "") or method != "e-dp"


def test_a_sample_holds_no_more_than_the_table(tmp_path: Path) -> None:
    private = hospital.records()
    result, released, _ = run(tmp_path, private, asked("composition-style"))
    ill = Counter("" if hospital.absent(row["illness"]) else row["illness"] for row in private)
    assert Counter(row["illness"] for row in released) <= ill
    sizes = Counter(tuple(row[name] for name in QUASI) for row in released)
    assert min(sizes.values()) >= 4 and len(sizes) == result.manifest["classes"] > 3


def test_the_ledger_of_the_budget_is_told(tmp_path: Path) -> None:
    result, _, _ = run(tmp_path, hospital.records(), asked("e-dp"))
    budget = result.manifest["drawn"]["budget"]
    assert sum(one["epsilon"] for one in budget["spent"]) == pytest.approx(2.0)
    assert result.manifest["drawn"]["noise"]["epsilon"] >= 1.0
    assert "The budget is spent once" in result.report


@every_method
def test_the_seed_gives_the_sample_again_and_never_the_noise(method: str, tmp_path: Path) -> None:
    rows = hospital.records()
    _, _, first = run(tmp_path, rows, asked(method))
    _, _, again = run(tmp_path, random.Random(4).sample(rows, len(rows)), asked(method), "again")
    _, _, other = run(tmp_path, rows, asked(method, seed=8), "other")
    assert (first == again) == (method in SEEDED)
    assert other != first


@every_method
@pytest.mark.parametrize(("changes", "said"), [
    ({"criteria": [{"k-anonymity": {"k": 2}}]}, "makes its own promise"),
    ({"columns": {"age": {"role": "quasi"}}}, "counts the values of one sensitive column"),
    ({"method": {"wrong": 1}}, "'wrong' is not known"),
])
def test_faults_of_the_recipe(method: str, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        asked(method, **changes)


def test_infeasible_targets_say_what_and_what_to_do(tmp_path: Path) -> None:
    for method in ("composition-style", "hybrid-style"):
        with pytest.raises(InfeasibleError, match=r"must have 241 records, and the sample has \d+"):
            run(tmp_path, hospital.records(), asked(method, method={"k": 241}))
        assert not (tmp_path / "out").exists()
    with pytest.raises(InfeasibleError, match="more noise than anything else"):
        many = {"sex": {"role": "quasi", "hierarchy": {"tree": {"all": ["f", "m"]}}}, "illness": {
            "role": "sensitive"}, "age": {"role": "quasi"}, "id": {"role": "quasi"}}
        rows = [row | {"id": str(n)} for n, row in enumerate(hospital.records())]
        values = [*ASKED["e-dp"]["values"], *map(str, range(9000))]
        method = {"name": "e-dp", "epsilon": 1e6, "values": values,
                  "bounds": {"age": [0, 100], "id": [0, 240]}, "specializations": 60}
        run(tmp_path, rows, Recipe.from_dict({"missing": ["?", "NA"], "columns": many, "method": method}))


@every_method
@pytest.mark.parametrize("fault", ["lost", "moved", "more"])
def test_another_release_than_was_drawn_is_withdrawn(method: str, fault: str, tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    original = kinds.drawn.drawn_table

    def spoilt(*said: Any) -> Any:
        made = original(*said)
        if fault == "lost":
            return made.limit(30)
        if fault == "moved":
            return made.mutate(illness=(made.illness == "hiv").ifelse("flu", made.illness))
        return made.mutate(row=1)

    monkeypatch.setattr(kinds.drawn, "drawn_table", spoilt)
    with pytest.raises(UnprovenError, match="withdrawn"):
        run(tmp_path, hospital.records(), asked(method))
    assert not (tmp_path / "out").exists()


@every_method
def test_check_finds_what_is_broken_in_a_file(method: str, tmp_path: Path) -> None:
    run(tmp_path, hospital.records(), asked(method))
    folder = tmp_path / "out"
    data = (folder / "release.csv").read_text()
    head, *lines = data.splitlines(keepends=True)
    (folder / "release.csv").write_text("".join([head, *lines[3:]]))
    broken = api.check(folder)
    assert not broken.holds and "rows" in [one.name for one in broken.findings if not one.holds]
    assert any("hash differs" in note for note in broken.notes)
    if method == "e-dp":
        (folder / "release.csv").write_text(data.replace(",cold\n", ",plague\n"))
        assert [one.name for one in api.check(folder).findings if not one.holds] == ["partition"]
    with pytest.raises(RequestError, match="counts, sampled or noisy"):
        api.measure(folder, original=tmp_path / "table.csv")
    (folder / "manifest.json").unlink()
    with pytest.raises(RequestError, match="How the rows of this release were drawn is not known"):
        api.check(folder / "release.csv", recipe=asked(method))


@every_method
def test_frames_come_back_with_the_sensitive_values_they_had(method: str) -> None:
    import pyarrow as pa

    rng = random.Random(2)
    table = pa.table({"i": [rng.randrange(9) for _ in range(300)],
                      "s": [rng.randrange(4) for _ in range(300)], "p": [{"x": k} for k in range(300)]})
    said = {"name": method, **ASKED[method]}
    if method == "e-dp":
        said |= {"values": ["0", "1", "2", "3"], "bounds": {"i": [0, 9]}}
    recipe = Recipe.from_dict({"columns": {"i": {"role": "quasi"}, "s": {"role": "sensitive"}},
                               "method": said, "seed": 1})
    result = anonymize(table, recipe, report=False)
    assert isinstance(result.release, pa.Table) and result.release.column_names == ["i", "s"]
    assert set(map(str, result.release["s"].to_pylist())) <= set("0123")
    assert method == "e-dp" or result.release.schema.field("s").type == table.schema.field("s").type


@every_method
def test_columns_may_have_the_names_that_are_used_on_the_way(method: str) -> None:
    import pyarrow as pa

    rng = random.Random(3)
    table = pa.table({name: [rng.randrange(5) for _ in range(300)] for name in ("place", "v1", "s", "v0")})
    said = {"name": method, **ASKED[method]}
    if method == "e-dp":
        said |= {"values": [*"01234"], "bounds": {"place": [0, 5], "v1": [0, 5]}}
    columns = {"place": {"role": "quasi"}, "v1": {"role": "quasi"}, "v0": {"role": "sensitive"}}
    released = anonymize(table, Recipe.from_dict({"columns": columns, "method": said, "seed": 1}),
                         report=False).release
    assert released.column_names == ["place", "v1", "v0"] and released.num_rows > 20


@pytest.mark.parametrize(("method", "finding"), [("hybrid-style", "noise"), ("e-dp", "budget")])
def test_check_holds_the_budget_against_the_recipe_that_is_given(method: str, finding: str,
                                                                 tmp_path: Path) -> None:
    run(tmp_path, hospital.records(), asked(method))
    assert api.check(tmp_path / "out", asked(method)).holds
    less = api.check(tmp_path / "out", asked(method, method={"epsilon": 0.5}))
    assert [one.name for one in less.findings if not one.holds] == [finding]


def test_whether_the_table_has_all_of_the_domain_does_not_show_in_the_file() -> None:
    import pyarrow as pa

    rng = random.Random(2)
    rows = [{"i": rng.randrange(9), "s": rng.randrange(3)} for _ in range(300)]
    recipe = Recipe.from_dict({"columns": {"i": {"role": "quasi"}, "s": {"role": "sensitive"}}, "seed": 1,
                               "method": {"name": "e-dp", "epsilon": 1, "values": [*"0123"],
                                          "bounds": {"i": [0, 9]}, "specializations": 2}})
    without, whole = (anonymize(pa.Table.from_pylist(one), recipe, report=False).release.schema
                      for one in (rows, [*rows, {"i": 4, "s": 3}]))
    assert without == whole and whole.field("s").type == pa.string()


def test_whoever_knows_seed_and_register_does_not_know_the_sample(tmp_path: Path) -> None:
    """With one record a tuple, the draws of the seed alone would say of everybody whether they are in it."""
    rows = [{"age": str(n), "sex": "f", "illness": "flu" if n % 2 else "cold"} for n in range(200)]
    columns = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "illness": {"role": "sensitive"}}
    method = {"name": "composition-style", "k": 4, "alpha": 0.7, "rho": 0.4}
    source = tmp_path / "table.csv"
    source.write_bytes(hospital.as_csv(rows, ("age", "sex", "illness")))
    recipe = Recipe.from_dict({"columns": columns, "method": method, "seed": 3})
    made = anonymize(source, recipe, tmp_path / "out", report=False).manifest
    register = np.random.default_rng(made["seed"]).binomial(np.ones(200, dtype=int), 0.4)
    assert made["drawn"]["records"] != register.sum()
