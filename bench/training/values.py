"""A store to learn from: memories, and questions with the memories that answer them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from madeleine.language.passages import SPEAKER_ROLES


@dataclass(frozen=True, slots=True)
class Item:
    """A memory to be written."""

    id: str
    text: str
    title: str | None = None
    speaker: str | None = None
    session: str | None = None
    turn: int | None = None
    created: datetime | None = None
    type: str | None = None
    space: str | None = None
    about_self: bool = False


@dataclass(frozen=True, slots=True)
class About:
    """What a question is about; without a thing it is about all of the topic."""

    topic: str
    thing: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the ids of the memories that answer it; none if nothing does."""

    text: str
    gold: frozenset[str]
    kind: str
    about: About | None = None
    space: str | None = None
    """Where it is asked."""
    unasked: bool = False
    """Whether it is a prompt or an action: nobody asks the memory, and a space sees only its own
    memories and those of none."""


@dataclass(frozen=True, slots=True)
class Store:
    """Memories in the order in which they were written.

    `told` says what comes up in them, as far as that is known: by it one sees whether a
    question of another store has an answer here too.
    """

    name: str
    memories: list[Item]
    questions: list[Question]
    told: frozenset[About] = frozenset()

    @property
    def speakers(self) -> list[str]:
        """Who speaks here by name, in order of appearance."""
        named = (each.speaker for each in self.memories if each.speaker)
        return list(dict.fromkeys(name for name in named if name.lower() not in SPEAKER_ROLES))
