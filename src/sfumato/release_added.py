"""False records: rows that look like records, for classes that lack some.

A false record has the labels and the sensitive values of a cell of its class, and in every other column a
value drawn from the column as it stands in the table. Where a column seldom repeats a value (a number, a
code, an amount), a copy of one that a single record has would stand out: instead of it, the false record gets
a value that no record has but that could be a record's, near another; where there are none, the request is
refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.classes import Ints
from sfumato.errors import RequestError
from sfumato.prepare import Prepared
from sfumato.recoding import Regrouping
from sfumato.table.arrow import from_numpy
from sfumato.table.engine import fetch, lend

SAMPLE = 10_000  # values that a column of keys is known by
ROUNDS = 20  # how often values are drawn that might be taken
MANY = 0.1  # of a column's records with a value of their own: a copy may show
REPEATED = 4  # ... if values of one record are this many times as frequent as values of two
WIDE = Context(prec=80)
EXACT = 9  # digits after the point that are counted in; more are a measured number's
PROSE = re.compile(r"[^\W\d_]{2,}\W*\s+[^\W\d_]{2,}")  # words: none can be made up


@dataclass(frozen=True)
class FalseRecords:
    """The false records, one after the other: the tuple each looks like, and its other columns' values."""

    tuple_of: Ints
    columns: dict[str, Any]  # every released column that is not quasi-identifying -> Arrow array


def false_records(prepared: Prepared, regrouping: Regrouping, seed: int) -> FalseRecords | None:
    """The false records of a recoding, drawn by a chance that is secret; None where there are none."""
    if regrouping.added is None or not regrouping.n_added:
        return None
    rng = prepared.frequency.secret(seed)
    cells = prepared.frequency.cells
    like = np.repeat(np.arange(len(regrouping.added)), regrouping.added)
    columns = {name: _spelled(prepared, n, cells.values[like, n], rng)
               for n, name in enumerate(prepared.frequency.sensitive)}
    known = {*prepared.frequency.quasi, *columns}
    for name in prepared.released:
        if name not in known:
            columns[name] = drawn(prepared.table, name, len(like), rng)
    return FalseRecords(cells.tuple_of[like], columns)


def _spelled(prepared: Prepared, n: int, codes: Ints, rng: np.random.Generator) -> Any:
    """Sensitive values as they stand in the table: one that has several spellings in their proportions."""
    joint = prepared.frequency.joint
    assert joint is not None
    column = prepared.counted.column(prepared.frequency.n_quasi + n).combine_chunks()
    keys, first, at = np.unique(np.column_stack([joint.values[:, n],
                                                 prepared.spelled[:, prepared.frequency.n_quasi + n]]),
                                axis=0, return_index=True, return_inverse=True)
    records = np.bincount(at.ravel(), weights=joint.counts)
    texts = [repr(value) for value in column.take(from_numpy(first)).to_pylist()]
    order = np.array(sorted(range(len(keys)), key=lambda m: (keys[m, 0], texts[m])))
    ends = np.cumsum(records[order])
    last = np.searchsorted(keys[order, 0], codes, side="right") - 1
    start = np.searchsorted(keys[order, 0], codes, side="left")
    before = (ends - records[order])[start]
    places = before + rng.random(len(codes)) * (ends[last] - before)
    return column.take(from_numpy(first[order[np.minimum(np.searchsorted(ends, places, "right"), last)]]))


def drawn(table: Any, name: str, size: int, rng: np.random.Generator) -> Any:
    """As many values of a column, drawn with replacement from its records; those of one record are made up
    anew where the column seldom repeats any."""
    import pyarrow as pa

    column = table.select(v=table[name])
    counted = column.group_by("v").aggregate(n=column.count())
    real = counted.filter(counted["v"].notnull())
    facts = fetch(real.aggregate(records=real["n"].sum(), alone=(real["n"] == 1).sum(),
                                 twice=(real["n"] == 2).sum())).to_pylist()[0]
    found = _at_random(counted, size, rng)
    values = found.column("v").combine_chunks()
    alone, twice, records = (int(facts[one] or 0) for one in ("alone", "twice", "records"))
    if alone < 2 or alone < MANY * records or alone < REPEATED * twice:
        return values
    own = values.is_valid().to_numpy(zero_copy_only=False) & (found.column("n").to_numpy() == 1)
    made = _unused(counted, name, int(own.sum()), alone == records, rng)
    places = np.arange(size)
    places[own] = size + np.arange(len(made))
    return pa.concat_arrays([values, made]).take(pa.array(places, pa.int64()))


