"""The promises that every method keeps (DESIGN.md, section 5), over the whole registry.

Here are the methods whose releases are made of classes; `test_battery_slices` has those that slice,
`test_battery_drawn` those whose rows are drawn.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.properties import hospital

from sfumato.errors import InfeasibleError
from sfumato.methods.registry import METHODS, make
from sfumato.pipeline import Result, anonymize
from sfumato.prepare import prepare
from sfumato.recipe import Recipe
from sfumato.table import open_table

QUASI = ("age", "zip", "sex", "group")
OF_CLASSES = sorted(name for name, method in METHODS.items() if method.kind == "classes" and not method.adds)
FORMS: list[dict[str, Any]] = [  # of methods whose parameters change much
    {"name": "mondrian", "relaxed": True, "numeric": "range", "categorical": "set"},
    {"name": "local", "numeric": "range"},
    {"name": "local", "cost": "entropy"},
    {"name": "certainty-penalty", "direction": "top-down", "numeric": "range", "categorical": "set"},
    {"name": "mdav", "numeric": "range", "categorical": "hierarchy"},
    {"name": "oka", "numeric": "mean", "categorical": "set", "block": 100},
    {"name": "research-value", "search": "distributed", "fits": 30}]
every_method = pytest.mark.parametrize("method", OF_CLASSES)
Rows = list[dict[str, Any]]


def test_the_registry_is_whole() -> None:
    assert OF_CLASSES == [
        "certainty-penalty",
        "local",
        "mdav",
        "mondrian",
        "oka",
        "optimal",
        "probabilistic-style",
        "research-value",
        "rho-gain",
        "samarati",
    ]
    assert {method.kind for method in METHODS.values()} == {"classes", "slices", "drawn"}


def run(folder: Path, rows: Rows, out: str = "out", columns: tuple[str, ...] = hospital.COLUMNS,
        **changes: Any) -> tuple[Result, Rows, bytes]:
    """Anonymize the rows from a CSV file: the result, what was written as rows, and its bytes."""
    source = folder / "table.csv"
    source.write_bytes(hospital.as_csv(rows, columns))
    result = anonymize(source, Recipe.from_dict(hospital.recipe(**changes)), folder / out, report=False)
    data = (folder / out / "release.csv").read_bytes()
    return result, list(csv.DictReader(io.StringIO(data.decode()))), data


@pytest.fixture(scope="module", params=[*({"name": name} for name in OF_CLASSES), *FORMS],
                ids=lambda said: "-".join(map(str, said.values())))
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    """One run of each method, looked at by many tests."""
    rows = hospital.records()
    return rows, *run(tmp_path_factory.mktemp("run"), rows, method=request.param)


def classes(released: Rows) -> dict[tuple[str, ...], Rows]:
    """The classes of a release, suppressed records left out, counted by hand."""
    found: dict[tuple[str, ...], Rows] = {}
    for row in released:
        found.setdefault(tuple(row[name] for name in QUASI), []).append(row)
    found.pop(("*",) * len(QUASI), None)
    return found


def test_the_verdict_holds_on_the_written_labels(done: tuple[Any, ...]) -> None:
    _, result, released, _ = done
    assert result.manifest["verdict"]["holds"]
    for members in classes(released).values():
        assert len(members) >= 4
        assert len({None if hospital.absent(r["illness"]) else r["illness"] for r in members}) >= 2
    assert len(classes(released)) == result.manifest["classes"]


def test_every_record_is_accounted_for(done: tuple[Any, ...]) -> None:
    rows, result, released, _ = done
    counted = result.manifest["records"]
    assert counted["received"] == len(rows) == counted["kept"] + counted["suppressed"]
    assert counted["added"] == 0 and len(released) == len(rows)
    starred = sum(all(row[name] == "*" for name in QUASI) for row in released)
    assert starred == counted["suppressed"]
    assert starred > 0 or result.manifest["method"]["name"] != "optimal"
    assert counted["suppressed"] <= 0.1 * len(rows)


def test_labels_are_ancestors_of_the_original_values(done: tuple[Any, ...]) -> None:
    """By the plain id, each released row finds its private one; the label is on its value's path.

    A column whose labels are means or modes is named by the manifest; they are its classes' centres.
    """
    rows, result, released, _ = done
    centres = result.manifest.get("centres", {})
    assert set(centres.values()) <= {"mean", "mode"}
    private = {row["id"]: row for row in rows}
    assert set(private) == {row["id"] for row in released}
    for row in released:
        if all(row[name] == "*" for name in QUASI):
            continue
        for name in QUASI:
            value, label = private[row["id"]][name], row[name]
            if name in centres:
                continue
            if hospital.absent(value):
                assert label in ("", "*"), "missing meets a real value's label"
            else:
                assert covers(name, label, value), name


def test_centres_are_those_of_their_classes(done: tuple[Any, ...]) -> None:
    """Means rounded half up, the most frequent values; missing ones only among themselves, or under `*`."""
    rows, result, released, _ = done
    private = {row["id"]: row for row in rows}
    for members in classes(released).values():
        for name, centre in result.manifest.get("centres", {}).items():
            values = [private[row["id"]][name] for row in members]
            real, [label] = [v for v in values if not hospital.absent(v)], {row[name] for row in members}
            if len(real) < len(values):
                assert label == ("*" if real else "")
            elif centre == "mean":
                assert int(label) == (2 * sum(map(int, real)) + len(real)) // (2 * len(real))
            else:
                assert real.count(label) == max(map(real.count, real))


def covers(name: str, label: str, value: str) -> bool:
    """Whether a label says something true of a value: itself, an interval, a set, or a node above it."""
    if label in ("*", value):
        return True
    if ".." in label:
        low, high = label.strip("[])").split("..")
        return int(low) <= int(value) < int(high) + label.endswith("]")
    if label.startswith("{"):
        return value in label.strip("{}").split(", ")
    if name == "zip":
        return label.endswith("*") and value.startswith(label.rstrip("*"))
    return name == "group" and label in hospital.TOWNS[value]


def test_other_columns_are_untouched_and_identifying_ones_gone(done: tuple[Any, ...]) -> None:
    rows, result, released, data = done
    assert list(released[0]) == [name for name in hospital.COLUMNS if name != "name"]
    private = {row["id"]: row for row in rows}
    for row in released:
        assert row["note"] == private[row["id"]]["note"]
        assert row["illness"] == private[row["id"]]["illness"]
    assert b"person" not in data
    assert "person" not in json.dumps(result.manifest)


def test_the_manifest_holds_no_private_value(done: tuple[Any, ...]) -> None:
    _, result, _, _ = done
    told = json.dumps(result.manifest, ensure_ascii=False)
    assert "flu" not in told and "hiv" not in told and "r17" not in told


def test_order_says_nothing_of_the_input(done: tuple[Any, ...]) -> None:
    """Rank correlation of input and output positions: of 240 random rows, 4 in 1,000 pass 0.19."""
    rows, _, released, _ = done
    place = {row["id"]: n for n, row in enumerate(rows)}
    order = [place[row["id"]] for row in released]
    n = len(order)
    squares = sum((a - b) ** 2 for a, b in enumerate(order))
    assert abs(1 - 6 * squares / (n * (n * n - 1))) < 0.19
    assert sum(b - a == 1 for a, b in pairwise(order)) < 6


@every_method
def test_same_bytes_again_and_from_permuted_rows(method: str, tmp_path: Path) -> None:
    rows, said = hospital.records(), {"name": method}
    _, _, first = run(tmp_path, rows, method=said)
    _, _, again = run(tmp_path, rows, "again", method=said)
    _, _, permuted = run(tmp_path, random.Random(4).sample(rows, len(rows)), "permuted", method=said)
    _, _, other = run(tmp_path, rows, "other", method=said, seed=8)
    assert first == again == permuted
    assert other != first
    assert METHODS[method].by_seed or sorted(other.splitlines()) == sorted(first.splitlines())


@every_method
def test_same_bytes_on_one_thread_and_many(method: str, tmp_path: Path) -> None:
    """Many enough rows for the engine to work on several pieces at once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = 300_000
    rng = random.Random(1)
    table = pa.table({"a": [rng.randrange(50) for _ in range(n)], "b": rng.choices("xyz", k=n),
                      "s": rng.choices("uvw", k=n), "p": list(range(n))})
    pq.write_table(table, tmp_path / "t.parquet")
    recipe = Recipe.from_dict({
        "columns": {"a": {"role": "quasi", "hierarchy": {"interval": [5, 10]}}, "b": {"role": "quasi"},
                    "s": {"role": "sensitive"}},
        "criteria": [{"k-anonymity": {"k": 2100}}], "method": {"name": method}, "seed": 1})
    data = []
    for threads in (1, 2, 4):
        anonymize(tmp_path / "t.parquet", recipe, tmp_path / str(threads), report=False, threads=threads)
        data.append((tmp_path / str(threads) / "release.csv").read_bytes())
    assert data[0] == data[1] == data[2]
    places = [int(line.rsplit(b",", 1)[1]) for line in data[0].splitlines()[1:2001]]
    assert sum(b == a + 1 for a, b in pairwise(places)) < 5


