"""The adaptable model: which fraction x of k is worth it, computed from the pairs' sizes alone.

Strict k-anonymity suppresses every pair of fewer than k records. xk-anonymity keeps the pairs that have
at least xk records and fills them up to k with false ones. Each level xk trades suppressed records for
added ones; here all levels are counted, ranked and compared, and nothing is changed.

Brown, E. E. (2019). Adaptable privacy-preserving model. Doctoral dissertation, Nova Southeastern
University. Figure 1 (what is asked), Figure 2 (the steps), Equations 1 and 2.

| dissertation | here |
| --- | --- |
| quasi-identifier pair, QP# | a tuple of the frequency set, `PairSet.sizes` |
| l#, d | `PairSet.distinct`, `diversity` |
| Q#, Quasi-identifier# | `n_quasi` |
| xk, fraction | `Approach.xk`, `Approach.label` |
| krecords, xkrecords | the two parts of `original` |
| addrecords, suppressrecords | `added`, `suppressed` |
| lpv, dv | in `costs.precision.precision_range` |
| dl | in `costs.precision.maximum_loss` |

Figure 2, for every level:

1. `levels`: xk loops from 1 (from d where a sensitive column must be diverse and its cells are not to be
   suppressed) until xk = k.
2. `count`: a pair with l# < d is suppressed; else one with QP# >= k is kept; else one with QP# >= xk is
   kept and filled up to k; else it is suppressed.
3. `count`: original = krecords + xkrecords, total = original + added, difference = |added - suppressed|,
   precision = original / total.
4. `rank`, `scores`: each level is ranked by original records, precision and difference; its score is the
   sum of the three ranks, the preferred one counted twice. The highest wins.
5. `ranking`: ties fall to the larger (preference + difference) rank, then the larger preference rank;
   without a preference to the larger difference rank; then to the higher fraction.

Then `elect`: the first of the ranking that meets the minimum precision, with the next one beside it
where plain k wins; Equation 1 (`precision_range`) and Equation 2 (`maximum_loss`).

Readings (the text is silent or its own numbers decide): m levels are ranked m (best) to 1, tied values
share the lower rank; the minimum precision is compared with the level's precision, not with the
range; Equation 1's lower end is rounded to nearest; dv is 1 unless sensitive cells are suppressed.

Departures: k, the quasi-identifiers and the sensitive columns are not limited in number; a pair must be
diverse in every sensitive column, xk starts at the largest d, and dv is the sum of all d, because each
column gives up its own cells. A level that would release no record is ranked but never elected. The
range ends at 0. Beside the published range and loss stand a range and a loss that hold for certain
(`costs.precision.proven_range`, `proven_loss`).

Cost: one pass over the pairs, then O(k).

The dissertation's 30,000 records with two quasi-identifiers (Table 15, Figure 4):

>>> pairs = PairSet(np.repeat([1, 2, 3, 4, 29943], [11, 9, 4, 4, 1]))
>>> found = recommend(pairs, k=5, n_quasi=2)
>>> [approach.label for approach in found.approaches]
['1/2k', '1/3k', '3/4k', 'k', '1/4k']
>>> found.recommended, found.precision_range, found.maximum_loss
((3,), (99, 100), 1)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.costs.precision import Bounds, maximum_loss, precision_range, proven_loss, proven_range
from sfumato.errors import InfeasibleError, RequestError
from sfumato.frequency import FrequencySet

Preference = Literal["precision", "original"]
Flag = Literal["nothing to repair", "only plain k remains", "alternative below minimum",
               "plain k releases nothing", "range contradicts itself"]
CLASSIC = {1: "1/4k", 2: "1/3k", 3: "1/2k", 4: "3/4k"}  # the names of xk at k = 5


@dataclass(frozen=True)
class PairSet:
    """The quasi-identifier pairs, reduced to what a recommendation needs."""

    sizes: Ints  # per pair: QP#, its records
    distinct: Mapping[str, Ints] = field(default_factory=dict)  # per sensitive column and pair: l#
    n_values: Mapping[str, int] = field(default_factory=dict)  # per sensitive column: its values in the table

    @property
    def n_records(self) -> int:
        """Records of the table."""
        return int(self.sizes.sum())


@dataclass(frozen=True)
class Ranks:
    """A level's rank in each of the three comparisons: 1 is worst."""

    precision: int
    original: int
    difference: int


