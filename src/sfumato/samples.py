"""Synthetic populations for demonstrations and tests: clearly invented, the same for the same seed."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Texts = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]

GIVEN_NAMES = ("Ada", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jo", "Kim", "Leo")
REGIONS = ("41", "42", "47", "53", "58", "60")  # first two digits of the invented postcodes
REGION_SHARES = (0.34, 0.22, 0.16, 0.12, 0.10, 0.06)

# Occupations and their shares, in the age bands of OCCUPATION_AGES.
OCCUPATIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "working": {
        "health and teaching": ("nurse", "physician", "teacher", "carer"),
        "office and trade": ("clerk", "seller", "accountant", "software developer"),
        "craft and transport": ("builder", "driver", "electrician", "cook"),
    },
    "not working": {
        "growing up": ("preschool child", "pupil", "student"),
        "at home": ("retired", "homemaker", "job seeker"),
    },
}
MARITAL_STATUS = {
    "never married": "single", "divorced": "single", "widowed": "single",
    "married": "partnered", "registered partnership": "partnered",
}

# Chapters of diagnoses in the manner of the ICD: the ward that treats them, how frequent they are at
# ages 0-17, 18-44, 45-64 and 65 and over, usual days in hospital, usual cost of a day.
DIAGNOSES: dict[str, tuple[str, tuple[float, float, float, float], float, int]] = {
    "I00-I99 circulatory": ("internal medicine", (1, 4, 18, 30), 6.0, 820),
    "C00-D48 neoplasms": ("oncology", (2, 5, 16, 17), 8.0, 1150),
    "S00-T98 injury": ("surgery", (22, 16, 11, 13), 4.5, 900),
    "J00-J99 respiratory": ("internal medicine", (24, 7, 8, 12), 5.0, 700),
    "K00-K93 digestive": ("surgery", (14, 14, 15, 9), 4.0, 760),
    "M00-M99 musculoskeletal": ("surgery", (3, 7, 14, 9), 5.5, 880),
    "F00-F99 mental": ("psychiatry", (8, 15, 9, 3), 18.0, 430),
    "A00-B99 infectious": ("internal medicine", (16, 5, 4, 4), 5.0, 690),
    "N00-N99 genitourinary": ("surgery", (5, 9, 5, 3), 3.5, 780),
    "O00-O99 childbirth": ("obstetrics", (0, 60, 0, 0), 3.0, 840),
}
OF_WOMEN_ONLY = "O00-O99 childbirth"
BAND_ENDS = (17, 44, 64)  # the last age of each band of DIAGNOSES


def hospital_stays(records: int = 20_000, seed: int = 7) -> pa.Table:
    """Two years of hospital stays in an invented region, one row per patient, in random order."""
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    age = _ages(rng, records)
    sex = np.where(rng.random(records) < 0.53, "female", "male")
    diagnosis = _diagnoses(rng, age, sex)
    days = _days(rng, age, diagnosis)
    return pa.table({
        "patient_id": [f"P{n:07d}" for n in rng.permutation(records) + 1_000_000],
        "name": [f"{given} {initial}." for given, initial in
                 zip(rng.choice(GIVEN_NAMES, records), rng.choice(list("ABCDEFGHKLMNRSTVW"), records),
                     strict=True)],
        "age": age,
        "sex": sex.tolist(),
        "postcode": _with_gaps(rng, _postcodes(rng, records), 0.01),
        "marital_status": np.where(rng.random(records) < 0.02, "?", _marital_status(rng, age)).tolist(),
        "occupation": _with_gaps(rng, _occupations(rng, age), 0.04),
        "admitted": _admissions(rng, diagnosis),
        "ward": [DIAGNOSES[name][0] for name in diagnosis],
        "diagnosis": diagnosis.tolist(),
        "days": days,
        "charge": _charges(rng, days, diagnosis),
    })


def write_hospital(folder: str | Path, records: int = 20_000, seed: int = 7) -> Path:
    """Write `stays.csv`, two hierarchies and the recipe `stays.yaml`; answer the recipe's path."""
    import pyarrow.csv

    folder = Path(folder)
    (folder / "hierarchies").mkdir(parents=True, exist_ok=True)
    pyarrow.csv.write_csv(hospital_stays(records, seed), folder / "stays.csv")
    (folder / "hierarchies" / "marital_status.csv").write_text(_marital_csv(), encoding="utf-8")
    (folder / "hierarchies" / "occupation.yaml").write_text(_occupation_tree(), encoding="utf-8")
    (folder / "stays.yaml").write_text(RECIPE, encoding="utf-8")
    return folder / "stays.yaml"


def _ages(rng: np.random.Generator, records: int) -> Numbers:
    """Children, adults and the old, as they come to hospitals: many at both ends."""
    kind = rng.choice(3, records, p=(0.12, 0.36, 0.52))
    drawn = np.choose(kind, (rng.gamma(1.2, 5.0, records), rng.normal(38, 13, records),
                             rng.normal(71, 11, records)))
    return np.clip(drawn, 0, 99).astype(np.int64)


def _postcodes(rng: np.random.Generator, records: int) -> Texts:
    """Five digits: a region, a district (city districts are fuller) and a delivery office."""
    region = rng.choice(REGIONS, records, p=REGION_SHARES)
    district = np.minimum(rng.geometric(0.45, records) - 1, 4).astype(str)
    office = rng.integers(10, 16, records).astype(str)
    return np.char.add(np.char.add(region, district), office)


