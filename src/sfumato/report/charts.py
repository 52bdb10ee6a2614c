"""The few charts of a report, as inline SVG whose colours and fonts come from the page's style sheet.

Charts are narrow (340 units) so that their text keeps its size on a phone; wide pages set them side by
side. What stood before is drawn with a hard outline, what is released is filled and soft, so that the
two can be told apart without colour.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any
from unicodedata import east_asian_width

from markupsafe import Markup, escape

from sfumato.report.figures import percent

WIDTH = 340
GUTTER = 144  # labels stand here
LETTERS = 21  # of a label, about as wide as the gutter
VALUES = 52  # and the numbers here, on the other side
BAR = 11
Rows = Sequence[Mapping[str, Any]]


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """One SVG element, everything in it escaped; `class_` is written class, `stroke_width` stroke-width."""
    written = Markup("").join(
        Markup(' {}="{}"').format(Markup(name.rstrip("_").replace("_", "-")), tidy(value))
        for name, value in attributes.items())
    inside = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), written, inside)


def tidy(value: object) -> str:
    """A coordinate without needless digits; anything else as it is."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def drawing(name: str, width: float, height: float, *children: str) -> Markup:
    """An SVG image that says what it shows."""
    return element("svg", element("title", name), *children, role="img", aria_label=name, class_="chart",
                   viewBox=f"0 0 {tidy(float(width))} {tidy(float(height))}")


def words(text: str, x: float, y: float, css: str = "", anchor: str = "start") -> Markup:
    """A line of text."""
    return element("text", text, x=x, y=y, class_=css, text_anchor=anchor)


def fitted(text: str, most: int) -> str:
    """Text cut to a width in letters, wide scripts counting double; all of it stands in the description."""
    ends = list(accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in text))
    if not ends or ends[-1] <= most:
        return text
    return text[: bisect_right(ends, most - 1)].rstrip() + "…"


def bar(x: float, y: float, length: float, css: str, height: float = BAR) -> Markup:
    """A horizontal bar; what is not nothing is at least a hair wide."""
    drawn = max(length, 1.5) if length > 0 else 0.0
    return element("rect", x=x, y=y, width=drawn, height=height, rx=0 if css == "before" else height / 2.5,
                   class_=css)


def before_after(name: str, rows: Rows) -> Markup:
    """Pairs of horizontal bars, one pair a label; shares on a common scale."""
    top = longest(row[side] for row in rows for side in ("before", "after"))
    room, step = WIDTH - GUTTER - VALUES, 2 * BAR + 13
    drawn: list[Markup] = []
    for n, row in enumerate(rows):
        y = n * step + 3.0
        drawn.append(words(fitted(row["label"], LETTERS), GUTTER - 8, y + BAR + 5, "label", "end"))
        for side, offset in (("before", 0), ("after", BAR + 2)):
            length = room * (row[side] or 0) / top
            drawn.append(bar(GUTTER, y + offset, length, side))
            drawn.append(words(percent(row[side]), GUTTER + length + 6, y + offset + BAR - 1.5, "value"))
    told = "; ".join(f"{row['label']}: {percent(row['before'])} before, {percent(row['after'])} after"
                     for row in rows)
    return drawing(f"{name}. {told}.", WIDTH, len(rows) * step, *drawn)


def shares(name: str, rows: Rows, css: str, top: float | None = None) -> Markup:
    """Single horizontal bars, one a label; what is left over is drawn faintly and sets no scale."""
    top = top or longest(row["share"] for row in rows if not row.get("rest"))
    room, step = WIDTH - GUTTER - VALUES, BAR + 7
    drawn: list[Markup] = []
    for n, row in enumerate(rows):
        y, foot, faint = n * step + 3.0, n * step + BAR + 1.5, " rest" if row.get("rest") else ""
        length = 0.0 if faint else room * min((row["share"] or 0) / top, 1.0)
        drawn.append(words(fitted(row["label"], LETTERS), GUTTER - 8, foot, "label" + faint, "end"))
        drawn.append(bar(GUTTER, y, length, css))
        drawn.append(words(percent(row["share"]), GUTTER + length + 6, foot, "value" + faint))
    told = "; ".join(f"{row['label']}: {percent(row['share'])}" for row in rows)
    return drawing(f"{name}. {told}.", WIDTH, len(rows) * step + 3, *drawn)


