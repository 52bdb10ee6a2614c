"""The two ends of the line: open any source as an Ibis table, write a release whole or not at all."""

from sfumato.table.engine import connect, fetch, interruptible, reading
from sfumato.table.frames import frame_like
from sfumato.table.open import open_table
from sfumato.table.source import Dialect, Source, fingerprint, require_columns, sha256
from sfumato.table.staging import require_writable, staged
from sfumato.table.write import withdraw, write_table, write_to_database

__all__ = [
    "Dialect",
    "Source",
    "connect",
    "fetch",
    "fingerprint",
    "frame_like",
    "interruptible",
    "open_table",
    "reading",
    "require_columns",
    "require_writable",
    "sha256",
    "staged",
    "withdraw",
    "write_table",
    "write_to_database",
]
