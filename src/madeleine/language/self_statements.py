"""What a memory states about the person, and which statements answer a question about them.

A statement answers when it states the attribute that is asked for, of the person themselves: where
a son lives is no answer to where the person lives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from madeleine.language.attributes import FAMILIES_BY_KIND
from madeleine.language.kinds import KINDS_BY_STEM
from madeleine.language.late_pattern import compile_late
from madeleine.language.person_tables import (
    DRUG_NAME,
    GOALS,
    NOTHING,
    OTHER_BEINGS,
    PREFERENCES,
    PRIVATE_ATTRIBUTES,
    STATED_PHRASES,
    TOOL_FAMILIES,
    TOOL_WORDS,
    WIDER_ATTRIBUTES,
    content_stems,
    find_aspects,
    find_phrases,
    phrase_stems,
    read_tokens,
    stem_set,
    word_set,
)
from madeleine.language.self_questions import SelfQuestion
from madeleine.language.small_talk_words import EMPTY_WORDS
from madeleine.language.word_hints import is_preference

STATEMENT_CHARS = 1_000  # of a memory that are read for what it states about the person
PHONE_DIGITS = 7  # of a clause that make a phone a number and no device
LEAST_PREFIX = 5  # letters that two words must share to be forms of one: remind, reminder

_PRIMARY = ("name", "job", "home", "origin", "birthday", "spouse", "children")
"""What says who somebody is, the more telling first."""

_KINDS_STATED: Mapping[str, frozenset[str]] = {
    "drink": frozenset({"drink"}),
    "pet": frozenset({"pets"}),
    "sport": frozenset({"sport", "hobbies"}),
    "hobby": frozenset({"hobbies"}),
    "instrument": frozenset({"music", "hobbies"}),
    "diet": frozenset({"diet"}),
    "system": frozenset({"system", "devices"}),
}
_KINDS_MENTIONED: Mapping[str, frozenset[str]] = {
    "city": frozenset({"home"}),
    "country": frozenset({"home", "origin"}),
    "food": frozenset({"diet"}),
}


_CLAUSE = compile_late(
    r"[.;:!?\n]+|,|\b(?:and|but|while|whereas|who|whose|which|so that|because)\b", re.I
)
_PREPOSITIONS = word_set("""
with for from at to of by near after like than about without
""")
_SUBORDINATE = word_set("before after during until till with")
"""Prepositions after which a word is only mentioned, whatever it is."""
_DETERMINERS = word_set("""
a an the my her his their our its two three four five six one no any several many younger older
elder little big eldest youngest late own former first second small old young only
""")
_SUBJECTS = word_set("""
i we my our user the he she they his her their
""")
"""What a clause begins with that has a subject of its own."""
_PARTICIPLES = word_set("born named called aged both")
"""What goes on about somebody who was just named: `two girls, born in 2019`."""
_NO_NAMES = frozenset({"mat", "box"})
"""Stems of names of `kinds.py` (mate, boxing) that are mostly something else."""
_RELATIVE, _GOES_ON = "relative", "goes on"
_STATES = stem_set("""
married marry engaged divorced widow widowed widower dating relationship marriage anniversary adopt
""")
"""Words of a relation that say something of the person: `married to Ines`."""
_PARENTHOOD = stem_set("father mother dad mum mom parent")
"""The same with `of` or `to` after them, or alone: `father of two`."""
_PRONOUNS: Mapping[str, str] = {
    "he": "he", "he's": "he", "his": "he", "she": "she", "she's": "she", "her": "she",
    "they": "they", "their": "they",
}  # fmt: skip
"""Pronouns of somebody else, and which of them mean the same one."""


@dataclass(frozen=True, slots=True)
class SelfStatement:
    """What a memory states about the person."""

    aspects: frozenset[str]
    mentioned: frozenset[str]
    """Attributes of which it only holds a word."""
    words: frozenset[str]


def read_self_statement(
    text: str, *, preference: bool = False, goal: bool = False
) -> SelfStatement:
    """Return what a memory about the person states. `preference` and `goal` say of which type
    the memory is."""
    return _read_self_statement(text[:STATEMENT_CHARS], preference, goal)


@lru_cache(maxsize=4_096)
def _read_self_statement(text: str, preference: bool, goal: bool) -> SelfStatement:
    aspects: set[str] = set()
    mentioned: set[str] = set()
    other = named = False  # whether the clause before is about somebody else, or names somebody
    allergic = False
    text = _BORN_SHORT.sub("born ", text)
    own = _PRONOUNS.get(next(iter(read_tokens(text)), ""))  # the pronoun that means the person
    for clause, joint in _split_clauses(text):
        stated, somehow = _read_clause(clause)
        if allergic and joint == _GOES_ON:
            stated -= _REACTED_TO
        allergic = "allergy" in stated
        mentioned |= stated | somehow
        pronoun = _PRONOUNS.get(clause[0])
        begins = _begins_with_other(clause) or (
            (other or named) and pronoun is not None and pronoun != own
        )
        after = other or (named and clause[0] in _PARTICIPLES)
        goes_on = joint == _GOES_ON and after and clause[0] not in _SUBJECTS
        if not (joint == _RELATIVE and (other or named)):
            other = begins or goes_on
            aspects |= stated & OTHER_BEINGS if other else stated
            named = bool(stated & OTHER_BEINGS) or (named and not stated)
    introduced = _INTRODUCTION.match(text.strip())
    if introduced and not find_aspects(STATED_PHRASES, read_tokens(introduced["name"])):
        aspects |= {"name", "age"} if introduced["age"] else {"name"}
    if goal or GOALS in aspects:
        mentioned |= aspects
        aspects = {GOALS}
    if preference or is_preference(text):
        aspects.add(PREFERENCES)
    tokens = read_tokens(text)
    return SelfStatement(frozenset(aspects), frozenset(mentioned), content_stems(tokens))


_BORN_SHORT = compile_late(r"\bb\.\s*(?=\d)", re.I)
_INTRODUCTION = compile_late(
    r"(?:I['’]m|I am|(?:The )?[Uu]ser is|This is)"
    r"\s+(?P<name>[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+){0,3})"
    r"\s*(?:$|[.;(,](?:\s*(?P<age>\d{2})\b)?)"
)
"""Somebody who says who they are without the word: `I'm Ada Byron, 36`."""


def _split_clauses(text: str) -> Iterator[tuple[list[str], str]]:
    """Give the words of each clause, and how it hangs on the one before: not at all, as a
    relative clause, or going on after `and` or a comma."""
    place, joint = 0, ""
    for found in [*_CLAUSE.finditer(text), None]:
        tokens = read_tokens(text[place : found.start() if found else len(text)])
        if tokens:
            yield tokens, joint
        if found:
            place, word = found.end(), found.group().lower()
            if word in ("who", "whose", "which"):
                joint = _RELATIVE
            elif word in (",", "and", "but", "while", "because"):
                joint = joint if joint == _RELATIVE and tokens else _GOES_ON
            else:
                joint = ""


def _read_clause(tokens: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the attributes that a clause states, and those of which it only holds a word."""
    stems = phrase_stems(tokens)
    stated: set[str] = set()
    mentioned: set[str] = set()
    for start, end, aspects in find_phrases(STATED_PHRASES, stems):
        if _modifies_another_noun(tokens, end):
            continue
        governed = _is_governed(
            tokens, start, _PREPOSITIONS if aspects & OTHER_BEINGS else _SUBORDINATE
        )
        (mentioned if governed else stated).update(aspects)
    for _, _, aspects in find_phrases(TOOL_WORDS, stems):
        mentioned |= aspects
    for place, each in enumerate(stems):
        unsaid = tokens[place] in EMPTY_WORDS or each in _NO_NAMES
        modifies = _modifies_another_noun(tokens, place + 1)
        for kind in NOTHING if unsaid else KINDS_BY_STEM.get(each, NOTHING):
            families = FAMILIES_BY_KIND.get(kind, NOTHING) & TOOL_FAMILIES
            families |= NOTHING if modifies else _KINDS_STATED.get(kind, NOTHING)
            governed = bool(families & OTHER_BEINGS) and _is_governed(tokens, place, _PREPOSITIONS)
            (mentioned if governed else stated).update(families)
            mentioned |= _KINDS_MENTIONED.get(kind, NOTHING)
        if DRUG_NAME.fullmatch(tokens[place]):
            stated.add("medication")
    if _PREFERRING & set(tokens):
        stated -= _NOT_PREFERRED
        mentioned -= _NOT_PREFERRED
    return _correct_aspects(tokens, stated), frozenset(mentioned)


