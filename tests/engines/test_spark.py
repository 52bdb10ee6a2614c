"""What is particular to Spark: its types and names, what it recomputes, what is left behind in a session."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.engines.engines import facts, rows_of
from tests.engines.jobs import RANDOM, random_table

from sfumato.errors import TableError, UnprovenError
from sfumato.pipeline import anonymize
from sfumato.recipe import Recipe
from sfumato.table import open_table

pytestmark = pytest.mark.spark

BIG = 2**53 + 1  # a double does not hold it
DAY, NOON = dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 12)
TYPES = pa.table({
    "tiny": pa.array([1, None, 1, 1, None, 1], pa.int8()),
    "big": pa.array([BIG, None, BIG - 1, BIG, None, BIG - 1], pa.int64()),
    "single": pa.array([0.1, None, 0.1, 0.1, math.nan, 0.1], pa.float32()),
    "double": pa.array([0.1, math.nan, -0.0, 0.1, None, 0.0], pa.float64()),
    "money": pa.array([Decimal("1.50"), None, Decimal("2.00"), Decimal("1.50"), None, Decimal("2.00")],
                      pa.decimal128(10, 2)),
    "flag": pa.array([True, None, False, True, None, False]),
    "day": pa.array([DAY, None, DAY, DAY, None, DAY]),
    "text": pa.array(["", None, " ", "?", "", "?"]),
    "ill": pa.array(["a", "b", "", "b", "a", "c"]),
})


def recipe_for(names: list[str], k: int = 2) -> Recipe:
    quasi = {name: {"role": "quasi", "hierarchy": "suppress"} for name in names}
    return Recipe.from_dict({"missing": ["?"], "columns": {**quasi, "ill": {"role": "sensitive"}},
                             "criteria": [{"k-anonymity": {"k": k}}], "seed": 1,
                             "suppression": 0, "method": {"name": "optimal", "cost": "ncp"}})


def test_every_type_gives_the_labels_of_the_embedded_engine(session: Any) -> None:
    recipe = recipe_for(TYPES.column_names[:-1])
    expected = anonymize(TYPES, recipe)
    result = anonymize(session.createDataFrame(TYPES).repartition(2), recipe)
    assert rows_of(result.release) == rows_of(expected.release)
    assert facts(result) == facts(expected)
    assert set(facts(result)["levels"].values()) == {0}  # nothing was generalized: missing is one value


def test_times_are_read_in_utc_whatever_the_zone_of_the_session(session: Any) -> None:
    table = pa.table({"at": pa.array([NOON, None] * 3, pa.timestamp("us", "UTC")), "ill": ["a", "b"] * 3})
    released = anonymize(session.createDataFrame(table), recipe_for(["at"])).release
    assert {row["at"] for row in released.collect()} == {"2020-02-29 12:00:00", None}


def test_plain_columns_keep_their_values(session: Any) -> None:
    query = ("SELECT id % 2 AS q, 'a' AS ill, array(id, null) AS listed, map('k', id) AS mapped, "
             "named_struct('f', id, 'g', null) AS nested, binary(string(id)) AS bytes, null AS nothing, "
             f"if(id = 1, null, {BIG}) AS big, if(id = 1, double('NaN'), null) AS nan FROM range(6)")
    frame = session.sql(query)
    released = anonymize(frame, recipe_for(["q"])).release
    plain = [name for name in frame.columns if name not in ("q", "ill")]
    found, wanted = (sorted(map(repr, f.select(plain).collect())) for f in (released, frame))
    assert found == wanted


@pytest.mark.parametrize("name", ["a b", "a.b", "a`b", 'a"b', "a'b", "größe", "😀", "select", "a\\b"])
def test_any_name_of_a_column(session: Any, name: str) -> None:
    table = pa.table({name: ["x", "x", None, None], "ill": list("abab"), f"{name} plain": [1, 2, 3, 4]})
    released = anonymize(session.createDataFrame(table), recipe_for([name])).release
    assert released.columns == table.column_names
    assert rows_of(released) == rows_of(table)


def test_names_that_spark_takes_for_one_are_refused(session: Any) -> None:
    frame = session.createDataFrame([(1, 2)], ["É", "é"])
    with pytest.raises(TableError, match="differ only by upper and lower case: 'É', 'é'"):
        open_table(frame)


def test_the_released_order_says_nothing_of_the_order_that_came(session: Any) -> None:
    frame = session.range(0, 200, 1, 2).selectExpr("id", "id % 3 AS q", "'a' AS ill")
    turned = frame.orderBy("id", ascending=False)
    there, back = ([row.id for row in anonymize(f, recipe_for(["q"])).release.collect()]
                   for f in (frame, turned))
    assert there == back
    rising = sum(a < b for a, b in pairwise(there))
    assert 70 < rising < 130


def test_the_release_is_computed_once(session: Any) -> None:
    calls = session.sparkContext.accumulator(0)

    def counted(value: int) -> int:
        calls.add(1)
        return value

    from pyspark.sql.functions import udf

    frame = session.range(20).selectExpr("id % 2 AS q", "'a' AS ill", "id")
    frame = frame.withColumn("note", udf(counted, "long").asNondeterministic()("id"))
    released = anonymize(frame, recipe_for(["q"])).release
    before = calls.value
    assert before > 0
    assert released.count() == len(released.collect()) == 20
    assert calls.value == before


def test_the_session_is_left_as_it_was(session: Any) -> None:
    zone = session.conf.get("spark.sql.session.timeZone")
    before = {table.name for table in session.catalog.listTables()}
    released = anonymize(session.createDataFrame(random_table(1)), Recipe.parse(RANDOM)).release
    assert {table.name for table in session.catalog.listTables()} == before
    assert session.conf.get("spark.sql.session.timeZone") == zone == "Asia/Kolkata"
    assert released.filter("note IS NULL").count() == random_table(1).column("note").null_count


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_one_file_with_manifest_and_report(session: Any, tmp_path: Path, format: str) -> None:
    table, recipe = random_table(2), Recipe.parse(RANDOM)
    result = anonymize(session.createDataFrame(table).repartition(2), recipe, tmp_path / "out", format=format)
    expected = anonymize(table, recipe, tmp_path / "expected", format=format)
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["manifest.json", f"release.{format}", "report.html"]
    with open_table(result.release) as here, open_table(expected.release) as there:
        assert rows_of(here.table.to_pyarrow()) == rows_of(there.table.to_pyarrow())
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["verdict"]["holds"] and manifest["sha256"]["release"]


def test_a_stream_is_refused(session: Any) -> None:
    with pytest.raises(TableError, match="is a stream"):
        open_table(session.readStream.format("rate").load())


def test_a_type_that_is_not_known_is_named(session: Any) -> None:
    frame = session.sql("SELECT 1 AS q, INTERVAL '1-2' YEAR TO MONTH AS span")
    with pytest.raises(TableError, match=r"Column 'span' .* has the type interval year to month"):
        open_table(frame)


def test_a_fault_of_sparks_shows_no_value(session: Any) -> None:
    frame = session.sql("SELECT CAST(v AS INT) AS q, 'a' AS ill FROM VALUES ('1'), ('secret') AS t(v)")
    with pytest.raises(TableError, match="CAST_INVALID_INPUT") as fault:
        anonymize(frame, recipe_for(["q"]))
    assert "secret" not in str(fault.value)


def test_a_frame_that_changes_between_two_passes_gives_no_release(session: Any) -> None:
    import secrets

    from pyspark.sql.functions import udf

    frame = session.range(20).selectExpr("'a' AS ill")
    frame = frame.withColumn("q", udf(secrets.token_hex, "string").asNondeterministic()())
    with pytest.raises(UnprovenError):
        anonymize(frame, recipe_for(["q"]))
