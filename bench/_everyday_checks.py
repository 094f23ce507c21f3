"""What the validator of Everyday looks at beyond counts: signs of a machine, and leaks of labels.

*Signs of a machine*: prompts that begin alike, trigrams that come back, texts of one store that
nearly stand in another, lengths that are all the same. *Leaks*: a look-up that knows only a date,
a length or an id, learnt on the stores and worlds for training, must not tell the labels of the
others. Every figure that has a bound carries it as its target; `everyday_check.py` prints them
all, and the tests hold them.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from itertools import combinations
from statistics import median
from typing import TypeVar

from _everyday_set import (
    EverydayPair,
    EverydayPrompt,
    EverydaySession,
    EverydayStore,
    read_lines,
)
from _recall_report import Figure, Target

from madeleine.language.stems import telling_stems

MOST_ALIKE_BEGINNING = 0.03  # of all prompts, with the same two words
LEAST_DISTINCT_TRIGRAMS = 0.9  # of all trigrams; prose of one author has about as many
MOST_SHARED_PHRASES = 0.5  # of two texts of different stores
MOST_SHARED_PHRASES_OF_MEMORIES = 0.2  # they are longer, so chance brings less together
MOST_ALIKE_IN_WORDS = 0.5  # cosine by rare words, of two memories of different stores
MOST_TOLD_BY_A_LOOK_UP = 0.05  # above always saying the commonest label
MOST_OK_THAT_SHARE_A_WORD = 0.5  # of the memories that are merely welcome
COMPARED_WORDS = 4  # a shorter text says what many say: "go on", "yes, do it"
GRAM = 3
RARE_IN = 20  # a word in no more texts than these makes two of them worth comparing

# Chinese and Japanese have no spaces, so each sign is a word.
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class OwnedText:
    """A text and the store or world that it stands in."""

    owner: str
    text: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two texts of different stores, and how alike they are."""

    similarity: float
    one: OwnedText
    other: OwnedText


def texts_of(stores: Sequence[EverydayStore]) -> dict[str, list[OwnedText]]:
    """Return the memories, prompts, questions and actions of all stores."""
    found: dict[str, list[OwnedText]] = {
        "memories": [],
        "prompts": [],
        "questions": [],
        "actions": [],
    }
    for store in stores:
        name = store.name
        found["memories"] += [OwnedText(name, each.content) for each in store.memories]
        found["prompts"] += [OwnedText(name, each.text) for each in store.prompts]
        found["questions"] += [OwnedText(name, each.text) for each in store.questions]
        found["actions"] += [
            OwnedText(name, f"{each.tool}: {each.target}") for each in store.actions
        ]
    return found


def notes_of(pairs: Sequence[EverydayPair]) -> list[OwnedText]:
    return [OwnedText(each.world, text) for each in pairs for text in (each.older, each.newer)]


def turns_of(sessions: Iterable[EverydaySession]) -> list[OwnedText]:
    """Return what the people of all sessions typed."""
    return [
        OwnedText(session.name, line["message"]["content"])
        for session in sessions
        for line in read_lines(session.path)
        if line["type"] == "user" and isinstance(line["message"]["content"], str)
    ]


def words_of(text: str) -> list[str]:
    return _WORDS.findall(text.lower())


# -- signs of a machine --------------------------------------------------------------------


def commonest_beginning(texts: Sequence[OwnedText]) -> tuple[str, float]:
    """Return the two words that most texts begin with, and the share of those texts."""
    begins = Counter(" ".join(each.text.lower().split()[:2]) for each in texts)
    ((words, count),) = begins.most_common(1)
    return words, count / len(texts)


def distinct_trigrams(texts: Iterable[OwnedText]) -> float:
    """Return how many of all trigrams of words are different ones."""
    grams = Counter(gram for each in texts for gram in _grams(words_of(each.text)))
    return len(grams) / grams.total()


def nearest_in_phrases(texts: Iterable[OwnedText], count: int) -> list[Neighbours]:
    """Return the pairs of texts of different owners that share most of their trigrams (Jaccard),
    the most alike first. Texts of fewer than four words are left out."""
    rows = [
        (each, frozenset(_grams(words)))
        for each in texts
        if len(words := words_of(each.text)) >= COMPARED_WORDS
    ]
    shared: Counter[tuple[int, int]] = Counter()
    for places in _places_by_feature([grams for _, grams in rows]).values():
        shared.update(combinations(places, 2))
    found = (
        Neighbours(common / len(rows[a][1] | rows[b][1]), rows[a][0], rows[b][0])
        for (a, b), common in shared.items()
        if rows[a][0].owner != rows[b][0].owner
    )
    return _most_alike(found, count)


