"""What several texts are about, in words that they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import UNSPACED, WORD, is_telling, stem
from madeleine.language.text_merging import join_title_and_text
from madeleine.model.memory import Memory

PHRASE_WORDS = 4  # of a phrase that names a theme
PHRASE_CHARS = 8  # the same, in scripts without spaces
THEME_WORDS = 3  # that a title names, at most, the phrase counted as one

_SENTENCE = compile_late(r"[^.!?。！？\n;:]+(?:[.:](?=\S)[^.!?。！？\n;:]+)*")
_RUN = compile_late(f"(?:{UNSPACED.pattern})+")
_SOUND_ONLY = compile_late(r"\A[\u3040-\u309f]+|[\u3040-\u309f]+\Z")
"""Endings and particles at the edge of a Japanese phrase."""

Stems = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Words in a row, how many members have them, and whether most of those begin a sentence with
    them."""

    stems: Stems
    written: str
    count: int
    begins: bool


def name_theme(members: Sequence[Memory]) -> str:
    """Return the phrase that most members share, rather one with which they begin, and the longest
    of those; where not all of them have it, other words that most have. Nothing if they share no
    word."""
    phrases = _find_shared(members, more_than=len(members) / 2) or _find_shared(members, 1)
    if not phrases:
        return ""
    first = max(phrases, key=lambda each: (each.count, each.begins, len(each.stems)))
    if first.count == len(members):
        return _render_theme([first.written])
    known = set(first.stems)
    others = [each for each in phrases if len(each.stems) == 1 and known.isdisjoint(each.stems)]
    others.sort(key=lambda each: -each.count)
    return _render_theme([each.written for each in (first, *others[: THEME_WORDS - 1])])


def _render_theme(names: Sequence[str]) -> str:
    if not names:
        return ""
    title = f"{names[0]}: {', '.join(names[1:])}" if names[1:] else names[0]
    return title[:1].upper() + title[1:]


def _find_shared(members: Sequence[Memory], more_than: float) -> list[_Phrase]:
    """Return the phrases that more than so many members have, in the order in which they come."""
    held: Counter[Stems] = Counter()
    begun: Counter[Stems] = Counter()
    written: dict[Stems, str] = {}
    for member in members:
        phrases, beginnings = _read_phrases(join_title_and_text(member))
        held.update(phrases.keys())
        begun.update(beginnings)
        written = {**phrases, **written}
    return [
        _Phrase(each, written[each], held[each], 2 * begun[each] > held[each])
        for each in held
        if held[each] > more_than
    ]


def _read_phrases(text: str) -> tuple[Mapping[Stems, str], set[Stems]]:
    """Return the phrases of a text as it writes them, and those that begin a sentence."""
    found: dict[Stems, str] = {}
    begin: set[Stems] = set()
    for sentence in _SENTENCE.findall(text):
        phrases = list(_split_phrases(sentence))
        begin.update(stems for stems, _ in phrases if stems[0] == phrases[0][0][0])
        for stems, phrase in phrases:
            found.setdefault(stems, phrase)
    return found, begin


def _split_phrases(sentence: str) -> Iterator[tuple[Stems, str]]:
    words = [word.removesuffix("'s") for word in WORD.findall(sentence.replace("’", "'"))]
    spaced = [word for word in words if not UNSPACED.search(word)]
    yield from _split_word_phrases(spaced)
    for run in _RUN.findall(sentence):
        yield from _split_character_phrases(run)


def _split_word_phrases(words: Sequence[str]) -> Iterator[tuple[Stems, str]]:
    """Give what begins and ends with a telling word, and is no more than a few words long."""
    telling = [is_telling(each.lower()) and not each.isdigit() for each in words]
    for start, begins in enumerate(telling):
        for end in range(start + 1, min(len(words), start + PHRASE_WORDS) + 1):
            if begins and telling[end - 1]:
                some = words[start:end]
                yield tuple(stem(each.lower()) for each in some), " ".join(some)


def _split_character_phrases(run: str) -> Iterator[tuple[Stems, str]]:
    for start in range(len(run)):
        for end in range(start + 2, min(len(run), start + PHRASE_CHARS) + 1):
            phrase = run[start:end]
            if _SOUND_ONLY.search(phrase) is None:
                yield tuple(_pairs(phrase)), phrase


def _pairs(phrase: str) -> Iterable[str]:
    return (phrase[place : place + 2] for place in range(len(phrase) - 1))
