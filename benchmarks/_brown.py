"""Tables with exactly the pair sizes that Brown's dissertation prints, and what it prints of them.

Which records a generalized or suppressed year of birth brings together is not published; for those
approaches a table is made in which as many come together as the printed counts say.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from _adult import SHARED

GOLDEN = SHARED / "golden" / "000_brown.json"
K, COLUMNS = 5, 20
QUASI = ("course", "forum", "gender", "yob", "country")
WIDTHS = {"course": 16, "forum": 100, "gender": 3, "country": 60}
LEVELS = {"1/4": 1, "1/3": 2, "1/2": 3, "3/4": 4, "T": 5}
IN_YEARS, APART = 5, 20  # pairs that one generalized year, one suppressed year can bring together


def available() -> bool:
    """Whether the printed numbers are there."""
    return GOLDEN.is_file()


@cache
def entries() -> dict[str, dict[str, Any]]:
    """The printed numbers by their names."""
    return {entry["id"]: entry for entry in json.loads(GOLDEN.read_text())["entries"]}


@dataclass
class Pair:
    """One pair: its records, and where its values stand."""

    size: int
    key: int = -1  # all quasi-identifiers but the year of birth
    year: int = 1980
    diverse: bool = True


def histogram(dataset: str) -> list[Pair]:
    """The pairs of a data set, small ones first."""
    found = entries()[f"hist/{dataset}"]["expected"]
    pairs = [Pair(int(size)) for size, n in found["pairs_by_size"].items() for _ in range(n)]
    return [*pairs, *large(found["records_ge5"], found["pairs_ge5"] or 1)]


def large(records: int, n: int, diverse: bool = True) -> list[Pair]:
    """Pairs of at least k records."""
    return [*(Pair(K, diverse=diverse) for _ in range(n - 1)), Pair(records - K * (n - 1), diverse=diverse)]


def with_grades(dataset: str, d: int) -> list[Pair]:
    """The pairs of a data set by whether their grades are diverse."""
    entry = entries()[f"ldiv/{dataset}/D{d}"]
    found = entry["expected"]
    pairs = [Pair(int(size)) for size, n in found["diverse_pairs_by_size"].items() for _ in range(n)]
    if "blocked_records" in found:
        pairs += large(found["diverse_records_ge5"], found["diverse_pairs_ge5"])
        records, n = found["blocked_records"], found["blocked_pairs"]
        return [*pairs, *(Pair(1, diverse=False) for _ in range(n - 1)), Pair(records - n + 1, diverse=False)]
    n1, n2, *_ = entry["inputs"]["hist_all"]
    pairs += [Pair(found["diverse_records_ge5"]), Pair(found["nondiverse_records_ge5"], diverse=False)]
    failing = {"1": n1, "2": n2, **found["nondiverse_pairs"]}
    return [*pairs, *(Pair(int(size), diverse=False) for size, n in failing.items() for _ in range(n))]


def made(dataset: str, xk: int, suppressed: int, added: int, generalized: int,
         starred: int) -> list[Pair] | None:
    """A table's pairs that come together as printed; None if they are of no such sizes.

    Where both techniques are used, the split between them is known from a rounded precision: a few
    records more or less are tried.
    """
    near = range(5) if generalized and starred else (0,)
    for shift in (sign * step for step in near for sign in (1, -1)):
        for rising in (True, False):
            try:
                return planted(dataset, xk, suppressed, added, generalized + shift, starred - shift, rising)
            except Unmade:
                continue
    return None


def untouched(dataset: str, xk: int) -> int:
    """False records that the pairs need which are large enough to stay as they are."""
    return sum(K - pair.size for pair in histogram(dataset) if xk <= pair.size < K)


class Unmade(Exception):
    """Pairs of these sizes cannot come together so."""


def planted(dataset: str, xk: int, suppressed: int, added: int, generalized: int, starred: int,
            rising: bool) -> list[Pair]:
    """The pairs of a data set, of which those below xk come together as the printed counts say.

    Of their records, `suppressed` stay alone, `generalized` come together within five years and
    `starred` in any; together the groups lack as many records to k as were `added` beyond those of
    pairs that stay as they are. Alone stay the small ones first, or the large ones.
    """
    pairs = histogram(dataset)
    small = sorted((pair for pair in pairs if pair.size < xk), key=lambda pair: -pair.size)
    lacking = added - untouched(dataset, xk)
    taken(small, suppressed, rising)
    key = 0
    for records, years in ((generalized, IN_YEARS), (starred, APART)):
        if not records:
            continue
        mine = taken(small, records, rising)
        for group in grouped(mine, xk, lacking, years):
            lacking -= max(K - sum(pair.size for pair in group), 0)
            for n, pair in enumerate(group):
                pair.key, pair.year = key, 1980 + n if years == IN_YEARS else 1905 + 5 * n
            key += 1
    if small or lacking:
        raise Unmade
    for pair in pairs:
        if pair.key < 0:
            pair.key, key = key, key + 1
    return pairs


def taken(pairs: list[Pair], records: int, rising: bool) -> list[Pair]:
    """Take pairs with so many records in all, small ones first where sizes are `rising`."""
    found = []
    for pair in sorted(pairs, key=lambda pair: pair.size if rising else -pair.size):
        if pair.size <= records:
            found.append(pair)
            records -= pair.size
    if records:
        raise Unmade
    chosen = {id(pair) for pair in found}
    pairs[:] = [pair for pair in pairs if id(pair) not in chosen]
    return found


def grouped(pairs: list[Pair], xk: int, lacking: int, most: int) -> list[list[Pair]]:
    """Groups of at least xk records: some that lack records to k, all others with k or more."""
    left = sorted(pairs, key=lambda pair: -pair.size)
    groups = []
    while lacking > 0 and sum(pair.size for pair in left) >= xk:
        size = max(K - lacking, xk)
        group = filled(left, size, most)
        if group is None:
            break
        groups.append(group)
        lacking -= K - size
    full: list[list[Pair]] = []
    while left:
        group = []
        while left and len(group) < most and sum(pair.size for pair in group) < K:
            group.append(left.pop(0) if len(group) % 2 == 0 else left.pop())
        if sum(pair.size for pair in group) >= K:
            full.append(group)
            continue
        for pair in group:  # too few for a group of their own
            room = next((one for one in full if len(one) < most), None)
            if room is None:
                raise Unmade
            room.append(pair)
    return [*groups, *full]


def filled(left: list[Pair], size: int, most: int) -> list[Pair] | None:
    """Take pairs of exactly this many records in all."""
    group, need = [], size
    for at in range(len(left)):
        if need == 0 or len(group) == most:
            break
        n = next((m for m in range(at, len(left)) if left[m].size <= need), None)
        if n is None or (left[n].size > need):
            break
        group.append(left[n])
        need -= left[n].size
        left[n] = Pair(0)
    left[:] = [pair for pair in left if pair.size]
    if need:
        left[:] = sorted([*left, *group], key=lambda pair: -pair.size)
        return None
    return group


def table(pairs: Sequence[Pair], quasi: Sequence[str] = QUASI, d: int = 1, seed: int = 0) -> Any:
    """The records of the pairs as a frame of 20 columns, in any order."""
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    for n, pair in enumerate(pairs):
        pair.key = pair.key if pair.key >= 0 else n
    sizes = np.array([pair.size for pair in pairs])
    key = np.repeat([pair.key for pair in pairs], sizes)
    within = np.arange(len(key)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    columns: dict[str, Any] = {"course": None, "forum": None, "gender": None, "yob": None, "country": None}
    for name in [one for one in quasi if one != "yob"]:
        key, columns[name] = key // WIDTHS[name], key % WIDTHS[name]
    assert not key.any(), "more pairs than combinations"
    if "yob" in quasi:
        columns["yob"] = np.repeat([pair.year for pair in pairs], sizes)
    for name in columns:
        if columns[name] is None:
            columns[name] = rng.integers(0, 40, len(key))
    diverse = np.repeat([pair.diverse for pair in pairs], sizes)
    columns["grade"] = np.where(diverse, within % max(d, 1), 0)
    columns |= {f"p{n}": rng.integers(0, 30, len(key)) for n in range(COLUMNS - len(columns))}
    order = rng.permutation(len(key))
    return pa.table({name: pa.array(column[order]) for name, column in columns.items()})
