"""What a recipe says of research value, applied to the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.classes import Floats
from sfumato.errors import Fault, RecipeError
from sfumato.frequency import FrequencySet
from sfumato.research.rules import misfits
from sfumato.research.said import Research
from sfumato.research.values import Price, prices, rising
from sfumato.research.weights import independence

Prices = tuple[tuple[Price, ...], ...]  # per quasi-identifier, per level


def weighed(said: Research | None, frequency: FrequencySet, own: Floats) -> Floats:
    """The quasi-identifiers' weights: their own, or what is said of them instead."""
    if said is None or said.weights is None:
        return own
    if said.weights == "correlation":
        return independence(frequency)
    assert isinstance(said.weights, Mapping)
    return np.array([said.weights[name] for name in frequency.quasi])


def priced(said: Research | None, frequency: FrequencySet, weights: Floats) -> Prices:
    """The price of every level; what does not fit the columns is raised together."""
    said = said or Research()
    wrong = [Fault(f"research.rules.{rule.position}", f"{rule.column}, {rule}: {what}. "
                   "Correct the rule or take it out.")
             for h in frequency.hierarchies for rule, what in misfits(said.of(h.column), h)]
    wrong += [Fault(f"research.values.{h.column}", f"It has {len(said.values[h.column])} values, and the "
                    f"column has {h.n_levels} levels, from the value itself to *. Give one for each.")
              for h in frequency.hierarchies
              if h.column in said.values and len(said.values[h.column]) != h.n_levels]
    if wrong:
        raise RecipeError("research", wrong)
    columns = zip(frequency.hierarchies, frequency.marginals, weights / weights.sum(), strict=True)
    return tuple(prices(h, marginal, float(share), said.of(h.column), said.values.get(h.column),
                        said.formulas.get(h.column)) for h, marginal, share in columns)


def worths(found: Prices) -> tuple[Floats, ...]:
    """The values alone, as the cost reads them."""
    return tuple(np.array([price.value for price in column]) for column in found)


def told(found: Prices, frequency: FrequencySet, weights: Floats) -> list[dict[str, Any]]:
    """The price list for programs: per column its levels, with the rules that each breaks."""
    shares = weights / weights.sum()
    return [{"column": h.column, "weight": float(share), "rises_at": rising(column),
             "levels": [{"level": one.level, "labels": one.labels, "value": one.value,
                         "rules_kept": one.share, "breaks": [str(rule) for rule in one.breaks]}
                        for one in column]}
            for h, column, share in zip(frequency.hierarchies, found, shares, strict=True)]
