"""Standing notes in a whisper: what says how things are to be done has places of its own.

`British spelling on the site` shares no word with `give me a headline for the sold out page`. The
standing notes of a space are looked up in the index by their key and weighed all at once, with what
is known of each kept between prompts: its vector, whether it is a standing note at all, and which
activities it is about. What applies to a prompt is a chance of its own (`rules/standing_gate.py`),
and facts do not compete with it.

The weights belong to the built-in model. With another one, and where the model is late, standing
notes go through the gate that facts go through.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np

from madeleine.language.activities import (
    Profile,
    count_activity_words,
    measure_activities,
    weigh_profile,
)
from madeleine.language.standing import (
    PREFERENCE_KEY,
    PREFERENCE_MORE,
    READ_KEY,
    SET_KEY,
    read_standing_log_odds,
)
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.vector import Vector
from madeleine.rules.chances import log_odds
from madeleine.write.stores import Stores

READ_MOST = 300  # notes of one key that are weighed, the newest
KEPT_MOST = 20_000  # of which something is known, of all places
LISTS_KEPT_MOST = 64  # of all places
LIST_LIFETIME = timedelta(minutes=1)
SURE = 4.0  # log odds of what somebody calls a standing note
LEAST_WORTH, MOST_WORTH = 0.02, 0.98  # of what ordinary search says of a note
MANY_WORDS = 40
NEED_SCALE = 4.0  # brings log odds into the range of the other numbers


@dataclass(frozen=True, slots=True)
class _ReadProfile:
    """How near a text is to each activity, with what comparing two profiles needs of each."""

    shares: Profile
    deviations: Profile
    """How far each number is from their mean."""
    spread: np.float32
    best: int
    nearest: float

    @classmethod
    def of(cls, profile: Profile) -> _ReadProfile:
        deviations = profile - profile.mean()
        return cls(
            weigh_profile(profile),
            deviations,
            deviations @ deviations,
            int(np.argmax(profile)),
            float(profile.max()),
        )

    def correlate(self, other: _ReadProfile) -> float:
        """Return the correlation of two profiles. numpy's own makes a matrix of it, in ten times
        the time."""
        return float(self.deviations @ other.deviations / np.sqrt(self.spread * other.spread))


@dataclass(frozen=True, slots=True)
class _ReadNote:
    """What is read once of a note, for as long as its vector stays the same."""

    vector: Vector
    log_odds: float
    space: str | None
    words: Counter[str]
    profile: _ReadProfile


@dataclass(frozen=True, slots=True)
class StandingNote:
    """A standing note of the index, without its text."""

    id: str
    read: _ReadNote
    log_odds: float
    """How likely it is a standing note; 0 is even."""
    is_preference: bool


@dataclass(frozen=True, slots=True)
class PromptForNotes:
    """What is known of a prompt for which standing notes are weighed."""

    text: str
    vector: Vector
    model: str
    need: float
    space: str | None
    is_follow_up: bool
    found: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """What ordinary search says of memories: the worth, and the share of the prompt's words."""


@dataclass(frozen=True, slots=True)
class _KeptList:
    """The standing notes of a place, as they were when it had changed so often."""

    changes: int
    until: datetime
    """When one of them may have expired."""
    notes: list[StandingNote]


