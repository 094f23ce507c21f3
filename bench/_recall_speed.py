"""How long a recall takes, against reading the question alone.

The machine is never quiet, and one is quicker than another; so the two are done in turns and
the figure is their ratio.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from _measure import Pair, in_turns, ms
from _recall_asking import ask
from _recall_homes import Homes
from _recall_report import Figure, Target
from _recall_sets import Question

from madeleine import Madeleine
from madeleine.bootstrap import load_settings, make_minds
from madeleine.minds.port import CachingEmbedder, RelationReader

LIMIT = 10  # as many as one gets who says nothing
IN_TURNS = 150  # recalls and embeddings that are compared
WARM = 20  # questions before anything is timed


@dataclass(frozen=True, slots=True)
class LoadedModels:
    """The models that homes have: what makes vectors, and what reads two memories together."""

    embedder: CachingEmbedder
    relations: RelationReader | None


@contextmanager
def all_models(folder: Path) -> Iterator[LoadedModels]:
    """Lend the models that homes in `folder` have, with what they made before."""
    minds, _ = make_minds(folder, load_settings(folder), os.environ)
    if minds.embedder is None:
        raise SystemExit(f"this part needs a model: {minds.why_not}")
    try:
        yield LoadedModels(minds.embedder, minds.relations)
    finally:
        minds.embedder.close()


@contextmanager
def model(folder: Path) -> Iterator[CachingEmbedder]:
    """Lend the model that makes vectors."""
    with all_models(folder) as minds:
        yield minds.embedder


def against_embedding(homes: Homes, opened: Madeleine, questions: Sequence[Question]) -> Pair:
    """Return how long a recall takes, and how long reading the same questions does."""
    asked, read = cycle(questions), cycle(questions)
    with model(homes.folder) as embedder:

        def whole() -> None:
            ask(opened, next(asked), LIMIT)

        def bare() -> None:
            embedder.ask(next(read).text)

        in_turns(whole, bare, WARM)
        return in_turns(whole, bare, IN_TURNS)


def ratio(part: str, what: str, pair: Pair, target: Target | None = None) -> Figure:
    """Return the line of such a pair."""
    note = f"{ms(pair.one)} against {ms(pair.other)}; median of {IN_TURNS}, in turns"
    whole = f"{what}, against embedding the question"
    return Figure(part, whole, pair.ratio, IN_TURNS, target, "x", note=note)
