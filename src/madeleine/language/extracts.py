"""One text out of several, by leaving out what is said twice and nothing else.

Sentences are taken word for word, in the order of time. A sentence is left out only if another
that stays says it whole (`text_merging.py`): so every token of every member stands in the text,
whatever the members are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import telling_stems
from madeleine.language.substance import find_lost_words
from madeleine.language.text_merging import SentenceContent, read_sentence_content, says_all_of
from madeleine.model.memory import Memory
from madeleine.model.verdict import Synthesis

_BLOCK = compile_late(r"(```.*?(?:```|\Z))", re.DOTALL)
_SENTENCE_END = compile_late(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])|\n+")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    said: SentenceContent


def extract_synthesis(members: Sequence[Memory]) -> Synthesis:
    """Return what the members say, each thing once, under the title of the most central one."""
    in_time = sorted(members, key=lambda each: (each.created, each.id))
    kept: list[_Sentence] = []
    paragraphs = []
    for member in in_time:
        new = _select_unsaid(list(_read_sentences(member)), kept)
        kept += new
        if new:
            paragraphs.append("\n".join(each.text for each in new))
    return Synthesis(find_central_member(in_time).headline, "\n\n".join(paragraphs))


def find_central_member(members: Sequence[Memory]) -> Memory:
    """Return the member that shares most with the others; the newest of equals."""
    texts = [telling_stems(f"{each.title or ''} {each.content}") for each in members]
    shared = [
        sum(len(mine & other) / (len(mine) or 1) for other in texts if other is not mine)
        for mine in texts
    ]
    best = max(range(len(members)), key=lambda place: (shared[place], place))
    return members[best]


def split_memory_sentences(member: Memory) -> list[str]:
    """Return the sentences of a memory, code in one piece, and the title if it says more."""
    parts = [part for part in _split_parts(member.content) if part.strip()]
    if member.title and find_lost_words(member.content, [member.title]):
        parts.insert(0, member.title)
    return parts


def _read_sentences(member: Memory) -> Iterator[_Sentence]:
    return (_read_sentence(part) for part in split_memory_sentences(member))


def _split_parts(content: str) -> Iterator[str]:
    for block in _BLOCK.split(content):
        if block.startswith("```"):
            yield block
        else:
            yield from _SENTENCE_END.split(block)


def _read_sentence(text: str) -> _Sentence:
    return _Sentence(text.strip("\n"), read_sentence_content(text))


def _select_unsaid(sentences: Sequence[_Sentence], kept: Sequence[_Sentence]) -> list[_Sentence]:
    """Return the sentences that say something which none of the others says."""
    new: list[_Sentence] = []
    for each in sentences:
        if not any(_is_said_by(other, each) for other in (*kept, *new)):
            new = [other for other in new if not _is_said_by(each, other)]
            new.append(each)
    return new


def _is_said_by(whole: _Sentence, part: _Sentence) -> bool:
    """Whether a sentence says all that another says. Of one without a word (a rule, dots) the
    same is enough once."""
    if not part.said.tokens:
        return whole.text.strip() == part.text.strip()
    return says_all_of(whole.said, part.said)
