"""sfumato: find, write, prove and report the release of a private table that keeps the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
