"""Invented pairs of statements, each with what the two are to each other.

Every kind of pair has its look-alikes: a changed number beside a number of another thing, a
denial beside a wish, a new value beside a value of another subject. `frames/judging.toml` holds
the words. A pair's *group* is what it is about, so that weights can be tried on groups that they
were not learnt from.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.training.texts import FRAMES
from madeleine.model.verdict import Relation

SEED = 20
EACH = 40  # pairs of each kind and group

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September")

Frames = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """Two statements, the older first, and the truth about them."""

    older: str
    newer: str
    relation: Relation
    kind: str
    group: str


def made(seed: int = SEED, each: int = EACH) -> list[Made]:
    """Return all pairs; the same seed gives the same ones."""
    frames = tomllib.loads((FRAMES / "judging.toml").read_text(encoding="utf-8"))
    pairs = [*_notes(frames, seed, each), *_talks(frames, seed, each)]
    return [pair for pair in pairs if pair.older != pair.newer or pair.kind == "copy"]


def _dice(*name: object) -> random.Random:
    """Return dice of one kind of pair: a kind more does not change the others."""
    return random.Random(" ".join(map(str, name)))


# -- notes: one sentence each -----------------------------------------------------------------


def _notes(frames: Frames, seed: int, each: int) -> Iterator[Made]:
    for group, attribute in frames["attributes"].items():
        for place, kind in enumerate(_ATTRIBUTE_KINDS):
            dice = _dice(seed, group, kind, place)
            for _ in range(max(1, each // 6)):
                yield _of_attribute(frames, dice, group, attribute, kind)
    for group, number in frames["numbers"].items():
        for place, kind in enumerate(_NUMBER_KINDS):
            dice = _dice(seed, group, kind, place)
            for _ in range(max(1, each // 6)):
                yield _of_number(frames, dice, group, number, kind)
    for pair in frames["facts"]["pairs"]:
        for kind in ("denied", "agreed", "unrelated denial"):
            dice = _dice(seed, pair[0], kind)
            for _ in range(max(1, each // 20)):
                yield _of_fact(frames, dice, pair, kind)


_ATTRIBUTE_KINDS = (
    *("changed", "changed", "restated value", "same", "copy", "detail", "other attribute"),
    *("other subject", "nothing in common", "confirmed"),
)


def _of_attribute(
    frames: Frames, dice: random.Random, group: str, attribute: Frames, kind: str
) -> Made:
    here, there = _two(dice, frames["people" if "{P}" in attribute["say"][0] else "subjects"])
    old, new = _two(dice, [value for value in attribute["values"] if value not in (here, there)])
    given = {"S": here, "P": here, "v": old, "w": new}
    first, again = _two(dice, attribute["say"])
    told = _said(first, given)
    match kind:
        case "changed":
            return Made(told, _said(dice.choice(attribute["change"]), given), _EVOLVES, kind, group)
        case "restated value":
            return Made(told, _said(first, given | {"v": new}), _EVOLVES, kind, group)
        case "same":
            return Made(told, _said(again, given), Relation.DUPLICATE, kind, group)
        case "copy":
            return Made(told, _retold(dice, told), Relation.DUPLICATE, kind, group)
        case "confirmed":
            said = _said(dice.choice(attribute["change"]), given)
            now = _said(again, given | {"v": new})
            return Made(said, now, Relation.RELATED_TO, kind, group)
        case "detail":
            longer = f"{told}. {dice.choice(frames['others']['detail'])}"
            longer = f"{longer} {_other(frames, dice, here, attribute)}."
            return Made(told, longer, Relation.RELATED_TO, kind, group)
        case "other attribute":
            return Made(told, _other(frames, dice, here, attribute), _RELATED, kind, group)
        case "other subject":
            text = dice.choice([*attribute["say"], *attribute["change"]])
            return Made(told, _said(text, given | {"S": there, "P": there}), _NONE, kind, group)
        case _:
            return Made(told, _other(frames, dice, there, attribute), _NONE, kind, group)


_EVOLVES, _RELATED, _NONE = Relation.EVOLUTION, Relation.RELATED_TO, Relation.NONE


def _other(frames: Frames, dice: random.Random, subject: str, attribute: Frames) -> str:
    """Return something else that may be said of a subject."""
    person = "{P}" in attribute["say"][0]
    if dice.random() < 0.5:
        others = frames["others"]["person" if person else "subject"]
        return _said(dice.choice(others), {"S": subject, "P": subject})
    like = [
        other
        for other in frames["attributes"].values()
        if other is not attribute and ("{P}" in other["say"][0]) == person
    ]
    chosen = dice.choice(like) if like else attribute
    new, old = _two(dice, [value for value in chosen["values"] if value != subject])
    text = dice.choice([*chosen["say"], *chosen["change"]])
    return _said(text, {"S": subject, "P": subject, "v": old, "w": new})


_NUMBER_KINDS = (
    *("changed", "changed", "restated", "same", "other number", "other subject", "copy"),
    "other attribute",
)


def _of_number(frames: Frames, dice: random.Random, group: str, number: Frames, kind: str) -> Made:
    here, there = _two(dice, frames["subjects"])
    low, high = number["range"]
    old, new = _two(dice, range(low, high))
    was = {"S": here, "n": str(old), "d": _date(dice)}
    now = {"S": here, "n": str(new), "d": _date(dice, but=was["d"])}
    first, again = _two(dice, number["say"])
    told = _said(first, was)
    match kind:
        case "changed":
            return Made(told, _said(dice.choice(number["change"]), now), _EVOLVES, kind, group)
        case "restated":
            return Made(told, _said(dice.choice(number["say"]), now), _EVOLVES, kind, group)
        case "same":
            return Made(told, _said(again, was), Relation.DUPLICATE, kind, group)
        case "copy":
            return Made(told, _retold(dice, told), Relation.DUPLICATE, kind, group)
        case "other number":
            rest = [each for name, each in frames["numbers"].items() if name != group]
            return Made(
                told, _said(dice.choice(_ways(dice.choice(rest))), now), _RELATED, kind, group
            )
        case "other attribute":
            chosen = dice.choice(frames["others"]["subject"])
            return Made(told, _said(chosen, now), _RELATED, kind, group)
        case _:
            text = dice.choice(_ways(number))
            return Made(told, _said(text, now | {"S": there}), _NONE, kind, group)


def _ways(frame: Frames) -> list[str]:
    return [*frame["say"], *frame["change"]]


def _of_fact(frames: Frames, dice: random.Random, pair: Sequence[str], kind: str) -> Made:
    here = dice.choice(frames["people" if "{P}" in pair[0] else "subjects"])
    given = {"S": here, "P": here}
    said, denied = (_said(text, given) for text in pair)
    group = f"fact {pair[0]}"
    if kind == "denied":
        both = [said, denied]
        dice.shuffle(both)
        return Made(both[0], both[1], Relation.TENSION, kind, group)
    if kind == "agreed":
        chosen = dice.choice([said, denied])
        return Made(chosen, _retold(dice, chosen), Relation.DUPLICATE, kind, group)
    other = _said(dice.choice(dice.choice(frames["facts"]["pairs"])), given)
    if other in (said, denied):
        return Made(other, _retold(dice, other), Relation.DUPLICATE, kind, group)
    about_same = here in other and here in said
    return Made(said, other, _RELATED if about_same else _NONE, kind, group)


def _retold(dice: random.Random, text: str) -> str:
    """Return a text in other spelling, saying the very same."""
    ways: list[Callable[[str], str]] = [
        lambda said: f"{said}.",
        lambda said: said[0].lower() + said[1:],
        lambda said: f"Note: {said}",
        lambda said: said.replace(" is ", "'s ") if " is " in said else f"{said}!",
        lambda said: said.replace("The ", "the ", 1) + ".",
        lambda said: f"  {said} ",
        lambda said: said.replace("The ", "A ", 1) if said.startswith("The ") else f"{said}.",
        lambda said: f"So {said[0].lower()}{said[1:]}.",
    ]
    return dice.choice(ways)(text)


# -- talk: messages to an assistant, in which a statement stands ------------------------------


def _talks(frames: Frames, seed: int, each: int) -> Iterator[Made]:
    for plain in frames["topics"]:
        topic = plain | {"talk": frames["talk"]}
        others = [other for other in frames["topics"] if other is not plain]
        for kind, make in _TALK_KINDS.items():
            dice = _dice(seed, topic["t"], kind)
            for _ in range(each // (2 if kind in _COMMON else 4)):
                older, newer, relation = make(dice, topic, dice.choice(others))
                yield Made(
                    _message(frames, dice, topic, older),
                    _message(frames, dice, topic, newer),
                    *(relation, f"talk: {kind}", topic["t"]),
                )


def _message(frames: Frames, dice: random.Random, topic: Frames, said: str) -> str:
    """Return a message that holds a statement somewhere, with other things around it."""
    talk = frames["talk"]
    parts = [_said(dice.choice(talk["open"]), {"t": topic["t"]})] if dice.random() < 0.75 else []
    parts += dice.sample([*talk["filler"], *topic["plain"]], dice.choice([0, 0, 1, 1, 2, 3, 4, 5]))
    parts.insert(dice.randint(0, len(parts)), said) if said else None
    if dice.random() < 0.7:
        parts.append(dice.choice(talk["ask"]))
    joined = _join(dice, parts)
    return joined[0].upper() + joined[1:]


def _join(dice: random.Random, parts: Sequence[str]) -> str:
    text = parts[0] if parts else "What do you think?"
    for part in parts[1:]:
        joint = dice.choice([", and ", ", but ", ", so ", ". ", ", ", ". "])
        text += joint + (part[0].upper() + part[1:] if joint == ". " else part)
    return text


Talk = tuple[str, str, Relation]


def _number_changed(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    states, updates, (low, high) = dice.choice(topic["counted"])
    old, new = _two(dice, range(low, high))
    changed = dice.choice(updates if dice.random() < 0.8 else states)
    return _n(dice.choice(states), old), _n(changed, new), _EVOLVES


def _number_told(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    thing, value = topic["things"][place := dice.randrange(len(topic["things"]))]
    states, updates, (low, high) = topic["counted"][place]
    old, new = _two(dice, range(low, high))
    was = [*states, *(_about(text, thing, value, dice) for text in topic["talk"]["status"])]
    now = [*updates, *(_about(text, thing, value, dice) for text in topic["talk"]["news"])]
    return _n(dice.choice(was), old), _n(dice.choice(now), new), _EVOLVES


def _told_elsewhere(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    (one, value), (two, other) = _two(dice, topic["things"])
    ways = [*topic["talk"]["status"], *topic["talk"]["news"]]
    first = _about(dice.choice(topic["talk"]["status"]), one, value, dice)
    second = _about(dice.choice(ways), two, other, dice)
    return _n(first, dice.randrange(5, 90)), _n(second, dice.randrange(5, 90)), _RELATED


def _about(text: str, thing: str, value: str, dice: random.Random) -> str:
    return _d(text.replace("{x}", thing).replace("{v}", value), _date(dice))


def _asked_with_numbers(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    text = dice.choice(topic["talk"]["questions"])
    first, second = (_m(text, dice) for _ in range(2))
    return first, second, _RELATED


def _asked_and_told(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    states, updates, (low, high) = dice.choice(topic["counted"])
    both = [
        _m(dice.choice(topic["talk"]["questions"]), dice),
        _n(dice.choice(states + updates), dice.randrange(low, high)),
    ]
    dice.shuffle(both)
    return both[0], both[1], _RELATED


def _other_event(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    texts = _two(dice, topic["talk"]["events"])
    one, two = (_d(text.replace("{N}", topic["name"]), _date(dice)) for text in texts)
    return one, two, _RELATED


def _named_elsewhere(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    met = _d(dice.choice(topic["talk"]["met"]).replace("{N}", topic["name"]), _date(dice))
    both = [met, dice.choice(dice.choice(topic["done"])[1])]
    dice.shuffle(both)
    return both[0], both[1], _RELATED


def _number_same(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    states, updates, (low, high) = dice.choice(topic["counted"])
    value = dice.randrange(low, high)
    return _n(dice.choice(states), value), _n(dice.choice(states + updates), value), _RELATED


def _number_elsewhere(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    one, two = _two(dice, topic["counted"])
    first = _n(dice.choice(one[0]), dice.randrange(*one[2]))
    second = _n(dice.choice([*two[0], *two[1]]), dice.randrange(*two[2]))
    return first, second, _RELATED


def _number_twin(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    place = dice.randrange(len(topic["counted"]))
    states, updates, (low, high) = topic["counted"][place]
    twin = dice.choice(topic["twins"])
    both = [
        _n(dice.choice(states + updates), dice.randrange(low, high)),
        _n(twin, dice.randrange(low, high)),
    ]
    dice.shuffle(both)
    return both[0], both[1], _RELATED


def _number_aimed(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    place = dice.randrange(len(topic["counted"]))
    states, updates, (low, high) = topic["counted"][place]
    so = _n(dice.choice(states + updates), dice.randrange(low, high))
    wished = _n(dice.choice(topic["aim"]), dice.randrange(low, high))
    return (so, wished, _RELATED) if dice.random() < 0.5 else (wished, so, _RELATED)


def _date_changed(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    states, updates = dice.choice(topic["dated"])
    old = _date(dice)
    new = _date(dice, but=old)
    return _d(dice.choice(states), old), _d(dice.choice(updates), new), _EVOLVES


def _date_elsewhere(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    states, updates = dice.choice(topic["dated"])
    done = [text for said, _denied in topic["done"] for text in said if "{d}" in text]
    other = dice.choice(done or ["I made a note on {d}"])
    both = [_d(dice.choice([*states, *updates]), _date(dice)), _d(other, _date(dice))]
    dice.shuffle(both)
    return both[0], both[1], _RELATED


def _done_denied(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    said, denied = dice.choice(topic["done"])
    both = [_d(dice.choice(said), _date(dice)), dice.choice(denied)]
    if dice.random() < 0.25:
        both.reverse()
    return both[0], both[1], Relation.TENSION


def _loosely_denied(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    said, denied = topic["loosely"]
    both = [_d(dice.choice(said), _date(dice)), dice.choice(denied)]
    if dice.random() < 0.25:
        both.reverse()
    return both[0], both[1], Relation.TENSION


def _other_denied(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    one, two = _two(dice, topic["done"])
    both = [_d(dice.choice(one[0]), _date(dice)), dice.choice(two[1])]
    dice.shuffle(both)
    return both[0], both[1], _RELATED


def _wish_denied(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    _said_so, denied = dice.choice(topic["done"])
    both = [dice.choice(topic["wished"]), dice.choice(denied)]
    dice.shuffle(both)
    return both[0], both[1], _RELATED


def _both_denied(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    _said_so, denied = dice.choice(topic["done"])
    return denied[0], denied[1], _RELATED


def _both_done(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    said, _denied = dice.choice(topic["done"])
    return _d(said[0], _date(dice)), _d(said[1], _date(dice)), _RELATED


def _number_and_denial(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    states, updates, (low, high) = dice.choice(topic["counted"])
    both = [
        _n(dice.choice(states + updates), dice.randrange(low, high)),
        dice.choice(dice.choice(topic["done"])[1]),
    ]
    dice.shuffle(both)
    return both[0], both[1], _RELATED


def _plain(dice: random.Random, topic: Frames, _: Frames) -> Talk:
    one, two = _two(dice, topic["plain"])
    return one, two, _RELATED


def _foreign(dice: random.Random, topic: Frames, other: Frames) -> Talk:
    first = dice.choice([*topic["plain"], *topic["wished"]])
    states, updates, (low, high) = dice.choice(other["counted"])
    denied = dice.choice(dice.choice(other["done"])[1])
    return first, dice.choice([denied, _n(dice.choice(states + updates), low + high // 3)]), _NONE


_TALK_KINDS: dict[str, Callable[[random.Random, Frames, Frames], Talk]] = {
    "number changed": _number_changed,
    "number told": _number_told,
    "number told of another": _told_elsewhere,
    "somebody named": _named_elsewhere,
    "asked with numbers": _asked_with_numbers,
    "asked and told": _asked_and_told,
    "another event": _other_event,
    "number the same": _number_same,
    "number of another thing": _number_elsewhere,
    "number of a like thing": _number_twin,
    "number wished for": _number_aimed,
    "date changed": _date_changed,
    "date of another thing": _date_elsewhere,
    "done and denied": _done_denied,
    "loosely denied": _loosely_denied,
    "another thing denied": _other_denied,
    "wished and denied": _wish_denied,
    "both denied": _both_denied,
    "both done": _both_done,
    "number and denial": _number_and_denial,
    "nothing stated": _plain,
    "foreign": _foreign,
}
_COMMON = frozenset(
    {"number changed", "number told", "done and denied", "loosely denied", "number of a like thing"}
)


# -- words ------------------------------------------------------------------------------------


def _two(dice: random.Random, some: Sequence[Any]) -> tuple[Any, Any]:
    one, two = dice.sample(some, 2)
    return one, two


def _said(text: str, given: Mapping[str, str]) -> str:
    for name, value in given.items():
        text = text.replace("{" + name + "}", value)
    return text[0].upper() + text[1:]


def _n(text: str, value: int) -> str:
    return text.replace("{n}", f"{value:,}" if value >= 1000 else str(value))


def _m(text: str, dice: random.Random) -> str:
    return text.replace("{n}", str(dice.randint(2, 60))).replace("{m}", str(dice.randint(2, 60)))


def _d(text: str, date: str) -> str:
    return text.replace("{d}", date)


def _date(dice: random.Random, but: str = "") -> str:
    while True:
        found = f"{dice.choice(MONTHS)} {dice.randint(1, 28)}" + dice.choice(["", ", 2025"])
        if not but or found.partition(",")[0] != but.partition(",")[0]:
            return found
