"""Recoding → released table: two joins in the engine, in an order that tells nothing of the input's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.classes import Ints
from sfumato.hierarchy.core import ROOT
from sfumato.prepare import Prepared, first_of_each
from sfumato.recoding import SUPPRESSED, Portions, Regrouping
from sfumato.table.arrow import from_numpy, from_texts
from sfumato.table.engine import lend

DEALT = -2  # in the place of a class: the records of the cell go to several

def released_table(prepared: Prepared, regrouping: Regrouping, seed: int) -> Any:
    """The released rows as an Ibis expression.

    Every record finds its class through its values (missing matches missing), and then its class's
    labels. Rows stand in the order of a hash of what is released of them.
    """
    import ibis

    embedded = ibis.get_backend(prepared.table).name == "duckdb"
    return (_look_up if embedded else _join)(prepared, regrouping, seed)


def _look_up(prepared: Prepared, regrouping: Regrouping, seed: int) -> Any:
    """In the embedded engine: sort classes and plain values alone, then look the labels up in lists.

    Labels are long to sort, and the engine keeps an order through a look-up, not through a join.
    """
    rows, others = _numbered(prepared, regrouping, seed)
    sorted_rows = rows.order_by(_hash(rows, seed))
    labels = lend(prepared.table, _labels(prepared, regrouping))
    columns = {name: sorted_rows[other] for name, other in others.items()}
    for j, name in enumerate(prepared.frequency.quasi):
        listed = labels[f"l{j}"].collect(order_by=labels["number"], include_null=True).as_scalar()
        columns[name] = listed[sorted_rows["number"]]
    return sorted_rows.select(**{name: columns[name] for name in prepared.released})


def _join(prepared: Prepared, regrouping: Regrouping, seed: int) -> Any:
    """On other engines: join the labels, and sort last, by what each of them can compute."""
    rows, others = _numbered(prepared, regrouping, seed)
    labelled = rows.join(lend(prepared.table, _labels(prepared, regrouping)), "number")
    columns = {name: labelled[other] for name, other in others.items()}
    columns |= {name: labelled[f"l{j}"] for j, name in enumerate(prepared.frequency.quasi)}
    released = labelled.select(**{name: columns[name] for name in prepared.released})
    return released.order_by(_by_values(released, seed))


def _numbered(prepared: Prepared, regrouping: Regrouping, seed: int) -> tuple[Any, dict[str, str]]:
    """Every record as its class's number and the values to release, under names of our own."""
    table, quasi = prepared.table, prepared.frequency.quasi
    others = {name: f"p{n}" for n, name in enumerate(n for n in prepared.released if n not in quasi)}
    own = table.select(**{f"q{j}": table[name] for j, name in enumerate(quasi)},
                       **{other: table[name] for name, other in others.items()})
    classes = np.where(regrouping.class_of == SUPPRESSED, regrouping.n_classes, regrouping.class_of)
    names = [f"q{j}" for j in range(len(quasi))]
    if regrouping.portions is None:
        numbered = _matched(own, names, prepared.values, {"number": classes[prepared.tuple_of]})
    else:
        names += [others[name] for name in prepared.frequency.sensitive]
        numbered = _dealt(own, names, prepared, regrouping.portions, classes, seed)
    if prepared.recipe.suppressed == "drop":
        numbered = numbered.filter(numbered["number"] < regrouping.n_classes)
    return numbered.select("number", *others.values()), others


def _matched(own: Any, names: list[str], values: Any, numbers: Mapping[str, Ints]) -> Any:
    """Each record with the numbers that belong to its values, by a join in which missing meets missing."""
    mapping = values.rename_columns([f"v{n}" for n in range(len(names))])
    for name, column in numbers.items():
        mapping = mapping.append_column(name, from_numpy(column))
    lent = lend(own, mapping)
    return own.join(lent, [own[one].identical_to(lent[f"v{n}"]) for n, one in enumerate(names)])


