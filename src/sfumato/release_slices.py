"""Slices → released table: codes become values by look-ups, plain columns are permuted in the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.classes import Ints
from sfumato.errors import TableError
from sfumato.prepare import Prepared, count, encode
from sfumato.release import scattered
from sfumato.slices.base import BUCKET, Labels, Slices
from sfumato.table.arrow import from_numpy, from_texts
from sfumato.table.engine import lend


def require_no_bucket(prepared: Prepared) -> None:
    """The column of buckets needs a name of its own."""
    if BUCKET in prepared.released:
        raise TableError(f"The table has a column {BUCKET!r}, and so has every sliced release.",
                         "Rename the column, or give it the role identifying to drop it.")


def sliced_table(prepared: Prepared, slices: Slices, seed: int) -> Any:
    """The released rows as an Ibis expression: bucket by bucket, with the bucket's number first.

    On the way, columns have names of our own: the table's may be any.
    """
    import pyarrow as pa

    require_no_bucket(prepared)
    columns: dict[str, Any] = {"place": from_numpy(np.arange(len(slices.codes))),
                               BUCKET: from_numpy(slices.bucket_of)}
    ours = {BUCKET: BUCKET}
    for j, name in enumerate((*prepared.frequency.quasi, slices.sensitive)):
        ours[name] = f"v{j}"
        at = from_numpy(slices.codes[:, j].astype(np.int64))
        columns[f"v{j}"] = values_of(prepared, slices, j).take(at)
    made = lend(prepared.table, pa.table(columns))
    for n, (name, own) in enumerate(permuted_plain(prepared, slices, seed).items()):
        ours[name] = f"p{n}"
        made = made.join(own.rename({f"p{n}": "value"}), "place")
    ordered = made.order_by("place")
    return ordered.select(**{name: ordered[ours[name]] for name in (BUCKET, *prepared.released)})


def values_of(prepared: Prepared, slices: Slices, j: int) -> Any:
    """What the codes of a column stand for: the table's own values, or labels where some are coarser."""
    frequency = prepared.frequency
    if j == frequency.n_quasi:
        return sensitive_values(prepared, slices.sensitive)
    hierarchy = frequency.hierarchies[j]
    if (slices.codes[:, j] >= hierarchy.n_values).any():
        return from_texts(Labels(hierarchy).names)
    column = prepared.values.column(j).combine_chunks()
    return own_values(column, frequency.codes[prepared.tuple_of, j], hierarchy.values)


def sensitive_values(prepared: Prepared, name: str) -> Any:
    """Per code of a sensitive column: the value as the table has it."""
    counted, _ = count(prepared.table, (name,))
    coded = encode(counted.column(0), prepared.recipe.missing)
    return own_values(counted.column(0).combine_chunks(), coded.codes, coded.values)


def own_values(column: Any, codes: Ints, labels: tuple[str | None, ...]) -> Any:
    """Per code: a value as the table has it; null for the missing one and for values that do not occur."""
    import pyarrow as pa
    import pyarrow.compute as pc

    first = np.full(len(labels), -1, dtype=np.int64)
    found, at = np.unique(codes, return_index=True)
    first[found] = at
    absent = np.array([label is None for label in labels]) | (first < 0)
    taken = column.take(from_numpy(np.where(absent, 0, first)))
    return pc.if_else(pa.array(absent.tolist()), pa.nulls(len(labels), taken.type), taken)


def permuted_plain(prepared: Prepared, slices: Slices, seed: int) -> dict[str, Any]:
    """Each plain column with the places that its values are released at: a group of its own, permuted.

    The engine numbers the records of every bucket in the order of a hash of the value, so that the
    order of one column says nothing of another's; equal values are told apart by counting them.
    """
    import ibis

    names = [name for name in prepared.released if name not in (*prepared.frequency.quasi, slices.sensitive)]
    if not names:
        return {}
    placed = bucketed(prepared, slices, names, seed)
    starts = lend(prepared.table, _bucket_starts(slices))
    made = {}
    for n, name in enumerate(names):
        own = placed.select(BUCKET, value=placed[f"p{n}"])
        counted = own.mutate(same=ibis.row_number().over(group_by=[own[BUCKET], own["value"]]))
        mixed = counted.mutate(mixed=scattered(counted, seed + n))
        place = ibis.row_number().over(group_by=mixed[BUCKET], order_by=mixed["mixed"])
        ordered = mixed.mutate(at=place).join(starts, BUCKET)
        made[name] = ordered.select(place=(ordered["at"] + ordered["first"]).cast("int64"),
                                    value=ordered["value"])
    return made


