"""A short text as a statement: what it speaks of, what it says of it, what is over.

A statement is cut into *phrases*, runs of words that are neither small nor known to speak of an
attribute (`attributes.py`). Where a phrase stands tells what it does: `changes.py` looks for the
phrase that two statements share in a place where subjects stand. It is a rough reading of English;
of a text in another language it finds phrases and nothing that is over, so that nothing follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from madeleine.language.attributes import (
    NOTHING,
    OWNERSHIP_WORDS,
    QUOTED,
    ROLES_BY_WORDS,
    PhraseRole,
    find_role_at,
)
from madeleine.language.kinds import find_kinds
from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import WORD, stem
from madeleine.language.word_hints import IRREGULAR_FORMS, STOP_WORDS

TEXT_CHARS = 240  # about two sentences
MOST_SENTENCES = 2
YEAR_DIGITS = 4

_MORE_SMALL = """
localhost type types typed typing
according across actually afternoon against ago along already always among amount anything app
apparently application around autumn away back based became become becomes been behind being best
came choose chooses chose chosen come comes commit completely current daily day days decide decided
depend end ended entire entirely even evening ever every everyone everything fact fan favorite
favourite finally find fine forth found fully gets go goes gone good got had handle handled handles
has have he's hence hourly it's keep keeps kept last latest let lets liked likes local long look
looks love loves main mainly merge month monthly months morning mostly need needs never new night
nightly nobody note number officially ok okay old one onto own people per person pick picked picks
prefer preferred preferring prefers primary product program project put quite ran rather reason
relies rely relying remote right run running runs say says select selected set sets she's simply
since someone something spring stack summer swear swears switch team test's that's there's thing
things thus time times today total toward towards truth until upon use used user's uses using usual
usually via want week weekly weeks well went whole winter within word words work working works year
years yesterday yet
"""
_SMALL = frozenset(STOP_WORDS) | frozenset(_MORE_SMALL.split())
_TOWARDS = frozenset(
    {
        "in",
        "to",
        "on",
        "with",
        "at",
        "by",
        "is",
        "into",
        "onto",
        "using",
        "via",
        "as",
        "be",
        "are",
        "was",
        "than",
        "from",
        "through",
    }
)
_AFTER = frozenset({"since", "after", "during", "following"})
_OF = frozenset({"of", "for", "behind", "about"})
_WHEN = frozenset(
    {"since", "after", "before", "during", "following", "until", "last", "this", "next", "ago"}
)
_IN = frozenset({"in", "on", "at"})
_BIDDING_WORDS = """
offer ask keep call run type use reach give send put open try avoid remember note please make
check write bring serve whoever anyone tell let start stop visit contact see expect
"""
_BIDDING = frozenset(_BIDDING_WORDS.split())
"""First words that are mostly no name: they bid somebody do something."""
_OPENING = STOP_WORDS | _BIDDING | _WHEN | {"every", "each"}
"""First words that are no part of a name that follows them."""
_ITS = frozenset({"its", "his", "her", "their"})
_SKIPPED = frozenset(
    {
        "the",
        "a",
        "an",
        "our",
        "my",
        "its",
        "his",
        "her",
        "their",
        "your",
        "that",
        "this",
        "new",
        "old",
    }
)
_MONTHS_AND_DAYS = frozenset({"day", "month", "season"})
_NOT = frozenset(
    {
        "not",
        "never",
        "didn't",
        "hasn't",
        "haven't",
        "hadn't",
        "doesn't",
        "don't",
        "isn't",
        "wasn't",
        "won't",
        "no",
    }
)
_END = compile_late(r"[.!?;]\s|\n")
_BREAK = compile_late(r"[,.!?;:()\[\]\n\"`–—/&]|\s-\s")
_DIGIT = compile_late(r"\d")
_QUOTES = ('"', "`")
_TOKEN = compile_late(rf"`[^`]{{1,60}}`|\"[^\"]{{1,60}}\"|{WORD.pattern}")


class Slot(Enum):
    """Where a phrase stands."""

    FIRST = "first"
    """Before all others: what the sentence is about."""
    OF = "of"
    """Behind `of` or `for`."""
    OBJECT = "object"
    """Right behind what is done, in a sentence that says not who does it."""
    VALUE = "value"
    """Anywhere else: what is said to be so."""
    WHEN = "when"
    """Says when."""


TOPIC_SLOTS = (Slot.FIRST, Slot.OF)
"""Where subjects stand."""

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Neighbouring words that name something."""

    stems: Words
    slot: Slot
    gone: bool
    """Whether it is said to be over."""
    capital: bool
    """Whether it is surely a name, and not only the first of a sentence."""
    small: bool
    """Whether it is surely none."""
    number: bool
    kinds: frozenset[str]
    """What it is by its last word, as far as that is known: green tea is a drink."""


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """A short text as far as it states something of something."""

    phrases: tuple[Phrase, ...]
    spoken_of: tuple[tuple[str, frozenset[str]], ...]
    """The words that speak of attributes, and of which."""
    named: frozenset[str]
    """What those speak of that tell no change: `hosting`, not `moved`."""
    parts: tuple[frozenset[str], ...]
    """What those speak of that stand behind `its`."""
    speaker: str
    """`i` or `we`, if it is about who says it."""
    change: bool
    more: bool
    wished: bool
    coming: bool
    event: bool
    denies: bool
    bids: bool
    """Whether it bids somebody do something."""
    owning: bool
    """Whether it begins with who owns something."""
    short: bool


