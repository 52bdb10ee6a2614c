"""The composition attack: what two releases say of a person together, where each alone says too little.

Ganta, S., Kasiviswanathan, S., Smith, A. (2008). Composition attacks and auxiliary information in data
privacy. KDD, 265-273.

| paper | here |
| --- | --- |
| releases R_1 … R_r | the views |
| target's class in R_j, its sensitive values | the values s with p_j(t, s) > 0 |
| intersection of these | `candidates` |
| exact breach | one candidate is left, which is the person's own value |

1. In every release: p_j(t, s) of each person, under the release's own model (`matching`). A release that no
   record of which can be the person's says nothing: every value stays possible.
2. Intersect the values that are possible.
3. Weigh what is left: proportional to the product of the p_j(t, s), divided by the values' overall share as
   often as there are releases beyond the first (independence given the value; our completion).

A person of whom the releases contradict each other (nothing is left) counts as told nothing, and is counted
apart. Where the people's own values are known, they score what was told, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.attack.intervals import Share, wilson
from sfumato.attack.matching import match
from sfumato.attack.view import Known, View
from sfumato.classes import Bools, Floats, Ints
from sfumato.hierarchy.core import Label

DEFINITIONS = {
    "found": "Per release: people whose record some released record could be.",
    "found_in_all": "People found in every release; all shares below are of these.",
    "values": "Sensitive values that all releases leave possible, on average; `values_alone`: by each.",
    "certain": "People of whom one value is left; `certain_alone`: of these, told by a release by itself.",
    "likelier": "People who have a value with a probability above `bound` = 1/l: the product of what the "
                "releases say, divided by the value's overall share.",
    "contradicted": "People of whom the releases have no value in common: sampling, noise or swapping.",
    "exact": "Certain, and the person's own value; `wrong`: certain, and another.",
    "own_value": "The mean probability that is given to a person's own value.",
    "guessed": "How often the likeliest value is the person's own, ties being drawn.",
    "drr_certain": "Disclosure risk ratio in per cent, first reading: people told exactly their own value, "
                   "of those found in all releases.",
    "drr_matches": "Disclosure risk ratio in per cent, second reading: true matches of a person and a "
                   "possible value, of all such matches.",
}
AT_ONCE = 4_000_000  # cells of (person, value) held at a time
SLACK = 1e-9


@dataclass(frozen=True)
class Told:
    """What releases say of each person."""

    found: Bools  # [releases, people]: could some record be the person's?
    alone: Ints  # [releases, people]: possible values, of one release
    together: Ints  # [people]: possible values, of all releases; 0 where they contradict each other
    highest: Floats  # [people]: the probability of the likeliest value
    highest_alone: Floats  # [releases, people]
    right: Floats | None  # [people]: the probability of the person's own value
    guessed: Floats | None  # [people]: the chance that the likeliest value, ties drawn, is the person's own
    kept: Bools | None  # [people]: is the own value among the possible ones?


def tell(views: Sequence[View], known: Known) -> Told:
    """Steps 1 to 3 for every person, so many at a time."""
    labels = tuple(dict.fromkeys(label for one in views for label in one.sensitive_labels))
    prior = sum(_over(labels, one.sensitive_labels, one.prior[None, :].astype(float)) for one in views)
    share = np.asarray(prior / np.sum(prior))[0]
    step = max(1, AT_ONCE // max(len(labels), 1))
    truth = None if known.truth is None else _coded(known.truth, labels)
    parts = [_tell(views, known.some(slice(at, at + step)), labels, share,
                   None if truth is None else truth[at:at + step]) for at in range(0, len(known), step)]
    return parts[0] if len(parts) == 1 else _joined(parts)


def _tell(views: Sequence[View], known: Known, labels: tuple[Label, ...], share: Floats,
          truth: Ints | None) -> Told:
    weight, possible = np.ones((len(known), len(labels))), np.ones((len(known), len(labels)), dtype=bool)
    found, alone, highest_alone = [], [], []
    for one in views:
        matches = match(one, known)
        p = _over(labels, one.sensitive_labels, matches.p)
        seen = matches.total > 0
        p[~seen] = share
        found.append(seen)
        alone.append((p > 0).sum(axis=1))
        highest_alone.append(p.max(axis=1))
        possible &= p > 0
        weight *= p
    np.divide(weight, share ** (len(views) - 1), out=weight, where=possible)
    weight[~possible] = 0.0
    total = weight.sum(axis=1, keepdims=True)
    posterior = np.divide(weight, total, out=np.tile(share, (len(known), 1)), where=total > 0)
    highest = posterior.max(axis=1)
    right = guessed = kept = None
    if truth is not None:
        at, inside = np.arange(len(known)), truth >= 0
        right = np.where(inside, posterior[at, truth], 0.0)
        best = posterior >= highest[:, None] - SLACK
        guessed = np.where(inside & best[at, truth], 1 / best.sum(axis=1), 0.0)
        kept = inside & possible[at, truth]
    return Told(np.array(found), np.array(alone), possible.sum(axis=1), highest, np.array(highest_alone),
                right, guessed, kept)


def _over(labels: tuple[Label, ...], own: Sequence[Label], values: Floats) -> Floats:
    """Columns of one release's sensitive values, put in the place of all releases' values."""
    number = {label: n for n, label in enumerate(labels)}
    spread = np.zeros((len(values), len(labels)))
    spread[:, [number[label] for label in own]] = values
    return spread


def _coded(texts: Sequence[Label], labels: tuple[Label, ...]) -> Ints:
    number = {label: n for n, label in enumerate(labels)}
    return np.array([number.get(text, -1) for text in texts], dtype=np.int64)


def _joined(parts: Sequence[Told]) -> Told:
    """The same of all people."""
    def end_to_end(name: str) -> npt.NDArray[np.generic] | None:
        arrays = [getattr(part, name) for part in parts]
        return None if arrays[0] is None else np.concatenate(arrays, axis=-1)

    return Told(**{name: end_to_end(name) for name in Told.__dataclass_fields__})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Composition:
    """The attack's outcome over all people that are known."""

    releases: tuple[str, ...]
    people: int
    found: tuple[int, ...]  # per release: people of whom some record could be
    found_in_all: int
    values: float  # possible values of a person, on average over those found in all releases
    values_alone: tuple[float, ...]  # the same of each release alone
    certain: int  # people with one possible value
    certain_alone: int  # of these: told by a release alone
    contradicted: int  # people of whom the releases contradict each other
    bound: float | None  # 1/l
    likelier: int | None  # people with a value likelier than the bound
    likelier_alone: int | None  # of these: likelier by a release alone
    rate_certain: Share  # of the people found in all releases
    rate_likelier: Share | None
    exact: int | None  # certain and right
    wrong: int | None  # certain and wrong
    own_value: float | None  # the mean probability of people's own values
    guessed: float | None  # how often the likeliest value is a person's own
    drr_certain: float | None  # per cent; the two readings of the disclosure risk ratio
    drr_matches: float | None

    @property
    def holds(self) -> bool:
        """Nobody's value is certain, nor likelier than the bound."""
        return not self.certain and not self.likelier


