"""Hierarchies of dates: day, month, quarter, year, decade."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime

from sfumato.hierarchy.domain import Domain, Levels

# Year, month and day as far as they are known.
Parts = tuple[int, ...]

ISO = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ]\d\d:.*)?)?)?")

# Finest first. Per step: how many parts of a date it needs, and its label.
STEPS: dict[str, tuple[int, Callable[[Parts], str]]] = {
    "day": (3, lambda d: f"{d[0]:04}-{d[1]:02}-{d[2]:02}"),
    "month": (2, lambda d: f"{d[0]:04}-{d[1]:02}"),
    "quarter": (2, lambda d: f"{d[0]:04}-Q{(d[1] + 2) // 3}"),
    "year": (1, lambda d: f"{d[0]:04}"),
    "decade": (1, lambda d: f"{d[0] // 10:03}0s"),
}


def dates(domain: Domain, steps: Sequence[str] | str, format: str | None = None) -> Levels:
    """One level a step; dates are ISO (2020-01-31, also with a time) or written as `format` says."""
    chosen = [STEPS[step] for step in named(steps)]
    needed = chosen[0][0]

    def parse(text: str) -> Parts | None:
        known = iso(text.strip()) if format is None else formatted(text.strip(), format)
        return known if len(known) >= needed else None

    kind = "dates" if format is None else f"dates of the form {format!r}"
    known = domain.read(parse, kind, "Write them like 2020-01-31, or say their form, "
                                     "as in {dates: [month, year], format: '%d.%m.%Y'}.")
    return [[label(parts) for parts in known] for _, label in chosen]


def named(steps: Sequence[str] | str) -> list[str]:
    """One step or several, as a list."""
    return [steps] if isinstance(steps, str) else list(steps)


def iso(text: str) -> Parts:
    """The parts of an ISO date, of a month or of a year alone; none if it is no date."""
    match = ISO.fullmatch(text)
    parts = tuple(int(part) for part in match.groups() if part) if match else ()
    try:
        date(*(*parts, 1, 1)[:3])
    except (TypeError, ValueError):
        return ()
    return parts


def formatted(text: str, form: str) -> Parts:
    """The parts of a date in the given form of strptime; none if it is not in it."""
    try:
        moment = datetime.strptime(text, form)
    except ValueError:
        return ()
    return (moment.year, moment.month, moment.day)
