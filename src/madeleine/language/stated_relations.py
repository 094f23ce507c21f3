"""Connections that a text states outright: because, part of, depends on.

Such a relation is believed only where the words that follow the turn of phrase name what the
other memory is about; the turn of phrase alone stands in half of all texts.
"""

from __future__ import annotations

from typing import NamedTuple

from madeleine.language.clauses import ParsedText, stem_weight
from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import telling_stems
from madeleine.model.verdict import Relation

STATED_CHARS = 2_000
STATED_CONFIDENCE = 0.9  # of a turn of phrase whose object is what the other memory is about
SUBJECT_STEMS = 4  # the first words of a text mostly say what it is about
LEAST_WEIGHT = 0.9  # one telling word at least: `it depends on the code` names nothing

_OBJECT = r"\s(?!no\s|not\s)(?:the\s|a\s|an\s|our\s|my\s|its\s)?(?P<object>[^.,;:!?\n]{2,60})"
_PART = (
    r"\b(?:(?:is|are|was|were|as|forms?)\s(?:an?\s|one\s)?(?:\w+\s)?(?:part|component|module|section"
    r"|chapter|subproject|piece|step|phase|half|subset)s?\sof|belongs?\sto)"
)
_NEED = (
    r"\b(?:depends?\son|requires?|relies\son|rely\son|cannot\s\w+\swithout|needs|blocked\sby"
    r"|waits?\sfor|built\son\stop\sof|is\sbased\son)"
)
_CAUSE = (
    r"\b(?:because(?:\sof)?|due\sto|thanks\sto|the\sreason\s(?:is|was)(?:\sthat)?|confirms?(?:\sthat)?"
    r"|shows?\sthat|proves?\sthat|that\sis\swhy|that's\swhy)"
)
_RELATION_PHRASES = (
    (Relation.PART_OF, compile_late(_PART + _OBJECT)),
    (Relation.DEPENDS_ON, compile_late(_NEED + _OBJECT)),
    (Relation.SUPPORTS, compile_late(_CAUSE + _OBJECT)),
)
_ANY_PHRASE = compile_late(f"{_PART}|{_NEED}|{_CAUSE}")


class RelationPhrase(NamedTuple):
    """A turn of phrase in a text, and the stems of what it speaks of."""

    relation: Relation
    object: frozenset[str]
    words: str


class StatedRelation(NamedTuple):
    """A relation that one of two texts states about the other."""

    relation: Relation
    from_older: bool
    words: str


def find_relation_phrases(title: str | None, content: str) -> tuple[RelationPhrase, ...]:
    """Return the turns of phrase in a memory that name something."""
    said = f"{title or ''}\n{content}"[:STATED_CHARS].lower()
    if not _ANY_PHRASE.search(said):
        return ()
    found = (
        RelationPhrase(relation, telling_stems(match["object"]), match[0].strip())
        for relation, turn in _RELATION_PHRASES
        for match in turn.finditer(said)
    )
    return tuple(each for each in found if stem_weight(each.object) >= LEAST_WEIGHT)


def find_stated_relation(
    older: tuple[RelationPhrase, ...],
    one: ParsedText,
    newer: tuple[RelationPhrase, ...],
    two: ParsedText,
) -> StatedRelation | None:
    """Return what one of two texts says outright that it is to the other."""
    for turns, other, from_older in ((newer, one, False), (older, two, True)):
        for turn in turns:
            if _names_subject_of(turn.object, other):
                arrow = _starts_at_older(turn.relation, from_older)
                return StatedRelation(turn.relation, arrow, turn.words)
    return None


def _starts_at_older(relation: Relation, from_older: bool) -> bool:
    """The part points at the whole; but what stands behind `because` supports what is said."""
    return not from_older if relation is Relation.SUPPORTS else from_older


def _names_subject_of(target: frozenset[str], other: ParsedText) -> bool:
    """Whether the words after a turn of phrase say what the other memory is about."""
    head = frozenset(other.telling[:SUBJECT_STEMS])
    return bool(target & head) and stem_weight(target & other.stems) >= 0.75 * stem_weight(target)
