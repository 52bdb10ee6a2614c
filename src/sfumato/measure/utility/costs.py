"""What each cost's score means, for a reader of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from sfumato.measure.evidence import Measure, because
from sfumato.measure.utility.loss import NCP, PENALTY


class Meaning(NamedTuple):
    """A cost in words: lower is better in all of them."""

    title: str
    low: float
    high: float | None
    definition: str
    citation: str


COST_MEANING: Mapping[str, Meaning] = {
    "ncp": Meaning(
        "Certainty penalty", 0, 1,
        "How much of each quasi-identifying cell is hidden, averaged over all cells with the recipe's "
        "weights: " + PENALTY, NCP),
    "loss": Meaning(
        "Loss", 0, 1,
        "As the certainty penalty, but the columns are joined by a geometric mean: the product of (1 + the "
        "column's loss), to the power of 1 / columns, minus 1. Loss that is spread evenly costs more than "
        "one column lost.",
        "Iyengar 2002, Transforming data to satisfy privacy constraints, KDD, 279-288"),
    "aecs": Meaning(
        "Average class size", 1, None,
        "Records per class, where all suppressed records together count as one class: large classes show "
        "less detail.",
        "LeFevre, DeWitt & Ramakrishnan 2006, Mondrian multidimensional k-anonymity, ICDE"),
    "discernibility": Meaning(
        "Discernibility", 0, None,
        "Each record costs as many points as there are records it cannot be told apart from: the sum of the "
        "squared class sizes; a suppressed record costs as many as the table has records.",
        "Bayardo & Agrawal 2005, Data privacy through optimal k-anonymization, ICDE, 217-228"),
    "precision": Meaning(
        "Loss of precision", 0, 1,
        "How far each cell climbed in its hierarchy, level / highest level, averaged over all cells with the "
        "recipe's weights: 0 where values are shown, 1 where nothing is (1 minus the published precision, "
        "Prec).",
        "Sweeney 2002, Achieving k-anonymity privacy protection using generalization and suppression, "
        "Int J Uncertain Fuzz 10(5), 571-588"),
    "height": Meaning(
        "Height", 0, None,
        "The sum of the levels that the columns were generalized by, times the recipe's weights; where "
        "records differ in their levels, the mean over those that are kept. Suppression costs nothing here.",
        "Samarati 2001, Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 1010-1027"),
    "entropy": Meaning(
        "Entropy lost", 0, None,
        "Information lost by the quasi-identifiers, in bits over all cells: a cell loses log2(records with "
        "its label / records with its value), so hiding a rare value among frequent ones costs more than "
        "hiding a frequent one; suppressed records lose the rest.",
        "De Waal & Willenborg 1999, Information loss through global recoding and local suppression, "
        "Netherlands Official Statistics 14, 17-20"),
    "kl": Meaning(
        "Kullback-Leibler divergence", 0, None,
        "How far the distribution that a reader would rebuild from the release, each label standing evenly "
        "for the values under it, is from the private one, in bits: the mean over records of "
        "log2(true share / rebuilt share); a suppressed record stands evenly for all combinations.",
        "Kifer & Gehrke 2006, Injecting utility into anonymized datasets, SIGMOD, 217-228"),
    "ambiguity": Meaning(
        "Ambiguity", 1, None,
        "How many combinations of values a released record could stand for: the product, over its "
        "quasi-identifiers, of the values under its label, averaged over all records; a suppressed record "
        "could stand for all combinations.",
        "Goldberger & Tassa 2010, Efficient anonymizations with enhanced utility, Trans Data Privacy 3(2), "
        "149-175"),
    "research-value": Meaning(
        "Research value lost", 0, None,
        "The research value of each column's best level less that of the levels released, summed over "
        "columns and averaged over records: what the rules and weights of the recipe say is given up. A "
        "suppressed record is worth what * is.",
        "Morton, Mahoui, Gibson & Yechuri, An enhanced utility-driven data anonymization method, section 4"),
}


def cost(name: str, score: float) -> Measure:
    """A cost's score with its meaning."""
    title, low, high, definition, citation = COST_MEANING[name]
    value = float(score) if math.isfinite(score) else None
    reason = because(value, "the score is not a finite number")
    return Measure(name, title, value, None, "lower", low, high, definition + reason, citation)
