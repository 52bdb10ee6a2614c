"""Faults reproduced in today's tools, one test or reference a line: none of them may be ours.

| fault | tested |
| --- | --- |
| a record without quasi-identifier vanishes | `test_missing_records_are_counted` |
| index labels taken for positions | `test_index_labels_are_not_positions` |
| the separator is ignored | unit/test_table.py |
| a check exits 0 whatever it finds | `test_a_verdict_is_false_when_it_fails` |
| the release carries row numbers in a column | `test_no_column_is_added`; test_verify (hidden column) |
| suppression never helps; a higher limit gives a worse release | `test_a_higher_limit_is_never_worse` |
| an unreachable target ends in an empty table | test_battery (infeasible) |
| a missing hierarchy value in a bare KeyError | `test_a_value_the_hierarchy_lacks_is_named` |
| the caller's hierarchies are changed | `test_what_the_caller_gave_is_unchanged` |
| the t-closeness threshold is compared with the wrong variable | `test_a_tighter_threshold_is_kept` |
| label order depends on the hash seed | `test_same_bytes_under_another_hash_seed` |
| only the anonymized columns come back | test_battery (other columns untouched) |
| a mutable default returns the first table's release | `test_a_second_call_is_another_call` |
| labels joined with "-" cannot be read back | `test_labels_with_separators_stay_apart` |
| criteria of unequal protection compared | does not apply: nothing compares criteria |
| two processes slower than one; means scored as no loss | `test_generalizing_always_costs` |
| counts non-minimal uniques | does not apply: no minimal uniques are counted |
| column names with a hyphen crash | `test_a_hyphen_in_a_name`, unit/test_release.py |
| violations left over; risk goes stale | test_battery and test_verify (what was written is recounted) |
| local recoding uses up the minority value | does not apply to full-domain generalization |
| a re-imported file's `*` rows are counted as a class | test_verify (a good release holds) |
| identifying columns can only become `*` | test_battery (identifying gone) |
| `String` for `string` stops without a message; a large file freezes | unit/test_recipe.py; benchmarks |
| an unseeded attack; fewer guesses than asked | unit/test_measure_collect.py |
| a check that never tested one direction | faults planted: test_verify; both sides asserted throughout |
"""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.properties import hospital

import sfumato
from sfumato.criteria.registry import parse
from sfumato.errors import HierarchyError
from sfumato.pipeline import anonymize
from sfumato.recipe import Recipe
from sfumato.table import open_table
from sfumato.verify import verify