@every_method
def test_permuting_columns_or_renaming_values_changes_no_score(method: str, tmp_path: Path) -> None:
    rows, said = hospital.records(), {"name": method}
    first, _, _ = run(tmp_path, rows, method=said)
    shuffled = ("note", "group", "illness", "id", "age", "sex", "zip", "name")
    moved, _, _ = run(tmp_path, rows, "moved", shuffled, method=said)
    new = {"f": "zzz", "m": "aaa", "flu": "q9", "hiv": "a0", "flu-flu": "m", "cold": "0"}
    renamed = [row | {"sex": new[row["sex"]], "illness": new.get(row["illness"], row["illness"])}
               for row in rows]
    other, _, _ = run(tmp_path, renamed, "renamed", method=said)
    columns = hospital.recipe()["columns"]
    turned, _, _ = run(tmp_path, rows, "turned", method=said, columns=dict(reversed(columns.items())))
    for result in (moved, other, turned):
        assert result.verdict.holds
        if METHODS[method].by_names:
            continue
        assert result.manifest["cost"]["score"] == pytest.approx(first.manifest["cost"]["score"], rel=1e-12)
        assert result.manifest["records"] == first.manifest["records"]


SOURCES: dict[str, Callable[[Path, Rows], Any]] = {}


def source(build: Callable[[Path, Rows], Any]) -> Callable[[Path, Rows], Any]:
    SOURCES[build.__name__] = build
    return build


