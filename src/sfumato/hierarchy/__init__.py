"""Levels as nested partitions of a column's values: built, read, checked, written, shown."""