@dataclass(slots=True)
class StandingNotes:
    """What was read of standing notes, kept between prompts. Any thread may ask."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _known: OrderedDict[str, _ReadNote] = field(default_factory=OrderedDict)
    _lists: OrderedDict[tuple[object, Filter, str], _KeptList] = field(default_factory=OrderedDict)

    def read(self, stores: Stores, chosen: Filter, model: str, now: datetime) -> list[StandingNote]:
        """Return the standing notes that pass the filter, as they were found before where nothing
        was written since."""
        changes, key = stores.search.changes(), (stores.search, chosen, model)
        with self._lock:
            kept = self._lists.get(key)
        if kept is not None and kept.changes == changes and now < kept.until:
            return kept.notes
        notes = self._read(stores, chosen, model, now)
        if changes is not None:
            with self._lock:
                self._lists[key] = _KeptList(changes, now + LIST_LIFETIME, notes)
                while len(self._lists) > LISTS_KEPT_MOST:
                    self._lists.popitem(last=False)
        return notes

    def _read(
        self, stores: Stores, chosen: Filter, model: str, now: datetime
    ) -> list[StandingNote]:
        """Return the standing notes that pass the filter. Only those are read that were not known
        or whose vector is another one than before."""
        search = stores.search
        keys = {
            memory_id: key
            for key in (SET_KEY, PREFERENCE_KEY, READ_KEY)
            for memory_id in search.triggered_memories([key], chosen, now, READ_MOST)
        }
        vectors = search.vectors(list(keys))
        with self._lock:
            known = {each: self._known[each] for each in vectors if each in self._known}
        new = [
            each
            for each, vector in vectors.items()
            if each not in known or not np.array_equal(known[each].vector, vector)
        ]
        if new:
            made = _read_notes(search.memories(new), vectors, model)
            known |= made
            self._keep(made)
        notes = [_build_note(each, keys[each], read) for each, read in known.items()]
        return [each for each in notes if each.log_odds >= 0]

    def _keep(self, made: Mapping[str, _ReadNote]) -> None:
        with self._lock:
            self._known.update(made)
            while len(self._known) > KEPT_MOST:
                self._known.popitem(last=False)


def _read_notes(
    memories: Mapping[str, Memory], vectors: Mapping[str, Vector], model: str
) -> dict[str, _ReadNote]:
    found = {}
    for each in memories.values():
        vector = vectors[each.id]
        profile = measure_activities(vector, model)
        if profile is not None:
            likely = read_standing_log_odds(each.content, vector, model)
            words = count_activity_words(each.content)
            read = _ReadProfile.of(profile)
            found[each.id] = _ReadNote(vector, likely, each.space, words, read)
    return found


def _build_note(memory_id: str, key: str, read: _ReadNote) -> StandingNote:
    is_preference = key == PREFERENCE_KEY
    likely = read.log_odds + (PREFERENCE_MORE if is_preference else 0.0)
    return StandingNote(memory_id, read, SURE if key == SET_KEY else likely, is_preference)


def weigh_notes(
    prompt: PromptForNotes, notes: Sequence[StandingNote]
) -> dict[str, dict[str, float]]:
    """Return for each note the numbers that `rules.standing_gate` weighs; nothing if the model is
    not the one whose weights there are."""
    measured = measure_activities(prompt.vector, prompt.model)
    if measured is None or not notes:
        return {}
    profile = _ReadProfile.of(measured)
    near = np.array([each.read.vector for each in notes]) @ prompt.vector
    words = count_activity_words(prompt.text)
    best = float(near.max())
    of_prompt = {
        "wanting": max(prompt.need, 0.0) / NEED_SCALE,
        "not_wanting": min(prompt.need, 0.0) / NEED_SCALE,
        "question": float(prompt.text.rstrip().endswith(("?", "？"))),
        "follow_up": float(prompt.is_follow_up),
        "words": min(len(prompt.text.split()), MANY_WORDS) / MANY_WORDS,
        "prompt_activity": profile.nearest,
    }
    return {
        each.id: {
            **of_prompt,
            "near": float(cosine),
            "near_squared": float(cosine) ** 2,
            "below_best": best - float(cosine),
            **_compare(prompt, each, words, profile),
        }
        for each, cosine in zip(notes, near, strict=True)
    }


def _compare(
    prompt: PromptForNotes,
    note: StandingNote,
    words: Counter[str],
    profile: _ReadProfile,
) -> dict[str, float]:
    """Return how the activities of a prompt and of a note fit, and what search says of the note."""
    read = note.read
    worth, coverage = prompt.found.get(note.id, (LEAST_WORTH, 0.0))
    return {
        "preference": float(note.is_preference),
        "same_space": float(read.space is not None and read.space == prompt.space),
        "standing": note.log_odds / NEED_SCALE,
        "shared_activity": float(not words.keys().isdisjoint(read.words)),
        "no_activity": float(not read.words),
        "profile": float(profile.shares @ read.profile.shares),
        "profile_correlation": profile.correlate(read.profile),
        "same_activity": float(profile.best == read.profile.best),
        "note_activity": read.profile.nearest,
        "worth": log_odds(min(max(worth, LEAST_WORTH), MOST_WORTH)),
        "coverage": coverage,
    }
