"""From a counted table to codes: text, natural order, one missing value, one row a tuple."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import RequestError, TableError
from sfumato.prepare import encode, prepare
from sfumato.recipe import Recipe
from sfumato.table import open_table


@pytest.mark.parametrize(("values", "expected"), [
    (["10", "9", None, "9"], ("9", "10", None)),
    (["10", "9", "x"], ("10", "9", "x")),
    (["1", "1.0", "01"], ("01", "1", "1.0")),  # equal numbers stay distinct texts, in one order
    (["nan", "2", "10"], ("10", "2", "nan")),  # not numbers all: text order, whatever came first
    (["inf", "2"], ("2", "inf")),
    ([2.5, 10.0, -1.0], ("-1", "2.5", "10")),
    ([True, False, None], ("false", "true", None)),
    ([Decimal("1.50"), Decimal("10.00")], ("1.5", "10")),
    ([None], (None,)),
], ids=str)
def test_values_as_text_in_natural_order(values: list[Any], expected: tuple[str | None, ...]) -> None:
    column = pa.chunked_array([pa.array(values)]) if values != [None] else pa.chunked_array(
        [pa.array(values, pa.string())])
    coded, turned = encode(column, ()), encode(pa.chunked_array([pa.array(values, column.type)[::-1]]), ())
    assert coded.values == turned.values == expected
    assert [coded.values[c] for c in coded.codes] == [turned.values[c] for c in turned.codes[::-1]]


def prepared(table: pa.Table, **said: Any) -> Any:
    recipe = Recipe.from_dict({"columns": {"q": {"role": "quasi"}, "r": {"role": "quasi"},
                                           "s": {"role": "sensitive"}},
                               "criteria": [{"k-anonymity": {"k": 2}}], **said})
    with open_table(table) as opened:
        return prepare(opened.table, recipe)


TABLE = pa.table({"q": ["a", None, "a", " ", "?"], "r": ["x", "y", "x", "y", "z"],
                  "s": [3, 1, 3, None, 20], "p": [1, 2, 3, 4, 5]})


def test_a_frequency_set_counts_tuples_and_sensitive_values() -> None:
    frequency = prepared(TABLE, missing=["?"]).frequency
    rows = [tuple(h.values[c] for h, c in zip(frequency.hierarchies, codes, strict=True))
            for codes in frequency.codes]
    assert dict(zip(rows, frequency.counts.tolist(), strict=True)) == {
        ("a", "x"): 2, (None, "y"): 2, (None, "z"): 1}
    s = frequency.sensitive["s"]
    assert s.labels == ("1", "3", "20", None) and s.whole.tolist() == [1, 2, 1, 1]
    held = {(rows[c], s.labels[v]): n for c, v, n in zip(s.classes, s.values, s.counts, strict=True)}
    assert held == {(("a", "x"), "3"): 2, ((None, "y"), "1"): 1, ((None, "y"), None): 1,
                    ((None, "z"), "20"): 1}
    assert (np.diff(s.classes) >= 0).all() and int(s.counts.sum()) == frequency.n_records == 5


def test_the_same_whatever_the_order_of_rows() -> None:
    ours, theirs = prepared(TABLE).frequency, prepared(TABLE.take([4, 2, 0, 3, 1])).frequency
    assert ours.codes.tolist() == theirs.codes.tolist() and ours.hierarchies == theirs.hierarchies
    assert ours.sensitive["s"].counts.tolist() == theirs.sensitive["s"].counts.tolist()


def test_what_a_table_must_have() -> None:
    with pytest.raises(TableError, match="no column 's'"):
        prepared(TABLE.drop(["s"]))
    with pytest.raises(TableError, match="no records"):
        prepared(TABLE.slice(0, 0))
    with pytest.raises(RequestError, match="1 of the 1 values to protect"):
        prepared(TABLE, criteria=[{"alpha-k-anonymity": {"column": "s", "alpha": 0.5, "k": 2,
                                                         "values": ["secret"]}}])
