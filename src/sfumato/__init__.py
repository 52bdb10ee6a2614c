"""sfumato: find, write, prove and report the release of a private table that keeps the picture."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato import errors
    from sfumato.api import (
        anonymize,
        attack,
        balance,
        check,
        init,
        link,
        measure,
        recommend,
        risks,
        rules,
        suggest,
        value,
    )
    from sfumato.measure.evidence import Evidence
    from sfumato.pipeline import Result
    from sfumato.recipe import Recipe
    from sfumato.verify import Verdict

__all__ = ["Evidence", "Recipe", "Result", "Verdict", "__version__", "anonymize", "attack", "balance",
           "check", "errors", "init", "link", "measure", "recommend", "risks", "rules", "suggest", "value"]

_HOMES = {"anonymize": "api", "attack": "api", "balance": "api", "check": "api", "init": "api",
          "link": "api", "risks": "api", "rules": "api", "suggest": "api", "value": "api",
          "Evidence": "measure.evidence", "Recipe": "recipe", "Result": "pipeline", "Verdict": "verify"}


def __getattr__(name: str) -> Any:
    """The public names, fetched when first used: `import sfumato` alone is quick."""
    if name == "errors":
        return import_module("sfumato.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    value = getattr(import_module(f"sfumato.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _Package(ModuleType):
    """`sfumato.measure` and `sfumato.attack` are functions, also after the rooms so named are imported."""

    @property
    def measure(self) -> Any:
        return import_module("sfumato.api").measure

    @measure.setter
    def measure(self, room: ModuleType) -> None:
        """The import system would put the room here; it is reached by its full name."""

    @property
    def attack(self) -> Any:
        return import_module("sfumato.api").attack

    @attack.setter
    def attack(self, room: ModuleType) -> None:
        """As above."""

    @property
    def recommend(self) -> Any:
        return import_module("sfumato.api").recommend

    @recommend.setter
    def recommend(self, room: ModuleType) -> None:
        """As above."""


sys.modules[__name__].__class__ = _Package
