"""Hierarchies of numbers: intervals of equal width, quantiles, given bounds, growing widths.

An interval is written `[20..25)`: 20 belongs to it, 25 does not. Open ends are `<18` and `>=65`.
The form holds no delimiter, quote or blank, so it survives any CSV dialect, and `interval` reads it
back. Arithmetic is decimal and exact: 0.3 lies in `[0.3..0.4)`, not where binary rounding puts it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from itertools import pairwise, takewhile

from sfumato.errors import HierarchyError
from sfumato.hierarchy.domain import Domain, Levels, number

Number = int | float
MOST_LEVELS = 50
MOST_CUTS = 10_000
EXACT = Context(prec=1000, Emax=9999, Emin=-9999)
INTERVAL = re.compile(r"\[(?P<low>.+?)\.\.(?P<high>.+)\)|<(?P<below>.+)|>=(?P<above>.+)")
REMEDY = "Name missing-value markers under `missing` in the recipe, or choose another kind of hierarchy."


def widths(domain: Domain, given: Sequence[Number] | Number) -> Levels:
    """Intervals of equal width that start at multiples of it; one number is doubled up to the range."""
    numbers = read(domain)
    with localcontext(EXACT):
        if isinstance(given, Sequence):
            steps = [exact(width) for width in given]
        else:
            steps = doubled(domain, numbers, exact(given))
        return [equal_width(numbers, step) for step in steps]


def quantiles(domain: Domain, groups: int) -> Levels:
    """Groups of about equally many records, then neighbours merged two by two."""
    numbers = read(domain)
    records_below: dict[Decimal, int] = {}
    total = 0
    for value, count in sorted(zip(numbers, domain.counts, strict=True)):
        records_below.setdefault(value, total)
        total += count
    values, below = list(records_below), list(records_below.values())
    places = [(part, bisect_left(below, total * part / groups)) for part in range(1, groups)]
    return merged(numbers, [(part, values[place]) for part, place in places if place < len(values)])


def bounds(domain: Domain, given: Sequence[Number] | Sequence[Sequence[Number]]) -> Levels:
    """Cuts as given, one list for each level, finest first; both ends are open."""
    numbers = read(domain)
    return [cut_at(numbers, [exact(bound) for bound in level]) for level in several(given)]


def growing(domain: Domain, width: Number, factor: Number = 2, start: Number = 0) -> Levels:
    """Intervals that widen by `factor` with the distance from `start`, then neighbours merged."""
    numbers = read(domain)
    if not numbers:
        return []
    with localcontext(EXACT):
        origin = exact(start)
        up = reach(domain, max(numbers) - origin, exact(width), exact(factor))
        down = reach(domain, origin - min(numbers), exact(width), exact(factor))
        below = [(-place, origin - distance) for place, distance in enumerate(down, 1)]
        above = [(place, origin + distance) for place, distance in enumerate(up, 1)]
        return merged(numbers, [*reversed(below), (0, origin), *above])


def several(given: Sequence[Number] | Sequence[Sequence[Number]]) -> list[Sequence[Number]]:
    """One list of bounds, or a list of such lists, as a list of lists."""
    nested = [level for level in given if isinstance(level, Sequence)]
    return nested or [[bound for bound in given if not isinstance(bound, Sequence)]]


def interval(label: str) -> tuple[float, float] | None:
    """The ends of an interval's label, infinite where open; None for any other label."""
    match = INTERVAL.fullmatch(label)
    if not match:
        return None
    low, high = match["low"] or match["above"], match["high"] or match["below"]
    ends = (number(low) if low else -math.inf, number(high) if high else math.inf)
    return None if ends[0] is None or ends[1] is None else (float(ends[0]), float(ends[1]))


def read(domain: Domain) -> list[Decimal]:
    """The values as numbers."""
    return domain.read(number, "finite numbers", REMEDY)


def exact(given: Number) -> Decimal:
    """A number of the recipe as the decimal that was written."""
    return Decimal(repr(given))


def divides(fine: Number, coarse: Number) -> bool:
    """Whether the coarse width is a larger multiple of the fine one."""
    with localcontext(EXACT):
        return coarse > fine and exact(coarse) % exact(fine) == 0


def doubled(domain: Domain, numbers: Sequence[Decimal], width: Decimal) -> list[Decimal]:
    """The width, and its doubles while they are smaller than the range of the values."""
    spread = max(numbers) - min(numbers) if numbers else Decimal(0)
    if spread >= width * 2**MOST_LEVELS:
        raise HierarchyError(f"Doubling the width {width} up to the range of column {domain.column!r} "
                             f"takes more than {MOST_LEVELS} levels.",
                             "Give a larger width, or list the widths of the levels.")
    return [width, *takewhile(lambda w: w < spread, (width * 2**n for n in range(1, MOST_LEVELS + 1)))]


def equal_width(numbers: Sequence[Decimal], width: Decimal) -> list[str]:
    """Each number's interval among the multiples of a width."""
    names: dict[Decimal, str] = {}
    labels = []
    for value in numbers:
        place = value // width
        if place * width > value:
            place -= 1
        if place not in names:
            names[place] = f"[{written(place * width)}..{written((place + 1) * width)})"
        labels.append(names[place])
    return labels


def reach(domain: Domain, distance: Decimal, width: Decimal, factor: Decimal) -> list[Decimal]:
    """Distances of the cuts: sums of widths that grow by a factor, each kept to three digits."""
    cuts: list[Decimal] = []
    short = Context(prec=3)
    total = short.plus(width)
    while total <= distance:
        cuts.append(total)
        if len(cuts) > MOST_CUTS:
            raise HierarchyError(f"Growing widths cut column {domain.column!r} into more than "
                                 f"{MOST_CUTS:,} intervals.", "Give a larger first width or a larger factor.")
        width *= factor
        total += short.plus(width)
    return cuts


def merged(numbers: Sequence[Decimal], cuts: Sequence[tuple[int, Decimal]]) -> Levels:
    """Levels from numbered cuts: all, then every second, every fourth … while they still divide."""
    levels: list[list[str]] = []
    step = 1
    while kept := list(dict.fromkeys(cut for place, cut in cuts if place % step == 0)):
        levels.append(cut_at(numbers, kept))
        if len(kept) == 1:
            break
        step *= 2
    return [labels for labels in levels if len(set(labels)) > 1]


def cut_at(numbers: Sequence[Decimal], cuts: Sequence[Decimal]) -> list[str]:
    """Each number's interval between ascending cuts."""
    ends = [written(cut) for cut in cuts]
    between = [f"[{low}..{high})" for low, high in pairwise(ends)]
    names = [f"<{ends[0]}", *between, f">={ends[-1]}"]
    return [names[bisect_right(cuts, value)] for value in numbers]


def written(value: Decimal) -> str:
    """A number without trailing zeros, and without an exponent where it can be read without."""
    plain = value.normalize(EXACT) + 0
    return f"{plain:f}" if -7 < plain.adjusted() < 21 else str(plain)
