"""What a text in another language says by a turn of phrase, told in English.

The rules that read times, questions about the person and what is said outright are English. The
file of a language gives them what its own turns of phrase come to: `# giorni fa` is `# days ago`,
`wie heiße ich` is `what is my name`. `#` stands for a number, `…` for any few words and `{old}`,
`{new}` for what a change tells of. Accents may be left out. Whether a phrase was found or not,
the language's own words stay where they are: a hit says which of them it stands for. `{month}`
and `{weekday}` are any of those that the file names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from madeleine.language.identification import guess_languages
from madeleine.language.language_files import LanguageFile, list_languages, load_language
from madeleine.language.question_words import UNSPACED_LANGUAGES, split_unspaced
from madeleine.language.small_talk_words import ANY_EMPTY
from madeleine.language.time_points import MONTHS, WEEKDAYS

TEXT_CHARS = 2_000
LIKELY_FROM = 0.02  # of probability: a few words show a language less surely than a sentence does
SURELY_ENGLISH = 0.98
MOST_GUESSES = 4
CUE_CACHE_SIZE = 16_384  # texts and rules; one text is held against several others
LAST_ACCENTED, FIRST_FULL_WIDTH = "\u058f", "\uff00"
"""Between the two a sign on a letter makes another one: `が` is no `か`."""
_WORD = re.compile(r"[^\W_]+")
_SLOT = re.compile(r"#|…|\{(\w+)\}|\s+")
_GAP = "\0"  # marks a gap in a phrase: what stands in it may touch the words beside it


_UNSPACED_NAME = r"[a-z0-9][a-z0-9.+#_ -]*[a-z0-9+#]|[\u30a0-\u30ff]{2,16}|[\u4e00-\u9fff]{2,8}?"
"""What may be named where no space sets it apart: Latin letters, katakana, a few Han signs."""
_FEW_WORDS = r"[^\s.!?,;]+(?:\s[^\s.!?,;]+){0,3}"


class PhraseHit(NamedTuple):
    """A phrase in a text: where it stands, what it says in English, and what stands in its gaps."""

    start: int
    end: int
    english: str
    gaps: Mapping[str, str]
    language: str


class _Phrase(NamedTuple):
    pattern: re.Pattern[str]
    english: str


def find_foreign_phrases(text: str, rule: str) -> list[PhraseHit]:
    """Return the phrases of a rule in a text, in order, none inside another. English has none."""
    begun = text[:TEXT_CHARS]
    if not _may_hold_phrase(begun, rule):  # which language it is in takes ten times as long
        return []
    for known in likely_languages(begun):
        if known.phrases.get(rule):
            hits = _find_in(fold_in_place(begun), begun, rule, known.code)
            if hits:
                return hits
    return []


@lru_cache(maxsize=8_192)  # several rules ask about one text, and a night about all, in pairs
def likely_languages(text: str) -> tuple[LanguageFile, ...]:
    """Return what is known of the languages that a text may be in, the likeliest first."""
    guesses = guess_languages(text, MOST_GUESSES)
    if guesses and guesses[0].code == "en" and guesses[0].probability >= SURELY_ENGLISH:
        return ()
    likely = [each.code for each in guesses if each.probability >= LIKELY_FROM]
    if "zh" in likely:  # a Japanese word may be of Han signs alone
        likely.append("ja")
    return tuple(known for known in map(load_language, likely) if known is not None)


def says_nothing_in(text: str, language: str) -> bool:
    """Whether a text consists of words of a language that name nothing."""
    known = load_language(language)
    assert known is not None
    empty = known.stop_words | known.small_talk | ANY_EMPTY
    return all(
        word in empty
        or (not word.isascii() and all(part in empty for part in split_unspaced(word, empty)))
        for word in _WORD.findall(text.lower())
    )


def fold_in_place(text: str) -> str:
    """Return a text in lower case and without accents, each character in its place."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_character, text))


@lru_cache(maxsize=4_096)
def _fold_character(character: str) -> str:
    small = character.lower()
    if LAST_ACCENTED < small < FIRST_FULL_WIDTH:
        return small if len(small) == 1 else character
    return unicodedata.normalize("NFKD", small)[:1] or character


def _find_in(folded: str, text: str, rule: str, code: str) -> list[PhraseHit]:
    found = [
        PhraseHit(
            match.start(),
            match.end(),
            _fill(phrase.english, match, text),
            {name: text[slice(*match.span(name))].strip() for name in match.groupdict()},
            code,
        )
        for phrase in _compile_rule(code, rule)
        for match in phrase.pattern.finditer(folded)
    ]
    chosen: list[PhraseHit] = []
    for each in sorted(found, key=lambda hit: (hit.start, -hit.end)):
        if not chosen or chosen[-1].end <= each.start:
            chosen.append(each)
    return chosen


