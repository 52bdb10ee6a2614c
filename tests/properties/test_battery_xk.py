"""What a method that adds false records promises, from the written files by plain loops."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sfumato import api
from sfumato.errors import RequestError, UnprovenError
from sfumato.kinds import kind_of
from sfumato.methods.registry import METHODS, make
from sfumato.pipeline import Result, anonymize, prove
from sfumato.prepare import prepare
from sfumato.recipe import Recipe
from sfumato.table import open_table

QUASI = ("course", "yob")
COLUMNS = ("name", "course", "yob", "grade", "posts", "key", "hash", "score")
Rows = list[dict[str, str]]


def records(n: int = 400) -> Rows:
    """Students of a few courses: small pairs, missing values in every spelling, and two columns of keys."""
    rng = random.Random(8)
    keys = rng.sample(range(10_000, 99_999), n)
    years = ["", "-", "NA", *[str(1970 + int(rng.betavariate(2, 3) * 30)) for _ in range(27)]]
    return [{"name": f"person {i}", "course": rng.choice("abc"),
             "yob": rng.choice(years),
             "grade": rng.choice(["A", "B", "C", "NA", ""]), "posts": str(int(rng.expovariate(0.1))),
             "key": f"S-{keys[i]}", "hash": f"{rng.getrandbits(48):012x}", "score": f"{rng.random():.2f}"}
            for i in range(n)]


def recipe(**changes: Any) -> Recipe:
    method = {"name": "xk", "xk": 3, "generalize": {"yob": 1}, "suppress_cells": ["yob"],
              **changes.pop("method", {})}
    return Recipe.from_dict({
        "missing": ["-", "NA"], "suppressed": "drop", "suppression": 1.0, "seed": 7, "method": method,
        "columns": {"name": {"role": "identifying"}, "course": {"role": "quasi"},
                    "yob": {"role": "quasi", "hierarchy": {"interval": [5]}}, "grade": {"role": "sensitive"}},
        "criteria": [{"k-anonymity": {"k": 6}}, {"l-diversity": {"column": "grade", "l": 2}}], **changes})


def as_csv(rows: Rows, columns: tuple[str, ...] = COLUMNS) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def run(folder: Path, rows: Rows, out: str = "out", **changes: Any) -> tuple[Result, Rows, Rows]:
    (folder / "t.csv").write_bytes(as_csv(rows))
    result = anonymize(folder / "t.csv", recipe(**changes), folder / out, report=False)
    return result, read(folder / out / "release.csv"), read(folder / out / "private" / "added.csv")


def read(path: Path) -> Rows:
    return list(csv.DictReader(io.StringIO(path.read_text())))


@pytest.fixture(scope="module", params=[False, True], ids=["records", "cells"])
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    """One run with record suppression, one with sensitive suppression."""
    rows = records()
    said = {"sensitive_suppression": request.param}
    return rows, *run(tmp_path_factory.mktemp("run"), rows, method=said), request.param


def pair(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row[name] for name in QUASI)


def absent(value: str) -> bool:
    return value in ("", "-", "NA")


def whole(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row.values())


def test_the_registry_is_whole() -> None:
    assert [name for name, method in METHODS.items() if method.adds] == ["xk"]


def test_pairs_and_real_records_counted_by_hand(done: tuple[Any, ...]) -> None:
    rows, result, released, added, cells_only = done
    assert added and not Counter(map(whole, added)) - Counter(map(whole, released))
    real = Counter(map(whole, released)) - Counter(map(whole, added))
    sizes, invented = Counter(map(pair, released)), Counter(map(pair, added))
    assert min(sizes.values()) == 6
    assert min(sizes[one] - invented[one] for one in sizes) == 3
    for one in sizes:
        grades = [values[2] for values in real.elements() if values[:2] == one]
        shown = {None if absent(grade) else grade for grade in grades if grade != "*"}
        assert len(shown) >= 2 or (cells_only and not shown)
    counted = result.manifest["records"]
    assert len(released) == counted["kept"] + counted["added"] and len(added) == counted["added"]
    assert counted["received"] == len(rows) == counted["kept"] + counted["suppressed"]
    assert result.verdict.added == len(added) and result.verdict.records == len(released)
    assert [f.name for f in result.verdict.findings] == ["k-anonymity", "l-diversity", "real-records"]
    assert any(row["grade"] == "*" for row in released) == cells_only


def test_real_records_are_as_they_were(done: tuple[Any, ...]) -> None:
    """Their labels stand over their values, every other cell is untouched, and nobody is there twice."""
    rows, _, released, added, cells_only = done
    private = {row["key"]: row for row in rows}
    false = {row["key"] for row in added}
    seen = set()
    for row in released:
        if row["key"] in false:
            continue
        before = private[row["key"]]
        assert row["key"] not in seen
        seen.add(row["key"])
        assert row["course"] == before["course"]
        assert all(row[name] == before[name] for name in ("posts", "hash", "score"))
        assert row["grade"] == before["grade"] or (cells_only and row["grade"] == "*")
        low, _, high = row["yob"].strip("[)").partition("..")
        if not absent(before["yob"]) and row["yob"] not in ("*", before["yob"]):
            assert int(low) <= int(before["yob"]) < int(high)
        elif absent(before["yob"]):
            assert row["yob"] in ("", "*")
    assert "name" not in released[0]


def test_false_records_look_like_records(done: tuple[Any, ...]) -> None:
    """Formats, keys, values and places: nothing in the release tells them apart."""
    rows, _, released, added, _ = done
    keys, hashes = {row["key"] for row in rows}, {row["hash"] for row in rows}
    assert len({row["key"] for row in released}) == len({row["hash"] for row in released}) == len(released)
    numbers = [int(key[2:]) for key in keys]
    for row in added:
        assert row["key"] not in keys and row["key"].startswith("S-")
        assert min(numbers) < int(row["key"][2:]) < max(numbers)
        assert row["hash"] not in hashes and len(row["hash"]) == 12 and int(row["hash"], 16) >= 0
        assert row["posts"] in {one["posts"] for one in rows}
        assert row["score"] in {one["score"] for one in rows}
        values = {one["grade"] for one in released if pair(one) == pair(row)}
        assert row["grade"] in values
    false = {row["key"] for row in added}
    places = [n for n, row in enumerate(released) if row["key"] in false]
    mean, n, m = sum(places) / len(places), len(released), len(places)
    spread = ((n + 1) * (n - m) / (12 * m)) ** 0.5  # of the mean of m places drawn without replacement
    assert abs(mean - (n - 1) / 2) < 4 * spread
    together = sum(b - a == 1 for a, b in pairwise(places))
    assert together < m * m / n + 4 * (m * m / n) ** 0.5
    ours = sorted(int(row["posts"]) for row in added)
    theirs = sorted(int(row["posts"]) for row in rows)
    gap = max(abs(sum(x <= v for x in ours) / m - sum(x <= v for x in theirs) / len(rows)) for v in theirs)
    assert gap < 1.95 * (1 / m + 1 / len(rows)) ** 0.5  # Kolmogorov-Smirnov at 0.001


def test_same_bytes_again_and_from_permuted_rows(tmp_path: Path) -> None:
    rows = records()
    found = []
    for n, order in enumerate([rows, rows, random.Random(1).sample(rows, len(rows))]):
        run(tmp_path, order, str(n))
        found.append([(tmp_path / str(n) / one).read_bytes() for one in ("release.csv", "private/added.csv")])
    assert found[0] == found[1] == found[2]
    _, _, other = run(tmp_path, rows, "other", seed=8)
    first = read(tmp_path / "0/private/added.csv")
    assert {row["key"] for row in other}.isdisjoint(row["key"] for row in first)


def test_the_seed_of_false_records_is_not_published(done: tuple[Any, ...]) -> None:
    _, result, _, added, _ = done
    assert result.manifest["seed"] is None and "seed" not in result.manifest["recipe"]
    told = json.dumps(result.manifest)
    assert not any(row["key"] in told for row in added)
    assert Path(result.private["added"]).parent.stat().st_mode & 0o077 == 0


def test_one_record_changed_in_the_table_changes_every_draw(tmp_path: Path) -> None:
    """Who has the seed and all but one record cannot repeat the draws."""
    rows = records()
    _, _, first = run(tmp_path, rows)
    rows[0] = {**rows[0], "grade": "C" if rows[0]["grade"] != "C" else "A"}
    _, _, other = run(tmp_path, rows, "other")
    assert len({row["key"] for row in first} & {row["key"] for row in other}) == 0


@pytest.mark.parametrize("planted", ["a class with too few real records", "a record that is not there",
                                     "false records hide that the real ones are alike", "one too few"])
def test_planted_faults_are_seen(planted: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(as_csv(records()))
    with open_table(tmp_path / "t.csv") as opened:
        asked = recipe(method={"sensitive_suppression": False})
        prepared = prepare(opened.table, asked)
        import numpy as np

        from sfumato.methods.base import Problem

        recoding = make(asked.method).solve(Problem(prepared.frequency, prepared.criteria, 1.0,
                                                    prepared.weights), np.random.default_rng(0))
        kind = kind_of(prepared, recoding)
        release = kind.released(7).to_pyarrow().to_pylist()
        added = kind.private(7)["added"].to_pyarrow().to_pylist()
    spoil(planted, release, added)
    import pyarrow as pa

    with (open_table(pa.Table.from_pylist(release)) as one, open_table(pa.Table.from_pylist(added)) as two,
          pytest.raises(UnprovenError)):
        prove(one.table, kind, two.table)


def spoil(planted: str, release: Rows, added: Rows) -> None:
    """Plant the fault."""
    if planted == "one too few":
        release.remove(added.pop())
    elif planted == "a record that is not there":
        added[0] = {**added[0], "course": "zzz"}
    elif planted == "a class with too few real records":
        one = next(row for row in release if row not in added and pair(row) == pair(added[0]))
        added.append(one)
    else:
        false = Counter(map(whole, added))
        for n, row in enumerate(release):
            if pair(row) == pair(added[0]) and not false[whole(row)]:
                release[n] = {**row, "grade": "A"}
        at = next(n for n, row in enumerate(release) if false[whole(row)] and pair(row) == pair(added[0]))
        place = added.index(release[at])
        release[at] = added[place] = {**release[at], "grade": "B"}


def test_keys_without_room_for_others_are_refused(tmp_path: Path) -> None:
    """Numbers from 1 to n: any other would stand out."""
    rows = [{**row, "key": str(n)} for n, row in enumerate(records(), start=1)]
    with pytest.raises(RequestError) as caught:
        run(tmp_path, rows)
    assert "'key' gives every record a value of its own" in str(caught.value)
    assert "role identifying" in caught.value.remedy and not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_plain_k_adds_nothing_and_has_nothing_to_hide(format: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(as_csv(records()))
    done = anonymize(tmp_path / "t.csv", recipe(method={"xk": 6}), tmp_path / "out", format=format,
                     report=False)
    assert done.verdict.holds and done.manifest["records"]["added"] == 0 and done.manifest["seed"] == 7
    assert "real-records" in [found.name for found in done.verdict.findings]
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["manifest.json", f"release.{format}"]
    again = api.check(tmp_path / "out")
    assert again.holds and "real-records" in [found.name for found in again.findings]


def test_check_counts_real_records_from_the_private_folder(tmp_path: Path) -> None:
    run(tmp_path, records())
    verdict = api.check(tmp_path / "out")
    assert verdict.holds and verdict.added and "real-records" in [f.name for f in verdict.findings]
    (tmp_path / "out" / "private" / "added.csv").unlink()
    alone = api.check(tmp_path / "out")
    assert alone.holds and not alone.added and any("are false" in note for note in alone.notes)


def test_every_step_is_kept_where_asked(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(as_csv(records()))
    anonymize(tmp_path / "t.csv", recipe(), tmp_path / "out", report=False, keep_steps=True)
    steps = sorted((tmp_path / "out" / "private" / "steps").glob("*.csv"))
    names = [path.stem for path in steps if not path.stem.endswith("-pairs")]
    assert names == ["1-unified", "2-not-diverse-suppressed", "3-generalized", "4-cells-suppressed",
                     "5-suppressed", "6-filled"]
    for name in names:
        folder = tmp_path / "out/private/steps"
        table, pairs = read(folder / f"{name}.csv"), read(folder / f"{name}-pairs.csv")
        sizes = Counter(map(pair, table))
        assert {pair(row): int(row["records"]) for row in pairs} == sizes
        grades: dict[Any, set[str | None]] = {}
        for row in table:
            grades.setdefault(pair(row), set()).add(None if absent(row["grade"]) else row["grade"])
        assert {pair(row): int(row["diversity of grade"]) for row in pairs} == {
            one: len(values) for one, values in grades.items()}
    release = Counter(map(whole, read(tmp_path / "out" / "release.csv")))
    assert Counter(map(whole, read(tmp_path / "out/private/steps/6-filled.csv"))) == release
    first = read(tmp_path / "out/private/steps/1-unified.csv")
    assert len(first) == 400 and not {row["yob"] for row in first} & {"-", "NA"}


@pytest.mark.parametrize("course", ["../../../../course", "kurs/größe", "c" * 400])
def test_what_a_column_is_called_leads_no_step_astray(course: str, tmp_path: Path) -> None:
    """Steps are private: they stand in their folder whatever the columns are called."""
    rows = [{course if name == "course" else name: row[name] for name in COLUMNS} for row in records()]
    (tmp_path / "t.csv").write_bytes(as_csv(rows, tuple(rows[0])))
    columns = {"name": {"role": "identifying"}, course: {"role": "quasi"}, "yob": {"role": "quasi"},
               "grade": {"role": "sensitive"}}
    method = {"introduce": "gradually", "generalize": {}, "suppress_cells": [course, "yob"]}
    anonymize(tmp_path / "t.csv", recipe(method=method, columns=columns), tmp_path / "in" / "out",
              report=False, keep_steps=True)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in", "t.csv"]
    assert sorted(one.name for one in (tmp_path / "in/out/private").iterdir()) == ["added.csv", "seed.txt",
                                                                                  "steps"]
    assert len(list((tmp_path / "in/out/private/steps").glob("*.csv"))) == 12


def test_sensitive_values_that_read_like_suppressed_ones_are_refused(tmp_path: Path) -> None:
    rows = [{**row, "grade": row["grade"].replace("C", "*")} for row in records()]
    with pytest.raises(RequestError, match="has cells that are \\*, as"):
        run(tmp_path, rows, method={"sensitive_suppression": True})
    assert run(tmp_path, rows)[0].verdict.holds


def test_frames_of_typed_columns(tmp_path: Path) -> None:
    """Numbers, times and missing values: false records have the types of the others."""
    import datetime as dt

    import pyarrow as pa

    rng = random.Random(3)
    table = pa.table({
        "course": rng.choices("abcdefghij", weights=range(1, 11), k=60),
        "yob": pa.array(rng.choices([1980, 1985, 1990, None], k=60), pa.int64()),
        "grade": pa.array(rng.choices([0.5, 1.0, None], k=60)), "id": rng.sample(range(10 ** 6), 60),
        "when": [dt.datetime(2020, 1, 1) + dt.timedelta(seconds=s) for s in rng.sample(range(10 ** 6), 60)],
        "ratio": [rng.random() for _ in range(60)], "flag": rng.choices([True, False, None], k=60),
        "name": [f"n{i}" for i in range(60)]})
    result = anonymize(table, recipe(missing=[], method={"xk": 2}), report=False)
    assert result.verdict.holds and result.verdict.added == result.private["added"].num_rows > 0
    released = result.release
    assert released.schema.field("id").type == pa.int64()
    assert released.schema.field("grade").type == pa.float64()
    for name in ("id", "when", "ratio"):
        assert len(set(released.column(name).to_pylist())) == released.num_rows


def test_the_report_tells_steps_and_predictions(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(as_csv(records()))
    said = {"introduce": "best", "sensitive_suppression": True}
    result = anonymize(tmp_path / "t.csv", recipe(method=said), tmp_path / "out", report="json")
    summary = json.loads((tmp_path / "out" / "report.json").read_text())
    repair = summary["changes"]["repair"]
    assert [one["step"] for one in repair["steps"]][:2] == ["unified", "sensitive cells suppressed"]
    assert repair["steps"][-1]["added"] == str(result.verdict.added) and len(repair["ways"]) == 3
    assert [one["what"] for one in repair["predicted"]] == ["Precision", "Data loss"]
    assert any(point["title"] == "False records" for point in summary["limits"])
    sizes = Counter(map(pair, read(tmp_path / "out" / "release.csv")))
    shown = summary["changes"]["examples"]["rows"]  # not how many of a class are real
    assert len(shown) > 3 and all(one["records"] == sizes[tuple(one["labels"])] for one in shown)
    meanings = {one["name"]: one["meaning"] for one in summary["verdict"]["criteria"]}
    assert "Not all of these are people" in meanings["k-anonymity"]
    together = summary["utility"]["correlations"]
    assert together["largest_change"] == pytest.approx(
        max(value for n, row in enumerate(together["change"]) for value in row[n + 1:] if value is not None))
    grade = next(one for one in summary["changes"]["columns"] if one["column"] == "grade")
    assert "suppressed" in grade["change"]
    assert "person 1" not in result.report and "Step by step" in result.report
