"""Recoding → released table: two joins in the engine, in an order that tells nothing of the input's."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.hierarchy.core import ROOT
from sfumato.prepare import Prepared
from sfumato.recoding import SUPPRESSED, Regrouping
from sfumato.table.arrow import from_numpy, from_texts
from sfumato.table.engine import lend


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
    rows, others = _numbered(prepared, regrouping)
    sorted_rows = rows.order_by(_hash(rows, seed))
    labels = lend(prepared.table, _labels(prepared, regrouping))
    columns = {name: sorted_rows[other] for name, other in others.items()}
    for j, name in enumerate(prepared.frequency.quasi):
        listed = labels[f"l{j}"].collect(order_by=labels["number"], include_null=True).as_scalar()
        columns[name] = listed[sorted_rows["number"]]
    return sorted_rows.select(**{name: columns[name] for name in prepared.released})


def _join(prepared: Prepared, regrouping: Regrouping, seed: int) -> Any:
    """On other engines: join the labels, and sort last, by a digest where the engine has one."""
    rows, others = _numbered(prepared, regrouping)
    labelled = rows.join(lend(prepared.table, _labels(prepared, regrouping)), "number")
    columns = {name: labelled[other] for name, other in others.items()}
    columns |= {name: labelled[f"l{j}"] for j, name in enumerate(prepared.frequency.quasi)}
    released = labelled.select(**{name: columns[name] for name in prepared.released})
    digest = _digest(released, seed)
    return released.order_by(list(released.columns) if digest is None else digest)


def _numbered(prepared: Prepared, regrouping: Regrouping) -> tuple[Any, dict[str, str]]:
    """Every record as its class's number and the values to release, under names of our own."""
    table = prepared.table
    quasi = prepared.frequency.quasi
    classes = np.where(regrouping.class_of == SUPPRESSED, regrouping.n_classes, regrouping.class_of)
    numbers = classes[prepared.tuple_of]
    values = prepared.values.append_column("number", from_numpy(numbers))
    if prepared.recipe.suppressed == "drop":
        values = values.take(from_numpy(np.flatnonzero(numbers < regrouping.n_classes)))
    mapping = lend(table, values)
    others = {name: f"p{n}" for n, name in enumerate(n for n in prepared.released if n not in quasi)}
    own = table.select(**{f"q{j}": table[name] for j, name in enumerate(quasi)},
                       **{other: table[name] for name, other in others.items()})
    matches = [own[f"q{j}"].identical_to(mapping[f"v{j}"]) for j in range(len(quasi))]
    return own.join(mapping, matches).select("number", *others.values()), others


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
    """A text for each row that depends on its values and the seed alone; None where the engine has no digest.

    There the values themselves give an order, which tells as little of the input's.
    """
    import ibis
    import ibis.expr.operations as ops

    if not ibis.get_backend(rows).has_operation(ops.HexDigest):
        return None
    text = ibis.literal(str(seed))
    for name in rows.columns:
        text = text + "\x1f" + rows[name].cast("string").fill_null("\x1e")
    return text.hexdigest("sha256")


def _labels(prepared: Prepared, regrouping: Regrouping) -> Any:
    """The labels of every class by its number; suppressed records share a last class of roots."""
    import pyarrow as pa

    columns = {"number": from_numpy(np.arange(regrouping.n_classes + 1))}
    for j in range(prepared.frequency.n_quasi):
        columns[f"l{j}"] = from_texts([*regrouping.labels(prepared.frequency, j), ROOT])
    return pa.table(columns)


def examples(prepared: Prepared, regrouping: Regrouping, most: int = 6) -> list[dict[str, Any]]:
    """A few released label combinations with their records, from large classes to small."""
    sizes = regrouping.stats(prepared.frequency).sizes
    kept = regrouping.class_of[regrouping.class_of != SUPPRESSED]
    tuples = np.bincount(kept, minlength=regrouping.n_classes)
    order = np.argsort(-sizes, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).astype(int))]
    names = prepared.frequency.quasi
    labels = [regrouping.labels(prepared.frequency, j) for j in range(len(names))]
    return [{"labels": {name: labels[j][c] for j, name in enumerate(names)},
             "records": int(sizes[c]), "tuples": int(tuples[c])} for c in chosen]
