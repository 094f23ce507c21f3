"""Working out what follows from a memory's own texts."""

from __future__ import annotations

import apsw

from madeleine.index.analysis import MemoryAnalysis, PassageColumns
from madeleine.index.common.passages import passage_stems, passage_traits
from madeleine.index.common.rows import build_indexed_texts
from madeleine.index.common.stems import Stemmer
from madeleine.language.lookup_keys import lookup_keys
from madeleine.language.passages import split_passages
from madeleine.language.text_keys import same_text_key
from madeleine.model.memory import Memory


def analyse_memory(stemmer: Stemmer, memory: Memory) -> MemoryAnalysis:
    """Return what an engine keeps of a memory's texts."""
    return MemoryAnalysis(
        build_indexed_texts(memory),
        same_text_key(memory.content),
        tuple(lookup_keys(memory)),
        analyse_passages(stemmer, memory),
    )


def analyse_passages(stemmer: Stemmer, memory: Memory) -> tuple[PassageColumns, ...]:
    """Return what an engine keeps of each passage beside its vector."""
    return tuple(
        (
            *passage_traits(memory.content[passage.start : passage.end]),
            passage_stems(stemmer, memory, passage, part),
        )
        for part, passage in enumerate(split_passages(memory))
    )


def make_stemmer() -> Stemmer:
    """Return a stemmer for who has no index open."""
    return Stemmer(apsw.Connection(":memory:"), {})