@dataclass(frozen=True)
class Approach:
    """One level xk: what it would do, how it ranks, and what may be expected of it."""

    xk: int
    label: str
    suppressed: int
    added: int
    original: int
    total: int
    precision: float  # percent
    difference: int
    ranks: Ranks
    score: int
    precision_range: tuple[int, int]  # Equation 1
    maximum_loss: int  # Equation 2
    proven_range: tuple[float, float]
    proven_loss: float


@dataclass(frozen=True)
class Recommendation:
    """All levels, best first, and the one to take (with an alternative beside plain k)."""

    approaches: tuple[Approach, ...]
    recommended: tuple[int, ...]  # one or two xk
    why: str
    flags: tuple[Flag, ...]

    @property
    def best(self) -> Approach:
        """The first recommended approach."""
        return next(approach for approach in self.approaches if approach.xk == self.recommended[0])

    @property
    def precision_range(self) -> tuple[int, int]:
        """The published range of the best approach, in percent (Equation 1)."""
        return self.best.precision_range

    @property
    def maximum_loss(self) -> int:
        """The published greatest loss of the best approach, in percent (Equation 2)."""
        return self.best.maximum_loss

    def as_dict(self) -> dict[str, Any]:
        """As the command line prints it in JSON."""
        return {"approaches": [asdict(approach) for approach in self.approaches],
                "recommended": list(self.recommended), "precision_range": list(self.precision_range),
                "maximum_loss": self.maximum_loss, "why": self.why, "flags": list(self.flags)}


@dataclass(frozen=True)
class Counts:
    """Step 3 for all levels at once, one entry a level."""

    xk: Ints
    suppressed: Ints
    added: Ints
    original: Ints
    total: Ints
    precision: Floats
    difference: Ints


def pairs_of(frequency: FrequencySet) -> PairSet:
    """The pairs of a frequency set; a missing sensitive value is a value of its own."""
    distinct = {name: np.bincount(histogram.classes, minlength=frequency.n_tuples).astype(np.int64)
                for name, histogram in frequency.sensitive.items()}
    n_values = {name: int(np.count_nonzero(h.whole)) for name, h in frequency.sensitive.items()}
    return PairSet(frequency.counts, distinct, n_values)


def recommend(pairs: PairSet, k: int, n_quasi: int, diversity: Mapping[str, int] | None = None,
              sensitive_suppression: bool = False, prefer: Preference | None = None,
              min_precision: float | None = None, columns: int | None = None,
              elected: int | None = None) -> Recommendation:
    """Figure 2: the approaches, best first.

    `columns` of the whole file and the number of quasi-identifiers `elected` for modification sharpen
    the proven range; without them the least favourable numbers are taken.
    """
    asked = dict(diversity or {})
    require_sound(pairs, k, n_quasi, asked, prefer, min_precision)
    counts = count(pairs, k, levels(k, asked, sensitive_suppression), {} if sensitive_suppression else asked)
    ranks = {"precision": rank(counts.precision), "original": rank(counts.original),
             "difference": rank(-counts.difference)}
    score = scores(ranks, prefer)
    dv = sum(asked.values()) if sensitive_suppression and asked else 1
    bounds = Bounds(k, columns or n_quasi + len(asked), elected or n_quasi,
                    len(asked) if sensitive_suppression else 0)
    ranked = [approach(counts, ranks, score, level, n_quasi, dv, bounds)
              for level in ranking(counts.xk, ranks, score, prefer)]
    chosen, flags = elect(ranked, k, min_precision)
    return Recommendation(tuple(ranked), tuple(a.xk for a in chosen),
                          explain(ranked, chosen, flags, prefer, min_precision), flags)


def levels(k: int, diversity: Mapping[str, int], sensitive_suppression: bool) -> Ints:
    """Step 1: xk = 1, or xk = d, loops until xk = k."""
    start = 1 if sensitive_suppression else max([1, *diversity.values()])
    return np.arange(start, k + 1)


def diverse(pairs: PairSet, diversity: Mapping[str, int]) -> Bools:
    """Step 2, its first question: which pairs have l# >= d in every sensitive column."""
    passing = np.ones(len(pairs.sizes), dtype=bool)
    for column, d in diversity.items():
        passing &= pairs.distinct[column] >= d
    return passing


