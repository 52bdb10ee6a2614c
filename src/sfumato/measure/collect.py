"""All the evidence about one release, from the frequency set and the recoding alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sfumato.frequency import FrequencySet
from sfumato.measure.evidence import Evidence
from sfumato.measure.released import see
from sfumato.measure.risk import columns, profile
from sfumato.measure.utility import correlation, distribution, loss, queries
from sfumato.measure.utility.costs import cost
from sfumato.recoding import Regrouping

DEFINITIONS = {**profile.DEFINITIONS, **columns.DEFINITIONS, **loss.DEFINITIONS, **distribution.DEFINITIONS}


def collect(frequency: FrequencySet, regrouping: Regrouping, *, costs: Mapping[str, float], least: int,
            rng: np.random.Generator) -> Evidence:
    """Measure risk and utility; no value that fewer than `least` records of the table have is shown."""
    counted, shown = regrouping.of(frequency), regrouping.shown(frequency)
    released = see(shown, regrouping)
    before = profile.profile(frequency.counts, suppressed=0)
    after = profile.profile(released.sizes, released.suppressed)
    correlations = correlation.correlate(counted, released, shown)
    return Evidence(
        risk_before=before,
        risk_after=after,
        risk=(*profile.attackers(before, after), *columns.separations(frequency, released)),
        utility=(*loss.losses(counted, regrouping),
                 *(cost(name, score) for name, score in costs.items()),
                 correlation.change(correlations),
                 *queries.errors(counted, regrouping, rng, shown)),
        columns=distribution.pictures(counted, regrouping, released, least, columns.contributions(frequency),
                                      shown),
        correlations=correlations,
        definitions=DEFINITIONS)


def as_dict(evidence: Evidence) -> dict[str, float | None]:
    """Name to value, as a manifest holds it."""
    return {measure.name: measure.value for measure in (*evidence.risk, *evidence.utility)}
