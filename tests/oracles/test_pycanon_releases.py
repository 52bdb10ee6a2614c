"""The verdict on releases against pycanon, on clean re-indexed data (it errs on the rest, see
test_pycanon)."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from tests.oracles import pycanon_env

import sfumato

TREE = {"*": {"low": ["a1", "a2"], "high": ["a3", "a4"]}}
RECIPE = {
    "columns": {"a": {"role": "quasi", "hierarchy": {"tree": TREE}},
                "b": {"role": "quasi", "hierarchy": {"interval": [5, 10]}},
                "text": {"role": "sensitive"}, "number": {"role": "sensitive"}},
    "criteria": [{"k-anonymity": {"k": 3}}, {"l-diversity": {"column": "text", "l": 2}},
                 {"t-closeness": {"column": "text", "t": 0.9}},
                 {"t-closeness": {"column": "number", "t": 0.9, "distance": "ordered"}}],
    "seed": 1,
}


def private_table(rng: random.Random) -> pa.Table:
    values = [10, 11, *rng.choices(range(10, 14), [4, 3, 2, 1], k=rng.randint(40, 120))]
    return pa.table({"a": [f"a{rng.randint(1, 4)}" for _ in values],
                     "b": [rng.randint(0, 29) for _ in values],
                     "text": [f"v{n}" for n in values], "number": values})


def test_k_l_and_t_of_releases() -> None:
    rng = random.Random(5)
    results = [sfumato.anonymize(private_table(rng), RECIPE, report=False) for _ in range(12)]
    assert len({tuple(result.manifest["levels"].values()) for result in results}) > 1  # not all alike
    tables: list[dict[str, list[Any]]] = [result.release.to_pydict() for result in results]
    try:
        answers = pycanon_env.ask(tables)
    except pycanon_env.Unavailable as error:
        pytest.skip(str(error))
    for result, answer in zip(results, answers, strict=True):
        worst = [finding.worst for finding in result.verdict.findings]
        theirs = [answer[name] for name in ("k", "distinct", "equal", "ordered")]
        assert worst == pytest.approx(theirs, abs=1e-9)
