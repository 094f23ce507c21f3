"""Numbers, dates and times in a text, each with what it measures.

Two texts that say the same of one thing but for a number say that something changed. So each
quantity comes with its *unit*: the per cent sign, the `ms` that is written onto it, or the word
after it (`45 sources`), else the word before it (`port 8787`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import is_telling, stem

_NAMED = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15",
    "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90",
    "hundred": "100", "thousand": "1000", "twice": "2", "once": "1", "dozen": "12",
    "first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th",
}  # fmt: skip
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *("january jan", "february feb", "march mar", "april apr", "may", "june jun"),
            *("july jul", "august aug", "september sep sept", "october oct", "november nov"),
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))

QUANTITY_PATTERN = compile_late(
    rf"\b(?P<month>{_MONTH})\.?\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s?(?:%|gb|mb|ms))"
    r"(?:,?\s(?P<year>(?:19|20)\d\d)\b)?"
    rf"|\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<month2>{_MONTH})\b"
    r"(?:,?\s(?P<year2>(?:19|20)\d\d)\b)?"
    r"|\b(?P<iso>(?:19|20)\d\d-\d\d-\d\d)\b"
    r"|\b(?P<clock>\d{1,2}(?::\d\d)?\s?[ap]\.?m\b|\d{1,2}:\d\d\b)"
    r"|(?<![\w.])v?(?P<version>\d+\.\d+\.\d+(?:\.\d+)*)\b|\bv(?P<major>\d+(?:\.\d+)?)\b"
    r"|\b(?P<ratio>\d+[/:]\d+)\b"
    r"|(?P<money>[$€£¥]\s?)?(?<![\w.])(?P<number>\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<unit>\s?%|\s?percent\b|[a-z]{1,3}\b|(?=-?[a-z]))?(?!\w)?"
    rf"|\b(?P<named>{'|'.join(_NAMED)})\b|\b(?P<weekday>{'|'.join(_WEEKDAYS)})\b"
)
_NEXT = compile_late(
    r"[\s-]{1,2}(?:of\s|more\s|new\s|total\s|the\s|my\s){0,2}((?:[^\W\d_]{2,}[\s-]?){1,3})"
)
_JOINT = r"(?:\s(?:is|was|to|of|now|at|on|reached|from|by|about)){0,2}\s*$"
_BEFORE = compile_late(
    rf"([^\W\d_]{{2,}})\sof\s(?:[^\W\d_]+\s){{0,2}}[^\W\d_]+\s(?:is|was){_JOINT}"
    rf"|([^\W\d_]{{2,}}){_JOINT}"
)
_AIM = compile_late(
    r"\b(?:goals?|targets?|targeting|aim(?:s|ing)?|at\s(?:least|most)|(?:to|and)\s(?:reach|achieve"
    r"|get|hit|solve|finish|complete|have)|achieve|under|below|within|maximum|minimum|should|would"
    r"|could|need|want|hope|hoping|if|maybe)\b[^,.;]{0,24}$"
)
_FORMER = compile_late(
    r"\b(?:from|initially|originally|previously|formerly|used\sto\s\w+|instead\sof|rather\sthan"
    r"|no\slonger)\s(?:\w+\s){0,1}$"
)
_LABEL = compile_late(r"([^\W\d_]{2,})[\s-]#?$")
NOTHING: frozenset[str] = frozenset()
_SCALE = {"k": 1e3, "m": 1e6, "b": 1e9, "bn": 1e9}
_HOW_IT_CAME = """
increas decreas improv grow reach rise drop fall climb jump go move change total now only exact
currently roughly around almost score mark per
"""
_NO_UNIT = frozenset(_HOW_IT_CAME.split())
"""Stems of words beside a number that say how it came about, not what it counts."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number. `kind` and `unit` say which others it may be compared with."""

    kind: str
    unit: frozenset[str]
    """Stems of the words that say what is counted; empty when none stands beside it."""
    value: str
    shown: str
    aim: bool
    """Whether it is wished for, not so."""
    former: bool
    """Whether the text itself says that it was so before: `from 12 % to 1 %`."""
    label: str = ""
    """The stem of the word right before it, if nothing else says what it counts: then it may say
    which one is meant (`room 4`)."""


