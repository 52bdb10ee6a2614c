"""Every cost on one table small enough for paper and pencil."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sfumato.costs.measured import measure_all
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.recoding import SUPPRESSED, Regrouping

# Six records: 1 a, 2 b, 2 c, 1 d; the hierarchy knows e too. Two classes, {a, b} and suppressed {c, d}.
AGE = Hierarchy("age", (("a", "low", "*"), ("b", "low", "*"), ("c", "high", "*"), ("d", "high", "*"),
                        ("e", "high", "*")))
SEX = Hierarchy("sex", (("f", "*"), ("m", "*")))
TABLE = FrequencySet((AGE, SEX), np.array([[0, 0], [1, 0], [2, 0], [3, 0]], np.int32), np.array([1, 2, 2, 1]))
HALF = Regrouping(np.array([0, 0, SUPPRESSED, SUPPRESSED]), np.array([[1, 0]], np.int32),
                  np.array([[0, 0]], np.int32))
BY_HAND = {
    "ncp": ((3 * 1 / 4 + 3) / 6 + (0 + 3) / 6) / 2,
    "loss": math.sqrt((1 + 3.75 / 6) * (1 + 3 / 6)) - 1,
    "aecs": 6 / 2,
    "discernibility": 3 ** 2 + 3 * 6,
    "precision": ((3 * 1 / 2 + 3) / 6 + 3 / 6) / 2,
    "height": 1,
    # a in {a, b}: log2 3; b: log2 3/2, twice; c and d the same; the three suppressed share a label, so 0 more
    "entropy": 2 * (math.log2(3) + 2 * math.log2(3 / 2)),
    # (1/6) log2((1/6) / (1/4)) + (2/6) log2((2/6) / (1/4)), and for c, d over all ten combinations
    "kl": (1 / 6 * math.log2(4 / 6) + 2 / 6 * math.log2(8 / 6)
           + 2 / 6 * math.log2(2 / 6 / (1 / 20)) + 1 / 6 * math.log2(1 / 6 / (1 / 20))),
    "ambiguity": (3 * 2 * 1 + 3 * 10) / 6,
    # without rules: of four labels that occur two are left; all of sex is left, or nothing
    "research-value": (3 * (0.5 - 0.25) + 3 * 0.5) / 6 + 3 * 0.5 / 6,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    assert measure_all(TABLE, HALF, np.ones(2))[name] == pytest.approx(BY_HAND[name], rel=1e-12)


def test_all_costs_are_here() -> None:
    assert measure_all(TABLE, HALF, np.ones(2)).keys() == BY_HAND.keys()


def test_weights() -> None:
    """A column of weight 0 costs nothing; scaling all weights changes nothing but the height."""
    ours = measure_all(TABLE, HALF, np.array([2.0, 0.0]))
    assert ours["ncp"] == pytest.approx(3.75 / 6) == pytest.approx(ours["loss"])
    assert ours["height"] == 2
    one, three = measure_all(TABLE, HALF, np.ones(2)), measure_all(TABLE, HALF, 3 * np.ones(2))
    assert three.pop("height") == 3 * one.pop("height")
    assert three == pytest.approx(one)
