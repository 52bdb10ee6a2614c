"""The promise, checked again from the released labels alone. Shares no code with search or frequency."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from sfumato.classes import Bools, ClassStats, Histogram, Ints
from sfumato.criteria.base import Criterion, Finding

STAR = "*"


@dataclass(frozen=True)
class Verdict:
    """What the recount found."""

    holds: bool
    findings: tuple[Finding, ...]
    records: int
    classes: int
    suppressed: int  # records whose quasi-identifiers are all `*`
    notes: tuple[str, ...] = ()  # what else should be known
    unit: tuple[str, str] = ("class", "classes")  # what `classes` counts: one of them, several
    added: int = 0  # false records among `records`, as far as is known

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        false = f" ({self.added:,} of them false)" if self.added else ""
        counted = (f"{self.records:,} records{false}, {self.classes:,} {self.unit[1]}, "
                   f"{self.suppressed:,} suppressed")
        judged = [f"{'holds' if f.holds else 'FAILS'}  {f.name} ({f.promise})" for f in self.findings]
        return "\n".join([f"{'The promise holds' if self.holds else 'The promise does NOT hold'}: {counted}",
                          *(f"  {line}" for line in (*judged, *self.notes))])

    __repr__ = __str__

    def as_dict(self) -> dict[str, Any]:
        """As the manifest writes it; an infinite measure (no bound would do) is written as None."""
        return {"holds": self.holds, "criteria": [_finding(finding) for finding in self.findings]}


Fetch = Callable[[Any], Any]


def _fetch(query: Any) -> Any:
    return query.to_pyarrow()


def verify(release: Any, quasi: Sequence[str], sensitive: Sequence[str], criteria: Sequence[Criterion],
           missing: Sequence[str] = (), fetch: Fetch = _fetch, *, hides: bool = False, false: Any = None,
           real: int | None = None) -> Verdict:
    """Count the release's label combinations in its engine and judge each criterion.

    `fetch` runs a query and answers with an Arrow table.

    A record whose labels are all `*` is a suppressed one and belongs to no class, unless there is
    nothing else in the release.

    Where a release `hides` sensitive cells, a class of which no cell of a column is shown says nothing
    of that column. `false` holds the records that are nobody's: sensitive columns are judged by the
    others alone, of which every class must have at least `real`, where that can be told.
    """
    names = [*quasi, *sensitive]
    counted, counts = counted_rows(release, names, missing, fetch)
    invented, strange = np.zeros_like(counts), 0
    if false is not None:
        invented, strange = _found(counted, counts, *counted_rows(false, names, missing, fetch))
    rows = list(zip(*counted[: len(quasi)], strict=True))
    number = {row: n for n, row in enumerate(dict.fromkeys(rows))}
    starred = tuple([STAR] * len(quasi))
    class_of = np.array([number[row] for row in rows], dtype=np.int64)
    suppressed = class_of == number.get(starred, -1)
    if suppressed.all():
        suppressed[:] = False
    kept, numbers = np.unique(class_of[~suppressed], return_inverse=True)

    def sizes(records: Ints) -> Ints:
        return np.bincount(numbers, weights=records[~suppressed], minlength=len(kept)).astype(np.int64)

    histograms = {name: _histogram(column, counts - invented, ~suppressed, numbers, hides)
                  for name, column in zip(sensitive, counted[len(quasi):], strict=True)}
    stats = ClassStats(sizes(counts), histograms)
    findings = [criterion.find(_showing(stats, criterion) if hides else stats) for criterion in criteria]
    if real is not None:
        findings.append(_real(sizes(counts - invented), real, strange))
    return Verdict(all(finding.holds for finding in findings), tuple(findings), int(counts.sum()),
                   len(kept), int(counts[suppressed].sum()), added=int(invented.sum()))


def _found(counted: list[list[Any]], counts: Ints, false: list[list[Any]],
           records: Ints) -> tuple[Ints, int]:
    """Per row of the release, how many of its records are false; and how many of these it does not have."""
    def keys(columns: list[list[Any]]) -> list[tuple[str | None, ...]]:
        return list(zip(*([None if value is None else in_words(value) for value in column]
                          for column in columns), strict=True))

    places: dict[tuple[str | None, ...], list[int]] = {}
    for n, key in enumerate(keys(counted)):  # a missing value has several spellings, and a row for each
        places.setdefault(key, []).append(n)
    invented, strange = np.zeros_like(counts), 0
    for key, left in zip(keys(false), records.tolist(), strict=True):
        for n in places.get(key, ()):
            there = min(left, int(counts[n] - invented[n]))
            invented[n] += there
            left -= there
        strange += left
    return invented, strange


def _showing(stats: ClassStats, criterion: Criterion) -> ClassStats:
    """The classes of which a cell is shown in every column that the criterion reads."""
    shown = np.ones(stats.n_classes, dtype=bool)
    for name in criterion.columns:
        shown &= np.isin(np.arange(stats.n_classes), stats.sensitive[name].classes)
    number = np.cumsum(shown) - 1
    histograms = {}
    for name, one in stats.sensitive.items():
        at = shown[one.classes]
        histograms[name] = Histogram(number[one.classes[at]], one.values[at], one.counts[at], one.labels,
                                     one.whole)
    return ClassStats(stats.sizes[shown], histograms)


def _real(sizes: Ints, least: int, strange: int) -> Finding:
    """Whether every class has enough real records, and every false record stands in the release."""
    worst = float(sizes.min()) if len(sizes) else None
    failing = int((sizes < least).sum())
    return Finding("real-records", f"xk = {least}", not failing and not strange, worst, float(least), failing,
                   None if worst is None else worst - least)


def counted_rows(release: Any, names: Sequence[str], missing: Sequence[str],
           fetch: Fetch) -> tuple[list[list[Any]], Ints]:
    """Distinct rows of the named columns, as lists of values, and how often each occurs."""
    aliases = {f"v{n}": release[name] for n, name in enumerate(names)}
    grouped = release.select(**aliases).group_by(list(aliases))
    counted = fetch(grouped.aggregate(n=lambda t: t.count()))
    absent = absences(missing)
    columns = [[None if is_absent(value, *absent) else value
                for value in counted.column(alias).to_pylist()] for alias in aliases]
    return columns, np.array(counted.column("n").to_pylist(), dtype=np.int64)


def absences(missing: Sequence[str]) -> tuple[set[str], set[float | None]]:
    """The texts and the numbers that stand for a missing value."""
    return {"", *missing}, {_finite(marker) for marker in missing} - {None}


def is_absent(value: Any, texts: set[str], numbers: set[float | None]) -> bool:
    """Null, NaN, nothing but blanks, or one of the recipe's markers, as text or as the number it says."""
    if isinstance(value, str):
        return value.strip() in texts
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return value != value or value in numbers
    return value is None