@dataclass(slots=True)
class _Token:
    word: str
    stem: str
    capital: bool
    broken: bool
    """Whether a comma or the like stands before it."""
    ends: bool
    """Whether it is the last word of a sentence."""
    owner: bool
    """Whether it ends in `'s`."""
    role: PhraseRole | None = None
    taken: bool = False
    """Whether it is part of a turn of phrase that began before."""
    aside: bool = False
    """Whether it only says when: `since the upgrade`."""


def parse_statement(text: str) -> ParsedStatement:
    """Return what a text states. Of a long one nothing is told."""
    text = text.replace("’", "'").strip()
    short = len(text) <= TEXT_CHARS and len(_END.findall(text)) < MOST_SENTENCES
    tokens = _tokenize(text) if short else []
    roles = [each.role for each in tokens if each.role]
    return ParsedStatement(
        phrases=tuple(_build_phrases(tokens)),
        spoken_of=tuple(
            (each.stem, each.role.families) for each in tokens if each.role and each.role.families
        ),
        named=frozenset().union(*(each.families for each in roles if not each.change)),
        parts=tuple(
            two.role.families
            for one, two in pairwise(tokens)
            if one.word in _ITS and two.role and two.role.families
        ),
        speaker=_find_speaker(tokens),
        change=any(each.change for each in roles),
        more=any(each.more for each in roles),
        wished="?" in text or any(each.wished for each in roles) or _denies_change(tokens),
        coming=any(each.coming for each in roles),
        event=any(each.event for each in roles),
        denies=any(each.word in _NOT for each in tokens),
        bids=_is_imperative(tokens),
        owning=_begins_with_owner(tokens),
        short=short,
    )


