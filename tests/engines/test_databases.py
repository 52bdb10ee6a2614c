"""From one database file into another, through a release."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.engines import lent, rows_of
from tests.engines.jobs import RANDOM, random_table

from sfumato.errors import TableError
from sfumato.pipeline import anonymize
from sfumato.recipe import Recipe
from sfumato.table import open_table, write_to_database


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize("ending", ["duckdb", "sqlite"])
def test_a_release_goes_from_database_to_database(engine: str, ending: str, tmp_path: Path) -> None:
    with lent(engine, random_table(1), tmp_path) as source:
        result = anonymize(source, Recipe.parse(RANDOM), tmp_path / "out", format="parquet", report=False)
    target = tmp_path / f"target.{ending}"
    with open_table(result.release) as release:
        expected = rows_of(release.table.to_pyarrow())
        write_to_database(target, "release", release.table)
    with open_table(target, table="release") as written:
        assert rows_of(written.table.to_pyarrow()) == expected
    assert expected == rows_of(anonymize(random_table(1), Recipe.parse(RANDOM), report=False).release)


@pytest.mark.parametrize("replace", [False, True])
def test_a_database_behind_ibis_keeps_the_table_and_the_release(replace: bool, tmp_path: Path) -> None:
    """An engine that has no digest of its own: counted, recoded, written and verified there."""
    import ibis

    expected = rows_of(anonymize(random_table(1), Recipe.parse(RANDOM), report=False).release)
    with open_table(random_table(1)) as made:
        write_to_database(tmp_path / "private.sqlite", "private", made.table)
    database = ibis.sqlite.connect(tmp_path / "private.sqlite")
    with open_table(database.table("private")) as source:
        result = anonymize(source, Recipe.parse(RANDOM), report=False)
        assert result.verdict.holds and rows_of(result.release.to_pyarrow()) == expected
        if replace:
            write_to_database(source, "release", source.table)
        write_to_database(source, "release", result.release, replace=replace)
    assert rows_of(database.table("release").to_pyarrow()) == expected


def test_an_ibis_table_that_is_no_database_is_refused() -> None:
    import ibis

    polars = pytest.importorskip("polars")
    table = ibis.polars.connect({"t": polars.DataFrame({"a": [1]})}).table("t")
    with pytest.raises(TableError, match="does not speak SQL"):
        open_table(table)
