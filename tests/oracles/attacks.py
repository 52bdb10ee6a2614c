"""What releases tell of people, in plain loops over rows of text. Shares no code with `sfumato.attack`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod

Row = dict[str, str | None]
Covers = Callable[[str, str | None, str | None], bool]  # column, label, value


def of_classes(release: Sequence[Row], person: Row, quasi: Sequence[str], sensitive: str,
               covers: Covers) -> dict[str | None, Fraction]:
    """Any record whose labels all cover the person may be the person's; suppressed ones say nothing."""
    shown = [row for row in release if any(row[name] != "*" for name in quasi)] or list(release)
    matching = [row[sensitive] for row in shown if all(covers(n, row[n], person[n]) for n in quasi)]
    return {value: Fraction(n, len(matching)) for value, n in Counter(matching).items()}


def of_slices(release: Sequence[Row], person: Row, groups: Sequence[Sequence[str]],
              covers: Covers) -> dict[str | None, Fraction]:
    """Li et al. 2012: p(t, s) = sum over buckets of p(t, B) D(t, B)(s), as exact fractions."""
    buckets = defaultdict(list)
    for row in release:
        buckets[row["bucket"]].append(row)
    *beside, sensitive = groups[-1]
    told: Counter[str | None] = Counter()
    for rows in buckets.values():
        shares = []
        for group in [*groups[:-1], beside]:
            hits = [row for row in rows if all(covers(n, row[n], person[n]) for n in group if n in person)]
            shares.append(Fraction(len(hits), len(rows)))
        f = prod(shares)
        for row in hits:
            told[row[sensitive]] += f * Fraction(1, len(hits))
    total = sum(told.values())
    return {value: weight / total for value, weight in told.items() if weight} if total else {}


def together(each: Sequence[dict[str | None, Fraction]],
             overall: dict[str | None, Fraction]) -> dict[str | None, Fraction]:
    """The product of what each release says, divided by the overall share once less than there are."""
    said = [one or overall for one in each]
    possible = [value for value in overall if all(one.get(value) for one in said)]
    weight = {value: prod(one[value] for one in said) / overall[value] ** (len(said) - 1)
              for value in possible}
    total = sum(weight.values())
    return {value: one / total for value, one in weight.items()}
