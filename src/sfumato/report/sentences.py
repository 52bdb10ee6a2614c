"""What the report says in plain words: the verdict, the search, the limits, the glossary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.report.figures import listing, number, percent, several

Manifest = Mapping[str, Any]

# What a criterion means to somebody who has never heard of it.
MEANINGS = {
    "k-anonymity": (
        "Nobody can be told apart from fewer than k people by the columns that could identify them."),
    "real-records": (
        "Every class has at least xk records of people of the table; what it lacks to k are false records, "
        "which nothing in the release tells apart."),
    "alpha-k-anonymity": (
        "In every class, no sensitive value is held by more than the share α of its records, and the class "
        "has at least k of them."),
    "l-diversity": (
        "In every class, the sensitive column takes several well spread values, so that knowing somebody's "
        "class does not give the value away."),
    "t-closeness": (
        "In every class, sensitive values are spread almost as in the whole table, so that knowing "
        "somebody's class says little more about them."),
    "beta-likeness": (
        "In no class does a sensitive value become much more likely than it is in the whole table."),
    "bucket-size": (
        "Every bucket has at least k records, and within it nothing says which values of different groups of "
        "columns belong together."),
    "matching-probability": (
        "Whoever knows all the columns that could identify a person gives no sensitive value of that person "
        "more than one chance in l."),
    "rules": (
        "No record was given a combination of values that the recipe calls nonsensical."),
    "linkable": (
        "Somebody who also finds a person in another release of the same people is left, with the chance "
        "asked for, with several sensitive values that both releases allow, and not with one."),
    "confidence": (
        "Somebody who intersects this sample with another one of the same people is, on average over the "
        "other, no surer of anybody's sensitive value than asked."),
    "rows": (
        "The file has as many rows as were drawn. Which of them are noise or a sample cannot be seen in it."),
    "budget": (
        "What was spent on choices and noise adds up to no more than the ε asked for: nothing in the file "
        "depends on any one record by more than that."),
    "partition": (
        "Every cell of the file is a node or a value that was published with it, and all of these were "
        "counted, also where nobody was."),
    "delta-disclosure": (
        "In no class is a sensitive value much more or much less common than in the whole table."),
}

GLOSSARY = (
    {"word": "Quasi-identifier",
     "meaning": "A column that does not name anybody but may single people out together with others: age, "
                "postcode, occupation. An attacker is assumed to know these."},
    {"word": "Class",
     "meaning": "The records that show the same released values in all quasi-identifiers. Within a class, "
                "people cannot be told apart by those columns."},
    {"word": "k-anonymity",
     "meaning": "The promise that every class holds at least k records, so that a guess at who is who is "
                "right at most once in k times."},
    {"word": "Generalization",
     "meaning": "Replacing a value by a coarser one that is still true: 37 becomes [20..40), which is from "
                "20 up to, but not including, 40. Level 0 is the value itself; the highest level, written "
                "*, says nothing at all."},
    {"word": "Suppression",
     "meaning": "Giving up a record whose combination is so rare that blurring everybody else for its sake "
                "would cost more: its quasi-identifiers become * or it is left out."},
)


# What the lines of example rows and of class sizes are, by what a release is made of.
EXAMPLES = {
    "classes": {
        "one": "class", "many": "Classes", "records": "Records", "tuples": "Combinations before",
        "sizes": "Records in a class of … records",
        "line": "Each line is one class: so many records show exactly these values, which now stand for so "
                "many different combinations of private values."},
    "slices": {
        "one": "bucket", "many": "Buckets", "records": "Records in the bucket",
        "tuples": "Their combinations before",
        "sizes": "Records in a bucket of … records",
        "line": "Each line is one row as it stands in a bucket of so many records. Its column groups come "
                "from different people, so the row as a whole is nobody's."},
    "drawn": {
        "one": "class", "many": "Classes", "records": "Rows", "tuples": "Combinations that fit",
        "sizes": "Rows whose labels … rows show",
        "line": "Each line is one combination of labels: so many rows show it, and so many different "
                "combinations of the private table fit it. No row is known to be anybody's."},
}


def examples(manifest: Manifest) -> dict[str, str]:
    """How example rows and class sizes are headed."""
    kind = "slices" if "column_groups" in manifest else "drawn" if "drawn" in manifest else "classes"
    return EXAMPLES[kind]


def quasi(manifest: Manifest) -> list[str]:
    """The quasi-identifiers' names."""
    return named(manifest, "quasi")


def named(manifest: Manifest, role: str) -> list[str]:
    """The columns of a role."""
    return [name for name, column in manifest.get("columns", {}).items() if column["role"] == role]


