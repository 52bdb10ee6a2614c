"""Small Arrow arrays from and to numpy. Arrow's own conversions load pandas where it is installed, which
would cost a short command more than all of its work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.classes import Ints


def as_numpy(array: Any) -> Ints:
    """The whole numbers of an Arrow array without nulls."""
    kind = np.dtype(str(array.type))
    return np.frombuffer(array.buffers()[1], dtype=kind)[array.offset: array.offset + len(array)]


def from_numpy(numbers: Ints) -> Any:
    """Whole numbers as an Arrow array."""
    import pyarrow as pa

    whole = np.ascontiguousarray(numbers, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(whole), [None, pa.py_buffer(whole)])


def from_texts(texts: Sequence[str | None]) -> Any:
    """Texts, None for null, as an Arrow array."""
    import pyarrow as pa

    encoded = [b"" if text is None else text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    present = np.packbits([text is not None for text in texts], bitorder="little")
    buffers = [pa.py_buffer(present), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)
