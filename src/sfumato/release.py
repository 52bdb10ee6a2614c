"""Recoding → released table: two joins in the engine, in an order that tells nothing of the input's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.classes import Ints
from sfumato.hierarchy.core import ROOT
from sfumato.prepare import Prepared, first_of_each
from sfumato.recoding import SUPPRESSED, Portions, Regrouping
from sfumato.release_added import FalseRecords
from sfumato.table.arrow import from_numpy, from_texts
from sfumato.table.engine import lend

DEALT = -2  # in the place of a class: the records of the cell go to several

def released_table(prepared: Prepared, regrouping: Regrouping, seed: int,
                   false: FalseRecords | None = None) -> Any:
    """The released rows as an Ibis expression.

    Every record finds its class through its values (missing matches missing), and then its class's
    labels. Rows stand in the order of a hash of what is released of them, false ones among the others.
    """
    rows = _numbered(prepared, regrouping, seed)
    if false is not None:
        rows = rows.union(_made_up(rows, prepared, regrouping, false))
    return _written(prepared, regrouping, rows, seed)


def added_table(prepared: Prepared, regrouping: Regrouping, seed: int, false: FalseRecords) -> Any:
    """The false records alone, as they stand in the release: for the publisher's eyes only."""
    rows = _made_up(_numbered(prepared, regrouping, seed), prepared, regrouping, false)
    return _written(prepared, regrouping, rows, seed)


def _written(prepared: Prepared, regrouping: Regrouping, rows: Any, seed: int) -> Any:
    """Numbered rows with their labels, in their order; of hidden cells a star is left."""
    import ibis

    others = _others(prepared)
    for n, name in enumerate(regrouping.hidden):
        cell = rows[others[name]].cast("string")
        rows = rows.mutate(**{others[name]: ibis.ifelse(rows[f"h{n}"] == 1, ROOT, cell)})
    rows = rows.select("number", *others.values())
    embedded = ibis.get_backend(prepared.table).name == "duckdb"
    return (_look_up if embedded else _join)(prepared, regrouping, rows, seed)


def _others(prepared: Prepared) -> dict[str, str]:
    """The released columns that are not quasi-identifying, with the names of our own that they go by."""
    quasi = prepared.frequency.quasi
    return {name: f"p{n}" for n, name in enumerate(n for n in prepared.released if n not in quasi)}


def _look_up(prepared: Prepared, regrouping: Regrouping, rows: Any, seed: int) -> Any:
    """In the embedded engine: sort classes and plain values alone, then look the labels up in lists.

    Labels are long to sort, and the engine keeps an order through a look-up, not through a join.
    """
    sorted_rows = rows.order_by(_hash(rows, seed))
    labels = lend(prepared.table, _labels(prepared, regrouping))
    columns = {name: sorted_rows[other] for name, other in _others(prepared).items()}
    for j, name in enumerate(prepared.frequency.quasi):
        listed = labels[f"l{j}"].collect(order_by=labels["number"], include_null=True).as_scalar()
        columns[name] = listed[sorted_rows["number"]]
    return sorted_rows.select(**{name: columns[name] for name in prepared.released})


def _join(prepared: Prepared, regrouping: Regrouping, rows: Any, seed: int) -> Any:
    """On other engines: join the labels, and sort last, by a digest where the engine has one."""
    labelled = rows.join(lend(prepared.table, _labels(prepared, regrouping)), "number")
    columns = {name: labelled[other] for name, other in _others(prepared).items()}
    columns |= {name: labelled[f"l{j}"] for j, name in enumerate(prepared.frequency.quasi)}
    released = labelled.select(**{name: columns[name] for name in prepared.released})
    return released.order_by(_digest(released, seed))


def _numbered(prepared: Prepared, regrouping: Regrouping, seed: int) -> Any:
    """Every record as its class's number and the values to release, under names of our own."""
    table, quasi, others = prepared.table, prepared.frequency.quasi, _others(prepared)
    own = table.select(**{f"q{j}": table[name] for j, name in enumerate(quasi)},
                       **{other: table[name] for name, other in others.items()})
    classes = np.where(regrouping.class_of == SUPPRESSED, regrouping.n_classes, regrouping.class_of)
    names = [f"q{j}" for j in range(len(quasi))]
    if regrouping.portions is None:
        numbers = {"number": classes, **_hides(regrouping)}
        numbered = _matched(own, names, prepared.values,
                            {name: column[prepared.tuple_of] for name, column in numbers.items()})
    else:
        names += [others[name] for name in prepared.frequency.sensitive]
        numbered = _dealt(own, names, prepared, regrouping.portions, classes, seed)
    if prepared.recipe.suppressed == "drop":
        numbered = numbered.filter(numbered["number"] < regrouping.n_classes)
    return numbered.select("number", *_hides(regrouping), *others.values())


