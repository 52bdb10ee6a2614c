"""Which approach withstands two independent releases, and what does it cost?

The experiment of BinJubier's thesis (2024, chapter 4): two releases of 4,000 records each that share 100 to
500 further people, made independently by the same approach; somebody who knows the shared people's
quasi-identifiers intersects what both say. Education and occupation of Adult are sensitive in turn. The same
on two years of real survey records, where the shared people are records of the first year that are put into
the second as well. Everything is repeated over seeds; intervals are bootstrapped over them.

    python benchmarks/composition.py                         # 20 seeds; about half an hour on two cores
    python benchmarks/composition.py --out report            # the folder of results and reports
    python benchmarks/composition.py --smoke                 # one seed, one overlap, a small release

Runs whose result stands in the folder already are not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from _adult import SHARED
from _composition import Table, adult, survey, write_report

SEEDS, EACH, OVERLAPS, KS, CONTROL = 20, 4000, (100, 200, 300, 400, 500), (4, 6), 500
RATES = {"lower": 0.02, "upper": 0.98}
LINKAGE, DRAWN = "linkage", ("e-DP", "hybrid-style", "composition-style")  # whose rows are nobody's
ONE_RELEASE = ("risks", "linkage")  # what one release says is judged at the smallest k
SWEPT = (("education", 4), ("occupation", 4))  # where fewer people are shared, too
RISKS, TRIALS, DRAWS = "risks", 300, 3  # beyond a control: how many attacks, on how many draws of a release
LINKED = 200  # people whom records are linked to
EPSILON = 0.3  # the thesis's, for whatever adds noise


@dataclass(frozen=True)
class Job:
    """One approach on one pair of tables."""

    family: str
    approach: str
    k: int
    overlap: int
    seed: int

    @property
    def key(self) -> str:
        """What tells it from other jobs."""
        return f"{self.family}/{self.approach}/{self.k}/{self.overlap}/{self.seed}"


def approaches(k: int, l: float, values: list[str], bounds: dict[str, Any]) -> dict[str, dict[str, Any]]:  # noqa: E741
    """What is asked of each approach, as the recipe's method and criteria; those that are in the registry."""
    from sfumato.methods.registry import METHODS

    own = {"k": k, "l": l}
    asked: dict[str, dict[str, Any]] = {
        "e-DP": {"method": {"name": "e-dp", "epsilon": EPSILON, "values": values, "bounds": bounds}},
        "UL": {"method": {"name": "ul", **RATES, **own}},
        "hybrid-style": {"method": {"name": "hybrid-style", "k": k, "epsilon": EPSILON}},
        "merging-style": {"method": {"name": "merging-style", **own}},
        "probabilistic-style": {"method": {"name": "probabilistic-style", "k": k}},
        "composition-style": {"method": {"name": "composition-style", "k": k, "alpha": 1 / l}},
        "Mondrian": {"method": {"name": "mondrian"}, "criteria": [{"k-anonymity": {"k": k}}, {
            "l-diversity": {"l": int(l)}}]},
        "slicing": {"method": {"name": "slicing", **own}},
        "bucketization": {"method": {"name": "bucketization", **own}},
    }
    return {name: said for name, said in asked.items() if said["method"]["name"] in METHODS}


def tables(made: Table, job: Job, each: int) -> tuple[Any, Any, Any, Any]:
    """The two tables, the people whom they share, and people who are in neither."""
    rng = np.random.default_rng(job.seed)
    first, second = (rng.permutation(len(rows)) for rows in made.years)
    n = job.overlap
    one, rest = first[:each], first[each:]
    shared, control = rest[:n], rest[n:n + CONTROL]
    other = second[-each:] if len(made.years) > 1 and made.years[0] is not made.years[1] else rest[
        n + CONTROL:n + CONTROL + each]
    import pyarrow as pa

    people = made.years[0].take(shared)
    return (pa.concat_tables([made.years[0].take(one), people]),
            pa.concat_tables([made.years[1].take(other), people]), people, made.years[0].take(control))


def run(job: Job, made: Table, each: int) -> dict[str, Any]:
    """Both releases, and what every judge says of them."""
    import sfumato

    first, second, people, control = tables(made, job, each)
    said = approaches(job.k, min(made.most_l, job.k), made.values, made.bounds)[job.approach]
    criteria = [{name: {**given, **({"column": made.sensitive} if name != "k-anonymity" else {})}
                 for name, given in one.items()} for one in said.get("criteria", [])]
    started, releases = time.process_time(), []
    for n, table in enumerate((first, second)):
        recipe = {"columns": made.columns, "criteria": criteria, "method": said["method"],
                  "seed": 2 * job.seed + n}
        try:
            releases.append(sfumato.anonymize(table, recipe, report=False))
        except sfumato.errors.InfeasibleError:
            return {**asdict(job), "infeasible": True}
        if job.family == LINKAGE:
            return {**asdict(job), **linked(releases[0], people, job.seed)}
        if job.family == RISKS:
            return {**asdict(job), **beyond(releases[0], people, control, job.seed)}
    seconds = time.process_time() - started
    measures = releases[0].manifest["measures"]
    return {**asdict(job), "seconds": seconds, **{name: measures.get(name) for name in MEASURED},
            **judged(releases, people, control, min(made.most_l, job.k), job)}


