"""One text out of several, by leaving out what is said twice and nothing else.

Sentences are taken word for word, in the order of time. A sentence is left out only if another
that stays says it whole (`uniting.py`): so every token of every member stands in the text,
whatever the members are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from madeleine.model.judging import Synthesis
from madeleine.model.memory import Memory
from madeleine.rules.stems import stem, stems_of, telling, words
from madeleine.rules.substance import lost_words
from madeleine.rules.uniting import Said, holds, said

_BLOCK = re.compile(r"(```.*?(?:```|\Z))", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])|\n+")
TOPIC_WORDS = 4  # that name what several texts are about

_Part = tuple[str, bool]
"""A stem, and whether it stands in a denial: `not on Friday` does not say `on Friday`."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    said: Said


def extract(members: Sequence[Memory]) -> Synthesis:
    """Return what the members say, each thing once, under the title of the most central one."""
    in_time = sorted(members, key=lambda each: (each.created, each.id))
    kept: list[_Sentence] = []
    paragraphs = []
    for member in in_time:
        new = _unsaid(list(_sentences(member)), kept)
        kept += new
        if new:
            paragraphs.append("\n".join(each.text for each in new))
    return Synthesis(central(in_time).headline, "\n\n".join(paragraphs))


def gist(members: Sequence[Memory], most_chars: int) -> Synthesis:
    """Return the sentences that say most of what the members have in common, word for word and
    in the order of time, and what they are about as a title. Most is left out."""
    in_time = sorted(members, key=lambda each: (each.created, each.id))
    held = Counter(each for member in in_time for each in _parts_said(member))
    sentences = [each for member in in_time for each in _sentences(member)]
    chosen = _telling_most(sentences, held, most_chars)
    text = "\n".join(sentences[place].text.strip() for place in sorted(chosen))
    return Synthesis(_topic(in_time), text or central(in_time).content[:most_chars])


def _parts_said(member: Memory) -> frozenset[_Part]:
    return frozenset(part for sentence in _sentences(member) for part in _parts_of(sentence))


def _parts_of(sentence: _Sentence) -> frozenset[_Part]:
    denies = sentence.said.denials > 0
    return frozenset((stem(word), denies) for word in words(sentence.text) if telling(word))


def _telling_most(
    sentences: Sequence[_Sentence], held: Mapping[_Part, int], most_chars: int
) -> list[int]:
    """Return the places of the sentences to keep: always the one that says most of what many
    members say and no sentence so far does; of equals the first."""
    parts = [_parts_of(each) for each in sentences]
    told: set[_Part] = set()
    chosen: list[int] = []
    left = most_chars
    while True:
        gains = [
            (sum(held[part] - 1 for part in parts[at] - told) / (len(parts[at]) or 1) ** 0.5, -at)
            for at, each in enumerate(sentences)
            if at not in chosen and len(each.text) <= left
        ]
        gain, place = max(gains, default=(0.0, 0))
        if gain <= 0:
            return chosen
        chosen.append(-place)
        told |= parts[-place]
        left -= len(sentences[-place].text) + 1


def _topic(members: Sequence[Memory]) -> str:
    """Return the words that most members share, as the first of them writes them; without any,
    the title of the most central one."""
    spelt: dict[str, str] = {}
    held: Counter[str] = Counter()
    for member in members:
        mine = {stem(word): word for word in words(_full(member)) if telling(word)}
        held.update(mine.keys())
        spelt = {**mine, **spelt}
    shared = [each for each, count in held.most_common() if 2 * count > len(members)]
    return ", ".join(spelt[each] for each in shared[:TOPIC_WORDS]) or central(members).headline


def _full(member: Memory) -> str:
    return f"{member.title or ''}\n{member.content}"


def central(members: Sequence[Memory]) -> Memory:
    """Return the member that shares most with the others; the newest of equals."""
    texts = [stems_of(f"{each.title or ''} {each.content}") for each in members]
    shared = [
        sum(len(mine & other) / (len(mine) or 1) for other in texts if other is not mine)
        for mine in texts
    ]
    best = max(range(len(members)), key=lambda place: (shared[place], place))
    return members[best]


def _sentences(member: Memory) -> Iterator[_Sentence]:
    """Yield the sentences of a memory, code in one piece, and the title if it says more."""
    parts = [part for part in _parts(member.content) if part.strip()]
    if member.title and lost_words(member.content, [member.title]):
        parts.insert(0, member.title)
    return (_sentence(part) for part in parts)


def _parts(content: str) -> Iterator[str]:
    for block in _BLOCK.split(content):
        if block.startswith("```"):
            yield block
        else:
            yield from _SENTENCE_END.split(block)


def _sentence(text: str) -> _Sentence:
    return _Sentence(text.strip("\n"), said(text))


def _unsaid(sentences: Sequence[_Sentence], kept: Sequence[_Sentence]) -> list[_Sentence]:
    """Return the sentences that say something which none of the others says."""
    new: list[_Sentence] = []
    for each in sentences:
        if not any(_contains(other, each) for other in (*kept, *new)):
            new = [other for other in new if not _contains(each, other)]
            new.append(each)
    return new


def _contains(whole: _Sentence, part: _Sentence) -> bool:
    """Whether a sentence says all that another says. Of one without a word (a rule, dots) the
    same is enough once."""
    if not part.said.tokens:
        return whole.text.strip() == part.text.strip()
    return holds(whole.said, part.said)
