"""The command line, thin: arguments → recipe → pipeline → answer. Heavy rooms are entered by the commands."""

import signal
import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it with a message, even while it starts, and no more once it ends."""
    try:
        from sfumato.cli.app import run

        run()
    except KeyboardInterrupt:
        print("sfumato: Interrupted. Nothing half-written is left at the destination.", file=sys.stderr)
        sys.exit(2)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
