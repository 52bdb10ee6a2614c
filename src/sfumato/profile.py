"""A first look at a table: what its columns are like and how well they tell records apart.

Everything is counted by the engine. Of the values themselves at most a bounded sample of each column's
distinct ones is looked at, only for their shapes; none is kept. Distinction (alpha) and separation are those
of Motwani and Xu, "Efficient algorithms for masking and finding quasi-identifiers" (2007): the share of
distinct combinations among the records, and the share of pairs of records that are told apart. The
missing value is a value of its own in both.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sfumato.concepts import concept_of
from sfumato.errors import TableError
from sfumato.shapes import is_date, shares

if TYPE_CHECKING:
    import ibis.expr.types as ir

Kind = Literal["text", "integer", "real", "date", "boolean"]
Columns = tuple[str, ...]

WIDEST = 4_000  # columns
SAMPLE = 1_000  # distinct values of a column whose shapes are looked at, about
AT_ONCE = 25  # columns in one query
AT_ONCE_CELLS = 20_000_000  # cells whose distinct values are counted in one query
COMBINED = 6  # columns whose pairs and triples are tried
NEARLY_KEY = 0.9  # distinction from which a column needs no company
MOSTLY = 0.6  # share of numbers from which a column of text is nearly one of numbers
MARKERS = ("", "?", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "-", ".")  # of missing values


@dataclass(frozen=True)
class ColumnProfile:
    """What one column is like."""

    name: str
    kind: Kind  # as its values read, whatever they are stored as
    distinct: int  # missing not counted
    missing: int
    shortest: int | None
    longest: int | None  # characters
    low: float | None  # of numbers; the year of dates
    high: float | None
    shapes: Mapping[str, float]  # shape -> share of the values looked at
    markers: tuple[str, ...]  # found, often meaning missing, and not named as such
    distinction: float
    separation: float
    mixed: bool = False  # mostly numbers, but not all

    def share(self, *shapes: str) -> float:
        """The largest share of any of the shapes."""
        return max((self.shapes.get(shape, 0.0) for shape in shapes), default=0.0)


@dataclass(frozen=True)
class Combination:
    """How well several columns together tell records apart."""

    columns: tuple[str, ...]
    distinction: float
    separation: float


@dataclass(frozen=True)
class TableProfile:
    """What a table is like."""

    rows: int
    columns: tuple[ColumnProfile, ...]
    combinations: tuple[Combination, ...] = ()

    def best(self, name: str) -> Combination | None:
        """The combination with this column that tells the most records apart."""
        with_it = [c for c in self.combinations if name in c.columns]
        return max(with_it, key=lambda c: (c.distinction, -len(c.columns)), default=None)

    def distinction(self, names: Sequence[str]) -> float:
        """The distinction of one column, or of a combination that was tried."""
        known = {frozenset(c.columns): c.distinction for c in self.combinations}
        known |= {frozenset([c.name]): c.distinction for c in self.columns}
        return known[frozenset(names)]

    @property
    def markers(self) -> tuple[str, ...]:
        """The markers found in any column."""
        return tuple(dict.fromkeys(marker for column in self.columns for marker in column.markers))


@dataclass(frozen=True)
class _Count:
    """What the queries say of one column."""

    distinct: int
    missing: int
    shortest: int | None
    longest: int | None
    low: float | None
    high: float | None
    values: tuple[str, ...] = ()  # a sample of the distinct ones

    @property
    def groups(self) -> int:
        """Distinct values, the missing one included."""
        return self.distinct + bool(self.missing)


def profile(table: ir.Table, missing: Sequence[str] = (), combined: bool = True) -> TableProfile:
    """Look at a table: a few aggregate queries over all columns, then GROUP BYs for separation.

    Which columns tell records apart together is counted only where it is to be `combined`. A table of
    more than WIDEST columns is refused: nobody reads so long a recipe.
    """
    names = list(table.columns)
    if not names:
        raise TableError("The table has no columns.", "Name a table with at least one column.")
    if len(names) > WIDEST:
        raise TableError(f"The table has {len(names):,} columns; at most {WIDEST:,} are profiled.",
                         "Keep the columns that the release needs, or write the recipe by hand: a column "
                         "that it does not list is plain.")
    rows = int(table.count().to_pyarrow().as_py())
    columns: list[ColumnProfile] = []
    for batch in _batches(len(names), rows):
        view = _view(table, batch, missing)
        counts = _count(view, batch)
        separations = _separations(view, counts, rows)
        columns += [_column(names[n], table[names[n]].type(), counts[n], separations[n], rows)
                    for n in batch]
    best = _most_distinguishing(columns) if combined else []
    combinations = _combine(_view(table, best, missing), columns, best, rows) if len(best) > 1 else ()
    return TableProfile(rows, tuple(columns), combinations)


def _view(table: ir.Table, positions: Sequence[int], missing: Sequence[str]) -> ir.Table:
    """Per column n of those: c<n> as text, missing where null or marked, and x<n> as a number."""
    import ibis

    shown: dict[str, Any] = {}
    for n in positions:
        column = table[n]
        text = column.cast("string")
        shown[f"c{n}"] = text.isin(list(missing)).ifelse(ibis.null("string"), text) if missing else text
        number = _as_number(column)
        if number is not None:
            shown[f"x{n}"] = shown[f"c{n}"].isnull().ifelse(ibis.null("float64"), number)
    return table.select(**shown)


def _as_number(column: Any) -> Any:
    """A number, or the year of a date; None for what is neither."""
    kind = column.type()
    if kind.is_date() or kind.is_timestamp():
        return column.year().cast("float64")
    return column.cast("float64") if kind.is_numeric() else None


def _batches(columns: int, rows: int) -> Iterator[range]:
    """Columns to count in one query, so that their distinct values fit into memory."""
    step = max(1, min(AT_ONCE, AT_ONCE_CELLS // max(rows, 1)))
    return (range(start, min(start + step, columns)) for start in range(0, columns, step))


def _count(view: ir.Table, batch: range) -> dict[int, _Count]:
    """Two queries for a batch of columns: the counts, then a sample of the distinct values."""
    asked: dict[str, Any] = {}
    for n in batch:
        text = view[f"c{n}"]
        asked |= {f"distinct{n}": text.nunique(), f"missing{n}": text.isnull().sum(),
                  f"shortest{n}": text.length().min(), f"longest{n}": text.length().max()}
        if f"x{n}" in view.columns:
            asked |= {f"low{n}": view[f"x{n}"].min(), f"high{n}": view[f"x{n}"].max()}
    row = view.aggregate(**asked).to_pyarrow().to_pylist()[0]
    sampled = {f"v{n}": _sample(view[f"c{n}"], row[f"distinct{n}"]) for n in batch}
    values = view.aggregate(**sampled).to_pyarrow().to_pylist()[0]
    return {n: _Count(row[f"distinct{n}"], row[f"missing{n}"] or 0, row[f"shortest{n}"], row[f"longest{n}"],
                      row.get(f"low{n}"), row.get(f"high{n}"), tuple(sorted(values[f"v{n}"] or ())))
            for n in batch}


def _sample(text: Any, distinct: int) -> Any:
    """About SAMPLE of the distinct values, chosen by their hash, and any markers among them."""
    if distinct <= SAMPLE:
        return text.collect(distinct=True)
    one_in = -(-distinct // SAMPLE)
    return text.collect(where=(text.hash() % one_in == 0) | text.strip().isin(MARKERS), distinct=True)


def _separations(view: ir.Table, counts: Mapping[int, _Count], rows: int) -> dict[int, float]:
    """Per column: its separation, without a query where the counts decide it."""
    groups = [(f"c{n}",) for n, count in counts.items() if 1 < count.groups < rows]
    found = {columns[0]: separation for columns, (_, separation) in _told_apart(view, groups, rows).items()}
    return {n: found.get(f"c{n}", float(count.groups == rows > 1)) for n, count in counts.items()}


def _told_apart(view: ir.Table, groups: Sequence[Columns], rows: int) -> dict[Columns, tuple[int, float]]:
    """Per group of columns: its distinct combinations, and its separation."""
    import ibis

    found: dict[Columns, tuple[int, float]] = {}
    for start in range(0, len(groups), AT_ONCE):
        asked = groups[start:start + AT_ONCE]
        size = view.n.sum() if "n" in view.columns else view.count()
        counted = [view.group_by(columns).aggregate(n=size) for columns in asked]
        summed = [table.aggregate(distinct=table.count(), squares=(table.n.cast("float64") ** 2).sum())
                  .mutate(group=ibis.literal(n, "int64")) for n, table in enumerate(counted)]
        union = summed[0] if len(summed) == 1 else ibis.union(*summed)
        for row in union.to_pyarrow().to_pylist():
            pairs = max(rows * (rows - 1), 1)
            found[asked[row["group"]]] = (row["distinct"], 1 - ((row["squares"] or 0) - rows) / pairs)
    return found


def _column(name: str, stored: Any, count: _Count, separation: float, rows: int) -> ColumnProfile:
    """What the counts and the sampled values say of one column; the values are left behind."""
    markers = tuple(value for value in count.values if value.strip() in MARKERS)
    values = [value for value in count.values if value not in markers]
    kind, mixed = _kind(stored, values)
    low, high = _range(kind, count, values)
    return ColumnProfile(name, kind, count.distinct, count.missing, count.shortest, count.longest, low, high,
                         shares(values), markers, count.groups / max(rows, 1), separation, mixed)


def _kind(stored: Any, values: Sequence[str]) -> tuple[Kind, bool]:
    """How a column's values read, and whether most of them are numbers but not all."""
    if stored.is_boolean():
        return "boolean", False
    if stored.is_date() or stored.is_timestamp():
        return "date", False
    numbers = [value for value in values if _is_number(value)]
    if values and len(numbers) == len(values):
        return ("integer" if all(float(value).is_integer() for value in numbers) else "real"), False
    if values and all(map(is_date, values)):
        return "date", False
    return "text", len(numbers) >= MOSTLY * len(values) > 0


