"""Noise that carries a promise: drawn by OpenDP from the system's entropy, never from the recipe's seed.

Whoever knows the seed of a noise can take the noise away again; the seed stands in the manifest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.errors import MissingExtraError


def opendp() -> Any:
    """The library, where it is installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtraError("Noise that carries a promise", "dp") from None
    dp.enable_features("contrib")
    return dp


def laplace(counts: Ints, epsilon: float) -> Ints:
    """Counts with discrete Laplace noise of scale 1/ε: P(noise = n) falls as exp(-ε |n|).

    One record more or less changes one count by one, so all of the counts together are ε-differentially
    private.
    """
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=1 / epsilon)
    if measurement.map(1) > epsilon * (1 + 1e-9):
        raise AssertionError("OpenDP counts more than was to be spent on noise")
    return np.array(measurement([int(count) for count in counts]), dtype=np.int64)


def choose(scores: Floats, epsilon: float, sensitivity: float) -> int:
    """The exponential mechanism: a position, with probability proportional to exp(ε score / (2 Δ)).

    The largest score after Gumbel noise of scale 2 Δ / ε is distributed so (McSherry & Talwar 2007). OpenDP
    counts its cost in zero-concentrated terms, where an ε of this mechanism is ε² / 8.
    """
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="f64", nan=False)), dp.linf_distance(T="f64")
    measurement = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(),
                                      scale=2 * sensitivity / epsilon)
    if measurement.map(sensitivity) > epsilon ** 2 / 8 * (1 + 1e-9):
        raise AssertionError("OpenDP counts more than was to be spent on a choice")
    return int(measurement([float(score) for score in scores]))


def probabilities(scores: Floats, epsilon: float, sensitivity: float) -> Floats:
    """What `choose` draws by.

    >>> probabilities(np.array([9.0, 8.0]), 0.5, 1.0).round(4).tolist()
    [0.5622, 0.4378]
    """
    weights = np.exp(epsilon * (scores - scores.max()) / (2 * sensitivity))
    return np.asarray(weights / weights.sum())
