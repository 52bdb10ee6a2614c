"""The attackers' chances, from class sizes (El Emam & Dankar 2008; Dankar & El Emam 2010)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from sfumato.classes import Bools, Ints
from sfumato.measure.evidence import Measure, RiskProfile, because

BOUNDS = (2, 3, 5, 10, 20, 100)  # a class smaller than this has a risk above one in that many
BINS = (1, 2, 3, 5, 10, 20, 50, 100)  # the smallest class of each bin; the last one is open

ATTACKERS = ("El Emam & Dankar 2008, Protecting privacy using k-anonymity, "
             "J Am Med Inform Assoc 15(5), 627-637")
MARKETER = ("Dankar & El Emam 2010, A method for evaluating marketer re-identification risk, "
            "EDBT/ICDT Workshops")
UNIQUES = "Skinner & Elliot 2002, A measure of disclosure risk for microdata, J R Stat Soc B 64(4), 855-867"
K_ANONYMITY = ("Samarati 2001, Protecting respondents' identities in microdata release, "
               "IEEE TKDE 13(6), 1010-1027")

KEPT_ONLY = " After: over the records that are kept; suppressed records are counted apart."
LOOKALIKES = "Records with the same released quasi-identifiers look alike and form a class. "
JOURNALIST = (" The journalist wants to expose anyone at all and compares with the population that the table "
              "was drawn from; no such population is given here, so the table stands for it and the figure "
              "equals the prosecutor's.")

DEFINITIONS = {
    "unique": "Records that no other record shares its quasi-identifiers with." + KEPT_ONLY,
    "at_risk": "Share of records whose class is so small that the chance of picking the right record in it, "
               "one over its size, is above the threshold." + KEPT_ONLY,
    "sizes": "Share of records that stand in a class of that many records." + KEPT_ONLY,
}


def profile(sizes: Ints, suppressed: int) -> RiskProfile:
    """The risk of the records in classes of these sizes."""
    records = int(sizes.sum())
    return RiskProfile(
        records=records, classes=len(sizes), unique=int((sizes == 1).sum()), suppressed=suppressed,
        lowest=1 / int(sizes.max()) if records else None,
        average=len(sizes) / records if records else None,
        highest=1 / int(sizes.min()) if records else None,
        smallest=int(sizes.min()) if records else None,
        largest=int(sizes.max()) if records else None,
        at_lowest=_share(sizes, sizes == sizes.max(initial=0)),
        at_highest=_share(sizes, sizes == sizes.min(initial=np.iinfo(np.int64).max)),
        at_risk=_risk_shares(sizes) if records else {},
        sizes=_size_shares(sizes) if records else {})


def _share(sizes: Ints, where: Bools) -> float:
    """Share of the records that stand in the chosen classes."""
    return float(sizes[where].sum() / max(int(sizes.sum()), 1))


def _risk_shares(sizes: Ints) -> dict[str, float]:
    return {f"> {100 / bound:.0f} %": _share(sizes, sizes < bound) for bound in BOUNDS}


def _size_shares(sizes: Ints) -> dict[str, float]:
    bins = np.digitize(sizes, BINS) - 1
    return {_bin_name(n): _share(sizes, bins == n) for n in range(len(BINS))}


def _bin_name(n: int) -> str:
    if n == len(BINS) - 1:
        return f"{BINS[n]}+"
    last = BINS[n + 1] - 1
    return str(last) if last == BINS[n] else f"{BINS[n]}-{last}"


class _Meaning(NamedTuple):
    name: str
    title: str
    read: Callable[[RiskProfile], float | None]
    better: Literal["lower", "higher"]
    low: float
    high: float | None
    definition: str
    citation: str


_PROSECUTOR = "The prosecutor knows that one person is in the table and looks for that person's record: "
_MEANINGS = (
    _Meaning("prosecutor_highest", "Highest prosecutor risk", lambda p: p.highest, "lower", 0, 1,
             LOOKALIKES + _PROSECUTOR + "the chance of picking it right in the smallest class, 1 / its size.",
             ATTACKERS),
    _Meaning("prosecutor_average", "Average prosecutor risk", lambda p: p.average, "lower", 0, 1,
             LOOKALIKES + _PROSECUTOR + "the chance of picking it right, averaged over all records,"
             " which is classes / records.", ATTACKERS),
    _Meaning("prosecutor_lowest", "Lowest prosecutor risk", lambda p: p.lowest, "lower", 0, 1,
             LOOKALIKES + _PROSECUTOR + "the chance of picking it right in the largest class, 1 / its size.",
             ATTACKERS),
    _Meaning("records_at_highest", "Records at the highest risk",
             lambda p: p.at_highest if p.records else None, "lower", 0, 1,
             "Share of records that stand in a class of the smallest size, where the risk is highest.",
             ATTACKERS),
    _Meaning("records_at_lowest", "Records at the lowest risk",
             lambda p: p.at_lowest if p.records else None, "higher", 0, 1,
             "Share of records that stand in a class of the largest size, where the risk is lowest.",
             ATTACKERS),
    _Meaning("journalist_highest", "Highest journalist risk", lambda p: p.highest, "lower", 0, 1,
             "The chance of exposing a person of the smallest class, 1 / its size." + JOURNALIST,
             ATTACKERS),
    _Meaning("journalist_average", "Average journalist risk", lambda p: p.average, "lower", 0, 1,
             "The chance of exposing a person, averaged over all records." + JOURNALIST, ATTACKERS),
    _Meaning("journalist_lowest", "Lowest journalist risk", lambda p: p.lowest, "lower", 0, 1,
             "The chance of exposing a person of the largest class, 1 / its size." + JOURNALIST,
             ATTACKERS),
    _Meaning("marketer", "Marketer risk", lambda p: p.average, "lower", 0, 1,
             "The marketer matches every record with a list of people and does not mind mistakes: the share "
             "of records expected to be matched right, classes / records, if the list holds the same people.",
             MARKETER),
    _Meaning("uniques", "Unique records", lambda p: p.unique / p.records if p.records else None,
             "lower", 0, 1,
             "Share of records that are alone with their quasi-identifiers in the table (sample uniques);"
             " whether they are alone in the population too cannot be told from the table.", UNIQUES),
    _Meaning("smallest_class", "Smallest class", lambda p: p.smallest, "higher", 1, None,
             "Records in the smallest class: each record looks like at least this many, itself included"
             " (the k that is reached).", K_ANONYMITY),
    _Meaning("average_class", "Average class", lambda p: p.records / p.classes if p.records else None,
             "higher", 1, None, "Records per class, records / classes.", K_ANONYMITY),
    _Meaning("largest_class", "Largest class", lambda p: p.largest, "higher", 1, None,
             "Records in the largest class.", K_ANONYMITY),
)


def attackers(before: RiskProfile, after: RiskProfile) -> tuple[Measure, ...]:
    """Each attacker's chance and the class sizes, in the private table and in the release."""
    return tuple(Measure(m.name, m.title, m.read(after), m.read(before), m.better, m.low, m.high,
                         m.definition + KEPT_ONLY + because(after.average, "no record is kept"), m.citation)
                 for m in _MEANINGS)
