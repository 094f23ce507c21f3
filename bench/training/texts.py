"""The texts that invented stores are made of, read from `frames/`, and a little grammar."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FRAMES = Path(__file__).parent / "frames"

Phrases = Mapping[str, Sequence[str]]
"""Ways of saying something, by what is said."""

_FIRST_PERSON = (
    ("{P}'s", "my"),
    ("does {P}", "do I"),
    ("has {P}", "have I"),
    ("is {P}", "am I"),
    ("{P} is", "I am"),
    ("{P}", "I"),
    ("{M}", "me"),
)  # in this order: each leaves the later ones nothing to do wrong
_ARTICLE = re.compile(r"^(?:an?|my) ")
_ARTICLE_AFTER_OWNER = re.compile(r"('s|\bmy) (?:the|an?|two|my) ")


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that happened: its name, how it is told, and ways of asking when it was."""

    name: str
    told: str
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Detail:
    """What another asks about a thing, how that is answered, and how it is asked later."""

    ask: str
    answer: str
    values: tuple[str, ...]
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """What people talk about. The head of `frames/topics.toml` explains the fields."""

    name: str
    label: str
    several: tuple[str, ...]
    open: tuple[str, ...]
    task: tuple[str, ...]
    things: tuple[Thing, ...]
    details: tuple[Detail, ...]


def read_topics(name: str) -> list[Topic]:
    """Return the topics of a file."""
    return [_topic(key, table) for key, table in _table(name).items()]


def read_phrases(name: str) -> Phrases:
    """Return the phrases of a file."""
    return _table(name)


def fill(text: str, **words: str) -> str:
    """Put words in their places; places without a word are left as they are."""
    for place, word in words.items():
        text = text.replace("{" + place + "}", word)
    return text


def sentence(text: str) -> str:
    """Return the text with single spaces and a capital at its beginning."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]


def asked_of(question: str, who: str, thing: str = "") -> str:
    """Return a question about somebody."""
    named = fill(question, P=who, M=who, i=_ARTICLE.sub("the ", thing))
    return _ARTICLE_AFTER_OWNER.sub(r"\1 ", named)


def asked_of_me(question: str, thing: str = "") -> str:
    """Return a question as the one it is about would ask it."""
    for places, words in _FIRST_PERSON:
        question = question.replace(places, words)
    return _ARTICLE_AFTER_OWNER.sub(r"\1 ", fill(question, i=_ARTICLE.sub("the ", thing)))


def anyones(thing: str) -> str:
    """Return a thing as somebody would name it whose it is not."""
    return thing.replace("my ", "a ").strip('"')


def _topic(name: str, table: Mapping[str, Any]) -> Topic:
    return Topic(
        name=name,
        label=table["label"],
        several=tuple(table["several"]),
        open=tuple(table["open"]),
        task=tuple(table["task"]),
        things=tuple(Thing(each[0], each[1], tuple(each[2:])) for each in table["things"]),
        details=tuple(_detail(each) for each in table["details"]),
    )


def _detail(table: Mapping[str, Any]) -> Detail:
    return Detail(table["ask"], table["answer"], tuple(table["values"]), tuple(table["asked"]))


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((FRAMES / f"{name}.toml").read_text(encoding="utf-8"))
