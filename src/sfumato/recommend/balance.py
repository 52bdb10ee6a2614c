"""Where utility and privacy balance as k grows (Tandon & Jain 2010, section 4.5).

A method is run at every k on random samples of the table. Utility and privacy are two measures, turned
so that 1 is best; the balance is the k at which the mean utility falls below the mean privacy, by a
straight line between neighbouring k. Sampling error: the samples are drawn again with replacement
(percentile bootstrap), and mean curves and crossing are computed anew each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sfumato.classes import Floats
from sfumato.costs.measured import measure_all
from sfumato.criteria.base import Criterion
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.errors import InfeasibleError, RequestError
from sfumato.frequency import FrequencySet
from sfumato.measure import collect, sliced
from sfumato.measure.evidence import Evidence, Measure
from sfumato.measure.released import see
from sfumato.measure.risk.disclosure import Attacker
from sfumato.measure.utility import loss, stump
from sfumato.methods.base import Problem
from sfumato.methods.registry import METHODS, make
from sfumato.recoding import Regrouping
from sfumato.recommend.workers import shared
from sfumato.search import Clock, Progress, Watch
from sfumato.version import __version__

DRAWS = 2000  # of the bootstrap
LEVEL = 0.95
STUMP = "stump."


@dataclass(frozen=True)
class Job:
    """What is to be run: a table's frequency set, a promise without its k, a method, two measures."""

    frequency: FrequencySet
    criteria: tuple[Criterion, ...]
    weights: Floats
    suppression: float
    method: Mapping[str, Any]
    ks: tuple[int, ...]
    size: int  # records a sample
    samples: int
    utility: str
    privacy: str
    seed: int
    attacker: Attacker
    table: str = "a data frame"  # its name


@dataclass(frozen=True)
class Axis:
    """A measure, and how it reads as utility or privacy."""

    measure: Measure  # of one of the runs
    turned: bool  # 1 - share of the range, where lower is better (as utility) or more private (as privacy)

    def share(self, value: float) -> float:
        """Where a value stands between the worst (0) and the best (1)."""
        low, high = self.measure.low or 0.0, self.measure.high or 1.0
        place = (value - low) / (high - low)
        return 1 - place if self.turned else place


@dataclass(frozen=True)
class Outcome:
    """One run: the two shares, and the measures they came from; None where it was infeasible."""

    shares: tuple[float, float] | None
    axes: tuple[Axis, Axis] | None = None


@dataclass(frozen=True)
class Point:
    """Both curves at one k, with their intervals."""

    k: int
    utility: float
    utility_interval: tuple[float, float]
    privacy: float
    privacy_interval: tuple[float, float]


@dataclass(frozen=True)
class Crossing:
    """Where the mean curves cross, or come nearest to it."""

    crosses: bool
    between: tuple[int, int]  # neighbouring k; the same twice where the curves only come near
    k: float
    utility: float  # there; privacy is the same where they cross
    k_interval: tuple[float, float] | None  # over the draws that cross
    utility_interval: tuple[float, float] | None
    agreement: float  # share of the draws that cross, or do not, alike
    deviation: float | None = None  # of the k at which single samples cross: how far off one sample may be


@dataclass(frozen=True)
class Balance:
    """Two curves over k, and where they cross."""

    job: Job
    axes: tuple[Axis, Axis]
    points: tuple[Point, ...]
    crossing: Crossing
    infeasible: tuple[int, ...]  # k that not every sample could keep: left out

    @property
    def facts(self) -> dict[str, Any]:
        """All of it as plain values."""
        job = self.job
        read = {"utility": self.axes[0], "privacy": self.axes[1]}
        axes = {role: {"name": axis.measure.name, "title": axis.measure.title, "turned": axis.turned,
                       "definition": axis.measure.definition, "citation": axis.measure.citation}
                for role, axis in read.items()}
        return {"sfumato": __version__, "table": job.table, "records": job.frequency.n_records,
                "size": job.size, "samples": job.samples, "quasi": list(job.frequency.quasi),
                "method": dict(job.method),
                "criteria": [one.promise for one in job.criteria if not isinstance(one, KAnonymity)],
                "suppression": job.suppression, "seed": job.seed, **axes, "level": LEVEL,
                "points": [asdict(point) for point in self.points], "balance": asdict(self.crossing),
                "infeasible": list(self.infeasible)}

    @property
    def report(self) -> str:
        """The report as one HTML page."""
        from sfumato.report import balance, render

        return render.in_form_of("html", balance.summarize(self.facts))

    def __str__(self) -> str:
        from sfumato.report.balance import sentence

        return sentence(self.facts)

    __repr__ = __str__


