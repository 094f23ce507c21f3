"""Which memories are compared closely with a question.

Words, vectors, ids, a tag and recency each bring some, all inside the filter (I11). A quick
score over all of them picks the hundred or two that are worth the closer look.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from madeleine.errors import MindDown
from madeleine.index.port import Pool, Wanted
from madeleine.model.query import Filter, Query
from madeleine.model.trace import AskedTrace
from madeleine.model.words import ABOUT_SELF
from madeleine.recall.asked import Asked, make_asked
from madeleine.recall.features import subject
from madeleine.recall.understanding import Understood, understand
from madeleine.rules.context import Surroundings, drawing_score, subject_score
from madeleine.rules.fusion import drawn
from madeleine.rules.wording import forms
from madeleine.write.stores import Stores

WORDS_BUDGET = 2_000  # memories that the words together may bring: what takes 2 ms to read
ABOUT_ASKER = 50  # compared beside the others, when the asker speaks of themselves
ONLY_WORDS = 10  # times as many, where there is no model to bring what words leave out
LEAST_KNOWN = 0.5  # share of a question that the model must know for its view to count
NEWEST = 50  # of the most recent, when those are asked for


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question with what the model and the index make of it. `notes` say what is missing."""

    asked: Asked
    named: tuple[str, ...]
    """Ids of memories that the question names."""
    notes: tuple[str, ...]


def prepare(stores: Stores, query: Query, trace: AskedTrace | None = None) -> Prepared:
    """Understand a question; the model is asked once, under no lock (I6), unless somebody has
    asked it already."""
    understood = understand(query.text, stores.clock.now())
    notes: tuple[str, ...] = ()
    if trace is None:
        trace, notes = read_question(stores, query.text)
    found = stores.index.terms(understood.terms)
    asked = make_asked(understood, stores.index.extent(), found, trace)
    return Prepared(asked, _named(stores, understood), notes)


def read_question(stores: Stores, text: str) -> tuple[AskedTrace | None, tuple[str, ...]]:
    """Return what the model makes of a question, and what to say if it makes nothing of it."""
    embedder = stores.minds.embedder
    if embedder is None:
        return None, (f"text search only: {stores.minds.why_not}",)
    try:
        trace = embedder.ask(text)
        return (trace if trace.known >= LEAST_KNOWN else None), ()
    except MindDown as down:
        return None, (f"text search only: {down.message}",)


def _named(stores: Stores, understood: Understood) -> tuple[str, ...]:
    found = [each for prefix in understood.ids for each in stores.index.ids_with_prefix(prefix, 2)]
    return tuple(dict.fromkeys(found))


def draw(stores: Stores, query: Query, prepared: Prepared, chosen: Filter, now: datetime) -> Pool:
    """Return the candidates of all sources."""
    asked, understood = prepared.asked, prepared.asked.understood
    wanted = Wanted(
        words=_words(asked),
        scan=asked.aim.scan if asked.aim else None,
        near=asked.aim.near if asked.aim else None,
        focus=asked.aim.focus if asked.aim else None,
        ids=prepared.named,
        tag=ABOUT_SELF if understood.about_self else None,
        newest=NEWEST if understood.newest_first else 0,
        draw=max(stores.habits.recall_pool, query.limit),
        space=query.space,
    )
    return stores.index.pool(wanted, chosen, now)


def _words(asked: Asked) -> list[str]:
    """Return the words that candidates are drawn by: the rare ones, and what is quoted."""
    understood = asked.understood
    budget = WORDS_BUDGET if asked.aim else WORDS_BUDGET * ONLY_WORDS
    rare = [understood.terms[place] for place in drawn(asked.holders, budget)]
    return [*(form for word in rare for form in forms(word)), *understood.phrases]


def choose(asked: Asked, pool: Pool, count: int) -> NDArray[np.int64]:
    """Return the places of the candidates to be compared closely. What is known about the asker
    comes beside the others: it is to crowd nobody out, nor be crowded out."""
    places = np.flatnonzero(pool.allowed)
    if len(places) <= count:
        return places
    around = Surroundings(np.where(pool.talk, pool.before, -1), np.where(pool.talk, pool.after, -1))
    quick = drawing_score(
        pool.text.astype(np.float64),
        pool.near.astype(np.float64),
        pool.focus.astype(np.float64),
        around,
        pool.talk,
        pool.session,
    )
    quick += subject_score(subject(asked, pool.speaker, pool.created))
    about_asker = places[pool.tagged[places]]
    return np.union1d(_best(places, quick, count), _best(about_asker, quick, ABOUT_ASKER))


def _best(places: NDArray[np.int64], quick: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Return the best of the places, with all that tie with the last of them: which row stands
    where is no reason to leave one out."""
    if len(places) <= count:
        return places
    values = np.round(quick[places], 9)
    chosen: NDArray[np.int64] = places[values >= np.partition(values, -count)[-count]]
    return chosen
