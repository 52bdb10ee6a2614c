"""PAM beside the library's, in an environment of its own (its licence keeps it out of ours)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracles.apart import Apart, Unavailable

from sfumato.slices.grouping import pam

KMEDOIDS = Apart("kmedoids", "0.5.5", Path(__file__).with_name("kmedoids_answers.py"),
                 ("numpy",))


def matrices() -> list[dict[str, Any]]:
    """1 - r² as it could be: symmetric, 0 to itself, of 3 to 20 columns."""
    made = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 21))
        half = np.triu(rng.random((n, n)), 1)
        made.append({"distance": (half + half.T).tolist(), "k": int(rng.integers(1, n))})
    return made


@pytest.mark.slow
def test_the_cost_is_that_of_the_library() -> None:
    """BUILD and SWAP settle at the same cost, or one of them stops at another local optimum."""
    asked = matrices()
    try:
        theirs = KMEDOIDS.ask(asked)
    except Unavailable as error:
        pytest.skip(str(error))
    same = 0
    for question, expected in zip(asked, theirs, strict=True):
        distance = np.array(question["distance"])
        groups = pam(distance, question["k"])
        cost = sum(min(distance[np.ix_([m], group)].sum() for m in group) for group in groups)
        same += abs(cost - expected) < 1e-9
        assert cost <= expected * 1.1 + 1e-9
    assert same >= 55
