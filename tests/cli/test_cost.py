"""`madeleine cost`, and a day whose cap is used up, through the command and the daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Cli
from tests.minds.test_remote import Script
from tests.server.running import running


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "openai")
    script = Script()
    script.thread.start()
    yield script
    script.close()


def configure(home: Path, server: Script, cap: float) -> None:
    home.mkdir(parents=True, exist_ok=True)
    text = f'[embedder]\nkind = "openai"\nmodel = "v"\nprice = 1000.0\nurl = "{server.url}"\n'
    (home / "config.toml").write_text(f"{text}[cost]\ndaily_cap = {cap}\n", encoding="utf-8")


def test_a_home_without_remote_models_costs_nothing(cli: Cli) -> None:
    cli.remember("The harbour is deep")

    assert cli("cost").out == "No remote model was asked this month.\n"
    answer = cli.ok("cost")
    assert (answer["today"]["requests"], answer["month"]["cost"]) == (0, 0)
    assert answer["refused"] is None


def test_what_was_asked_is_told_by_what_for(cli: Cli, server: Script) -> None:
    configure(cli.home, server, cap=5.0)
    cli.remember("The harbour is deep")
    cli.ok("recall", "how deep is the harbour?")

    answer = cli.ok("cost")

    purposes = {each["purpose"] for each in answer["today"]["lines"]}
    assert purposes == {"memories", "questions"}
    assert answer["today"]["requests"] == len(server.asked)
    assert answer["today"]["cost"] == pytest.approx(answer["today"]["tokens_in"] / 1_000)
    said = cli("cost").out
    assert "memories    remote:v: " in said
    assert "at most 5 a day (`cost.daily_cap`)" in said


def test_beyond_the_cap_words_answer_and_say_so(cli: Cli, server: Script) -> None:
    """A rebuild or a restart does not open it, and nothing is lost by it."""
    configure(cli.home, server, cap=0.001)
    with running(cli.home) as daemon:
        daemon.remember("The harbour is deep")
        asked = len(server.asked)
        found = daemon.ok("POST", "/agent/recall", {"query": "harbour deep", "all": True})
        told = daemon.ok("GET", "/admin/cost")

    assert [each["memory"]["content"] for each in found["results"]] == ["The harbour is deep"]
    assert any("cost.daily_cap" in note for note in found["notes"]), json.dumps(found["notes"])
    assert len(server.asked) == asked
    assert told["refused"] == "today's cost of 0.001 is used up (`cost.daily_cap`)"
    assert "until tomorrow (UTC) the local way answers" in told["text"]
