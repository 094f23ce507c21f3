"""A cross-encoder's second look at the best hits, if there is one, within its deadline.

It reads question and memory together, which is slow and good. Those that it had no time for
keep their score. The built-in late interaction has been at work before and needs none of it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from madeleine.errors import MindDown
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.memory import Memory
from madeleine.model.query import RecallQuery
from madeleine.recall.explaining import find_passage
from madeleine.recall.ranking import RankedHit, rank_key
from madeleine.recall.scoring import ScoredCandidates
from madeleine.rules.fusion import blend_with_rerank
from madeleine.write.stores import Stores

SHOWN_CHARS = 2_000  # of a memory: as much as a cross-encoder reads


def rerank(
    stores: Stores, query: RecallQuery, hits: Sequence[RankedHit], scored: ScoredCandidates
) -> tuple[list[RankedHit], tuple[Cause, ...]]:
    """Return the hits in their new order, and what went wrong if anything did."""
    reranker, config = stores.minds.reranker, stores.config
    if reranker is None:
        return list(hits), ()
    deadline = time.monotonic() + config.reranker.deadline_ms / 1000
    notes: tuple[Cause, ...] = ()
    best = hits[: config.reranker.candidates]
    memories = stores.search.memories(each.id for each in best)
    for hit in best:
        if time.monotonic() >= deadline:
            notes = (Cause(NoteKind.RERANK_TIMED_OUT),)
            break
        try:
            (logit,) = reranker.score(
                query.text, [_text_to_read(hit, memories.get(hit.id), scored)]
            )
        except MindDown as down:
            notes = (Cause(NoteKind.NOT_RERANKED, {"why": down.message}),)
            break
        hit.reranked = logit
        hit.score = blend_with_rerank(hit.score, logit, config.reranker.blend)
    return sorted(hits, key=rank_key), notes


def _text_to_read(hit: RankedHit, memory: Memory | None, scored: ScoredCandidates) -> str:
    """Return what is read of a memory: its title and, of a long one, the passage that fits."""
    if memory is None:
        return ""
    passage = find_passage(hit, memory, scored)
    text = memory.content if passage is None else passage.text
    return f"{memory.title or ''}\n{text}".strip()[:SHOWN_CHARS]
