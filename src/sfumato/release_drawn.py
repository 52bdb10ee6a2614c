"""Drawn → released table: each class's labels and each sensitive value, as often as was drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.draws.base import Drawn
from sfumato.prepare import Prepared
from sfumato.release_slices import sensitive_values
from sfumato.table.arrow import from_numpy, from_texts
from sfumato.table.engine import lend


def columns_of(prepared: Prepared, drawn: Drawn) -> tuple[str, ...]:
    """Quasi-identifiers and the sensitive column, in the table's order; a drawn row has no others."""
    return tuple(name for name in prepared.released if name in (*prepared.frequency.quasi, drawn.sensitive))


def drawn_table(prepared: Prepared, drawn: Drawn, seed: int) -> Any:
    """The released rows as an Ibis expression, in an order of their own."""
    import pyarrow as pa

    cells = drawn.cells
    at = np.repeat(np.arange(len(cells.counts)), cells.counts)
    at = np.random.default_rng(seed).permutation(at)
    columns: dict[str, Any] = {"place": from_numpy(np.arange(len(at)))}
    ours = {name: f"v{j}" for j, name in enumerate(prepared.frequency.quasi)} | {drawn.sensitive: "s"}
    for j, name in enumerate(prepared.frequency.quasi):
        columns[ours[name]] = from_texts(drawn.texts(j)).take(from_numpy(cells.classes[at]))
    columns["s"] = values_of(prepared, drawn).take(from_numpy(cells.values[at]))
    ordered = lend(prepared.table, pa.table(columns)).order_by("place")
    return ordered.select(**{name: ordered[ours[name]] for name in columns_of(prepared, drawn)})


def values_of(prepared: Prepared, drawn: Drawn) -> Any:
    """The sensitive values as the table has them, or as text where the recipe names their domain.

    Were they the table's where it has all of the domain, the column's type would tell that it has.
    """
    if prepared.recipe.method.get("values") is None:
        return sensitive_values(prepared, drawn.sensitive)
    return from_texts(list(drawn.cells.labels))


def examples(prepared: Prepared, drawn: Drawn, most: int = 6) -> list[dict[str, Any]]:
    """A few label combinations, from those with many rows to those with few."""
    sizes = drawn.shadow.counts
    order = np.argsort(-sizes, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).astype(int))]
    frequency = prepared.frequency
    texts = {name: drawn.texts(j) for j, name in enumerate(frequency.quasi)}
    inside = np.ones((frequency.n_tuples, len(chosen)), dtype=bool)
    for j, hierarchy in enumerate(frequency.hierarchies):
        inside &= drawn.covers(j, np.arange(hierarchy.n_values), chosen)[frequency.codes[:, j]]
    return [{"labels": {name: column[c] for name, column in texts.items()}, "records": int(sizes[c]),
             "tuples": int(held)} for c, held in zip(chosen, inside.sum(axis=0), strict=True)]
