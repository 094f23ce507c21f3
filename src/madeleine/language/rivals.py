"""Whether two texts may give one attribute of one subject different values.

`On-call handover is on Wednesdays` and `On-call handover: Mondays` are rivals: whoever asks for the
day wants the newer one. `The staging database is Postgres 14` and `The production database is
Postgres 16` are not: each speaks of its own. The judge of the night (`pair_signs.py`) asks for
evidence that an older text is over, because it retires; here only the order of two answers depends
on it, so words and meaning in common are enough, unless something tells the subjects apart.

The tables are English. In other languages names, numbers and similarity decide.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from madeleine.language.change_words import TIME_WORDS
from madeleine.language.kinds import SELECTING_STEMS, find_kinds, find_opposites
from madeleine.language.late_pattern import compile_late
from madeleine.language.replacements import find_replacement
from madeleine.language.shared_subject import (
    TEXT_CHARS,
    have_different_subjects,
    is_addition,
    name_other_directions,
    say_the_same,
)
from madeleine.language.stems import WORD, is_telling, split_words, stem, telling_stems
from madeleine.language.subjects import speak_of_others

RIVAL_CHARS = 240  # about two sentences; a longer text says several things
RIVAL_SIMILARITY = 0.55  # a cosine; two values of one thing mostly have more
RIVAL_OVERLAP = 0.3  # of the telling words of the shorter text that the other has too
NOUN_LETTERS = 4  # of a word that others say more about: `um` and `de` of other languages are none
RIVAL_OVERLAP_UNREAD = 0.5  # the same, where no model has read them

_QUALIFIERS = """
staging production prod prd test dev development qa uat preview sandbox local live integration
frontend backend ios android web mobile desktop server client worker
wife husband mother father mum mom dad son daughter sister brother aunt uncle nephew niece
grandmother grandfather grandson granddaughter partner
personal work business private home office school
weekday weekend
summer winter spring autumn
adult child children student pensioner member guest
large small medium
input output
read write
upload download
kitchen bathroom bedroom hall garage attic cellar garden balcony
car bike van motorbike
cat dog
""".strip().splitlines()
_GROUPS_BY_STEM = {
    stem(word): number for number, line in enumerate(_QUALIFIERS) for word in line.split()
}
"""Words that say which of several such things is meant, by the group that they tell apart."""
_NUMBERED = compile_late(r"[^\W\d_]{2,}[ -]#?(\d+)\b(?![.,:/%]?\d)(?!\s?(?:[%€£$°]|[a-z]{1,3}\b))")
_CLAUSE_END = compile_late(r"[.,;:!?()\n]")
_VERB = compile_late(
    r"\b(?:is|are|was|were|has|have|had|runs?|goes|go|costs?|takes?|uses?|starts?|ends?|opens?"
    r"|closes?|meets?|lives?|stays?|comes?|needs?|will|can|must)\b|[:=]"
)


def are_rivals(older: str, newer: str, similarity: float | None) -> bool:
    """Whether two texts may give different values for the same thing. `similarity` is the cosine of
    the two; None: no model has read them."""
    if max(len(older), len(newer)) > RIVAL_CHARS or is_addition(newer):
        return False
    # Most pairs are unlike, which is cheap to see; what each says is read of the others alone.
    is_same_matter = _have_much_in_common(older, newer, similarity) and not _are_of_other_subjects(
        older, newer
    )
    if not is_same_matter and find_replacement(older, newer) is None:
        return False
    return _say_different_things(older, newer)


def _say_different_things(older: str, newer: str) -> bool:
    """Whether each says something that the other does not. One that only says more is no news."""
    mine, theirs = frozenset(split_words(older)), frozenset(split_words(newer))
    return bool(mine - theirs) and bool(theirs - mine) and not say_the_same(older, newer)


def _have_much_in_common(older: str, newer: str, similarity: float | None) -> bool:
    if similarity is not None and similarity < RIVAL_SIMILARITY:
        return False
    mine, theirs = telling_stems(older), telling_stems(newer)
    share = len(mine & theirs) / max(1, min(len(mine), len(theirs)))
    return share >= (RIVAL_OVERLAP_UNREAD if similarity is None else RIVAL_OVERLAP)


def _are_of_other_subjects(older: str, newer: str) -> bool:
    """Whether a name, a number or a qualifier tells apart what two texts speak of."""
    one, other = older[:TEXT_CHARS], newer[:TEXT_CHARS]
    return (
        speak_of_others(older, newer)
        or have_different_subjects(one, other)
        or name_other_directions(one, other)
        or _have_other_qualifiers(older, newer)
        or _have_other_numbers(older, newer)
        or _have_other_modifiers(older, newer)
    )


def _have_other_qualifiers(one: str, other: str) -> bool:
    """Whether each text has a word of one group that the other does not have."""
    mine, theirs = telling_stems(one), telling_stems(other)
    own, others = _find_groups(mine - theirs), _find_groups(theirs - mine)
    opposites = find_opposites(mine, theirs)
    return bool(own & others) or (
        opposites is not None and not SELECTING_STEMS.isdisjoint(opposites)
    )


def _find_groups(stems: frozenset[str]) -> frozenset[int]:
    return frozenset(_GROUPS_BY_STEM[each] for each in stems if each in _GROUPS_BY_STEM)


def _have_other_numbers(one: str, other: str) -> bool:
    """Whether both tell by a number which one they speak of, and the numbers differ: `store 2`."""
    mine, theirs = _subject_numbers(one), _subject_numbers(other)
    return bool(mine) and bool(theirs) and mine.isdisjoint(theirs)


def _have_other_modifiers(one: str, other: str) -> bool:
    """Whether a word that both have stands after another word in each: `amber lantern` and `beige
    lantern`. A time, or a tool of the same kind, is a value (`weekly meeting`, `SQLite file`)."""
    mine, theirs = _read_modifiers(one), _read_modifiers(other)
    stems, others = telling_stems(one), telling_stems(other)
    for noun in mine.keys() & theirs.keys():
        own, its = mine[noun] - others, theirs[noun] - stems
        if own and its and not find_kinds(own) & find_kinds(its):
            return True
    return False


@lru_cache(maxsize=4_096)
def _read_modifiers(text: str) -> dict[str, frozenset[str]]:
    """Return the stems that stand right before each stem."""
    found: dict[str, frozenset[str]] = {}
    for clause in _CLAUSE_END.split(text.lower()):
        for before, after in pairwise(WORD.findall(clause)):
            plain = _is_plain(before) and _is_plain(after) and before not in TIME_WORDS
            if plain and len(after) >= NOUN_LETTERS:
                found[stem(after)] = found.get(stem(after), frozenset()) | {stem(before)}
    return found


def _is_plain(word: str) -> bool:
    return word.isalpha() and is_telling(word)


@lru_cache(maxsize=4_096)
def _subject_numbers(text: str) -> frozenset[str]:
    """Return the numbers that follow a word before the first verb."""
    verb = _VERB.search(text.lower())
    return frozenset(_NUMBERED.findall(text[: verb.start()] if verb else ""))
