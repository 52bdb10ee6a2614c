"""Precision and data loss: as Brown predicts them, as they hold for certain, as they are measured.

Brown, E. E. (2019). Adaptable privacy-preserving model. Doctoral dissertation, Nova Southeastern
University. Equations 1 and 2; the measured quantities are those of Tables 2, 7, 9, 10 and 17, where the
text gives no formula.

Equation 1 is an estimate. Table 4 itself holds a counter-example: of 30,000 records at 1/2k a precision of
at most 91 is predicted, and with cell suppression it is 91.2931. Equation 2 holds unless sensitive cells
are suppressed. `proven_range` and `proven_loss` bound what is measured whatever the hierarchies and the
data, on these premises: pairs of at least xk records that are not suppressed stay as they are, every
modified pair that is released has at least xk records, and false records fill a pair up to k.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """What a processed release may change at most: the premises of `proven_range` and `proven_loss`."""

    k: int
    columns: int  # of the file, all of them
    elected: int  # quasi-identifiers that may be generalized or suppressed
    hidden: int  # sensitive columns whose cells may be suppressed


def precision_range(suppressed: int, added: int, original: int, n_quasi: int, dv: int) -> tuple[int, int]:
    """Equation 1, in percent; in whole numbers, so that nothing is rounded twice."""
    total, difference = original + added, abs(added - suppressed)
    dividend = suppressed * (n_quasi - 1) + original * n_quasi
    divisor = (total + min(suppressed, added) + difference) * n_quasi
    lowest = (200 * dividend + divisor) // (2 * divisor) - dv
    highest = -(-100 * original // total) if total else 100
    return max(lowest, 0), highest


def maximum_loss(suppressed: int, n_records: int) -> int:
    """Equation 2, in percent, rounded up."""
    return -(-100 * suppressed // n_records)


def proven_range(xk: int, suppressed: int, added: int, original: int, bounds: Bounds) -> tuple[float, float]:
    """Between what the measured precision lies for certain, whatever is generalized or suppressed.

    Of the suppressed records some, say r, come back with modified cells. A record that comes back gives
    up at most every elected cell, and every kept one its sensitive cells; pairs of r records in all need
    at most r (k - xk) / xk false ones, and fill at most r places. Both bounds move one way as r grows.
    """
    hidden = bounds.hidden / bounds.columns
    changed = min(hidden + bounds.elected / bounds.columns, 1.0)
    most = original * (1 - hidden) + suppressed * (1 - changed)
    unchanged = 100 * original * (1 - hidden) / (original + added) if original else 100.0
    low = min(unchanged, 100 * most / (original + added + suppressed * bounds.k / xk))
    return low, 100 * (original + suppressed) / (original + max(added, suppressed))


def proven_loss(suppressed: int, original: int, bounds: Bounds) -> float:
    """The greatest measured loss for certain: no suppressed record comes back, all sensitive cells go."""
    return 100 * (suppressed + original * bounds.hidden / bounds.columns) / (suppressed + original)


def measured_precision(kept: int, added: int, generalized: int, suppressed: int, columns: int) -> float:
    """In percent, over all `columns` of the file: a generalized cell counts half.

    A suppressed cell and an `added` record count nothing; `kept` are the real records released.
    """
    whole = kept - (generalized / 2 + suppressed) / columns
    return 100 * whole / (kept + added)


def measured_loss(n_records: int, suppressed: int, changed: int, columns: int) -> float:
    """In percent: the cells of suppressed records, and each changed cell of the others as a whole one."""
    return 100 * (columns * suppressed + changed) / (columns * n_records)
