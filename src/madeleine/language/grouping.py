"""Sentences that begin alike, told as one heading with what each says of it.

    Ana:
    - lives in Ghent.
    - keeps bees.

Nothing is worded anew: each line after its heading is a sentence as it was written, so the text can
be read back into those sentences (`expand_groups`). A heading never holds a denial, a condition or
a mark, so that no line says anything else when it is read by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import is_telling, split_words, telling_stems
from madeleine.language.substance import count_denials, group_turning_words

MOST_GROUPED_CHARS = 400  # a longer sentence stands by itself
BULLET = "- "
_HEADED = compile_late(r"(?m)^(?P<head>\S[^\n]*?):[ \t]*\n(?P<lines>(?:- [^\n]*(?:\n|\Z))+)")
_ENDS_PLAINLY = compile_late(r"[\w`'\")\]+#%°]\Z|[^\W_]:\Z")
_BEGINS_PLAINLY = compile_late(r"\A[\w`'\"(\[«“„$€£#@/~]")

Words = tuple[str, ...]


def group_sentences(sentences: Sequence[str]) -> str:
    """Return sentences as one text: those that begin alike under one heading, those that share
    a word that few have in one paragraph, in the order in which they came."""
    split = [_split_plain(each) for each in sentences]
    blocks: dict[int, str] = {}
    free = {place for place, words in enumerate(split) if words}
    while (head := _find_heading([split[place] for place in sorted(free)])) is not None:
        under = [place for place in sorted(free) if split[place][: len(head)] == head]
        blocks[under[0]] = _render_group(head, [split[place] for place in under])
        free -= set(under)
    grouped = {place for place in range(len(sentences)) if split[place] and place not in free}
    singles = [place for place in range(len(sentences)) if place not in grouped]
    for places in _find_paragraphs(sentences, singles):
        blocks[places[0]] = "\n".join(sentences[place] for place in places)
    return "\n\n".join(blocks[place] for place in sorted(blocks))


def expand_groups(text: str) -> str:
    """Return a text in which each line under a heading is a sentence again."""
    return _HEADED.sub(lambda found: "".join(_join_lines(found)), text)


def _join_lines(found: re.Match[str]) -> Iterator[str]:
    for line in found["lines"].splitlines():
        yield f"{found['head']} {line.removeprefix(BULLET)}\n"


def _split_plain(sentence: str) -> Words:
    """Return the words of a plain sentence; none of what has lines or marks of its own."""
    is_plain = (
        "\n" not in sentence
        and len(sentence) <= MOST_GROUPED_CHARS
        and _BEGINS_PLAINLY.match(sentence)
        and not sentence.startswith("#")
        and not sentence.endswith(":")
    )
    return tuple(sentence.split()) if is_plain else ()


def _find_heading(sentences: Sequence[Words]) -> Words | None:
    """Return the beginning that most of the sentences have in common; of several the longest."""
    held = Counter(
        words[:end] for words in sentences for end in range(1, len(words)) if _may_end(words, end)
    )
    several = [(count, len(head), head) for head, count in held.items() if count > 1]
    for _, _, head in sorted(several, key=lambda each: (-each[0], -each[1], each[2])):
        if _may_head(head):
            return head
    return None


def _may_end(words: Words, end: int) -> bool:
    """Whether a heading may end there: not before the number or the letter that says which."""
    rest = words[end]
    says_which = rest[0].isdigit() or len(rest.strip(".,;:!?)")) == 1
    return bool(
        _ENDS_PLAINLY.search(words[end - 1]) and _BEGINS_PLAINLY.match(rest) and not says_which
    )


def _may_head(head: Words) -> bool:
    text = " ".join(head)
    return (
        any(map(is_telling, split_words(head[-1])))
        and not count_denials(text)
        and not group_turning_words(text)["duty"]
    )


def _render_group(head: Words, sentences: Sequence[Words]) -> str:
    lines = (f"{BULLET}{' '.join(words[len(head) :])}" for words in sentences)
    return "\n".join((f"{' '.join(head).rstrip(':')}:", *lines))


def _find_paragraphs(sentences: Sequence[str], places: Sequence[int]) -> list[list[int]]:
    """Return which sentences stand together: each beside the first one so far with which it
    shares a stem that at most half of all have."""
    stems = {place: telling_stems(sentences[place]) for place in places}
    held = Counter(each for found in stems.values() for each in found)
    rare = {each for each, count in held.items() if 2 * count <= len(places)}
    paragraphs: list[list[int]] = []
    for place in places:
        mine = stems[place] & rare
        near = (each for each in paragraphs if any(mine & stems[other] for other in each))
        beside = next(near, None)
        if beside is None:
            paragraphs.append([place])
        else:
            beside.append(place)
    return paragraphs
