"""What a hierarchy is built from: the real values of one column, as text, and their records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from sfumato.errors import HierarchyError
from sfumato.hierarchy.core import ROOT, Label

Parsed = TypeVar("Parsed")
Labels = Sequence[Label]  # the labels of one value, from itself to the root
Levels = Sequence[Sequence[str]]  # per level between the values and the root: one label for each value


@dataclass(frozen=True)
class Domain:
    """The values of a column without the missing one, in natural order, with the records of each."""

    column: str
    values: tuple[str, ...]
    counts: tuple[int, ...]

    def read(self, parse: Callable[[str], Parsed | None], kind: str, remedy: str) -> list[Parsed]:
        """Every value through `parse`; those it refuses are counted and the first three shown."""
        parsed = [parse(value) for value in self.values]
        refused = [value for value, result in zip(self.values, parsed, strict=True) if result is None]
        if refused:
            raise HierarchyError(f"Column {self.column!r} has {counted(len(refused), 'value')} that cannot "
                                 f"be read as {kind}: {listed(refused, 3)}.", remedy)
        return [result for result in parsed if result is not None]

    def paths(self, levels: Levels) -> list[Labels]:
        """The values, the labels between, and the root on top."""
        return [(*path, ROOT) for path in zip(self.values, *levels, strict=True)]


def domain(column: str, values: Sequence[Label], counts: Sequence[int]) -> Domain:
    """The real values in natural order: numbers ascending where all are numbers, else text ascending."""
    pairs = [(value, count) for value, count in zip(values, counts, strict=True) if value is not None]
    numbers = {value: number(value) for value, _ in pairs}
    if None not in numbers.values():
        pairs.sort(key=lambda pair: (numbers[pair[0]], pair[0]))
    else:
        pairs.sort()
    return Domain(column, tuple(v for v, _ in pairs), tuple(c for _, c in pairs))


def number(text: str) -> Decimal | None:
    """A finite number within the range of doubles, exactly as written; None for anything else."""
    try:
        result = Decimal(text.strip())
    except InvalidOperation:
        return None
    if "_" in text or not result.is_finite() or not -330 < result.adjusted() < 309:
        return None
    return result


def listed(values: Iterable[Label], most: int) -> str:
    """The first few values, quoted and shortened, and how many more there are."""
    known = list(values)
    shown = ", ".join(quoted(value) for value in known[:most])
    return f"{shown} and {len(known) - most:,} more" if len(known) > most else shown


def quoted(value: Label) -> str:
    """A value as it appears in a message."""
    if value is None:
        return "(missing)"
    return repr(value if len(value) <= 40 else value[:39] + "…")


def counted(n: int, word: str) -> str:
    """`1 value`, `1,234 values`."""
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"
