"""The promise of a sliced release, checked again from its rows alone. Shares no code with the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.classes import Ints
from sfumato.criteria.base import TOLERANCE, Finding
from sfumato.verify import Fetch, Verdict, counted_rows, in_words

BUCKET = "bucket"
Rules = Sequence[Mapping[str, str]]


def verify_slices(release: Any, groups: Sequence[Sequence[str]], k: int, l: float,  # noqa: E741
                  missing: Sequence[str], fetch: Fetch, rules: Rules = (),
                  known: Sequence[int] = ()) -> Verdict:
    """Count the release's buckets and judge what a sliced release promises.

    The last group holds the sensitive column as its last. Whoever a person is, p(t, s) is a mean over
    the matching buckets of the share that s has among the records which agree with the person on the
    other columns of that group; so it is at most 1/l if all of these shares are. `known` says, for
    each rule, how many records of the private table broke it already.
    """
    *beside, sensitive = groups[-1]
    counted, counts = counted_rows(release, [BUCKET, *beside, sensitive], missing, fetch)
    buckets = counted[0]
    sizes = _sums(buckets, counts)
    blocks = list(zip(buckets, *counted[1:-1], strict=True))
    held = _sums(blocks, counts)
    shares = [count / held[block] for block, count in zip(blocks, counts.tolist(), strict=True)]
    worst = max(shares)
    revealing = {block for block, share in zip(blocks, shares, strict=True) if share * l > 1 + TOLERANCE}
    small = [size for size in sizes.values() if size < k]
    least = min(sizes.values())
    findings = [
        Finding("bucket-size", f"k = {k}", not small, float(least), float(k), len(small), float(least - k)),
        Finding("matching-probability", f"l = {l:g}", not revealing, worst, 1 / l,
                len({block[0] for block in revealing}), 1 / l - worst),
        *_broken(release, groups, missing, fetch, rules, known)]
    return Verdict(all(one.holds for one in findings), tuple(findings), int(counts.sum()), len(sizes), 0,
                   unit=("bucket", "buckets"))


def _sums(keys: Sequence[Any], counts: Ints) -> dict[Any, int]:
    totals: dict[Any, int] = {}
    for key, count in zip(keys, counts.tolist(), strict=True):
        totals[key] = totals.get(key, 0) + count
    return totals


def _broken(release: Any, groups: Sequence[Sequence[str]], missing: Sequence[str], fetch: Fetch,
            rules: Rules, known: Sequence[int]) -> list[Finding]:
    """One finding for all rules whose columns stand in one group: no more records break them than did."""
    broken, most, seen = 0, 0, False
    before = list(known) or [0] * len(rules)
    for rule, already in zip(rules, before, strict=True):
        if not any(set(rule) <= set(group) for group in groups):
            continue
        counted, counts = counted_rows(release, list(rule), missing, fetch)
        wanted = tuple(rule.values())
        rows = [tuple(map(in_words, row)) for row in zip(*counted, strict=True)]
        hit = np.array([row == wanted for row in rows], dtype=bool)
        seen, broken, most = True, broken + int(counts[hit].sum()), most + already
    if not seen:
        return []
    return [Finding("rules", "no nonsensical combination is created", broken <= most, float(broken),
                    float(most), max(broken - most, 0), float(most - broken))]


def rows_of_groups(release: Any, groups: Sequence[Sequence[str]], missing: Sequence[str],
                   fetch: Fetch) -> list[dict[Any, int]]:
    """Per column group: how often each combination of its values stands in each bucket."""
    found = []
    for group in groups:
        counted, counts = counted_rows(release, [BUCKET, *group], missing, fetch)
        texts = [[None if value is None else in_words(value) for value in column] for column in counted]
        found.append(_sums(list(zip(*texts, strict=True)), counts))
    return found
