"""Tables that stand in databases: DuckDB and SQLite files, and whatever Ibis has an address for."""

from __future__ import annotations

import difflib
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sfumato.errors import MissingExtraError, TableError
from sfumato.table.engine import ask, identifier, literal, reading
from sfumato.table.files import batches_of
from sfumato.table.source import EMBEDDED, NAME_ONE, checked_names

ATTACHED = "sfumato_source"
_URL = re.compile(r"[a-z][a-z0-9+]*://", re.IGNORECASE)


def is_url(source: str) -> bool:
    """Whether this is the address of a database rather than a path."""
    return bool(_URL.match(source))


def harmless(url: str) -> str:
    """The address without user and password; a path as it is."""
    if not is_url(url):
        return url
    parts = urlsplit(url)
    return f"{parts.scheme}://{(parts.netloc.rpartition('@')[2])}{parts.path}"


def file_of(url: str) -> Path | None:
    """The file that a duckdb:// or sqlite:// address means; None for any other."""
    scheme, _, rest = url.partition("://")
    embedded = scheme.lower() in ("duckdb", "sqlite") and rest
    return Path(rest.partition("?")[0]) if embedded else None


def connect_url(url: str) -> Any:
    """The Ibis backend at an address; faults are told without the address's password."""
    import ibis

    name = harmless(url)
    try:
        return ibis.connect(url)
    except ImportError:
        scheme = urlsplit(url).scheme
        fault = MissingExtraError(f"A database at {scheme}://", scheme)
        fault.remedy = f"Install what Ibis needs for it: pip install 'ibis-framework[{scheme}]'"
        fault.args = (f"{fault.message} {fault.remedy}",)
        raise fault from None
    except ValueError:
        raise TableError(f"No database is known at addresses like {name}.",
                         "Give one that Ibis knows, for example postgres://host/database.") from None
    except Exception as fault:  # each driver has its own; their texts may hold the password
        raise TableError(f"{name} does not let us in ({type(fault).__name__}).",
                         "Check host, user and password, and that the database is running.") from None


def chosen(wanted: str | None, present: Sequence[str], name: str) -> str:
    """The table asked for, or the only one."""
    shown = ", ".join(map(repr, present[:20])) + (" …" if len(present) > 20 else "")
    if wanted in present:
        return str(wanted)
    if not present:
        raise TableError(f"{name} holds no table.", "Give a database with a table.")
    if wanted is None and len(present) == 1:
        return present[0]
    if wanted is None:
        raise TableError(f"{name} holds several tables: {shown}.", NAME_ONE)
    guess = difflib.get_close_matches(wanted, present, n=1)
    raise TableError(f"{name} has no table {wanted!r}. It has: {shown}.",
                     f"Did you mean {guess[0]!r}?" if guess else NAME_ONE)


def attach_duckdb(backend: Any, path: Path, wanted: str | None) -> Any:
    """The table of a DuckDB file, which is opened for reading only."""
    with reading(path.name):
        ask(backend, f"ATTACH {literal(path)} AS {identifier(ATTACHED)} (READ_ONLY, TYPE duckdb)")
        found = ask(backend,
                    "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $1 "
                    "UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = $1 "
                    "AND NOT internal ORDER BY ALL", ATTACHED)
        places = {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in found}
        schema, name = places[chosen(wanted, list(places), path.name)]
        table = backend.table(name, database=(ATTACHED, schema))
    checked_names(table.columns, f"{path.name}, table {name!r},")
    return table


def load_sqlite(backend: Any, path: Path, wanted: str | None) -> None:
    """Copy a table of a SQLite file into the engine, in pieces."""
    import pyarrow as pa

    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True,
                                     check_same_thread=False)) as file:
            names = [row[0] for row in file.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
                "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name")]
            name = chosen(wanted, names, path.name)
            schema = _sqlite_schema(file, name, path.name)
            reader = pa.RecordBatchReader.from_batches(
                schema, batches_of(file.execute(f"SELECT * FROM {identifier(name)}"), schema))
            backend.con.register("incoming", reader)
            with reading(path.name):
                ask(backend, f"CREATE TABLE {identifier(EMBEDDED)} AS SELECT * FROM incoming")
            backend.con.unregister("incoming")
    except sqlite3.Error:
        raise TableError(f"{path.name} is not a SQLite file that can be read.",
                         "Check the file, and that no other program writes it.") from None


def _sqlite_schema(file: sqlite3.Connection, table: str, name: str) -> Any:
    """Whole numbers and real numbers where a column holds nothing else, text otherwise."""
    import pyarrow as pa

    columns = [row[1] for row in file.execute(f"PRAGMA table_xinfo({identifier(table)})")]
    checked_names(columns, f"{name}, table {table!r},")
    fields = []
    for column in columns:
        kinds = {row[0] for row in file.execute(
            f"SELECT DISTINCT typeof({identifier(column)}) FROM {identifier(table)}")} - {"null"}
        if "blob" in kinds:
            raise TableError(f"Column {column!r} of {name} holds bytes, not text or numbers.",
                             "Leave it out, through a view of the other columns.")
        numbers = {("integer",): pa.int64(), ("real",): pa.float64()}
        fields.append((column, numbers.get(tuple(kinds), pa.string())))
    return pa.schema(fields)