def beyond(release: Any, people: Any, control: Any, seed: int) -> dict[str, Any]:
    """Singling out, linkability and inference beyond the control, of one release."""
    import sfumato

    found = sfumato.risks(release, known=people, control=control, trials=TRIALS, draws=DRAWS, seed=seed)
    return {**{one.name: one.residual.rate for one in found},
            **{f"{one.name}_over_guessing": one.attack.rate - one.baseline.rate for one in found}}


def linked(release: Any, people: Any, seed: int) -> dict[str, Any]:
    """How many of these people's records Splink leads back to them."""
    import sfumato

    found = sfumato.link(release, known=people.slice(0, LINKED), identity="person", seed=seed)
    return {"linked_right": found.right / max(found.owned, 1), "linked_chance": found.chance}


def judged(releases: list[Any], people: Any, control: Any, l: float, job: Job) -> dict[str, Any]:  # noqa: E741
    """What is told of the shared people and of strangers."""
    import pyarrow as pa

    from sfumato.attack.composition import attack
    from sfumato.attack.run import scene

    with scene(releases, pa.concat_tables([people, control]), None, (), None, (), {}) as seen:
        shared, others = (seen.known.some(part) for part in (slice(0, len(people)), slice(len(people), None)))
        told, strangers = (attack(seen.views, one, l) for one in (shared, others))
    return {**{name: getattr(told, name) for name in TOLD}, "likelier": told.likelier / len(people),
            "contradicted": told.contradicted / len(people), "over_control": told.guessed - strangers.guessed}


MEASURED = ("distortion_ratio", "query_error_mean", "query_error_median", "mean_ncp", "rows_as_they_were")
TOLD = ("drr_certain", "drr_matches", "guessed", "own_value", "values", "certain", "exact", "wrong",
        "found_in_all")


def jobs(families: dict[str, Table], seeds: int, overlaps: tuple[int, ...]) -> Iterator[Job]:
    """Everything that is asked: the most shared people first, then seed by seed."""
    for overlap, seed in product(sorted(overlaps, reverse=True), range(seeds)):
        for (family, made), k in product(families.items(), KS):
            fewer = overlap < max(overlaps)
            if (fewer and (family, k) not in SWEPT) or (family in ONE_RELEASE and k != KS[0]):
                continue
            for approach in approaches(k, min(made.most_l, k), made.values, made.bounds):
                if family != LINKAGE or approach not in DRAWN:
                    yield Job(family, approach, k, overlap, seed)


def main() -> None:
    """Run what is not there yet, then write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("composition"))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--overlaps", default=",".join(map(str, OVERLAPS)))
    parser.add_argument("--approaches", help="only these, comma-separated")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--smoke", action="store_true", help="one seed, one overlap, 400 records a release")
    asked = parser.parse_args()
    if not SHARED.is_dir():
        print("The tables of this experiment stand beside the project, and are not there.")
        return
    each, seeds = (400, 1) if asked.smoke else (EACH, asked.seeds)
    overlaps = (100,) if asked.smoke else tuple(int(text) for text in asked.overlaps.split(","))
    families = {"education": adult("education"), "occupation": adult("occupation"), "survey": survey(),
                RISKS: adult("occupation"), LINKAGE: adult("occupation", identity=True)}
    out = Path(asked.out) / "smoke" if asked.smoke else asked.out
    out.mkdir(parents=True, exist_ok=True)
    results = out / "results.jsonl"
    results.touch()
    done = {key_of(row) for row in map(json.loads, results.read_text().splitlines())}
    wanted = [job for job in jobs(families, seeds, overlaps) if job.key not in done
              and (asked.approaches is None or job.approach in asked.approaches.split(","))]
    wanted.sort(key=lambda job: (-job.overlap, job.k, job.family in ONE_RELEASE, job.seed))
    perform(wanted, families, each, results, asked.workers)
    rows = {key_of(row): row for row in map(json.loads, results.read_text().splitlines())}
    print(write_report(list(rows.values()), out))


def key_of(row: dict[str, Any]) -> str:
    """The key of the job that a result is of."""
    return Job(**{name: row[name] for name in Job.__dataclass_fields__}).key


def perform(wanted: list[Job], families: dict[str, Table], each: int, results: Path, workers: int) -> None:
    """Run jobs on some processes; each result is written as it comes."""
    started = time.perf_counter()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool, results.open("a") as file:
        waiting = {pool.submit(run, job, families[job.family], each): job for job in wanted}
        for n, future in enumerate(as_completed(waiting), 1):
            file.write(json.dumps(future.result()) + "\n")
            file.flush()
            if n % 100 == 0 or n == len(wanted):
                print(f"{n:,} of {len(wanted):,} pairs of releases, {time.perf_counter() - started:,.0f} s",
                      flush=True)


if __name__ == "__main__":
    main()
