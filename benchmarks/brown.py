"""Brown's six experiments through the real line: table in, release out, beside what the dissertation prints.

Tables are made with exactly the published sizes of pairs (see _brown.py). A year of birth that is missing and
one that was suppressed are written alike in the dissertation; here they are two things, so records whose year
was missing already count as changed: their number is printed as `missing`, and precision is compared after it
is taken back. Where such records filled up pairs that others leave as they are, the counts cannot come out.

    python benchmarks/brown.py            # all
    python benchmarks/brown.py --smoke    # 30,000 and 20,000 records only
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

from _adult import ADULT
from _brown import (
    COLUMNS,
    LEVELS,
    QUASI,
    available,
    entries,
    histogram,
    made,
    table,
    untouched,
    with_grades,
)

MISPRINTED = ("60k", "1/3GC")  # no split of its changed cells gives the printed precision
Line = tuple[str, list[tuple[str, float, float]]]  # what was run; what, ours, as printed


def main() -> None:
    """Run, print, and end with 1 where a printed result did not come out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="30,000 and 20,000 records only")
    smoke = parser.parse_args().smoke
    if not available():
        print("The reference numbers are not there.")
        return
    wrong = compared = 0
    for title, lines in experiments(smoke):
        print(f"\n{title}")
        for name, results in lines:
            bad = [one for one in results if differs(*one[1:])]
            told = "  ".join(f"{what} {shown(ours)}" for what, ours, _ in results)
            told = told or "not compared: fewer false records are printed than untouched pairs need"
            print(f"  {name:24} {told}{'' if not bad else f'   PRINTED: {bad}'}")
            wrong, compared = wrong + len(bad), compared + len(results)
    print(f"\n{compared - wrong:,} of {compared:,} printed results come out.")
    adult(smoke)
    sys.exit(1 if wrong else 0)


def differs(ours: float, printed: float) -> bool:
    return abs(ours - printed) > (6e-4 if isinstance(ours, float) else 0)


def shown(value: float) -> str:
    return f"{value:,.4f}" if isinstance(value, float) else f"{value:,}"


def experiments(smoke: bool) -> Iterator[tuple[str, Iterator[Line]]]:
    sizes = ["30k"] if smoke else ["30k", "60k", "120k", "180k", "240k", "250k"]
    yield "Experiments 1 to 3: YOB generalized (G), suppressed (C), both (Tables 2, 4, 7)", approaches(sizes)
    yield "Experiment 4: two to five quasi-identifiers (Tables 8, 13, 15)", numbers(smoke)
    yield "Experiment 5: diverse grades, record suppression (Tables 9, 10)", diverse(smoke)
    yield "Experiment 6: diverse grades, sensitive suppression (Tables 10, 17)", cells(smoke)
    yield "The algorithm's recommendations (Figures 4 to 8, Tables 15, 16, 18)", recommendations(smoke)


def run(rows: Any, quasi: tuple[str, ...], xk: int, d: int = 1, **method: Any) -> dict[str, Any]:
    """One release of a table; its records and measures."""
    import sfumato

    columns: dict[str, Any] = {name: {"role": "quasi"} for name in quasi}
    if "yob" in quasi:
        columns["yob"]["hierarchy"] = {"interval": [5]}
    criteria: list[dict[str, Any]] = [{"k-anonymity": {"k": 5}}]
    if d > 1:
        columns["grade"] = {"role": "sensitive"}
        criteria.append({"l-diversity": {"column": "grade", "l": d}})
    done = sfumato.anonymize(rows, {
        "columns": columns, "criteria": criteria, "suppression": 1.0, "suppressed": "drop", "seed": 1,
        "method": {"name": "xk", "xk": xk, **method}}, report=False)
    assert done.verdict.holds
    return {**done.manifest["records"], "total": done.verdict.records, "pairs": done.verdict.classes,
            "precision": 100 * done.manifest["measures"]["file_precision"],
            "loss": 100 * done.manifest["measures"]["file_loss"]}


