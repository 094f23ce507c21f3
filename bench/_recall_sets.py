"""The public data sets, read into stores and questions.

A set is read as its authors publish it; nothing of it stands in this repository. A store is
what one home is to hold, as drafts for `remember_many`; a question names the ids that answer it.
Sets, their sources and their licences: `SOURCES`.
"""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Draft = dict[str, object]

SOURCES = {
    "locomo": "github.com/snap-research/locomo, data/locomo10.json (CC BY-NC 4.0)",
    "beam": "github.com/mohammadtavakoli78/BEAM, chats/100K (no licence stated)",
    "precision": "github.com/tenurehq/precisionMemBench, fixtures (MIT)",
    "ormah": "github.com/r-spade/ormah, eval/whisper/corpus/golden as one .jsonl (MIT)",
}

_SPACE = uuid.UUID("9c0c2f1e-51f0-4d7c-8a57-3f6a0b6f2d11")  # ours, for ids made from names
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_MARKER = re.compile(r"\s*->->[\d,\s]*$")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, the ids that answer it, and its label in the set.

    `options` go to recall as they are. `foreign` are ids that must not come before an answer.
    """

    text: str
    gold: frozenset[str]
    label: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    foreign: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Store:
    """What one home holds, and what is asked of it. `retired` are ids with their successors."""

    name: str
    drafts: tuple[Draft, ...]
    questions: tuple[Question, ...]
    retired: tuple[tuple[str, str], ...] = ()

    @property
    def sessions(self) -> dict[str, str]:
        """The session of each memory that has one."""
        origins = ((str(each["id"]), each.get("origin")) for each in self.drafts)
        return {
            name: str(origin["session"]) for name, origin in origins if isinstance(origin, dict)
        }


def memory_id(*names: object) -> str:
    """Return the id of a thing in a set: the same in every run."""
    return str(uuid.uuid5(_SPACE, "/".join(map(str, names))))


def pooled(stores: Iterable[Store], name: str = "pooled") -> Store:
    """Return one store that holds what all of them hold."""
    given = list(stores)
    return Store(
        name,
        tuple(draft for store in given for draft in store.drafts),
        tuple(question for store in given for question in store.questions),
        tuple(pair for store in given for pair in store.retired),
    )


# -- LoCoMo --------------------------------------------------------------------------------


def read_locomo(path: Path) -> list[Store]:
    """Return a store for each conversation; a memory is a turn, a label is a category."""
    return [_conversation(sample) for sample in _json(path)]


def _conversation(sample: Mapping[str, Any]) -> Store:
    name = str(sample["sample_id"])
    turns = dict(_turns(name, sample["conversation"]))
    questions = (_locomo_question(name, each, turns) for each in sample["qa"])
    asked = tuple(each for each in questions if each.gold)
    return Store(f"locomo-{name}", tuple(turns.values()), asked)


def _turns(name: str, conversation: Mapping[str, Any]) -> Iterator[tuple[str, Draft]]:
    found = (_SESSION.fullmatch(key) for key in conversation)
    for number in sorted(int(each[1]) for each in found if each):
        at = locomo_time(conversation[f"session_{number}_date_time"])
        for place, turn in enumerate(conversation[f"session_{number}"]):
            origin = {"session": f"{name}-s{number}", "turn": place, "speaker": turn["speaker"]}
            yield turn["dia_id"], _draft(name, turn["dia_id"], _said(turn), at, origin)


def _said(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shared image: {caption}]" if caption else str(turn["text"])


def _locomo_question(name: str, asked: Mapping[str, Any], turns: Mapping[str, Draft]) -> Question:
    known = (each for each in evidence_ids(asked["evidence"]) if each in turns)
    gold = frozenset(str(turns[each]["id"]) for each in known)
    return Question(asked["question"], gold, str(asked["category"]))


def evidence_ids(cited: Iterable[str]) -> list[str]:
    """Return the turns that are cited: some places cite two at once, or misspell one."""
    found = (f"D{each[1]}:{each[2]}" for text in cited for each in _EVIDENCE.finditer(text))
    return list(dict.fromkeys(found))


def locomo_time(text: str) -> datetime:
    """Return the moment that `1:56 pm on 8 May, 2023` names."""
    return datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


# -- BEAM ----------------------------------------------------------------------------------


USER = {"speaker": "user"}


def read_beam(folder: Path) -> list[Store]:
    """Return a store for each chat; a memory is a user message, a label is an ability."""
    chats = sorted(folder.glob("*/chat.json"), key=lambda path: _number(path.parent.name))
    return [_chat(path.parent) for path in chats]


def _chat(folder: Path) -> Store:
    drafts, owners = _messages(folder.name, _json(folder / "chat.json"))
    questions = (
        _beam_question(each, ability, owners)
        for ability, asked in _json(folder / "probing_questions.json").items()
        for each in asked
    )
    return Store(f"beam-{folder.name}", drafts, tuple(each for each in questions if each.gold))


def _messages(
    name: str, batches: Sequence[Mapping[str, Any]]
) -> tuple[tuple[Draft, ...], dict[int, str]]:
    """Return the user's messages, and for the id of every message the memory it counts for:
    an answer counts for what was asked before it."""
    drafts: list[Draft] = []
    owners: dict[int, str] = {}
    exchanges: Counter[int] = Counter()  # so far, by batch; a turn is one exchange
    for message, batch, at in _in_order(batches):
        if message["role"] == "user":
            text = _MARKER.sub("", message["content"]).strip()
            place = {"session": f"{name}-b{batch}", "turn": exchanges[batch]}
            drafts.append(_draft(f"beam-{name}", message["id"], text, at, place | USER))
            exchanges[batch] += 1
        if drafts:
            owners[message["id"]] = str(drafts[-1]["id"])
    return tuple(drafts), owners


def _in_order(
    batches: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[Mapping[str, Any], int, datetime | None]]:
    """Yield each message with its batch and the last date that was named."""
    at: datetime | None = None
    for number, batch in enumerate(batches):
        at = beam_time(batch.get("time_anchor")) or at
        for message in (each for turn in batch["turns"] for each in turn):
            at = beam_time(message.get("time_anchor")) or at
            yield message, number, at


def _beam_question(asked: Mapping[str, Any], ability: str, owners: Mapping[int, str]) -> Question:
    cited = (each for each in _numbers(asked.get("source_chat_ids", [])) if each in owners)
    return Question(asked["question"], frozenset(owners[each] for each in cited), ability)


def beam_time(text: str | None) -> datetime | None:
    """Return the day that `March-15-2024` names."""
    return datetime.strptime(text, "%B-%d-%Y").replace(tzinfo=UTC) if text else None


def _numbers(value: object) -> Iterator[int]:
    """Yield the message ids in a list, or in a dict of lists."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, str) and value.isdigit():
        yield int(value)
    elif isinstance(value, Mapping):
        yield from _numbers(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(each)


def _number(name: str) -> tuple[int, str]:
    return (int(name) if name.isdigit() else 0, name)


# -- PrecisionMemBench ---------------------------------------------------------------------

BELIEF_TYPES = {"preference": "preference", "decision": "decision", "entity": "concept"}
UNIVERSAL = "user:universal"  # the scope that holds everywhere
USUAL_USER = "test-user"  # whose beliefs a case is about when it does not say


def read_precision(folder: Path) -> list[Store]:
    """Return a store for each user; a memory is a belief, its scope its space.

    A case's question may be answered from its scope and from what holds everywhere. Foreign are
    the beliefs it excludes, those of other scopes and those that are no longer true.
    """
    beliefs = _json(folder / "beliefs.seed.json")
    cases = [each for path in sorted(folder.glob("retrieval.cases*.json")) for each in _json(path)]
    users = sorted({each["user_id"] for each in beliefs})
    return [_believer(user, beliefs, cases) for user in users]


def _believer(
    user: str, beliefs: Iterable[Mapping[str, Any]], cases: Iterable[Mapping[str, Any]]
) -> Store:
    own = {each["_id"]: each for each in beliefs if each["user_id"] == user}
    asked = (_case(each, own) for each in cases if each.get("userId", USUAL_USER) == user)
    return Store(
        f"precision-{user}",
        tuple(_belief(each) for each in own.values()),
        tuple(each for each in asked if each.gold),
        tuple(
            (memory_id("precision", each["_id"]), memory_id("precision", each["superseded_by"]))
            for each in own.values()
            if each.get("superseded_by") in own
        ),
    )


def _belief(belief: Mapping[str, Any]) -> Draft:
    draft: Draft = {
        "id": memory_id("precision", belief["_id"]),
        "title": belief["canonical_name"],
        "content": belief["content"],
        "type": BELIEF_TYPES.get(belief["type"], "fact"),
        "tags": belief.get("aliases") or [],
        "space": _scope(belief),
        "created": belief["created_at"],
    }
    return draft | ({"valid_until": belief["resolved_at"]} if belief.get("resolved_at") else {})


def _scope(belief: Mapping[str, Any]) -> str | None:
    scopes = belief.get("scope") or [UNIVERSAL]
    return None if UNIVERSAL in scopes else str(scopes[0])


def _case(case: Mapping[str, Any], own: Mapping[str, Mapping[str, Any]]) -> Question:
    expected = case["expect"].get("relevantBeliefs") or {}
    gold = [each for each in expected.get("shouldOnlyInclude") or [] if each in own]
    scopes = case.get("scope") or []
    excluded = {*(expected.get("mustExclude") or ()), *_outside(own, scopes)}.difference(gold)
    return Question(
        case["query"],
        frozenset(memory_id("precision", each) for each in gold),
        case["category"],
        {"spaces": ["global", *scopes]},
        frozenset(memory_id("precision", each) for each in excluded),
    )


def _outside(own: Mapping[str, Mapping[str, Any]], scopes: Sequence[str]) -> Iterator[str]:
    """Yield the beliefs that are of no concern in these scopes, or no longer true."""
    for name, belief in own.items():
        over = belief.get("superseded_by") or belief.get("resolved_at")
        if over or _scope(belief) not in (None, *scopes):
            yield name


# -- ormah ---------------------------------------------------------------------------------


def read_ormah(path: Path) -> list[Store]:
    """Return one store that holds the memories of all golden cases."""
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    drafts = {each["node_id"]: _golden(each) for case in cases for each in case["memories"]}
    prompts = ((prompt, case) for case in cases for prompt in case["prompts"])
    asked = (_prompt(prompt, case.get("space")) for prompt, case in prompts)
    return [Store("ormah", tuple(drafts.values()), tuple(each for each in asked if each.gold))]


def _golden(memory: Mapping[str, Any]) -> Draft:
    kept = ("title", "content", "type", "tier", "tags", "space")
    given = {name: memory[name] for name in kept if name in memory}
    return {"id": memory_id("ormah", memory["node_id"]), **given}


def _prompt(prompt: Mapping[str, Any], space: str | None) -> Question:
    gold = prompt["expected"].get("should_inject") or []
    ids = frozenset(memory_id("ormah", each) for each in gold)
    return Question(prompt["text"], ids, prompt.get("category", ""), {"space": space})


# -- shared --------------------------------------------------------------------------------


def _draft(
    store: str, name: object, text: str, at: datetime | None, origin: dict[str, object]
) -> Draft:
    draft: Draft = {"id": memory_id(store, name), "content": text, "origin": origin}
    return draft | ({"created": at} if at else {})


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
