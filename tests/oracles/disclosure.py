"""The attacks on classes, record by record, in fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

Value = str | None
Class = object


HIDDEN = "*hidden*"  # a cell that shows nothing: it may be any value


def hit(classes: list[Class], values: list[Value], everybody: list[Value], tree: dict[Value, Value] | None,
        numbers: bool, false: list[bool] | None = None) -> dict[str, int | None]:
    """Records hit by each attack: `tree` maps a value to its node just below the root.

    False records stand among the others for whoever looks, and cannot be hit.
    """
    whole = Counter(everybody)
    found: Counter[str] = Counter()
    for n, (mine, value) in enumerate(zip(classes, values, strict=True)):
        if false and false[n]:
            continue
        fellows = Counter(v for c, v in zip(classes, values, strict=True) if c == mine)
        size, veiled = sum(fellows.values()), fellows.pop(HIDDEN, 0)
        belief = {v: Fraction(fellows[v], size) for v in whole}
        at_most = {v: Fraction(fellows[v] + veiled, size) for v in whole}
        prior = {v: Fraction(n, len(everybody)) for v, n in whole.items()}
        found["homogeneity"] += len(fellows) == 1 and not veiled
        found["background"] += len(fellows) <= 2 and not veiled
        found["skewness"] += any(belief[v] > 2 * prior[v] for v in whole)
        found["similarity"] += not veiled and alike(set(fellows), set(everybody), tree)
        found["positive"] += value != HIDDEN and belief[value] > Fraction(9, 10)
        found["negative"] += any(at_most[v] < Fraction(1, 20) for v in whole if v != value)
        found["breach"] += any(
            (prior[v] < Fraction(1, 5) and belief[v] > Fraction(1, 2))
            or (prior[v] > Fraction(4, 5) and at_most[v] < Fraction(1, 2)) for v in whole)
    names = ("homogeneity", "background", "skewness", "similarity", "positive", "negative", "breach")
    answer: dict[str, int | None] = {name: found[name] for name in names}
    if tree is None and not numbers:
        answer["similarity"] = None
    return answer


def alike(values: set[Value], everybody: set[Value], tree: dict[Value, Value] | None) -> bool:
    """One node of the tree; or, as numbers, within a quarter of the range."""
    if tree is not None:
        return len({tree[value] for value in values}) == 1
    if len(values) == 1:
        return True
    if None in values or not everybody - {None}:
        return False
    try:
        here, there = ([Fraction(v) for v in some if v is not None] for some in (values, everybody))
    except ValueError:
        return False
    return max(here) - min(here) <= (max(there) - min(there)) / 4
