"""What is kept of a session without a language model, against what its author would keep.

A memory *covers* a sentence when it has most of its telling words, or means nearly the same to the
model: authors write a sentence of its own with pronouns resolved, the memory may quote. A memory
that covers nothing worth keeping is noise; one that covers what must not be kept is a fault.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _everyday_set import EverydaySession
from _recall_homes import Homes
from _recall_metrics import mean
from _recall_report import Figure, share
from _recall_speed import model

from madeleine import Madeleine
from madeleine.language.stems import telling_stems
from madeleine.minds.port import Embedder
from madeleine.model.embedding import Passage
from madeleine.model.words import EXCHANGE_TAG

COVERED_WORDS = 0.6
COVERED_SIMILARITY = 0.75


@dataclass(frozen=True, slots=True)
class KeptOfSession:
    """One flag for each thing worth keeping, for each memory, and for each thing never to keep."""

    covered: tuple[bool, ...]
    typed: tuple[bool, ...]
    """For what is covered, whether the memory has its type."""
    useful: tuple[bool, ...]
    violated: tuple[bool, ...]


def take_in(homes: Homes, session: EverydaySession) -> KeptOfSession:
    """Take a transcript in and compare what came of it."""
    with (
        tempfile.TemporaryDirectory(dir=homes.folder) as folder,
        Madeleine.open(Path(folder) / "home", in_process=True) as opened,
    ):
        homes.share_embeddings(Path(folder) / "home")
        taken = opened.ingest(session.path, space=session.space)
    kept = [
        (str(each["content"]), str(each["type"]))
        for each in taken.memories
        if EXCHANGE_TAG not in each["tags"]  # kept apart, and shown to who asks for it only
    ]
    texts = [content for content, _ in kept]
    with model(homes.folder) as embedder:
        worth = _covering(embedder, [each.says for each in session.keep], texts)
        never = _covering(embedder, session.never, texts)
    useful = [bool(np.any(worth[:, place])) for place in range(len(kept))]
    return KeptOfSession(
        tuple(bool(row.any()) for row in worth),
        tuple(
            any(kept[place][1] == each.type for place in np.flatnonzero(row))
            for each, row in zip(session.keep, worth, strict=True)
            if row.any()
        ),
        tuple(useful),
        tuple(any(not useful[place] for place in np.flatnonzero(row)) for row in never),
    )


def _covering(embedder: Embedder, wanted: Sequence[str], kept: Sequence[str]) -> np.ndarray:
    """Return which of the wanted sentences (rows) which memories (columns) cover."""
    covered = np.zeros((len(wanted), len(kept)), bool)
    if not wanted or not kept:
        return covered
    rows, columns = _vectors(embedder, wanted), _vectors(embedder, kept)
    words = [telling_stems(each) for each in wanted]
    others = [telling_stems(each) for each in kept]
    for row, mine in enumerate(words):
        for column, theirs in enumerate(others):
            share_of_words = len(mine & theirs) / len(mine) if mine else 0.0
            covered[row, column] = share_of_words >= COVERED_WORDS
    return covered | (rows @ columns.T >= COVERED_SIMILARITY)


def _vectors(embedder: Embedder, texts: Sequence[str]) -> np.ndarray:
    traces = embedder.read([Passage(each, 0, len(each)) for each in texts])
    return np.array([trace.vector for trace in traces], np.float64)


def session_figures(kept: Sequence[KeptOfSession]) -> Iterator[Figure]:
    """Return how much of what matters was kept, and how much of what was kept matters."""
    yield share("sessions", "kept", mean(float(flag) for each in kept for flag in each.covered))
    typed = mean(float(flag) for each in kept for flag in each.typed)
    yield share("sessions", "kept ones of the right type", typed)
    useful = mean(float(flag) for each in kept for flag in each.useful)
    yield share("sessions", "precision", useful)
    violated = mean(float(flag) for each in kept for flag in each.violated)
    yield share("sessions", "kept though never to be kept", violated)
