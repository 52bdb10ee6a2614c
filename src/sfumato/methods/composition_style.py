"""Composition-style: a sample in classes, so that intersecting it with another release leaves doubt.

After Baig, M. M., Li, J., Liu, J., Ding, X., Wang, H. (2012). Data privacy against composition attack.
DASFAA, LNCS, 320-334: (ρ, α)-anonymization, by sampling and composition-based generalization.

| theirs (known from a later thesis) | here, **ours** |
| --- | --- |
| ρ, sampling | `rho`: the probability that a record is released |
| α | the confidence in a sensitive value that two releases may leave (`criteria.confidence`) |
| composition-based generalization | Mondrian's cuts, as long as both sides keep k and α |

1. If a sensitive value has more than α of the table, no sample hides it.
2. ρ, if none is said: the largest, at most 0.9, for which the promise holds even where no other value is
   common to two releases, ρ² + (1 - ρ²) p = α with p the largest share.
3. Each record is drawn with probability ρ, by itself.
4. The sample is cut at medians while both sides have k records and leave α at most.
5. Labels are Mondrian's; records that were not drawn are left out.

Departures. Steps 1 to 5 are our completion. Cut from above instead of merged from below: both end at
classes that keep the promise and whose cuts do not.

Cost: Mondrian's on the sample, and at each cut values x size³ for each part.

>>> rate(0.5, 0.2), rate(0.25, 0.2)
(0.61, 0.25)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from sfumato.clusters.axes import Categorical, Numeric
from sfumato.clusters.medians import cut
from sfumato.criteria.base import Criterion
from sfumato.criteria.confidence import Confidence
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.draws.base import Drawn, drawn, sampled
from sfumato.errors import InfeasibleError
from sfumato.methods.base import Problem
from sfumato.methods.drawing import Drawing, require_sample
from sfumato.methods.parameters import Real, Whole

MOST = 0.9  # of the records, where no rate is said


class Composition(Drawing):
    """A sample of the records in classes that leave α at most."""

    name: ClassVar[str] = "composition-style"
    citation: ClassVar[str] = "after Baig et al. 2012"
    ours: ClassVar[str] = (
        "The method is in the style of Baig et al. 2012, which was not read: that records are sampled and "
        "then generalized against composition attacks is theirs; what ρ and α say in numbers, and how the "
        "classes are found, is sfumato's completion.")

    k: Whole = Field(ge=2)
    alpha: Real = Field(default=0.5, gt=0, le=1)
    rho: Real | None = Field(default=None, gt=0, le=1)
    size: Whole | None = Field(default=None, ge=1)  # records of the person's class in the other release: k
    numeric: Numeric = "auto"
    categorical: Categorical = "auto"

    def kept(self, sensitive: str, told: Mapping[str, Any]) -> tuple[Criterion, ...]:
        """k records, and α at most."""
        return KAnonymity(k=self.k), Confidence(column=sensitive, rho=float(told["rate"]), alpha=self.alpha,
                                                size=self.size or self.k)

    def solve(self, problem: Problem, rng: np.random.Generator) -> Drawn:
        """Steps 1 to 5."""
        frequency = problem.frequency
        [(sensitive, rows)] = frequency.sensitive.items()
        most = float(rows.whole_share.max())
        if self.alpha <= most:
            raise InfeasibleError(  # step 1
                f"No sample leaves a confidence of {self.alpha:g} or less: a value of {sensitive!r} stands "
                f"in {most:.1%} of all records.", f"Raise alpha above {most:.3g}.")
        rho = rate(self.alpha, most) if self.rho is None else self.rho  # step 2
        if not rho:
            raise InfeasibleError(f"With alpha = {self.alpha:g} next to no record could be drawn: a value of "
                                  f"{sensitive!r} stands in {most:.1%} of all records.", "Raise alpha.")
        sample = sampled(frequency, sensitive, rho, rng)  # step 3
        require_sample(sample, self.k, rho)
        criteria = self.kept(sensitive, {"rate": rho})
        found = cut(replace(problem, frequency=sample, criteria=criteria), self.name, rng,  # step 4
                    numeric=self.numeric, categorical=self.categorical)
        return drawn(frequency, sensitive, found, found.stats(sample).sensitive[sensitive],  # step 5
                     {}, criteria, rho)


def rate(alpha: float, most: float) -> float:
    """The largest ρ for which α holds without other common values, to two digits, rounded down."""
    exact = min(MOST, float(np.sqrt((alpha - most) / (1 - most)))) if most < 1 else 0.0
    return float(np.floor(exact * 100 + 1e-9) / 100)