def nearest_in_words(texts: Iterable[OwnedText], count: int) -> list[Neighbours]:
    """Return the pairs of texts of different owners whose words are most alike (cosine of TF-IDF),
    the most alike first. Only texts that share a rare word are compared."""
    rows = [each for each in texts if len(words_of(each.text)) >= COMPARED_WORDS]
    counted = [Counter(words_of(each.text)) for each in rows]
    known_in = Counter(word for words in counted for word in words)
    vectors = [_weighted(words, known_in, len(rows)) for words in counted]
    rare = [{word for word in words if known_in[word] <= RARE_IN} for words in counted]
    together = {
        pair for places in _places_by_feature(rare).values() for pair in combinations(places, 2)
    }
    found = (
        Neighbours(_dot(vectors[a], vectors[b]), rows[a], rows[b])
        for a, b in together
        if rows[a].owner != rows[b].owner
    )
    return _most_alike(found, count)


def lengths_by_owner(texts: Iterable[OwnedText]) -> dict[str, list[int]]:
    """Return how many words the texts of each owner have, in order of length."""
    found: dict[str, list[int]] = defaultdict(list)
    for each in texts:
        found[each.owner].append(len(words_of(each.text)))
    return {owner: sorted(lengths) for owner, lengths in sorted(found.items())}


def machine_figures(
    stores: Sequence[EverydayStore],
    pairs: Sequence[EverydayPair],
    sessions: Sequence[EverydaySession],
) -> Iterator[Figure]:
    """Return the signs of a machine at work, with their bounds."""
    texts = {
        **texts_of(stores),
        "notes of pairs": notes_of(pairs),
        "turns of sessions": turns_of(sessions),
    }
    for name in ("prompts", "questions", "memories", "turns of sessions"):
        words, alike = commonest_beginning(texts[name])
        most = Target(MOST_ALIKE_BEGINNING, at_most=True)
        what = "begin with the same two words"
        yield Figure(name, what, alike, len(texts[name]), most, note=f"“{words}”")
    for name in [each for each in texts if each != "actions"]:  # commands are what they are
        least = Target(LEAST_DISTINCT_TRIGRAMS)
        distinct = distinct_trigrams(texts[name])
        yield Figure(name, "distinct trigrams", distinct, len(texts[name]), least)
        nearest = nearest_in_phrases(texts[name], 1)
        bound = MOST_SHARED_PHRASES_OF_MEMORIES if name == "memories" else MOST_SHARED_PHRASES
        yield _nearest(name, "phrases that two stores share", nearest, len(texts[name]), bound)
    nearest = nearest_in_words(texts["memories"], 1)
    what = "words that memories of two stores share"
    yield _nearest("memories", what, nearest, len(texts["memories"]), MOST_ALIKE_IN_WORDS)
    for name, given in texts.items():
        owned = lengths_by_owner(given)
        every = sorted(length for lengths in owned.values() for length in lengths)
        medians = [median(each) for each in owned.values()]
        note = (
            f"nine of ten: {_at(every, 0.05)} to {_at(every, 0.95)}; all: {every[0]} to {every[-1]}"
        )
        yield Figure(
            name, "length in the middle", median(every), len(every), unit="words", note=note
        )
        spread = f"{min(medians):.0f} to {max(medians):.0f}"
        yield Figure(
            name,
            "length in the middle, by store",
            median(medians),
            len(medians),
            None,
            "words",
            note=spread,
        )


# -- leaks ---------------------------------------------------------------------------------


def look_up_gain(
    learnt_on: Sequence[Row],
    asked: Sequence[Row],
    feature: Callable[[Row], Hashable],
    label: Callable[[Row], Hashable],
) -> float:
    """Return how much more often a look-up by one feature is right than the commonest label."""
    seen: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for row in learnt_on:
        seen[feature(row)][label(row)] += 1
    ((fallback, _),) = Counter(map(label, learnt_on)).most_common(1)
    ((_, commonest),) = Counter(map(label, asked)).most_common(1)
    right = 0
    for row in asked:
        labels = seen.get(feature(row))
        right += label(row) == (labels.most_common(1)[0][0] if labels else fallback)
    return (right - commonest) / len(asked)


def hours_between(pair: EverydayPair) -> float:
    older, newer = map(datetime.fromisoformat, (pair.older_created, pair.newer_created))
    return (newer - older).total_seconds() / 3600


