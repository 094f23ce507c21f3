"""What a question asks: its words, names, quotes, ids and times, in any script.

Nothing here searches. Characters that mean something to a search engine (`"`, `*`, `NEAR(`,
`col:`) are characters like any other: what goes on is words, which the index quotes.

A word is what the index takes for one: letters, marks and digits without a break. Japanese or
Thai comes as one long word, which the index cuts itself; `don't` is `don` and `t`. Where there
is no word at all, an emoji is one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from madeleine.language.memory_times import (
    asks_about_memory_time,
    find_keeping_words,
    is_possessive,
)
from madeleine.language.question_words import (
    UNSPACED_LANGUAGES,
    read_question_words,
    split_unspaced,
)
from madeleine.language.text_keys import EMOJI_SELECTOR, is_emoji
from madeleine.language.time_points import CALENDAR_NAMES
from madeleine.language.times import TimeSpan, find_newest_words, read_times
from madeleine.language.word_hints import (
    CONTRACTION_STEMS,
    META_WORDS,
    QUESTION_WORDS,
    SELF_WORDS,
    STOP_WORDS,
    asks_for_all,
    asks_for_help,
    asks_for_overview,
    asks_for_past,
    asks_how_many,
    asks_when,
    asks_who_or_where,
    find_meta_phrases,
)

TEXT_CHARS = 4_000  # a pasted page is still one question; the rest adds only time
TERMS_AT_MOST = 48
TERM_CHARS = 128  # of a script without spaces: each letter becomes one more thing to look for
PHRASES_AT_MOST = 8
_KEPT_WORDS = """
added agree agreed anything came change changed choose chose chosen decide decided decision
decisions done end entries entry everything find found gave give happen happened happening happens
jotted keep kept learn learned learning learnt memories memory new news note noted notes nothing
recall recalled recap record recorded records remind save saved saving settle settled show something
store stored stuff talk talked talking thing things went work worked working write writing written
wrote
"""
KEEPING_WORDS = frozenset(_KEPT_WORDS.split())
"""Words for keeping things: beside a time they say no more than that something is from then."""
IDS_AT_MOST = 16

_ID = re.compile(
    r"(?<![0-9a-z_])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8})(?![0-9a-z_])",
    re.IGNORECASE | re.ASCII,
)
_QUOTED = re.compile(
    r'"([^"]{1,200})"|“([^“”]{1,200})”|„([^„“”]{1,200})[“”]|«([^«»]{1,200})»|`([^`]{1,200})`'
    r"|「([^「」]{1,200})」|『([^『』]{1,200})』"
    r"|(?<!\S)['‘](?=\S)([^'‘’\n]{2,200})(?<=\S)['’](?![^\s.,;:!?)])"
)
_ASCII_WORD = re.compile(r"[0-9A-Za-z]+")
_SENTENCE_END = re.compile(r"[.!?。！？\n:]\W*$")


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A word of the question: in lower case and NFKC, and where it stands as it was asked."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AnswerHints:
    """What kind of answer is wanted. Hints for ranking; a question may be none of them."""

    when: bool = False
    how_many: bool = False
    who_or_where: bool = False
    help: bool = False
    overview: bool = False
    everything: bool = False
    past: bool = False

    @property
    def many(self) -> bool:
        """Whether many things are to be told, not one."""
        return self.overview or self.everything


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """What a question asks."""

    text: str
    """As it was asked: `words` and `spans` point into it."""
    words: tuple[QuestionWord, ...]
    """All of its words, in order. None: it holds only punctuation or nothing."""
    terms: tuple[str, ...]
    """What to search for, each once. The words themselves if they are all stop words."""
    telling: frozenset[str]
    """The terms that say what it is about. Empty when it asks only for a time."""
    silent: frozenset[str]
    """Words that stand in every text of its language, if that is another than English."""
    language: str | None
    """The language of the question by its two letters, if it shows one."""
    phrases: tuple[str, ...]
    """What stands in quotes, in lower case with single spaces."""
    ids: tuple[str, ...]
    """Ids and beginnings of ids, in lower case; whether a memory has one only the index knows."""
    names: tuple[str, ...]
    """Capitalised words inside sentences, and identifiers, in lower case."""
    about_self: bool
    """Whether the asker speaks of themselves."""
    spans: tuple[TimeSpan, ...]
    """Times that the answer is from (firm), or is of."""
    hints: tuple[TimeSpan, ...]
    """Times relative to now that belong to the matter: an answer may be from any other."""
    newest_first: bool
    asks: AnswerHints


def parse_question(text: str, now: datetime, narrows: bool = True) -> ParsedQuestion:
    """Return what `text` asks, as of `now`. Any text will do; only its beginning is read. Unless
    it `narrows`, a time is only a hint for it, as long as anything else is asked."""
    known = read_question_words(text[:TEXT_CHARS])
    words = _split_words(text)
    if known.language in UNSPACED_LANGUAGES:
        words = _split_unspaced(words, known.stop_words)
    spans, newest = tuple(read_times(text, now)), find_newest_words(text)
    firm = [span.at for span in spans if span.firm] + newest
    soft = [span.at for span in spans if not span.firm]
    terms = _select_terms(text, words, known.stop_words, firm, soft)
    telling = _select_telling(text, terms, words, firm, soft)
    hints = _select_hints(text, spans, narrows) if telling else ()
    named = _find_calendar_names(words, hints)
    return ParsedQuestion(
        text=text,
        words=words,
        terms=tuple(dict.fromkeys([*terms, *named]))[:TERMS_AT_MOST],
        telling=telling.union(named),
        silent=known.stop_words & {each.text for each in words},
        language=known.language,
        phrases=_find_phrases(text),
        ids=_find_ids(text),
        names=_find_names(text, words, known.stop_words, firm + soft),
        about_self=_is_about_self(text, words),
        spans=tuple(each for each in spans if each not in hints),
        hints=hints,
        newest_first=bool(newest),
        asks=_read_hints(text),
    )


def _select_hints(text: str, spans: Sequence[TimeSpan], narrows: bool) -> tuple[TimeSpan, ...]:
    """Return the times relative to now that are not when the memory came to be."""
    about_memory = narrows and asks_about_memory_time(text)
    return tuple(
        each
        for each in spans
        if each.firm and (not about_memory or is_possessive(text, each.at[1]))
    )


def _find_calendar_names(
    words: Sequence[QuestionWord], hints: Sequence[TimeSpan]
) -> tuple[str, ...]:
    """Return the days and months of the hints, to be searched for: `fish on friday` is a rule."""
    places = [each.at for each in hints]
    return tuple(each.text for each in words if _names_day_or_month(each, places))


def _names_day_or_month(word: QuestionWord, places: Sequence[tuple[int, int]]) -> bool:
    return word.text in CALENDAR_NAMES and _is_inside(word, places)


def _split_words(text: str) -> tuple[QuestionWord, ...]:
    """Return every run of letters, marks, digits and private characters, as FTS5 cuts them; of
    a question without any, its emoji."""
    if text.isascii():
        found = _ASCII_WORD.finditer(text, 0, TEXT_CHARS)
        return tuple(QuestionWord(each[0].lower(), *each.span()) for each in found)
    runs = groupby(enumerate(text[:TEXT_CHARS]), key=lambda each: _is_word_character(each[1]))
    words = tuple(_build_word(text, list(run)) for inside, run in runs if inside)
    return words or tuple(
        QuestionWord(each, place, place + 1)
        for place, each in enumerate(text[:TEXT_CHARS])
        if is_emoji(each)
    )


def _split_unspaced(
    words: tuple[QuestionWord, ...], stop_words: frozenset[str]
) -> tuple[QuestionWord, ...]:
    """Return the words with what is written without spaces cut at the words that say nothing."""
    return tuple(
        part
        for word in words
        for part in (
            (word,)
            if word.text.isascii() or len(word.text) != word.end - word.start
            else _cut_word(word, stop_words)
        )
    )


def _cut_word(word: QuestionWord, stop_words: frozenset[str]) -> Iterator[QuestionWord]:
    start = word.start
    for part in split_unspaced(word.text, stop_words):
        yield QuestionWord(part, start, start + len(part))
        start += len(part)


def _is_word_character(character: str) -> bool:
    category = unicodedata.category(character)
    return (category[0] in "LMN" and character != EMOJI_SELECTOR) or category == "Co"


def _build_word(text: str, run: Sequence[tuple[int, str]]) -> QuestionWord:
    start, end = run[0][0], run[-1][0] + 1
    return QuestionWord(unicodedata.normalize("NFKC", text[start:end]).lower(), start, end)


def _select_terms(
    text: str,
    words: Sequence[QuestionWord],
    stop_words: frozenset[str],
    firm: Sequence[tuple[int, int]],
    soft: Sequence[tuple[int, int]],
) -> tuple[str, ...]:
    """Return the words to search for. What says nothing is left out as long as something is
    left; a date may stand in the text that is looked for, so it stays."""
    rest = [each for each in words if not _is_inside(each, firm)]
    spoken = [each for each in rest if not _is_stop(text, each, stop_words) or _is_date(each, soft)]
    asking = find_meta_phrases(text)
    about = [
        each for each in spoken if each.text not in META_WORDS and not _is_inside(each, asking)
    ]
    chosen = about or spoken or rest or words
    return tuple(dict.fromkeys(_cut_term(each.text) for each in chosen))[:TERMS_AT_MOST]


def _cut_term(term: str) -> str:
    return term if term.isascii() else term[:TERM_CHARS]


def _is_stop(text: str, word: QuestionWord, stop_words: frozenset[str]) -> bool:
    if word.text in CONTRACTION_STEMS and text[word.end : word.end + 2] in ("'t", "’t", "'T", "’T"):
        return True
    return word.text in STOP_WORDS or word.text in QUESTION_WORDS or word.text in stop_words


def _is_date(word: QuestionWord, soft: Sequence[tuple[int, int]]) -> bool:
    """Whether a stop word is part of a date: `may` is, the `in` before it is not."""
    return word.text == "may" and _is_inside(word, soft)


def _select_telling(
    text: str,
    terms: tuple[str, ...],
    words: Sequence[QuestionWord],
    firm: Sequence[tuple[int, int]],
    soft: Sequence[tuple[int, int]],
) -> frozenset[str]:
    """Return the terms that are not about time.

    A question for a time and nothing else (`what did I do yesterday`) has none: everything
    from then is an answer.
    """
    timely = {_cut_term(each.text) for each in words if _is_inside(each, [*firm, *soft])}
    telling = frozenset(terms) - timely
    if not firm and not soft:
        return telling
    spoken = telling - STOP_WORDS - QUESTION_WORDS
    matter = spoken - META_WORDS - KEEPING_WORDS
    return spoken if matter and matter - find_keeping_words(text) else frozenset()


def _is_inside(word: QuestionWord, places: Sequence[tuple[int, int]]) -> bool:
    return any(start <= word.start and word.end <= end for start, end in places)


def _find_phrases(text: str) -> tuple[str, ...]:
    found = (_normalize_quote(match) for match in _QUOTED.finditer(text, 0, TEXT_CHARS))
    return tuple(dict.fromkeys(each for each in found if each))[:PHRASES_AT_MOST]


def _normalize_quote(match: re.Match[str]) -> str:
    """Return what was quoted, or nothing if there is no word in it."""
    quoted = unicodedata.normalize("NFKC", match[match.lastindex or 0]).lower()
    return " ".join(quoted.split()) if any(map(_is_word_character, quoted)) else ""


def _find_ids(text: str) -> tuple[str, ...]:
    found = (match.group().lower() for match in _ID.finditer(text, 0, TEXT_CHARS))
    return tuple(dict.fromkeys(found))[:IDS_AT_MOST]


def _find_names(
    text: str,
    words: Sequence[QuestionWord],
    stop_words: frozenset[str],
    times: Sequence[tuple[int, int]],
) -> tuple[str, ...]:
    """Return the likely names. A question all in capitals tells none of them apart."""
    if text.isupper():
        return ()
    return tuple(dict.fromkeys(_name_words(text, words, stop_words, times)))


def _name_words(
    text: str,
    words: Sequence[QuestionWord],
    stop_words: frozenset[str],
    times: Sequence[tuple[int, int]],
) -> Iterator[str]:
    for place, word in enumerate(words):
        written = text[word.start : word.end]
        if _is_stop(text, word, stop_words) or len(written) < 2 or _is_inside(word, times):
            continue
        if _is_identifier(written) or (
            place and written[0].isupper() and not _begins_sentence(text, word.start)
        ):
            yield word.text


def _is_identifier(written: str) -> bool:
    """Whether it is written like `API`, `SQLite` or `fooBar`."""
    return any(each.isupper() for each in written[1:]) and any(map(str.isalpha, written[1:]))


def _begins_sentence(text: str, start: int) -> bool:
    """Whether a sentence begins there."""
    return _SENTENCE_END.search(text, max(0, start - 8), start) is not None


def _is_about_self(text: str, words: Sequence[QuestionWord]) -> bool:
    """Whether words for the asker occur; `US` is a country unless everything is in capitals."""
    return any(
        each.text in SELF_WORDS and (text[each.start : each.end] != "US" or text.isupper())
        for each in words
    )


def _read_hints(text: str) -> AnswerHints:
    return AnswerHints(
        when=asks_when(text),
        how_many=asks_how_many(text),
        who_or_where=asks_who_or_where(text),
        help=asks_for_help(text),
        overview=asks_for_overview(text),
        everything=asks_for_all(text),
        past=asks_for_past(text),
    )
