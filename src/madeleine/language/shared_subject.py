"""Whether two short texts speak of the same thing, and whether they agree about it.

`The VAT on books is 7 %` and `The VAT on stationery is 19 %` look like a number that changed. What
tells them apart is that each names something that the other does not. And `floats are forbidden`
and `never floats` look like a contradiction, but both deny. Only short texts are looked at: a long
one says more than one thing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from madeleine.language.change_words import CHANGE_STARTERS
from madeleine.language.late_pattern import compile_late
from madeleine.language.sentences import SENTENCE_CACHE_SIZE, Sentence, read_sentences
from madeleine.language.substance import CONTRARY_WORDS, count_denials

TEXT_CHARS = 120  # about one statement; a longer text says several things


def name_different_things(one: str, other: str, beside: frozenset[str] = frozenset()) -> bool:
    """Whether each of two short texts names something that the other does not, beside some stems
    in which they are known to differ."""
    if not _are_short(one, other):
        return False
    sides = [
        frozenset(each for each in _scope_stems(text) if not each[0].isdigit())
        for text in (one, other)
    ]
    stems = [_all_stems(each) | beside for each in (one, other)]
    return bool(sides[0] - stems[1]) and bool(sides[1] - stems[0])


def have_different_subjects(one: str, other: str, names: bool = True) -> bool:
    """Whether each of two short texts names something before its verb that the other does not name
    at all. Without `names` only common words count: who took something over is named first too."""
    if not _are_short(one, other):
        return False
    subjects = [_subject_stems(each, names) for each in (one, other)]
    stems = [_all_stems(each) for each in (one, other)]
    return bool(subjects[0] - stems[1]) and bool(subjects[1] - stems[0])


def name_other_directions(one: str, other: str) -> bool:
    """Whether two short texts say `to` and `from`, or `in` and `out`, of a word that both have."""
    if not _are_short(one, other):
        return False
    return any(
        are_turned_round(mine, theirs, frozenset(mine.stems) & frozenset(theirs.stems))
        for mine in read_sentences(one)
        for theirs in read_sentences(other)
    )


def are_turned_round(one: Sentence, other: Sentence, scope: frozenset[str]) -> bool:
    """Whether two sentences say `to` and `from` of one word: another direction is another thing."""
    mine, theirs = _find_directions(one, scope), _find_directions(other, scope)
    return any(
        (each, what) in theirs for word, what in mine for each in CONTRARY_WORDS.get(word, ())
    )


def _find_directions(sentence: Sentence, scope: frozenset[str]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for at, root in enumerate(sentence.stems):
        if root in scope:
            before = [
                each for each in sentence.words[max(0, at - 3) : at] if each in CONTRARY_WORDS
            ]
            after = [each for each in sentence.words[at + 1 : at + 2] if each in CONTRARY_WORDS]
            found |= {(each, root) for each in (*before[-1:], *after)}
    return found


def say_the_same(one: str, other: str) -> bool:
    """Whether one of two texts says all that the other says, in the same words but for how a number
    is written, and no word of it tells a change. The one that says more is no news."""
    if not _are_short(one, other) or count_denials(one) != count_denials(other):
        return False
    less, more = sorted((_content_words(one), _content_words(other)), key=len)
    added = more - less
    counts = any(each[0].isdigit() for each in less)  # a number beside none is no other value
    return less <= more and not any(
        each in _CHANGES or (counts and each[0].isdigit()) for each in added
    )


def agree_in_denial(one: str, other: str) -> bool:
    """Whether two short texts both deny or forbid what they speak of, or neither does."""
    return _are_short(one, other) and _is_denying(one) == _is_denying(other)


@lru_cache(maxsize=SENTENCE_CACHE_SIZE)
def is_addition(newer: str) -> bool:
    """Whether a text says that what it tells comes beside something else, and not instead."""
    return len(newer) <= TEXT_CHARS and _MORE.search(newer) is not None


_MORE = compile_late(
    r"\b(?:also|too|as well|another|additionally|besides|in addition)\b", re.IGNORECASE
)
_FORBIDDING = compile_late(
    r"\b(?:forbid\w*|forbidden|prohibit\w*|bann?(?:ed|s)?|disallow\w*|denied|denies|off[ -]limits"
    r"|avoid\w*|refus\w+|impossible|lacks?)\b|-free\b|\bfree of\b",
    re.IGNORECASE,
)
_CHANGES = CHANGE_STARTERS | {
    "now",
    "instead",
    "longer",
    "anymore",
    "until",
    "since",
    "formerly",
    "only",
}
_HOLDING = frozenset(
    {"the", "a", "an", "is", "are", "am", "be", "it", "its", "of", "that", "there", "and", "from"}
    | {"at", "to", "in", "on", "for", "|", ":"}
)
_AUXILIARY = frozenset({"was", "were", "had", "did", "do", "does", "will", "can", "may"})


def _are_short(one: str, other: str) -> bool:
    return max(len(one), len(other)) <= TEXT_CHARS


@lru_cache(maxsize=SENTENCE_CACHE_SIZE)
def _is_denying(text: str) -> bool:
    """Whether a text denies on the whole: what is not forbidden is allowed."""
    return (count_denials(text) + len(_FORBIDDING.findall(text))) % 2 == 1


@lru_cache(maxsize=SENTENCE_CACHE_SIZE)
def _content_words(text: str) -> frozenset[str]:
    """Return what a text says, word by word, without those that hold it together."""
    return frozenset(
        root if word not in _CHANGES else word
        for sentence in read_sentences(text)
        for word, root in zip(sentence.words, sentence.stems, strict=True)
        if word not in _HOLDING
    )


@lru_cache(maxsize=SENTENCE_CACHE_SIZE)
def _all_stems(text: str) -> frozenset[str]:
    return frozenset(root for sentence in read_sentences(text) for root in sentence.stems)


@lru_cache(maxsize=SENTENCE_CACHE_SIZE)
def _scope_stems(text: str) -> frozenset[str]:
    return frozenset(
        root
        for sentence in read_sentences(text)
        for root in sentence.scope(range(len(sentence.words)))
    )


@lru_cache(maxsize=SENTENCE_CACHE_SIZE)
def _subject_stems(text: str, names: bool) -> frozenset[str]:
    """Return the stems of what the first sentence of a text names before its verb."""
    sentences = read_sentences(text)
    if not sentences:
        return frozenset()
    first = sentences[0]
    places = range(_find_verb_place(first))
    return first.scope(at for at in places if names or not first.written[at][0].isupper())


def _find_verb_place(sentence: Sentence) -> int:
    """Return the place of the first verb, or of a colon where there is none."""
    words = sentence.words
    verbs = [
        at
        for at, word in enumerate(words)
        if at in sentence.verbs or word in CHANGE_STARTERS or word in _AUXILIARY
    ]
    return verbs[0] if verbs else words.index(":") if ":" in words else 0