def frame(rows: list[dict[str, Any]], **said: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(rows, **said)


def judged(table: Any, *criteria: dict[str, Any]) -> Any:
    with open_table(table) as opened:
        return verify(opened.table, ["q"], ["s"], [parse(c) for c in criteria])


def score(**said: Any) -> float:
    import pyarrow as pa

    table = pa.Table.from_pylist(hospital.records(120))
    cost = anonymize(table, Recipe.from_dict(hospital.recipe(**said)), report=False).manifest["cost"]
    return float(cost["score"])


def test_missing_records_are_counted() -> None:
    table = frame([{"q": "a", "s": str(n)} for n in range(5)] + [{"q": None, "s": "x"}])
    assert judged(table, {"k-anonymity": {"k": 2}}).findings[0].worst == 1


def test_index_labels_are_not_positions() -> None:
    """The same four rows under any index give the same numbers; a filtered frame is read as it stands."""
    rows = [{"q": "a", "s": "x"}, {"q": "a", "s": "x"}, {"q": "b", "s": "x"}, {"q": "b", "s": "y"}]
    criteria = {"l-diversity": {"column": "s", "l": 2}}, {"t-closeness": {"column": "s", "t": 0.1}}
    wanted = [1, 0.25]
    for index in (None, [3, 2, 1, 0], [7, 7, 7, 7], [10, 0, 2, 1]):
        found = judged(frame(rows, index=index), *criteria)
        assert [f.worst for f in found.findings] == pytest.approx(wanted)
    filtered = frame([{"q": "z", "s": "z"}, *rows])
    assert judged(filtered[filtered.q != "z"], *criteria).findings[0].worst == 1


def test_a_verdict_is_false_when_it_fails() -> None:
    table = frame([{"q": "a", "s": "x"}] * 3)
    assert bool(judged(table, {"k-anonymity": {"k": 3}}))
    assert not bool(judged(table, {"k-anonymity": {"k": 4}}))


def test_no_column_is_added() -> None:
    table = frame(hospital.records(120), index=range(500, 620))
    release = anonymize(table, Recipe.from_dict(hospital.recipe()), report=False).release
    assert list(release.columns) == [name for name in table.columns if name != "name"]
    assert list(release.index) == list(range(120))


def test_a_higher_limit_is_never_worse() -> None:
    limits = (0.0, 0.02, 0.05, 0.1, 0.3, 0.6, 1.0)
    for criteria in ([{"k-anonymity": {"k": 4}}], [{"l-diversity": {"column": "illness", "l": 3}}],
                     [{"k-anonymity": {"k": 2}}, {"t-closeness": {"column": "illness", "t": 0.3}}]):
        scores = [score(suppression=limit, criteria=criteria) for limit in limits]
        assert scores == sorted(scores, reverse=True) and scores[-1] < scores[0]


def test_a_tighter_threshold_is_kept() -> None:
    """t = 0.1 and t = 0.4 give different releases, each at most as far from the table as it says."""
    import pyarrow as pa

    table = pa.Table.from_pylist(hospital.records(120))
    found = {}
    for t in (0.1, 0.4):
        recipe = hospital.recipe(criteria=[{"t-closeness": {"column": "illness", "t": t}}])
        result = anonymize(table, Recipe.from_dict(recipe), report=False)
        found[t] = result.verdict.findings[0].worst
        assert found[t] <= t + 1e-9
    assert found[0.1] < found[0.4]


def test_a_value_the_hierarchy_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("a;*\nb;*\n")
    recipe = Recipe.from_dict({"columns": {"q": {"role": "quasi", "hierarchy": "h.csv"}},
                               "criteria": [{"k-anonymity": {"k": 2}}]}, folder=tmp_path)
    with pytest.raises(HierarchyError) as caught:
        anonymize(frame([{"q": q} for q in "aabbcd"]), recipe, report=False)
    assert "h.csv" in caught.value.message and "2 values" in caught.value.message
    assert "'c'" in caught.value.message and "'q'" in caught.value.message


def test_what_the_caller_gave_is_unchanged() -> None:
    said = hospital.recipe()
    table, before = frame(hospital.records(120)), copy.deepcopy(said)
    untouched = table.copy(deep=True)
    anonymize(table, Recipe.from_dict(said), report=False)
    assert said == before and table.equals(untouched)


def test_a_second_call_is_another_call() -> None:
    recipe = Recipe.from_dict(hospital.recipe())
    first = anonymize(frame(hospital.records(120, seed=1)), recipe, report=False)
    other = anonymize(frame(hospital.records(120, seed=2)), recipe, report=False)
    again = anonymize(frame(hospital.records(120, seed=1)), recipe, report=False)
    assert first.release.equals(again.release) and not first.release.equals(other.release)


def test_same_bytes_under_another_hash_seed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(hospital.as_csv(hospital.records(120)))
    script = ("import sys; from pathlib import Path; from sfumato.pipeline import anonymize; "
              "from sfumato.recipe import Recipe; from tests.properties import hospital; "
              "recipe = Recipe.from_dict(hospital.recipe()); "
              "anonymize(Path('t.csv'), recipe, Path(sys.argv[1]), report=False)")
    places = [Path(sfumato.__file__).parents[1], Path(__file__).parents[2]]
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(map(str, places))}
        subprocess.run([sys.executable, "-c", script, seed], cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "1" / "release.csv").read_bytes() == (tmp_path / "2" / "release.csv").read_bytes()


def test_labels_with_separators_stay_apart() -> None:
    """Values that join two others with a separator are values like any other."""
    rows = [{"q": q, "r": r, "s": "x"} for q, r in
            [("a-b", "c"), ("a-b", "c"), ("a", "b-c"), ("a", "b-c"), ("a,b", "c"), ("a,b", "c")]]
    recipe = Recipe.from_dict({"columns": {"q": {"role": "quasi"}, "r": {"role": "quasi"}},
                               "criteria": [{"k-anonymity": {"k": 2}}]})
    result = anonymize(frame(rows), recipe, report=False)
    assert result.manifest["classes"] == 3 and result.manifest["levels"] == {"q": 0, "r": 0}


def test_generalizing_always_costs() -> None:
    """No number is scored as free: every level of the numeric column costs more than the one below."""
    from sfumato.costs.registry import make
    from sfumato.prepare import prepare

    with open_table(frame(hospital.records(120))) as opened:
        frequency = prepare(opened.table, Recipe.from_dict(hospital.recipe())).frequency
    age = make("ncp", frequency, np.ones(4)).totals(frequency.quasi.index("age"))
    assert age[0] == 0 and (np.diff(age) > 0).all()


def test_a_hyphen_in_a_name() -> None:
    recipe = Recipe.from_dict({"columns": {"marital-status": {"role": "quasi"}, "s-1": {"role": "sensitive"}},
                               "criteria": [{"l-diversity": {"column": "s-1", "l": 2}}]})
    table = frame([{"marital-status": "a", "s-1": s} for s in "xyz"])
    assert anonymize(table, recipe, report=False).verdict.holds