def longest(values: Any) -> float:
    """The largest share of a chart, never nothing."""
    return max((value or 0.0 for value in values), default=0.0) or 1.0


def tree(name: str, values: Sequence[str], rows: Rows, css: str) -> Markup:
    """A tree from its root down: each node's test, its records, and the shares of the target's values."""
    step, indent, told = 38, 13, 112
    drawn: list[Markup] = []
    for n, row in enumerate(rows):
        x, y = float(row["depth"] * indent), n * step + 2.0
        weight = "label leaf" if row["leaf"] else "label"
        drawn.append(words(fitted(row["test"] or "everybody", 48 - 2 * row["depth"]), x, y + 10, weight))
        drawn.append(words(row["records_text"], WIDTH, y + 10, "value", "end"))
        drawn.extend(stacked(x, y + 16, WIDTH - told - x, row["shares"], css))
        most = fitted(f"{percent(row['share'])} {row['value']}", 17)
        drawn.append(words(most, WIDTH - told + 7, y + 25, "value"))
        last = max((m for m in range(n + 1, len(rows)) if rows[m]["depth"] == row["depth"] + 1
                    and all(one["depth"] > row["depth"] for one in rows[n + 1:m])), default=n)
        if last > n:
            drawn.append(element("path", d=f"M{tidy(x + 4)} {tidy(y + 27)}V{last * step + 8}", class_="twig"))
    described = "; ".join(f"{row['test'] or 'everybody'}: {row['records_text']} records, "
                          f"{percent(row['share'])} {row['value']}" for row in rows)
    return drawing(f"{name}. {described}.", WIDTH, len(rows) * step, *drawn)


def curve(name: str, rows: Rows) -> Markup:
    """Costs step by step on a line: what was taken is filled, what was not is hollow and dashed."""
    height, left, foot = 128.0, 52.0, 100.0
    costs = [row["cost"] or 0.0 for row in rows]
    low, span = min(costs), (max(costs) - min(costs)) or 1.0
    step = (WIDTH - left - 46) / max(len(rows) - 1, 1)
    points = [(left + n * step, foot - 10 - 72 * (cost - low) / span) for n, cost in enumerate(costs)]
    drawn = [element("line", x1=left - 18, x2=WIDTH, y1=foot, y2=foot, class_="track")]
    for n, (row, (x, y)) in enumerate(zip(rows, points, strict=True)):
        if n:
            before = points[n - 1]
            drawn.append(element("line", x1=before[0], y1=before[1], x2=x, y2=y,
                                 class_="line" if row["taken"] else "line dashed"))
        drawn.append(words(row["cost_text"], x + 3, y - 8, "value"))
        drawn.append(words(f"round {row['round']}", x, foot + 14, "label", "middle"))
        if row["gain"] is not None:
            drawn.append(words(row["gain_text"], x, foot + 26, "value", "middle"))
    drawn += [element("circle", cx=x, cy=y, r=4.5, class_="after" if row["taken"] else "hollow")
              for row, (x, y) in zip(rows, points, strict=True)]
    told = "; ".join(f"round {row['round']}: {row['cost_text']}"
                     + ("" if row["gain"] is None else f", {row['gain_text']}")
                     + ("" if row["taken"] else ", not run") for row in rows)
    return drawing(f"{name}. {told}.", WIDTH, height, *drawn)


def stacked(x: float, y: float, length: float, parts: Sequence[float], css: str) -> list[Markup]:
    """One bar of several shares, each in its own shade."""
    starts = accumulate(parts, initial=0.0)
    return [element("rect", x=x + length * start, y=y, width=length * share, height=BAR, class_=f"part {css}",
                    fill_opacity=shade(n, len(parts)))
            for n, (share, start) in enumerate(zip(parts, starts, strict=False)) if share > 0]