def meaning(name: str, manifest: Manifest) -> str:
    """What a criterion means, in one sentence."""
    if name == "k-anonymity" and manifest["records"].get("added"):
        return ("Every record looks like at least k records, itself among them, in the columns that could "
                "identify somebody. Not all of these are people: see real-records.")
    return MEANINGS.get(name, "")


def finding(found: Mapping[str, Any], manifest: Manifest) -> str:
    """What was found about one criterion."""
    if found["worst"] is None:
        return "No class of records was released, so there is nothing that could break it."
    if "column_groups" in manifest and found["holds"]:
        return in_buckets(found)
    if not found["holds"]:
        kind = ("bucket", "buckets") if "column_groups" in manifest else ("class", "classes")
        return (f"{several(found['failing'], *kind)} of records "
                f"{'breaks' if found['failing'] == 1 else 'break'} it: the worst reaches "
                f"{number(found['worst'])} where {number(found['threshold'])} is asked.")
    if found["name"] == "k-anonymity":
        return shared_by(found["threshold"], manifest)
    if found["name"] in OF_DRAWN:
        return OF_DRAWN[found["name"]].format(worst=number(found["worst"]), asked=number(found["threshold"]))
    return (f"Every class of records keeps it: the worst reaches {number(found['worst'])} "
            f"where {number(found['threshold'])} is asked.")


OF_DRAWN = {
    "rows": "The file has the {worst} rows that were drawn.",
    "budget": "Choices and noise together spent ε = {worst} of the {asked} that bound what the file tells of "
              "anybody.",
    "partition": "No cell of the file is outside the published nodes and values.",
}


def in_buckets(found: Mapping[str, Any]) -> str:
    """What holds of a sliced release, in plain words."""
    if found["name"] == "bucket-size":
        return (f"Every bucket has at least {number(found['threshold'])} records (the smallest has "
                f"{number(found['worst'])}), and within it each group of columns stands in an order of its "
                "own.")
    if found["name"] == "matching-probability":
        return ("Somebody who knows all the columns that could identify a person gives none of the person's "
                f"possible sensitive values more than {percent(found['threshold'])} (the worst reaches "
                f"{percent(found['worst'])}).")
    return "No record was given a combination of values that the recipe calls nonsensical."


def shared_by(k: float, manifest: Manifest) -> str:
    """k-anonymity in plain words."""
    columns = quasi(manifest)
    if not columns:
        return "No column is taken to identify anybody, so all records look alike."
    what = f"combination of {listing(columns)}" if len(columns) > 1 else f"value of {listing(columns)}"
    rest = " Suppressed records show none of these." if manifest["records"]["suppressed"] else ""
    if manifest["records"]["added"]:
        return (f"Every {what} in this release is shared by at least {number(k)} records, of which at least "
                f"{manifest['adaptable']['xk']:,} are of people and the others are false.{rest}")
    return (f"Every {what} in this release is shared by at least {number(k)} people, "
            f"counting one record as one person.{rest}")


def opening(manifest: Manifest) -> str:
    """The verdict in one or two sentences."""
    criteria = manifest["verdict"]["criteria"]
    if not criteria:
        return "The recipe names no criterion, so nothing was checked."
    broken = [found for found in criteria if not found["holds"]]
    if broken:
        names = listing(f"{found['name']} ({found['promise']})" for found in broken)
        return (f"{len(broken)} of {several(len(criteria), 'promise')} {'is' if len(broken) == 1 else 'are'} "
                f"broken: {names}. {finding(broken[0], manifest)} Do not hand this release on as it stands.")
    if not holds(manifest["verdict"]):
        return ("Every criterion holds, and yet the release failed its verdict as a whole. Do not hand this "
                "release on as it stands.")
    first = next((found for found in criteria if found["name"] in ("k-anonymity", "budget")), criteria[0])
    others = len(criteria) - 1
    hold = "holds" if others == 1 else "hold"
    more = f" {several(others, 'further promise')} {hold} too." if others else ""
    plain = first["name"] in ("k-anonymity", *OF_DRAWN) or "column_groups" in manifest
    lead = "" if plain else f"{first['name']} ({first['promise']}): "
    return lead + finding(first, manifest) + more


