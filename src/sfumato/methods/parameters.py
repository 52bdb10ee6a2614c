"""Numbers that a recipe writes as numbers: neither truth values nor text."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field


def _whole(value: object) -> object:
    """A whole number, not a truth value and not text."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("It should be a whole number")
    return value


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("It should be a number")
    return value


Whole = Annotated[int, BeforeValidator(_whole)]
Real = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]
