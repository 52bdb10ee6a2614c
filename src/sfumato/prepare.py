"""Table and recipe → codes, hierarchies, FrequencySet: one GROUP BY in the engine, the rest on codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from sfumato.classes import Floats, Histogram, Ints
from sfumato.criteria.alpha_k import AlphaKAnonymity
from sfumato.criteria.base import Criterion
from sfumato.criteria.t_closeness import TCloseness
from sfumato.errors import RequestError, TableError
from sfumato.evaluate import distinct
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Codes, Hierarchy, Label
from sfumato.hierarchy.spec import build
from sfumato.recipe import Recipe
from sfumato.table.arrow import as_numpy, from_numpy
from sfumato.table.engine import fetch


@dataclass(frozen=True)
class Prepared:
    """A table made ready for a method and for its release."""

    table: Any  # ibis.Table, as it came
    keys: Any  # the same rows with one column more per quasi-identifier: its value, missing unified
    key_names: tuple[str, ...]
    tuples: Any  # pyarrow.Table: per tuple of the frequency set, its key values
    frequency: FrequencySet
    criteria: tuple[Criterion, ...]
    weights: Floats
    recipe: Recipe

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that a release has, in the table's order."""
        gone = set(self.recipe.named("identifying"))
        return tuple(name for name in self.table.columns if name not in gone)


def prepare(table: Any, recipe: Recipe) -> Prepared:
    """Count the table once and code what was counted."""
    quasi, sensitive = recipe.named("quasi"), recipe.named("sensitive")
    missing = [name for name in recipe.columns if name not in table.columns]
    if missing:
        raise TableError.missing_columns(missing, table.columns)
    keys, key_names = unify(table, (*quasi, *sensitive), recipe.missing)
    counted = count(keys, key_names)
    columns = [encode(counted.column(name)) for name in key_names]
    counts = as_numpy(counted.column(counted.column_names[-1]).combine_chunks())
    if not counts.sum():
        raise TableError("The table has no records.", "Give a table with at least one record.")
    hierarchies, codes = _quasi(quasi, columns[: len(quasi)], counts, recipe)
    tuple_of, first = distinct(codes, [h.n_values for h in hierarchies])
    histograms = {name: histogram(column, tuple_of, counts)
                  for name, column in zip(sensitive, columns[len(quasi):], strict=True)}
    size = np.bincount(tuple_of, weights=counts).astype(np.int64)
    frequency = FrequencySet(hierarchies, codes[first], size, histograms)
    weights = np.array([recipe.columns[name].weight for name in quasi])
    tuples = counted.select(list(key_names[: len(quasi)])).take(from_numpy(first))
    criteria = tuple(bind(criterion, histograms, recipe) for criterion in recipe.criteria)
    return Prepared(table, keys, key_names[: len(quasi)], tuples, frequency, criteria, weights, recipe)


def unify(table: Any, names: Sequence[str], markers: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    """Add the columns' values under names of our own, with one null for all that is missing."""
    taken = {name.lower() for name in table.columns}
    prefix = next(p for p in (f"sfumato{'_' * n}" for n in range(1, 99))
                  if not any(name.startswith(p) for name in taken))
    aliases = tuple(f"{prefix}{n}" for n in range(len(names)))
    added = {alias: _unified(table[name], markers) for alias, name in zip(aliases, names, strict=True)}
    return table.mutate(**added), aliases


def _unified(column: Any, markers: Sequence[str]) -> Any:
    import ibis

    kind, gone = column.type(), []
    if kind.is_string():
        gone.append(column.strip().isin(["", *markers]))
    elif kind.is_numeric() and (figures := numbers(markers)):
        gone.append(column.isin(figures))
    if kind.is_floating():
        gone.append(column.isnan())
    return ibis.cases(*((what, ibis.null(kind)) for what in gone), else_=column) if gone else column


def numbers(markers: Sequence[str]) -> list[int | float]:
    """The markers that a column of numbers may hold: -9 is written as "-9"."""
    parsed = [number for marker in markers if (number := _number(marker)) is not None]
    return [int(number) if number.is_integer() else number for number in parsed]


def count(keys: Any, names: Sequence[str]) -> Any:
    """The one GROUP BY: distinct value combinations and how often each occurs (last column)."""
    grouped = keys.group_by(list(names)).aggregate(**{f"{names[0]}_n": keys.count()})
    return fetch(grouped)


@dataclass(frozen=True)
class Coded:
    """One counted column: its distinct values as text in their natural order, and a code per row."""

    values: tuple[Label, ...]
    codes: Ints


def encode(column: Any) -> Coded:
    """Code a column of the counted table: numbers ascending, else text ascending, missing last."""
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    texts = [None if value is None else as_text(value) for value in encoded.dictionary.to_pylist()]
    order = sorted(range(len(texts)), key=natural_key(texts))
    rank = np.empty(len(texts), dtype=np.int64)
    rank[order] = np.arange(len(texts))
    return Coded(tuple(texts[i] for i in order), rank[as_numpy(encoded.indices)])


def as_text(value: Any) -> str:
    """A value as hierarchies and labels write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def natural_key(texts: Sequence[Label]) -> Any:
    """How positions of texts sort: numbers as numbers if all are, missing last."""
    numbers = [_number(text) for text in texts]
    if all(number is not None for number, text in zip(numbers, texts, strict=True) if text is not None):
        return lambda i: (texts[i] is None, numbers[i] or 0.0, texts[i] or "")
    return lambda i: (texts[i] is None, texts[i] or "")


def _number(text: Label) -> float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and math.isfinite(number) else None


def _quasi(names: Sequence[str], columns: Sequence[Coded], counts: Ints,
           recipe: Recipe) -> tuple[tuple[Hierarchy, ...], Codes]:
    """The quasi-identifiers' hierarchies, and the counted rows in their codes."""
    hierarchies, codes = [], []
    for name, column in zip(names, columns, strict=True):
        records = np.bincount(column.codes, weights=counts, minlength=len(column.values)).astype(int)
        spec = recipe.columns[name].hierarchy
        hierarchy = build(name, spec, column.values, records.tolist(), recipe.folder)
        code = np.array([hierarchy.code_of[value] for value in column.values], dtype=np.int32)
        hierarchies.append(hierarchy)
        codes.append(code[column.codes])
    return tuple(hierarchies), np.stack(codes, axis=1)


def histogram(column: Coded, tuple_of: Ints, counts: Ints) -> Histogram:
    """How often each sensitive value occurs with each tuple."""
    width = len(column.values)
    found, position = np.unique(tuple_of * width + column.codes, return_inverse=True)
    records = np.bincount(position, weights=counts).astype(np.int64)
    whole = np.bincount(column.codes, weights=counts, minlength=width).astype(np.int64)
    return Histogram(found // width, found % width, records, column.values, whole)


def bind(criterion: Criterion, histograms: dict[str, Histogram], recipe: Recipe) -> Criterion:
    """Give a criterion what it must know of the table: a sensitive column's hierarchy, its values."""
    for name in criterion.columns:
        if name not in histograms:
            raise RequestError(f"{criterion.name} is about {name!r}, which is not a sensitive column.",
                               "Give the column the role sensitive.")
    if isinstance(criterion, AlphaKAnonymity):
        criterion.check_values(histograms[criterion.column].labels)
    if isinstance(criterion, TCloseness) and criterion.distance == "hierarchical":
        histogram = histograms[criterion.column]
        return criterion.with_hierarchy(build(criterion.column, criterion.hierarchy, histogram.labels,
                                              histogram.whole.tolist(), recipe.folder))
    return criterion