def shade(n: int, of: int) -> float:
    """The strength of the n-th of several shades."""
    return 0.9 - 0.75 * n / max(of - 1, 1)


def swatch(n: int, of: int, css: str) -> Markup:
    """A shade by itself, for a key."""
    square = element("rect", x=1, y=2, width=12, height=12, class_=f"part {css}", fill_opacity=shade(n, of))
    return element("svg", square, class_="chart swatch", aria_hidden="true", viewBox="0 0 14 16")


def heat(name: str, columns: Sequence[str], matrix: Sequence[Sequence[float | None]]) -> Markup:
    """A matrix of associations: the stronger, the darker; columns are numbered as the rows are."""
    cell = min((WIDTH - GUTTER) / max(len(columns), 1), 40.0)
    drawn: list[Markup] = []
    for n, column in enumerate(columns):
        y, middle = 18 + n * cell, (n + 0.5) * cell
        row = f"{fitted(column, LETTERS - 3)} {n + 1}"
        drawn.append(words(row, GUTTER - 6, 18 + middle + 3.5, "label", "end"))
        drawn.append(words(str(n + 1), GUTTER + middle, 12, "label", "middle"))
        drawn.extend(heat_cell(GUTTER + m * cell, y, cell, value) for m, value in enumerate(matrix[n]))
    pairs = [f"{one} and {columns[m]}: {spoken(matrix[n][m])}"
             for n, one in enumerate(columns) for m in range(n)]
    return drawing(f"{name}. {'; '.join(pairs)}.", WIDTH, 20 + cell * len(columns), *drawn)


def heat_cell(x: float, y: float, size: float, value: float | None) -> Markup:
    """One cell, with its number where there is room for it."""
    shade = 0.05 + 0.95 * min(abs(value or 0.0), 1.0)
    square = element("rect", x=x + 0.75, y=y + 0.75, width=size - 1.5, height=size - 1.5, rx=size / 7,
                     class_="cell", fill_opacity=shade)
    if size < 19:
        return square
    css = "on" if shade > 0.645 else "off"  # where black and white can be read equally well
    return square + words(spoken(value), x + size / 2, y + size / 2 + 3.2, css, "middle")


def spoken(value: float | None) -> str:
    """A coefficient in two digits."""
    if value is None:
        return "–"
    if not 0.005 <= abs(value) < 0.995:
        return f"{value:.0f}".replace("-0", "0").replace("-", "−")
    return f"{value:.2f}".replace("0.", ".", 1).replace("-", "−")


def ladder(level: int, levels: int) -> Markup:
    """How far a column was blurred: a row of ever softer spots, the one it was released at marked."""
    step = 17.0
    drawn = [spot(9 + n * step, n, levels, n == level) for n in range(levels)]
    return drawing(f"level {level} of {levels - 1}", 18 + (levels - 1) * step, 18, *drawn)


def spot(x: float, n: int, levels: int, marked: bool) -> Markup:
    """One level of a ladder: small and hard at the bottom, wide and faint at the top."""
    softness = n / max(levels - 1, 1)
    strength = 1.0 - 0.72 * softness
    halo = [element("circle", cx=x, cy=9, r=2.2 + 3.8 * softness * part, class_="spot",
                    fill_opacity=strength * share) for part, share in ((1.0, 0.45), (0.6, 0.75))]
    ring = [element("circle", cx=x, cy=9, r=8, class_="ring")] if marked else []
    return Markup("").join([*halo, *ring])


