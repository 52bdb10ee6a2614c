"""The column groups of a sliced release, and the records of its buckets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.errors import InfeasibleError
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Codes
from sfumato.slices.base import Slices, orders, renumbered
from sfumato.slices.grouping import Groups, pairing, pam
from sfumato.slices.partition import Blocks

Named = tuple[tuple[str, ...], ...]
Rules = tuple[Mapping[str, str], ...]


def arranged(groups: str | Named, names: Sequence[str], matrix: Floats, columns: int | None) -> Groups:
    """The groups asked for, by number; the one with the sensitive column (the last name) comes last."""
    if not isinstance(groups, str):
        found: Groups = [[names.index(name) for name in group] for group in groups]
    elif len(names) == 2:
        found = [[0], [1]]  # one group of all columns would break no link
    elif groups == "pam":
        found = pam(1 - matrix, columns or -(-len(names) // 2))
    else:
        found = pairing(matrix)
    last = len(names) - 1
    return [*(sorted(g) for g in found if last not in g), *(sorted(g) for g in found if last in g)]


def fitted(groups: Groups, matrix: Floats, frequency: FrequencySet, sensitive: str, l: float,  # noqa: E741
           most: int | None) -> tuple[Groups, Blocks]:
    """The sensitive column's group, as large as the promise allows.

    Its quasi-identifiers leave it, the least correlated first, while it has more columns than asked
    for or the table as one bucket would break the promise: each becomes a group of its own.
    """
    *others, group = groups
    rows, last = frequency.sensitive[sensitive], len(matrix) - 1
    beside = sorted((j for j in group if j != last), key=lambda j: -matrix[j, last])
    while True:
        blocks = Blocks.of(frequency, rows, sorted(beside))
        if (most is None or len(beside) < most) and blocks.diverse(rows.counts, l):
            return [*others, [*sorted(beside), last]], blocks
        if not beside:
            _impossible(frequency, sensitive, blocks, l)
        others.append([beside.pop()])


def require_diverse(frequency: FrequencySet, sensitive: str, l: float) -> None:  # noqa: E741
    """A sensitive value with more than 1/l of all records has more than that in some bucket."""
    rows = frequency.sensitive[sensitive]
    whole = Blocks.of(frequency, rows, [])
    if not whole.diverse(rows.counts, l):
        _impossible(frequency, sensitive, whole, l)


def _impossible(frequency: FrequencySet, sensitive: str, blocks: Blocks, l: float) -> NoReturn:  # noqa: E741
    rows = frequency.sensitive[sensitive]
    worst, values = blocks.worst(rows.counts), int((rows.whole > 0).sum())
    raise InfeasibleError(
        f"No sliced release keeps every p(t, s) at 1/{l:g} or below: {sensitive!r} has {values} values, "
        f"and the most frequent one stands in {worst:.1%} of all records, where {1 / l:.1%} is the most "
        "that it may have.",
        f"Lower l to {int(1 / worst + 1e-9)} or less." if worst < 1 else "Slicing cannot help: everybody has "
        "the same sensitive value.")


def named(groups: Groups, names: Sequence[str]) -> Named:
    """The groups by their columns' names."""
    return tuple(tuple(names[j] for j in group) for group in groups)


def require_records(frequency: FrequencySet, k: int) -> None:
    """A table with fewer records than a bucket must have cannot be sliced."""
    if frequency.n_records < k:
        raise InfeasibleError(f"A bucket must have {k:,} records, and the table has {frequency.n_records:,}.",
                              "Lower k.")


def records(frequency: FrequencySet, sensitive: str, bucket_of: Ints,
            rng: np.random.Generator) -> tuple[Ints, Ints, Codes]:
    """Every record's bucket (in order), its distinct row and its values; `bucket_of` is per tuple."""
    rows = frequency.sensitive[sensitive]
    return gathered(frequency, sensitive, np.repeat(np.arange(len(rows.counts)), rows.counts),
                    bucket_of[np.repeat(rows.classes, rows.counts)], rng)


def gathered(frequency: FrequencySet, sensitive: str, source: Ints, bucket_of: Ints,
             rng: np.random.Generator) -> tuple[Ints, Ints, Codes]:
    """The records put together by bucket, the buckets under numbers that tell nothing."""
    rows = frequency.sensitive[sensitive]
    bucket_of = renumbered(bucket_of, rng)
    order = np.argsort(bucket_of, kind="stable")
    source = source[order]
    codes = np.column_stack([frequency.codes[rows.classes[source]], rows.values[source]]).astype(np.int32)
    return bucket_of[order], source, codes


def released(groups: Named, frequency: FrequencySet, held: tuple[Ints, Ints, Codes], k: int,
             l: float, rng: np.random.Generator, facts: Mapping[str, Any],  # noqa: E741
             rules: Rules = (), labels: Codes | None = None) -> Slices:
    """Step 7: the buckets' records with every column group permuted; `labels` stand for the values."""
    bucket_of, source, values = held
    names = [*frequency.quasi, groups[-1][-1]]
    members = [[names.index(name) for name in group] for group in groups]
    codes, hidden = np.empty_like(values), np.empty_like(values)
    for group, order in zip(members, orders(members, bucket_of, rng), strict=True):
        codes[:, group] = (values if labels is None else labels)[order][:, group]
        hidden[:, group] = values[order][:, group]
    sizes = np.bincount(bucket_of)
    notes = {"facts": {"column_groups": [list(group) for group in groups],
                       "buckets": {"count": len(sizes), "smallest": int(sizes.min()),
                                   "largest": int(sizes.max())}, **facts}}
    return Slices(groups, bucket_of, codes, codes if labels is None else hidden, source, k, l, rules, notes)
