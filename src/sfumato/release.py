"""Recoding → released table: two joins in the engine, in an order that tells nothing of the input's."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.hierarchy.core import ROOT
from sfumato.prepare import Prepared
from sfumato.recoding import SUPPRESSED, Regrouping


def released_table(prepared: Prepared, regrouping: Regrouping, seed: int) -> Any:
    """The released rows as an Ibis expression.

    Every record finds its class through the values of its tuple (missing matches missing), is put
    in the order of a hash of what will be released of it, and only then takes its class's labels:
    the sort carries no labels, and equal rows are alike wherever they stand.
    """
    import ibis

    quasi = prepared.frequency.quasi
    class_name = f"{prepared.key_names[0]}_class"
    joined = _join_classes(prepared, regrouping, class_name)
    others = [name for name in prepared.released if name not in quasi]
    rows = joined.select([class_name, *others])
    fields = {f"f{n}": rows[name] for n, name in enumerate(rows.columns)}
    shuffled = rows.order_by(ibis.struct({"seed": ibis.literal(seed, type="int64"), **fields}).hash())
    labels = ibis.memtable(_labels(prepared, regrouping, class_name))
    labelled = shuffled.join(labels, class_name)
    source = {name: f"{class_name}_{j}" for j, name in enumerate(quasi)}
    return labelled.select(**{name: labelled[source.get(name, name)] for name in prepared.released})


def _join_classes(prepared: Prepared, regrouping: Regrouping, class_name: str) -> Any:
    """Every record with its class; dropped records are gone."""
    import ibis
    import pyarrow as pa

    classes = regrouping.class_of
    kept = classes != SUPPRESSED
    if prepared.recipe.suppressed == "keep":
        kept = np.ones_like(kept)
    renamed = [f"{name}_key" for name in prepared.key_names]
    tuples = prepared.tuples.rename_columns(renamed).append_column(class_name, pa.array(classes))
    mapping = ibis.memtable(tuples.filter(pa.array(kept)))
    matches = [prepared.keys[name].identical_to(mapping[other])
               for name, other in zip(prepared.key_names, renamed, strict=True)]
    return prepared.keys.join(mapping, matches)


def _labels(prepared: Prepared, regrouping: Regrouping, class_name: str) -> Any:
    """The labels of every class; suppressed records share a class of roots."""
    import pyarrow as pa

    columns = {class_name: pa.array([*range(regrouping.n_classes), SUPPRESSED], type=pa.int64())}
    for j in range(prepared.frequency.n_quasi):
        labels = [*regrouping.labels(prepared.frequency, j), ROOT]
        columns[f"{class_name}_{j}"] = pa.array(labels, type=pa.string())
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