def _hides(regrouping: Regrouping) -> dict[str, Ints]:
    """Per sensitive column with hidden cells: which tuples' cells those are."""
    return {f"h{n}": hidden.astype(np.int64) for n, hidden in enumerate(regrouping.hidden.values())}


def _made_up(rows: Any, prepared: Prepared, regrouping: Regrouping, false: FalseRecords) -> Any:
    """The false records in the form of the numbered ones."""
    import pyarrow as pa

    numbers = {"number": regrouping.class_of, **_hides(regrouping)}
    columns = {name: from_numpy(column[false.tuple_of]) for name, column in numbers.items()}
    columns |= {other: false.columns[name] for name, other in _others(prepared).items()}
    lent = lend(prepared.table, pa.table(columns))
    return lent.select(**{name: lent[name].cast(rows[name].type()) for name in rows.columns})


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

    Which record goes to which is decided by a digest of all its values, and not by where it stood.
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
    by_digest = ibis.window(group_by=shared["cell"], order_by=_digest(shared, seed))
    ranked = shared.mutate(rank=ibis.row_number().over(by_digest))
    ends = np.cumsum(counts)
    ends -= (ends - counts)[np.searchsorted(cells, cells)]  # what came before the cell's first portion
    deal = lend(own, pa.table({"of": from_numpy(cells), "start": from_numpy(ends - counts),
                               "end": from_numpy(ends), "number": from_numpy(numbers)}))
    dealt = ranked.join(deal, [ranked["cell"] == deal["of"], ranked["rank"] >= deal["start"],
                               ranked["rank"] < deal["end"]])
    return whole.union(dealt.select("number", *own.columns))


def scattered(rows: Any, seed: int) -> Any:
    """For each row something to sort by that depends on its values and the seed alone."""
    import ibis

    return (_hash if ibis.get_backend(rows).name == "duckdb" else _digest)(rows, seed)


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


def _digest(rows: Any, seed: int) -> Any:
    """A text for each row that depends on its values and the seed alone: a digest of the row as text.

    An engine without digests has to sort by the text itself, which tells as little of the input's order.
    """
    import ibis
    import ibis.expr.operations as ops

    text = ibis.literal(str(seed))
    for name in rows.columns:
        text = text + "\x1f" + rows[name].cast("string").fill_null("\x1e")
    digests = ibis.get_backend(rows).has_operation(ops.HexDigest)
    return text.hexdigest("sha256") if digests else text


def _labels(prepared: Prepared, regrouping: Regrouping) -> Any:
    """The labels of every class by its number; suppressed records share a last class of roots."""
    import pyarrow as pa

    columns = {"number": from_numpy(np.arange(regrouping.n_classes + 1))}
    for j in range(prepared.frequency.n_quasi):
        columns[f"l{j}"] = from_texts([*regrouping.labelling(prepared.frequency, j).texts, ROOT])
    return pa.table(columns)


def examples(prepared: Prepared, regrouping: Regrouping, most: int = 6) -> list[dict[str, Any]]:
    """A few released label combinations with their records, false ones among them: how many of a class are
    real is not for a reader of the report. From large classes to small."""
    counted = regrouping.shown(prepared.frequency)
    sizes = regrouping.sizes(counted)
    order = np.argsort(-sizes, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).astype(int))]
    names = counted.quasi
    labels = [regrouping.labelling(counted, j).texts for j in range(len(names))]
    return [{"labels": {name: labels[j][c] for j, name in enumerate(names)}, "records": int(sizes[c]),
             "tuples": len(np.unique(counted.codes[regrouping.class_of == c], axis=0))} for c in chosen]


def pairs_table(prepared: Prepared, regrouping: Regrouping) -> Any:
    """Every class: its labels, its records, and how many sensitive values it has in each column."""
    import pyarrow as pa

    shown = regrouping.shown(prepared.frequency)
    columns = {name: from_texts(regrouping.labelling(shown, j).texts) for j, name in enumerate(shown.quasi)}
    stats = shown.regroup(regrouping.class_of, regrouping.n_classes)
    columns["records"] = from_numpy(stats.sizes)
    for name, histogram in stats.sensitive.items():
        distinct = np.bincount(histogram.classes, minlength=stats.n_classes)
        columns[f"diversity of {name}"] = from_numpy(distinct)
    return lend(prepared.table, pa.table(columns))
