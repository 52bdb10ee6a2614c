"""The command line, thin: arguments → recipe → pipeline → answer. Heavy rooms are entered by the commands."""

from sfumato.cli.app import app, main

__all__ = ["app", "main"]
