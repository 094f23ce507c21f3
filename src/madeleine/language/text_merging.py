"""Making one text of two without losing what either says.

A sentence is *said* by a text when one of its sentences has all its tokens (`substance.py`) in a
row (`tabs over spaces` is not `spaces over tabs`), denies as much, and puts it under no other
condition. That is narrower than meaning: what is said in other words counts as missing, because
a word too many costs a line and a word too few costs a memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from madeleine.language.late_pattern import compile_late
from madeleine.language.substance import (
    Tokens,
    count_denials,
    find_bound_words,
    find_lost_words,
    find_particulars,
    group_turning_words,
    is_number,
    tokenize,
)
from madeleine.model.memory import Memory

_ENDS = compile_late(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_CODE_FENCE = "```"


@dataclass(frozen=True, slots=True)
class SentenceContent:
    """A sentence, as far as another may say it too."""

    tokens: Tokens
    denials: int
    under: frozenset[str]
    """The small words that say whether, and when, it holds."""


def read_sentence_content(sentence: str) -> SentenceContent:
    found = group_turning_words(sentence)
    return SentenceContent(tokenize(sentence), count_denials(sentence), found["duty"])


def says_all_of(whole: SentenceContent, part: SentenceContent) -> bool:
    """Whether a sentence says all that another says, and says it as surely."""
    return (
        part.denials == whole.denials
        and part.under == whole.under
        and _contains_run(part.tokens, whole.tokens)
    )


def find_missing_sentences(text: str, other: str) -> list[str]:
    """Return what `other` says and `text` does not, sentence by sentence. Code is not taken
    apart: where something is missing of a text with code, all of it is."""
    known = [read_sentence_content(each) for each in _split_sentences(text)]
    wanted = [(each, read_sentence_content(each)) for each in _split_sentences(other)]
    unsaid = [each for each, part in wanted if not any(says_all_of(whole, part) for whole in known)]
    return [other.strip()] if unsaid and _CODE_FENCE in other else unsaid


def unite_texts(kept: Memory, dropped: Memory) -> str | None:
    """Return the text of one memory with what only the other says after it; nothing if the
    other says nothing of its own."""
    title, around = dropped.title or "", f"{join_title_and_text(kept)}\n{dropped.content}"
    untold = [f"{title.rstrip('.')}."] if _title_adds_something(around, title) else []
    unsaid = [*untold, *find_missing_sentences(join_title_and_text(kept), dropped.content)]
    return f"{kept.content.rstrip()}\n\n{' '.join(unsaid)}" if unsaid else None


def _title_adds_something(text: str, title: str) -> bool:
    """Whether a title says something of its own: a word, or the same words another way round."""
    turned = any(group_turning_words(title).values()) or count_denials(title)
    return bool(find_lost_words(text, [title]) or (turned and find_missing_sentences(text, title)))


def says_all(text: str, others: Sequence[str]) -> bool:
    """Whether every token of the others stands in a text that may have put it anew: what is
    particular in the order it had, nothing bound to another direction, and with a denial just
    if they have one. For texts that a model wrote from others."""
    return (
        not find_lost_words(text, others)
        and _keeps_order(text, others)
        and not is_turned_round(text, others)
        and denies_alike(text, others)
    )


def is_turned_round(text: str, others: Sequence[str]) -> bool:
    """Whether a text says `to` of something of which the others say `from`, or that Ben likes
    Ana where Ana likes Ben."""
    before = frozenset[tuple[str, str]]().union(*map(find_bound_words, others))
    now, threes = find_bound_words(text), _token_triples(text)
    if any(three[::-1] in threes for other in others for three in _token_triples(other) - threes):
        return True
    lost = frozenset(each for _, each in before - now)
    return any(each in lost for _, each in now - before)


def denies_alike(text: str, others: Iterable[str]) -> bool:
    """Whether a text denies something just if one of the others does."""
    return bool(count_denials(text)) == any(map(count_denials, others))


def join_title_and_text(memory: Memory) -> str:
    """Return title and text as one."""
    return f"{memory.title}\n{memory.content}" if memory.title else memory.content


def _token_triples(text: str) -> frozenset[Tokens]:
    found = tokenize(text)
    return frozenset(zip(found, found[1:], found[2:], strict=False))


def _keeps_order(text: str, others: Sequence[str]) -> bool:
    """Whether several numbers of one text, with the names among them, stand in the new one in
    their order: it is not Ana who owes what Ben owes."""
    matter = frozenset[str]().union(*map(find_particulars, others))
    for other in others:
        found, rest = tokenize(other), iter(tokenize(text))
        several = len([each for each in found if is_number(each)]) > 1
        if several and not all(each in rest for each in found if each in matter):
            return False
    return True


def _split_sentences(text: str) -> list[str]:
    return [part.strip() for part in _ENDS.split(text) if part and not part.isspace()]


def _contains_run(part: Tokens, whole: Tokens) -> bool:
    """Whether the tokens of one stand in the other in a row: what Ben likes is not said by what
    Ben's wife likes."""
    wide, first = len(part), part[:1]
    return any(
        whole[at : at + wide] == part and not _cuts_number_off(whole, at, at + wide)
        for at in range(len(whole) - wide + 1)
        if whole[at : at + 1] == first or not first
    )


def _cuts_number_off(whole: Tokens, start: int, end: int) -> bool:
    """Whether a number at an edge is cut off from its unit or sign."""
    if start == end:
        return False
    before = start > 0 and is_number(whole[start])
    return before or (end < len(whole) and is_number(whole[end - 1]))
