"""Rules suggested by the data, against plain loops; the command and its Python twin."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_slices import table
from typer.testing import CliRunner

import sfumato
from sfumato.cli.app import app
from sfumato.recipe import Recipe
from sfumato.slices.suggest import never_together


def couples(n: int = 400) -> list[tuple[str, ...]]:
    rng = random.Random(5)
    rows = []
    for _ in range(n):
        sex = rng.choice("FM")
        relation = rng.choice([{"F": "Wife", "M": "Husband"}[sex], "Child"])
        rows.append((sex, relation, str(rng.randrange(20, 60)), rng.choice("xyz")))
    return rows


def test_no_husband_is_female() -> None:
    found = never_together(table(couples(), ("sex", "relation", "age", "ill")))
    assert {tuple(one.rule.values()) for one in found} == {("F", "Husband"), ("M", "Wife")}
    assert min(one.expected for one in found) > 20
    assert not any("age" in one.columns for one in found), "single numbers make no rules"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([0.2, 1.0, 3.0]))
def test_pairs_that_nobody_has_against_plain_loops(seed: int, n: int, least: float) -> None:
    rng = random.Random(seed)
    rows = [(rng.choice("ab"), rng.choice("pppq"), rng.choice("uvw"), "s") for _ in range(n)]
    found = never_together(table(rows, ("A", "B", "C", "S")), least)
    wanted = {}
    for i, j in combinations(range(3), 2):
        one, other = Counter(row[i] for row in rows), Counter(row[j] for row in rows)
        both = {(row[i], row[j]) for row in rows}
        for v, w in product(one, other):
            if (v, w) not in both and one[v] * other[w] / n >= least:
                wanted[("ABC"[i], v), ("ABC"[j], w)] = one[v] * other[w] / n
    assert {tuple(one.rule.items()): one.expected for one in found} == pytest.approx(wanted)
    assert [one.expected for one in found] == sorted((one.expected for one in found), reverse=True)


def test_the_command_writes_rules_that_a_recipe_takes(tmp_path: Path) -> None:
    rows = couples()
    lines = ["sex,relation,age,ill", *(",".join(row) for row in rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    done = CliRunner().invoke(app, ["rules", str(tmp_path / "t.csv"), "--quasi", "sex,relation,age",
                                    "--least", "20"])
    assert done.exit_code == 0 and "sex × relation" in done.output
    assert "    - {sex: F, relation: Husband}" in done.output
    found = sfumato.rules(tmp_path / "t.csv", quasi=["sex", "relation", "age"], least=20)
    recipe = Recipe.from_dict({
        "columns": {**{name: {"role": "quasi"} for name in ("sex", "relation", "age")},
                    "ill": {"role": "sensitive"}},
        "method": {"name": "ul", "k": 4, "l": 2, "rules": [one.rule for one in found]}})
    assert len(recipe.method["rules"]) == 2
    none = CliRunner().invoke(app, ["rules", str(tmp_path / "t.csv"), "--quasi", "sex", "--json"])
    assert none.exit_code == 0 and none.output.strip() == "[]"
