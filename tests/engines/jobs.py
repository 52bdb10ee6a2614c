"""The jobs that every engine is given."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

from sfumato.recipe import Recipe

RANDOM = """
missing: ["?"]
columns:
  name: {role: identifying}
  age: {role: quasi, hierarchy: {interval: [10, 20, 40]}, weight: 2}
  "body weight": {role: quasi, hierarchy: {interval: [5, 10, 20]}}
  "sex's": {role: quasi, hierarchy: suppress}
  zip.code: {role: quasi, hierarchy: {prefix: 3}}
  ill: {role: sensitive}
criteria:
  - {k-anonymity: {k: 2}}
  - {l-diversity: {column: ill, l: 2, kind: distinct}}
suppression: 0.3
method: {name: optimal, cost: ncp}
seed: 7
"""

COLUMNS = (("name", pa.string()), ("age", pa.int64()), ("body weight", pa.float64()), ("sex's", pa.string()),
           ("zip.code", pa.string()), ("ill", pa.string()), ("größe `cm`", pa.int64()), ("note", pa.string()))


def random_table(seed: int, n: int = 80) -> pa.Table:
    """People with missing values of several kinds in every column but the name."""
    rng = random.Random(seed)

    def one(*values: object) -> list[object]:
        return [rng.choice([None, *values]) for _ in range(n)]

    data = [[f"person {i}" for i in range(n)], one(18, 25, 25, 31, 47), one(60.5, 61.25, 72.5, 90.5),
            one("f", "m", "?"), one("A101", "A102", "B201", "é301"), one("flu", "cold", "?", "it's"),
            one(*range(150, 190)), one("x,y", 'with "quotes"', "ü€", "π")]
    return pa.table(data, schema=pa.schema(COLUMNS))


def adult(shared: Path) -> tuple[pa.Table, Recipe]:
    """The first 3,000 records of Adult, with k-anonymity and l-diversity."""
    folder = shared / "data/adult"
    columns = ["sex", "age", "race", "marital-status", "education", "workclass"]
    lines = [f"  {name}: {{role: quasi, hierarchy: {folder}/hierarchies/adult_hierarchy_{name}.csv}}"
             for name in columns]
    text = "\n".join(["columns:", *lines, "  salary-class: {role: sensitive}", "criteria:",
                      "  - {k-anonymity: {k: 5}}",
                      "  - {l-diversity: {column: salary-class, l: 2, kind: distinct}}",
                      "suppression: 0.05", "method: {name: optimal, cost: ncp}", "seed: 7"])
    options = pa.csv.ParseOptions(delimiter=";")
    return pa.csv.read_csv(folder / "adult-9.csv", parse_options=options).slice(0, 3000), Recipe.parse(text)


def job(name: str, shared: Path) -> tuple[pa.Table, Recipe]:
    """A table and a recipe by name."""
    if name == "adult":
        return adult(shared)
    people = random_table(1, 6)
    alike = pa.concat_tables([people.slice(0, 1)] * 9)
    close = RANDOM.replace("k-anonymity: {k: 2}", "t-closeness: {column: ill, t: 0.5, distance: equal}")
    lax = "".join(line for line in close.splitlines(True) if "l-diversity" not in line)
    tables = {"one row": people.slice(0, 1), "one value": alike}
    if name in tables:
        return tables[name], Recipe.parse(lax)
    if name.startswith("false"):
        filling = RANDOM.replace("{name: optimal, cost: ncp}",
                                 "{name: xk, xk: 1, sensitive_suppression: true, generalize: {age: 1}, "
                                 "suppress_cells: [age]}")
        return random_table(int(name.split()[1])), Recipe.parse(filling)
    dropping = RANDOM + "suppressed: drop\n" if name.endswith("dropped") else RANDOM
    return random_table(int(name.split()[1])), Recipe.parse(dropping)


JOBS = ("random 1", "random 2", "random 3 dropped", "false 4", "one row", "one value",
        pytest.param("adult", marks=pytest.mark.needs_shared))
