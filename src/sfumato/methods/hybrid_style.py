"""Hybrid-style: a sample in classes, with noise on how often each sensitive value occurs in each.

After Li, J., Baig, M. M., Sattar, A. H. M. S., Ding, X., Liu, J., Vincent, M. W. (2016). A hybrid approach to
prevent composition attacks for independent data releases. Information Sciences 367-368, 324-336.

| theirs (known from a later thesis) | here |
| --- | --- |
| sampling | `beta`: the probability that a record is drawn |
| generalization | Mondrian's cuts of the sample, while both sides have k records |
| Laplace noise on the count of every sensitive value in every class | `epsilon`; `support`: which values |

1. Each record is drawn with probability β, by itself.
2. The sample is cut at medians while both sides have k records.
3. Every count of a sensitive value in a class gets noise of scale 1/ε.
4. Counts below zero become zero; so many rows with the class's labels and the value are written.

Departures. β, the values that get noise, and what becomes of negative counts are **ours**. Noise is the
discrete Laplace distribution, so nothing is rounded. A class all of whose counts end at zero is left out.

Not differentially private end to end: where the cuts lie depends on the records. The noise has no seed: who
knows a seed can take the noise away.

Cost: Mondrian's on the sample, then classes x sensitive values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.classes import Histogram, Ints
from sfumato.clusters.axes import Categorical, Numeric
from sfumato.clusters.medians import cut
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.draws.base import Drawn, drawn, rows_of, sampled
from sfumato.draws.noise import laplace
from sfumato.methods.base import Problem
from sfumato.methods.drawing import Drawing, require_sample
from sfumato.methods.parameters import Real, Whole

Support = Literal["all", "present"]


class Hybrid(Drawing):
    """Classes of a sample whose sensitive counts are noisy."""

    name: ClassVar[str] = "hybrid-style"
    citation: ClassVar[str] = "after Li et al. 2016"
    ours: ClassVar[str] = (
        "The method is in the style of Li et al. 2016, which was not read: sampling, generalization and "
        "noise on the counts of sensitive values are theirs; the sampling rate, which counts get noise, "
        "and what becomes of negative ones are sfumato's completion.")

    k: Whole = Field(ge=2)
    epsilon: Real = Field(gt=0)
    beta: Real = Field(default=0.8, gt=0, le=1)
    support: Support = "all"  # every value of the table in every class, or those that the class has
    numeric: Numeric = "auto"
    categorical: Categorical = "auto"

    def solve(self, problem: Problem, rng: np.random.Generator) -> Drawn:
        """Steps 1 to 4."""
        frequency = problem.frequency
        [sensitive] = frequency.sensitive
        sample = sampled(frequency, sensitive, self.beta, rng)  # step 1
        require_sample(sample, self.k, self.beta)
        asked = replace(problem, frequency=sample, criteria=(KAnonymity(k=self.k),))
        found = cut(asked, self.name, rng, numeric=self.numeric, categorical=self.categorical)  # step 2
        counted = found.stats(sample).sensitive[sensitive]
        classes, values, counts = supported(counted, found.n_classes, self.support)
        noisy = laplace(counts, self.epsilon)  # step 3
        noise = {"kind": "discrete Laplace", "on": "every count of a sensitive value in a class",
                 "epsilon": self.epsilon, "scale": 1 / self.epsilon, "support": self.support}
        return drawn(frequency, sensitive, found, rows_of(classes, values, noisy, counted),  # step 4
                     {"noise": noise}, rate=self.beta)


def supported(counted: Histogram, n_classes: int, support: Support) -> tuple[Ints, Ints, Ints]:
    """The counts that get noise: class, value, records."""
    if support == "present":
        return counted.classes, counted.values, counted.counts
    n_values = len(counted.labels)
    counts = np.zeros(n_classes * n_values, dtype=np.int64)
    counts[counted.classes * n_values + counted.values] = counted.counts
    cells = np.arange(len(counts))
    return cells // n_values, cells % n_values, counts
