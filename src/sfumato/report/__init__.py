"""The report: a pure summary first, its rendering second."""
