"""Everything sfumato refuses to do, as exceptions.

SfumatoError                     exit code
├── RequestError                 2   the request or its input is wrong
│   ├── RecipeError              2   faults of a recipe, all of them at once
│   ├── TableError               2   a table cannot be read, or lacks what is asked of it
│   ├── HierarchyError           2   a hierarchy is not a chain of partitions of the column's values
│   ├── DestinationError         2   the release cannot be written where asked
│   └── MissingExtraError        2   an optional package is needed
├── InfeasibleError              3   no release keeps the promise
└── UnprovenError                1   a written release failed its verdict (ours to mend)

A message says what is wrong, the value met, what is allowed, and one remedy. Values of identifying
and sensitive columns never appear in it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class SfumatoError(Exception):
    """The root: `message` for people, `remedy` in the imperative, `exit_code` for pipelines."""

    exit_code = 2

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy


class RequestError(SfumatoError):
    """The request or its input is wrong."""


@dataclass(frozen=True)
class Fault:
    """One fault of a recipe: where it stands and what is wrong with it."""

    where: str  # "columns.age.hierarchy"
    what: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}, {self.where}" if self.line else self.where
        return f"{place}: {self.what}"


class RecipeError(RequestError):
    """A recipe's faults, reported together."""

    def __init__(self, source: str, faults: Sequence[Fault], remedy: str = "") -> None:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        lines = "\n".join(f"  - {fault}" for fault in faults)
        super().__init__(f"{source} has {count}:\n{lines}\n", remedy or "Mend them and run again.")
        self.source = source
        self.faults = tuple(faults)


class TableError(RequestError):
    """A table cannot be read, or lacks what is asked of it."""

    @classmethod
    def missing_columns(cls, missing: Iterable[str], present: Sequence[str]) -> TableError:
        """The named columns are not in the table: list those that are, and guess what was meant."""
        names = list(missing)
        guesses = {n: difflib.get_close_matches(n, present, n=1, cutoff=0.6) for n in names}
        hints = [f"{n!r} (did you mean {g[0]!r}?)" if g else repr(n) for n, g in guesses.items()]
        shown = ", ".join(repr(p) for p in present[:20]) + (" …" if len(present) > 20 else "")
        nameless = all(re.fullmatch(r"column_?\d+", name) for name in present)
        return cls(f"The table has no column {', '.join(hints)}. It has: {shown}.",
                   "Its first line was not taken for names: if it holds them, say --header (header=True)."
                   if nameless else "Correct the name in the recipe.")


class HierarchyError(RequestError):
    """A hierarchy is not total, not nested, or has no single root."""


class DestinationError(RequestError):
    """The release cannot be written where asked."""


class MissingExtraError(RequestError):
    """An optional package is needed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the optional packages of sfumato[{extra}].",
                         f"Install them with: pip install 'sfumato[{extra}]'")


class InfeasibleError(SfumatoError):
    """No release keeps the promise."""

    exit_code = 3


class UnprovenError(SfumatoError):
    """A written release failed its verdict, so it was withdrawn."""

    exit_code = 1
