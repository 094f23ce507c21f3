"""Hooks over the real pipeline: what comes too late, a model that would, and what a shortened
session hears again."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.api.call import OperationCall
from madeleine.api.operations import perform_operation
from madeleine.api.reach import single_home_reach
from madeleine.bootstrap import HomeContext, open_home
from madeleine.minds.cache import CachedEmbedder, EmbeddingCache
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.port import Minds
from madeleine.model.embedding import QueryEmbedding
from madeleine.server.hook_service import INJECT_ROUTE, STORE_ROUTE, HookService
from tests.hooks.running import claude
from tests.server.running import WAIT_SECONDS, eventually

FERRY = "The ferry to Bergen leaves at half past nine"
OTHERS = (
    "Grandmother's apple pie needs cinnamon",
    "The staging cluster runs in Frankfurt",
    "Invoices are kept for seven years",
    "Harbour permits are signed by Ingrid",
)
ASK_FERRY = "when does the ferry to Bergen leave?"


class Patient(FakeEmbedder):
    """The fake model, which answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.may_answer = threading.Event()
        self.may_answer.set()

    def ask(self, text: str) -> QueryEmbedding:
        assert self.may_answer.wait(WAIT_SECONDS)
        return super().ask(text)


@pytest.fixture
def model() -> Patient:
    return Patient()


@pytest.fixture
def context(home: Path, model: Patient, monkeypatch: pytest.MonkeyPatch) -> Iterator[HomeContext]:
    monkeypatch.setenv("MADELEINE_WHISPER_DEADLINE_MS", "1500")
    opened = open_home(home)
    own = opened.stores.minds.embedder
    minds = Minds(CachedEmbedder(model, EmbeddingCache.open(home / "patient.db")))
    opened.stores = replace(opened.stores, minds=minds)
    for each in (FERRY, "Marta is allergic to peanuts", "The office has a green door", *OTHERS):
        perform_operation(opened, "remember", OperationCall(body={"content": each}))
    yield opened
    opened.close()
    if own is not None:
        own.close()


@pytest.fixture
def hooks(context: HomeContext) -> Iterator[HookService]:
    made = HookService(context)
    yield made
    made.close()


def prompt(hooks: HookService, text: str, session: str = "s") -> str:
    body = json.dumps(claude(text, session)).encode()
    answer = hooks.answer(INJECT_ROUTE, {"host": "claude"}, body, single_home_reach(hooks.context))
    return asyncio.run(answer).body.decode()


def why(context: HomeContext) -> str:
    return str(perform_operation(context, "whisper_why", OperationCall())["text"])


@pytest.mark.proves("I5")
def test_what_came_too_late_is_noted_so_and_told_the_next_time(
    context: HomeContext, hooks: HookService
) -> None:
    context.whisperer.warm(context.stores, context.whisper_config)
    may_go_on = threading.Event()
    context.stores.executor.submit(lambda: None if may_go_on.wait(WAIT_SECONDS) else "never")
    late = prompt(hooks, ASK_FERRY)
    may_go_on.set()
    eventually(lambda: "came too late and was not given" in why(context), WAIT_SECONDS)

    again = prompt(hooks, f"please: {ASK_FERRY}")

    assert late == ""
    assert FERRY in again
    assert "Whispered 1 memory" in why(context)


@pytest.mark.proves("I5")
def test_a_model_that_would_be_late_is_not_waited_for(
    context: HomeContext, hooks: HookService, model: Patient
) -> None:
    context.whisperer.warm(context.stores, context.whisper_config)
    model.may_answer.clear()
    by_words = prompt(hooks, ASK_FERRY)
    said = why(context)
    model.may_answer.set()

    with_model = prompt(hooks, "is Marta allergic to peanuts?")

    assert FERRY in by_words
    assert "Decided by words alone: the model was late." in said
    assert "Marta" in with_model
    assert "words alone" not in why(context)


@pytest.mark.parametrize("event", ["PreCompact", "PreCompress"])
def test_a_session_that_its_host_shortens_is_told_again(
    context: HomeContext, hooks: HookService, event: str
) -> None:
    first = prompt(hooks, ASK_FERRY)
    before = prompt(hooks, f"so, {ASK_FERRY}")
    body = json.dumps({"session_id": "s", "hook_event_name": event, "trigger": "auto"}).encode()
    asyncio.run(hooks.answer(STORE_ROUTE, {"host": "claude"}, body, single_home_reach(context)))

    after = prompt(hooks, f"again, {ASK_FERRY}")

    assert (FERRY in first, before, FERRY in after) == (True, "", True)


def test_the_end_of_a_session_shortens_nothing(context: HomeContext, hooks: HookService) -> None:
    prompt(hooks, ASK_FERRY)
    body = json.dumps({"session_id": "s", "hook_event_name": "Stop"}).encode()
    asyncio.run(hooks.answer(STORE_ROUTE, {"host": "claude"}, body, single_home_reach(context)))

    assert prompt(hooks, f"again, {ASK_FERRY}") == ""
