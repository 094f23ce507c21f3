"""What is kept of a passage beside its vector: stems, traits, and checks of what a model says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from madeleine.errors import Rejected
from madeleine.index.common.stems import Stemmer
from madeleine.index.common.text import letter_pairs, run_letters
from madeleine.language.passages import MOST_PASSAGES, claim_words
from madeleine.language.traits import PassageTraits, read_traits
from madeleine.model.embedding import KeptEmbedding, Passage, PassageEmbedding
from madeleine.model.memory import Memory
from madeleine.model.vector import Vector
from madeleine.model.words import ABOUT_SELF, MemoryType, Tier

TYPE_CODES = {each.value: code for code, each in enumerate(MemoryType)}
TIER_CODES = {each.value: code for code, each in enumerate(Tier)}
MAX_TURN = 2**31 - 1


class ModelDimensions(NamedTuple):
    """How wide a model's vectors are, and its tokens; 0 for none."""

    vector: int
    token: int


def passage_stems(stemmer: Stemmer, memory: Memory, passage: Passage, part: int) -> bytes:
    """Return the stems of a passage with those of the title, the claim and the tags, by which
    people expect to find it too."""
    tags = (each for each in memory.tags if each != ABOUT_SELF)
    text = memory.content[passage.start : passage.end]
    stems = stemmer.numbers(" ".join((memory.title or "", claim_words(memory), text, *tags)))
    if part == MOST_PASSAGES - 1:  # what no model reads is found by its words
        stems += sorted(set(stemmer.numbers(memory.content[passage.end :])))
    return np.array(stems, np.uint32).tobytes()


def passage_traits(text: str) -> PassageTraits:
    """Return the traits of a passage. Where a script writes without spaces, its stems are
    counted as words, so that what is long there is told by the same measure."""
    traits = read_traits(text)
    if text.isascii():
        return traits
    return traits._replace(words=traits.words + len(letter_pairs(text)) + len(run_letters(text)))


def check_embeddings(
    traces: Sequence[PassageEmbedding], passages: int, wide: ModelDimensions
) -> Sequence[PassageEmbedding]:
    """Return the traces, if they can be those of so many passages and of this model."""
    if not traces:
        return traces
    if not wide.vector:
        raise Rejected(
            "the index was opened without a model and takes no vectors",
            hint="`madeleine status` shows which model is set",
        )
    if len(traces) != passages:
        raise Rejected(
            f"{len(traces)} traces for {passages} passages", hint="read each passage once"
        )
    for each in traces:
        if isinstance(each, KeptEmbedding):
            continue  # the model's own, as it kept them
        if each.tokens.size and each.tokens.shape[1] != wide.token:
            raise Rejected(
                f"tokens of {each.tokens.shape[1]} numbers; the model's have {wide.token}",
                hint="`madeleine status` shows which model is set",
            )
    return traces


def check_query_vector(vector: Vector, dimension: int) -> Vector:
    query = np.asarray(vector, np.float32)
    if query.shape != (dimension,) or not np.isfinite(query).all():
        raise Rejected(
            f"the question's vector is not {dimension} finite numbers",
            hint="`madeleine status` shows which model is set",
        )
    return query
