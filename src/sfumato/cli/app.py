"""The commands under one roof, and how a run ends: one clear message and an exit code, never a traceback."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sfumato.cli import (
    anonymize,
    attack,
    balance,
    check,
    hierarchy,
    init,
    measure,
    recommend,
    rules,
    screen,
    value,
)
from sfumato.errors import SfumatoError
from sfumato.version import __version__

INTERRUPTED, UNEXPECTED = 2, 70
CLICK: type[Exception] = next(kind for kind in typer.BadParameter.__mro__
                              if kind.__name__ == "ClickException")


class Commands(TyperGroup):
    """All commands; whatever goes wrong in one is told here."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read what was asked."""
        with told(debug=False):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with told(ctx.params.get("debug", False)):
            return super().invoke(ctx)


@contextmanager
def told(debug: bool) -> Iterator[None]:
    """End with a message and an exit code."""
    try:
        yield
    except (typer.Exit, typer.Abort, CLICK, BrokenPipeError):
        raise
    except SfumatoError as fault:
        screen.refuse(fault.message.rstrip(), fault.remedy)
        raise typer.Exit(fault.exit_code) from (fault if debug else None)
    except KeyboardInterrupt:
        screen.refuse("Interrupted. Nothing half-written is left at the destination.", "")
        raise typer.Exit(INTERRUPTED) from None
    except MemoryError:
        screen.refuse("There is not enough memory for this.", "Use fewer quasi-identifiers or coarser ones.")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as fault:
        if debug:
            raise
        if any(kind.__name__ == "DatabaseError" for kind in type(fault).__mro__):  # of any driver
            screen.refuse(f"The database refused its part of the work ({type(fault).__name__}).",
                          "Check that this user may read the table and make temporary ones; its own words "
                          "stand in `sfumato --debug …` (they may hold values of the table).")
            raise typer.Exit(SfumatoError.exit_code) from None
        screen.refuse(f"An unexpected fault: {type(fault).__name__} in {_place(fault)}.",
                      "This is a fault of sfumato: please report it with the traceback, which "
                      "`sfumato --debug …` shows (it may hold values of the table).")
        raise typer.Exit(UNEXPECTED) from None


def _place(fault: BaseException) -> str:
    """The innermost line of ours that the fault passed through."""
    ours, trace = "an unknown place", fault.__traceback__
    while trace:
        path = Path(trace.tb_frame.f_code.co_filename)
        if "sfumato" in path.parts:
            ours = f"{path.name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return ours


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  rich_markup_mode="markdown", context_settings={"help_option_names": ["-h", "--help"]})
app.command("init", epilog=init.EXAMPLE)(init.init)
app.command("anonymize", epilog=anonymize.EXAMPLE)(anonymize.anonymize)
app.command("balance", epilog=balance.EXAMPLE)(balance.balance)
app.command("check", epilog=check.EXAMPLE)(check.check)
app.command("measure", epilog=measure.EXAMPLE)(measure.measure)
app.command("recommend", epilog=recommend.EXAMPLE)(recommend.recommend)
app.command("value", epilog=value.EXAMPLE)(value.value)
app.command("rules", epilog=rules.EXAMPLE)(rules.rules)
app.command("attack", epilog=attack.EXAMPLE)(attack.attack)
app.add_typer(hierarchy.app, name="hierarchy")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"sfumato {__version__}")
        raise typer.Exit


@app.callback(epilog="Exit codes: 0 holds · 1 does not hold · 2 wrong request or input · 3 infeasible")
def sfumato(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
                                          help="Print the version.")] = False,
    debug: Annotated[bool, typer.Option("--debug",
                                        help="Show the traceback of an unexpected fault.")] = False,
) -> None:
    """Find, write, prove and report the release of a private table that keeps the most of the picture."""


def run() -> None:
    """Run the command line."""
    screen.forgive_encodings()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # of the libraries below; ours are messages
    signal.signal(signal.SIGTERM, _terminated)
    try:
        app(prog_name="sfumato")
    except BrokenPipeError:  # whoever read has read enough
        screen.silence()
    finally:
        screen.put()


def _terminated(number: int, frame: FrameType | None) -> None:
    """Stop as for Ctrl-C, but without taking the best so far."""
    screen.TERMINATED.set()
    raise KeyboardInterrupt