def _fill(english: str, match: re.Match[str], text: str) -> str:
    """Return the English with its number and its gap filled."""
    for sign, name in (("#", "number"), ("…", "rest")):
        if sign in english:
            english = english.replace(sign, text[slice(*match.span(name))].strip())
    return english


class _PhraseCues(NamedTuple):
    """What the phrases of a rule cannot do without: every text that holds one of them has one of
    the `words` as a whole word or one of the `pieces` anywhere."""

    words: frozenset[str]
    plain_pieces: tuple[str, ...]
    other_pieces: tuple[str, ...]
    """Those that are not all ASCII."""


@lru_cache(maxsize=CUE_CACHE_SIZE)
def _may_hold_phrase(text: str, rule: str) -> bool:
    """Whether a text may hold a phrase of a rule, in any language. No is certain."""
    cues, folded = _read_cues(rule), fold_in_place(text)
    if not cues.words.isdisjoint(_WORD.findall(folded)):
        return True
    pieces = cues.plain_pieces if folded.isascii() else cues.plain_pieces + cues.other_pieces
    return any(each in folded for each in pieces)


@cache
def _read_cues(rule: str) -> _PhraseCues:
    words, pieces = set[str](), set[str]()
    for code in list_languages():
        known = load_language(code)
        assert known is not None
        unspaced = code in UNSPACED_LANGUAGES
        for phrase, _ in _spell_out(known, known.phrases.get(rule, {})):
            folded = fold_in_place(phrase)
            marked = _SLOT.sub(_mark_slot, folded)
            whole = [] if unspaced else _find_whole_words(marked)
            if whole:
                words.add(max(whole, key=len))
            else:
                pieces.add(max(re.split(rf"[{_GAP} ]", marked), key=len))
    plain = tuple(sorted(each for each in pieces if each.isascii()))
    return _PhraseCues(frozenset(words), plain, tuple(sorted(pieces.difference(plain))))


def _mark_slot(slot: re.Match[str]) -> str:
    return " " if slot.group().isspace() else _GAP


def _find_whole_words(marked: str) -> list[str]:
    """Return the words of a phrase that stand by themselves in every text that holds it: those
    that touch no gap."""
    return [
        word.group()
        for word in _WORD.finditer(marked)
        if _GAP
        not in (marked[word.start() - 1 : word.start()], marked[word.end() : word.end() + 1])
    ]


@cache
def _compile_rule(code: str, rule: str) -> tuple[_Phrase, ...]:
    known = load_language(code)
    assert known is not None
    unspaced = code in UNSPACED_LANGUAGES
    return tuple(
        _Phrase(re.compile(_phrase_pattern(fold_in_place(phrase), unspaced)), english)
        for phrase, english in _spell_out(known, known.phrases.get(rule, {}))
    )


def _spell_out(known: LanguageFile, phrases: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield phrases with their English, those of a month or a day once for each name."""
    names = (("{month}", known.months, MONTHS), ("{weekday}", known.weekdays, WEEKDAYS))
    for phrase, english in phrases.items():
        sign, own, named = next((each for each in names if each[0] in phrase), ("", (), ()))
        if not sign:
            yield phrase, english
        for forms, name in zip(own, named, strict=False):
            for form in forms:
                yield phrase.replace(sign, form), english.replace(sign, name)


def _phrase_pattern(phrase: str, unspaced: bool) -> str:
    """Return the pattern of a phrase. Words of a language that puts spaces between them are
    whole; a gap at the end runs to the end of the sentence."""
    parts, place = [], 0
    for slot in _SLOT.finditer(phrase):
        parts.append(re.escape(phrase[place : slot.start()]))
        last = slot.end() == len(phrase)
        parts.append(_slot_pattern(slot, last, unspaced))
        place = slot.end()
    parts.append(re.escape(phrase[place:]))
    pattern = "".join(parts)
    if unspaced:
        return pattern
    begin = "" if phrase[:1] in "#…{" else r"(?<![^\W_])"
    end = "" if phrase[-1:] in "…}" else r"(?![^\W_])"
    return f"{begin}{pattern}{end}"


def _slot_pattern(slot: re.Match[str], last: bool, unspaced: bool) -> str:
    said = slot.group()
    if unspaced and slot.group(1):
        return rf"(?P<{slot.group(1)}>{_UNSPACED_NAME})"
    if said == "#":
        return r"(?P<number>\d{1,4})"
    if said.isspace():
        return r"[\s.,:;'’!?¿¡-]{1,4}"
    if slot.group(1):
        return rf"(?P<{slot.group(1)}>{_FEW_WORDS}{'' if last else '?'})"
    return rf"(?P<rest>[^.!?。！？\n]{{1,200}}{'' if last else '?'})"
