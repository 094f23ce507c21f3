"""How much of their letters and words two texts share."""

from __future__ import annotations

from madeleine.language.stems import split_words, stem, telling_stems

TITLE_CHARS = 300  # of a title that is compared; the longest that may be set
SHARED_CHARS = 4_000  # of a text whose words are compared with a prompt's

_LIGHT_WORDS = """
able actually add another anyway bit else enough everything exactly fine first get give good great
happen help hello hey hi keep kind last late least let like little long look lot many maybe mean
most much need new next nice nothing ok okay old part please put quick quite right second seem set
show simple simply single something sort start stay stop stuff sure thank thanks thing though time
today together tomorrow tonight try two use used useful usual usually want way well whole without
work yes yesterday yet
"""
LIGHT_STEMS = frozenset(stem(each) for each in _LIGHT_WORDS.split())
"""Words that carry a sentence and are no topic: sharing one with a prompt says nothing."""


def title_similarity(one: str, two: str) -> float:
    """Return 1 for the same title but for case and spacing, 0 for one of all other letters."""
    one, two = (" ".join(title.casefold().split())[:TITLE_CHARS] for title in (one, two))
    longest = max(len(one), len(two))
    return 1 - levenshtein_distance(one, two) / longest if longest else 1.0


def word_overlap(one: str, two: str) -> float:
    """Return the share of the words of both that both have."""
    mine, theirs = frozenset(split_words(one)), frozenset(split_words(two))
    either = mine | theirs
    return len(mine & theirs) / len(either) if either else 1.0


def levenshtein_distance(one: str, two: str) -> int:
    """Return how many letters have to be added, dropped or changed to make one text the other.

    A column of the usual table is kept as two whole numbers, a bit for each letter of `one`
    (Myers 1999, as simplified by Hyyrö): thirty times as quick as the table for a title.
    """
    if not one or not two:
        return len(one) + len(two)
    full, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    places: dict[str, int] = {}
    for place, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << place
    up, down, distance = full, 0, len(one)
    for letter in two:
        equal = places.get(letter, 0)
        across = (((equal & up) + up) ^ up) | equal | down
        more, less = down | ~(across | up) & full, up & across
        distance += bool(more & last) - bool(less & last)
        more, less = (more << 1 | 1) & full, less << 1 & full
        up, down = less | ~(across | more) & full, more & across
    return distance


def shares_only_light_words(one: str, two: str) -> bool:
    """Whether two texts share words, and each of them stands in texts about anything."""
    shared = telling_stems(one[:SHARED_CHARS]) & telling_stems(two[:SHARED_CHARS])
    return bool(shared) and shared <= LIGHT_STEMS
