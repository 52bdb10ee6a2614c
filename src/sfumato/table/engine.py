"""The embedded engine: DuckDB behind Ibis, with a private folder and no way to the network.

Its complaints quote rows of the table, so none is passed on: `reading` keeps the line number and
the reason and says them in our own words.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import uuid
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sfumato.errors import TableError

T = TypeVar("T")
FOLDER_PREFIX = "sfumato-"
MEMORY = "2GB"  # beyond, the engine spills into its private folder
BATCH = 50_000  # rows that pass at once where they have to pass through Python


def connect(memory_limit: str | None = None, threads: int | None = None) -> Any:
    """An embedded engine of its own; what it spills stands in a private folder until `disconnect`."""
    import duckdb
    import ibis

    folder = tempfile.mkdtemp(prefix=FOLDER_PREFIX)
    settings: dict[str, Any] = {
        "temp_directory": folder,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "memory_limit": memory_limit or MEMORY,
        "threads": threads,
    }
    try:
        backend = ibis.duckdb.connect(**{k: v for k, v in settings.items() if v is not None})
        ask(backend, "SET enable_progress_bar = false")
    except BaseException as fault:
        shutil.rmtree(folder, ignore_errors=True)
        if not isinstance(fault, duckdb.Error):
            raise
        asked = (("memory limit", memory_limit), ("number of threads", threads))
        said = " and ".join(f"the {what} {value!r}" for what, value in asked if value is not None)
        raise TableError(f"The engine cannot work with {said or 'these settings'}.",
                         "Give the limit as '2GB' or '500MB', and at least one thread.") from None
    weakref.finalize(backend, shutil.rmtree, folder, ignore_errors=True)
    return backend


def private_folder(backend: Any) -> Path:
    """Where the engine, and whoever prepares a file for it, may put private rows for a while."""
    return Path(ask(backend, "SELECT current_setting('temp_directory')")[0][0])


def disconnect(backend: Any) -> None:
    """Close the engine and remove its private folder; a second time does nothing."""
    import duckdb

    try:
        folder = private_folder(backend)
    except duckdb.Error:  # closed already, or without memory even for this: the folder goes with the backend
        return
    backend.disconnect()
    shutil.rmtree(folder, ignore_errors=True)


def ask(backend: Any, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """Run a statement and take all of its answer: the engine does nothing else before."""
    return interruptible(backend, lambda: backend.con.execute(statement, list(values)).fetchall())


def interruptible(backend: Any, work: Callable[[], T]) -> T:
    """What the work in the engine answers; Ctrl-C stops it, where the engine alone might run on."""
    with ThreadPoolExecutor(1) as worker:
        answer = worker.submit(work)
        try:
            return answer.result()
        except KeyboardInterrupt:
            while not answer.done():
                backend.con.interrupt()
                wait([answer], timeout=0.1)
            raise


def compiled(backend: Any, expression: Any) -> str:
    """The expression as SQL of the backend, with what it holds in memory made known there."""
    backend._run_pre_execute_hooks(expression)
    return str(backend.compile(expression))


@contextmanager
def batches(expression: Any) -> Iterator[Any]:
    """The expression's rows as a stream of Arrow batches."""
    import ibis
    import pyarrow as pa

    backend = ibis.get_backend(expression)
    try:
        if backend.name == "duckdb":
            stream = backend.con.sql(compiled(backend, expression)).to_arrow_reader(BATCH)
        else:
            stream = expression.to_pyarrow_batches()
        with stream:
            yield stream
    except pa.ArrowException as fault:
        raise explained(str(fault), "the table") from None


def fetch(expression: Any) -> Any:
    """The expression's rows as one Arrow table (Ibis' own way would load pandas where it is installed)."""
    import ibis

    backend = ibis.get_backend(expression)
    if backend.name != "duckdb":
        return expression.to_pyarrow()
    with reading("the table"):
        statement = compiled(backend, expression)
        return interruptible(backend, lambda: backend.con.sql(statement).to_arrow_table())


