"""One text out of several that says every fact of theirs once: a digest.

Sentences are taken word for word, in the order of time, and those that begin alike are told under
one heading (`grouping.py`). A sentence is left out only if another that stays says it whole
(`text_merging.py`): so every token of every member stands in the text, whatever the members are.
Where there is not room for all, those stay that say most of what the others say too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from madeleine.language.grouping import expand_groups, group_sentences
from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import is_telling, split_words, stem, telling_stems
from madeleine.language.substance import count_denials, find_lost_words
from madeleine.language.text_merging import (
    SentenceContent,
    find_missing_sentences,
    join_title_and_text,
    read_sentence_content,
    says_all_of,
)
from madeleine.language.themes import name_theme
from madeleine.model.memory import Memory
from madeleine.model.verdict import Synthesis

_BLOCK = compile_late(
    r"(```.*?(?:```|\Z)|(?m:^\S[^\n]*:[ \t]*\n(?:[ \t]*[-*+•][ \t][^\n]*\n?)+))", re.DOTALL
)
"""Code, and a line that ends in a colon with the list after it."""
_SENTENCE_END = compile_late(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])|\n+")

OWN_WEIGHT = 0.01  # of a word that only one member says, where there is not room for all

LEANING_CHARS = 40  # of a sentence in which its first word is looked for
_LEANING = """
it its he she they him her his their this that these those there then so but and or also instead
otherwise therefore because er sie es das dies diese dieser dieses dort dann aber und deshalb il
elle ils elles cela ça ce cette donc mais et él ella ellos ellas eso esto esta este pero y ele ela
eles elas isso isto mas e lui lei loro questo questa ma hij zij ze dit deze maar en han hon den det
hun og ona ono oni ale он она оно они это но
"""
LEANING = frozenset(_LEANING.split())
"""Words with which a sentence begins that leans on the one before it."""

SaidStem = tuple[str, bool]
"""A stem, and whether it stands in a denial: `not on Friday` does not say `on Friday`."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence, and those after it that lean on it."""

    parts: tuple[str, ...]
    said: tuple[SentenceContent, ...]

    @property
    def text(self) -> str:
        return " ".join(self.parts)

    def with_more(self, other: _Sentence) -> _Sentence:
        """Return it with what leans on another that begins no otherwise, and is new."""
        new = [
            place for place in range(1, len(other.parts)) if not _is_told(other.said[place], self)
        ]
        return _Sentence(
            (*self.parts, *(other.parts[place] for place in new)),
            (*self.said, *(other.said[place] for place in new)),
        )


def extract_synthesis(members: Sequence[Memory], most_chars: int | None = None) -> Synthesis:
    """Return what the members say, each thing once, under a title that names their theme."""
    in_time = sorted(members, key=lambda each: (each.created, each.id))
    kept: list[_Sentence] = []
    for member in in_time:
        kept = _add_unsaid(list(_read_sentences(member)), kept)
    sentences = [each.text for each in kept]
    if most_chars is not None:
        sentences = _select_sentences(sentences, in_time, most_chars)
    title = name_theme(in_time) or find_central_member(in_time).headline
    text = group_sentences(sentences)
    if most_chars is not None:
        text = text or find_central_member(in_time).content[:most_chars]
    return Synthesis(title, text)


def find_untold_sentences(digest: str, members: Sequence[Memory]) -> list[str]:
    """Return what the members say and a digest does not, word for word."""
    known = f"{digest}\n\n{expand_groups(digest)}"
    return [
        sentence for each in members for sentence in find_missing_sentences(known, each.content)
    ]


def is_member_alone(digest: str, members: Sequence[Memory]) -> bool:
    """Whether a digest is no more than what one of the members says."""
    words = digest.split()
    return any(
        words in (each.content.split(), join_title_and_text(each).split()) for each in members
    )


def find_central_member(members: Sequence[Memory]) -> Memory:
    """Return the member that shares most with the others; the newest of equals."""
    texts = [telling_stems(f"{each.title or ''} {each.content}") for each in members]
    shared = [
        sum(len(mine & other) / (len(mine) or 1) for other in texts if other is not mine)
        for mine in texts
    ]
    best = max(range(len(members)), key=lambda place: (shared[place], place))
    return members[best]


# --- sentences ----------------------------------------------------------------------------------


