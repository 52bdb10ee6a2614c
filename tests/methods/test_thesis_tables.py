"""Tables 2.2 and 2.3 of Tandon & Jain: the methods that recode locally release the one as the other."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import SHARED

from sfumato.pipeline import anonymize
from sfumato.recipe import Recipe

ORIGINAL = """zip,age,salary,disease
47677,29,3K,gastric ulcer
47602,22,4K,gastritis
47678,27,5K,stomach cancer
47905,43,6K,gastritis
47909,52,11K,flu
47906,47,8K,bronchitis
47605,30,7K,bronchitis
47673,36,9K,pneumonia
47607,32,10K,stomach cancer
"""
METHODS: list[dict[str, Any]] = [
    {"name": "mondrian"}, {"name": "local"}, {"name": "certainty-penalty"},
    {"name": "certainty-penalty", "direction": "top-down"}]


@pytest.mark.needs_shared
@pytest.mark.parametrize("method", METHODS, ids=lambda said: "-".join(map(str, said.values())))
def test_table_2_2_is_released_as_table_2_3(method: dict[str, Any], tmp_path: Path) -> None:
    """Distinct and entropy 3-diverse in both columns, with the tables' own labels."""
    golden = json.loads((SHARED / "golden" / "002_tandon_jain.json").read_text())["entries"]
    entry = next(one for one in golden if one["id"] == "ldiv/table2.3")
    (tmp_path / "t.csv").write_text(ORIGINAL)
    criteria = [{"l-diversity": {"column": column, "l": 3, "kind": kind}}
                for column in ("salary", "disease") for kind in ("distinct", "entropy")]
    ages = {">=40": ["43", "47", "52"], "3*": ["30", "32", "36"], "2*": ["22", "27", "29"]}
    recipe = Recipe.from_dict({
        "columns": {"zip": {"role": "quasi", "hierarchy": {"prefix": 5}},
                    "age": {"role": "quasi", "hierarchy": {"tree": ages}},
                    "salary": {"role": "sensitive"}, "disease": {"role": "sensitive"}},
        "criteria": [{"k-anonymity": {"k": 3}}, *criteria], "method": method, "seed": 1})
    result = anonymize(tmp_path / "t.csv", recipe, tmp_path / "out", report=False)
    released = [line.split(",") for line in (tmp_path / "out" / "release.csv").read_text().splitlines()[1:]]
    assert Counter(map(tuple, released)) == Counter(map(tuple, entry["inputs"]))
    assert result.verdict.holds and result.manifest["classes"] == 3
    found = {one["promise"]: one["worst"] for one in result.manifest["verdict"]["criteria"]}
    assert all(worst == pytest.approx(3.0) for worst in found.values()), found
