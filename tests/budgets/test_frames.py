"""How many calls stand between a door and the verb that it calls: at most four.

Counted are the calls of ours on the stack when the verb is called; what the interpreter and the
web server do before is not ours.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import madeleine
from madeleine import Madeleine
from madeleine.api import memory_operations, recall_operations, remember_operations
from madeleine.bootstrap import HomeContexts, open_home
from madeleine.server.app import App
from madeleine.server.guard import Guard
from tests.server.test_app import ask

AT_MOST = 4
OURS = str(Path(madeleine.__file__).parent)
CALLING_MODULES = {
    "remember_as": remember_operations,
    "recall": recall_operations,
    **dict.fromkeys(("show", "revise_as", "link", "forget", "undo"), memory_operations),
}
"""The verbs, and the module of the operation that calls each."""


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count the calls of ours that lead to each verb."""
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    counts: dict[str, int] = {}

    def watch(name: str, calling: ModuleType) -> None:
        verb = getattr(calling, name)

        def watched(*given: object, **named: object) -> object:
            frame, counts[name] = sys._getframe(1), 0
            while frame is not None and frame.f_code.co_filename.startswith(OURS):
                counts[name] += 1
                frame = frame.f_back  # type: ignore[assignment]  # None ends it
            return verb(*given, **named)

        monkeypatch.setattr(calling, name, watched)

    for name, calling in CALLING_MODULES.items():
        watch(name, calling)
    return counts


@pytest.fixture
def app(tmp_path: Path, calls: dict[str, int]) -> Iterator[App]:
    context = open_home(tmp_path / "home")
    made = App(HomeContexts(context), Guard("secret", "127.0.0.1", 8787), dict, lambda: None)
    yield made
    made.close()
    context.close()


def test_few_calls_stand_between_the_python_face_and_a_verb(
    tmp_path: Path, calls: dict[str, int]
) -> None:
    with Madeleine.open(tmp_path / "home", in_process=True) as m:
        one, other = m.remember("Tea is kept in the left drawer"), m.remember("Coffee in the right")
        m.recall("where is tea kept?")
        m.show(one)
        m.revise(one, title="Tea")
        m.link(one, other)
        m.undo(str(m.forget(other).change))

    assert set(calls) == set(CALLING_MODULES)
    assert max(calls.values()) <= AT_MOST


def test_few_calls_stand_between_http_and_a_verb(app: App, calls: dict[str, int]) -> None:
    _, one = ask(app, "POST", "/agent/remember", {"content": "Tea is kept in the left drawer"})
    _, other = ask(app, "POST", "/agent/remember", {"content": "Coffee in the right"})
    ends = {"source_id": one["node_id"], "target_id": other["node_id"]}
    for path, body in (
        ("/agent/recall", {"query": "where is tea kept?"}),
        ("/agent/connect", ends),
    ):
        assert ask(app, "POST", path, body)[0] == 200

    assert set(calls) == {"remember_as", "recall", "link"}
    assert max(calls.values()) <= AT_MOST
