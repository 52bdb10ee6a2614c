"""Numbers and labels as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterable

MISSING = "(missing)"
UNDEFINED = "not defined"
LONGEST = 120  # characters of a label that are shown
# Control characters and bidirectional overrides would let a label disturb the text around it.
CONTROLS = (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
DISTURBING = {**dict.fromkeys(CONTROLS, "\ufffd"), ord("\n"): "⏎", ord("\t"): "⇥"}


def number(value: float | None) -> str:
    """A number with thousands separators and about four digits that matter."""
    if value is None or math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{round(value):,}".replace("-", "−")
    if abs(value) < 0.0001:
        return "< 0.0001" if value > 0 else "> −0.0001"
    digits = max(0, 3 - math.floor(math.log10(abs(value)))) if abs(value) >= 1 else 4
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".").replace("-", "−")


def percent(share: float | None) -> str:
    """A share as a percentage; what is nearly nothing or nearly all never reads as nothing or all."""
    if share is None or not math.isfinite(share):
        return number(share)
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    return f"{100 * share:,.1f}".removesuffix(".0").replace("-", "−") + " %"


def several(count: int, one: str, many: str = "") -> str:
    """A count with its noun: "1 record", "1,248 records"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listing(names: Iterable[str], most: int = 8) -> str:
    """Names as a sentence lists them, the tail counted when there are many."""
    shown = [label(name) for name in names]
    if len(shown) > most:
        return f"{', '.join(shown[:most - 1])} and {len(shown) - most + 1:,} more columns"
    return " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def label(text: object) -> str:
    """A name or label from a table, made fit to be shown; markup is the renderer's matter."""
    if text is None:
        return MISSING
    plain = clean(str(text))
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"


def clean(text: str) -> str:
    """Text without what would disturb its surroundings."""
    return text.translate(DISTURBING)


def rounded(value: float | None) -> float | int | None:
    """A number for JSON: six significant digits, whole numbers whole, nothing that is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else float(f"{value:.6g}")
