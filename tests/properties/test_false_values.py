"""What false records have in the other columns, against what would tell them apart."""

from __future__ import annotations

import math
import random
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import RequestError
from sfumato.release_added import drawn
from sfumato.table import open_table

RNG = random.Random(5)
N, SIZE = 300, 60
CODES = RNG.sample(range(100_000, 1_000_000), N)


def made(values: Any) -> list[Any]:
    """Values of false records for a column."""
    with open_table(pa.table({"v": values})) as opened:
        return list(drawn(opened.table, "v", SIZE, np.random.default_rng(3)).to_pylist())


def test_a_column_that_seldom_repeats_a_value_is_no_mark() -> None:
    """One pair of equal numbers among three hundred: a copy of any other would be a false record's."""
    values = [*CODES[:-1], CODES[0]]
    counted = Counter(values)
    found = Counter(made(values))
    assert all(counted[value] != 1 for value in found) and sum(found.values()) == SIZE
    assert all(number == 1 for value, number in found.items() if not counted[value])


def test_amounts_beside_many_noughts_are_no_mark() -> None:
    values = [*[0.0] * 200, *(code / 100 for code in CODES[:100])]
    found = Counter(made(values))
    assert 20 < found[0.0] < 60 and not set(found) & set(values[200:])


def test_values_that_repeat_are_copied() -> None:
    values = [*range(40, 90)] * 6
    assert set(made(values)) <= set(values)


@pytest.mark.parametrize("values", [
    pa.array([RNG.getrandbits(64) - 2 ** 63 for _ in range(N)], pa.int64()),
    pa.array([RNG.getrandbits(64) for _ in range(N)], pa.uint64()),
    pa.array([RNG.random() * 10.0 ** RNG.randint(-300, 300) for _ in range(N)]),
    pa.array([Decimal(code).scaleb(-2) for code in CODES], pa.decimal128(38, 2)),
    pa.array([code / 10 for code in CODES], pa.float32())],
    ids=["int64", "uint64", "wide", "decimal", "float32"])
def test_keys_of_any_size_and_kind(values: pa.Array) -> None:
    found = made(values)
    assert len(set(found)) == SIZE and not set(found) & set(values.to_pylist())


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_as_many_digits_as_the_others(kind: pa.DataType) -> None:
    """A number measured to all digits beside one of nine would tell; so would the other way round."""
    def digits(values: list[float]) -> list[int]:
        return [len(str(value).replace(".", "")) for value in np.array(values, kind.to_pandas_dtype())]

    whole = [RNG.random() for _ in range(N)]
    short = [code / 10 for code in CODES]
    for real in (whole, short):
        assert min(digits(real)) - 1 <= np.median(digits(made(pa.array(real, kind)))) <= max(digits(real))
    assert max(digits(made(pa.array(short, kind)))) <= 6


def test_made_up_numbers_crowd_where_the_others_do() -> None:
    """Of incomes a few are a thousand times as high: most false ones must not be among these."""
    incomes = [round(math.exp(RNG.gauss(8, 2)), 2) for _ in range(N)]
    middle = float(np.median(incomes))
    assert 15 < sum(value > middle for value in made(incomes)) < 45


def test_words_cannot_be_made_up() -> None:
    notes = [f"{code} fell down the stairs" if code % 2 else f"bitten by dog {code}" for code in CODES]
    with pytest.raises(RequestError, match="the false records would stand out") as caught:
        made(notes)
    assert "stairs" not in str(caught.value)
