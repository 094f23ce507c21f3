"""Other words for what a question says, as far as some memory has them.

The thesaurus knows that a linter may be Ruff; the index knows that a memory speaks of Ruff. Both
are asked when a question is read, so that nothing of it stands in the index: tables may change,
and lines of the user's may come and go, without anything being indexed anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from madeleine.index.search import IndexedTerm, MemorySearch
from madeleine.language.thesaurus import (
    MOST_WORDS,
    Kin,
    KinGroup,
    Thesaurus,
    extend_thesaurus,
    load_thesaurus,
    normalize_term,
)
from madeleine.language.user_terms import TERMS_TAG
from madeleine.language.word_hints import QUESTION_WORDS, STOP_WORDS
from madeleine.model.query import Filter
from madeleine.recall.parsing import ParsedQuestion, QuestionWord
from madeleine.write.stores import Stores

KIN_AT_MOST = 64  # of a question: the surest of those that stand in some memory
TERMS_MEMORIES = 50  # memories of the user's with terms
SIMILAR_TAGS = 20  # tags that begin like ours
_SAYS_NOTHING = STOP_WORDS | QUESTION_WORDS
_JOINING = frozenset((*" -.'’/&_", " & ", "  "))
"""What may stand between two words of one term."""


@dataclass(frozen=True, slots=True)
class QuestionKin:
    """A kin that stands in some memory, and the words of the question that it stands for."""

    asked: str
    """As the question has it."""
    words: tuple[str, ...]
    """Those of its terms that are meant."""
    kin: Kin
    stems: tuple[int, ...]
    """What a memory must have: of several words those that say something."""
    side_by_side: bool
    """Whether the stems must stand in a row: `settle on` is not `settle` and `on`."""
    holders: int
    """How many memories have it, at most."""


@dataclass(frozen=True, slots=True)
class AskedTerm:
    """A term of the question that stands in a table."""

    key: str
    words: tuple[QuestionWord, ...]


def find_thesaurus(stores: Stores, space: str | None) -> Thesaurus:
    """Return the shipped thesaurus, with what the user's memories tagged `terms` add: those of
    the asker's space and the global ones."""
    tags = stores.search.tags(TERMS_TAG, SIMILAR_TAGS)
    if not any(tag == TERMS_TAG for tag, _ in tags):
        return load_thesaurus()
    chosen = Filter(tags=(TERMS_TAG,), spaces=(None, space) if space else ())
    found = stores.search.listing(chosen, stores.clock.now(), TERMS_MEMORIES)
    return extend_thesaurus(tuple(each.content for each in found)) if found else load_thesaurus()


def find_question_kin(
    thesaurus: Thesaurus,
    search: MemorySearch,
    understood: ParsedQuestion,
    asked: Sequence[AskedTerm],
    found: Sequence[tuple[IndexedTerm, ...]],
) -> tuple[QuestionKin, ...]:
    """Return the kin of the terms that are asked about, as far as some memory has them, the
    surest first. `found` are the stems of `understood.terms`. A word counts by itself only where
    no longer term that it is part of has kin: the game of a board game is not football."""
    if not asked:
        return ()
    groups = [(term, thesaurus.find_kin(term.key, _is_name(understood, term))) for term in asked]
    known = _look_up_kin(search, [group for _, group in groups])
    own = {each.stem for stems in found for each in stems}
    there: list[QuestionKin] = []
    taken: set[int] = set()
    for term, group in groups:
        starts = {word.start for word in term.words}
        if starts & taken:
            continue
        meant = _MeantWords.of(understood, term)
        keys = [word for word in known.keys() & group.words if known[word].stem not in own]
        for word in known.keys() & group.phrases.keys():
            keys += group.phrases[word]
        written = (thesaurus.write_kin(key, group.ties[key]) for key in keys)
        made = (meant.build_kin(each, known) for each in written)
        there_of_term = [each for each in made if each and not own.issuperset(each.stems)]
        if len(starts) > 1 and there_of_term:
            taken |= starts
        there += there_of_term
    there.sort(key=lambda each: (-each.kin.tie.strength, each.kin.key))
    return tuple(there[:KIN_AT_MOST])


def _look_up_kin(search: MemorySearch, groups: Sequence[KinGroup]) -> dict[str, IndexedTerm]:
    """Return the words of kin that stand in some memory. What a phrase goes on with is looked up
    only if the word that it begins with is there."""
    words: set[str] = set().union(
        *(group.words for group in groups), *(each.phrases for each in groups)
    )
    known = search.known_words(list(words))
    begun = (
        group.phrases[word] for group in groups for word in known.keys() & group.phrases.keys()
    )
    rest = {part for keys in begun for key in keys for part in key.split()} - words
    return known | search.known_words(list(rest)) if rest else known


def find_known_terms(thesaurus: Thesaurus, understood: ParsedQuestion) -> list[AskedTerm]:
    """Return the terms of the question that stand in a table, the longest first: every telling
    word, by itself and with up to three that follow it."""
    places: dict[str, list[tuple[int, int]]] = {}
    for first, end, key in _possible_terms(understood):
        places.setdefault(key, []).append((first, end))
    found = [
        AskedTerm(key, understood.words[first:end])
        for key in thesaurus.select_known(list(places))
        for first, end in places[key]
    ]
    return sorted(found, key=lambda term: -len(term.words))


def _possible_terms(understood: ParsedQuestion) -> Iterator[tuple[int, int, str]]:
    """Yield where a term may stand among the words, and its key."""
    words, text = understood.words, understood.text
    for place, word in enumerate(words):
        if word.text not in understood.telling:
            continue
        key = _key_of_word(text, word)
        yield place, place + 1, key
        for end in range(place + 1, min(place + MOST_WORDS, len(words))):
            between = text[words[end - 1].end : words[end].start]
            if between not in _JOINING:
                break
            key = f"{key} {words[end].text}"
            yield place, end + 1, key


def _key_of_word(text: str, word: QuestionWord) -> str:
    """Return the key of a word with the signs that belong to it: `c++`, `c#`, `.net`."""
    if text[word.end : word.end + 1] in ("+", "#") and word.end - word.start == 1:
        return normalize_term(text[word.start : word.end + 2].rstrip())
    if word.text == "net" and text[max(word.start - 2, 0) : word.start].strip() == ".":
        return normalize_term(".net")
    return word.text


def _is_name(understood: ParsedQuestion, term: AskedTerm) -> bool:
    return any(word.text in understood.names for word in term.words)


@dataclass(frozen=True, slots=True)
class _MeantWords:
    """The words of the question that a kin stands for."""

    asked: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, understood: ParsedQuestion, term: AskedTerm) -> _MeantWords:
        asked = understood.text[term.words[0].start : term.words[-1].end]
        telling = (word.text for word in term.words if word.text in understood.telling)
        return cls(asked, tuple(telling))

    def build_kin(self, kin: Kin, known: Mapping[str, IndexedTerm]) -> QuestionKin | None:
        """Return a kin if all of its words stand in some memory and say something."""
        parts = kin.key.split()
        telling = [part for part in dict.fromkeys(parts) if part not in _SAYS_NOTHING]
        if not telling or not all(part in known for part in parts):
            return None
        phrasal = len(telling) == 1 < len(parts)
        needed = [known[part] for part in (parts if phrasal else telling)]
        stems, holders = [each.stem for each in needed], min(each.holders for each in needed)
        return QuestionKin(self.asked, self.words, kin, tuple(stems), phrasal, holders)
