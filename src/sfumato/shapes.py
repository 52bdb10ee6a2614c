"""What a value looks like: e-mail, phone, IBAN, national number, postcode … by pattern and check digit.

Sources of the check digits: IBAN ISO 13616 (mod 97); payment cards ISO/IEC 7812 (Luhn); the national
numbers as published by the authorities that issue them.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

Test = Callable[[str], bool]
FREE_TEXT_WORDS = 5


def shares(values: Iterable[str]) -> dict[str, float]:
    """Per shape that occurs: the share of the values that have it."""
    texts = [value.strip() for value in values]
    found = {name: sum(map(test, texts)) for name, test in SHAPES.items()} if texts else {}
    return {name: count / len(texts) for name, count in found.items() if count}


def _pattern(pattern: str) -> Test:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


def _digits(text: str) -> list[int]:
    return [int(c) for c in text if c in "0123456789"]


def _weighed(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True))


def _luhn(digits: Sequence[int]) -> bool:
    from_right = enumerate(reversed(digits))
    return sum(sum(divmod(2 * digit, 10)) if n % 2 else digit for n, digit in from_right) % 10 == 0


def is_iban(text: str) -> bool:
    """An international bank account number whose check digits agree."""
    compact = re.sub(r"\s", "", text).upper()
    if not re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", compact):
        return False
    return int("".join(str(int(c, 36)) for c in compact[4:] + compact[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """A payment card number."""
    return bool(re.fullmatch(r"[3-6][0-9]{3}([ -]?[0-9]){9,15}", text)) and _luhn(_digits(text))


def is_ip(text: str) -> bool:
    """An IP address, of either version."""
    if text.count(".") != 3 and text.count(":") < 2:
        return False
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False


def is_phone(text: str) -> bool:
    """A telephone number as people write them: a plus, a leading zero, or groups."""
    if not re.fullmatch(r"\+?[0-9 ()/.-]{8,24}", text) or is_date(text) or is_ip(text):
        return False
    enough = 9 <= len(_digits(text)) <= 15
    return enough and bool(re.match(r"\+|\(|0[1-9 (/-]|00[1-9]|[0-9]{3}[-. ][0-9]{3}[-. ][0-9]{4}$", text))


def is_date(text: str) -> bool:
    """A calendar date, with or without a time."""
    found = re.match(r"(?:(\d{4})([-/.])(\d{1,2})\2(\d{1,2})|(\d{1,2})([-/.])(\d{1,2})\6(\d{4}))"
                     r"(?:[T ]\d{1,2}:\d{2}.*)?$", text, re.ASCII)
    if not found:
        return False
    year, _, month, day, first, _, second, last = found.groups()
    parts = (year, month, day) if year else (last, first, second)
    low, high = sorted(map(int, parts[1:]))
    return 1000 <= int(parts[0]) <= 2999 and 1 <= low <= 12 and high <= 31


def is_german_tax_id(text: str) -> bool:
    """Germany: eleven digits, ISO 7064 mod 11,10."""
    digits = _digits(text)
    if not re.fullmatch(r"[1-9][0-9 ]{10,13}", text) or len(digits) != 11:
        return False
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[10]


def is_dutch_number(text: str) -> bool:
    """The Netherlands: nine digits, the test of eleven."""
    digits = _digits(text)
    return bool(re.fullmatch(r"[0-9]{9}", text)) and any(digits) and (
        _weighed(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0)


def is_swedish_number(text: str) -> bool:
    """Sweden: a birth date and four digits, Luhn."""
    found = re.fullmatch(r"(?:19|20)?([0-9]{2}(?:0[1-9]|1[0-2])(?:[0-9]{2}))[-+]?([0-9]{4})", text)
    return found is not None and _luhn(_digits(found[1] + found[2]))


def is_polish_number(text: str) -> bool:
    """Poland: eleven digits with a weighted sum."""
    return bool(re.fullmatch(r"[0-9]{11}", text)) and (
        _weighed(_digits(text), (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0)


def is_belgian_number(text: str) -> bool:
    """Belgium: eleven digits, the last two being 97 less the rest modulo 97."""
    compact = re.sub(r"[. -]", "", text)
    if not re.fullmatch(r"[0-9]{11}", compact):
        return False
    return any(97 - int(century + compact[:9]) % 97 == int(compact[9:]) for century in ("", "2"))


def is_french_number(text: str) -> bool:
    """France: thirteen digits and a key modulo 97."""
    compact = text.replace(" ", "")
    formed = re.fullmatch(r"[1-478][0-9]{14}", compact) is not None
    return formed and 97 - int(compact[:13]) % 97 == int(compact[13:])


def is_spanish_number(text: str) -> bool:
    """Spain: eight digits (or X, Y, Z and seven) and a letter modulo 23."""
    found = re.fullmatch(r"([0-9XYZ][0-9]{7})-?([A-Z])", text.upper())
    if found is None:
        return False
    number = int(found[1].replace("X", "0").replace("Y", "1").replace("Z", "2"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == found[2]


def is_finnish_number(text: str) -> bool:
    """Finland: a birth date, a sign of the century, three digits and a check character."""
    found = re.fullmatch(r"([0-9]{6})[-+A-FU-Y]([0-9]{3})([0-9A-Y])", text.upper())
    return found is not None and "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(found[1] + found[2]) % 31] == found[3]


def is_nhs_number(text: str) -> bool:
    """England: ten digits, modulo 11."""
    digits = _digits(text)
    return bool(re.fullmatch(r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{4}", text)) and (
        (11 - _weighed(digits[:9], range(10, 1, -1)) % 11) % 11 == digits[9])


def is_coordinate(text: str) -> bool:
    """A latitude and a longitude, or one of them to four decimals or more."""
    found = re.fullmatch(r"([-+]?[0-9]{1,3}\.[0-9]{3,})(?:\s*[,; ]\s*([-+]?[0-9]{1,3}\.[0-9]{3,}))?", text)
    if found is None:
        return False
    fine = found[2] is not None or len(found[1].rsplit(".")[1]) >= 4
    return fine and all(abs(float(part)) <= 180 for part in found.groups() if part)


def is_free_text(text: str) -> bool:
    """A sentence rather than a label."""
    return len(text.split()) >= FREE_TEXT_WORDS


def is_name_like(text: str) -> bool:
    """Two to four capitalized words, as the names of people are written (and of places and firms)."""
    written = re.fullmatch(r"[^\W\d_]+\.?( [^\W\d_]+([-'][^\W\d_]+)?\.?){1,3}", text)
    return written is not None and text.istitle()


def _words(words: str) -> Test:
    known = frozenset(words.split())
    return lambda text: re.sub(r"[^\w]+", "", text.lower()) in known


def _holds(pattern: str) -> Test:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text: compiled.search(text) is not None


SHAPES: Mapping[str, Test] = {
    "e-mail address": _pattern(r"[^@\s]+@[^@\s]+\.[a-z]{2,}"),
    "UUID": _pattern(r"\{?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?"),
    "IBAN": is_iban,
    "payment card number": is_card,
    "IP address": is_ip,
    "hardware address": _pattern(r"[0-9a-f]{2}([:-][0-9a-f]{2}){5}"),
    "web address": _pattern(r"(https?://|www\.)\S+"),
    "US social security number": _pattern(r"(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}"),
    "UK national insurance number":
        _pattern(r"[a-ceghj-prstw-z][a-ceghj-nprstw-z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[a-d]"),
    "German tax number": is_german_tax_id,
    "Dutch citizen number": is_dutch_number,
    "Swedish personal number": is_swedish_number,
    "Polish personal number": is_polish_number,
    "Belgian national number": is_belgian_number,
    "French national number": is_french_number,
    "Spanish identity number": is_spanish_number,
    "Finnish personal code": is_finnish_number,
    "NHS number": is_nhs_number,
    "phone number": is_phone,
    "date": is_date,
    "ISO date": _pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:.*)?"),
    "time of day": _pattern(r"[0-2]?[0-9]:[0-5][0-9](:[0-5][0-9])?( ?[ap]\.?m\.?)?"),
    "postcode": _pattern(r"[0-9]{5}(-[0-9]{4})?|[0-9]{4} ?[a-z]{2}|[a-z][0-9][a-z] ?[0-9][a-z][0-9]"
                         r"|[a-z]{1,2}[0-9][0-9a-z]? ?[0-9][a-z]{2}|[0-9]{3} [0-9]{2}|[0-9]{2}-[0-9]{3}"
                         r"|[0-9]{5}-?[0-9]{3}"),
    "coordinate": is_coordinate,
    "diagnosis code": _pattern(r"[a-tv-z][0-9][0-9a-z]\.[0-9a-z]{1,4}"),
    "free text": is_free_text,
    "capitalized words": is_name_like,
    "code with leading zeros": _pattern(r"0[0-9]+"),
    "sex": _words("m f w male female man woman men women boy girl diverse nonbinary männlich weiblich mann "
                  "frau homme femme hombre mujer"),
    "marital status": _holds(r"\b(un|never[- ]?|re)?married\b|divorced|widow|^single$|ledig|verheiratet"),
    "race": _holds(r"^(white|black|asian|hispanic|caucasian|latino|amer[- ]?indian)\b|african[- ]american|"
                   r"pacific[- ]islander|native hawaiian"),
    "education": _holds(r"bachelor|master'?s|doctorate|hs-grad|high[- ]school|some-college|assoc-|"
                        r"prof-school|preschool|(st|nd|rd|th)[- ]grade$|^\d+th$|\bdegree\b"),
    "work": _holds(r"^(self-emp|.*-gov$|private$|without-pay|never-worked)|clerical|managerial|cleaners|"
                   r"repair|farming|prof-|^sales$|-serv$|transport-|engineer|teacher|nurse|driver|farmer"),
    "relationship": _holds(r"^(husband|wife|own-child|.*-relative|not-in-family|unmarried|child|spouse)$"),
    "money class": _pattern(r"[<>]=? ?[$€£]?[0-9.,]+ ?k?\.?|[$€£][0-9.,]+( ?- ?[$€£]?[0-9.,]+)?"),
    "country": _words("""
        unitedstates usa uk unitedkingdom england scotland ireland france germany italy spain portugal
        poland netherlands belgium austria switzerland sweden norway denmark finland greece hungary
        yugoslavia romania bulgaria ukraine russia turkey china japan india iran iraq israel pakistan
        philippines vietnam thailand taiwan hong laos cambodia southkorea mexico canada cuba jamaica haiti
        dominicanrepublic puertorico guatemala honduras nicaragua elsalvador columbia colombia ecuador peru
        brazil argentina chile egypt nigeria kenya ethiopia morocco southafrica australia newzealand"""),
}
