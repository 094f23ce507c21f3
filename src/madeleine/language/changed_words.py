"""The words of a value that changed, for the reason that a question shows.

`Selma took the place of Piotr` says at once what a question is about. It is said only where the two
texts show which words they are: both say the same but for one stretch of a few words, or each names
one thing that the other does not, of the same kind or in the same place of the sentence. Elsewhere
words that are chosen by where they stand would say nonsense ("ahora ocho took the place of nueve"),
and nothing is found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from madeleine.language.change_words import LIGHT_WORDS, PREPOSITIONS
from madeleine.language.function_words import read_language
from madeleine.language.kinds import find_kinds
from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import WORD, stem

_SINCE = compile_late(r"\s(?:since|seit|desde|depuis)\s(?:\S+\s?){1,3}$", re.IGNORECASE)
"""Since when something is so, at the end of a text."""
READ_CHARS = 400  # of a text; in a longer one several things differ
VALUE_WORDS = 3
LEAST_SHARED = 2  # telling words that both have, where they are the same but for a value
PLACES = frozenset({"in", "to", "at", "near"})
_BY_NOW = """
now jetzt nun inzwischen ahora ya maintenant désormais ora adesso agora nu teraz już теперь уже
"""
BY_NOW = frozenset(_BY_NOW.split())
"""Words that say that something is so by now, and no part of what."""


def find_changed_words(older: str, newer: str) -> tuple[str, str] | None:
    """Return what took the place of what, as both texts write it: the old words, then the new."""
    if max(len(older), len(newer)) > READ_CHARS:
        return None
    before, after = WORD.findall(older), WORD.findall(_SINCE.sub("", newer))
    found = _find_only_difference(before, after)
    if found is not None or read_language(older) or read_language(newer):
        return found  # in German every noun is written like a name
    return _find_other_name(before, after)


def _find_only_difference(before: Sequence[str], after: Sequence[str]) -> tuple[str, str] | None:
    """Return what differs of two texts that otherwise say the same in the same order."""
    keys = [[stem(word.lower()) for word in words] for words in (before, after)]
    steps = SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes()
    changed = [step for step in steps if step[0] != "equal"]
    spans = [(before[a:b], after[c:d]) for _, a, b, c, d in changed]
    telling = [(_strip_light(old), _strip_light(new)) for old, new in spans]
    telling = [(old, new) for old, new in telling if old or new]
    shared = {
        word
        for tag, a, b, *_ in steps
        if tag == "equal"
        for word in keys[0][a:b]
        if not _is_light(word)
    }
    if len(telling) != 1 or len(shared) < LEAST_SHARED:
        return None
    old, new = telling[0]
    fits = 0 < len(old) <= VALUE_WORDS and 0 < len(new) <= VALUE_WORDS
    return (" ".join(old), " ".join(new)) if fits and _are_of_one_kind(old, new) else None


def _find_other_name(before: Sequence[str], after: Sequence[str]) -> tuple[str, str] | None:
    """Return the one name that each text has and the other has not, if one may stand for the
    other."""
    old, new = _find_own_names(before, after), _find_own_names(after, before)
    if len(old) != 1 or len(new) != 1:
        return None
    (was, role), (now, other) = old[0], new[0]
    kinds = find_kinds(map(stem, _lower(was))) & find_kinds(map(stem, _lower(now)))
    same_place = role == other != "" or (role in PLACES and other in PLACES)
    if not _are_of_one_kind(was, now) or not (kinds or same_place):
        return None
    return " ".join(was), " ".join(now)


def _find_own_names(
    words: Sequence[str], others: Sequence[str]
) -> list[tuple[tuple[str, ...], str]]:
    """Return the names that only these words have, each with the preposition before it."""
    known = {stem(word) for word in _lower(others)}
    found: list[tuple[tuple[str, ...], str]] = []
    run: list[str] = []
    for place, word in enumerate([*words, ""]):
        if place < len(words) and _is_name(word, place) and stem(word.lower()) not in known:
            run.append(word)
        elif run:
            start = place - len(run)
            role = words[start - 1].lower() if start else ""
            found.append((tuple(run), role if role in PREPOSITIONS else ""))
            run = []
    return found


def _is_name(word: str, place: int) -> bool:
    """Whether a word of an English text seems to be a name by how it is written."""
    inside = any(letter.isupper() for letter in word[1:])
    return inside or (place > 0 and word[:1].isupper() and word not in ("I", "I'm", "I've", "I'd"))


def _are_of_one_kind(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether two stretches of words may be values of the same: not a weekday and a firm, nor a
    number and a name."""
    kinds, others = (find_kinds(map(stem, _lower(each))) for each in (old, new))
    times = {"day", "month", "season"}
    if (kinds | others) & times and not kinds & others:
        return False
    return _has_digit(old) == _has_digit(new)


def _has_digit(words: Sequence[str]) -> bool:
    return any(letter.isdigit() for word in words for letter in word)


def _lower(words: Sequence[str]) -> list[str]:
    return [word.lower() for word in words]


def _strip_light(words: Sequence[str]) -> tuple[str, ...]:
    """Return words without those at their edges that say nothing of a value."""
    found = list(words)
    while found and _is_light(found[0].lower()):
        del found[0]
    while found and _is_light(found[-1].lower()):
        del found[-1]
    return tuple(found)


def _is_light(word: str) -> bool:
    return word in LIGHT_WORDS or word in BY_NOW
