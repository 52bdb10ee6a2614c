"""Attacks on releases: what somebody who knows people's quasi-identifiers learns from what was released."""
