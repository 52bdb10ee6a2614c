"""What an attacker holds: a release as it reads, and what is known of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato import table
from sfumato.attack.labels import Covers, read
from sfumato.classes import Bools, Ints
from sfumato.errors import RequestError
from sfumato.hierarchy.core import ROOT, Codes, Hierarchy, Label
from sfumato.hierarchy.spec import build
from sfumato.prepare import Coded, count, encode
from sfumato.recipe import Recipe
from sfumato.slices.base import BUCKET

Groups = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Known:
    """People by what is known of them, one row a person; `truth` only scores what was learned."""

    names: tuple[str, ...]  # the columns that are known
    values: tuple[tuple[Label, ...], ...]  # per column
    codes: Codes  # [people, columns]
    truth: tuple[Label, ...] | None  # per person: the sensitive value, where the table of people has it

    def __len__(self) -> int:
        return len(self.codes)

    def some(self, rows: slice) -> Known:
        """Some of the people."""
        truth = None if self.truth is None else self.truth[rows]
        return Known(self.names, self.values, self.codes[rows], truth)


@dataclass(frozen=True)
class View:
    """A release as an attacker reads it: distinct rows with their records, in buckets, by column groups."""

    name: str
    names: tuple[str, ...]  # of the columns of `codes`
    labels: tuple[tuple[Label, ...], ...]
    codes: Codes  # [rows, columns]: positions in the labels
    covers: Mapping[str, Covers]
    bucket_of: Ints  # per row; 0 everywhere in a release of classes
    sensitive: Ints  # per row: a position in `sensitive_labels`
    sensitive_labels: tuple[Label, ...]
    counts: Ints  # per row: records
    groups: Groups  # of known columns; the last one stands with the sensitive value
    sliced: bool
    suppressed: int  # records of nothing but `*`, which say nothing of anybody
    prior: Ints  # per sensitive value: records, the suppressed ones included

    @property
    def sizes(self) -> Ints:
        """Records per bucket."""
        return np.bincount(self.bucket_of, weights=self.counts).astype(np.int64)


def known_people(opened: table.Source, names: Sequence[str], sensitive: str, missing: Sequence[str]) -> Known:
    """The people of a table, row by row."""
    wanted = [*names, *([sensitive] if sensitive in opened.table.columns else [])]
    read = table.fetch(opened.table.select(**{f"v{n}": opened.table[name] for n, name in enumerate(wanted)}))
    if not read.num_rows:
        raise RequestError(f"{opened.name} knows nobody: it has no rows.",
                           "Give a table of at least one person.")
    columns = [encode(column, missing) for column in read.columns]
    truth = None
    if len(wanted) > len(names):
        own = columns.pop()
        truth = tuple(own.values[code] for code in own.codes)
    codes = np.stack([column.codes for column in columns], axis=1).astype(np.int32)
    return Known(tuple(names), tuple(column.values for column in columns), codes, truth)


def view(opened: table.Source, known: Known, sensitive: str, groups: Groups | None, recipe: Recipe | None,
         missing: Sequence[str]) -> View:
    """Read a release with the eyes of somebody who knows these people; `groups` are those of a sliced one."""
    names = tuple(name for name in known.names if name in opened.table.columns
                  and (groups is None or any(name in group for group in groups)))
    sliced = groups is not None
    columns, counts = _counted(opened, [*([BUCKET] if sliced else []), *names, sensitive], missing)
    bucket = columns.pop(0) if sliced else Coded((None,), np.zeros(len(counts), np.int64), counts)
    values = columns.pop()
    starred = _starred(columns) if not sliced else np.zeros(len(counts), dtype=bool)
    kept = ~starred if not starred.all() else np.ones(len(counts), dtype=bool)
    covers = {name: read(column.values, known.values[known.names.index(name)], tree_over(name, known, recipe))
              for name, column in zip(names, columns, strict=True)}
    codes = np.stack([column.codes for column in columns], axis=1).astype(np.int32)[kept]
    known_groups = [names] if groups is None else [
        [name for name in group if name in names] for group in groups]
    return View(opened.name, names, tuple(column.values for column in columns), codes, covers,
                np.unique(bucket.codes[kept], return_inverse=True)[1].astype(np.int64), values.codes[kept],
                values.values, counts[kept], known_groups, sliced, int(counts[~kept].sum()),
                np.bincount(values.codes, weights=counts, minlength=len(values.values)).astype(np.int64))


def _counted(opened: table.Source, names: Sequence[str], missing: Sequence[str]) -> tuple[list[Coded], Ints]:
    """Distinct rows and their records, in an order of their own: an engine's threads have none."""
    counted, counts = count(opened.table, names)
    columns = [encode(column, missing) for column in counted.columns]
    order = np.lexsort((counts, *(column.codes for column in columns)))
    return [Coded(one.values, one.codes[order], one.spelled[order]) for one in columns], counts[order]


def _starred(columns: Sequence[Coded]) -> Bools:
    """The rows of nothing but `*`."""
    stars = [np.array([value == ROOT for value in column.values])[column.codes] for column in columns]
    return np.asarray(np.logical_and.reduce(stars))


def tree_over(name: str, known: Known, recipe: Recipe | None) -> Hierarchy | None:
    """The column's hierarchy, over the values that are known of people."""
    column = None if recipe is None else recipe.columns.get(name)
    if recipe is None or column is None or column.role != "quasi" or column.hierarchy is None:
        return None
    at = known.names.index(name)
    records = np.bincount(known.codes[:, at], minlength=len(known.values[at])).tolist()
    return build(name, column.hierarchy, known.values[at], records, recipe.folder)