def count(pairs: PairSet, k: int, xk: Ints, diversity: Mapping[str, int]) -> Counts:
    """Steps 2 and 3, for all levels at once: the pairs of each size below k say it all."""
    passing = pairs.sizes[diverse(pairs, diversity)] if diversity else pairs.sizes
    size = np.arange(k + 1)
    of_size = np.bincount(np.minimum(passing, k), minlength=k + 1)
    of_size[k] = 0
    krecords = int(passing.sum()) - int((size * of_size).sum())
    xkrecords = _from(size * of_size)[xk]
    addrecords = _from((k - size) * of_size)[xk]
    original = krecords + xkrecords
    suppressrecords = pairs.n_records - original
    total = original + addrecords
    precision = np.where(total > 0, 100 * original / np.maximum(total, 1), 100.0)
    return Counts(xk, suppressrecords, addrecords, original, total, precision,
                  np.abs(addrecords - suppressrecords))


def _from(values: Ints) -> Ints:
    """The sum of all values from each position on."""
    return np.cumsum(values[::-1])[::-1]


def rank(goodness: Floats | Ints) -> Ints:
    """Step 4: one more than the number of strictly worse levels, so tied levels share the lower rank."""
    return 1 + np.searchsorted(np.sort(goodness), goodness, side="left")


def scores(ranks: Mapping[str, Ints], prefer: Preference | None) -> Ints:
    """Step 4: the sum of the ranks, the preferred one counted twice."""
    total: Ints = np.sum(list(ranks.values()), axis=0)
    return total + ranks[prefer] if prefer else total


def ranking(xk: Ints, ranks: Mapping[str, Ints], score: Ints, prefer: Preference | None) -> list[int]:
    """Step 5: the positions of the levels, best first."""
    ties = [ranks[prefer] + ranks["difference"], ranks[prefer]] if prefer else [ranks["difference"]]
    return [int(level) for level in np.lexsort([xk, *reversed(ties), score])[::-1]]


def approach(counts: Counts, ranks: Mapping[str, Ints], score: Ints, level: int, n_quasi: int, dv: int,
             bounds: Bounds) -> Approach:
    """One level's numbers together."""
    xk, suppressed, added, original = (int(values[level]) for values in
                                       (counts.xk, counts.suppressed, counts.added, counts.original))
    return Approach(xk, label(xk, bounds.k), suppressed, added, original, original + added,
                    float(counts.precision[level]), int(counts.difference[level]),
                    Ranks(**{name: int(values[level]) for name, values in ranks.items()}), int(score[level]),
                    precision_range(suppressed, added, original, n_quasi, dv),
                    maximum_loss(suppressed, original + suppressed),
                    proven_range(xk, suppressed, added, original, bounds),
                    proven_loss(suppressed, original, bounds))


def label(xk: int, k: int) -> str:
    """How the dissertation writes a level at k = 5; any other level is xk/k."""
    if xk == k:
        return "k"
    return CLASSIC[xk] if k == 5 else f"{xk}/{k}"


def level_of(fraction: float, k: int) -> int:
    """The records that a fraction of k stands for: rounded to nearest, halves up (Experiment 3)."""
    return math.floor(fraction * k + 0.5)


def elect(ranked: Sequence[Approach], k: int,
          min_precision: float | None) -> tuple[list[Approach], tuple[Flag, ...]]:
    """The first level that meets the minimum precision; the next one beside it where that is plain k."""
    releasing = [a for a in ranked if a.original]
    meeting = [a for a in releasing if a.precision >= (min_precision or 0)]
    if not meeting:
        raise nothing_left(releasing, min_precision)
    best, plain = meeting[0], next(a for a in ranked if a.xk == k)
    flags: list[Flag] = [] if plain.original else ["plain k releases nothing"]
    if best.precision_range[0] > best.precision_range[1]:
        flags.append("range contradicts itself")
    if best is not plain:
        return [best], tuple(flags)
    if len(ranked) > 1 and len({(a.suppressed, a.added) for a in ranked}) == 1:
        return [best], (*flags, "nothing to repair")
    others = meeting[1:] or [a for a in releasing if a is not plain]
    if len(meeting) == 1:
        flags.append("only plain k remains")
        flags.extend(["alternative below minimum"] if others else [])
    return [best, *others[:1]], tuple(flags)


