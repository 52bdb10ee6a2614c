"""Probabilistic-style: cut at medians as long as every class links a person to d values with likelihood α.

After Sattar, A. H. M. S., Li, J., Liu, J., Heatherly, R., Malin, B. (2014). A probabilistic approach to
mitigate composition attacks on privacy in non-coordinated environments. Knowledge-Based Systems 67, 361-372.

| theirs (abstract) | here, **ours** |
| --- | --- |
| a QI group linked to d confidential values with likelihood α | `criteria.linkable` |
| an extension of a k-anonymizer | Mondrian, with k-anonymity and linkability on both sides of every cut |

1. p, the share of each sensitive value, is that of the table.
2. The whole table is one part; if it is not (d, α)-linkable, nothing is.
3. A part is cut at a median, as Mondrian does, if both sides keep k and (d, α).
4. Labels are Mondrian's; sensitive values stay.

Departures. The source was read as far as its abstract: the definition, and steps 1 to 4, are our completion.
Of an unknown class in the other release only the size is assumed, and its values are drawn from the whole
table, not from the region around the person. No fake record is added.

Cost: Mondrian's, and at each cut values x size² x d for each part.

>>> import numpy as np
>>> from sfumato.classes import Histogram
>>> from sfumato.frequency import FrequencySet
>>> from sfumato.hierarchy.core import Hierarchy
>>> age = Hierarchy("age", tuple((str(n), "*") for n in range(20, 30)))
>>> ill = Histogram(np.arange(10), np.array([0, 1, 2, 0, 0, 1, 0, 0, 1, 2]), np.ones(10, int),
...                 ("flu", "asthma", "ulcer"), np.array([5, 3, 2]))
>>> frequency = FrequencySet((age,), np.arange(10)[:, None], np.ones(10, int), {"disease": ill})
>>> method = Probabilistic(k=2, d=2, alpha=0.9, size=4)
>>> problem = Problem(frequency, method.promises(["disease"]), 0.0, np.ones(1))
>>> found = method.solve(problem, np.random.default_rng(0))
>>> sorted(found.labelling(frequency, 0).texts), method.promises(["disease"])[1].measure(
...     found.stats(frequency)).round(4).tolist()
(['[20..24]', '[25..29]'], [0.9375, 0.9375])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from sfumato.clusters.axes import Categorical, Numeric
from sfumato.clusters.medians import cut
from sfumato.criteria.base import Criterion
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.criteria.linkable import Linkable
from sfumato.methods.base import Method, Problem
from sfumato.methods.parameters import Real, Whole
from sfumato.recoding import Regrouping


class Probabilistic(Method):
    """Mondrian under (d, α)-linkability."""

    name: ClassVar[str] = "probabilistic-style"
    citation: ClassVar[str] = "after Sattar et al. 2014"
    by_names: ClassVar[bool] = True
    ours: ClassVar[str] = (
        "The method is in the style of Sattar et al. 2014, whose abstract alone was read: that classes link "
        "somebody to d values with likelihood α is theirs; what that means in numbers, and that Mondrian's "
        "cuts keep it, is sfumato's completion.")

    k: Whole | None = Field(default=None, ge=2)  # k-anonymity beside it, if the recipe does not ask for it
    d: Whole = Field(default=2, ge=2)  # values that should be common to two releases
    alpha: Real = Field(default=0.5, gt=0, le=1)  # the probability that they are
    size: Whole | None = Field(default=None, ge=1)  # m': records of a class in another release; k, or 4
    numeric: Numeric = "auto"
    categorical: Categorical = "auto"

    def faults(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Iterable[tuple[str, str]]:
        """Without sensitive values there is nothing to link."""
        if not sensitive:
            yield "", (f"{self.name} keeps people from being linked to a sensitive value, and the recipe has "
                       "no sensitive column. Give at least one column the role sensitive.")

    def promises(self, sensitive: Sequence[str]) -> tuple[Criterion, ...]:
        """k-anonymity where k is said, and linkability of every sensitive column."""
        anonymous = () if self.k is None else (KAnonymity(k=self.k),)
        return (*anonymous, *(Linkable(column=name, d=self.d, alpha=self.alpha, size=self.size or self.k or 4)
                              for name in sensitive))

    def solve(self, problem: Problem, rng: np.random.Generator) -> Regrouping:
        """Steps 1 to 4."""
        return cut(problem, self.name, rng, numeric=self.numeric, categorical=self.categorical)