def _at_random(counted: Any, size: int, rng: np.random.Generator) -> Any:
    """The values at random places of the column, were it sorted, and how many records have each."""
    import ibis
    import pyarrow as pa

    total = fetch(counted.aggregate(n=counted["n"].sum())).column("n")[0].as_py()
    places = np.sort(rng.integers(0, total, size))
    running = ibis.window(order_by=counted["v"], preceding=None, following=0)
    ends = counted.mutate(end=counted["n"].sum().over(running))
    lent = lend(counted, pa.table({"slot": from_numpy(rng.permutation(size)), "place": from_numpy(places)}))
    found = lent.join(ends, [lent["place"] < ends["end"], lent["place"] >= ends["end"] - ends["n"]])
    return fetch(found.select("slot", "v", "n").order_by("slot"))


def _unused(counted: Any, name: str, size: int, every: bool, rng: np.random.Generator) -> Any:
    """Values that no record has, made like those that single records have."""
    import pyarrow as pa

    real = counted.filter(counted["v"].notnull())
    own = real.filter(real["n"] == 1)
    sample = _at_random(own, SAMPLE, rng).column("v").combine_chunks()
    ends = fetch(own.aggregate(low=own["v"].min(), high=own["v"].max()))
    like = _pattern(pa.concat_arrays([sample, ends.column("low").combine_chunks(),
                                      ends.column("high").combine_chunks()]))
    found: dict[Any, None] = {}
    for _ in range(ROUNDS if like else 0):
        assert like is not None
        candidates = pa.array(list(dict.fromkeys(like.draw(2 * size + 20, rng))), like.kind)
        lent = lend(counted, pa.table({"v": candidates}))
        free = lent.anti_join(real, "v").order_by("v")
        found |= dict.fromkeys(fetch(free).column("v").to_pylist())
        if len(found) >= size:
            places = rng.permutation(len(found))[:size]
            chosen = list(found)
            return pa.array([chosen[place] for place in places], like.kind)
    raise RequestError(
        f"The column {name!r} gives {'every record' if every else 'many records'} a value of "
        f"{'its' if every else 'their'} own, and there are not {size:,} unused ones "
        "that look like them: the false records would stand out.",
        "Give the column the role identifying, so that it is not released, or set xk to k, which adds no "
        "false record.")