def require_sound(pairs: PairSet, k: int, n_quasi: int, diversity: Mapping[str, int],
                  prefer: str | None, min_precision: float | None) -> None:
    """Refuse a request that no table, or not this one, can answer."""
    if n_quasi < 1:
        raise RequestError("No quasi-identifier is given, and pairs are made of at least one.",
                           "Name the columns that could narrow down who a record is.")
    if not 2 <= k <= pairs.n_records:
        raise RequestError(f"k is {k}; it must be at least 2 and at most the table's "
                           f"{pairs.n_records:,} records.", "Choose such a k, for example 5.")
    if prefer not in (None, "precision", "original"):
        raise RequestError(f"The preference is {prefer!r}; it is 'precision', 'original' or none.",
                           "Choose one of them or leave it out.")
    if min_precision is not None and not 0 <= min_precision <= 100:
        raise RequestError(f"The minimum precision is {min_precision:g}; it is a percentage from 0 to 100, "
                           "and no level has more than 100.", "Lower it.")
    for column, d in diversity.items():
        _require_diversity(pairs, k, column, d)


def _require_diversity(pairs: PairSet, k: int, column: str, d: int) -> None:
    if column not in pairs.distinct:
        known = ", ".join(map(repr, pairs.distinct)) or "none"
        raise RequestError(f"A diversity is asked of {column!r}, which is not among the sensitive columns: "
                           f"{known}.", "Give the column the sensitive role.")
    n_values = pairs.n_values.get(column, d)
    if not 1 <= d <= n_values:
        raise RequestError(f"The diversity of {column!r} is {d}; it must be at least 1 and at most the "
                           f"column's {n_values:,} different values.", "Choose such a diversity.")
    if d > k:
        raise RequestError(f"The diversity of {column!r} is {d}; it can be at most k, which is {k}, as k "
                           "records have no more than k values.", "Lower the diversity or raise k.")


def nothing_left(releasing: Sequence[Approach], min_precision: float | None) -> InfeasibleError:
    """No level may be recommended: say how close one comes."""
    if not releasing:
        return InfeasibleError(
            "No pair of quasi-identifier values is diverse enough: every level would suppress every record.",
            "Lower the diversity, suppress sensitive cells only, or use fewer quasi-identifiers.")
    nearest = max(releasing, key=lambda a: a.precision)
    return InfeasibleError(
        f"No level that releases records has a precision of {min_precision:g}% or more. The closest is "
        f"{nearest.label} with {nearest.precision:.2f}%; plain k would release nothing.",
        "Lower the minimum precision or use fewer quasi-identifiers.")


def explain(ranked: Sequence[Approach], chosen: Sequence[Approach], flags: Sequence[Flag],
            prefer: Preference | None, min_precision: float | None) -> str:
    """Why the first recommended approach won."""
    best = chosen[0]
    if "nothing to repair" in flags:
        return "No level adds records or suppresses fewer than another: plain k is enough."
    if len(ranked) == 1:
        return "Plain k is the only level: below it no pair has as many records as it must have values."
    place = ranked.index(best)
    passed = ", ".join(a.label for a in ranked[:place])
    counted = f", {prefer} counted twice" if prefer else ""
    field = " of those that remain" if passed else ""
    told = [f"{best.label} has the highest score{field}: {best.score} from the ranks precision "
            f"{best.ranks.precision}, original {best.ranks.original} and difference "
            f"{best.ranks.difference}{counted}."]
    tied = ", ".join(a.label for a in ranked[place + 1:] if a.score == best.score)
    if tied:
        first = f"{prefer} and difference ranks together, then the {prefer}" if prefer else "difference"
        told.append(f"As high: {tied}; the better {first} rank decides, then the higher fraction.")
    if passed:
        lacking = "no record" if min_precision is None else f"no records at a precision of {min_precision:g}%"
        told.append(f"{passed} would rank higher, but can release {lacking}.")
    if len(chosen) > 1:
        other = chosen[1]
        told.append(f"The next best to compare plain k with is {other.label}" + (
            f", though its precision of {other.precision:.2f}% is below the minimum."
            if "alternative below minimum" in flags else
            ", which comes to the same." if other.original == best.original else "."))
    return " ".join(told)
