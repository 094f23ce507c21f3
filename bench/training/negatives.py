"""Questions without an answer in a store, from easy to hard. By them silence is learned.

- `small` and `task`: small talk, and requests that need no memory;
- `other`: questions of another store as they are;
- `swap`: the hard ones. Questions of another conversation about this one's speakers, or of
  another notebook about a topic that this one knows, where nothing told here answers them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from bench.training.texts import read_phrases
from bench.training.values import Question, Store

SHORT_NAME = 3  # letters; people shorten longer names to them


def negatives(store: Store, others: Sequence[Store], each: int, seed: int) -> list[Question]:
    """Return up to `each` questions of every kind, the same for the same seed."""
    dice = random.Random(f"{seed} {store.name}")
    prompts = read_phrases("prompts")
    kinds = [
        [Question(text, frozenset(), kind) for text in prompts[kind]] for kind in ("small", "task")
    ]
    strangers = [other for other in others if _share_no_speaker(store, other)]
    kinds += [_foreign(store, strangers), _swapped(store, strangers)]
    return [question for found in kinds for question in dice.sample(found, min(each, len(found)))]


def swap_names(text: str, given: Sequence[str], taken: Sequence[str]) -> str:
    """Replace each given name, also shortened, by the one at its place among those taken."""
    for old, new in zip(given, taken, strict=False):
        text = re.sub(rf"\b{re.escape(old)}\b", new, text)
        if len(old) > SHORT_NAME:
            text = re.sub(rf"\b{re.escape(old[:SHORT_NAME])}\b", new, text)
    return text


def _foreign(store: Store, strangers: Sequence[Store]) -> list[Question]:
    """Questions of others; those of another notebook only about topics unknown here."""
    return [
        replace(question, gold=frozenset(), kind="other", space=None)
        for other in strangers
        for question in other.questions
        if question.gold
        and not question.unasked
        and (other.speakers or not (store.speakers or _knows_topic(store, question)))
    ]


def _swapped(store: Store, strangers: Sequence[Store]) -> list[Question]:
    return [
        replace(
            question,
            text=swap_names(question.text, other.speakers, store.speakers),
            gold=frozenset(),
            kind="swap",
        )
        for other in strangers
        for question in other.questions
        if bool(other.speakers) == bool(store.speakers) and _is_near_but_absent(store, question)
    ]


def _is_near_but_absent(store: Store, question: Question) -> bool:
    """Say whether a question fits in here but nothing told here can answer it.

    Of a store that was not invented it is not known what was told: there every question of a
    conversation counts as absent, and none of a notebook.
    """
    if not store.told:
        return bool(store.speakers)
    if question.about is None:
        return False
    if question.about.thing is None:
        return bool(store.speakers) and not _knows_topic(store, question)
    near = bool(store.speakers) or _knows_topic(store, question)
    return near and question.about not in store.told


def _knows_topic(store: Store, question: Question) -> bool:
    return question.about is not None and any(
        about.topic == question.about.topic for about in store.told
    )


def _share_no_speaker(one: Store, other: Store) -> bool:
    return one.name != other.name and not set(one.speakers) & set(other.speakers)
