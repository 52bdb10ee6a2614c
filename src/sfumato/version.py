"""The version of sfumato."""

__version__ = "0.1.0"
