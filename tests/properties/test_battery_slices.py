"""What every method that slices promises, over the registry, from the written file by plain loops."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.properties import hospital
from tests.properties.test_battery import covers

from sfumato import api, kinds
from sfumato.errors import InfeasibleError, RecipeError, RequestError, TableError, UnprovenError
from sfumato.methods.registry import METHODS
from sfumato.pipeline import Result, anonymize
from sfumato.recipe import Recipe

SLICES = sorted(name for name, method in METHODS.items() if method.kind == "slices")
QUASI = ("age", "zip", "sex", "group")
every_method = pytest.mark.parametrize("method", SLICES)
Rows = list[dict[str, Any]]


def test_the_registry_is_whole() -> None:
    assert SLICES == ["bucketization", "merging-style", "slicing", "ul"]


def asked(method: str, /, **changes: Any) -> Recipe:
    """The battery's recipe, its promise made by the method."""
    said = {"name": method, "k": 4, "l": 2, **changes.pop("method", {})}
    plain = {"criteria": [], "suppression": 0.0, "method": said}
    return Recipe.from_dict(hospital.recipe(**{**plain, **changes}))


def run(folder: Path, rows: Rows, recipe: Recipe, out: str = "out",
        columns: tuple[str, ...] = hospital.COLUMNS) -> tuple[Result, Rows, bytes]:
    """Release the rows from a CSV file: the result, what was written as rows, and its bytes."""
    source = folder / "table.csv"
    source.write_bytes(hospital.as_csv(rows, columns))
    result = anonymize(source, recipe, folder / out, report=False)
    data = (folder / out / "release.csv").read_bytes()
    return result, list(csv.DictReader(io.StringIO(data.decode()))), data


@pytest.fixture(scope="module", params=SLICES)
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    """One run of each method, looked at by many tests."""
    rows = hospital.records()
    return rows, *run(tmp_path_factory.mktemp("run"), rows, asked(request.param))


def spelt(value: Any) -> Any:
    return None if hospital.absent(value) else value


def buckets(released: Rows) -> dict[str, Rows]:
    """The rows of each bucket; they stand together."""
    runs = [(number, list(rows)) for number, rows in groupby(released, key=lambda row: row["bucket"])]
    assert len({number for number, _ in runs}) == len(runs)
    return dict(runs)