def approaches(sizes: list[str]) -> Iterator[Line]:
    """Every approach of Table 7 whose printed counts do not contradict each other."""
    for size in sizes:
        entry = entries()[f"table7/{size}"]
        records = entry["inputs"]["records"]
        for row in entry["expected"]:
            row = {name: value or 0 for name, value in row.items()} | row["corrections"]
            label, _, kind = row["approach"].partition("-") if "-" in row["approach"] else (
                row["approach"].rstrip("GC"), "", row["approach"].lstrip("/1234T"))
            xk = LEVELS[label]
            suppressed, added = int(row["suppressed"]), int(row["added"])
            precision = row.get("precision_by_formula", row["precision"])
            kept, total = records - suppressed, records - suppressed + added
            changed = kept - int(row["original"]) if kind else 0
            back = sum(pair.size for pair in histogram(f"{size}/Q5") if pair.size < xk) - suppressed
            missing, halves = (back - changed, {"G": back, "C": 0, "": 0}.get(kind)) if kind else (0, 0)
            if halves is None:  # both: as many of each as the printed precision says
                value = COLUMNS * (kept - precision * total / 100)
                halves = min(max(round(2 * (changed - value)), 0), changed)
            pairs = made(f"{size}/Q5", xk, suppressed, added, halves, back - halves if kind else 0)
            if pairs is None:
                needed = untouched(f"{size}/Q5", xk)
                assert added < needed
                yield f"{size} {row['approach']}", []
                continue
            found = run(table(pairs), QUASI, xk, **({"generalize": {"yob": 1}} if "G" in kind else {}),
                        **({"suppress_cells": ["yob"]} if "C" in kind else {}))
            corrected = found["precision"] + 100 * missing / COLUMNS / found["total"]
            known = (size, row["approach"]) != MISPRINTED
            yield f"{size} {row['approach']}", [
                ("suppressed", found["suppressed"], suppressed), ("added", found["added"], added),
                ("total", found["total"], total), ("missing", missing, missing),
                *([("precision", corrected, precision)] if known else [])]


def numbers(smoke: bool) -> Iterator[Line]:
    for name in [f"{size}/Q{q}" for size in (("30k",) if smoke else ("30k", "60k")) for q in range(2, 6)]:
        expected = entries()[f"sweep/{name}"]["expected"]["outcomes"]
        rows, q = table(histogram(name), QUASI[: int(name[-1])]), int(name[-1])
        for (label, xk), outcome in zip(LEVELS.items(), expected, strict=True):
            found = run(rows, QUASI[:q], xk)
            yield f"{name} {label}", [
                ("suppressed", found["suppressed"], outcome["suppressed"]),
                ("added", found["added"], outcome["added"]), ("original", found["kept"], outcome["original"]),
                ("total", found["total"], outcome["total"]),
                ("precision", found["precision"], float(outcome["precision"]))]


def diverse(smoke: bool) -> Iterator[Line]:
    for name, d in (("30k/Q5", 2), *(() if smoke else (("250k/Q4", 2), ("250k/Q4", 3)))):
        entry = entries()[f"ldiv/{name}/D{d}"]
        rows, q = table(with_grades(name, d), QUASI[: int(name[-1])], d), int(name[-1])
        for label, pairs, suppressed, added, total, precision in entry["inputs"]["levels"]:
            found = run(rows, QUASI[:q], LEVELS.get(label[:3], 5), d)
            yield f"{name} D{d} {label}", [
                ("pairs", found["pairs"], pairs), ("suppressed", found["suppressed"], suppressed),
                ("added", found["added"], added), ("total", found["total"], total),
                ("precision", found["precision"], float(precision))]


def cells(smoke: bool) -> Iterator[Line]:
    """Sensitive suppression where it is known which pairs are diverse: 20,000 records."""
    rows = table(with_grades("test20k/Q5", 3), QUASI, 3)
    for label in ("1/3", "3/4"):
        found = run(rows, QUASI, LEVELS[label], 3, sensitive_suppression=True)
        precision = entries()[f"modprec/20k/Q5/D3 {label}S"]["expected"]["precision"]
        loss = entries()[f"dataloss/20k/{label}S"]["expected"]["data_loss"]
        suppressed = entries()[f"dataloss/20k/{label}S"]["inputs"]["suppressed"]
        yield f"20k D3 {label}S", [("suppressed", found["suppressed"], suppressed),
                                   ("precision", found["precision"], precision),
                                   ("loss", found["loss"], loss)]
    found = run(rows, QUASI, 4)
    yield "20k 3/4", [("loss", found["loss"], entries()["dataloss/20k/3/4--"]["expected"]["data_loss"])]


