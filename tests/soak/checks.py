"""What is looked at after every restart."""

from __future__ import annotations

import operator
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from madeleine.api.local import open_local
from madeleine.model.event import Event, EventKind
from madeleine.model.words import SELF_SOURCE
from madeleine.vault.journal import FileJournal
from tests.soak.client import Client
from tests.soak.model import Vaulted, Wrong

PAGE = 1_000
LAST_DIGIT = 1.5e-4  # scores are shown with four digits
SAMPLED = 25  # memories that are looked at one by one
OWN_USE = ("access_count", "last_accessed", "last_review", "stability", "importance")


class Door(Protocol):
    def call(
        self,
        name: str,
        id: str | None = None,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        by: str = "soak",
    ) -> dict[str, Any]: ...


def check_files(home: Path, clients: Sequence[Client], shared: Mapping[str, bytes]) -> Vaulted:
    """Every acknowledged write is there whole, what was under way whole or not at all, and
    nothing else is there."""
    vaulted = Vaulted.read(home / "vault")
    for client in clients:
        client.settle(vaulted)
    _check_shared(vaulted, clients, shared)
    known = {*shared, clients[0].contended, *(each for c in clients for each in c.kept)}
    more = [each for each in vaulted.files.values() if each.id not in known]
    strangers = [each for each in more if each.memory.source != SELF_SOURCE]
    if strangers or len(more) > 1:
        raise Wrong(f"nobody wrote these: {strangers or more}")
    return vaulted


def _check_shared(vaulted: Vaulted, clients: Sequence[Client], shared: Mapping[str, bytes]) -> None:
    for memory_id, data in shared.items():
        if vaulted.files[memory_id].data != data:
            raise Wrong(f"a shared memory changed: {vaulted.files[memory_id]}")
    content = vaulted.files[clients[0].contended].says.content
    if not any(content in each.attempts for each in clients):
        raise Wrong(f"nobody revised the contended memory to say {content!r}")


def check_journal(home: Path) -> int:
    """Every change has an outcome, and what an undo took back is marked so; returns how many
    lines a kill tore."""
    changes: dict[str, Event] = {}
    marks: list[Event] = []
    torn = 0
    for chunk in FileJournal(home / "journal", "soak").read({}):
        torn += len(chunk.problems)
        for event in chunk.events:
            if event.kind is EventKind.CHANGED:
                changes[str(event.body["change"])] = event
            elif event.kind is EventKind.SETTLED:
                marks.append(event)
    marks.sort(key=lambda each: (each.at, each.id))  # the last word counts
    outcomes = {str(each.body["change"]): str(each.body["outcome"]) for each in marks}
    unsettled = changes.keys() - outcomes.keys()
    if unsettled:
        raise Wrong(f"changes without an outcome: {[changes[each].body for each in unsettled]}")
    for change, event in changes.items():
        if event.body["verb"] == "undo" and outcomes[change] == "done":
            _check_undone(event, outcomes)
    return torn


def _check_undone(event: Event, outcomes: Mapping[str, str]) -> None:
    details = event.body["details"]
    assert isinstance(details, dict)
    wrong = [each for each in details["undoes"] if outcomes.get(each) != "undone"]
    if wrong:
        raise Wrong(f"undone by {event.body['change']}, and yet {outcomes.get(wrong[0])}: {wrong}")


def check_index(
    home: Path, door: Door, vaulted: Vaulted, dice: random.Random, beside: Path
) -> None:
    """The index answers as one made from nothing, in a copy of the home."""
    _check_status(door)
    ids = sorted(vaulted.files)
    sample = dice.sample(ids, min(SAMPLED, len(ids)))
    _copy(home, beside, with_vectors=dice.random() < 0.5)
    found = _answers(door, vaulted, sample)
    fresh = open_local(beside, 10.0)
    try:
        wanted = _answers(fresh, vaulted, sample)
    finally:
        fresh.close()
    shutil.rmtree(beside)
    listed = {each["id"]: each for each in found["list"]}
    live = {each.id for each in vaulted.files.values() if each.live}
    if listed.keys() != live:
        raise Wrong(f"listed and not there, or there and not listed: {listed.keys() ^ live}")
    for name, answer in found.items():
        same = _alike if name == "recall" else operator.eq
        if not same(answer, wanted[name]):
            raise Wrong(f"{name} differs from a rebuild: {_difference(answer, wanted[name])}")


