"""What stands in the graph, and its head.

A memory is a `(:Memory)` with all that its file says. What the journal says about it stands on a
`(:Known)` of the same id, which an event or an arrow may bring before its file comes, and which
outlives it: `(:Memory)-[:IS]->(:Known)`, `(:Memory)-[:ARROW]->(:Known)`. A word stands once and
is held by memories, `(:Memory)-[:HOLDS]->(:Word)`. Each piece that a model reads is a
`(:Passage)`, `(:Memory)-[:PART]->(:Passage)`, and names the number of its vector. A vector is a
`(:Trace)` and is never written again: any write to a node leaves a dead entry in the index of
vectors, and another vector in its place may be lost without a word. An `(:Event)` of the journal
is `[:ABOUT]` what is known.

The one `(:Head)` counts versions, numbers and sums, and says whose vectors these are. Whatever
is named by people is found by `key`, a hash, and what has a number by `at`, which is that number
as a text; a passage also by its memory's (`of`) and its vector's (`trace`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from madeleine.errors import DatabaseUnfit
from madeleine.language.index_rules import INDEX_RULES
from madeleine_falkordb.connection import GraphAccess

SCHEMA_VERSION = 1
NUMBERS_PER_REBUILD = (
    2**32
)  # numbers of a graph made anew begin so much later: none is given out twice

INDEXED_COLUMNS = {
    "Memory": (
        *("at", "id", "path_key", "space_key", "text_key", "lot", "address_key", "asked_key"),
        *("superseded_by", "source_key", "tier", "tag_keys", "trigger_keys", "created"),
    ),
    "Known": ("key",),
    "Word": ("term",),
    "Passage": ("at", "of", "trace"),
    "Trace": ("at",),
    "Session": ("key", "at"),
    "Speaker": ("key", "at"),
    "Event": ("key", "kind", "change", "run"),
    "Use": ("memory",),
    "Adopted": ("key", "memory"),
    **dict.fromkeys(("Outcome", "State", "Proposal", "Seen"), ("key",)),
    "Verdict": ("key", "older"),
    **dict.fromkeys(("Unreadable", "Position"), ("key",)),
    "Torn": ("key", "name_key"),
}
WHISPER_INDEXED_COLUMNS = {"Whisper": ("key", "at")}


@dataclass(frozen=True, slots=True)
class GraphHead:
    """What the head of a graph says."""

    version: int
    next: int
    """The first number that is not given out."""
    memories: int
    words: int
    length: int
    traced: int
    """Vectors that are there."""
    dead: int
    """Entries in the index of vectors whose vector is gone."""
    model: str | None
    wide: str | None
    vectors: str | None
    """Where the vectors are, if not here; and under which name."""
    collection: str | None
    analyser: str | None
    """By which rules the words and triggers of the texts were made."""
    ranked: int | None
    """The version since which memories stand in the same order of importance; graphs that were
    not written to since this is told have none."""


_HEAD_COLUMNS = ", ".join(f"g.{each}" for each in GraphHead.__slots__)


def read_head(access: GraphAccess) -> GraphHead:
    """Return what the head says now."""
    rows = access.rows("MATCH (g:Head)", _HEAD_COLUMNS)
    if not rows:
        raise DatabaseUnfit(access.place, "was emptied", "`madeleine rebuild` fills it again")
    return GraphHead(*rows[0])


def prepare_graph(access: GraphAccess, after: GraphHead | None = None) -> None:
    """Make the head and the indexes, unless they are there; refuse what is newer than we are.
    A graph that is to replace another counts on far behind it."""
    if not access.run("MATCH (g:Head) RETURN 1", {}):
        _make_indexes(access, INDEXED_COLUMNS)
        start = {
            "name": "head",
            "schema": SCHEMA_VERSION,
            "analyser": INDEX_RULES,
            **_initial_counts(after),
        }
        access.run(_MERGE_HEAD, {"start": start})
    found = access.value("MATCH (g:Head)", "g.schema")
    if found != SCHEMA_VERSION:
        raise DatabaseUnfit(access.place, f"has schema {found}, newer than {SCHEMA_VERSION}")


_MERGE_HEAD = "MERGE (g:Head {name: 'head'}) ON CREATE SET g = $start RETURN 1"


def _initial_counts(after: GraphHead | None) -> dict[str, int]:
    first = (
        (after.version + NUMBERS_PER_REBUILD, after.next + NUMBERS_PER_REBUILD) if after else (0, 0)
    )
    sums = dict.fromkeys(("memories", "words", "length", "traced", "dead"), 0)
    return {"version": first[0], "next": first[1], **sums}


def _make_indexes(access: GraphAccess, wanted: Mapping[str, tuple[str, ...]]) -> None:
    for label, columns in wanted.items():
        listed = ", ".join(f"x.{each}" for each in columns)
        access.make(f"CREATE INDEX FOR (x:{label}) ON ({listed})")


def prepare_whispers(access: GraphAccess) -> None:
    """Make the index of what was whispered, unless it is there."""
    _make_indexes(access, WHISPER_INDEXED_COLUMNS)


def ensure_vector_index(access: GraphAccess, dimension: int) -> None:
    """Make the index of vectors, unless there is one for such as have so many numbers."""
    question = "CALL db.indexes() YIELD label, options WHERE label = 'Trace'"
    if access.value(question, "options.vector.dimension") != dimension:
        recreate_vector_index(access, dimension)


def recreate_vector_index(access: GraphAccess, dimension: int) -> None:
    """Make the index of vectors without its dead entries. The old one answers meanwhile."""
    access.make("DROP VECTOR INDEX FOR (t:Trace) ON (t.vector)")
    options = f"{{dimension: {dimension}, similarityFunction: 'cosine'}}"
    access.make(f"CREATE VECTOR INDEX FOR (t:Trace) ON (t.vector) OPTIONS {options}")