def run(job: Job, *, jobs: int = 1, watch: Watch | None = None) -> Balance:
    """Every sample at every k; the same answer however many processes share the work."""
    tasks = [(sample, k) for sample in range(job.samples) for k in job.ks]
    shares = np.full((job.samples, len(job.ks), 2), np.nan)
    axes, place = None, {k: n for n, k in enumerate(job.ks)}
    for done, ((sample, k), outcome) in enumerate(_worked(job, tasks, jobs), start=1):
        if outcome.shares is not None:
            shares[sample, place[k]] = outcome.shares
            axes = axes or outcome.axes
        if watch:
            watch(Progress(done, len(tasks) - done, np.inf, -np.inf))
    feasible = ~np.isnan(shares).any(axis=(0, 2))
    if axes is None or not feasible.any():
        raise InfeasibleError(
            f"No k from {job.ks[0]} to {job.ks[-1]} can be kept by every sample of {job.size:,} records.",
            "Ask for a smaller k or larger samples, or allow more suppression.")
    ks = np.array(job.ks)
    return Balance(job, axes, *judged(ks[feasible], shares[:, feasible], job.seed),
                   tuple(ks[~feasible].tolist()))


def _worked(job: Job, tasks: Sequence[tuple[int, int]],
            jobs: int) -> Iterator[tuple[tuple[int, ...], Outcome]]:
    """The outcomes as they come in: the first ones here, so that a wrong request is told of at once."""
    left = list(tasks)
    while left:
        task = left.pop(0)
        outcome = at(job, *task)
        yield task, outcome
        if outcome.shares is not None and jobs > 1:
            yield from shared(at, job, left, jobs)
            return


def at(job: Job, sample: int, k: int) -> Outcome:
    """One sample, released at one k and measured."""
    drawing, searching, measuring = (np.random.default_rng(one) for one in
                                     np.random.SeedSequence([job.seed, sample]).spawn(3))
    frequency = job.frequency
    if job.size < frequency.n_records:
        frequency = frequency.sample(job.size, drawing)
    method, criteria = promised(job, k)
    problem = Problem(frequency, criteria, job.suppression, job.weights, Clock())
    try:
        recoding = make(method).solve(problem, searching)
    except InfeasibleError:
        return Outcome(None)
    found = measures(job, frequency, recoding, measuring)
    axes = (as_utility(job.utility, found), as_privacy(job.privacy, found))
    values = [axis.measure.value for axis in axes]
    if values[0] is None or values[1] is None:
        return Outcome(None)
    return Outcome((axes[0].share(values[0]), axes[1].share(values[1])), axes)


def promised(job: Job, k: int) -> tuple[dict[str, Any], tuple[Criterion, ...]]:
    """The method and the criteria at one k: of the method where it makes its own promise."""
    method = dict(job.method)
    known = METHODS[method["name"]]
    if known.kind == "classes":
        return method, (KAnonymity(k=k), *(one for one in job.criteria if not isinstance(one, KAnonymity)))
    if "k" not in known.model_fields:
        raise RequestError(f"The method {method['name']} promises no k, so there is nothing to vary.",
                           "Choose another method.")
    return {**method, "k": k}, ()


def measures(job: Job, frequency: FrequencySet, recoding: Any,
             rng: np.random.Generator) -> dict[str, tuple[str, Measure]]:
    """Name to family (risk or utility) and measure: all of the evidence only where it is asked for."""
    if not isinstance(recoding, Regrouping):
        return _of(sliced.collect(frequency, recoding, least=1, rng=rng))
    counted, real = recoding.of(frequency), replace(recoding, added=None).shown(frequency)
    targets = {name.removeprefix(STUMP) for name in (job.utility, job.privacy) if name.startswith(STUMP)}
    known = [name for name in (*frequency.quasi, *frequency.sensitive) if name in targets]
    quick = (*loss.losses(counted, recoding),
             *stump.stumps(frequency, real, see(recoding.shown(frequency), recoding), known))
    found = {one.name: ("utility", one) for one in quick}
    if {job.utility, job.privacy} <= set(found):
        return found
    costs = measure_all(frequency, recoding, job.weights)
    return found | _of(collect.collect(frequency, recoding, costs=costs, least=1, rng=rng,
                                       attacker=job.attacker))


