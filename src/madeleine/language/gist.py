"""What several texts have in common, in a few of their own sentences.

Unlike `extracts`, which leaves out nothing but repetition, a gist leaves out most. What it
keeps it keeps word for word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from madeleine.language.extracts import find_central_member, split_memory_sentences
from madeleine.language.stems import is_telling, split_words, stem
from madeleine.language.substance import count_denials
from madeleine.language.text_merging import join_title_and_text
from madeleine.model.memory import Memory
from madeleine.model.verdict import Synthesis

TOPIC_WORDS = 4  # that name what several texts are about

SaidStem = tuple[str, bool]
"""A stem, and whether it stands in a denial: `not on Friday` does not say `on Friday`."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    parts: frozenset[SaidStem]


def build_gist(members: Sequence[Memory], most_chars: int) -> Synthesis:
    """Return the sentences that say most of what the members have in common, in the order of
    time, and what they are about as a title."""
    in_time = sorted(members, key=lambda each: (each.created, each.id))
    said = [[_read_sentence(text) for text in split_memory_sentences(each)] for each in in_time]
    held = Counter(
        part for its in said for part in frozenset[SaidStem]().union(*(each.parts for each in its))
    )
    sentences = [each for its in said for each in its]
    chosen = _select_sentences(sentences, held, most_chars)
    text = "\n".join(sentences[place].text for place in sorted(chosen))
    return Synthesis(
        _name_topic(in_time), text or find_central_member(in_time).content[:most_chars]
    )


def _read_sentence(text: str) -> _Sentence:
    denies = count_denials(text) > 0
    parts = frozenset((stem(word), denies) for word in split_words(text) if is_telling(word))
    return _Sentence(text.strip(), parts)


def _select_sentences(
    sentences: Sequence[_Sentence], held: Mapping[SaidStem, int], most_chars: int
) -> list[int]:
    """Return the places of the sentences to keep: always the one that says most of what many
    members say and no sentence so far does; of equals the first."""
    told: set[SaidStem] = set()
    chosen: list[int] = []
    left = most_chars
    while True:
        gain, place = max(
            (
                (_sentence_gain(each, held, told), -at)
                for at, each in enumerate(sentences)
                if len(each.text) <= left
            ),
            default=(0.0, 0),
        )
        if gain <= 0:
            return chosen
        chosen.append(-place)
        told |= sentences[-place].parts
        left -= len(sentences[-place].text) + 1


def _sentence_gain(sentence: _Sentence, held: Mapping[SaidStem, int], told: set[SaidStem]) -> float:
    """Return how much of what others say too a sentence would add, against its length. What
    was chosen already adds nothing."""
    new = sentence.parts - told
    return sum(held[part] - 1 for part in new) / len(sentence.parts) ** 0.5 if new else 0.0


def _name_topic(members: Sequence[Memory]) -> str:
    """Return the words that most members share, as the first of them writes them; without any,
    the title of the most central one."""
    spelt: dict[str, str] = {}
    held: Counter[str] = Counter()
    for member in members:
        mine = {
            stem(word): word
            for word in split_words(join_title_and_text(member))
            if is_telling(word)
        }
        held.update(mine.keys())
        spelt = {**mine, **spelt}
    shared = [each for each, count in held.most_common() if 2 * count > len(members)]
    return (
        ", ".join(spelt[each] for each in shared[:TOPIC_WORDS])
        or find_central_member(members).headline
    )