def _finite(value: Any) -> float | None:
    """The number that a value is or says."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _histogram(column: Sequence[Any], counts: Ints, kept: Bools, numbers: Ints,
               hides: bool = False) -> Histogram:
    """One sensitive column's values per class; the whole includes suppressed records.

    Rows without records do not count, nor does a cell that is hidden.
    """
    there = counts > 0
    if hides:
        there &= np.array([value != STAR for value in column], dtype=bool)
    numbers, kept = numbers[there[kept]], kept & there
    ordered = sorted({value for value in column if value is not None}, key=_natural(column))
    labels = [*ordered, None] if None in column else ordered
    code = {value: n for n, value in enumerate(labels)}
    codes = np.array([code[value] for value in column], dtype=np.int64)
    whole = np.bincount(codes, weights=counts, minlength=len(labels)).astype(np.int64)
    cells, position = np.unique(numbers * len(labels) + codes[kept], return_inverse=True)
    records = np.bincount(position, weights=counts[kept]).astype(np.int64)
    return Histogram(cells // len(labels), cells % len(labels), records,
                     tuple(None if value is None else in_words(value) for value in labels), whole)


def _natural(column: Sequence[Any]) -> Any:
    """Numbers ascending where all values are numbers, else text ascending."""
    if any(value is not None and _finite(value) is None for value in column):
        return str
    return lambda value: (_finite(value), str(value))


def in_words(value: Any) -> str:
    """As a hierarchy or a recipe writes the value: `true`, `3` for 3.0, `1.5` for 1.50."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else str(value)


def _finding(finding: Finding) -> Mapping[str, Any]:
    worst = finding.worst
    return {"name": finding.name, "promise": finding.promise, "holds": finding.holds,
            "worst": None if worst is None or not np.isfinite(worst) else worst,
            "threshold": finding.threshold, "failing": finding.failing}