def split_memory_sentences(member: Memory) -> list[str]:
    """Return the sentences of a memory, code in one piece, and the title if it says more."""
    parts = [part for part in _split_parts(member.content) if part.strip()]
    if member.title and find_lost_words(member.content, [member.title]):
        parts.insert(0, member.title)
    return parts


def _read_sentences(member: Memory) -> Iterator[_Sentence]:
    """Give the sentences of a memory, each with those after it that say of whom they speak by a
    pronoun only."""
    together: list[str] = []
    for part in split_memory_sentences(member):
        first = next(iter(split_words(part[:LEANING_CHARS])), "")
        if together and (first not in LEANING or _BLOCK.fullmatch(together[-1])):
            yield _read_sentence(together)
            together = []
        together.append(part)
    if together:
        yield _read_sentence(together)


def _split_parts(content: str) -> Iterator[str]:
    for block in _BLOCK.split(content):
        if _BLOCK.fullmatch(block):
            yield block.rstrip("\n")
        else:
            yield from _SENTENCE_END.split(block)


def _read_sentence(parts: Sequence[str]) -> _Sentence:
    texts = tuple(each.strip("\n") for each in parts)
    return _Sentence(texts, tuple(map(read_sentence_content, parts)))


def _add_unsaid(sentences: Sequence[_Sentence], kept: Sequence[_Sentence]) -> list[_Sentence]:
    """Return the sentences so far, with those that say something which none of them says. One
    that says more than some before takes their place; what leans on one that is told already is
    told after it."""
    known = list(kept)
    for each in sentences:
        if any(_is_said_by(other, each) for other in known):
            continue
        beside = _find_beginning(each, known)
        if beside is not None:
            known[beside] = known[beside].with_more(each)
            continue
        over = [place for place, other in enumerate(known) if _is_said_by(each, other)]
        known = [other for place, other in enumerate(known) if place not in over]
        known.insert(over[0] if over else len(known), each)
    return known


def _find_beginning(sentence: _Sentence, known: Sequence[_Sentence]) -> int | None:
    """Return the place of a sentence that says what this one begins with, if others lean on it."""
    if len(sentence.parts) < 2:
        return None
    begins = sentence.said[0]
    return next((at for at, other in enumerate(known) if says_all_of(other.said[0], begins)), None)


def _is_said_by(whole: _Sentence, part: _Sentence) -> bool:
    """Whether a sentence says all that another says. Of one without a word (a rule, dots) the
    same is enough once."""
    if not any(each.tokens for each in part.said):
        return whole.text.strip() == part.text.strip()
    return all(_is_told(each, whole) for each in part.said)


def _is_told(said: SentenceContent, whole: _Sentence) -> bool:
    return any(says_all_of(one, said) for one in whole.said)


# --- where there is not room for all ------------------------------------------------------------


def _select_sentences(
    sentences: Sequence[str], members: Sequence[Memory], most_chars: int
) -> list[str]:
    """Return the sentences for which there is room, in their order: always the one that says most
    of what many members say and no sentence so far does; of equals the first."""
    if sum(len(each) + 1 for each in sentences) <= most_chars:
        return list(sentences)
    held = Counter(part for each in members for part in _read_stems(join_title_and_text(each)))
    parts = [_read_stems(each) for each in sentences]
    told: set[SaidStem] = set()
    chosen: list[int] = []
    left = most_chars
    while True:
        gain, place = max(
            (
                (_sentence_gain(parts[at], held, told), -at)
                for at, each in enumerate(sentences)
                if len(each) <= left and at not in chosen
            ),
            default=(0.0, 0),
        )
        if gain <= 0:
            return [sentences[at] for at in sorted(chosen)]
        chosen.append(-place)
        told |= parts[-place]
        left -= len(sentences[-place]) + 1


def _read_stems(text: str) -> frozenset[SaidStem]:
    found = []
    for sentence in _SENTENCE_END.split(text):
        denies = count_denials(sentence) > 0
        found += [(stem(word), denies) for word in split_words(sentence) if is_telling(word)]
    return frozenset(found)


def _sentence_gain(
    parts: frozenset[SaidStem], held: Mapping[SaidStem, int], told: set[SaidStem]
) -> float:
    """Return how much of what others say too a sentence would add, against its length; then what
    only it says. What was chosen already adds nothing."""
    new = parts - told
    if not new:
        return 0.0
    gain = sum(held[part] - 1 + OWN_WEIGHT for part in new)
    return float(gain / len(parts) ** 0.5)