def search(manifest: Manifest) -> str:
    """How sure it is that no other release of this kind loses less."""
    if research := manifest.get("research"):
        return worth(research)
    found, cost = manifest.get("search"), manifest.get("cost") or {}
    if certificate := manifest.get("certificate"):
        return certified(certificate, cost, manifest["records"]["received"])
    if not found:
        return ""
    score = f"{cost.get('name', 'cost')} = {number(cost.get('score'))}"
    ways = several(found["nodes"], "combination")
    if found["status"] == "optimal":
        how = ("All of them were counted." if found["checked"] >= found["nodes"] else
               f"{found['checked']:,} had to be counted, the others were ruled out by proof.")
        return (f"Proven best: of the {ways} of levels, none that keeps the promise costs less ({score}). "
                f"{how}")
    bound = found.get("bound")
    left = "" if bound is None else f" Nothing below {number(bound)} is possible."
    return (f"Best found, not proven best: {found['checked']:,} of the {ways} of levels were counted in the "
            f"time given, and the best that keeps the promise costs {score}.{left}")


def certified(found: Mapping[str, Any], cost: Mapping[str, Any], records: int) -> str:
    """How far from the best possible a local recoding can be, and what is known of the gap."""
    score, bound = f"{cost['name']} = {number(cost['score'])}", number(found["bound"])
    if not found["score"]:
        return "Nothing was lost, so no release can lose less."
    if found["within"] is None:
        return f"No bound above 0 could be proven for what this release loses ({score})."
    gap = found["score"] - found["bound"]
    told = (f"{within(found['within'])}: {score}, and it is proven that no "
            f"release made of classes under labels of this kind can cost less than {bound}.")
    if not gap:
        return f"{told} This release is the best there is."
    parts = [f"about {percent(found[part])} by {how} on" for part, how in
             (("search_part", "searching"), ("bound_part", "proving")) if found[part] is not None]
    judged = (f" Of the gap, {' and '.join(parts)} would be closed, judged by how it went; the rest is "
              "beyond this kind of search or of proof." if parts else "")
    return (f"{told}{judged} {percent(found['records_at_their_bound'] / records)} of the records are in "
            "classes that cost no more than the proof allows them.")


def within(share: float) -> str:
    """How far from the best possible, in words: percent, or times where percent would be a large number."""
    if share <= 1:
        return f"Within {percent(share)} of the best possible"
    return f"At most {number(1 + share)} times the best possible (the proof is weak for this table)"


def worth(found: Mapping[str, Any]) -> str:
    """What a release is worth to research, and how sure it is that none is worth more."""
    kept = f"The levels of this release are worth {number(found['value'])} to research"
    if found["complete"]:
        return (f"{kept}. Proven best: no generalization to one level a column that keeps the promise is "
                "worth more.")
    return (f"{kept}, the most of {several(found['successes_found'], 'generalization')} found to keep the "
            "promise; that no other is worth more is not proven.")


def limits(manifest: Manifest) -> list[dict[str, str]]:
    """What this release does not guarantee."""
    if "drawn" in manifest:
        own: tuple[dict[str, str] | None, ...] = drawn(manifest)
    elif "column_groups" in manifest:
        own = (sliced(manifest),)
    else:
        own = (false_records(manifest), centres(manifest), more_knowledge(manifest), sensitive(manifest),
               suppressed(manifest))
    return [point for point in (*own, *ALWAYS) if point]


ALWAYS = (
    {"title": "Other releases of the same people",
     "text": "Two releases that are each fine may tell more when laid side by side. Compare with what "
             "has been, or will be, published about the same people."},
    {"title": "One person, several records",
     "text": "The counts are of records. Where one person has several (visits, orders), a class of k records "
             "may hide fewer than k people."},
    {"title": "What is true of a whole group",
     "text": "The release still teaches facts about groups, as it is meant to. They may be held against "
             "people who belong to the group, even people who are not in the table."},
)


def false_records(manifest: Manifest) -> dict[str, str] | None:
    """What false records leave open, and what they cost."""
    added = manifest["records"]["added"]
    if not added:
        return None
    return {"title": "False records",
            "text": f"{several(added, 'record')} of this release {'is' if added == 1 else 'are'} nobody's. "
                    "Totals counted from it are too high, mostly among people with rare combinations. How "
                    "other columns go together is not imitated: somebody who knows that two columns always "
                    "agree may see a false record in which they do not. The private folder tells which they "
                    f"are. As few as {manifest['adaptable']['xk']:,} of a class may be of people, and false "
                    "records repeat their sensitive values: where these are the same, finding the class is "
                    "enough to know them."}


def sliced(manifest: Manifest) -> dict[str, str]:
    """What a release of true values in permuted columns leaves open."""
    groups = "; ".join(listing(group) for group in manifest["column_groups"])
    return {"title": "Values are as they were",
            "text": f"The values of each column, and their combinations in a group of columns ({groups}), "
                    "are those of real "
                    "people: somebody may recognize that a person is in the table. What is hidden is which "
                    "values of different groups belong to one person. A row of the file is nobody's record."}