_PREFERRING = word_set("prefer prefers preferred preferring preference")
_NOT_PREFERRED = (PRIVATE_ATTRIBUTES | OTHER_BEINGS | word_set("origin job education")) - {
    "allergy"
}
"""Attributes that nobody states by preferring something: `prefers oat milk flat whites`."""
_COMPOUND_HEADS = word_set("""
shell directory folder folders path page screen button theme server servers file files key keys
white whites eared assistant automation script scripts config field form table column variable
process processes node nodes class module function mode food hair lover fan person
""")
"""Nouns that make the noun before them only say which: a `fish shell` is no pet."""


def _modifies_another_noun(tokens: Sequence[str], end: int) -> bool:
    return end < len(tokens) and tokens[end] in _COMPOUND_HEADS


_REACTED_TO = word_set("medication diet pets drink")
"""Attributes that what somebody is allergic to looks like."""
_NAMING = word_set("""
name name's surname nickname initials goes go known calls call called username
""")


_MEDICAL = word_set("""
medication medications medicine meds pills tablets mg insulin inhaler prescription prescribed
triptans dose
""")


def _is_taken_regularly(words: set[str], stated: set[str]) -> bool:
    """Whether something unknown is taken regularly: `takes methotrexate every Friday`."""
    known = stated - {"medication"} or words & _TAKEN_OTHERWISE
    return not known and bool(words & {"take", "takes"} and words & _REGULARLY)


