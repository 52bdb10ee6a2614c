"""Hierarchies of words and numbers that are names: masked characters, rare values folded, nothing."""

from __future__ import annotations

from collections import Counter

from sfumato.hierarchy.core import ROOT
from sfumato.hierarchy.domain import Domain, Levels


def suppress(domain: Domain, nothing: None = None) -> Levels:
    """No level between the values and the root."""
    return []


def prefix(domain: Domain, steps: int) -> Levels:
    """One more character masked from the right at each level: 47677, 4767*, 476** …

    Shorter values are filled with `*` to the length of the longest, so that a label of one level has
    one label above it. Where all characters would be masked the root stands instead.
    """
    length = longest(domain)
    filled = [value.ljust(length, ROOT) for value in domain.values]
    return [[value[:length - n] + ROOT * n for value in filled] for n in masks(steps, length)]


def suffix(domain: Domain, steps: int) -> Levels:
    """One more character masked from the left at each level: 47677, *7677, **677 …"""
    length = longest(domain)
    filled = [value.rjust(length, ROOT) for value in domain.values]
    return [[ROOT * n + value[n:] for value in filled] for n in masks(steps, length)]


def frequency(domain: Domain, steps: int) -> Levels:
    """Rare values folded into one label: at level i of n, rarest first, up to i/(n+1) of the records.

    Values of equal count fold together, so that the names of values decide nothing.
    """
    other = "other"
    while other in domain.values:
        other = f"({other})"
    limits = thresholds(domain, steps)
    pairs = list(zip(domain.values, domain.counts, strict=True))
    return [[other if count <= limit else value for value, count in pairs] for limit in limits]


def thresholds(domain: Domain, steps: int) -> list[int]:
    """Per level: the largest count whose values, with all rarer ones, stay within the share."""
    values_of = Counter(domain.counts)
    total = sum(domain.counts)
    limits = [-1] * steps
    folded = 0
    for count in sorted(values_of):
        folded += count * values_of[count]
        limits = [count if folded * (steps + 1) <= total * level else limit
                  for level, limit in enumerate(limits, 1)]
    return limits


def longest(domain: Domain) -> int:
    """The length of the longest value."""
    return max(map(len, domain.values), default=0)


def masks(steps: int, length: int) -> range:
    """How many characters each level masks: never all of them."""
    return range(1, min(steps, length - 1) + 1)
