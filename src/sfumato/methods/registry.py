"""All methods, by the name a recipe uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.methods.base import Method
from sfumato.methods.bucketization import Bucketization
from sfumato.methods.certainty_penalty import CertaintyPenalty
from sfumato.methods.composition_style import Composition
from sfumato.methods.e_dp import DiffGen
from sfumato.methods.hybrid_style import Hybrid
from sfumato.methods.local import Local
from sfumato.methods.mdav import MDAV
from sfumato.methods.merging_style import Merging
from sfumato.methods.mondrian import Mondrian
from sfumato.methods.oka import OKA
from sfumato.methods.optimal import Optimal
from sfumato.methods.probabilistic_style import Probabilistic
from sfumato.methods.research_value import ResearchValue
from sfumato.methods.rho_gain import RhoGain
from sfumato.methods.samarati import Samarati
from sfumato.methods.slicing import Sliced
from sfumato.methods.ul import UpperLower
from sfumato.methods.xk import Adaptable

METHODS: Mapping[str, type[Method]] = {
    method.name: method for method in (
        Optimal,
        Bucketization,
        CertaintyPenalty,
        Composition,
        DiffGen,
        Hybrid,
        Local,
        MDAV,
        Merging,
        Mondrian,
        OKA,
        Probabilistic,
        ResearchValue,
        RhoGain,
        Samarati,
        Sliced,
        UpperLower,
        Adaptable,
    )}


def make(said: Mapping[str, Any]) -> Method:
    """The method that a recipe names, with its parameters."""
    parameters = {key: value for key, value in said.items() if key != "name"}
    return METHODS[said["name"]](**parameters)