_REGULARLY = word_set("daily every twice once weekly")
_TAKEN_OTHERWISE = word_set("""
a an the out off over up notes photos pictures lessons classes walks naps breaks days part turns
time care
""")


def _correct_aspects(tokens: Sequence[str], stated: set[str]) -> frozenset[str]:
    """Return what a clause states, without what its words only look like."""
    words = set(tokens)
    if "name" in stated and not words & _NAMING:
        stated.discard("name")  # a cat named Shoyu
    if "allergy" in stated:
        stated -= _REACTED_TO
    if "born" in words:
        dated = any(each[0].isdigit() for each in tokens)
        stated -= {"birthday", "origin"}
        stated |= {"birthday"} if dated else {"origin"}
        stated |= {"origin"} if _names_birthplace(tokens) else NOTHING
    if "devices" in stated and sum(map(str.isdigit, "".join(tokens))) >= PHONE_DIGITS:
        stated = stated - {"devices"} | {"telephone"}  # my phone is +351 ...
    if not (
        words & _MEDICAL
        or any(map(DRUG_NAME.fullmatch, tokens))
        or _is_taken_regularly(words, stated)
    ):
        stated.discard("medication")  # takes tea with milk
    if "hours" in stated and words & {"works", "work"} and not _says_when(tokens):
        stated.discard("hours")  # works from a laptop
    if words & {"works", "work", "working"} and _HOURS.search(" ".join(tokens)):
        stated.add("hours")
    if "hours" in stated and words & {"shift", "shifts", "nights"}:
        stated.discard("job")
    if {"year", "old"} <= words and words & {"have", "has"}:  # has a four-year-old
        stated = stated - {"age"} | {"children"}
    if words & {"turned", "turns"} and not any(each[0].isdigit() for each in tokens):
        stated -= {"birthday", "age"}
    if stated & {"sport", "hobbies"} and words & {"team"} and "job" in stated:
        stated -= {"sport", "hobbies"}
    return frozenset(stated)