def _check_status(door: Door) -> None:
    status = door.call("status")
    if status["unreadable"] or status["daemon"]["failures"]:
        raise Wrong(f"status: {status}")
    failing = [each for each in status["daemon"]["loops"] if each["failures"]]
    if failing:
        raise Wrong(f"status: {failing}")


def _copy(home: Path, beside: Path, with_vectors: bool) -> None:
    for name in ("vault", "journal"):
        shutil.copytree(home / name, beside / name)
    if with_vectors:
        for path in home.glob("embeddings.db*"):
            shutil.copy2(path, beside / path.name)


def _answers(door: Door, vaulted: Vaulted, sample: Sequence[str]) -> dict[str, Any]:
    """Ask everything that answers from the index. What counts as a use comes last."""
    live = [each for each in sample if vaulted.files[each].live]
    return {
        "list": _all(door),
        "counts": door.call("status")["counts"],
        "history": {each: door.call("history", id=each)["events"] for each in sample},
        "merges": door.call("merges")["merges"],
        "audit": door.call("audit")["events"],
        "trash": sorted(each["path"] for each in door.call("trash")["memories"]),
        "show": {each: _shown(door.call("show", id=each)) for each in live},
        "recall": {each: _recalled(door, vaulted, each) for each in live[:8]},
    }


def _all(door: Door) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while True:
        query = {"outdated": True, "limit": PAGE, "offset": len(found)}
        page = door.call("list", query=query)["memories"]
        found += page
        if len(page) < PAGE:
            return found


def _shown(answer: dict[str, Any]) -> dict[str, Any]:
    neighbours = sorted(each["id"] for each in answer["neighbours"])
    links = sorted(str(each) for each in answer["connections"])
    memory = {name: value for name, value in answer["memory"].items() if name not in OWN_USE}
    return {"memory": memory, "path": answer["path"], "links": links, "neighbours": neighbours}


def _recalled(door: Door, vaulted: Vaulted, memory_id: str) -> list[tuple[str, float]]:
    words = vaulted.files[memory_id].says.content[:100]
    body = {"query": words, "limit": 20, "outdated": True}
    found = door.call("recall", body=body)["results"]
    return [(each["memory"]["id"], each["score"]) for each in found]


Ranking = Sequence[tuple[str, float]]


def _alike(one: Mapping[str, Ranking], other: Mapping[str, Ranking]) -> bool:
    """Whether two recalls say the same. Time passes between them, and what was used recently
    is less recent then: a score may differ in its last digit, and two that tie change places."""
    return all(_same_ranking(mine, other[asked]) for asked, mine in one.items())


def _same_ranking(mine: Ranking, theirs: Ranking) -> bool:
    last = mine[-1][1] if mine else 0.0  # who ties with it may be left out
    there = dict(theirs)
    return len(mine) == len(theirs) and all(
        abs(score - there.get(memory, last)) <= LAST_DIGIT for memory, score in mine
    )


def _difference(one: Any, other: Any) -> str:
    """Say where two answers differ, without all that they share."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [key for key in {*one, *other} if one.get(key) != other.get(key)]
        return "; ".join(f"{key}: {_difference(one.get(key), other.get(key))}" for key in keys[:3])
    if isinstance(one, list) and isinstance(other, list):
        pairs = [(a, b) for a, b in zip(one, other, strict=False) if a != b]
        inside = _difference(*pairs[0]) if pairs else "one is longer"
        return f"{len(one)} and {len(other)} entries, {inside}"
    return f"{one!r} and {other!r}"
