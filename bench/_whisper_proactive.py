"""ProactiveMemBench: a remark, and what should come to mind.

Nothing is asked for. A trigger names three concepts that somebody who listened would think of;
a memory fits if it carries one of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
from _recall_sets import Draft, Store, memory_id
from _whisper_prompts import OWN, Prompt

from madeleine.index.common.stems import Stemmer


def read_domains(folder: Path) -> list[tuple[Store, list[Prompt]]]:
    """Return a store for each domain, whose memories are the user's turns, and its triggers.
    One whose concepts were never spoken of is left out."""
    stemmer = Stemmer(apsw.Connection(":memory:"), {})
    return [
        _domain(path.parent, stemmer) for path in sorted(folder.glob("*/step4_conversations.json"))
    ]


def _domain(folder: Path, stemmer: Stemmer) -> tuple[Store, list[Prompt]]:
    turns = list(_user_turns(_json(folder / "step4_conversations.json")))
    drafts = {_id(folder.name, turn): _draft(folder.name, turn) for turn in turns}
    carriers = Carriers({_id(folder.name, turn): turn for turn in turns}, stemmer)
    asked = _json(folder / "step5_proactive_questions.json")
    triggers = [_trigger(each, carriers) for each in asked]
    store = Store(f"proactive-{folder.name}", tuple(drafts.values()), ())
    return store, [each for each in triggers if each.gold]


def _user_turns(sessions: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for session in sessions:
        said = (turn for turn in session["turns"] if turn["role"] == "user")
        for place, turn in enumerate(said):
            yield {**turn, "session": session["session_id"], "place": place}


def _draft(domain: str, turn: Mapping[str, Any]) -> Draft:
    session = f"{domain}-s{turn['session']}"
    at = datetime.fromisoformat(turn["timestamp"])
    return {
        "id": _id(domain, turn),
        "content": turn["content"],
        "created": at if at.tzinfo else at.replace(tzinfo=UTC),
        "origin": {"session": session, "turn": turn["place"], "speaker": "user"},
    }


def _trigger(asked: Mapping[str, Any], carriers: Carriers) -> Prompt:
    found = (carriers.of(each["concept"]) for each in asked["candidate_set"])
    concepts = tuple(each for each in found if each)
    return Prompt(asked["question"], OWN, frozenset().union(*concepts), concepts=concepts)


class Carriers:
    """Which turns carry a concept: an entity of theirs contains it or is contained in it, or
    their text holds it, as it is or by its stems."""

    def __init__(self, turns: Mapping[str, Mapping[str, Any]], stemmer: Stemmer) -> None:
        self._stemmer = stemmer
        self._turns = {
            name: (
                [entity.casefold() for entity in turn["mentioned_entities"]],
                turn["content"].casefold(),
                frozenset(stemmer.stems(turn["content"])),
            )
            for name, turn in turns.items()
        }

    def of(self, concept: str) -> frozenset[str]:
        whole, stems = concept.casefold(), frozenset(self._stemmer.stems(concept))
        return frozenset(
            name
            for name, (entities, text, spoken) in self._turns.items()
            if any(whole in entity or entity in whole for entity in entities)
            or whole in text
            or (stems and stems <= spoken)
        )


def _id(domain: str, turn: Mapping[str, Any]) -> str:
    return memory_id("proactive", domain, turn["session"], turn["turn_id"])


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
