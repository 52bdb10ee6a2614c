"""What the labels hide: certainty penalty per column, and the entropy that is kept."""

from __future__ import annotations

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import ROOT, Hierarchy
from sfumato.measure.evidence import Measure, because
from sfumato.recoding import SUPPRESSED, Regrouping

NCP = "Xu, Wang, Pei, Wang, Shi & Fu 2006, Utility-based anonymization using local recoding, KDD, 785-790"
ENTROPY = ("De Waal & Willenborg 1999, Information loss through global recoding and local suppression, "
           "Netherlands Official Statistics 14, 17-20; with differing levels in one column: Prasser, Bild & "
           "Kuhn 2016, A generic method for assessing the quality of de-identified health data, MIE, 312-316")
SUPPRESSION = ("Samarati 2001, Protecting respondents' identities in microdata release, "
               "IEEE TKDE 13(6), 1010-1027")
CELLS = ("Tandon & Jain 2010, Balancing between data utility and privacy preservation in data mining, "
         "section 4.5")
DISTORTION = "BinJubier 2024, Upper Lower level-based protection approach, thesis; Eq 2.2, 2.3"
PENALTY = ("0 where the value itself is shown, 1 where nothing is (as in a suppressed record), else (values "
           "under the label - 1) / (values - 1); a column with a single value has nothing to hide: 0.")

DEFINITIONS = {
    "loss": "How much of the column's cells is hidden, on average (certainty penalty): " + PENALTY,
}


def column_ncp(frequency: FrequencySet, regrouping: Regrouping) -> list[float | None]:
    """Per quasi-identifier: the mean certainty penalty of its cells; a suppressed one is at the root."""
    records = frequency.n_records
    if not records:
        return [None] * frequency.n_quasi
    sizes = regrouping.sizes(frequency)
    suppressed = regrouping.suppressed(frequency)
    return [float(sizes @ _penalties(frequency, regrouping, column) + suppressed * hierarchy.ncp(-1).sum())
            / records for column, hierarchy in enumerate(frequency.hierarchies)]


def _penalties(frequency: FrequencySet, regrouping: Regrouping, column: int) -> Floats:
    n_values = frequency.hierarchies[column].n_values
    return (regrouping.labelling(frequency, column).leaves(n_values) - 1) / max(n_values - 1, 1)


def kept_entropy(frequency: FrequencySet, regrouping: Regrouping) -> float | None:
    """Share of the columns' entropy that the labels keep; None where no column has any."""
    lost = whole = 0.0
    for column in range(frequency.n_quasi):
        cells = _cells_by_level(frequency, regrouping, column)
        lost += _lost_bits(frequency, column, cells)
        whole += _spread(cells.sum()) - _spread(cells.sum(axis=0))
    return min(1.0, max(0.0, 1 - lost / whole)) if whole > 0 else None


def _cells_by_level(frequency: FrequencySet, regrouping: Regrouping, column: int) -> Ints:
    """[level, value]: records with that value that are released at that level (suppressed: the root's).

    A label outside the hierarchy counts as the lowest node above it.
    """
    hierarchy = frequency.hierarchies[column]
    root = hierarchy.n_levels - 1
    levels = np.full(frequency.n_tuples, root, dtype=np.int64)
    kept = regrouping.class_of != SUPPRESSED
    levels[kept] = regrouping.levels[regrouping.class_of[kept], column]
    keys = levels * hierarchy.n_values + frequency.codes[:, column]
    cells = np.bincount(keys, weights=frequency.counts, minlength=hierarchy.n_levels * hierarchy.n_values)
    return cells.astype(np.int64).reshape(hierarchy.n_levels, hierarchy.n_values)


def _lost_bits(frequency: FrequencySet, column: int, cells: Ints) -> float:
    """Climb level by level with the records that go at least that high (Prasser et al., section 2)."""
    nodes = frequency.hierarchies[column].nodes
    lost = 0.0
    for level in range(1, len(cells)):
        climbing = cells[level:].sum(axis=0)
        if climbing.any():
            lost += (_spread(np.bincount(nodes[level], weights=climbing))
                     - _spread(np.bincount(nodes[level - 1], weights=climbing)))
    return lost


def _spread(counts: Ints | Floats | np.integer) -> float:
    """Sum of f log2 f."""
    some = np.asarray(counts, dtype=np.float64).ravel()
    some = some[some > 0]
    return float(some @ np.log2(some))


def cells_suppressed(frequency: FrequencySet, regrouping: Regrouping) -> list[float]:
    """Per quasi-identifier: how many records show `*` only."""
    sizes, suppressed = regrouping.sizes(frequency), regrouping.suppressed(frequency)
    starred = [[text == ROOT for text in regrouping.labelling(frequency, column).texts]
               for column in range(frequency.n_quasi)]
    return [float(sizes[np.array(column, dtype=bool)].sum() + suppressed) for column in starred]