def gauge(value: float | None, before: float | None, low: float | None, high: float | None) -> Markup:
    """Where a number stands in its range; nothing where the range is open."""
    if value is None or low is None or high is None or high <= low:
        return Markup("")
    def place(number: float) -> float:
        return 5 + 90 * min(max((number - low) / (high - low), 0.0), 1.0)

    marks = [element("line", x1=5, x2=95, y1=7, y2=7, class_="track")]
    if before is not None:
        marks.append(element("rect", x=place(before) - 2.5, y=3.0, width=5, height=8, class_="before"))
    marks.append(element("circle", cx=place(value), cy=7, r=4, class_="after"))
    return element("svg", *marks, class_="chart gauge", aria_hidden="true", viewBox="0 0 100 14")


HEIGHT, LEFT, RIGHT, FOOT = 210, 40, 46, 30  # of curves: the plot's frame


def curves(name: str, points: Rows, found: Mapping[str, Any], called: Sequence[str] = ("utility", "privacy"),
           axis: str = "k") -> Markup:
    """Utility and privacy over k as shares, with their bands and the place where they cross.

    Two other shares over another number may be `called` by their own names.
    """
    names = dict(zip(("utility", "privacy"), called, strict=True))
    ks = [point["k"] for point in points]
    spread = max(ks[-1] - ks[0], 1)

    def x(k: float) -> float:
        return LEFT + float((WIDTH - LEFT - RIGHT) * (k - ks[0]) / spread)

    def y(share: float) -> float:
        return 8 + (HEIGHT - 8 - FOOT) * (1 - share)

    drawn = [*frame(ks, x, y, axis), *(crossed(found, x, y) if found["crosses"] else [])]
    ends = {side: y(points[-1][side]) for side in ("utility", "privacy")}
    nudge = max(0.0, 11 - abs(ends["utility"] - ends["privacy"])) / 2
    for side, other in (("utility", "privacy"), ("privacy", "utility")):
        upper = [(x(point["k"]), y(point[f"{side}_interval"][1])) for point in points]
        lower = [(x(point["k"]), y(point[f"{side}_interval"][0])) for point in points]
        line = [(x(point["k"]), y(point[side])) for point in points]
        drawn.append(element("polygon", points=path([*upper, *lower[::-1]]), class_=f"band {side}"))
        drawn.append(element("polyline", points=path(line), class_=f"line {side}"))
        place = ends[side] + (nudge if ends[side] >= ends[other] else -nudge)
        drawn.append(words(names[side], WIDTH - RIGHT + 5, place + 3.5, "label"))
    told = "; ".join(f"{axis} {point['k']}: {names['utility']} {percent(point['utility'])}, "
                     f"{names['privacy']} {percent(point['privacy'])}" for point in points)
    return drawing(f"{name}. {told}.", WIDTH, HEIGHT, *drawn)


def frame(ks: Sequence[int], x: Any, y: Any, axis: str = "k") -> list[Markup]:
    """The shares on the left and some k below."""
    drawn = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        drawn.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(share), y2=y(share), class_="axis"))
        drawn.append(words(percent(share), LEFT - 5, y(share) + 3.5, "value", "end"))
    step = max(1, -(-len(ks) // 8))
    drawn.extend(words(str(k), x(k), HEIGHT - FOOT + 15.0, "value", "middle") for k in ks[::step])
    return [*drawn, words(axis, WIDTH - RIGHT + 13, HEIGHT - FOOT + 15.0, "label")]


def crossed(found: Mapping[str, Any], x: Any, y: Any) -> list[Markup]:
    """The crossing, and the interval in which it lies."""
    low, high = (x(end) for end in found["k_interval"])
    band = element("rect", x=low, y=y(1.0), width=max(high - low, 0.5), height=y(0.0) - y(1.0),
                   class_="band between")
    line = element("line", x1=x(found["k"]), x2=x(found["k"]), y1=y(1.0), y2=y(0.0), class_="mark")
    return [band, line, words(f"k = {found['k_text']}", x(found["k"]) + 4, y(0.0) - 4, "label")]


def path(points: Sequence[tuple[float, float]]) -> str:
    """Coordinates as SVG writes them."""
    return " ".join(f"{tidy(float(x))},{tidy(float(y))}" for x, y in points)
