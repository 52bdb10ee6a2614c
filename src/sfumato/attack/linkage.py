"""Record linkage with Splink: how many released records are linked back to the right person.

Fellegi, I., Sunter, A. (1969). A theory for record linkage. J Am Stat Assoc 64(328), 1183-1210; Linacre, R.,
Lindsay, S., Manassis, T., Slade, Z., Hepworth, T. (2022). Splink: free software for probabilistic record
linkage at scale. IJPDS 7(3).

1. Every released record is compared with every person, column by column: its label is the value itself, it
   covers the value, or neither. (A released cell is the set of values that it may stand for.)
2. How often these agree by chance is estimated from random pairs. That they agree for the same person is what
   labels are for: only one in 100 is taken to be wrong. (Expectation maximization, Splink's own way, may take
   pairs that differ for those that match where few records stand apart.) Neither sees who is who.
3. A record is linked to the likeliest person; people equally likely share it.
4. The released column that says whose record it is scores the links, and nothing else.

The rows of a sliced release are nobody's: whose number a row has was permuted within its bucket like any
plain column, so a link into the right bucket is right as often as chance has it.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.attack.intervals import Share, wilson
from sfumato.attack.labels import Covers
from sfumato.attack.view import Known
from sfumato.classes import Floats, Ints
from sfumato.errors import MissingExtraError, RequestError

MOST = 20_000_000  # pairs of a record and a person
WRONG, LEAST = 0.01, 1e-6  # probabilities that a label is not its own record's; that are taken for none
PAIRS = 1_000_000  # that the estimates look at
EVERY = "1 = 1"  # every record is compared with every person
SLACK = 1e-9


@dataclass(frozen=True)
class Linkage:
    """What was linked."""

    records: int
    people: int
    owned: int  # records whose person is among those that are known
    linked: int  # records whose likeliest person is likelier than not
    right: float  # records linked to their own person, people equally likely sharing a record
    right_linked: float  # of those that are linked
    rate: Share  # right of owned
    chance: float  # the same by picking a person at random


def link(rows: Known, people: Known, covers: Sequence[Covers], seed: int) -> Linkage:
    """Link released rows to people, whose `truth` says who is who; a `covers` for each column."""
    n, m = len(rows), len(people)
    if n * m > MOST:
        raise RequestError(f"{n:,} records and {m:,} people make {n * m:,} pairs; at most {MOST:,} are "
                           "compared.", f"Give {MOST // n:,} people at most.")
    assert rows.truth is not None and people.truth is not None
    number = {label: code for code, label in enumerate(dict.fromkeys((*rows.truth, *people.truth)))}
    own, persons = (np.array([number[label] for label in one]) for one in (rows.truth, people.truth))
    record, person, probability = likeliest(rows, people, covers, seed)
    shared = np.bincount(record, minlength=n)
    hits = own[record] == persons[person]
    right = np.bincount(record[hits], weights=1 / shared[record[hits]], minlength=n)
    sure = np.zeros(n, dtype=bool)
    sure[record[probability > 0.5]] = True
    owned = int(np.isin(own, persons).sum())
    return Linkage(n, m, owned, int(sure.sum()), float(right.sum()), float(right[sure].sum()),
                   wilson(float(right.sum()), owned), 1 / m)


def likeliest(rows: Known, people: Known, covers: Sequence[Covers], seed: int) -> tuple[Ints, Ints, Floats]:
    """Per record its likeliest people and their probability: record, person, probability, a row each."""
    splink = require_splink()
    api = import_module("splink.backends.duckdb").DuckDBAPI()
    try:
        with quietly():
            sides = [api.register(side, dataset_display_name=name) for name, side in (
                ("a_release", released_side(rows, covers)), ("b_people", people_side(people, rows.names)))]
            linker = splink.Linker(sides, model(splink, rows, covers, len(people)), log_level=logging.ERROR)
            linker.training.estimate_u_using_random_sampling(max_pairs=PAIRS, seed=seed)
            found = linker.inference.predict().as_pyarrow_table()
    finally:
        api.duckdb_con.close()
    record, person, probability = (np.asarray(found.column(name)) for name in (
        "unique_id_l", "unique_id_r", "match_probability"))
    best = np.zeros(len(rows))
    np.maximum.at(best, record, probability)
    kept = probability >= best[record] - SLACK
    return record[kept], person[kept], probability[kept]


def released_side(rows: Known, covers: Sequence[Covers]) -> Any:
    """The records: each cell the list of the values that it may stand for."""
    import pyarrow as pa

    columns: dict[str, Any] = {"unique_id": np.arange(len(rows))}
    for j, one in enumerate(covers):
        lists = [np.flatnonzero(one.of(label)).tolist() for label in range(len(one.same))]
        columns[f"c{j}"] = pa.array(lists, pa.list_(pa.int32())).take(pa.array(rows.codes[:, j]))
    return pa.table(columns)


def people_side(people: Known, names: Sequence[str]) -> Any:
    """The people: each cell the list of one value."""
    import pyarrow as pa

    columns: dict[str, Any] = {"unique_id": np.arange(len(people))}
    for j, name in enumerate(names):
        codes = people.codes[:, people.names.index(name)]
        columns[f"c{j}"] = pa.array([[int(code)] for code in codes], pa.list_(pa.int32()))
    return pa.table(columns)


def model(splink: Any, rows: Known, covers: Sequence[Covers], people: int) -> Any:
    """Every column compared in three levels; a record is any of the people's to begin with."""
    levels = import_module("splink.comparison_level_library")
    library = import_module("splink.comparison_library")
    comparisons = []
    for j, one in enumerate(covers):
        coarse = float(np.mean(one.coarse[rows.codes[:, j]]))
        said = (("the value itself", f"c{j}_l = c{j}_r", 1 - coarse),
                ("covers it", f"list_has_any(c{j}_l, c{j}_r)", coarse))
        asked = [levels.CustomLevel(condition, name).configure(m_probability=max(share * (1 - WRONG), LEAST))
                 for name, condition, share in said]
        comparisons.append(library.CustomComparison(
            output_column_name=f"c{j}",
            comparison_levels=[*asked, levels.ElseLevel().configure(m_probability=WRONG)]))
    return splink.SettingsCreator(
        link_type="link_only", comparisons=comparisons, blocking_rules_to_generate_predictions=[EVERY],
        probability_two_random_records_match=1 / max(people, 2), retain_matching_columns=False)


@contextmanager
def quietly() -> Iterator[None]:
    """Splink tells much while it works, which is nobody's business here."""
    logger = logging.getLogger("splink")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


def require_splink() -> Any:
    """Splink, imported when it is needed."""
    try:
        return import_module("splink")
    except ImportError:
        raise MissingExtraError("Record linkage", "linkage") from None