_HOURS = compile_late(r"\b\d{1,2}(?: \d\d)?(?: ?[ap]m)? (?:to|until|till) \d{1,2}\b")
_TIMES = word_set("""
home monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
fridays saturdays sundays nights night mornings morning evenings evening weekends weekdays noon
midnight days hours hour shift shifts time week meetings call schedule remotely early late dawn
""")
_MONTHS = word_set("""
january february march april may june july august september october november december spring summer
autumn fall winter early late mid
""")


def _says_when(tokens: Sequence[str]) -> bool:
    return any(each in _TIMES or each[0].isdigit() for each in tokens)


def _names_birthplace(tokens: Sequence[str]) -> bool:
    """Whether a place of birth is named, and not only a date: `born on 3 May 1990 in Ghent`."""
    after = [each for each in tokens[tokens.index("born") :] if each != "the"]
    return any(
        one in ("in", "at", "near") and not other[0].isdigit() and other not in _MONTHS
        for one, other in pairwise(after)
    )


def _is_governed(tokens: Sequence[str], place: int, prepositions: frozenset[str]) -> bool:
    """Whether a preposition stands before a noun: `speaks Turkish with her parents`."""
    before = place - 1
    while before >= 0 and tokens[before] in _DETERMINERS:
        before -= 1
    return before >= 0 and tokens[before] in prepositions


def _begins_with_other(tokens: Sequence[str]) -> bool:
    """Whether a clause is about somebody else: `my son lives in Toronto`."""
    rest = list(tokens)
    while rest and (rest[0] in _DETERMINERS or rest[0] in ("user", "user's")):
        rest.pop(0)
    stems = phrase_stems(rest[:3])
    is_bare = len(rest) == len(tokens)
    if stems and stems[0] in _STATES and is_bare:
        return False
    if stems and stems[0] in _PARENTHOOD and (rest[1:2] in (["of"], ["to"]) or rest[1:] == []):
        return not is_bare and rest[1:] == []  # `father of two`, but `his father founded the shop`
    return any(
        start == 0 and aspects & OTHER_BEINGS
        for start, _, aspects in find_phrases(STATED_PHRASES, stems)
    )


def select_answers(
    question: SelfQuestion, statements: Mapping[str, SelfStatement]
) -> frozenset[str]:
    """Return the keys of the statements that answer. Of several that state an attribute those
    are chosen that also hold what else the question names; where none states it, those that
    mention it."""
    if question.whole:
        return frozenset(statements)
    wanted = question.aspects.union(
        *(WIDER_ATTRIBUTES.get(each, NOTHING) for each in question.aspects)
    )
    stated = NOTHING.union(*(each.aspects for each in statements.values()))
    if "age" in wanted & stated:
        wanted -= {"birthday"}
    elif "birthday" in wanted - stated:
        wanted |= {"age"}
    stating = {key for key, each in statements.items() if each.aspects & wanted}
    mentioning = {key for key, each in statements.items() if each.mentioned & wanted}
    shared = {key: _count_shared(question, each) for key, each in statements.items()}
    naming = {key for key, count in shared.items() if count}
    if stating:
        return frozenset(stating & naming or stating)
    most = max(shared.values(), default=0)
    closest = {key for key in naming if shared[key] == most}
    return frozenset(mentioning & naming or closest or mentioning)


def _count_shared(question: SelfQuestion, statement: SelfStatement) -> int:
    """Return how many words of the question a statement holds, in whatever form."""
    return sum(
        any(_is_same_word(asked, told) for told in statement.words) for asked in question.words
    )


def _is_same_word(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= LEAST_PREFIX and long.startswith(short))


def rank_primary(statement: SelfStatement) -> int:
    """Return how much a statement says who somebody is: 0 for all that is not primary."""
    ranks = [
        len(_PRIMARY) - place for place, each in enumerate(_PRIMARY) if each in statement.aspects
    ]
    return max(ranks, default=0)
