"""Whole nights with a language model as judge, which here is an HTTP server that says what a person
would: what the guide promises, seen in the files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from madeleine import Madeleine
from madeleine.model.memory import Memory
from tests.minds.test_judge_remote import document, saying
from tests.minds.test_remote import Script
from tests.server.running import running

CHOSE, USES = "Chose SQLite for Ormah", "Ormah uses SQLite"
CELERY = "We use Celery for background jobs because the team knows it"
ARQ = "Switched background jobs from Celery to Arq because it is async and small"
ARQ_NOW = "Background jobs run on Arq now"
MORNING, AFTERNOON = "Meetings are best in the morning", "Meetings are best in the afternoon"


@dataclass
class Model:
    """Says what two texts are to each other, by what stands in them."""

    says: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def between(self, older: str, newer: str, relation: str, **more: Any) -> None:
        self.says[older, newer] = {"relation": relation, "sure": 0.98, "reason": "so it is"} | more

    def __call__(self, listener: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        given = document(asked)
        if "pairs" not in given:
            return saying(json.dumps({"title": "", "content": ""}))(listener, asked)
        verdicts = [{"pair": each["pair"], **self._verdict(each)} for each in given["pairs"]]
        return saying(json.dumps({"verdicts": verdicts}))(listener, asked)

    def _verdict(self, pair: dict[str, Any]) -> dict[str, Any]:
        texts = pair["older"]["content"], pair["newer"]["content"]
        none = {"relation": "none", "sure": 0.98, "reason": "nothing"}
        for (older, newer), verdict in self.says.items():
            if older in texts[0] and newer in texts[1]:
                return verdict
        return none


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    script, made = Script(), Model()
    script.replies = [made]
    script.thread.start()
    for name, value in (("KIND", "llm"), ("URL", script.url), ("MODEL", "little-model")):
        monkeypatch.setenv(f"MADELEINE_JUDGE_{name}", value)
    yield made
    script.close()


@dataclass(frozen=True)
class Store:
    """A home with notes, and what is in it after nights."""

    m: Madeleine
    ids: dict[str, str]

    def get(self, text: str) -> Memory:
        return self.m.show(self.ids[text]).memory

    def live(self) -> set[str]:
        return {each.content for each in self.m.list(limit=50) if each.valid_until is None}

    def edges(self, text: str) -> set[tuple[str, str, float, str | None]]:
        names = {value: key for key, value in self.ids.items()}
        return {
            (each.edge.value, names.get(each.target, each.target), each.weight, each.by)
            for each in self.get(text).connections
            if each.by != "remember"
        }


@pytest.fixture
def store(tmp_path: Path, model: Model) -> Iterator[Callable[..., Store]]:
    with Madeleine.open(tmp_path / "home", in_process=True) as m:

        def made(*texts: str, **fields: Any) -> Store:
            ids = {}
            for month, text in enumerate(texts, 1):
                at = f"2026-{month:02}-01T10:00:00Z"
                ids[text] = m.remember(text, created=at, **fields).id
            return Store(m, ids)

        yield made


def test_two_that_say_the_same_are_one_memory_with_the_wording_of_both(
    model: Model, store: Callable[..., Store]
) -> None:
    found = store(CHOSE, USES)
    model.between(CHOSE, USES, "duplicate", title="SQLite", content=f"{CHOSE}: Ormah uses SQLite.")

    found.m.sleep()

    (left,) = found.m.list()
    assert left.id == found.ids[CHOSE]  # of one tier, and longer
    assert left.content == "Chose SQLite for Ormah: Ormah uses SQLite."


def test_without_a_wording_of_both_what_only_one_says_is_added(
    model: Model, store: Callable[..., Store]
) -> None:
    found = store(CHOSE, USES)
    model.between(CHOSE, USES, "duplicate")

    found.m.sleep()

    (left,) = found.m.list()
    assert left.id == found.ids[CHOSE]
    assert left.content == f"{CHOSE}\n\n{USES}"


def test_a_decision_and_a_fact_that_say_the_same_are_asked_about(
    model: Model, store: Callable[..., Store]
) -> None:
    found = store(CHOSE, type="decision")
    found.ids[USES] = found.m.remember(USES, type="fact").id
    model.between(CHOSE, USES, "duplicate")

    found.m.sleep()

    (asked,) = found.m.proposals()
    assert asked.type.value == "merge"
    found.m.decide(asked.id, "approved")
    (left,) = found.m.list()
    assert (left.id, left.type.value) == (found.ids[CHOSE], "decision")


def test_a_chain_of_changes_is_settled_to_its_end(
    model: Model, store: Callable[..., Store]
) -> None:
    found = store(CELERY, ARQ, ARQ_NOW)
    model.between(CELERY, ARQ, "evolution")
    model.between(CELERY, ARQ_NOW, "evolution")
    model.between(ARQ, ARQ_NOW, "related_to")

    found.m.sleep()

    assert found.live() == {ARQ, ARQ_NOW}
    assert found.get(CELERY).superseded_by == found.ids[ARQ]
    assert ("evolved_from", CELERY, 0.9, "conflict_detector") in found.edges(ARQ)
    assert not any(each[0] == "evolved_from" for each in found.edges(ARQ_NOW))


def test_a_note_that_only_repeats_the_last_change_does_not_retire_its_reasons(
    model: Model, store: Callable[..., Store]
) -> None:
    found = store(CELERY, ARQ, ARQ_NOW)
    for older, newer in ((CELERY, ARQ), (CELERY, ARQ_NOW), (ARQ, ARQ_NOW)):
        model.between(older, newer, "evolution")

    found.m.sleep()

    assert ARQ in found.live()
    assert CELERY not in found.live()


def test_of_three_changes_each_is_replaced_by_the_next(
    model: Model, store: Callable[..., Store]
) -> None:
    texts = [f"The gallery of Anouk is open on {day}" for day in ("Mondays", "Tuesdays", "Fridays")]
    found = store(*texts)
    for at, older in enumerate(texts):
        for newer in texts[at + 1 :]:
            model.between(older, newer, "evolution")

    found.m.sleep()

    assert found.live() == {texts[2]}
    assert found.edges(texts[2]) == {("evolved_from", texts[1], 0.9, "conflict_detector")}
    assert found.edges(texts[1]) == {("evolved_from", texts[0], 0.9, "conflict_detector")}


def test_a_tension_is_drawn_and_shown_and_retires_nothing(
    model: Model, store: Callable[..., Store], tmp_path: Path
) -> None:
    found = store(MORNING, AFTERNOON)
    model.between(MORNING, AFTERNOON, "tension")

    found.m.sleep()

    assert found.live() == {MORNING, AFTERNOON}
    assert ("contradicts", MORNING, 0.9, "conflict_detector") in found.edges(AFTERNOON)
    found.m.close()
    with running(tmp_path / "home") as daemon:
        (shown,) = daemon.ok("GET", "/agent/insights")["tensions"]
    assert {shown["one"]["id"], shown["other"]["id"]} == set(found.ids.values())


def test_a_second_night_has_nothing_to_do(model: Model, store: Callable[..., Store]) -> None:
    found = store(CELERY, ARQ, MORNING, AFTERNOON)
    model.between(CELERY, ARQ, "evolution")
    model.between(MORNING, AFTERNOON, "tension")
    found.m.sleep()

    again = found.m.sleep()

    assert [each.applied for each in again if each.job != "importance_scorer"] == [0] * 7


def test_one_undo_takes_such_a_night_back(
    model: Model, store: Callable[..., Store], tmp_path: Path
) -> None:
    found = store(CELERY, ARQ, MORNING, AFTERNOON, CHOSE, USES)
    model.between(CELERY, ARQ, "evolution")
    model.between(MORNING, AFTERNOON, "tension")
    model.between(CHOSE, USES, "duplicate")
    vault = tmp_path / "home" / "vault"
    before = {each.name: each.read_bytes() for each in vault.glob("*.md")}

    night = found.m.sleep()
    assert {each.name: each.read_bytes() for each in vault.glob("*.md")} != before
    found.m.undo(night.request)

    assert {each.name: each.read_bytes() for each in vault.glob("*.md")} == before
