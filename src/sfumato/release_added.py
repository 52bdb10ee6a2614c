"""False records: rows that look like records, for classes that lack some.

A false record has the labels and the sensitive values of a cell of its class, and in every other column a
value drawn from the column as it stands in the table. A column that gives each record a value of its own
(a number, a code) gets values that no record has but that could be a record's; where there are none,
false records would stand out, and the request is refused.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
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
    """As many values of a column, drawn with replacement from its records; keys are made up."""
    column = table.select(v=table[name])
    counted = column.group_by("v").aggregate(n=column.count())
    real = counted.filter(counted["v"].notnull())
    facts = fetch(real.aggregate(most=real["n"].max(), values=real.count())).to_pylist()[0]
    values = _at_random(counted, size, rng)
    if facts["most"] != 1 or facts["values"] < 2:
        return values
    present = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
    made = _unused(counted, name, len(present), rng)
    places: list[int | None] = [None] * size
    for n, row in enumerate(present.tolist()):
        places[row] = n
    import pyarrow as pa

    return made.take(pa.array(places, pa.int64()))


def _at_random(counted: Any, size: int, rng: np.random.Generator) -> Any:
    """The values at random places of the column, were it sorted."""
    import ibis
    import pyarrow as pa

    total = fetch(counted.aggregate(n=counted["n"].sum())).column("n")[0].as_py()
    places = np.sort(rng.integers(0, total, size))
    running = ibis.window(order_by=counted["v"], preceding=None, following=0)
    ends = counted.mutate(end=counted["n"].sum().over(running))
    lent = lend(counted, pa.table({"slot": from_numpy(rng.permutation(size)), "place": from_numpy(places)}))
    found = lent.join(ends, [lent["place"] < ends["end"], lent["place"] >= ends["end"] - ends["n"]])
    return fetch(found.select("slot", "v").order_by("slot")).column("v").combine_chunks()


def _unused(counted: Any, name: str, size: int, rng: np.random.Generator) -> Any:
    """Values that no record has, made like those that records have."""
    import pyarrow as pa

    real = counted.filter(counted["v"].notnull())
    sample = _at_random(real, SAMPLE, rng)
    ends = fetch(real.aggregate(low=real["v"].min(), high=real["v"].max()))
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
            chosen = rng.permutation(np.array(list(found), dtype=object))[:size]
            return pa.array(chosen.tolist(), like.kind)
    raise RequestError(
        f"The column {name!r} gives every record a value of its own, and there are not {size:,} unused ones "
        "that look like them: the false records would stand out.",
        "Give the column the role identifying, so that it is not released, or set xk to k, which adds no "
        "false record.")


@dataclass(frozen=True)
class Numbers:
    """Keys that are whole numbers of some unit, within text or by themselves."""

    kind: Any  # Arrow type
    low: int
    high: int
    step: int
    back: Any  # from the number to the value

    def draw(self, size: int, rng: np.random.Generator) -> list[Any]:
        """Numbers between the least and the greatest."""
        steps = rng.integers(0, (self.high - self.low) // self.step + 1, size)
        return [self.back(self.low + self.step * int(step)) for step in steps]


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


def _pattern(sample: Any) -> Numbers | Mosaic | None:
    """How a column of keys is written; None if it is of a kind that cannot be made up."""
    import pyarrow as pa

    kind, values = sample.type, sorted(set(sample.to_pylist()), key=lambda v: (str(type(v)), v))
    if pa.types.is_integer(kind):
        return _numbers(kind, values, lambda number: number)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        ordinals = pa.array(values, kind).cast(width).to_pylist()
        return _numbers(kind, ordinals, lambda number: pa.array([number], width).cast(kind)[0].as_py())
    if pa.types.is_floating(kind) and all(math.isfinite(value) for value in values):
        digits = min(max(len(repr(value).partition(".")[2]) for value in values), 9)
        return _numbers(kind, [round(value * 10 ** digits) for value in values],
                        lambda number: number / 10 ** digits)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _text(kind, values)
    return None


def _numbers(kind: Any, values: list[int], back: Any) -> Numbers:
    low, high = min(values), max(values)
    return Numbers(kind, low, high, math.gcd(*(value - low for value in values)) or 1, back)


def _text(kind: Any, values: list[str]) -> Numbers | Mosaic:
    """Text of one number between constant ends counts as that number: where it stops, a new one shows."""
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
