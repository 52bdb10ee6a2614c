"""Utility: how much of the private table's picture the release still shows."""
