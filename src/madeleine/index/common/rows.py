"""Memories as rows: what every engine makes of a put, and how a row is read back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from madeleine.index.analysis import IndexedTexts
from madeleine.index.common.text import build_grams
from madeleine.index.common.times import from_micros, from_micros_or_none, to_micros
from madeleine.index.port import MemoryPut
from madeleine.language.passages import MOST_PASSAGES, context_words
from madeleine.language.word_stems import (
    PIECE_CHARS,
    find_stemmed_language,
    iterate_stems,
    mark_words,
)
from madeleine.model.codec import (
    claim_from_json,
    claim_to_json,
    extra_to_json,
    fields_from_json,
    origin_from_json,
    origin_to_json,
)
from madeleine.model.fields import UNQUERIED_FIELDS
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import (
    Connection,
    Memory,
    Usage,
)
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.words import MemoryType, Tier

ColumnValue = str | int | float | bytes | None
LAST_LETTER = "\U0010ffff"  # sorts behind whatever a tag goes on with

# Plain characters, so that FTS5 finds the words of a tag in its list.
encode_json = json.JSONEncoder(ensure_ascii=False).encode
NodeRow = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ExistingNode:
    """What there is already of a memory that is put again."""

    node: int
    created: int
    embedded: bool
    texts: IndexedTexts


@dataclass(frozen=True, slots=True)
class PlacedMemory:
    """A put with the number of its node. `known` is what the row said before."""

    put: MemoryPut
    node: int
    texts: IndexedTexts
    known: ExistingNode | None = None

    @property
    def memory(self) -> Memory:
        return self.put.stored.memory

    @property
    def keeps_traces(self) -> bool:
        """Whether the traces that are there still fit; who brings new ones replaces them."""
        kept = self.put.keep_traces and not self.put.traces
        return kept and self.known is not None and self.known.embedded

    @property
    def same_texts(self) -> bool:
        return self.known is not None and self.known.texts == self.texts


@dataclass(slots=True)
class EffectivePuts:
    """The puts of a batch as if they came one after the other: the last word counts."""

    by_id: dict[str, MemoryPut] = field(default_factory=dict)
    displaced: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, puts: Sequence[MemoryPut]) -> EffectivePuts:
        found, holder = cls(), dict[str, str]()
        for put in puts:
            memory_id, path = put.stored.memory.id, put.stored.path
            other = holder.get(path)
            if other is not None and other != memory_id:
                del found.by_id[other]
                found.displaced.add(other)
            if before := found.by_id.get(memory_id):
                holder.pop(before.stored.path, None)
            holder[path] = memory_id
            found.by_id[memory_id] = put
            found.displaced.discard(memory_id)
        return found


def passage_number_range(node: int) -> tuple[int, int]:
    """Return the first and the last number that a passage of the node may have."""
    return node * MOST_PASSAGES, node * MOST_PASSAGES + MOST_PASSAGES - 1


def _build_stems(memory: Memory) -> tuple[str, str]:
    """Return the stems of the title and of the rest of a memory, as far as it is in a language
    whose words the engine does not stem. A title alone is often too short to show its language."""
    language = find_stemmed_language(f"{memory.title or ''}\n{memory.content}")
    if language is None and len(memory.content) <= PIECE_CHARS:
        return "", ""
    title = mark_words(memory.title or "", language)
    content = [
        *iterate_stems(memory.content, language),
        *mark_words(" ".join(memory.tags), language),
    ]
    return " ".join(title), " ".join(content)


def _join_words(*parts: str) -> str:
    return " ".join(filter(None, parts))


def build_indexed_texts(memory: Memory) -> IndexedTexts:
    """Return the texts of a memory that are searched for words."""
    title, tags = memory.title, memory.tags
    title_stems, content_stems = _build_stems(memory)
    return (
        title,
        memory.content,
        encode_json(tags) if tags else "[]",
        _join_words(build_grams(title) if title else "", title_stems),
        _join_words(build_grams("\n".join((memory.content, *tags))), content_stems),
        context_words(memory),
    )


def place_memory(
    put: MemoryPut, known: ExistingNode | None, numbers: Iterator[int]
) -> PlacedMemory:
    analysis = put.analysis
    texts = build_indexed_texts(put.stored.memory) if analysis is None else analysis.texts
    return PlacedMemory(put, next(numbers) if known is None else known.node, texts, known)


def shorten_text_key(key: str) -> bytes:
    """Return as much of a hash as tells texts apart: half of it, in half the room."""
    return key[:32].encode("ascii", "replace")


def encode_json_columns(memory: Memory) -> tuple[str | None, ...]:
    """Return origin, claim and the fields that have no column of their own as JSON."""
    found = origin_to_json(memory.origin), claim_to_json(memory.claim), extra_to_json(memory)
    return tuple(None if each is None else encode_json(each) for each in found)


def find_newborn_ids(placed: Iterable[PlacedMemory]) -> Iterator[str]:
    """Return the memories whose counters must be folded: new here, or with another birth."""
    for each in placed:
        if each.known is None or each.known.created != to_micros(each.memory.created):
            yield each.memory.id


def sum_by_column(groups: Sequence[NodeRow], column: int) -> dict[str, int]:
    total: Counter[str] = Counter()
    for group in groups:
        total[group[column]] += group[3]
    return dict(sorted(total.items()))


# A table is quicker than asking the class, which matters for some hundred rows of a question.
_TYPES = {each.value: each for each in MemoryType}
_TIERS = {each.value: each for each in Tier}


def stored_from_row(row: NodeRow, connections: Sequence[Connection]) -> StoredMemory:
    path, *looks = row[2:6]
    return StoredMemory(memory_from_row(row, connections), path, Fingerprint(*looks))


def memory_from_row(row: NodeRow, connections: Sequence[Connection]) -> Memory:
    _, memory_id, _, _, _, _, memory_type, tier, space, source, confidence, *rest = row
    created, updated, valid_until, superseded_by, key, title, tags, *rest = rest
    origin, claim, extra, content, *usage = rest
    return Memory(
        id=memory_id,
        content=content,
        created=from_micros(created),
        updated=from_micros(updated),
        type=_TYPES[memory_type],
        tier=_TIERS[tier],
        space=space,
        title=title,
        tags=() if tags == "[]" else tuple(json.loads(tags)),
        source=source,
        confidence=confidence,
        valid_until=from_micros_or_none(valid_until),
        superseded_by=superseded_by,
        origin=None if origin is None else origin_from_json(json.loads(origin)),
        claim=None if claim is None else claim_from_json(json.loads(claim)),
        idempotency_key=key,
        connections=tuple(connections),
        usage=_usage_from_row(*usage),
        **({} if extra is None else fields_from_json(json.loads(extra), UNQUERIED_FIELDS)),
    )


def _usage_from_row(
    access_count: int,
    last_accessed: int | None,
    last_review: int | None,
    stability: float,
    importance: float,
    relevance: float | None,
) -> Usage:
    return Usage(
        access_count,
        from_micros_or_none(last_accessed),
        from_micros_or_none(last_review),
        stability,
        importance,
        relevance,
    )
