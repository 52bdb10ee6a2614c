"""From one database file into another, through a release."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.engines import lent, rows_of
from tests.engines.jobs import RANDOM, random_table

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
