"""All the evidence about one release, from the frequency set and the recoding alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sfumato.frequency import FrequencySet
from sfumato.measure.evidence import Evidence, Measure
from sfumato.measure.released import see
from sfumato.measure.risk import columns, disclosure, profile
from sfumato.measure.risk.disclosure import Attacker
from sfumato.measure.utility import correlation, distribution, loss, queries, stump
from sfumato.measure.utility.costs import cost
from sfumato.measure.utility.patterns import lost, patterns
from sfumato.prepare import sensitive_trees
from sfumato.recipe import Recipe
from sfumato.recoding import Regrouping
from sfumato.research.said import Research

DEFINITIONS = {**profile.DEFINITIONS, **columns.DEFINITIONS, **loss.DEFINITIONS, **distribution.DEFINITIONS}


def collect(frequency: FrequencySet, regrouping: Regrouping, *, costs: Mapping[str, float], least: int,
            rng: np.random.Generator, research: Research | None = None,
            attacker: Attacker | None = None) -> Evidence:
    """Measure risk and utility; no value that fewer than `least` records of the table have is shown."""
    counted, seen = regrouping.of(frequency), regrouping.shown(frequency)
    real = replace(regrouping, added=None).shown(frequency)
    released = see(seen, regrouping)
    before = profile.profile(frequency.counts, suppressed=0)
    after = profile.profile(released.sizes, released.suppressed)
    correlations = correlation.correlate(counted, released, seen)
    found = None
    if research is not None and research.target is not None:
        found = patterns(frequency, regrouping, research.target, research.predictors, few=least)
    return Evidence(
        risk_before=before,
        risk_after=after,
        risk=(*profile.attackers(before, after), *columns.separations(frequency, released),
              shown(counted, regrouping)),
        utility=(*loss.losses(counted, regrouping), loss.distortion(counted, regrouping),
                 *(cost(name, score) for name, score in costs.items()),
                 correlation.change(correlations),
                 *stump.stumps(frequency, real, released, frequency.sensitive),
                 *queries.errors(counted, regrouping, rng, seen),
                 *([lost(found)] if found else ())),
        columns=distribution.pictures(counted, regrouping, released, least, columns.contributions(frequency),
                                      seen),
        correlations=correlations,
        definitions=DEFINITIONS,
        patterns=found,
        attacks=disclosure.attacks(frequency, seen, released, attacker or Attacker(), real,
                                   regrouping.hidden))


def attacker_of(recipe: Recipe, frequency: FrequencySet) -> Attacker:
    """Who attacks the releases of a recipe: everybody knows the hierarchies of its sensitive columns."""
    return Attacker(trees=sensitive_trees(recipe, frequency), sees_suppressed=recipe.suppressed == "keep")


def shown(frequency: FrequencySet, regrouping: Regrouping) -> Measure:
    """The share of the records whose labels are all values themselves."""
    if not frequency.n_records:
        return loss.as_they_were(None)
    plain = np.logical_and.reduce([loss.itself(frequency, regrouping, j) for j in range(frequency.n_quasi)])
    return loss.as_they_were(float(regrouping.sizes(frequency)[plain].sum()) / frequency.n_records)


def as_dict(evidence: Evidence) -> dict[str, float | None]:
    """Name to value, as a manifest holds it."""
    return {measure.name: measure.value for measure in evidence.measures}
