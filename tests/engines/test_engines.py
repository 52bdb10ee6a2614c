"""The same job on every engine: the identical release as a multiset of rows, and the identical verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engines.engines import arrow_of, facts, lent, rows_of
from tests.engines.jobs import JOBS, job

from sfumato.pipeline import anonymize

ENGINES = ("csv", "parquet", "duckdb", "sqlite", "pandas", "polars", "ibis",
           pytest.param("spark", marks=pytest.mark.spark))
KINDS = {"pandas": "pandas", "polars": "polars", "ibis": "ibis", "spark": "pyspark"}


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_release(engine: str, name: str, shared: Path, tmp_path: Path,
                                             request: pytest.FixtureRequest) -> None:
    table, recipe = job(name, shared)
    session = request.getfixturevalue("session") if engine == "spark" else None
    expected = anonymize(table, recipe, report=False)
    with lent(engine, table, tmp_path, session) as source:
        result = anonymize(source, recipe, report=False)
        assert type(result.release).__module__.split(".")[0] == KINDS.get(engine, "pyarrow")
        assert arrow_of(result.release).column_names == expected.release.column_names
        assert rows_of(result.release) == rows_of(expected.release)
    assert facts(result) == facts(expected)
    assert result.manifest["verdict"]["holds"]
    assert sum(rows_of(expected.release).values()) == _released(result.manifest)


def _released(manifest: dict[str, Any]) -> int:
    records = manifest["records"]
    starred = records["suppressed"] if manifest["suppressed_rows"] == "keep" else 0
    return int(records["kept"] + records["added"] + starred)