@source
def pandas(folder: Path, rows: Rows) -> Any:
    import pandas as pd

    return pd.DataFrame(spelt(rows), index=range(900, 900 + len(rows)))


@source
def polars(folder: Path, rows: Rows) -> Any:
    import polars as pl

    return pl.DataFrame(spelt(rows))


@source
def parquet(folder: Path, rows: Rows) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(spelt(rows)), folder / "t.parquet")
    return folder / "t.parquet"


def spelt(rows: Rows) -> Rows:
    """Every other missing text as a null."""
    return [{name: None if value == "?" else value for name, value in row.items()} for row in rows]


def as_rows(release: Any) -> Rows:
    """A released frame or file as rows, every null None."""
    with open_table(release) as opened:
        return opened.table.to_pyarrow().to_pylist()


@pytest.mark.parametrize("kind", SOURCES)
def test_missing_values_are_one_value_of_their_own(kind: str, tmp_path: Path) -> None:
    """Null, blanks and markers: one class, one sensitive value, no row lost, whatever the table is."""
    rows = hospital.records()
    made = SOURCES[kind](tmp_path, rows)
    recipe = Recipe.from_dict(hospital.recipe())
    with open_table(made) as opened:
        prepared = prepare(opened.table, recipe)
        frequency = prepared.frequency
        for j, name in enumerate(QUASI):
            marginal = Counter(None if hospital.absent(row[name]) else row[name] for row in rows)
            hierarchy = frequency.hierarchies[j]
            for value, count in marginal.items():
                code = hierarchy.code_of[value]
                assert frequency.counts[frequency.codes[:, j] == code].sum() == count
        illness = frequency.sensitive["illness"]
        assert illness.labels == ("cold", "flu", "flu-flu", "hiv", None)
        assert illness.whole[-1] == sum(hospital.absent(row["illness"]) for row in rows)
    from_csv, released, _ = run(tmp_path, rows)
    result = anonymize(made, recipe, report=False)
    assert result.manifest["cost"] == from_csv.manifest["cost"]
    assert result.manifest["records"] == from_csv.manifest["records"]
    blank = [{name: row[name] or "" for name in row} for row in as_rows(result.release)]
    labels = Counter(tuple(row[name] for name in QUASI) for row in blank)
    assert labels == Counter(tuple(row[name] for name in QUASI) for row in released)


