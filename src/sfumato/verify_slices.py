"""The promise of a sliced release, checked again from its rows alone. Shares no code with the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sfumato.classes import Ints
from sfumato.criteria.base import TOLERANCE, Finding
from sfumato.verify import Fetch, Verdict, absences, counted_rows, in_words, is_absent

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
    rows = coded_rows(release, [BUCKET, *beside, sensitive], missing, fetch)
    sizes = np.bincount(rows.codes[0], weights=rows.counts)
    block = _numbered(rows.codes[:-1])
    shares = rows.counts / np.bincount(block, weights=rows.counts)[block]
    worst = float(shares.max())
    revealing = len(np.unique(rows.codes[0][shares * l > 1 + TOLERANCE]))
    small, least = int((sizes < k).sum()), float(sizes.min())
    findings = [
        Finding("bucket-size", f"k = {k}", not small, least, float(k), small, least - k),
        Finding("matching-probability", f"l = {l:g}", not revealing, worst, 1 / l, revealing, 1 / l - worst),
        *_broken(release, groups, missing, fetch, rules, known)]
    return Verdict(all(one.holds for one in findings), tuple(findings), int(rows.counts.sum()), len(sizes), 0,
                   unit=("bucket", "buckets"))


class Rows(NamedTuple):
    """Distinct rows of some columns: a code per cell, what the codes say, and how often each row occurs."""

    codes: list[Ints]
    texts: list[list[str | None]]
    counts: Ints


def coded_rows(release: Any, names: Sequence[str], missing: Sequence[str], fetch: Fetch) -> Rows:
    """Count the named columns in the engine; values are told apart as text, all missing ones are one."""
    aliases = {f"v{n}": release[name] for n, name in enumerate(names)}
    counted = fetch(release.select(**aliases).group_by(list(aliases)).aggregate(n=lambda t: t.count()))
    absent = absences(missing)
    codes, texts = [], []
    for alias in aliases:
        encoded = counted.column(alias).combine_chunks().dictionary_encode(null_encoding="encode")
        said = [None if is_absent(value, *absent) else in_words(value)
                for value in encoded.dictionary.to_pylist()]
        number = {text: n for n, text in enumerate(dict.fromkeys(said))}
        codes.append(np.array([number[text] for text in said], dtype=np.int64)[_whole(encoded.indices)])
        texts.append(list(number))
    return Rows(codes, texts, _whole(counted.column("n").combine_chunks()))


def _whole(array: Any) -> Ints:
    """The numbers of an Arrow array without nulls."""
    kind = np.dtype(str(array.type))
    return np.frombuffer(array.buffers()[1], kind)[array.offset: array.offset + len(array)].astype(np.int64)


def _numbered(columns: Sequence[Ints]) -> Ints:
    """One number per row, the same exactly where all columns agree."""
    number = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        both = number * (int(column.max(initial=0)) + 1) + column
        number = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return number


def _broken(release: Any, groups: Sequence[Sequence[str]], missing: Sequence[str], fetch: Fetch,
            rules: Rules, known: Sequence[int]) -> list[Finding]:
    """One finding for all rules whose columns stand in one group: no more records break any than did."""
    broken, most, more, seen = 0, 0, 0, False
    before = list(known) or [0] * len(rules)
    for rule, already in zip(rules, before, strict=True):
        if not any(set(rule) <= set(group) for group in groups):
            continue
        counted, counts = counted_rows(release, list(rule), missing, fetch)
        wanted = tuple(rule.values())
        rows = [tuple(map(in_words, row)) for row in zip(*counted, strict=True)]
        hit = np.array([row == wanted for row in rows], dtype=bool)
        now = int(counts[hit].sum())
        seen, broken, most, more = True, broken + now, most + already, more + max(now - already, 0)
    if not seen:
        return []
    return [Finding("rules", "no nonsensical combination is created", not more, float(broken), float(most),
                    more, -float(more) if more else float(most - broken))]


def same_rows(release: Any, group: Sequence[str], missing: Sequence[str], fetch: Fetch,
              expected: Sequence[Ints], texts: Sequence[Sequence[str | None]]) -> bool:
    """Whether the buckets hold just the expected values of a column group, each as often.

    `expected` has a row for every record: its bucket, and a position in `texts` for each column.
    """
    rows = coded_rows(release, [BUCKET, *group], missing, fetch)
    ours = []
    for codes, words, known in zip(rows.codes, rows.texts, texts, strict=True):
        first = {text: n for n, text in reversed(list(enumerate(known)))}
        ours.append(np.array([first.get(word, -1) for word in words], dtype=np.int64)[codes])
    if any((column < 0).any() for column in ours) or rows.counts.sum() != len(expected[0]):
        return False
    theirs = [np.array([first.get(text) for text in known], dtype=np.int64)[column] for column, known, first
              in ((c, t, {x: n for n, x in reversed(list(enumerate(t)))})
                  for c, t in zip(expected, texts, strict=True))]
    number = _numbered([np.concatenate(pair) for pair in zip(ours, theirs, strict=True)])
    split = len(rows.counts)
    counts = np.bincount(number[:split], weights=rows.counts, minlength=int(number.max()) + 1)
    return bool((counts == np.bincount(number[split:], minlength=len(counts))).all())