def recommendations(smoke: bool) -> Iterator[Line]:
    """All 23, by `sfumato.recommend` from a table."""
    import sfumato

    labels = {"1/4k": 1, "1/3k": 2, "1/2k": 3, "3/4k": 4, "k": 5}
    tables: dict[tuple[str, int], Any] = {}
    for name, entry in entries().items():
        if not name.startswith("rec/") or "alt" in name or name == "rec/fig7/20-noSS":
            continue
        given, expected = entry["inputs"], entry["recomputed"]
        if smoke and not given["dataset"].startswith(("30k", "test20k")):
            continue
        d, quasi = given["dv"], QUASI[: given["q"]]
        source = (given["dataset"], d)
        if source not in tables:
            pairs = with_grades(given["dataset"], d) if d > 1 else histogram(given["dataset"])
            tables[source] = table(pairs, quasi, d)
        prefer = None if given["preference"].lower() == "none" else given["preference"]
        found = sfumato.recommend(tables[source], quasi=quasi, k=5, prefer=prefer,
                                  min_precision=given["min_precision"],
                                  **({"sensitive": "grade", "diversity": d, "sensitive_suppression": True}
                                     if d > 1 else {})).recommendation
        wanted = [labels[one] for one in expected["recommend"]]
        yield name, [*(("xk", ours, theirs) for ours, theirs in zip(found.recommended, wanted, strict=True)),
                     ("from", found.precision_range[0], expected["range"][0]),
                     ("to", found.precision_range[1], expected["range"][1]),
                     ("loss", found.maximum_loss, expected["max_data_loss"])]


def adult(smoke: bool) -> None:
    """The same six on Adult: every combination of techniques at the recommended level."""
    import sfumato

    if not ADULT.is_file():
        return
    print("\nAdult: education, marital-status, sex, age (elected), race; occupation as the sensitive column")
    order = ("education", "marital-status", "sex", "age", "race")
    specs = {name: f"{ADULT.parent}/hierarchies/adult_hierarchy_{name}.csv" for name in order}
    print(f"  {'approach':34} {'suppressed':>10} {'added':>8} {'pairs':>6} {'precision':>10} "
          f"{'predicted':>10} {'proven':>15} {'loss':>7} {'at most':>8} {'seconds':>8}")
    for q in (4,) if smoke else (2, 3, 4, 5):
        quasi = order[:q]
        for d, cells_only in ((1, False), (3, False), (3, True)):
            advice = sfumato.recommend(ADULT, quasi={name: specs[name] for name in quasi}, k=5,
                                       sensitive_suppression=cells_only,
                                       **({"sensitive": "occupation", "diversity": d} if d > 1 else {}))
            best = advice.recommendation.best
            for kind in ("", "G", "C", "GC") if "age" in quasi else ("",):
                method = {"generalize": {"age": 1}} if "G" in kind else {}
                method |= {"suppress_cells": ["age"]} if "C" in kind else {}
                started = time.process_time()
                done = sfumato.anonymize(ADULT, advice.recipe.with_(seed=1, method={
                    "name": "xk", **advice.recipe.method, **method}), report=False)
                taken = time.process_time() - started
                name = f"Q{q} {best.label} {kind or '-'} D{d}{' S' if cells_only else ''}"
                told, measures = done.manifest["records"], done.manifest["measures"]
                low, high = best.precision_range
                proven = f"{best.proven_range[0]:.2f}-{best.proven_range[1]:.2f}"
                print(f"  {name:34} {told['suppressed']:10,} {told['added']:8,} {done.verdict.classes:6,} "
                      f"{100 * measures['file_precision']:10.2f} {f'{low}-{high}':>10} {proven:>15} "
                      f"{100 * measures['file_loss']:7.2f} {best.maximum_loss:8} {taken:8.1f}")


if __name__ == "__main__":
    main()