def test_nan_is_missing(tmp_path: Path) -> None:
    import pandas as pd

    nan = float("nan")
    frame = pd.DataFrame({"x": [1.0, 1.0, 2.5, 2.5, nan, nan, -0.0, 0.0], "s": [1.0, nan] * 4})
    recipe = Recipe.from_dict({"columns": {"x": {"role": "quasi"}, "s": {"role": "sensitive"}},
                               "criteria": [{"k-anonymity": {"k": 2}},
                                            {"l-diversity": {"column": "s", "l": 2}}]})
    result = anonymize(frame, recipe, report=False)
    assert result.manifest["levels"] == {"x": 0}
    labels = Counter(None if hospital.absent(x) else x for x in result.release["x"])
    assert labels == {"1": 2, "2.5": 2, None: 2, "0": 2}


def test_markers_of_numbers_are_missing(tmp_path: Path) -> None:
    """-9 in a column of numbers is the marker "-9", in quasi-identifiers and in sensitive columns."""
    import pyarrow as pa

    table = pa.table({"x": [-9, -9, None, 3, 3, 4], "s": [-9.0, None, 1.5, 1.5, 2.0, -9.0]})
    recipe = Recipe.from_dict({"missing": ["-9"], "columns": {
        "x": {"role": "quasi", "hierarchy": {"interval": [20]}}, "s": {"role": "sensitive"}},
        "criteria": [{"k-anonymity": {"k": 3}}, {"l-diversity": {"column": "s", "l": 2}}]})
    result = anonymize(table, recipe, report=False)
    labels = Counter(result.release["x"].to_pylist())
    assert result.manifest["levels"] == {"x": 1} and labels[None] == 3 and max(labels.values()) == 3
    strict = recipe.with_(criteria=[{"l-diversity": {"column": "s", "l": 3}}], suppression=0.0)
    assert anonymize(table, strict, report=False).manifest["levels"] == {"x": 2}


@every_method
def test_infeasible_says_what_how_near_and_what_to_do(method: str, tmp_path: Path) -> None:
    said = {"name": method}
    with pytest.raises(InfeasibleError) as caught:
        run(tmp_path, hospital.records(), criteria=[{"k-anonymity": {"k": 241}}], suppression=0, method=said)
    message = str(caught.value)
    assert "k-anonymity (k = 241)" in message and "240" in message and "level" in message
    assert "Relax" in caught.value.remedy and caught.value.exit_code == 3
    assert not (tmp_path / "out").exists()
    with pytest.raises(InfeasibleError) as caught:
        run(tmp_path, hospital.records(), suppression=0.3, method=said,
            criteria=[{"l-diversity": {"column": "illness", "l": 9}}])
    assert "l-diversity" in str(caught.value) and "flu" not in str(caught.value)
    assert "level" in str(caught.value) and caught.value.exit_code == 3
    assert "elax the criterion" in caught.value.remedy
    assert "Raise" in caught.value.remedy or method != "optimal"


def test_suppressed_records_can_be_left_out(tmp_path: Path) -> None:
    kept, with_stars, _ = run(tmp_path, hospital.records())
    dropped, without, _ = run(tmp_path, hospital.records(), "dropped", suppressed="drop")
    gone = kept.manifest["records"]["suppressed"]
    assert gone and dropped.manifest["records"] == kept.manifest["records"]
    assert len(without) == len(with_stars) - gone
    assert classes(without).keys() == classes(with_stars).keys()
    assert not any(all(row[name] == "*" for name in QUASI) for row in without)


