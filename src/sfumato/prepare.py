"""Table and recipe → codes, hierarchies, FrequencySet: one GROUP BY in the engine, the rest on codes."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from sfumato.classes import Floats, Histogram, Ints
from sfumato.criteria.alpha_k import AlphaKAnonymity
from sfumato.criteria.base import Criterion
from sfumato.criteria.t_closeness import TCloseness
from sfumato.errors import RequestError, TableError
from sfumato.frequency import Cells, FrequencySet, distinct
from sfumato.hierarchy.core import Codes, Hierarchy, Label
from sfumato.hierarchy.spec import build
from sfumato.recipe import Recipe
from sfumato.research.applied import Prices, priced, weighed, worths
from sfumato.table.arrow import as_numpy, from_numpy
from sfumato.table.engine import fetch


@dataclass(frozen=True)
class Prepared:
    """A table made ready for a method and for its release."""

    table: Any  # ibis.Table, as it came
    counted: Any  # pyarrow.Table: every combination of quasi-identifying and sensitive values in it
    spelled: Codes  # the same, each column's different values numbered
    values: Any  # pyarrow.Table: every combination of the quasi-identifiers' values, as they stand there
    tuple_of: Ints  # per combination: its tuple (missing values have several spellings, but one code)
    frequency: FrequencySet
    criteria: tuple[Criterion, ...]
    weights: Floats
    recipe: Recipe
    prices: Prices | None = None  # what each level is worth, where the recipe speaks of research

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
    counted, counts = count(table, (*quasi, *sensitive))
    if not counts.sum():
        raise TableError("The table has no records.", "Give a table with at least one record.")
    columns = [encode(column, recipe.missing) for column in counted.columns]
    hierarchies, codes = _quasi(quasi, columns[: len(quasi)], counts, recipe)
    tuple_of, first = distinct(codes, [h.n_values for h in hierarchies])
    histograms = {name: histogram(column, tuple_of, counts)
                  for name, column in zip(sensitive, columns[len(quasi):], strict=True)}
    size = np.bincount(tuple_of, weights=counts).astype(np.int64)
    protected = [column.codes for column in columns[len(quasi):]]
    joint = Cells(tuple_of, np.array(protected, np.int64).reshape(-1, len(tuple_of)).T, counts)
    frequency = FrequencySet(hierarchies, codes[first], size, histograms, joint)
    weights = weighed(recipe.research, frequency, np.array([recipe.columns[name].weight for name in quasi]))
    valued = recipe.research is not None and recipe.research.valued
    prices = priced(recipe.research, frequency, weights) if valued else None
    frequency = frequency if prices is None else replace(frequency, worth=worths(prices))
    criteria = tuple(bind(criterion, histograms, recipe) for criterion in recipe.promised)
    spelled = np.stack([column.spelled for column in columns], axis=1).astype(np.int32)
    combinations = first_of_each(spelled[:, : len(quasi)])
    values = counted.select(range(len(quasi))).take(from_numpy(combinations))
    return Prepared(table, counted, spelled, values, tuple_of[combinations], frequency, criteria, weights,
                    recipe, prices)


def first_of_each(spelled: Codes) -> Ints:
    """Where each distinct row first stands."""
    return distinct(spelled, [int(column.max()) + 1 for column in spelled.T])[1]


def count(table: Any, names: Sequence[str]) -> tuple[Any, Ints]:
    """The one GROUP BY: the named columns' distinct combinations, and how often each occurs."""
    aliases = {f"v{n}": table[name] for n, name in enumerate(names)}
    grouped = table.select(**aliases).group_by(list(aliases))
    counted = fetch(grouped.aggregate(n=lambda rows: rows.count()))
    return counted.select(list(aliases)), as_numpy(counted.column("n").combine_chunks())


