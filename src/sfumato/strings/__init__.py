"""Searches over generalization strings by their research value: global, local, hybrid, distributed."""
