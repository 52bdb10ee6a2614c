"""The criteria against pycanon, where pycanon is right.

Not compared, because it errs there: missing values (vanish from its groups, or crash its sort); any index but
0 to n - 1 (labels taken for positions); recursive (c,l)-diversity (sorts the counts upwards, so its
r_1 is the rarest value); a sensitive column of one value (ordered t-closeness divides by zero); entropy
l-diversity that is a whole number (rounded down after a floating-point error); enhanced β-likeness where
a gain passes its own -ln p (only the largest -ln p is compared); δ-disclosure where a class lacks
a value (ignored: see criteria/delta_disclosure.py).
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from tests.oracles import pycanon_env
from tests.oracles.class_stats import stats_of

from sfumato.criteria.registry import parse

Table = dict[str, list[Any]]


def random_table(rng: random.Random) -> Table:
    """Clean columns; text and number hold the same sensitive values, two of them at least."""
    rows, values = rng.randint(2, 90), rng.randint(2, 6)
    spread = [rng.random() + 0.05 for _ in range(values)]
    drawn = [10, 11, *rng.choices(range(10, 10 + values), spread, k=rows)]
    return {"a": [f"a{rng.randint(1, 2)}" for _ in drawn], "b": [rng.randint(1, 2) for _ in drawn],
            "text": [f"v{n}" for n in drawn], "number": drawn}


@pytest.fixture(scope="module")
def asked() -> list[tuple[Table, dict[str, float]]]:
    rng = random.Random(11)
    tables = [random_table(rng) for _ in range(60)]
    try:
        return list(zip(tables, pycanon_env.ask(tables), strict=True))
    except pycanon_env.Unavailable as error:
        pytest.skip(str(error))


def worst(table: Table, name: str, **parameters: Any) -> float:
    column = {} if name == "k-anonymity" else {"column": "s"}
    records = [(f"{a} {b}", value) for a, b, value in zip(table["a"], table["b"], table["text"], strict=True)]
    found = parse({name: {**column, **parameters}}).find(stats_of(records, table["text"])).worst
    assert found is not None
    return found


@pytest.mark.parametrize(("answer", "name", "parameters"), [
    ("k", "k-anonymity", {"k": 2}),
    ("distinct", "l-diversity", {"l": 2}),
    ("equal", "t-closeness", {"t": 0.2}),
    ("ordered", "t-closeness", {"t": 0.2, "distance": "ordered"}),
    ("alpha", "alpha-k-anonymity", {"alpha": 0.5, "k": 1}),
    ("basic", "beta-likeness", {"beta": 1}),
], ids=lambda value: value if isinstance(value, str) else "")
def test_every_table(asked, answer, name, parameters):
    for table, answers in asked:
        assert worst(table, name, **parameters) == pytest.approx(answers[answer], abs=1e-9)


def test_alpha_k_holds_at_its_numbers_and_not_beyond(asked):
    for table, answers in asked:
        alpha, k = answers["alpha"], int(answers["alpha k"])
        assert worst(table, "alpha-k-anonymity", alpha=alpha, k=k) <= alpha + 1e-9
        assert worst(table, "alpha-k-anonymity", alpha=alpha, k=k + 1) == math.inf


def test_entropy_l_diversity_between_whole_numbers(asked):
    compared = 0
    for table, answers in asked:
        found = worst(table, "l-diversity", l=2, kind="entropy")
        if abs(found - round(found)) > 1e-6:
            assert math.floor(found) == answers["entropy"]
            compared += 1
    assert compared >= 40


def test_enhanced_likeness_where_some_beta_would_do(asked):
    compared = 0
    for table, answers in asked:
        found = worst(table, "beta-likeness", beta=1, kind="enhanced")
        if found < math.inf:
            assert found == pytest.approx(answers["enhanced"], abs=1e-9)
            compared += 1
    assert compared >= 10


def test_delta_disclosure_where_no_value_is_absent(asked):
    compared = 0
    for table, answers in asked:
        found = worst(table, "delta-disclosure", delta=1)
        if found < math.inf:
            assert found == pytest.approx(answers["delta"], abs=1e-9)
            compared += 1
    assert compared >= 10