def _of(evidence: Evidence) -> dict[str, tuple[str, Measure]]:
    families = (("risk", (*evidence.risk, *evidence.attacks)), ("utility", evidence.utility))
    return {one.name: (family, one) for family, every in families for one in every}


def as_utility(name: str, found: Mapping[str, tuple[str, Measure]]) -> Axis:
    """A measure of utility, better upward."""
    measure = named(name, {one: pair for one, pair in found.items() if pair[0] == "utility"}, "utility")[1]
    return Axis(measure, measure.better == "lower")


def as_privacy(name: str, found: Mapping[str, tuple[str, Measure]]) -> Axis:
    """A measure of risk, safer upward; or one of utility, taken for what it hides."""
    family, measure = named(name, found, "privacy")
    return Axis(measure, (measure.better == "lower") == (family == "risk"))


def named(name: str, found: Mapping[str, tuple[str, Measure]], what: str) -> tuple[str, Measure]:
    """The measure of that name, which must have a range to be drawn against."""
    if name in found and found[name][1].low is not None and found[name][1].high is not None:
        return found[name]
    usable = sorted(one for one, (_, measure) in found.items()
                    if measure.low is not None and measure.high is not None)
    why = "has no upper end, so it is no share of anything" if name in found else "is not known here"
    raise RequestError(f"The measure {name!r} {why}. As {what} it can be: {', '.join(usable)}, or "
                       f"{STUMP}COLUMN with a quasi-identifying or sensitive column.", "Name one of them.")


def judged(ks: np.ndarray[tuple[int], np.dtype[Any]], shares: Floats,
           seed: int) -> tuple[tuple[Point, ...], Crossing]:
    """The mean curves and their crossing, each with its interval; shares are [samples, k, 2]."""
    rng = np.random.default_rng([seed, len(shares)])
    drawn = rng.integers(len(shares), size=(DRAWS, len(shares)))
    means = shares[drawn].mean(axis=1)  # [draws, k, 2]
    tails = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    mean = shares.mean(axis=0)
    points = tuple(Point(int(k), float(mean[n, 0]), (float(tails[0, n, 0]), float(tails[1, n, 0])),
                         float(mean[n, 1]), (float(tails[0, n, 1]), float(tails[1, n, 1])))
                   for n, k in enumerate(ks))
    at_mean = crossing(ks, mean)
    redrawn = [crossing(ks, one) for one in means]
    hits = np.array([(one[1], one[2]) for one in redrawn if one is not None]).reshape(-1, 2)
    share = len(hits) / DRAWS
    alone = [found[1] for one in shares if (found := crossing(ks, one)) is not None]
    deviation = float(np.std(alone, ddof=1)) if len(alone) > 1 else None
    if at_mean is None:
        near = int(np.argmin(np.abs(mean[:, 0] - mean[:, 1])))
        return points, Crossing(False, (int(ks[near]),) * 2, float(ks[near]), float(mean[near, 0]), None,
                                None, 1 - share, deviation)
    ends = np.quantile(hits, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return points, Crossing(True, at_mean[0], at_mean[1], at_mean[2], (float(ends[0, 0]), float(ends[1, 0])),
                            (float(ends[0, 1]), float(ends[1, 1])), share, deviation)


def crossing(ks: np.ndarray[tuple[int], np.dtype[Any]],
             curves: Floats) -> tuple[tuple[int, int], float, float] | None:
    """Where utility first falls below privacy: between which k, at which, and how high.

    >>> crossing(np.array([2, 4, 8]), np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.5]]))
    ((4, 8), 6.0, 0.45)
    """
    gap = curves[:, 0] - curves[:, 1]
    below = np.flatnonzero((gap[:-1] >= 0) & (gap[1:] < 0))
    if not len(below):
        return None
    n = int(below[0])
    part = gap[n] / (gap[n] - gap[n + 1])
    low, high = int(ks[n]), int(ks[n + 1])
    utility = curves[n, 0] + part * (curves[n + 1, 0] - curves[n, 0])
    return (low, high), round(float(low + part * (high - low)), 9), round(float(utility), 9)
