"""The closed lists of words: memory types, tiers and edges."""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import TypeVar

from madeleine.errors import UnknownWord


class MemoryType(enum.StrEnum):
    """What kind of thing is known."""

    FACT = "fact"
    """Static, verifiable information."""
    DECISION = "decision"
    """A choice and its reasoning."""
    PREFERENCE = "preference"
    """How somebody likes to work."""
    EVENT = "event"
    """Something that happened, or will, at a time."""
    PERSON = "person"
    """An individual."""
    PROJECT = "project"
    """What a project is about."""
    CONCEPT = "concept"
    """An abstract idea or pattern."""
    PROCEDURE = "procedure"
    """A step-by-step process."""
    GOAL = "goal"
    """An objective."""
    OBSERVATION = "observation"
    """A surprising finding."""


class Tier(enum.StrEnum):
    """How readily a memory is offered."""

    CORE = "core"
    """Offered in every session. Few."""
    WORKING = "working"
    """Offered when it fits the turn."""
    ARCHIVAL = "archival"
    """Found when asked for."""


class MemoryKind(enum.StrEnum):
    """What somebody says a memory is for, where its text is read otherwise."""

    STANDING = "standing"
    """It says how things are to be done."""
    PLAIN = "plain"
    """It does not."""


class Edge(enum.StrEnum):
    """What a connection says about its two ends."""

    SUPPORTS = "supports"
    """Strong supporting evidence."""
    PART_OF = "part_of"
    """Containment."""
    DEPENDS_ON = "depends_on"
    """Logical dependency."""
    DEFINES = "defines"
    """From the self to what describes the user."""
    DERIVED_FROM = "derived_from"
    """Lineage after consolidation."""
    EVOLVED_FROM = "evolved_from"
    """A belief that changed over time; newer to older."""
    RELATED_TO = "related_to"
    """Close in meaning."""
    CONTRADICTS = "contradicts"
    """Both cannot be true at once."""
    DISCOVERED = "discovered"
    """An association found by consolidation; its `kind` says which."""
    SUMMARIZES = "summarizes"
    """From a summary to what it sums up."""


# How strongly a neighbour's score carries over such a connection. The two made by
# consolidation are ours: an association is as weak a hint as `related_to`, and a summary
# leads to its members as surely as lineage does.
ACTIVATION_BY_EDGE = MappingProxyType(
    {
        Edge.SUPPORTS: 1.0,
        Edge.PART_OF: 1.0,
        Edge.DEPENDS_ON: 1.0,
        Edge.DEFINES: 1.0,
        Edge.DERIVED_FROM: 1.0,
        Edge.EVOLVED_FROM: 0.8,
        Edge.RELATED_TO: 0.7,
        Edge.CONTRADICTS: 0.4,
        Edge.DISCOVERED: 0.7,
        Edge.SUMMARIZES: 1.0,
    }
)

ABOUT_SELF = "about_self"  # the tag that makes a memory part of the user's identity
EXCHANGE_TAG = "exchange"  # the tag of what was said in a session, kept word for word
SELF_SOURCE = "system:self"  # the source that marks the one self memory
META_SOURCE = "job:cluster"  # the source of a summary of a cluster
DERIVED_SOURCES = ("job:consolidator", META_SOURCE)  # sources of what was made of other memories
DERIVED_EDGES = (
    Edge.DERIVED_FROM,
    Edge.SUMMARIZES,
)  # edges from what was made to what it was made of
META_TAG = "meta_pattern"  # the tag of a summary of a cluster
GLOBAL = "global"  # how a missing space is written where a word is needed

Word = TypeVar("Word", bound=enum.StrEnum)


def read_word(kind: type[Word], field: str, value: object) -> Word:
    """Return the member of `kind` that `value` names; anything else is `UnknownWord`."""
    if isinstance(value, str):
        for member in kind:
            if member.value == value:
                return member
    raise UnknownWord(field, value, [member.value for member in kind])


# What other systems call the types that we have; a setting or an import may use either name.
FOREIGN_TYPES = MappingProxyType(
    {
        "insight": MemoryType.OBSERVATION,
        "pattern": MemoryType.CONCEPT,
        "metapattern": MemoryType.CONCEPT,
        "style": MemoryType.PREFERENCE,
        "habit": MemoryType.PREFERENCE,
        "context": MemoryType.FACT,
        "memory": MemoryType.FACT,
    }
)

MACHINE_AUTHORS = frozenset(
    {
        "remember",  # similarity, when something is remembered
        *("auto_linker", "conflict_detector", "duplicate_merger", "consolidator"),
        *("auto_cluster", "decay_manager", "importance_scorer", "index_updater"),
        *("creative", "cluster", "decay", "forget"),
    }
)
"""Who draws connections without anybody having said so. What they draw does not count: else
each night's links would make the memories at their ends more important than the night before."""
