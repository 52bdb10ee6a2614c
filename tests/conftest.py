"""Fixtures and markers for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with the reason, what needs the shared data where it is absent."""
    if SHARED.is_dir():
        return
    reason = pytest.mark.skip(reason="needs the reference data that stands beside the project (../shared)")
    for item in items:
        if "needs_shared" in item.keywords:
            item.add_marker(reason)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data and published numbers."""
    return SHARED
