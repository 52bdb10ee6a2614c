"""What people see: the answer on stdout; on stderr, and only on a terminal, how it goes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

from sfumato.stages import Stages

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from sfumato.search import Progress as Standing

WIDTH = 110  # of what is not a terminal
TERMINATED = Event()
WORDS = {"read": "Reading the table", "prepare": "Counting the table", "search": "Searching",
         "write": "Writing the release", "verify": "Checking the written release", "measure": "Measuring",
         "attack": "Attacking", "balance": "Balancing", "report": "Drawing the report"}


def console(error: bool = False) -> Console:
    """A console for stdout or stderr, which takes text as it is."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else WIDTH, markup=False, highlight=False,
                   emoji=False)


def silence() -> None:
    """Nobody reads stdout any more: what is still to be said goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def put(text: str = "") -> None:
    """Write to stdout at once; a reader that has gone away is forgiven."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        silence()


def forgive_encodings() -> None:
    """Characters that a terminal or pipe cannot take are written out rather than refused."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def say(*lines: Any) -> None:
    """Lines and tables of the answer."""
    out = console()
    with out.capture() as captured:
        for line in lines:
            out.print(plain(line) if isinstance(line, str) else line, soft_wrap=isinstance(line, str))
    put("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def say_json(value: Any) -> None:
    """The answer for programs, and nothing else on stdout."""
    from sfumato.manifest import finite

    put(json.dumps(finite(value), indent=2, ensure_ascii=sys.stdout.encoding.lower() != "utf-8") + "\n")


def note(text: str) -> None:
    """A remark on stderr."""
    print(plain(text), file=sys.stderr)


def refuse(message: str, remedy: str) -> None:
    """What is wrong, and what to do."""
    note(f"sfumato: {message}")
    if remedy:
        note(remedy)


def plain(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def grid(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str] = ()) -> Table:
    """A table without ornaments; the columns of numbers stand to the right."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold",
                  show_header=any(headings))
    for heading in headings:
        drawn.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(plain(cell)) for cell in row))
    return drawn


@dataclass
class Watching:
    """The hooks of a run through which it tells how it goes."""

    stages: Stages
    watch: Callable[[Standing], None] | None = None
    interruptible: bool = False  # Ctrl-C during a search takes the best so far


@contextmanager
def watching() -> Iterator[Watching]:
    """Show progress while a run goes on; nothing where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield Watching(Stages())
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    stage = TextColumn("{task.description}", table_column=Column(no_wrap=True, min_width=10))
    standing = TextColumn("{task.fields[standing]}", table_column=Column(overflow="fold"))
    columns = (SpinnerColumn(), stage, BarColumn(10), TimeElapsedColumn(), standing)
    with Progress(*columns, console=console(error=True), transient=True) as drawn:
        bar = drawn.add_task("Starting", total=None, standing="")
        yield Watching(Stages(_teller(drawn, bar)), _watcher(drawn, bar), True)


def _teller(drawn: Progress, bar: Any) -> Callable[[str], None]:
    def tell(stage: str) -> None:
        if TERMINATED.is_set():
            raise KeyboardInterrupt
        drawn.reset(bar, description=WORDS[stage], total=None, standing="")

    return tell


def _watcher(drawn: Progress, bar: Any) -> Callable[[Standing], None]:
    def watch(standing: Standing) -> None:
        done, left = standing.visited, standing.open
        gap = (standing.score - standing.bound) / max(abs(standing.score), 1e-300)
        words = f"visited {done:,} · open {left:,}"
        if gap < 1e300:
            words += (f" · best {standing.score:.4g} · bound {standing.bound:.4g} · gap {gap:.1%}"
                      " · Ctrl-C takes the best so far")
        drawn.update(bar, total=done + left, completed=done, standing=words)

    return watch