PAIR_LOOK_UPS: Mapping[str, Callable[[EverydayPair], Hashable]] = {
    "gap between the dates, doubling": lambda pair: int(math.log2(hours_between(pair))),
    "gap between the dates, by ten days": lambda pair: hours_between(pair) // 240,
    "month of the older one": lambda pair: pair.older_created[:7],
    "first digit of the id": lambda pair: pair.id[0],
    "words of the older one": lambda pair: len(pair.older.split()),
    "words of the newer one": lambda pair: len(pair.newer.split()),
    "difference in words": lambda pair: len(pair.newer.split()) - len(pair.older.split()),
    "difference in letters, by ten": lambda pair: (len(pair.newer) - len(pair.older)) // 10,
    "words of both, by three": lambda pair: (
        len(pair.older.split()) // 3,
        len(pair.newer.split()) // 3,
    ),
}
PROMPT_LOOK_UPS: Mapping[str, Callable[[EverydayPrompt], Hashable]] = {
    "first digit of the id": lambda prompt: prompt.id[0],
    "has a session": lambda prompt: bool(prompt.session),
    "has a space": lambda prompt: prompt.space is None,
    "number of words": lambda prompt: len(prompt.text.split()),
    "number of words, by three": lambda prompt: len(prompt.text.split()) // 3,
}


def leak_figures(
    stores: Sequence[EverydayStore], pairs: Mapping[str, Sequence[EverydayPair]]
) -> Iterator[Figure]:
    """Return what look-ups gain on the labels of pairs and on the silence that prompts deserve,
    and whether what is merely welcome was found by words. `pairs` are by split."""
    most = Target(MOST_TOLD_BY_A_LOOK_UP, at_most=True)
    learnt_on, asked = list(pairs["train"]), [*pairs["dev"], *pairs["test"]]
    for name, of_pair in PAIR_LOOK_UPS.items():
        gain = look_up_gain(learnt_on, asked, of_pair, lambda pair: pair.label)
        yield Figure("relation of a pair", f"told by: {name}", gain, len(asked), most)
    known = [each for store in stores if store.split == "train" for each in store.prompts]
    others = [each for store in stores if store.split != "train" for each in store.prompts]
    for name, of_prompt in PROMPT_LOOK_UPS.items():
        gain = look_up_gain(known, others, of_prompt, _deserves_silence)
        yield Figure("silence of a prompt", f"told by: {name}", gain, len(others), most)
    yield from _word_figures(stores)


def _word_figures(stores: Iterable[EverydayStore]) -> Iterator[Figure]:
    """Return how much of what is labelled shares a telling word with its prompt."""
    shares: dict[str, list[bool]] = {"must": [], "ok": []}
    without = []
    for store in stores:
        stems = {each.id: telling_stems(each.content) for each in store.memories}
        for prompt in store.prompts:
            own = telling_stems(prompt.text)
            found = [bool(own & stems[each]) for each in prompt.must]
            shares["must"] += found
            shares["ok"] += [bool(own & stems[each]) for each in prompt.ok]
            if found:
                without.append(not any(found))
    for name, flags in shares.items():
        most = Target(MOST_OK_THAT_SHARE_A_WORD, at_most=True) if name == "ok" else None
        yield Figure(
            name, "share a word with their prompt", sum(flags) / len(flags), len(flags), most
        )
    yield Figure(
        "must", "prompts that share no word with any", sum(without) / len(without), len(without)
    )


def _deserves_silence(prompt: EverydayPrompt) -> bool:
    return prompt.silence is not None


# -- texts as features ---------------------------------------------------------------------


def _grams(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[place:] for place in range(GRAM)), strict=False)


def _places_by_feature(rows: Iterable[Iterable[Hashable]]) -> dict[Hashable, list[int]]:
    """Return for each feature the rows that have it, in their order."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, features in enumerate(rows):
        for feature in features:
            places[feature].append(place)
    return places


def _weighted(words: Counter[str], known_in: Counter[str], total: int) -> dict[str, float]:
    """Return the words' weights by TF-IDF, as a vector of length 1."""
    weights = {
        word: (1 + math.log(count)) * math.log(1 + total / known_in[word])
        for word, count in words.items()
    }
    length = math.hypot(*weights.values())
    return {word: weight / length for word, weight in weights.items()}


def _dot(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return math.fsum(weight * other[word] for word, weight in one.items() if word in other)


def _most_alike(found: Iterable[Neighbours], count: int) -> list[Neighbours]:
    return nlargest(
        count, found, key=lambda each: (each.similarity, each.one.text, each.other.text)
    )


def _nearest(
    part: str, what: str, nearest: Sequence[Neighbours], compared: int, bound: float
) -> Figure:
    (pair,) = nearest
    note = f"{pair.one.owner}: “{pair.one.text}”; {pair.other.owner}: “{pair.other.text}”"
    return Figure(part, what, pair.similarity, compared, Target(bound, at_most=True), note=note)


def _at(ordered: Sequence[int], share: float) -> int:
    return ordered[round(share * (len(ordered) - 1))]
