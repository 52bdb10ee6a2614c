"""Two releases joined, person by person and row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

Row = tuple[tuple[str, ...], str]  # labels or values, and the sensitive value
Covers = Callable[[str, str], bool]  # does a label cover a value?


def crowd(release: list[Row], values: tuple[str, ...], covers: Covers) -> Counter[str]:
    """The records that could be a person's, by sensitive value; rows of * only are nobody's."""
    found: Counter[str] = Counter()
    for labels, secret in release:
        fits = all(covers(label, value) for label, value in zip(labels, values, strict=True))
        if fits and set(labels) != {"*"}:
            found[secret] += 1
    return found


def fewest(people: list[Row], releases: list[list[Row]], covers: Covers) -> int:
    """The fewest candidates that any release leaves of anybody it holds."""
    sizes = [sum(crowd(release, values, covers).values()) for release in releases for values, _ in people]
    return min(size for size in sizes if size)


def is_hit(together: Counter[str], alone: list[Counter[str]], least: int) -> bool:
    if not all(+one for one in (together, *alone)):
        return False
    certain = len(+together) == 1 and all(len(+one) > 1 for one in alone)
    return sum(together.values()) < least or certain


def linked(people: list[Row], later: list[Row], earlier: list[Row], covers: Covers) -> list[bool]:
    """Who is hit by linking."""
    least = fewest(people, [later, earlier], covers)
    hits = []
    for values, _ in people:
        one, other = crowd(later, values, covers), crowd(earlier, values, covers)
        hits.append(is_hit(one & other, [one, other], least))
    return hits


def subtracted(people: list[Row], later: list[Row], earlier: list[Row], covers: Covers) -> list[bool]:
    """Who would be hit as a newcomer: earlier classes inside a later one, and touching no other, are gone."""
    least = fewest(people, [later, earlier], covers)
    known = [sorted({values[j] for values, _ in people}) for j in range(len(people[0][0]))]

    def under(labels: tuple[str, ...]) -> list[set[str]]:
        return [{value for value in known[j] if covers(label, value)} for j, label in enumerate(labels)]

    classes = {row[0] for row in later if set(row[0]) != {"*"}}
    left = {labels: Counter(s for other, s in later if other == labels) for labels in classes}
    for labels in {row[0] for row in earlier if set(row[0]) != {"*"}}:
        mine = under(labels)
        touched = [one for one in classes if all(a & b for a, b in zip(mine, under(one), strict=True))]
        if len(touched) == 1 and all(a <= b for a, b in zip(mine, under(touched[0]), strict=True)):
            left[touched[0]] -= Counter(s for other, s in earlier if other == labels)
    rest = [(labels, s) for labels, counts in left.items() for s, n in counts.items()
            for _ in range(max(n, 0))]
    return [is_hit(crowd(rest, values, covers), [crowd(later, values, covers)], least)
            for values, _ in people]