def pair_counts(table: Any, quasi: Sequence[str], sensitive: Sequence[str],
                missing: Sequence[str]) -> tuple[Ints, dict[str, Ints], dict[str, int]]:
    """Counted in the engine alone: every pair's records and different sensitive values, and the table's.

    Rows are grouped once by all columns, then combinations by the quasi-identifiers.
    """
    protected = {f"s{n}": name for n, name in enumerate(sensitive)}
    names = {f"q{n}": name for n, name in enumerate(quasi)} | protected
    rows = table.select(**{alias: _unified(table[name], missing) for alias, name in names.items()})
    unified = rows.group_by(list(names)).aggregate(n=lambda t: t.count())
    keys = [alias for alias in names if alias not in protected]
    if len(protected) == 1:  # then the values of a pair are as many as its combinations
        distinct = {"s0": unified.count()}
    else:
        distinct = {alias: unified[alias].nunique() + unified[alias].isnull().any().cast("int64")
                    for alias in protected}
    pairs = unified.group_by(keys).aggregate(n=unified["n"].sum(), **distinct) if protected else unified
    alike = pairs.group_by(["n", *distinct]).aggregate(pairs=lambda t: t.count())
    found = fetch(alike.order_by(["n", *distinct]))
    times = np.array(found.column("pairs").to_pylist(), dtype=np.int64)
    values = {name: _different(table[name], missing) for name in sensitive}
    column = {name: np.repeat(np.array(found.column(name).to_pylist(), dtype=np.int64), times)
              for name in ("n", *distinct)}
    return column["n"], {names[alias]: column[alias] for alias in distinct}, values


def _different(column: Any, missing: Sequence[str]) -> int:
    """How many different values a column has, a missing one among them."""
    values = column.as_table().distinct()
    unified = values.select(v=_unified(values[values.columns[0]], missing)).distinct()
    return int(fetch(unified.aggregate(n=unified.count())).column("n")[0].as_py())


def _unified(column: Any, markers: Sequence[str]) -> Any:
    """The column with null in the place of every value that `is_missing`."""
    kind = column.type()
    if kind.is_string():
        return column.strip().isin(["", *markers]).ifelse(None, column)
    if kind.is_boolean() or not kind.is_numeric():
        return column
    absent = column.isin(numbers(markers)) if numbers(markers) else None
    if kind.is_floating():
        absent = column.isnan() if absent is None else absent | column.isnan()
    return column if absent is None else absent.ifelse(None, column)


@dataclass(frozen=True)
class Coded:
    """One counted column: its distinct values as text in their natural order, and a code per row."""

    values: tuple[Label, ...]
    codes: Ints
    spelled: Ints  # per row: a number for the value as it stands in the table


def encode(column: Any, markers: Sequence[str]) -> Coded:
    """Code a column of the counted table: numbers ascending, else text ascending, missing last."""
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    indices = as_numpy(encoded.indices)
    values = encoded.dictionary.to_pylist()
    absent = {"", *markers}, set(numbers(markers))
    texts = [None if is_missing(value, *absent) else as_text(value) for value in values]
    order = sorted(dict.fromkeys(texts), key=natural_key(texts))
    rank = {text: n for n, text in enumerate(order)}
    spellings: dict[Any, int] = {}  # what the engine holds for equal has one number: 0.0 and -0.0
    spelled = [spellings.setdefault(value, len(spellings)) for value in values]
    return Coded(tuple(order), np.array([rank[text] for text in texts], dtype=np.int64)[indices],
                 np.array(spelled, dtype=np.int64)[indices])


def is_missing(value: Any, texts: Container[str], figures: Container[float]) -> bool:
    """Null, NaN, nothing but blanks, or a marker: as text, or as the number it says (-9 is "-9")."""
    if isinstance(value, str):
        return value.strip() in texts
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return value != value or value in figures
    return value is None


def numbers(markers: Sequence[str]) -> list[float]:
    """The markers that a column of numbers may hold."""
    return [number for marker in markers if (number := _number(marker)) is not None]


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


def natural_key(texts: Sequence[Label]) -> Callable[[Label], tuple[bool, float, str]]:
    """How these texts sort: numbers as numbers if all are, missing last."""
    numeric = all(_number(text) is not None for text in texts if text is not None)
    return lambda text: (text is None, (_number(text) or 0.0) if numeric else 0.0, text or "")


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


def sensitive_trees(recipe: Recipe, frequency: FrequencySet) -> dict[str, Hierarchy]:
    """Hierarchies of sensitive columns: a column's own in the recipe, else that of a criterion about it."""
    trees = {}
    for name, found in frequency.sensitive.items():
        asked = (criterion.hierarchy for criterion in recipe.criteria
                 if isinstance(criterion, TCloseness) and criterion.column == name)
        spec = recipe.columns[name].hierarchy or next((one for one in asked if one is not None), None)
        if spec is not None:
            trees[name] = build(name, spec, found.labels, found.whole.tolist(), recipe.folder)
    return trees


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
