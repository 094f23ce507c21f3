"""What a model makes of memories about to be indexed. Always asked outside the lock (I6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias, TypeVar

from madeleine.errors import MindDown
from madeleine.language.passages import split_passages
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.embedding import LEAST_KNOWN_SHARE, PassageEmbedding
from madeleine.model.memory import Memory
from madeleine.model.vector import Vector
from madeleine.write.stores import Stores

Item = TypeVar("Item")
READ_AT_ONCE = 32  # passages of many memories, after which those go first who are waited for

PassageEmbeddings: TypeAlias = Sequence[PassageEmbedding]
"""What was made of one memory, a trace for each of its passages; empty when nothing was."""


def embed_memories(
    stores: Stores, memories: Sequence[Memory]
) -> tuple[list[PassageEmbeddings], tuple[Cause, ...]]:
    """Return the traces of each memory, and a note if there are none because the model cannot
    answer. Many memories have time: they are read some at a time, and others go first in between.

    A model that is down must not keep anybody from remembering: the memory is found by its
    words meanwhile, and gets its traces when the model is back.
    """
    embedder = stores.minds.embedder
    if embedder is None:
        why = stores.minds.why_not
        return [()] * len(memories), (_without_vector(why),) if why else ()
    pieces = [split_passages(memory) for memory in memories]
    passages = [passage for each in pieces for passage in each]
    made_so_far: list[PassageEmbedding] = []
    try:
        for start in range(0, len(passages), READ_AT_ONCE):
            if len(memories) > 1:
                stores.priority_gate.give_way()
            made_so_far += embedder.read(passages[start : start + READ_AT_ONCE])
    except MindDown as down:
        return [()] * len(memories), (_without_vector(down.message),)
    made = iter(made_so_far)
    return [list(islice(made, len(each))) for each in pieces], ()


def _without_vector(why: str) -> Cause:
    return Cause(NoteKind.WITHOUT_VECTOR, {"why": why})


def embed_memory(stores: Stores, memory: Memory) -> tuple[PassageEmbeddings, tuple[Cause, ...]]:
    (traces,), notes = embed_memories(stores, [memory])
    return traces, notes


def neighbour_vector(traces: PassageEmbeddings) -> Vector | None:
    """Return the vector by which a memory's neighbours are looked for: that of its beginning.
    None: the model cannot read it, and makes the same of all such texts."""
    return traces[0].vector if traces and traces[0].known >= LEAST_KNOWN_SHARE else None


def split_by_size(
    items: Sequence[Item], size: Callable[[Item], int], most: int, most_size: int
) -> Iterator[Sequence[Item]]:
    """Cut items into runs of at most `most` that are not larger than `most_size` together,
    unless a single one is. Of long texts fewer are read at a time: their tokens take room,
    and reading them takes long."""
    start = taken = 0
    for place, item in enumerate(items):
        full = place - start >= most or taken + size(item) > most_size
        if full and place > start:
            yield items[start:place]
            start, taken = place, 0
        taken += size(item)
    if start < len(items):
        yield items[start:]
