"""Whether two short texts speak of different things in the same words.

`Ana lives in Ghent` and `Bob lives in Ghent` are as close as a restatement, and what differs in
`The tests of Atlas run with tox` and `The tests of Orion run with tox` looks just like a value
that changed. What tells them apart is the place: a name that comes before all that both name,
and with more said after it, is what a sentence is about. A name at the end, a tool of a known
kind, and whatever `I` and `we` say of themselves may change.

It is a hint for judging without a language model. Long texts say more than one thing, and of
them nothing is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from madeleine.language.kinds import find_kinds
from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import WORD, is_telling, stem
from madeleine.language.word_hints import IRREGULAR_FORMS, is_first_person

TEXT_CHARS = 240  # about two sentences
BEFORE_OBJECT = 2  # telling words at most before a name that is what something is said to be
NAMES_CACHE_SIZE = 16_384  # texts whose names are kept at hand

_VERBAL = ("ed", "ing", "s")  # how a first word ends that is mostly no name
_BEING = frozenset({"is", "has", "was", "had", "can", "will", "does", "did", "may", "must"})
"""Words that follow a name, and no verb."""
_TOWARDS = frozenset({"to", "into", "with", "using", "via", "by", "from", "at", "in", "on"})
_TRAILING = frozenset({"now", "too", "instead", "again", "today", "anymore"})


@dataclass(frozen=True, slots=True)
class SubjectNames:
    """The words of a text as stems, and the name that comes first in it."""

    words: frozenset[str]
    opening: frozenset[str]
    """The name that the text begins with, as far as a capital there tells."""
    first: frozenset[str]
    """The first name inside."""
    is_object: bool
    """Whether that stands where something is said to be so: at the end."""
    first_person: bool


def speak_of_others(one: str, other: str) -> bool:
    """Whether each text is about something that the other does not name."""
    if max(len(one), len(other)) > TEXT_CHARS:
        return False
    if _have_other_numbers(one, other):
        return True
    mine, theirs = read_names(one), read_names(other)
    if mine.first_person and theirs.first_person:
        return False
    subject, others = _find_subject(mine, theirs), _find_subject(theirs, mine)
    if not subject or not others:
        return False
    one_word = len(subject) == len(others) == 1
    return not (one_word and find_kinds(subject) & find_kinds(others))


def _have_other_numbers(one: str, other: str) -> bool:
    """Whether both begin with what is told from others by its number, and the numbers differ:
    `PR 55 is merged`, `web-1 runs nginx`."""
    mine, theirs = _NUMBERED.match(one), _NUMBERED.match(other)
    if mine is None or theirs is None:
        return False
    alike = mine["what"].casefold() == theirs["what"].casefold()
    return alike and mine["number"] != theirs["number"]


_NUMBERED = compile_late(
    r"\W*(?:the\s)?(?P<what>(?:[^\W\d_]+-)+|(?:pr|issue|ticket|bug|task|item|step|phase|part|page"
    r"|chapter|section|line|row|column|figure|table|room|floor|gate|platform|slot|shelf|box|bay|host"
    r"|node|server|team|group|lesson|episode|season|sprint|milestone|experiment|run|test|case"
    r"|question|rule|exercise|invoice|order)\s#?)(?P<number>\d+)\b(?=\W+\w)",
    re.IGNORECASE,
)


def _find_subject(mine: SubjectNames, theirs: SubjectNames) -> frozenset[str]:
    """Return the name that comes first in a text, if the other does not have all of it."""
    if mine.opening - theirs.words:
        return mine.opening
    if mine.is_object or len(mine.opening) > 1 or not mine.first - theirs.words:
        return frozenset()
    return mine.first


@lru_cache(maxsize=NAMES_CACHE_SIZE)
def read_names(text: str) -> SubjectNames:
    """Return the names of a text. Every capital inside a sentence counts; that of a first word
    tells little, so it counts only if the word looks like no verb and no common word."""
    found = [match[0] for match in WORD.finditer(text)]
    inside = [place for place, word in enumerate(found) if place and _is_name(word)]
    opens = bool(found) and _opens_with_name(found)
    return SubjectNames(
        words=frozenset(stem(word.lower()) for word in found),
        opening=_name_stems(found, 0) if opens else frozenset(),
        first=_name_stems(found, inside[0]) if inside else frozenset(),
        is_object=bool(inside) and _is_object(found, inside[0]),
        first_person=is_first_person(text),
    )


def _is_name(word: str) -> bool:
    return word[0].isupper() and is_telling(word.lower())


def _name_stems(found: list[str], start: int) -> frozenset[str]:
    """Return a name of one or more words, from its first."""
    words = takewhile(lambda word: word[0].isupper(), found[start:])
    return frozenset(stem(word.lower()) for word in words)


def _opens_with_name(found: list[str]) -> bool:
    """Whether a text begins with a name."""
    word = found[0].lower()
    if not _is_name(found[0]) or word in IRREGULAR_FORMS:
        return False
    after = found[1] if len(found) > 1 else ""
    doing = after in _BEING or after[:1].isupper() or (after.islower() and after.endswith("s"))
    return doing or not word.endswith(_VERBAL)


def _is_object(found: list[str], start: int) -> bool:
    """Whether a name is where or what something is said to be: after `to` or `with`; or with
    little before it, and nothing after it but the rest of it."""
    if found[start - 1].lower() in _TOWARDS:
        return True
    before = [word for word in found[:start] if is_telling(word.lower())]
    after = [word for word in found[start:] if word.lower() not in _TRAILING]
    return len(before) <= BEFORE_OBJECT and all(word[0].isupper() for word in after)