def _tokenize(text: str) -> list[_Token]:
    made: list[_Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        written = match[0]
        bare = written.removesuffix("'s")
        broken = _BREAK.search(text, end, match.start()) is not None
        quoted, lower = written[0] in _QUOTES, bare.lower()
        capital = bare[0].isupper() or quoted
        root = lower if quoted else stem(lower)
        made.append(
            _Token(
                lower,
                root,
                capital,
                broken or quoted,
                _ends_sentence(text, match.end()),
                bare != written,
            )
        )
        end = match.end()
    _mark_asides(made)
    return _assign_roles(made)


def _ends_sentence(text: str, place: int) -> bool:
    return text[place : place + 1] in (".", "!", "?", ":")


def _mark_asides(tokens: list[_Token]) -> None:
    """Mark what follows `since` and its like, up to a name or a small word."""
    for place, token in enumerate(tokens):
        if token.word in _AFTER and not (place and tokens[place - 1].stem == "look"):
            rest = tokens[place + 1 :]
            start = next((at for at, each in enumerate(rest) if each.word not in _SKIPPED), 0)
            for each in rest[start:]:
                if (
                    each.capital
                    or each.broken
                    or each.word in STOP_WORDS
                    or _DIGIT.search(each.word)
                ):
                    break
                each.aside = True


def _assign_roles(tokens: list[_Token]) -> list[_Token]:
    words, stems = [each.word for each in tokens], [each.stem for each in tokens]
    place = 0
    while place < len(tokens):
        skip = _is_in_name(tokens, place) or tokens[place].aside
        found = None if skip else find_role_at(words, stems, place)
        length = 1
        if found is not None:
            tokens[place].role, length = found
            for each in tokens[place + 1 : place + length]:
                each.taken = True
        place += length
    return tokens


def _is_in_name(tokens: list[_Token], place: int) -> bool:
    """Whether a word is part of a name: written with a capital, and not as a first word must be,
    unless another one follows."""
    token = tokens[place]
    if not token.capital or len(token.word) == 1:
        return False
    follows = place + 1 < len(tokens) and _continues_name(tokens[place + 1])
    if place > 0 and not tokens[place - 1].ends:
        return True
    return follows and token.word not in _OPENING and not _is_verb(token.word)


def _is_verb(word: str) -> bool:
    """Whether a first word tells what was done: `Chose Postgres for Atlas`. But Rose is a name."""
    if word.endswith("ed"):
        return word in _SMALL or (word,) in ROLES_BY_WORDS
    return word in _SMALL and word in IRREGULAR_FORMS


def _continues_name(token: _Token) -> bool:
    return token.capital and not token.broken


def _find_speaker(tokens: list[_Token]) -> str:
    for token in tokens[:4]:
        if token.word in ("i", "i'm", "i've", "i'd", "my"):
            return "i"
        if token.word in ("we", "we're", "we've", "our"):
            return "we"
    return ""


def _is_imperative(tokens: list[_Token]) -> bool:
    return bool(tokens) and tokens[0].word in _BIDDING


def _begins_with_owner(tokens: list[_Token]) -> bool:
    return not any(each.word == "by" for each in tokens) and any(
        each.word in OWNERSHIP_WORDS and each.role is not None and "owner" in each.role.families
        for each in tokens
    )


def _denies_change(tokens: list[_Token]) -> bool:
    """Whether it says that something did not change."""
    return any(
        token.role is not None
        and token.role.families
        and token.role.change
        and any(each.word in _NOT for each in tokens[max(0, place - 2) : place])
        for place, token in enumerate(tokens)
    )


def _build_phrases(tokens: list[_Token]) -> list[Phrase]:
    runs = _find_runs(tokens)
    made: list[Phrase] = []
    for place, (start, end) in enumerate(runs):
        words = tokens[start:end]
        next_start = runs[place + 1][0] if place + 1 < len(runs) else len(tokens)
        last_end = runs[place - 1][1] if place else 0
        made.append(
            Phrase(
                stems=tuple(each.stem for each in words),
                slot=_find_slot(tokens, start, made, words),
                gone=_is_gone(tokens[last_end:start], tokens[end:next_start]),
                capital=any(each.capital for each in words) and start > 0,
                small=not any(each.capital for each in words),
                kinds=_phrase_kinds(words),
                number=any(_DIGIT.search(each.word) for each in words),
            )
        )
    return made


def _phrase_kinds(words: list[_Token]) -> frozenset[str]:
    """Return the kinds of a phrase; a name of several words is of none that is known."""
    if words[0].word[0] in _QUOTES:
        return frozenset({QUOTED})
    told = [each for each in words if not each.word[0].isdigit()]
    named = any(each.capital for each in told)
    return find_kinds([each.stem for each in told[-1:]]) if len(told) == 1 or not named else NOTHING


def _find_runs(tokens: list[_Token]) -> list[tuple[int, int]]:
    """Return where phrases begin and end. A name ends where small letters begin, but for what
    belongs to it: `Ana's mother`."""
    found: list[tuple[int, int]] = []
    for place, token in enumerate(tokens):
        if not _is_naming_word(tokens, place):
            continue
        before = tokens[place - 1] if place else None
        year = before is not None and before.word.isdigit() and len(token.word) == YEAR_DIGITS
        joined = bool(found) and found[-1][1] == place and (year or not token.broken)
        if joined and before is not None and _are_one_phrase(before, token):
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return found


def _is_naming_word(tokens: list[_Token], place: int) -> bool:
    token = tokens[place]
    if token.role is not None or token.taken or token.aside:
        return False
    if "'" in token.word or (
        len(token.word) == 1 and token.word.isalpha() and token.word.isascii()
    ):
        return False
    if place == 0 and token.word in _BIDDING:
        return False
    return token.word not in _SMALL or _is_in_name(tokens, place)


def _are_one_phrase(before: _Token, token: _Token) -> bool:
    if before.owner or before.capital == token.capital:
        return True
    return before.capital and _DIGIT.search(token.word) is not None


def _find_slot(tokens: list[_Token], start: int, made: list[Phrase], words: list[_Token]) -> Slot:
    before = [each for each in tokens[max(0, start - 5) : start] if each.word not in _SKIPPED]
    last = before[-1] if before else None
    if words[0].word[0].isdigit():
        return Slot.WHEN if last is not None and last.word in _WHEN else Slot.VALUE
    if last is not None and last.word in _WHEN:
        return Slot.WHEN
    if last is not None and last.word in ("in", "on", "at", "from") and _is_time(words):
        return Slot.WHEN if made else Slot.FIRST
    there = tokens[0].word == "there" and made
    if (
        last is not None
        and last.word in (_IN if there else _OF)
        and not last.taken
        and last.role is None
    ):
        return Slot.OF
    if all(each.slot is Slot.WHEN or each.kinds for each in made):
        if last is None or last.word not in _TOWARDS:
            acts = (
                made
                or _tells_change(last)
                or _is_imperative(tokens)
                or _find_speaker(tokens[:start])
            )
            return Slot.OBJECT if acts else Slot.FIRST
    elif words[0].broken and words[-1].owner:
        return Slot.FIRST
    return Slot.VALUE


def _tells_change(last: _Token | None) -> bool:
    return last is not None and last.role is not None and last.role.change


def _is_time(words: list[_Token]) -> bool:
    return bool(find_kinds(each.stem for each in words) & _MONTHS_AND_DAYS)


def _is_gone(before: list[_Token], after: list[_Token]) -> bool:
    if any(each.role is not None and each.role.before_gone for each in before):
        return True
    for token in after:
        if token.broken:
            return False
        if token.role is not None and token.role.after_gone:
            return True
    return False
