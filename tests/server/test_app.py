"""The application without a network: what becomes of a bug, and of a loop that fails."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from madeleine.api.call import OperationCall
from madeleine.bootstrap import HomeContext, HomeContexts, open_home
from madeleine.errors import StoreUnwritable
from madeleine.model.codec import Json
from madeleine.server import app as app_module
from madeleine.server import background as background_module
from madeleine.server.app import App, encode_json
from madeleine.server.background import BackgroundLoop, BackgroundLoops
from madeleine.server.guard import Guard
from tests.server.mcp_clients import message
from tests.server.running import eventually

PRIVATE = "the text of a memory"
HEADERS = [
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
]


@pytest.fixture
def app(home: Path) -> Iterator[App]:
    context = open_home(home)
    made = App(HomeContexts(context), Guard("secret", "127.0.0.1", 8787), dict, lambda: None)
    yield made
    made.close()
    context.close()


def get(app: App, path: str) -> tuple[int, Any]:
    return ask(app, "GET", path)


def ask(app: App, method: str, path: str, given: object = None) -> tuple[int, Any]:
    """Ask the application over a pretended unix socket."""
    sent: list[dict[str, Any]] = []
    body = b"" if given is None else json.dumps(given).encode()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": HEADERS if given is not None else [],
        "server": ("/run/socket", None),
        "client": None,
        "root_path": "",
    }
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_a_bug_is_a_500_that_tells_nothing_of_the_inside(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(context: HomeContext, name: str, call: OperationCall) -> Json:
        raise RuntimeError(PRIVATE)

    monkeypatch.setattr(app_module, "perform_for", broken)

    with caplog.at_level(logging.ERROR):
        status, body = get(app, "/agent/list")

    assert status == 500
    assert body == {
        "error": {
            "code": "error",
            "kind": "error",
            "message": "something went wrong inside",
            "hint": "logs/daemon.log says where",
            "parts": {},
        }
    }
    assert "RuntimeError" in caplog.text
    assert "in broken" in caplog.text
    assert PRIVATE not in caplog.text
    assert app.failures == 1


def test_a_bug_behind_the_door_of_the_tools_is_counted_and_logged_as_any_other(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(context: HomeContext, name: str, call: OperationCall) -> Json:
        raise RuntimeError(PRIVATE)

    monkeypatch.setattr(app_module, "perform_for", broken)
    tool = {"name": "recall", "arguments": {"query": "tea"}}

    with caplog.at_level(logging.ERROR):
        status, answer = ask(app, "POST", "/mcp", message("tools/call", **tool))
        get(app, "/agent/list")

    assert status == 200
    assert answer["result"]["isError"] is True
    assert "something went wrong inside" in answer["result"]["content"][0]["text"]
    assert "recall met a bug: RuntimeError" in caplog.text
    assert "GET /agent/list met a bug: RuntimeError" in caplog.text
    assert PRIVATE not in caplog.text + json.dumps(answer)
    assert app.failures == 2


def test_a_whisper_that_cannot_be_written_as_json_is_not_counted_as_said(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(app, "POST", "/agent/remember", {"content": "The ferry to Bergen leaves at half past nine"})
    prompt = {"prompt": "when does the ferry to Bergen leave?", "session_id": "s"}
    threads: list[threading.Thread] = []

    def broken(answer: object) -> Json:
        threads.append(threading.current_thread())
        raise ValueError(PRIVATE)

    with monkeypatch.context() as failing:
        failing.setattr(app_module, "to_json", broken)
        status, _ = ask(app, "POST", "/agent/whisper", prompt)
    _, lost = get(app, "/agent/whisper/why")
    again = ask(app, "POST", "/agent/whisper", prompt)

    assert (status, app.failures) == (500, 1)
    assert threading.main_thread() not in threads
    assert "the answer could not be written" in lost["text"]
    assert again[0] == 200
    assert "half past nine" in again[1]["text"]


def test_a_file_name_that_is_not_utf8_still_makes_json() -> None:
    name = b"M\xfcnchen.md".decode("utf-8", "surrogateescape")

    assert json.loads(encode_json({"path": name})) == {"path": name}


def test_a_loop_that_fails_is_counted_shown_and_run_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background_module, "RETRY_SECONDS", 0.01)
    turns = iter([ValueError(PRIVATE), StoreUnwritable(Path("/x"), "full")])
    went_well = threading.Event()

    def work() -> None:
        for error in turns:
            raise error
        went_well.set()

    stop = threading.Event()
    loop = BackgroundLoop("journal", work, every_seconds=60)
    background = BackgroundLoops([loop], stop)

    background.start()
    eventually(went_well.is_set)
    eventually(lambda: loop.problem is None)
    background.end()

    assert background.to_json() == [{"name": "journal", "runs": 3, "failures": 2, "problem": None}]
    assert "journal: met a bug: ValueError" in caplog.text
    assert "cannot write /x: full" in caplog.text
    assert PRIVATE not in caplog.text


def test_a_loop_that_still_fails_says_what_is_wrong_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background_module, "RETRY_SECONDS", 0.01)

    def work() -> None:
        raise StoreUnwritable(Path("/x"), "full")

    stop = threading.Event()
    loop = BackgroundLoop("journal", work, every_seconds=60)
    background = BackgroundLoops([loop], stop)

    background.start()
    eventually(lambda: loop.failures >= 3)
    background.end()

    assert loop.problem == "cannot write /x: full"
    assert caplog.text.count("cannot write /x: full") == 1


def test_a_want_of_descriptors_is_no_bug_of_a_loop(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background_module, "RETRY_SECONDS", 0.01)

    def work() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    loop = BackgroundLoop("devices", work, every_seconds=60)
    background = BackgroundLoops([loop], threading.Event())

    background.start()
    eventually(lambda: loop.failures >= 3)
    background.end()

    assert loop.problem == "waits for a descriptor: Too many open files"
    assert caplog.text.count("waits for a descriptor") == 1
    assert "bug" not in caplog.text


def test_work_that_is_done_once_is_not_repeated() -> None:
    stop = threading.Event()
    loop = BackgroundLoop("model", lambda: None)
    background = BackgroundLoops([loop], stop)

    background.start()
    for thread in background._threads:
        thread.join(5)

    assert loop.runs == 1
    background.end()