@dataclass(frozen=True)
class Numbers:
    """Keys that are whole numbers of some unit, within text or by themselves."""

    kind: Any  # Arrow type
    values: list[int]  # ascending
    step: int
    back: Callable[[int], Any]  # from the number to the value

    def draw(self, size: int, rng: np.random.Generator) -> list[Any]:
        """Numbers between neighbours, so that they crowd where the others do."""
        free = [(low, (high - low) // self.step - 1) for low, high in pairwise(self.values)]
        rooms = [(low, room) for low, room in free if room > 0]
        chosen = rng.integers(0, len(rooms), size).tolist() if rooms else []
        return [self.back(low + self.step * (1 + _below(room, rng)))
                for low, room in (rooms[n] for n in chosen)]


def _below(end: int, rng: np.random.Generator) -> int:
    """A whole number from 0 on, below an end of any length."""
    return int.from_bytes(rng.bytes(end.bit_length() // 8 + 8)) % end


@dataclass(frozen=True)
class Measured:
    """Numbers of so many digits, wherever their point stands."""

    kind: Any
    values: list[float]  # ascending
    digits: int

    def draw(self, size: int, rng: np.random.Generator) -> list[float]:
        """Numbers between neighbours."""
        shares = rng.random(size).tolist()
        lows = rng.integers(0, len(self.values) - 1, size).tolist()
        between = (self.values[n] * (1 - share) + self.values[n + 1] * share
                   for n, share in zip(lows, shares, strict=True))
        return [float(f"{value:.{self.digits - 1}e}") for value in between]


@dataclass(frozen=True)
class Mosaic:
    """Keys that are text of a form: every letter and digit is one that stands in its place in another key."""

    kind: Any
    texts: dict[int, list[str]]  # by length
    lengths: list[int]

    def draw(self, size: int, rng: np.random.Generator) -> list[str]:
        """Texts put together from the characters of others."""
        made = []
        for length in rng.choice(self.lengths, size).tolist():
            texts = self.texts[length]
            like = texts[int(rng.integers(len(texts)))]
            made.append("".join(
                texts[int(rng.integers(len(texts)))][n] if letter.isalnum() else letter
                for n, letter in enumerate(like)))
        return made


def _pattern(sample: Any) -> Numbers | Measured | Mosaic | None:
    """How a column of keys is written; None if it is of a kind that cannot be made up."""
    import pyarrow as pa

    kind, values = sample.type, sorted(set(sample.to_pylist()), key=lambda v: (str(type(v)), v))
    if pa.types.is_integer(kind):
        return _numbers(kind, values, lambda number: number)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        ordinals = pa.array(values, kind).cast(width).to_pylist()
        return _numbers(kind, ordinals, lambda number: pa.array([number], width).cast(kind)[0].as_py())
    if pa.types.is_decimal(kind):
        return _numbers(kind, [int(value.scaleb(kind.scale, WIDE)) for value in values],
                        lambda number: Decimal(number).scaleb(-kind.scale, WIDE))
    if pa.types.is_floating(kind) and all(math.isfinite(value) for value in values):
        return _measured(kind, values)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _text(kind, values)
    return None


def _numbers(kind: Any, values: Sequence[int], back: Callable[[int], Any]) -> Numbers:
    ordered = sorted(values)
    step = math.gcd(*(value - ordered[0] for value in ordered)) or 1
    return Numbers(kind, ordered, step, back)


def _measured(kind: Any, values: list[float]) -> Numbers | Measured:
    """Floating numbers as they are written: with few digits after the point, or with many in all."""
    written = [Decimal(str(value)) for value in np.array(values, dtype=kind.to_pandas_dtype())]
    after = max(-int(value.normalize().as_tuple().exponent) for value in written)
    if after <= EXACT and max(map(abs, written)) < 10 ** (15 - max(after, 0)):
        scale = 10 ** max(after, 0)
        return _numbers(kind, [int(value * scale) for value in written], lambda number: number / scale)
    return Measured(kind, values, max(len(value.normalize().as_tuple().digits) for value in written))


def _text(kind: Any, values: list[str]) -> Numbers | Mosaic | None:
    """Text of one number between constant ends counts as that number: where it stops, a new one shows.

    Sentences and names of several words cannot be made up.
    """
    if any(PROSE.search(value) for value in values):
        return None
    parts = [re.fullmatch(r"(\D*)(\d{1,18})(\D*)", value) for value in values]
    if all(parts):
        around = {(part[1], part[3]) for part in parts if part}
        figures = [part[2] for part in parts if part]
        widths = {len(figure) for figure in figures}
        padded = len(widths) == 1
        if len(around) == 1 and (padded or not any(f[0] == "0" and len(f) > 1 for f in figures)):
            [(before, after)] = around
            width = widths.pop() if padded else 0
            return _numbers(kind, [int(figure) for figure in figures],
                            lambda number: f"{before}{number:0{width}d}{after}")
    lengths: dict[int, list[str]] = {}
    for value in values:
        lengths.setdefault(len(value), []).append(value)
    return Mosaic(kind, lengths, [len(value) for value in values])