def lend(table: Any, arrow: Any) -> Any:
    """A small Arrow table as an Ibis table of the same engine as `table`, uncopied where it is embedded."""
    import ibis

    backend = ibis.get_backend(table)
    if backend.name != "duckdb":
        return ibis.memtable(arrow)
    name = f"lent_{uuid.uuid4().hex}"
    backend.con.register(name, arrow)
    return backend.table(name)


def literal(text: object) -> str:
    """A SQL string."""
    return "'" + str(text).replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A SQL name."""
    return '"' + name.replace('"', '""') + '"'


def exact_path(path: Path) -> str:
    """A SQL string that means this one file, whatever wildcards its name holds."""
    return literal(re.sub(r"[\[*?]", lambda wildcard: f"[{wildcard[0]}]", str(path)))


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn the engine's complaints about table `name` into a TableError that shows no row of it."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as fault:
        raise explained(str(fault), name) from None
    except RuntimeError as fault:
        if "interrupted" in str(fault).lower():
            raise KeyboardInterrupt from None
        raise


# the engine's words (a pattern), ours, and the remedy
_REASONS = (
    (r"Expected Number of Columns: (\d+) Found: (\d+)", "has {1} fields where {0} are expected",
     "Mend the line, or name the delimiter and the quote character of the file."),
    (r"unterminated quote|not properly quoted", "has a quoted field that does not end where it should",
     "Close the quote or double quotes inside the field, or name another quote character (or none)."),
    (r"Invalid unicode|not utf-8|valid UTF-?8|is not UTF", "holds bytes that are not UTF-8",
     "Name the encoding of the file, for example cp1252 or utf-16."),
    (r"Maximum line size|line size", "is longer than two million bytes",
     "Look for a quote that is never closed, or shorten the line."),
    (r"state machine reached an invalid state",
     "mixes kinds of line ends, or has a quote that is never closed",
     "Save the file again with one kind of line end (LF or CRLF) and closed quotes."),
    (r"GZIP|gzip", "is compressed and ends too early or is damaged", "Fetch the file again."),
    (r"Malformed JSON", "holds text that is not JSON", "Give one JSON object a line."),
    (r"magic bytes|too small to be|Parquet|parquet|thrift|Snappy|snappy|ZSTD",
     "is not a complete Parquet file", "Fetch or write the file again."),
    (r"could not set lock|Conflicting lock", "is being written by another program", "Close it there first."),
    (r"not a valid DuckDB database|DuckDB database file|storage version",
     "is not a DuckDB file that this version reads", "Write it again with a current DuckDB."),
    (r"Out of Memory|failed to allocate|could not allocate", "needs more memory than the engine may take",
     "Raise the memory limit, or give a folder with more room as TMPDIR."),
    (r"No space left|max_temp_directory_size", "needs more room than is left for temporary files",
     "Free some room, or give a folder with more of it as TMPDIR."),
    (r"already exists", "has a name that the engine takes for another one's",
     "Give every column its own name, beyond upper and lower case."),
    (r"Permission denied|Cannot open file|No files found", "cannot be read", "Check its permissions."),
)


_WITHOUT_ROW = re.compile(
    r"Original Line:.*?(?=\nExpected Number|\nValue with|\nInvalid unicode|\nMaximum|\Z)", re.DOTALL)


def explained(complaint: str, name: str) -> TableError:
    """The engine's complaint in our words: the line and the reason, never a row."""
    found = re.search(r"CSV Error on Line: (\d+)", complaint)
    where = f"{name}, line {int(found[1]):,}," if found else name
    own_words = _WITHOUT_ROW.sub("", complaint)
    for pattern, words, remedy in _REASONS:
        if reason := re.search(pattern, own_words):
            return TableError(f"{where} {words.format(*reason.groups())}.", remedy)
    kind = complaint.split(":", 1)[0] if re.match(r"[A-Z][A-Za-z ]{2,30}:", complaint) else "unknown fault"
    return TableError(f"{where} cannot be read by the engine ({kind}).",
                      "Try to open it with another program; if that works, please report this.")