def _dealt(own: Any, names: list[str], prepared: Prepared, portions: Portions, classes: Ints,
           seed: int) -> Any:
    """Each record with its class, where the records of some cells are dealt out among portions.

    Which record goes to which is decided by its values, and not by where it stood.
    """
    import ibis
    import pyarrow as pa

    rows = first_of_each(prepared.spelled)
    cell_of = prepared.frequency.numbered_cells[0][rows]
    order = np.argsort(portions.cell_of, kind="stable")
    cells, counts, numbers = portions.cell_of[order], portions.frequency.counts[order], classes[order]
    first, n_portions = np.searchsorted(cells, cell_of), np.bincount(cells)[cell_of]
    matched = _matched(own, names, prepared.counted.take(from_numpy(rows)),
                       {"cell": cell_of, "number": np.where(n_portions == 1, numbers[first], DEALT)})
    whole = matched.filter(matched["number"] != DEALT).select("number", *own.columns)
    if (n_portions == 1).all():
        return whole
    shared = matched.filter(matched["number"] == DEALT).select("cell", *own.columns)
    by_values = ibis.window(group_by=shared["cell"], order_by=_by_values(shared, seed))
    ranked = shared.mutate(rank=ibis.row_number().over(by_values))
    ends = np.cumsum(counts)
    ends -= (ends - counts)[np.searchsorted(cells, cells)]  # what came before the cell's first portion
    deal = lend(own, pa.table({"of": from_numpy(cells), "start": from_numpy(ends - counts),
                               "end": from_numpy(ends), "number": from_numpy(numbers)}))
    dealt = ranked.join(deal, [ranked["cell"] == deal["of"], ranked["rank"] >= deal["start"],
                               ranked["rank"] < deal["end"]])
    return whole.union(dealt.select("number", *own.columns))


def _hash(rows: Any, seed: int) -> Any:
    """A number for each row that depends on its values and the seed alone, by the engine's own hash."""
    import ibis

    def both(so_far: Any, value: Any) -> None:
        """DuckDB's hash of two values."""

    hashed = ibis.literal(seed, type="uint64")
    for name in rows.columns:
        kinds = (hashed.type(), rows[name].type())
        hashed = ibis.udf.scalar.builtin(both, name="hash", signature=(kinds, "uint64"))(hashed, rows[name])
    return hashed


def _by_values(rows: Any, seed: int) -> list[Any]:
    """An order of rows that depends on their values and the seed alone: that of a digest of the row as text.

    An engine without a digest orders by the values themselves, which tell as little of where a row stood.
    """
    import ibis
    import ibis.expr.operations as ops

    if not ibis.get_backend(rows).has_operation(ops.HexDigest):
        return [rows[name] for name in rows.columns]
    text = ibis.literal(str(seed))
    for name in rows.columns:
        text = text + "\x1f" + rows[name].cast("string").fill_null("\x1e")
    return [text.hexdigest("sha256")]


def _labels(prepared: Prepared, regrouping: Regrouping) -> Any:
    """The labels of every class by its number; suppressed records share a last class of roots."""
    import pyarrow as pa

    columns = {"number": from_numpy(np.arange(regrouping.n_classes + 1))}
    for j in range(prepared.frequency.n_quasi):
        columns[f"l{j}"] = from_texts([*regrouping.labelling(prepared.frequency, j).texts, ROOT])
    return pa.table(columns)


def examples(prepared: Prepared, regrouping: Regrouping, most: int = 6) -> list[dict[str, Any]]:
    """A few released label combinations with their records, from large classes to small."""
    counted = regrouping.of(prepared.frequency)
    sizes = regrouping.sizes(counted)
    order = np.argsort(-sizes, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).astype(int))]
    names = counted.quasi
    labels = [regrouping.labelling(counted, j).texts for j in range(len(names))]
    return [{"labels": {name: labels[j][c] for j, name in enumerate(names)}, "records": int(sizes[c]),
             "tuples": len(np.unique(counted.codes[regrouping.class_of == c], axis=0))} for c in chosen]
