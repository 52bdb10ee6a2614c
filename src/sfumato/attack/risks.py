"""Singling out, linkability and inference, each beyond what the attack wins of people outside the release.

Giomi, M., Boenisch, F., Wehmeyer, C., Tasnádi, B. (2023). A unified framework for quantifying privacy risk in
synthetic data. PoPETs 2023(2), 312-328.

| paper | here |
| --- | --- |
| original data, control data | `people` of the release, `control`: others of the same population |
| synthetic data | a draw of the release in single values (`redrawn`) |
| N_A guesses; success rate τ | `trials`; `intervals.wilson` |
| R = (τ_main - τ_control) / (1 - τ_control) | `intervals.Risk.residual` |

1. Singling out: a predicate that just one released row satisfies is a success if just one person does.
2. Linkability: the known columns are parted in two, as if two parties held them; a success is a person for
   whom both halves lead to the same released row, among the k nearest of each.
3. Inference: the nearest released row by the known columns is taken to have the person's sensitive value.

Departures from the authors' program. Every attack is averaged over several draws of the release. Rows equally
near are drawn at random: coarse releases tie massively. Two missing numbers are no distance apart. Predicates
that were found are counted, not those that were asked for. A numeric guess is compared by its absolute value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.attack.intervals import Risk, risk
from sfumato.attack.predicates import singled_out
from sfumato.attack.redrawn import Scales, redraw, space_of
from sfumato.attack.view import Known, View
from sfumato.classes import Bools, Ints
from sfumato.hierarchy.core import Codes

TRIALS, DRAWS, NEIGHBOURS, TOLERANCE, WIDTH = 500, 10, 1, 0.05, 3


@dataclass(frozen=True)
class Settings:
    """How the attacks are made."""

    trials: int = TRIALS  # at most as many as there are people
    draws: int = DRAWS
    neighbours: int = NEIGHBOURS  # of linkability
    width: int = WIDTH  # columns of a predicate of singling out
    tolerance: float = TOLERANCE  # relative, for a sensitive number
    half: tuple[str, ...] = ()  # one party's columns of linkability; else every second known column


@dataclass(frozen=True)
class Ground:
    """One draw of a release beside the people who are attacked, in the same codes."""

    rows: Codes
    people: Codes
    control: Codes
    scales: Scales


def risks(view: View, people: Known, control: Known, settings: Settings, seed: int) -> tuple[Risk, ...]:
    """All three, each averaged over draws of the release."""
    rng = np.random.default_rng(seed)
    space = space_of(view, (people, control))
    own, other = space.coded(people), space.coded(control)
    n = min(settings.trials, len(own), len(other))
    won: dict[str, list[tuple[float, ...]]] = {"singling-out": [], "linkability": [], "inference": []}
    for _ in range(settings.draws):
        rows = redraw(view, people, space, rng)
        ground = Ground(rows, own, other, Scales.of(space, rows, own, other))
        won["singling-out"].append(singled_out(rows, own, other, ground.scales, n, settings.width, rng))
        chosen = rng.choice(len(own), n, replace=False), rng.choice(len(other), n, replace=False)
        won["linkability"].append(linked(ground, chosen, halves(space.names[:-1], settings.half),
                                         settings.neighbours, rng))
        won["inference"].append(inferred(ground, chosen, settings.tolerance, rng))
    return tuple(_averaged(name, each) for name, each in won.items() if any(one[3] for one in each))


def _averaged(name: str, won: Sequence[tuple[float, ...]]) -> Risk:
    """The mean successes of (main, control, baseline) among the mean trials."""
    main, control, baseline, trials = (float(np.mean(column)) for column in zip(*won, strict=True))
    n = max(round(trials), 1)
    return risk(name, main, n, (min(control, n), n), (baseline, n))


def halves(names: Sequence[str], half: Sequence[str]) -> tuple[Ints, Ints]:
    """The columns of the two parties."""
    first = [j for j, name in enumerate(names) if (name in half if half else j % 2 == 0)]
    second = [j for j in range(len(names)) if j not in first]
    return np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)


def linked(ground: Ground, chosen: tuple[Ints, Ints], parties: tuple[Ints, Ints], k: int,
           rng: np.random.Generator) -> tuple[float, ...]:
    """Successes of linkability: main, control, baseline, trials; none where a party has no column."""
    if not all(len(columns) for columns in parties):
        return 0.0, 0.0, 0.0, 0.0
    k = min(k, len(ground.rows))

    def hits(targets: Codes) -> float:
        both = [ground.scales.nearest(targets, ground.rows, columns, k, rng) for columns in parties]
        return float(meets(*both).sum())

    n = len(chosen[0])
    guesses = [np.stack([rng.choice(len(ground.rows), k, replace=False) for _ in range(n)]) for _ in range(2)]
    return (hits(ground.people[chosen[0]]), hits(ground.control[chosen[1]]), float(meets(*guesses).sum()),
            float(n))


def meets(left: Ints, right: Ints) -> Bools:
    """Whether two sets of rows have one in common, target by target."""
    return np.asarray((left[:, :, None] == right[:, None, :]).any(axis=(1, 2)))


def inferred(ground: Ground, chosen: tuple[Ints, Ints], tolerance: float,
             rng: np.random.Generator) -> tuple[float, ...]:
    """Successes of inference: main, control, baseline, trials."""
    secret = ground.rows.shape[1] - 1
    known = np.arange(secret)

    def right(targets: Codes, rows: Ints) -> float:
        guess = ground.rows[rows, secret]
        return float(ground.scales.same(guess, targets[:, secret], secret, tolerance).sum())

    def hits(targets: Codes) -> float:
        return right(targets, ground.scales.nearest(targets, ground.rows, known, 1, rng)[:, 0])

    people, n = ground.people[chosen[0]], len(chosen[0])
    baseline = right(people, rng.integers(len(ground.rows), size=n))
    return hits(people), hits(ground.control[chosen[1]]), baseline, float(n)
