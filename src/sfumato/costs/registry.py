"""All costs, by the name a recipe uses."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.classes import Floats
from sfumato.costs.base import Cost, Scene
from sfumato.costs.cells import Entropy, Height, Loss, Ncp, Precision
from sfumato.costs.classes import Aecs, Ambiguity, Discernibility, KlDivergence
from sfumato.costs.research import ResearchValue
from sfumato.frequency import FrequencySet

COSTS: Mapping[str, type[Cost]] = {
    cost.name: cost
    for cost in (Ncp, Loss, Aecs, Discernibility, Precision, Height, Entropy, KlDivergence, Ambiguity,
                 ResearchValue)
}


def make(name: str, frequency: FrequencySet, weights: Floats, least: int = 1) -> Cost:
    """The named cost, ready for a table whose classes must have at least `least` records."""
    cost = COSTS[name](Scene(frequency.hierarchies, frequency.marginals, weights, least,
                              frequency.worth))
    if isinstance(cost, KlDivergence):
        cost.know(frequency.counts)
    return cost
