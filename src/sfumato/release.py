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

    Every record finds its class through the values of its tuple (missing matches missing) and then
    takes its class's labels. Rows stand in the order of a hash of what is released of them; they are
    sorted last, because no engine promises to keep an order through a join.
    """
    import ibis

    quasi = prepared.frequency.quasi
    class_name = f"{prepared.key_names[0]}_class"
    joined = _join_classes(prepared, regrouping, class_name)
    others = [name for name in prepared.released if name not in quasi]
    rows = joined.select([class_name, *others])
    embedded = ibis.get_backend(prepared.table).name == "duckdb"
    labels = lend(prepared.table, _labels(prepared, regrouping, class_name))
    order = f"{class_name}_order"
    labelled = (rows.mutate(**{order: _hash(rows, seed)}) if embedded else rows).join(labels, class_name)
    source = {name: f"{class_name}_{j}" for j, name in enumerate(quasi)}
    columns = {name: labelled[source.get(name, name)] for name in prepared.released}
    if embedded:
        return labelled.order_by(order).select(**columns)
    released = labelled.select(**columns)
    return released.order_by(_digest(released, seed))


def _hash(rows: Any, seed: int) -> Any:
    """A number for each row that depends on its values and the seed alone: fast, in the embedded engine."""
    import ibis

    fields = {f"f{n}": rows[name] for n, name in enumerate(rows.columns)}
    return ibis.struct({"seed": ibis.literal(seed, type="int64"), **fields}).hash()


def _digest(rows: Any, seed: int) -> Any:
    """The same on other engines, whose own hashes are short or know few types: of the row as text."""
    import ibis

    text = ibis.literal(str(seed))
    for name in rows.columns:
        text = text + "\x1f" + rows[name].cast("string").fill_null("\x1e")
    return text.hexdigest("sha256")


def _join_classes(prepared: Prepared, regrouping: Regrouping, class_name: str) -> Any:
    """Every record with its class; dropped records are gone."""
    classes = regrouping.class_of
    kept = classes != SUPPRESSED
    if prepared.recipe.suppressed == "keep":
        kept = np.ones_like(kept)
    renamed = [f"{name}_key" for name in prepared.key_names]
    tuples = prepared.tuples.rename_columns(renamed).append_column(class_name, from_numpy(classes))
    mapping = lend(prepared.table, tuples.take(from_numpy(np.flatnonzero(kept))))
    matches = [prepared.keys[name].identical_to(mapping[other])
               for name, other in zip(prepared.key_names, renamed, strict=True)]
    return prepared.keys.join(mapping, matches)


def _labels(prepared: Prepared, regrouping: Regrouping, class_name: str) -> Any:
    """The labels of every class; suppressed records share a class of roots."""
    import pyarrow as pa

    columns = {class_name: from_numpy(np.array([*range(regrouping.n_classes), SUPPRESSED]))}
    for j in range(prepared.frequency.n_quasi):
        columns[f"{class_name}_{j}"] = from_texts([*regrouping.labels(prepared.frequency, j), ROOT])
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
