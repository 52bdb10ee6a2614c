"""What a column's name says of it: the words that stewards use, in a few languages, and survey codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

Kind = Literal["category", "number", "date", "postcode", ""]


@dataclass(frozen=True)
class Concept:
    """What a name stands for, and the role that goes with it."""

    what: str
    role: Literal["identifying", "quasi", "sensitive", "plain"]
    kind: Kind  # of its hierarchy, for a quasi-identifier
    word: str  # the part of the name that says so
    open: str | None = None


BY_LAW = "It is also a special category of data in many laws: consider making it sensitive."
WEIGHT = "A weight with many values can be matched with other releases of the survey: round it or drop it."
GRADE = "If it is a rank that others know, make it quasi."
FREE = "Free text can name people. Drop it, or read it before making it plain."
SHARED = "Do members of a household or several visits share it? It is dropped either way."

# Role, kind, what it is, words, what to ask: the first that matches decides. A word is matched between the
# parts of a name, and * stands for any letters.
TABLE: tuple[tuple[str, Kind, str, str, str | None], ...] = (
    ("plain", "", "survey weight", """
        fnlwgt *wgt *wgtp *wght instance_weight sample_weight survey_weight person_weight weighting
     """, WEIGHT),
    ("identifying", "", "e-mail", "email* e_mail mail courriel correo", None),
    ("identifying", "", "phone", """
        phone* telephone* tel mobile cell cellphone fax handy telefon* msisdn
     """, None),
    ("identifying", "", "national number", """
        ssn social_security* nin nino bsn personnummer cpr pesel nhs nhs_number passport* driv*_licen*
        driver_license national_id tax_id tax_number steuer* dni nif codice_fiscale fiscal_code
        insurance_number policy_number sozialversicherung* identity_number
     """, None),
    ("identifying", "", "account", """
        iban bic account account_number account_no konto* card_number credit_card
     """, None),
    ("identifying", "", "address", """
        address* addr street* strasse straße hausnummer house_number adresse direccion
     """, None),
    ("identifying", "", "device or network", """
        ip ip_address mac_address imei imsi device* cookie* url website user_agent
     """, None),
    ("identifying", "", "free text", """
        note notes comment comments remark* free_text freetext narrative anamnesis
     """, FREE),
    ("identifying", "", "vehicle", "licen*_plate number_plate plate vin kennzeichen", None),
    ("identifying", "", "person's name", """
        forename* surname* lastname firstname fullname first_name last_name full_name given_name
        family_name middle_name maiden_name nickname username user_name login patient_name customer_name
        client_name employee_name member_name person_name vorname nachname familienname prenom prénom
        nombre apellido* cognome navn naam
     """, None),
    ("identifying", "", "picture or body", "photo* picture image fingerprint* signature", None),
    ("identifying", "", "person or record number", """
        id ids identifier uuid guid mrn duid pid *persid *patientid *userid *personid *memberid *clientid
        *customerid *employeeid *recordid *caseid record_number case_number patient_number patient_no
        customer_number member_number employee_number personal_number serial_number row_number rowid recno
     """, SHARED),
    ("sensitive", "", "union membership", "union", None),
    ("sensitive", "", "health", """
        disease* diagnos* icd* illness* condition* medic* drug* treatment* therapy health* hiv aids blood*
        cholesterol symptom* disab* difficulty disorder* infection* surgery procedure* comorbid* pregnan*
        gave_birth smok* alcohol* depress* mental* cancer* tumor* tumour* test_result prescription*
        krankheit* enfermedad* drem dphy deye dear dout ddrs insurance
     """, None),
    ("sensitive", "", "income and wealth", """
        salary* income* wage* earning* pay pincp* pernp *_income capital_gain* capital_loss* gain*
        dividend* debt* loan* balance credit_score credit_limit wealth poverty povpip bonus gehalt*
        einkommen* lohn ingreso* revenu* charges
     """, None),
    ("sensitive", "", "grade or score", "grade* gpa mark marks exam* score* result*", GRADE),
    ("sensitive", "", "belief", "religion* relig* faith church politic* party vote* voting ideology", None),
    ("sensitive", "", "sexual life", "orientation sexual* lgbt*", None),
    ("sensitive", "", "offence", "crim* offence* offense* convict* arrest* sentence*", None),
    ("sensitive", "", "genes", "genetic* gene genotype dna snp*", None),
    ("quasi", "postcode", "postcode", "zip* postal* postcode* post_code plz puma codigo_postal npa", None),
    ("quasi", "category", "origin", """
        nationality* citizen* native* nativity birthplace place_of_birth country_of_birth* birth_country
        birth_place origin immigra* language* speak* mother_tongue staatsangehörigkeit
     """, None),
    ("quasi", "date", "birth", """
        birthday birthdate birth_date birth_year birth_month year_of_birth date_of_birth month_of_birth
        yob dob* born geboren geburt* naissance nacimiento
     """, None),
    ("quasi", "number", "age", "age agep ages age_* *_age alter edad eta alder leeftijd", None),
    ("quasi", "category", "sex", "sex sexe sexo gender* geschlecht kön", None),
    ("quasi", "category", "race or ethnicity", """
        race racex racea* raceb* racew* raceth* rac1p rac2p ethnic* hisp hispan* hispcat latino
     """, BY_LAW),
    ("quasi", "category", "marital status", """
        marital* marry married marriage civil_status msp familienstand etat_civil
     """, None),
    ("quasi", "number", "education", """
        edu educ* education* school* schl degree* qualification* bildung* ausbildung enroll*
     """, None),
    ("quasi", "category", "work", """
        occupation* occp job* profession* workclass work_class class_of_worker employ* industry* indp*
        beruf* cow title department branch rank military veteran* dvet self_employed
     """, None),
    ("quasi", "number", "working time", "hours_per_week hours weeks_worked* working_hours", None),
    ("quasi", "category", "household", """
        household* family* relationship* children kids dependents dependants npf noc
     """, None),
    ("quasi", "number", "body", "height weight bmi stature", None),
    ("quasi", "category", "place", """
        country* state* city town county region* district* municipal* province* village place location
        residence neighbo* ward lat latitude lon lng long longitude ort stadt wohnort gemeinde kreis
        bundesland ville ciudad kommune
     """, None),
    ("quasi", "date", "date", """
        date *_date admission* discharge* visit_date event_date death_date datum
     """, None),
    ("identifying", "", "name", "name", None),
)


def concept_of(name: str) -> Concept | None:
    """The first concept whose words stand in a column's name."""
    said = _spaced(name)
    for role, kind, what, pattern, left in _patterns():
        found = pattern.search(said)
        if found:
            return Concept(what, role, kind, found[1].replace("_", " "), left)  # type: ignore[arg-type]
    return None


def _spaced(name: str) -> str:
    """A name in lower case with its words set apart by _: 'ZIPCode' and 'zip code' alike."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"[\W_]+", "_", parted).strip("_").lower()


@cache
def _patterns() -> tuple[tuple[str, Kind, str, re.Pattern[str], str | None], ...]:
    return tuple((role, kind, what, _pattern(words.split()), left) for role, kind, what, words, left in TABLE)


def _pattern(words: list[str]) -> re.Pattern[str]:
    """Any of the words, whole, between the parts of a name."""
    return re.compile(rf"(?:^|_)({'|'.join(_alternatives(words))})(?=_|$|\d+(?:_|$))")


def _alternatives(words: list[str]) -> Iterator[str]:
    """Longer words first, so that the most that is said is named."""
    for word in sorted(words, key=len, reverse=True):
        yield re.escape(word).replace(r"\*", "[^_]*")