def _is_number(text: str) -> bool:
    """A finite decimal number; with zeros in front it is a code."""
    written = re.fullmatch(r"\s*[-+]?(0|[1-9][0-9]*)?(\.[0-9]+|(?<=[0-9])\.?)([eE][-+]?[0-9]+)?\s*", text)
    return written is not None and math.isfinite(float(text))


def _range(kind: Kind, count: _Count, values: Sequence[str]) -> tuple[float | None, float | None]:
    """The least and greatest number: counted where stored as numbers, else of the values looked at."""
    if count.low is not None and math.isfinite(count.low) and math.isfinite(count.high or 0.0):
        return count.low, count.high
    if kind in ("integer", "real"):
        return min(map(float, values)), max(map(float, values))
    if kind == "date":
        years = [float(year) for value in values for year in re.findall(r"\d{4}", value)[:1]]
        return min(years, default=None), max(years, default=None)
    return None, None


def _most_distinguishing(columns: Sequence[ColumnProfile]) -> list[int]:
    """The columns to combine: those that tell most records apart, unless they are nearly keys alone.

    Numbers and names of persons, and survey weights, are left out: they are not to be released anyway.
    """
    concepts = {n: concept_of(column.name) for n, column in enumerate(columns)}
    unlike = {n for n, concept in concepts.items() if concept and concept.role in ("identifying", "plain")}
    tried = [n for n, column in enumerate(columns)
             if column.separation > 0 and column.distinction < NEARLY_KEY and n not in unlike]
    return sorted(sorted(tried, key=lambda n: -columns[n].separation)[:COMBINED])


def _combine(view: ir.Table, columns: Sequence[ColumnProfile], best: Sequence[int],
             rows: int) -> tuple[Combination, ...]:
    """The pairs and triples of the columns, from the counts of their tuples."""
    tuples = view.group_by([f"c{n}" for n in best]).aggregate(n=view.count())
    groups = [group for size in (2, 3) for group in itertools.combinations(best, size)]
    named = {tuple(f"c{n}" for n in group): tuple(columns[n].name for n in group) for group in groups}
    return tuple(Combination(named[group], distinct / max(rows, 1), separation)
                 for group, (distinct, separation) in _told_apart(tuples, list(named), rows).items())
