"""Which kinds of work a text is about: writing tests, a commit, a mail to somebody, dinner.

`activities.toml` has for each activity words of a dozen languages, and sentences that ask for it. A
text is about an activity by its words; how near its vector is to the sentences is its profile
(`activity_vectors.npz` keeps them as the built-in model reads them). A note and a prompt may be
about the same work and share no word.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from madeleine.model.vector import Vector

READ_CHARS = 4_000
IDEOGRAPHS = "\u2e80"  # letters from here on are written without spaces between words
NEAR_FROM = 0.4  # a cosine from which a text is about an activity though it has none of its words
NAMED_MOST = 3
SPREAD = 0.08  # of cosines: how much nearer an activity is that counts e times as much
EVERYTHING = "everything"
"""The activity of what holds whatever is done."""

_TOKEN = re.compile(r"[\w'-]+")

Profile = NDArray[np.float32]
"""How near a text is to each activity, in the order of `activity_names`."""


@dataclass(frozen=True, slots=True)
class _ActivityTable:
    said: Mapping[str, Sequence[str]]
    by_word: Mapping[str, tuple[str, ...]]
    by_beginning: Mapping[str, Sequence[tuple[int, str]]]
    """For each beginning of words its activities, with their places in the file."""
    lengths: Sequence[int]
    """How long beginnings are."""
    by_ideographs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _ActivityVectors:
    model: str
    vectors: NDArray[np.float32]
    starts: NDArray[np.int64]


def activity_names() -> tuple[str, ...]:
    """Return the activities in the order of their file."""
    return tuple(_read_table().said)


def activity_sentences() -> Mapping[str, Sequence[str]]:
    """Return the sentences that ask for each activity."""
    return _read_table().said


def count_activity_words(text: str) -> Counter[str]:
    """Return how many words of a text speak of each activity."""
    table, low = _read_table(), text[:READ_CHARS].lower()
    found: Counter[str] = Counter()
    for word in set(_TOKEN.findall(low)):
        found.update(table.by_word.get(word) or table.by_word.get(word.removesuffix("s"), ()))
        found.update(_find_by_beginning(table, word))
    if not low.isascii():
        found.update(name for part, name in table.by_ideographs if part in low)
    return found


def _find_by_beginning(table: _ActivityTable, word: str) -> list[str]:
    """Return the activities that the beginnings of a word speak of, in the order of the file."""
    hits = [
        each
        for length in table.lengths
        if length <= len(word)
        for each in table.by_beginning.get(word[:length], ())
    ]
    return [name for _, name in sorted(hits)]


def measure_activities(vector: Vector | None, model: str) -> Profile | None:
    """Return how near a vector is to each activity; None if another model made it than the one
    whose vectors are kept."""
    kept = _read_vectors()
    if vector is None or kept.model not in model.split("+"):
        return None
    near: Profile = np.maximum.reduceat(kept.vectors @ vector, kept.starts)
    return near


def weigh_profile(profile: Profile) -> Profile:
    """Return the shares that the activities have of a text, which add up to 1."""
    raised = np.exp((profile - profile.max()) / SPREAD)
    shares: Profile = raised / raised.sum()
    return shares


def name_activities(words: Counter[str], profile: Profile | None) -> tuple[str, ...]:
    """Return what a text is about, the likeliest first; `EVERYTHING` if nothing tells it."""
    names = [name for name, _ in words.most_common(NAMED_MOST)]
    if profile is not None:
        best = int(np.argmax(profile))
        if profile[best] >= NEAR_FROM:
            names.insert(0, activity_names()[best])
    return tuple(dict.fromkeys(names))[:NAMED_MOST] or (EVERYTHING,)


@cache
def _read_table() -> _ActivityTable:
    text = files("madeleine.language").joinpath("activities.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    by_word: dict[str, tuple[str, ...]] = {}
    by_beginning: dict[str, list[tuple[int, str]]] = {}
    by_ideographs: list[tuple[str, str]] = []
    place = 0
    for name, table in tables.items():
        for word in table["words"].split():
            if word.endswith("*"):
                begun = by_beginning.setdefault(word[:-1], [])
                begun.append((place := place + 1, name))
            elif word[0] >= IDEOGRAPHS:
                by_ideographs.append((word, name))
            else:
                by_word[word] = (*by_word.get(word, ()), name)
    said = {name: tuple(table["said"]) for name, table in tables.items()}
    lengths = sorted({len(each) for each in by_beginning})
    return _ActivityTable(said, by_word, by_beginning, lengths, by_ideographs)


@cache
def _read_vectors() -> _ActivityVectors:
    place = files("madeleine.language").joinpath("activity_vectors.npz")
    with as_file(place) as path, np.load(path) as kept:
        vectors = kept["vectors"].astype(np.float32)
        return _ActivityVectors(str(kept["model"]), vectors, kept["starts"].astype(np.int64))
