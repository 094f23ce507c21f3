"""Invented notes: what one person tells an assistant, or has it keep, and asks later.

Two thirds are chats: messages of very different length in a few sessions, with pasted material
and small talk between them. One third are kept notes: a title, a few sentences, no session.

- `detail` and `time` ask for one note;
- `overview` asks for everything about a topic;
- `instruction` is a request that a standing instruction has to colour.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bench.training.texts import (
    Detail,
    Phrases,
    Thing,
    Topic,
    asked_of_me,
    fill,
    read_phrases,
    read_topics,
    sentence,
)
from bench.training.values import About, Item, Question, Store

COUNT = 12
SEED = 5
KEPT_EVERY = 3  # one store in so many holds kept notes


def notes(count: int = COUNT, seed: int = SEED) -> list[Store]:
    """Return `count` stores of notes, the same for the same seed."""
    return [
        _Notebook(random.Random(seed * 1000 + number), number % KEPT_EVERY == 1).store(
            f"notes-{number}"
        )
        for number in range(count)
    ]


@dataclass
class _Page:
    """What was written about one topic so far."""

    topic: Topic
    ids: list[str] = field(default_factory=list)
    things: list[Thing] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)


class _Notebook:
    """A store of notes in the making."""

    def __init__(self, dice: random.Random, kept: bool) -> None:
        self._dice = dice
        self._kept = kept
        self._words: Phrases = read_phrases("notes")
        self._talk: Phrases = read_phrases("talk")
        topics = dice.sample(read_topics("topics"), dice.randint(6, 9))
        topics += dice.sample(read_topics("work"), dice.randint(2, 4))
        self._pages = [_Page(topic) for topic in topics]
        self._at = datetime(
            dice.choice([2022, 2023, 2024]), dice.randint(1, 12), dice.randint(1, 28), tzinfo=UTC
        )
        self._session = 0
        self._turn = 0
        self._items: list[Item] = []
        self._questions: list[Question] = []
        self._told: set[About] = set()

    def store(self, name: str) -> Store:
        """Write, then ask for what is spread over it."""
        for _ in range(self._dice.randint(3, 5)):
            self._write_session()
        for page in self._pages:
            if len(page.ids) >= 2:
                asked = fill(self._any("asked_overview"), t=page.topic.label)
                self._ask(asked, page.ids, "overview", About(page.topic.name))
            tasks = min(len(page.instructions), len(page.topic.task))
            for asked in self._dice.sample(page.topic.task, tasks):
                self._ask(asked, page.instructions, "instruction", About(page.topic.name))
        return Store(name, self._items, self._questions, frozenset(self._told))

    # -- writing ---------------------------------------------------------------------------

    def _write_session(self) -> None:
        dice = self._dice
        self._session, self._turn = self._session + 1, 0
        pages = dice.sample(self._pages, dice.randint(5, min(9, len(self._pages))))
        if not self._kept:
            for page in dice.sample(pages, 3):
                self._begin(page)
        for page in pages:
            self._write_about(page, pages)
        self._at += timedelta(days=dice.randint(10, 60))

    def _begin(self, page: _Page) -> None:
        """A chat opens with what it will be about."""
        thing = self._dice.choice(page.topic.things)
        self._mention(page, thing)
        text = fill(self._any("begin"), t=page.topic.label, x=thing.name)
        page.ids.append(self._add(self._longer(text, self._dice.choice([0, 0, 1, 2]))))

    def _write_about(self, page: _Page, pages: list[_Page]) -> None:
        dice = self._dice
        fresh = [each for each in page.topic.things if each not in page.things]
        if fresh:
            self._tell(page, dice.choice(fresh))
        if dice.random() < 0.35:
            self._instruct(page)
        if not self._kept and dice.random() < 0.6:
            self._paste([dice.choice(pages) for _ in range(dice.randint(1, 3))])
        if not self._kept and dice.random() < 0.4:
            self._add(self._any("small"))

    def _tell(self, page: _Page, thing: Thing) -> None:
        dice = self._dice
        page.things.append(thing)
        about = self._mention(page, thing)
        told = fill(thing.told, T=dice.choice(self._talk["times"]))
        text = f"{told}. {dice.choice(self._talk['feel'])}"
        note = self._add(self._longer(text, dice.choice([0, 0, 0, 0, 1, 1, 2, 4])), thing.name)
        page.ids.append(note)
        if dice.random() < 0.7:
            self._ask(f"When did I {dice.choice(thing.asked)}?", [note], "time", about)
        for detail in dice.sample(page.topic.details, dice.randint(0, 2)):
            page.ids.append(self._tell_detail(thing, detail, about))

    def _tell_detail(self, thing: Thing, detail: Detail, about: About) -> str:
        dice = self._dice
        answer = fill(
            detail.answer, v=dice.choice(detail.values), R=dice.choice(self._talk["others"])
        )
        text = fill(self._any("about"), x=thing.name, a=answer)
        note = self._add(self._longer(text, dice.choice([0, 0, 0, 1, 1, 3])), thing.name)
        asked = asked_of_me(dice.choice(detail.asked), thing.name)
        self._ask(asked, [note], "detail", about)
        return note

    def _instruct(self, page: _Page) -> None:
        wish = self._any("wishes")
        text = fill(self._any("instructions"), x=wish, t=page.topic.label)
        page.instructions.append(self._add(text, wish))

    def _paste(self, pages: list[_Page]) -> None:
        """Add long material that only touches things."""
        things = [self._dice.choice(page.topic.things) for page in pages]
        for page, thing in zip(pages, things, strict=True):
            self._mention(page, thing)
        text = fill(self._any("touching"), x=" and ".join(each.name for each in things))
        self._add(self._longer(text, self._dice.choice([3, 5, 7, 9])))

    # -- words -----------------------------------------------------------------------------

    def _mention(self, page: _Page, thing: Thing) -> About:
        about = About(page.topic.name, thing.name)
        self._told.add(about)
        return about

    def _longer(self, text: str, count: int) -> str:
        """Add sentences before or after; a kept note is short."""
        dice = self._dice
        others = dice.sample(self._words["long"], min(count, 1) if self._kept else count)
        return " ".join([text, *others] if dice.random() < 0.7 else [*others, text])

    def _add(self, text: str, title: str = "") -> str:
        kept = self._kept
        item = Item(
            id=f"n{len(self._items)}",
            text=sentence(text),
            title=_as_title(title) if kept and title and self._dice.random() < 0.7 else None,
            session=None if kept else str(self._session),
            turn=None if kept else self._turn,
            created=self._at,
        )
        self._turn += 1
        self._items.append(item)
        return item.id

    def _ask(self, text: str, gold: list[str], kind: str, about: About) -> None:
        self._questions.append(Question(text, frozenset(gold), kind, about))

    def _any(self, phrase: str) -> str:
        return self._dice.choice(self._words[phrase])


def _as_title(thing: str) -> str:
    """Return a thing as a title names it, without an article."""
    return sentence(thing.removeprefix("a ").removeprefix("an ").removeprefix("the ").strip('"'))