def bucketed(prepared: Prepared, slices: Slices, names: list[str], seed: int) -> Any:
    """The named columns of every record with the bucket that the record is in."""
    import ibis

    table, quasi = prepared.table, prepared.frequency.quasi
    own = table.select(**{f"q{j}": table[name] for j, name in enumerate(quasi)}, s=table[slices.sensitive],
                       **{f"p{n}": table[name] for n, name in enumerate(names)})
    tuples = lend(table, prepared.values.append_column("tuple", from_numpy(prepared.tuple_of)))
    with_tuple = own.join(tuples, [own[f"q{j}"].identical_to(tuples[f"v{j}"]) for j in range(len(quasi))])
    values = lend(table, _sensitive_codes(prepared, slices))
    with_value = with_tuple.join(values, with_tuple["s"].identical_to(values["sensitive"]))
    rows = lend(table, _rows(prepared, slices))
    found = with_value.join(rows, ["tuple", "code"]).select("row", *(f"p{n}" for n in range(len(names))))
    mixed = found.mutate(mixed=scattered(found, seed))
    numbered = mixed.mutate(turn=ibis.row_number().over(group_by=mixed["row"], order_by=mixed["mixed"]))
    numbered = numbered.mutate(turn=numbered["turn"].cast("int64"))
    return numbered.join(lend(table, _turns(slices)), ["row", "turn"])


def _sensitive_codes(prepared: Prepared, slices: Slices) -> Any:
    """The code of every sensitive value as it stands in the table."""
    import pyarrow as pa

    counted, _ = count(prepared.table, (slices.sensitive,))
    coded = encode(counted.column(0), prepared.recipe.missing)
    return pa.table({"sensitive": counted.column(0), "code": from_numpy(coded.codes)})


def _rows(prepared: Prepared, slices: Slices) -> Any:
    import pyarrow as pa

    rows = slices.rows(prepared.frequency)
    return pa.table({"tuple": from_numpy(rows.classes), "code": from_numpy(rows.values),
                     "row": from_numpy(np.arange(len(rows.counts)))})


def _turns(slices: Slices) -> Any:
    """The bucket of every record, told by its distinct row and a number among those that share it."""
    import pyarrow as pa

    order = np.argsort(slices.source, kind="stable")
    source = slices.source[order]
    turn = np.arange(len(source)) - np.searchsorted(source, source)
    return pa.table({"row": from_numpy(source), "turn": from_numpy(turn),
                     BUCKET: from_numpy(slices.bucket_of[order])})


def _bucket_starts(slices: Slices) -> Any:
    import pyarrow as pa

    sizes = slices.sizes
    return pa.table({BUCKET: from_numpy(np.arange(len(sizes))),
                     "first": from_numpy(np.cumsum(sizes) - sizes)})


def examples(prepared: Prepared, slices: Slices, most: int = 6) -> list[dict[str, Any]]:
    """A few buckets, each with one released row, from large ones to small."""
    sizes = slices.sizes
    order = np.argsort(-sizes, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).astype(int))]
    names = [Labels(hierarchy).names for hierarchy in prepared.frequency.hierarchies]
    first = np.searchsorted(slices.bucket_of, chosen)
    tuples = slices.rows(prepared.frequency).classes[slices.source]
    quasi = prepared.frequency.quasi
    return [{"labels": {name: names[j][slices.codes[at, j]] for j, name in enumerate(quasi)},
             "records": int(sizes[b]), "tuples": len(np.unique(tuples[at: at + sizes[b]]))}
            for b, at in zip(chosen, first, strict=True)]
