"""The kernel that finds the released rows covering what is known; its plain twin stands in `matching`."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def covering(rows, skip, known, firsts, same, row, starts, several, out_known, out_row):
    """Pairs (known combination, released row) where every label covers the value; how many there are.

    The rows are sorted, and `skip[i, j]` is the next row that differs from row i in columns 0 to j: where
    column j fails, all rows up to there fail. Labels of column j begin at `firsts[j]`, the flat rows of
    `several` at `starts`. Nothing is written where the outputs are empty.
    """
    n_rows, width = rows.shape
    pairs, writing = 0, len(out_row) > 0
    for t in range(len(known)):
        at = 0
        while at < n_rows:
            failed = -1
            for j in range(width):
                label, value = firsts[j] + rows[at, j], known[t, j]
                if same[label] != value and (row[label] < 0 or not several[starts[label] + value]):
                    failed = j
                    break
            if failed >= 0:
                at = skip[at, failed]
                continue
            if writing:
                out_known[pairs], out_row[pairs] = t, at
            pairs += 1
            at += 1
    return pairs


@nb.njit(cache=True, nogil=True)
def skips(rows):
    """Per row and column: the next row that differs in that column or one before it."""
    n_rows, width = rows.shape
    skip = np.empty((n_rows, width), dtype=np.int64)
    for j in range(width):
        end = n_rows
        for i in range(n_rows - 1, -1, -1):
            if i < n_rows - 1:
                for c in range(j + 1):
                    if rows[i, c] != rows[i + 1, c]:
                        end = i + 1
                        break
            skip[i, j] = end
    return skip