def categorical(hierarchy: Hierarchy) -> bool:
    """Whether a column has values that are no numbers."""
    return any(value is not None and not _is_number(value) for value in hierarchy.values)


def _is_number(text: str) -> bool:
    try:
        float(text)
        return True
    except ValueError:
        return False


def cell_shares(frequency: FrequencySet, regrouping: Regrouping) -> tuple[Measure, Measure]:
    """The share of cells of which nothing is shown: of all quasi-identifiers, and of the categorical ones."""
    records, hidden = frequency.n_records, cells_suppressed(frequency, regrouping)
    some = [n for n, hierarchy in zip(hidden, frequency.hierarchies, strict=True) if categorical(hierarchy)]
    every, words = (sum(columns) / (records * len(columns)) if records and columns else None
                    for columns in (hidden, some))
    meaning = f"Share of the quasi-identifiers' cells that show {ROOT} only"
    return (
        Measure("cells_suppressed", "Cells suppressed", every, 0.0, "lower", 0, 1,
                f"{meaning}, those of suppressed records included." + because(every, "there is no cell"),
                CELLS),
        Measure("cells_suppressed_categorical", "Cells suppressed, categorical columns", words, 0.0, "lower",
                0, 1, f"{meaning}, those of suppressed records included, counted over the columns that have "
                "values other than numbers (a number may be released as an interval or a mean, which is "
                f"never {ROOT})." + because(words, "there is no such cell"), CELLS))


def losses(frequency: FrequencySet, regrouping: Regrouping) -> tuple[Measure, ...]:
    """The mean certainty penalty, the entropy kept, and the shares of records and cells suppressed."""
    columns = [share for share in column_ncp(frequency, regrouping) if share is not None]
    mean_ncp = sum(columns) / len(columns) if columns else None
    kept = kept_entropy(frequency, regrouping)
    records = frequency.n_records
    suppressed = regrouping.suppressed(frequency) / records if records else None
    return (
        Measure("mean_ncp", "Mean certainty penalty", mean_ncp, 0.0, "lower", 0, 1,
                "How much of each quasi-identifying cell is hidden, averaged over all cells: " + PENALTY
                + because(mean_ncp, "there is no cell"), NCP),
        Measure("entropy_kept", "Entropy kept", kept, 1.0, "higher", 0, 1,
                "Share of the quasi-identifiers' information, in bits, that still shows: 1 - bits lost / "
                "bits there were. A cell loses, level by level up to its own (suppressed: to the root), "
                "log2(records with the label there / records with the label below), counted among the "
                "records that climb as far."
                + because(kept, "no column has more than one value"), ENTROPY),
        Measure("suppressed_share", "Records suppressed", suppressed, 0.0, "lower", 0, 1,
                "Share of records whose quasi-identifiers are not shown at all."
                + because(suppressed, "there is no record"), SUPPRESSION),
        *cell_shares(frequency, regrouping))


def distortion(frequency: FrequencySet, regrouping: Regrouping) -> Measure:
    """The distortion ratio of a release of classes; sensitive values are as they were."""
    records, columns = frequency.n_records, frequency.n_quasi + len(frequency.sensitive)
    if not records:
        return distorted(None)
    sizes, lost = regrouping.sizes(frequency), float(regrouping.suppressed(frequency) * frequency.n_quasi)
    for column, hierarchy in enumerate(frequency.hierarchies):
        leaves = regrouping.labelling(frequency, column).leaves(hierarchy.n_values)
        lost += float(sizes @ np.where(itself(frequency, regrouping, column), 0, leaves)) / hierarchy.n_values
    return distorted(lost / (records * columns))


def itself(frequency: FrequencySet, regrouping: Regrouping, column: int) -> Bools:
    """Per class: is the label the value itself? (A label outside its hierarchy has the lowest node above.)"""
    return np.asarray(regrouping.levels[:, column] == 0)


def distorted(ratio: float | None) -> Measure:
    """The distortion ratio as a measure."""
    return Measure("distortion_ratio", "Distortion ratio", ratio, 0.0, "lower", 0, 1,
                   "Mean over all cells, the sensitive columns' included, of values under the lowest common "
                   "ancestor of value and label / values of the column; 0 for a value itself, also where it "
                   "was swapped with another of its rank group. The thesis calls 1 minus this the utility."
                   + because(ratio, "there is no cell"), DISTORTION)


def as_they_were(share: float | None) -> Measure:
    """The literal reading of the disclosure risk ratio as a measure."""
    return Measure("rows_as_they_were", "Rows that show a person's quasi-identifiers", share, 1.0, "lower", 0,
                   1, "Share of the released rows whose quasi-identifiers are all values themselves, and "
                   "those of some record (each record being used once): the literal reading of the "
                   "disclosure risk ratio. Two releases together are judged by sfumato attack."
                   + because(share, "there is no record"), DISTORTION)