CRITERIA = {
    "k": {"k-anonymity": {"k": 3}},
    "distinct": {"l-diversity": {"column": "illness", "l": 3}},
    "entropy": {"l-diversity": {"column": "illness", "l": 2.2, "kind": "entropy"}},
    "recursive": {"l-diversity": {"column": "illness", "l": 2, "kind": "recursive", "c": 2}},
    "equal": {"t-closeness": {"column": "illness", "t": 0.3}},
    "ordered": {"t-closeness": {"column": "illness", "t": 0.25, "distance": "ordered"}},
    "hierarchical": {"t-closeness": {"column": "illness", "t": 0.25, "distance": "hierarchical",
                                     "hierarchy": {"tree": {"ill": {"virus": ["flu", "hiv", "flu-flu"],
                                                                    "other": ["cold"]}}}}},
    "alpha-k": {"alpha-k-anonymity": {"column": "illness", "alpha": 0.5, "k": 3, "values": ["hiv"]}},
    "basic": {"beta-likeness": {"column": "illness", "beta": 1}},
    "enhanced": {"beta-likeness": {"column": "illness", "beta": 1, "kind": "enhanced"}},
    "linkable": {"linkable": {"column": "illness", "d": 3, "alpha": 0.4, "size": 3}},
    "delta": {"delta-disclosure": {"column": "illness", "delta": 1.5}},
}


@every_method
@pytest.mark.parametrize("name", CRITERIA)
def test_every_criterion_from_table_to_release(name: str, method: str, tmp_path: Path) -> None:
    both = [{"k-anonymity": {"k": 2}}, CRITERIA[name]]
    result, _, _ = run(tmp_path, hospital.records(), criteria=both, suppression=0.2, method={"name": method})
    own = make({"name": method}).promises(["illness"])
    assert result.verdict.holds and len(result.verdict.findings) == 2 + len(own)
    assert result.manifest["classes"] > 1


def test_typed_columns_through_parquet(tmp_path: Path) -> None:
    """Whole numbers, floats, booleans, dates, times, decimals: each with a hierarchy, all back as labels."""
    import datetime as dt
    from decimal import Decimal

    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, n = random.Random(2), 160
    day = dt.date(2020, 1, 1)
    columns = {
        "i": ([rng.randrange(9) for _ in range(n)], {"interval": [3, 9]}),
        "f": ([rng.choice([0.5, 1.0, 2.25, -1.5]) for _ in range(n)], {"interval": [1, 4]}),
        "b": ([rng.random() < 0.5 for _ in range(n)], "suppress"),
        "d": ([day + dt.timedelta(rng.randrange(60)) for _ in range(n)], {"dates": ["month", "year"]}),
        "t": ([dt.datetime(2020, rng.choice([1, 2]), 3, 4, 5) for _ in range(n)],
              {"dates": ["month", "year"]}),
        "m": ([rng.choice([Decimal("1.50"), Decimal("2.00"), Decimal("-3.25")]) for _ in range(n)],
              {"bounds": [0]}),
    }
    values = {name: [None if rng.random() < 0.05 else v for v in column]
              for name, (column, _) in columns.items()}
    pq.write_table(pa.table({**values, "s": rng.choices([Decimal("1.10"), Decimal("2.00")], k=n),
                             "id": list(range(n))}), tmp_path / "t.parquet")
    said = {name: {"role": "quasi", "hierarchy": spec} for name, (_, spec) in columns.items()}
    recipe = Recipe.from_dict({
        "columns": {**said, "s": {"role": "sensitive"}}, "suppression": 0.3, "seed": 1,
        "criteria": [{"k-anonymity": {"k": 3}}, {"alpha-k-anonymity": {
            "column": "s", "alpha": 0.9, "k": 3, "values": ["1.1"]}}]})
    for format in ("parquet", "csv"):
        result = anonymize(tmp_path / "t.parquet", recipe, tmp_path / format, format=format, report=False)
        released = as_rows(result.release)
        assert len(released) == n and result.verdict.holds
        for row in released:
            for name in columns:
                value = values[name][int(row["id"])]
                if value is None:
                    assert row[name] in (None, "*")
                if result.manifest["levels"][name] and value is not None:
                    assert row[name] is not None