def _marital_status(rng: np.random.Generator, age: Numbers) -> Texts:
    """Nobody under 18 is married; the old are more often widowed."""
    drawn = rng.random(len(age))
    widowed = np.clip((age - 50) / 90, 0.005, 0.45)
    married = np.clip((age - 20) / 40, 0, 0.62) * (1 - widowed)
    edges = np.stack([widowed, widowed + married, widowed + married * 1.08, widowed + married * 1.32])
    names = np.array(["widowed", "married", "registered partnership", "divorced", "never married"])
    return np.where(age < 18, "never married", names[(drawn >= edges).sum(axis=0)])


def _occupations(rng: np.random.Generator, age: Numbers) -> Texts:
    """Pupils, then students, then work of all kinds, then retirement at about 65."""
    work = np.array([name for group in OCCUPATIONS["working"].values() for name in group])
    shares = 1 / np.arange(6, len(work) + 6)
    working = rng.choice(work, len(age), p=shares / shares.sum())
    idle = rng.choice(["homemaker", "job seeker"], len(age), p=(0.6, 0.4))
    adult = np.where(rng.random(len(age)) < 0.17, idle, working)
    adult = np.where((age < 26) & (rng.random(len(age)) < 0.5), "student", adult)
    old = age + rng.normal(0, 2, len(age)) >= 65
    return np.select([age < 6, age < 18, old], ["preschool child", "pupil", "retired"], adult)


def _diagnoses(rng: np.random.Generator, age: Numbers, sex: Texts) -> Texts:
    """One chapter a patient, by age band and sex."""
    names = np.array(list(DIAGNOSES))
    weights = np.array([frequency for _, frequency, _, _ in DIAGNOSES.values()], dtype=float)
    of_patient = weights[:, np.digitize(age, BAND_ENDS, right=True)].T.copy()
    of_patient[sex == "male", list(DIAGNOSES).index(OF_WOMEN_ONLY)] = 0
    edges = np.cumsum(of_patient / of_patient.sum(axis=1, keepdims=True), axis=1)
    chosen = (rng.random((len(age), 1)) >= edges).sum(axis=1)
    return np.asarray(names[np.minimum(chosen, len(names) - 1)])


def _days(rng: np.random.Generator, age: Numbers, diagnosis: Texts) -> Numbers:
    """Days in hospital: long tails, longer for the old."""
    usual = np.array([DIAGNOSES[name][2] for name in diagnosis])
    drawn = usual * (0.75 + age / 160) * rng.lognormal(-0.15, 0.55, len(age))
    return np.asarray(np.clip(np.rint(drawn), 1, 120), dtype=np.int64)


def _charges(rng: np.random.Generator, days: Numbers, diagnosis: Texts) -> npt.NDArray[np.float64]:
    """A fixed part and the days, give or take a fifth."""
    daily = np.array([DIAGNOSES[name][3] for name in diagnosis])
    return np.asarray(np.round((1200 + days * daily) * rng.lognormal(0, 0.2, len(days)), 2))


def _admissions(rng: np.random.Generator, diagnosis: Texts) -> list[date]:
    """Days of 2024 and 2025; half of the respiratory stays fall into the first ten weeks of a year."""
    year, day = rng.integers(2024, 2026, len(diagnosis)), rng.integers(0, 365, len(diagnosis))
    winter = (diagnosis == "J00-J99 respiratory") & (rng.random(len(diagnosis)) < 0.5)
    first = np.where(year == 2024, date(2024, 1, 1).toordinal(), date(2025, 1, 1).toordinal())
    return [date.fromordinal(int(n)) for n in first + np.where(winter, day % 70, day)]


def _with_gaps(rng: np.random.Generator, values: Texts, share: float) -> list[str | None]:
    """Some values were never asked for."""
    gaps = rng.random(len(values)) < share
    return [None if gap else str(value) for value, gap in zip(values, gaps, strict=True)]


def _marital_csv() -> str:
    return "".join(f"{status};{kind};*\n" for status, kind in MARITAL_STATUS.items())


def _occupation_tree() -> str:
    import yaml

    tree = {kind: {group: list(names) for group, names in groups.items()}
            for kind, groups in OCCUPATIONS.items()}
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)


RECIPE = """\
# What is in stays.csv, what must hold, and what matters.
table: stays.csv
missing: ["?"]                 # how the source writes "not known", besides an empty cell

columns:                       # a column not listed is plain: released as it stands
  patient_id:     {role: identifying}     # names one person: never released
  name:           {role: identifying}
  age:            {role: quasi, hierarchy: {interval: [5, 10, 20]}, weight: 2}   # its blur counts double
  sex:            {role: quasi, hierarchy: suppress}                 # as it is, or not at all
  postcode:       {role: quasi, hierarchy: {prefix: 5}, weight: 2}   # five digits, masked from the right
  marital_status: {role: quasi, hierarchy: hierarchies/marital_status.csv}   # value;group;*
  occupation:     {role: quasi, hierarchy: {tree: hierarchies/occupation.yaml}}
  admitted:       {role: quasi, hierarchy: {dates: [month, quarter, year]}}  # neighbours may know the day
  diagnosis:      {role: sensitive}       # what must not be learnt about a person
  ward:           {role: identifying}     # tells the diagnosis (obstetrics): left out of the release
                               # days and charge stay plain: whoever knows a bill can find its row

criteria:
  - {k-anonymity: {k: 5}}                                      # nobody in a group of fewer than five
  - {l-diversity: {column: diagnosis, l: 3, kind: distinct}}   # nor in one of fewer than three diagnoses

suppression: 0.05              # up to 5 in 100 records may lose all of their quasi-identifiers instead
method: {name: optimal, cost: ncp}   # the proven least loss, counted by the certainty penalty
seed: 7
"""


if __name__ == "__main__":
    write_hospital(sys.argv[1])