def drawn(manifest: Manifest) -> tuple[dict[str, str], ...]:
    """What a release of drawn rows leaves open."""
    told = manifest["drawn"]
    if "budget" in told:
        return ({"title": "The budget is spent once",
                 "text": f"ε = {told['budget']['epsilon']:g} bounds what this one file says of anybody. "
                         "Two such files about the same people have the sum of their ε."},
                {"title": "This report is not for publication",
                 "text": "The guarantee is that of the released file alone. Report and manifest compare it "
                         "with the private table and carry no noise: whoever is to have no more than ε "
                         "must not see them."})
    noisy = " Noise of this kind is no differential privacy end to end." if "noise" in told else ""
    return ({"title": "No guarantee for a single person",
             "text": "Where the labels lie depends on the records." + noisy + " What is read of a person's "
                     "class may be wrong, and may be right."},)


def centres(manifest: Manifest) -> dict[str, str] | None:
    """Labels that are true of a class and not of each of its records."""
    columns = manifest.get("centres")
    if not columns:
        return None
    kinds = {"mean": "the mean", "mode": "the most frequent value"}
    named = listing(f"{name} ({kinds[centre]})" for name, centre in columns.items())
    return {"title": "Centres in the place of values",
            "text": f"In {named} a record shows the centre of its class, which need not be true of it. "
                    "Spread, correlations and counts by these columns differ from the private table's."}


def more_knowledge(manifest: Manifest) -> dict[str, str]:
    """An attacker who knows other columns."""
    others = [*named(manifest, "sensitive"), *named(manifest, "plain")]
    known = listing(quasi(manifest)) or "no column"
    also = f" This release also shows {listing(others)}, unchanged or nearly so." if others else ""
    return {"title": "Attackers who know more",
            "text": f"The promise counts on an attacker who knows {known} and nothing else. Somebody "
                    f"who knows further columns may single people out.{also}"}


def sensitive(manifest: Manifest) -> dict[str, str] | None:
    """Sensitive columns that no criterion looks at, or that it only bounds."""
    columns = listing(named(manifest, "sensitive"))
    if not columns:
        return None
    if all(found["name"] == "k-anonymity" for found in manifest["verdict"]["criteria"]):
        return {"title": "What all members of a class share",
                "text": f"No criterion here looks at {columns}. If everybody in a class has the same value, "
                        "knowing somebody's class is knowing their value."}
    return {"title": "Guesses at sensitive values",
            "text": f"What a class says about its members' sensitive columns ({columns}) is bounded by the "
                    "criteria that name them; it is not brought to nothing."}


def suppressed(manifest: Manifest) -> dict[str, str] | None:
    """What remains visible of suppressed records."""
    count = manifest["records"]["suppressed"]
    if not count:
        return None
    if manifest.get("suppressed_rows", "keep") == "drop":
        are = "is" if count == 1 else "are"
        return {"title": "Records left out",
                "text": f"{several(count, 'suppressed record')} {are} missing from the release. Totals "
                        "counted from it are too low, mostly among people with rare combinations."}
    return {"title": "Suppressed records are a group of their own",
            "text": f"{several(count, 'suppressed record')} can be recognized by the * in every quasi-"
                    "identifier. Each belongs to somebody with a rare combination, and its other columns are "
                    "still shown."}


def headline(verdict: Mapping[str, Any]) -> str:
    """The verdict in a handful of words."""
    return {None: "Nothing was promised", True: "The promise holds",
            False: "The promise does not hold"}[holds(verdict)]


def holds(verdict: Mapping[str, Any]) -> bool | None:
    """Whether all of it holds; None where nothing was promised."""
    if not verdict["criteria"]:
        return None
    return bool(verdict["holds"]) and all(found["holds"] for found in verdict["criteria"])


def column_change(column: Mapping[str, Any]) -> str:
    """What happened to a column."""
    level, levels = column.get("level"), column.get("levels")
    if column["role"] == "identifying" or column.get("left_out"):
        return "left out of the release"
    if group := column.get("group"):
        return ("permuted within buckets" if len(group) == 1 else
                f"permuted within buckets, {listing(group)} together")
    if hidden := column.get("hidden"):
        return f"{several(hidden, 'cell')} suppressed"
    if column["role"] != "quasi":
        return "not generalized"
    if centre := column.get("centre"):
        return "each class's mean" if centre == "mean" else "each class's most frequent value"
    if level is None or levels is None:
        return "generalized, more for some records than for others"
    if level == 0:
        return "values as they were"
    return "nothing left but *" if level == levels - 1 else f"level {level} of {levels - 1}"