def fits(row: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether a released cell is a person's value, or covers it."""
    label = spelt(row[name])
    return label == value or (value is not None and label is not None and covers(name, label, value))


def generalized(result: Result) -> set[str]:
    """Columns whose cells may be coarser than values."""
    told = [result.manifest.get(key, {}).get("groups", []) for key in ("cells", "merged")]
    return {name for groups in told for group in groups for name in group}


def test_the_verdict_holds_on_the_written_rows(done: tuple[Any, ...]) -> None:
    _, result, released, _ = done
    assert result.manifest["verdict"]["holds"] and result.verdict.holds
    *beside, sensitive = result.manifest["column_groups"][-1]
    assert sensitive == "illness"
    for rows in buckets(released).values():
        assert len(rows) >= 4
        blocks: dict[Any, Counter[Any]] = {}
        for row in rows:
            block = tuple(spelt(row[name]) for name in beside)
            blocks.setdefault(block, Counter())[spelt(row["illness"])] += 1
        assert all(2 * max(held.values()) <= held.total() for held in blocks.values())
    assert len(buckets(released)) == result.manifest["classes"] == result.manifest["buckets"]["count"] > 5


def test_nobody_gets_a_value_with_more_than_one_chance_in_l(done: tuple[Any, ...]) -> None:
    """p(t, s) of every person of the private table, from the file, with fractions."""
    private, result, released, _ = done
    groups = result.manifest["column_groups"]
    parts = [[name for name in group if name != "illness"] for group in groups]
    people = {tuple(spelt(row[name]) for name in QUASI) for row in private}
    shown = buckets(released)
    for person in people:
        values = dict(zip(QUASI, person, strict=True))
        joint: Counter[Any] = Counter()
        for rows in shown.values():
            f = Fraction(1)
            for part in parts:
                f *= Fraction(sum(all(fits(r, n, values[n]) for n in part) for r in rows), len(rows))
            block = [r for r in rows if f and all(fits(r, n, values[n]) for n in parts[-1])]
            for row in block:
                joint[spelt(row["illness"])] += f / len(block)  # type: ignore[assignment]
        swapped = joint.total() == 0  # a pair that was swapped away may match nowhere
        assert (swapped and generalized(result)) or max(joint.values()) * 2 <= joint.total()


def test_the_values_of_every_group_are_those_of_the_bucket_s_people(done: tuple[Any, ...]) -> None:
    """The plain id, permuted within its bucket, says who is in the bucket."""
    private, result, released, _ = done
    by_id = {row["id"]: row for row in private}
    assert len(released) == len(private) == result.manifest["records"]["kept"]
    assert {row["id"] for row in released} == set(by_id)
    coarser = generalized(result)
    kept = 0
    for rows in buckets(released).values():
        people = [by_id[row["id"]] for row in rows]
        for group in [*result.manifest["column_groups"], ["note"]]:
            if coarser & set(group):
                continue
            ours, theirs = (Counter(tuple(spelt(one[name]) if group != ["note"] else one[name]
                                          for name in group) for one in side) for side in (rows, people))
            assert ours == theirs
        kept += sum(all(spelt(row[n]) == spelt(by_id[row["id"]][n]) for n in QUASI) for row in rows)
    n = len(buckets(released))  # an order of chance leaves one row of each bucket, with a variance of one
    assert kept < n + 4 * n ** 0.5 < len(private) / 2, "rows have stayed together"


def test_groups_stand_in_orders_of_their_own(tmp_path: Path) -> None:
    """One bucket of 400 records, two groups: each original pairing comes back about once in all."""
    rows = [{"q": f"q{n}", "s": f"s{n % 7}", "p": f"p{n}"} for n in range(400)]
    recipe = Recipe.from_dict({
        "columns": {"q": {"role": "quasi"}, "s": {"role": "sensitive"}}, "seed": 3,
        "method": {"name": "slicing", "k": 400, "l": 2}})
    _, released, _ = run(tmp_path, rows, recipe, columns=("q", "s", "p"))
    assert {row["bucket"] for row in released} == {"0"}
    same = sum(row["q"][1:] == row["p"][1:] for row in released)
    assert same < 8  # of 400, expected 1
    truly = sum(int(row["q"][1:]) % 7 == int(row["s"][1:]) for row in released)
    assert 25 < truly < 95  # expected 57, standard deviation 7
    for name in ("q", "p"):
        places = [int(row[name][1:]) for row in released]
        assert sum(b - a == 1 for a, b in pairwise(places)) < 8


def test_identifying_columns_are_gone_and_nothing_private_is_told(done: tuple[Any, ...]) -> None:
    _, result, released, data = done
    assert list(released[0]) == ["bucket", *(name for name in hospital.COLUMNS if name != "name")]
    told = json.dumps(result.manifest, ensure_ascii=False)
    assert b"person" not in data and "person" not in told
    assert "flu" not in told and "hiv" not in told and "r17" not in told


def test_order_says_nothing_of_the_input(done: tuple[Any, ...]) -> None:
    rows, _, released, _ = done
    place = {row["id"]: n for n, row in enumerate(rows)}
    order = [place[row["id"]] for row in released]
    n = len(order)
    squares = sum((a - b) ** 2 for a, b in enumerate(order))
    assert abs(1 - 6 * squares / (n * (n * n - 1))) < 0.19
    assert sum(b - a == 1 for a, b in pairwise(order)) < 6


@every_method
def test_same_bytes_again_and_from_permuted_rows(method: str, tmp_path: Path) -> None:
    rows = hospital.records()
    _, _, first = run(tmp_path, rows, asked(method))
    _, _, again = run(tmp_path, rows, asked(method), "again")
    _, _, permuted = run(tmp_path, random.Random(4).sample(rows, len(rows)), asked(method), "permuted")
    _, _, other = run(tmp_path, rows, asked(method, seed=8), "other")
    assert first == again == permuted
    assert other != first


@every_method
def test_same_bytes_on_one_thread_and_many(method: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    n, rng = 60_000, random.Random(1)
    table = pa.table({"a": [rng.randrange(50) for _ in range(n)], "b": rng.choices("xyz", k=n),
                      "s": rng.choices("klmnop", k=n), "p": list(range(n)), "q": rng.choices("01", k=n)})
    pq.write_table(table, tmp_path / "t.parquet")
    recipe = Recipe.from_dict({
        "columns": {"a": {"role": "quasi"}, "b": {"role": "quasi"}, "s": {"role": "sensitive"}},
        "method": {"name": method, "k": 100, "l": 3}, "seed": 1})
    data = []
    for threads in (1, 4):
        anonymize(tmp_path / "t.parquet", recipe, tmp_path / str(threads), report=False, threads=threads)
        data.append((tmp_path / str(threads) / "release.csv").read_bytes())
    assert data[0] == data[1]


@every_method
def test_permuting_columns_or_renaming_values_breaks_no_promise(method: str, tmp_path: Path) -> None:
    rows = hospital.records()
    first, _, _ = run(tmp_path, rows, asked(method))
    shuffled = ("note", "group", "illness", "id", "age", "sex", "zip", "name")
    moved, _, _ = run(tmp_path, rows, asked(method), "moved", shuffled)
    new = {"f": "zzz", "m": "aaa", "flu": "q9", "hiv": "a0", "flu-flu": "m", "cold": "0"}
    renamed = [row | {"sex": new[row["sex"]], "illness": new.get(row["illness"], row["illness"])}
               for row in rows]
    other, _, _ = run(tmp_path, renamed, asked(method), "renamed")
    for result in (moved, other):
        assert result.verdict.holds and result.manifest["records"] == first.manifest["records"]


@every_method
def test_frames_come_back_with_their_types(method: str) -> None:
    import datetime as dt

    import pandas as pd
    import pyarrow as pa

    rng, n, day = random.Random(2), 200, dt.date(2020, 1, 1)
    columns = {"i": [rng.choice([None, *range(9)]) for _ in range(n)],
               "f": [rng.choice([0.5, 1.0, -1.5]) for _ in range(n)],
               "d": [day + dt.timedelta(rng.randrange(9)) for _ in range(n)],
               "s": [rng.choice([None, 1, 2, 3, 4]) for _ in range(n)], "p": [{"x": k} for k in range(n)]}
    recipe = Recipe.from_dict({"columns": {"i": {"role": "quasi"}, "f": {"role": "quasi"},
                                           "d": {"role": "quasi", "hierarchy": {"dates": ["month"]}},
                                           "s": {"role": "sensitive"}},
                               "method": {"name": method, "k": 5, "l": 2}, "seed": 1})
    table = pa.table(columns)
    result = anonymize(table, recipe, report=False)
    assert isinstance(result.release, pa.Table)
    for name in ("i", "f", "d", "s"):
        if name not in generalized(result):
            assert result.release.schema.field(name).type == table.schema.field(name).type
            assert Counter(result.release[name].to_pylist()) == Counter(columns[name])
    frame = anonymize(pd.DataFrame(columns), recipe, report=False).release
    assert isinstance(frame, pd.DataFrame) and len(frame) == n and frame["bucket"].is_monotonic_increasing


@every_method
def test_columns_may_have_the_names_that_are_used_on_the_way(method: str) -> None:
    import pyarrow as pa

    rng, names = random.Random(3), ("place", "value", "v0", "p0", "s", "row", "turn", "tuple")
    table = pa.table({name: rng.choices("abcd", k=120) for name in names})
    said = {name: {"role": "quasi" if n < 3 else "sensitive"} for n, name in enumerate(names[:4])}
    recipe = Recipe.from_dict({"columns": said, "method": {"name": method, "k": 4, "l": 2}, "seed": 1})
    released = anonymize(table, recipe, report=False).release
    assert released.column_names == ["bucket", *names]
    for name in names[3:]:
        assert Counter(released[name].to_pylist()) == Counter(table[name].to_pylist())


@every_method
def test_infeasible_targets_say_what_and_what_to_do(method: str, tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError) as caught:
        run(tmp_path, hospital.records(), asked(method, method={"l": 9}))
    message = str(caught.value)
    assert "'illness' has 5 values" in message and "1/9" in message and "flu" not in message
    assert "Lower l to" in caught.value.remedy and caught.value.exit_code == 3
    assert not (tmp_path / "out").exists()
    with pytest.raises(InfeasibleError, match="must have 241 records, and the table has 240"):
        run(tmp_path, hospital.records(), asked(method, method={"k": 241}))


@every_method
@pytest.mark.parametrize(("changes", "said"), [
    ({"method": {"k": 0}}, "method.k"), ({"method": {"l": 0.5}}, "method.l"),
    ({"method": {"k": True}}, "whole number"), ({"method": {"l": "2"}}, "It should be a number"),
    ({"criteria": [{"k-anonymity": {"k": 2}}]}, "makes its own promise"),
    ({"columns": {"age": {"role": "quasi"}}}, "protects one sensitive column, and the recipe has none"),
])
def test_faults_of_the_recipe(method: str, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        asked(method, **changes)


@every_method
def test_a_column_named_bucket_is_refused(method: str, tmp_path: Path) -> None:
    rows = [row | {"bucket": "1"} for row in hospital.records()]
    with pytest.raises(TableError, match="Rename the column"):
        run(tmp_path, rows, asked(method), columns=(*hospital.COLUMNS, "bucket"))


@every_method
@pytest.mark.parametrize("fault", ["lost", "moved", "swapped", "hidden"])
def test_another_release_than_was_found_is_withdrawn(method: str, fault: str, tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    original = kinds.slices.sliced_table

    def spoilt(*said: Any) -> Any:
        made = original(*said)
        if fault == "lost":
            return made.limit(239)
        if fault == "moved":
            return made.mutate(bucket=(made.bucket == 0).ifelse(1, made.bucket))
        if fault == "swapped":
            return made.mutate(sex=(made.bucket == 0).ifelse("x", made.sex))
        return made.mutate(row=1)

    monkeypatch.setattr(kinds.slices, "sliced_table", spoilt)
    with pytest.raises(UnprovenError, match="withdrawn"):
        run(tmp_path, hospital.records(), asked(method))
    assert not (tmp_path / "out").exists()


@every_method
def test_check_finds_what_is_broken_in_a_file(method: str, tmp_path: Path) -> None:
    result, _, data = run(tmp_path, hospital.records(), asked(method))
    folder = tmp_path / "out"
    verdict = api.check(folder)
    assert verdict.holds and verdict.classes == result.verdict.classes and not verdict.notes
    (folder / "release.csv").write_bytes(data.replace(b",hiv,", b",flu,").replace(b",cold,", b",flu,"))
    broken = api.check(folder)
    assert not broken.holds and [one.name for one in broken.findings if not one.holds] == [
        "matching-probability"]
    assert any("hash differs" in note for note in broken.notes)
    head, *lines = data.decode().splitlines(keepends=True)
    in_first = sum(line.startswith("0,") for line in lines)
    (folder / "release.csv").write_text("".join([head, *lines[in_first - 3:]]))
    assert next(one.name for one in api.check(folder).findings if not one.holds) == "bucket-size"
    with pytest.raises(RequestError, match="nobody's"):
        api.measure(folder)


@every_method
def test_check_judges_the_sensitive_column_that_the_recipe_names(method: str, tmp_path: Path) -> None:
    run(tmp_path, hospital.records(), asked(method))
    columns = hospital.recipe()["columns"]
    other = {**columns, "illness": {"role": "quasi"}, "sex": {"role": "sensitive"}}
    with pytest.raises(RequestError, match="protects the column 'illness'"):
        api.check(tmp_path / "out", asked(method, columns=other))


def test_check_takes_the_counts_of_broken_rules_for_those_rules_alone(tmp_path: Path) -> None:
    def with_rules(*pairs: tuple[str, str]) -> Recipe:
        groups = [["sex", "group"], ["age", "zip"], ["illness"]]
        return asked("ul", method={"groups": groups,
                                   "rules": [{"sex": sex, "group": group} for sex, group in pairs]})

    folder = tmp_path / "out"
    run(tmp_path, hospital.records(), with_rules(("f", "n"), ("f", "m")))
    assert api.check(folder, with_rules(("f", "n"), ("f", "m"))).holds
    assert api.check(folder, with_rules(("x", "n"))).holds
    other = api.check(folder, with_rules(("m", "n"), ("m", "m")))
    assert [one.name for one in other.findings if not one.holds] == ["rules"]


@every_method
def test_the_seed_in_the_manifest_does_not_undo_the_permutations(method: str, tmp_path: Path,
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has release and manifest repeats the draws: they would put the groups together again."""
    original, draws = METHODS[method].solve, []

    def watched(self: Any, problem: Any, rng: np.random.Generator) -> Any:
        draws.append(copy.deepcopy(rng).random(20).tolist())
        return original(self, problem, rng)

    monkeypatch.setattr(METHODS[method], "solve", watched)
    rows = [row | {"name": "x"} for row in hospital.records()]
    result, released, _ = run(tmp_path, rows, asked(method))
    assert draws[0] != np.random.default_rng(result.manifest["seed"]).random(20).tolist()
    chance, bucket = np.random.default_rng(result.manifest["seed"]), np.array([int(r["bucket"]) for r in
                                                                               released])
    chance.permutation(int(bucket.max()) + 1)
    undone: list[dict[str, str]] = [{} for _ in released]
    for group in result.manifest["column_groups"]:
        for at, of in enumerate(np.argsort(bucket + chance.random(len(bucket)))):
            undone[of] |= {name: released[at][name] for name in group}
    names = (*QUASI, "illness")
    private = Counter(tuple(spelt(row[name]) for name in names) for row in rows)
    kept = Counter(tuple(spelt(row[name]) for name in names) for row in undone) & private
    assert kept.total() < len(rows) / 2
    changed = [rows[0] | {"illness": "hiv" if rows[0]["illness"] != "hiv" else "flu"}, *rows[1:]]
    run(tmp_path, changed, asked(method), "changed")
    assert draws[1] != draws[0]