def attack(views: Sequence[View], known: Known, l: float | None) -> Composition:  # noqa: E741
    """What all people are told, in numbers."""
    told = tell(views, known)
    every = told.found.all(axis=0)
    n = int(every.sum())
    certain = every & (told.together == 1)
    alone = (told.alone == 1).any(axis=0)
    bound = None if l is None else 1 / l
    over = None if bound is None else every & (told.highest > bound + SLACK) & (told.together > 0)
    over_alone = None if bound is None else (told.highest_alone > bound + SLACK).any(axis=0)
    kept, possible = told.kept, int(told.together[every].sum())
    exact = None if kept is None else int((certain & kept).sum())
    return Composition(
        tuple(one.name for one in views), len(known), tuple(told.found.sum(axis=1).tolist()), n,
        _mean(told.together[every]), tuple(_mean(one[every]) for one in told.alone), int(certain.sum()),
        int((certain & alone).sum()), int((every & (told.together == 0)).sum()), bound,
        None if over is None else int(over.sum()),
        None if over is None or over_alone is None else int((over & over_alone).sum()),
        wilson(int(certain.sum()), n), None if over is None else wilson(int(over.sum()), n), exact,
        None if exact is None else int(certain.sum()) - exact,
        None if told.right is None else _mean(told.right[every]),
        None if told.guessed is None else _mean(told.guessed[every]),
        None if exact is None else 100 * exact / max(n, 1),
        None if kept is None else 100 * int((kept & every).sum()) / max(possible, 1))


def _mean(values: Ints | Floats) -> float:
    return float(np.mean(values)) if len(values) else 0.0
