"""Every criterion, by its name in a recipe, and how a recipe's item becomes one."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from sfumato.criteria.alpha_k import AlphaKAnonymity
from sfumato.criteria.base import Criterion
from sfumato.criteria.beta_likeness import BetaLikeness
from sfumato.criteria.delta_disclosure import DeltaDisclosure
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.criteria.l_diversity import LDiversity
from sfumato.criteria.linkable import Linkable
from sfumato.criteria.t_closeness import TCloseness
from sfumato.errors import Fault, RecipeError

CRITERIA: Mapping[str, type[Criterion]] = MappingProxyType({
    "k-anonymity": KAnonymity,
    "l-diversity": LDiversity,
    "t-closeness": TCloseness,
    "alpha-k-anonymity": AlphaKAnonymity,
    "beta-likeness": BetaLikeness,
    "delta-disclosure": DeltaDisclosure,
    "linkable": Linkable,
})

SENTENCES = {  # of pydantic's kinds of fault; the rest keep pydantic's own
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be one of {expected}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "too_short": "must not be empty",
}


def parse(item: Any, where: str = "criteria") -> Criterion:
    """One item of a recipe, `{name: {parameters}}`, as a criterion; its faults come all at once."""
    if not isinstance(item, Mapping) or len(item) != 1:
        raise _refusal(Fault(where, "an item must be one name with its parameters, like "
                                    "{k-anonymity: {k: 5}}; start each criterion with its own dash"))
    name, parameters = next(iter(item.items()))
    if name not in CRITERIA:
        raise _refusal(Fault(where, _unknown("criterion", str(name), list(CRITERIA))))
    where, kind = f"{where}.{name}", CRITERIA[name]
    fields = list(kind.model_fields)
    if not isinstance(parameters, Mapping):
        raise _refusal(Fault(where, f"its parameters must be a mapping of {', '.join(fields)}"))
    try:
        return kind.model_validate(dict(parameters))
    except ValidationError as error:
        raise _refusal(*explain(error, where, fields)) from None


def explain(error: ValidationError, where: str, fields: Sequence[str]) -> list[Fault]:
    """Pydantic's faults as sentences: what is wrong, the value met, what is allowed."""
    return [Fault(".".join([where, *_path(fault["loc"])]), _sentence(fault, fields))
            for fault in error.errors()]


def _refusal(*faults: Fault) -> RecipeError:
    return RecipeError("The recipe", faults)


def _path(location: tuple[int | str, ...]) -> list[str]:
    """Where a fault stands; positions in lists and alternatives of types say nothing to a reader."""
    return [str(location[0])] if location else []


def _sentence(fault: Any, fields: Sequence[str]) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind == "missing":
        return "it is missing; add it"
    if kind == "extra_forbidden":
        return _unknown("parameter", str(fault["loc"][-1]), fields)
    if kind == "value_error":
        return str(context["error"])
    sentence = SENTENCES[kind].format(**context) if kind in SENTENCES else str(fault["msg"])
    return sentence + _met(fault)


def _met(fault: Any) -> str:
    """The value met, unless it is one of the sensitive values listed under `values`."""
    value = fault["input"]
    told = isinstance(value, (str, int, float)) and "values" not in fault["loc"]
    return f", and is {value!r}" if told else ""


def _unknown(what: str, name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    guess = f" (did you mean {close[0]!r}?)" if close else ""
    return f"there is no {what} {name!r}{guess}; it can be {', '.join(known)}"

