"""Invented conversations: two people, many sessions, and questions about what was said.

Each session is a few episodes. In one, somebody tells a thing, the other asks for details and
gets them; around that there is small talk, mention of other things, and repetition. So every
question knows its evidence:

- `detail`: the turn in which it was answered;
- `time`: the turn in which the thing was told, or all that somebody told in a month or on a day;
- `several`: every turn in which somebody, or both, told something of a topic;
- `open`: the same turns, asked for by inference.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bench.training.texts import (
    Detail,
    Phrases,
    Thing,
    Topic,
    anyones,
    asked_of,
    fill,
    read_phrases,
    read_topics,
    sentence,
)
from bench.training.values import About, Item, Question, Store

COUNT = 8
SEED = 11
LONG_WORD = 4  # letters; words longer than that carry a question's meaning


def dialogues(count: int = COUNT, seed: int = SEED) -> list[Store]:
    """Return `count` conversations, the same for the same seed."""
    topics, talk = read_topics("topics"), read_phrases("talk")
    return [
        _Dialogue(random.Random(seed * 1000 + number), topics, talk).store(f"dialogue-{number}")
        for number in range(count)
    ]


@dataclass(frozen=True, slots=True)
class _Told:
    """That somebody told a thing, and in which turn."""

    who: str
    topic: Topic
    thing: Thing
    turn: Item


class _Dialogue:
    """A conversation in the making."""

    def __init__(self, dice: random.Random, topics: list[Topic], talk: Phrases) -> None:
        self._dice = dice
        self._topics = topics
        self._talk = talk
        self._speakers: list[str] = dice.sample(talk["speakers"], 2)
        self._at = datetime(
            dice.choice([2021, 2022, 2023, 2024]),
            dice.randint(1, 12),
            dice.randint(1, 28),
            dice.randint(8, 21),
            dice.randint(0, 59),
            tzinfo=UTC,
        )
        self._session = 0
        self._turn = 0
        self._turns: list[Item] = []
        self._told: list[_Told] = []
        self._questions: list[Question] = []

    def store(self, name: str) -> Store:
        """Let them talk, then ask about it."""
        for _ in range(self._dice.randint(14, 30)):
            self._hold_session()
        for who in self._speakers:
            self._ask_about_topics(who)
            self._ask_about_dates(who)
        self._ask_about_both()
        told = frozenset(About(each.topic.name, each.thing.name) for each in self._told)
        return Store(name, self._turns, self._questions, told)

    # -- talking ---------------------------------------------------------------------------

    def _hold_session(self) -> None:
        dice = self._dice
        self._session, self._turn = self._session + 1, 0
        first, second = self._pair()
        self._say(first, second, "greet")
        if dice.random() < 0.7:
            self._say(second, first, "greet_back")
        for _ in range(dice.randint(2, 4)):
            self._hold_episode(*self._pair())
        for _ in range(dice.randint(0, 3)):
            self._say(*self._pair(), dice.choice(["chat", "thank"]))
        self._say(first, second, "part")
        if dice.random() < 0.5:
            self._say(second, first, "part")
        self._at += timedelta(days=dice.randint(2, 24), hours=dice.randint(-3, 3))

    def _hold_episode(self, who: str, other: str) -> None:
        """One tells something new, the other asks; nothing happens if all was told before."""
        dice = self._dice
        topic = self._choose_topic(who)
        before = [each.thing for each in self._told_by(who, topic)]
        fresh = [each for each in topic.things if each not in before]
        if not fresh:
            return
        thing = dice.choice(fresh)
        turn = self._tell(who, other, thing)
        self._told.append(_Told(who, topic, thing, turn))
        self._ask_when(who, topic, thing, turn)
        for detail in dice.sample(topic.details, dice.randint(1, 3)):
            self._tell_detail(who, other, topic, thing, detail)
        self._round_off(who, other, topic, thing)

    def _tell(self, who: str, other: str, thing: Thing) -> Item:
        dice = self._dice
        told = sentence(fill(thing.told, T=dice.choice(self._talk["times"])))
        opening = self._any("open")
        if opening and not told.startswith("I "):
            told = told[:1].lower() + told[1:]
        text = f"{opening}{told}{dice.choice('.!')} {self._any('feel')}"
        if dice.random() < 0.35:
            text = f"{self._polite(other)} {text}"
        if dice.random() < 0.5:
            text += f" {self._padding(other)}"
        if dice.random() < 0.2:
            text += f" {self._any('back')}"
        return self._add(who, text, self._caption(thing.name, 0.3))

    def _tell_detail(
        self, who: str, other: str, topic: Topic, thing: Thing, detail: Detail
    ) -> None:
        dice = self._dice
        self._ask_for(other, who, thing, detail)
        asked = dice.choice(detail.asked)
        answer = fill(detail.answer, v=dice.choice(detail.values), R=self._any("others"))
        text = self._with_filling(self._with_thing(answer, thing), asked, other)
        shown = dice.choice([thing.name, self._any("captioned_also")])
        turn = self._add(who, text, self._caption(shown, 0.2))
        if dice.random() < 0.8:
            self._ask(asked_of(asked, who, thing.name), [turn], "detail", topic, thing)

    def _ask_for(self, who: str, other: str, thing: Thing, detail: Detail) -> None:
        """The listener wants to know a detail, mostly after saying how nice it all is."""
        dice = self._dice
        named = dice.choice([thing.name.replace("my ", "your "), _last_word(thing)])
        react = f"{fill(self._any('react'), O=other, n=named)} "
        padding = f"{self._padding(other)} " if dice.random() < 0.35 else ""
        self._add(who, (react + padding if dice.random() < 0.8 else "") + detail.ask)

    def _with_thing(self, answer: str, thing: Thing) -> str:
        """Name the thing in some answers; in others only the turns before do."""
        dice = self._dice
        chance = dice.random()
        if chance < 0.3:
            words = fill(self._any("about_before"), x=thing.name, s=_last_word(thing))
            return words + answer[:1].lower() + answer[1:]
        if chance < 0.6:
            words = fill(self._any("about_after"), x=thing.name, s=_last_word(thing))
            return f"{answer} {sentence(words)}"
        return answer

    def _with_filling(self, answer: str, asked: str, other: str) -> str:
        """Put small talk around some answers, and a word of the later question into some."""
        dice = self._dice
        words = [each for each in _own_words(asked) if len(each) > LONG_WORD and each.islower()]
        if words and dice.random() < 0.4:
            answer += " " + fill(self._any("echo"), w=dice.choice(words))
        if dice.random() < 0.4:
            answer += f" {self._padding(other)}"
        if dice.random() < 0.25:
            answer = f"{fill(self._any('thank'), O=other)} {answer}"
        if dice.random() < 0.25:
            answer += f" {self._any('feel')}"
        return answer

    def _round_off(self, who: str, other: str, topic: Topic, thing: Thing) -> None:
        dice = self._dice
        chance = dice.random()
        if chance < 0.5:
            words = fill(self._any(dice.choice(["thank", "chat", "react"])), O=who, n=thing.name)
            padding = f" {self._padding(who)}" if dice.random() < 0.6 else ""
            self._add(other, words.replace("my ", "your ") + padding)
        if chance < 0.25:
            self._add(who, self._polite(other))
        if dice.random() < 0.25:
            earlier = dice.choice(self._told_by(who, topic)).thing.name.replace("my ", "your ")
            self._add(other, fill(self._any("recall"), x=earlier))

    # -- asking ----------------------------------------------------------------------------

    def _ask_when(self, who: str, topic: Topic, thing: Thing, turn: Item) -> None:
        if self._dice.random() < 0.6:
            asked = fill(self._any("asked_when"), q=self._dice.choice(thing.asked))
            self._ask(asked_of(asked, who, thing.name), [turn], "time", topic, thing)

    def _ask_about_topics(self, who: str) -> None:
        dice = self._dice
        for topic in self._topics:
            turns = [each.turn for each in self._told_by(who, topic)]
            if len(turns) >= 2:
                for asked in dice.sample(topic.several, min(2, len(topic.several))):
                    self._ask(asked_of(asked, who), turns, "several", topic)
            if turns and dice.random() < 0.4:
                self._ask(asked_of(dice.choice(topic.open), who), turns, "open", topic)

    def _ask_about_dates(self, who: str) -> None:
        by_month: dict[str, list[Item]] = defaultdict(list)
        by_day: dict[str, list[Item]] = defaultdict(list)
        for each in self._told:
            if each.who == who and each.turn.created:
                by_month[f"{each.turn.created:%Y-%m}"].append(each.turn)
                by_day[f"{each.turn.created:%Y-%m-%d}"].append(each.turn)
        self._ask_some_dates(who, "asked_month", list(by_month.values()))
        self._ask_some_dates(who, "asked_day", list(by_day.values()))

    def _ask_some_dates(self, who: str, phrase: str, groups: list[list[Item]]) -> None:
        for turns in self._dice.sample(groups, min(2, len(groups))):
            at = turns[0].created
            assert at is not None, "every turn has its time"
            asked = fill(self._any(phrase), month=f"{at:%B}", year=str(at.year), day=str(at.day))
            self._ask(asked_of(asked, who), turns, "time")

    def _ask_about_both(self) -> None:
        one, other = self._speakers
        for topic in self._topics:
            ones, others = self._told_by(one, topic), self._told_by(other, topic)
            if ones and others and self._dice.random() < 0.4:
                asked = fill(self._any("asked_both"), A=one, B=other, t=topic.label)
                self._ask(asked.replace("my ", ""), [e.turn for e in ones + others], "several")

    def _ask(
        self,
        text: str,
        turns: list[Item],
        kind: str,
        topic: Topic | None = None,
        thing: Thing | None = None,
    ) -> None:
        about = About(topic.name, thing.name if thing else None) if topic else None
        gold = frozenset(turn.id for turn in turns)
        self._questions.append(Question(text, gold, kind, about))

    # -- words -----------------------------------------------------------------------------

    def _say(self, who: str, other: str, phrase: str) -> None:
        self._add(who, fill(self._any(phrase), O=other))

    def _add(self, who: str, text: str, caption: str = "") -> Item:
        self._turn += 1
        item = Item(
            id=f"{self._session}:{self._turn}",
            text=sentence(text) + caption,
            speaker=who,
            session=str(self._session),
            turn=self._turn,
            created=self._at,
        )
        self._turns.append(item)
        return item

    def _pair(self) -> tuple[str, str]:
        """Return the two in either order."""
        one, other = self._dice.sample(self._speakers, 2)
        return one, other

    def _choose_topic(self, who: str) -> Topic:
        """People come back to their topics."""
        mine = list(dict.fromkeys(each.topic.name for each in self._told if each.who == who))
        if mine and self._dice.random() < 0.45:
            name = self._dice.choice(mine)
            return next(topic for topic in self._topics if topic.name == name)
        return self._dice.choice(self._topics)

    def _told_by(self, who: str, topic: Topic) -> list[_Told]:
        return [each for each in self._told if each.who == who and each.topic == topic]

    def _padding(self, other: str) -> str:
        chance = self._dice.random()
        if chance < 0.3:
            return self._polite(other)
        if chance < 0.65:
            return self._any("pad")
        thing = self._dice.choice(self._dice.choice(self._topics).things)
        return fill(self._any("mention"), x=anyones(thing.name))

    def _polite(self, other: str) -> str:
        return fill(self._any(self._dice.choice(["thank", "chat"])), O=other)

    def _caption(self, thing: str, chance: float) -> str:
        if self._dice.random() >= chance:
            return ""
        return f" [shared image: {fill(self._any('captions'), x=anyones(thing))}]"

    def _any(self, phrase: str) -> str:
        return self._dice.choice(self._talk[phrase])


def _last_word(thing: Thing) -> str:
    return thing.name.split()[-1].strip('"')


def _own_words(asked: str) -> list[str]:
    """Return the words of a question that it does not owe to its subject."""
    bare = asked.replace("{P}'s", "").replace("?", "").replace(",", "")
    return [each for each in bare.split() if "{" not in each]