def read_quantities(text: str) -> list[Quantity]:
    """Return the quantities of a lower-case text, in order."""
    found = (_read_quantity(match, text) for match in QUANTITY_PATTERN.finditer(text))
    return [each for each in found if each is not None]


def have_same_value(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities of a kind are equal; a date without a year fits any year."""
    if one.value == other.value:
        return True
    longer, shorter = sorted((one.value, other.value), key=len, reverse=True)
    return one.kind == "date" and longer.startswith(f"{shorter}-")


def _read_quantity(match: re.Match[str], text: str) -> Quantity | None:
    kind, unit, value = _read_parts(match, text)
    if not value:
        return None
    before = text[max(0, match.start() - 40) : match.start()]
    aim = _AIM.search(before) is not None
    former = _FORMER.search(before) is not None
    word = _LABEL.search(before) if kind == "count" else None
    label = stem(word[1]) if word and unit == {stem(word[1])} else ""
    return Quantity(kind, unit, value, match[0].strip(), aim, former, label)


def _read_parts(match: re.Match[str], text: str) -> tuple[str, frozenset[str], str]:
    match match.lastgroup:
        case "number" | "unit" | "money":
            return _read_number(match, text)
        case "named":
            unit = _find_unit(match, text)
            return "count", unit, _NAMED[match["named"]] if unit else ""
        case "weekday":
            return "weekday", NOTHING, match["weekday"]
        case "clock":
            return "clock", NOTHING, _normalize_clock(match["clock"])
        case "version" | "major":
            return "version", _find_word_before(match, text), match["version"] or match["major"]
        case "ratio":
            return "ratio", NOTHING, match["ratio"]
        case _:
            return "date", NOTHING, _normalize_date(match)


def _read_number(match: re.Match[str], text: str) -> tuple[str, frozenset[str], str]:
    value = float(match["number"].replace(",", ""))
    unit = (match["unit"] or "").strip()
    if match["money"]:
        return "money", frozenset({match["money"].strip()}), f"{value * _SCALE.get(unit, 1):g}"
    if unit in ("%", "percent"):
        return "percent", NOTHING, f"{value:g}"
    if unit in ("st", "nd", "rd", "th"):
        return "rank", _find_unit(match, text), f"{value:g}"
    if unit in _SCALE and unit != "m":
        value, unit = value * _SCALE[unit], ""
    if unit:
        return "measure", frozenset({unit}), f"{value:g}"
    return "count", _find_unit(match, text), f"{value:.10g}"


def _find_unit(match: re.Match[str], text: str) -> frozenset[str]:
    after = _NEXT.match(text, match.end())
    found: list[str] = []
    for word in after[1].replace("-", " ").split() if after else ():
        if not is_telling(word) or stem(word) in _NO_UNIT:
            break
        found.append(stem(word))
    return frozenset(found) or _find_word_before(match, text)


def _find_word_before(match: re.Match[str], text: str) -> frozenset[str]:
    before = _BEFORE.search(text, max(0, match.start() - 40), match.start())
    word = (before[1] or before[2]) if before else ""
    unit = stem(word) if word and is_telling(word) else ""
    return frozenset({unit}) if unit and unit not in _NO_UNIT else NOTHING


def _normalize_clock(written: str) -> str:
    """Return a time of day on 24 hours."""
    digits = re.match(r"(\d{1,2})(?::(\d\d))?", written)
    if digits is None:
        return ""
    hour = int(digits[1]) % 24
    if written.rstrip(".m").endswith("p") and hour < 12:
        hour += 12
    return f"{hour}:{digits[2] or '00'}"


def _normalize_date(match: re.Match[str]) -> str:
    if match["iso"]:
        year, month, day = match["iso"].split("-")
        return f"{int(month)}-{int(day)}-{year}"
    month, year = _MONTHS[match["month"] or match["month2"]], match["year"] or match["year2"]
    return f"{month}-{int(match['day'] or match['day2'])}" + (f"-{year}" if year else "")
