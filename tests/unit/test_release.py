"""The released table: hostile column names, values that look like missing, exotic plain columns."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from sfumato.pipeline import anonymize
from sfumato.recipe import Recipe


def released(table: pa.Table, quasi: list[str], **said: Any) -> pa.Table:
    columns = {name: {"role": "quasi"} for name in quasi} | said.pop("columns", {})
    promised = {"criteria": [{"k-anonymity": {"k": 2}}], "seed": 1}
    recipe = Recipe.from_dict({"columns": columns, **promised, **said})
    return anonymize(table, recipe, report=False).release


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


@pytest.mark.parametrize("name", ["select", 'say "x"', "with space", "sfumato0", "sfumato0_class", "v0", "n",
                                  "Größe 🏥", "f0", "seed", "a.b", "x'; drop table t; --"])
def test_any_name_will_do(name: str) -> None:
    table = pa.table({name: ["a", "a", "b", "b"], "p": [1, 2, 3, 4], f"{name}_1": list("wxyz")})
    result = released(table, [name])
    assert result.column_names == table.column_names and rows(result) == rows(table)


def test_plain_columns_of_every_type_come_back() -> None:
    table = pa.table({
        "q": ["a"] * 3, "i": [1, None, -(2 ** 62)], "f": [0.1, None, float("inf")], "b": [True, None, False],
        "d": [dt.date(2020, 1, 2), None, dt.date(1, 1, 1)], "m": [Decimal("1.50"), None, Decimal("-0.01")],
        "t": [dt.datetime(2020, 1, 2, 3, 4, 5, 6), None, dt.datetime(1970, 1, 1)],
        "x": [b"\x00\xff", None, b""], "l": [[1, 2], None, []], "s": ["", None, "null"]})
    result = released(table, ["q"])
    assert result.schema.remove(0) == table.schema.remove(0) and rows(result) == rows(table)


def test_a_missing_value_finds_its_label() -> None:
    """In every column at once, where a join that knows no null would lose the rows."""
    table = pa.table({"a": [None, None, "x", "x", None, None], "b": [None, None, None, None, "y", "y"],
                      "p": list(range(6))})
    assert rows(released(table, ["a", "b"])) == rows(table)


def test_the_word_none_is_not_missing() -> None:
    table = pa.table({"a": ["None", "None", None, None, "nan", "nan"], "p": list(range(6))})
    assert rows(released(table, ["a"])) == rows(table)


@pytest.mark.parametrize("table", [
    pa.table({"a": ["x"], "p": [1]}),
    pa.table({"a": pa.array([None, None, None], pa.string()), "p": [1, 2, 3]}),
    pa.table({"a": pa.nulls(2), "p": [1, 2]}),
], ids=["one row", "all null", "a column of nulls"])
def test_tables_with_hardly_anything_in_them(table: pa.Table) -> None:
    from sfumato.errors import InfeasibleError

    if table.num_rows == 1:
        with pytest.raises(InfeasibleError, match="k = 2"):
            released(table, ["a"])
        return
    result = released(table, ["a"])
    assert result.column("a").to_pylist() == [None] * table.num_rows
