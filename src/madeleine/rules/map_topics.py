"""Which groups a map falls into, at each of some distances, and which words name them.

Seen from afar a map has a few large topics, nearer many small ones. The groups of a level are found
by k-means over the places of the finished map: neighbours there are near in meaning already. A
group is named by words that many of its memories hold and few others do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.float32]
Ints = NDArray[np.int64]

LEVELS = (7, 26, 90, 300)  # groups at most, from afar to near
LEAST_MEMBERS = 4  # memories of a group, on average
ROUNDS = 14
SEED = 7
WORDS = 2  # that name a group
LEAST_SHARE = 0.12  # of a group's memories that hold a word which names it
COMMON_SHARE = 0.6  # of all memories: what more hold names nothing, in a map of some size
SMALL = 60  # memories up to which any word may name a group

Pause = Callable[[], object]


@dataclass(frozen=True, slots=True)
class MapTopic:
    """A group of memories on the map: where it is, how wide, and by which words it is known."""

    level: int
    """0 for those seen from afar."""
    x: float
    y: float
    radius: float
    memories: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordTable:
    """Which memories hold which words: two columns of equal length, and the words by number."""

    holders: Ints
    numbers: Ints
    words: Sequence[str]


def find_topics(places: Places, table: WordTable, pause: Pause) -> list[MapTopic]:
    """Return the topics of all levels, the largest of each level first. One that no words tell
    from the others has no name, and is left out."""
    count = len(places)
    held = np.bincount(table.numbers, minlength=len(table.words))
    found: list[MapTopic] = []
    for level, most in enumerate(LEVELS):
        wanted = min(most, count // LEAST_MEMBERS)
        if wanted < 2 or (level and wanted <= LEVELS[level - 1]):
            break
        groups = group_places(places, wanted, pause)
        names = _name_groups(groups, wanted, table, held, count)
        found += _describe(places, groups, names, level)
    return found


def group_places(places: Places, wanted: int, pause: Pause) -> Ints:
    """Return for each place the number of its group."""
    rng = np.random.default_rng(SEED)
    middles = _spread_out(places, wanted, rng)
    groups = np.zeros(len(places), np.int64)
    for _ in range(ROUNDS):
        pause()
        groups = _nearest(places, middles)
        many = np.bincount(groups, minlength=wanted)
        for axis in (0, 1):
            sums = np.bincount(groups, places[:, axis], wanted)
            middles[:, axis] = np.where(many > 0, sums / np.maximum(many, 1), middles[:, axis])
    return groups


def _spread_out(places: Places, wanted: int, rng: np.random.Generator) -> Places:
    """Return places to begin with, each drawn far from those before it (k-means++)."""
    chosen = [int(rng.integers(len(places)))]
    far = ((places - places[chosen[0]]) ** 2).sum(1)
    for _ in range(wanted - 1):
        total = float(far.sum())
        if total <= 0:
            chosen.append(int(rng.integers(len(places))))
            continue
        at = int(np.searchsorted(np.cumsum(far), rng.random() * total))
        chosen.append(min(at, len(places) - 1))
        far = np.minimum(far, ((places - places[chosen[-1]]) ** 2).sum(1))
    return places[chosen].astype(np.float32)


def _nearest(places: Places, middles: Places) -> Ints:
    lengths = (middles * middles).sum(1)
    groups = np.empty(len(places), np.int64)
    for start in range(0, len(places), 8_192):
        part = places[start : start + 8_192]
        groups[start : start + 8_192] = (lengths - 2 * part @ middles.T).argmin(1)
    return groups


def _name_groups(
    groups: Ints, wanted: int, table: WordTable, held: Ints, count: int
) -> list[tuple[str, ...]]:
    """Return the words of each group: common in it, and rarer elsewhere."""
    width = max(1, len(table.words))
    pairs, many = np.unique(groups[table.holders] * width + table.numbers, return_counts=True)
    group, word = pairs // width, pairs % width
    sizes = np.bincount(groups, minlength=wanted)
    share = many / sizes[group]
    rarity = np.log((count + 1) / (held[word] + 0.5))
    score = share * rarity
    most = count if count <= SMALL else COMMON_SHARE * count
    score[(many < 2) | (share < LEAST_SHARE) | (held[word] > most)] = 0
    order = np.lexsort((word, -score, group))
    names: list[list[str]] = [[] for _ in range(wanted)]
    for at in order[score[order] > 0]:
        mine = names[group[at]]
        text = table.words[word[at]]
        if len(mine) < WORDS and not any(_say_the_same(text, each) for each in mine):
            mine.append(text)
    return [tuple(each) for each in names]


def _say_the_same(one: str, other: str) -> bool:
    """Whether two words are forms of one, as far as their beginnings say."""
    one, other = one.lower(), other.lower()
    short = min(len(one), len(other))
    shared = max(3, short - 1)
    return one[:shared] == other[:shared]


def _describe(
    places: Places, groups: Ints, names: Sequence[tuple[str, ...]], level: int
) -> list[MapTopic]:
    found: list[MapTopic] = []
    for number, words in enumerate(names):
        mine = places[groups == number]
        if not words or len(mine) < 2:
            continue
        middle = np.median(mine, axis=0)
        off = np.hypot(*(mine - middle).T)
        found.append(
            MapTopic(
                level=level,
                x=round(float(middle[0]), 1),
                y=round(float(middle[1]), 1),
                radius=round(float(np.quantile(off, 0.8)), 1),
                memories=len(mine),
                words=words,
            )
        )
    largest = sorted(found, key=lambda each: (-each.memories, each.words))
    return list({each.words: each for each in reversed(largest)}.values())[::-1]
