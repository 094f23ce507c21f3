"""Remember many: one answer per draft, in order, whatever becomes of the others.

Texts are embedded in chunks ahead of the writing, in another thread, so that the model and
the disk work at the same time. Stopping halfway is safe: each file stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from madeleine.errors import MadeleineError
from madeleine.model.draft import Draft
from madeleine.model.vector import Vector
from madeleine.rules.text import embedded_text
from madeleine.write.embedding import embed_texts
from madeleine.write.remember import Remembered, find_known, write_draft
from madeleine.write.stores import Stores

CHUNK = 64  # drafts embedded ahead: enough to keep every core busy, little to lose on a kill

Outcome = Remembered | MadeleineError
Embedded: TypeAlias = "tuple[list[Vector | None], str | None]"


def remember_many(
    stores: Stores,
    drafts: Sequence[Draft],
    progress: Callable[[int], None] = lambda done: None,
) -> list[Outcome]:
    """Write the drafts in order; a draft that is refused leaves its error in its place."""
    coming = {draft.id: draft.id for draft in drafts if draft.id is not None}
    outcomes: list[Outcome] = []
    for chunk, (vectors, problem) in _embedded_ahead(stores, drafts):
        for draft, vector in zip(chunk, vectors, strict=True):
            outcomes.append(_one(stores, draft, vector, problem, coming))
            progress(len(outcomes))
    return outcomes


def _one(
    stores: Stores,
    draft: Draft,
    vector: Vector | None,
    problem: str | None,
    coming: dict[str, str],
) -> Outcome:
    try:
        return find_known(stores, draft) or write_draft(stores, draft, vector, problem, coming)
    except MadeleineError as refused:
        return refused


def _embedded_ahead(
    stores: Stores, drafts: Sequence[Draft]
) -> Iterator[tuple[Sequence[Draft], Embedded]]:
    """Give each chunk with its vectors, while the next chunk's are being made."""
    chunks = [drafts[start : start + CHUNK] for start in range(0, len(drafts), CHUNK)]
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-ahead") as ahead:
        waiting = [ahead.submit(_embed, stores, chunk) for chunk in chunks[:1]]
        for number, chunk in enumerate(chunks):
            if number + 1 < len(chunks):
                waiting.append(ahead.submit(_embed, stores, chunks[number + 1]))
            yield chunk, waiting.pop(0).result()


def _embed(stores: Stores, chunk: Sequence[Draft]) -> Embedded:
    return embed_texts(stores, [embedded_text(draft.title, draft.content) for draft in chunk])
