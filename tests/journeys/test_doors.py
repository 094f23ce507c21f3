"""What other memories got wrong at their doors, and must not happen at ours."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import MODULE, Cli
from tests.server.running import Daemon, running

PATIENT = "[whisper]\ndeadline_ms = 15000\n"
QUESTION = "on which day do we cut releases?"
OTHERS = (
    "Invoices are sent on the first of the month",
    "The staging server runs Debian",
    "Ana reviews whatever touches billing",
    "Backups are kept for ninety days",
    "The logo is a heron",
)
IRRELEVANT = (
    "The ferry to Bergen leaves at half past nine",
    "Marta is allergic to peanuts",
    "Grandmother's apple pie needs cinnamon",
    "The cellar key hangs behind the door",
    "The office plants are watered by Tom",
)
SCRIPTS = {
    "japanese": ("デプロイは毎週木曜日に行う", "デプロイは毎週何曜日に行う?"),
    "russian": ("Релизы выходят по четвергам", "релизы выходят по четвергам или по пятницам?"),
    "arabic": ("الإصدارات تصدر يوم الخميس", "هل الإصدارات تصدر يوم الخميس أم الجمعة؟"),
    "greek": ("Οι εκδόσεις βγαίνουν κάθε Πέμπτη", "οι εκδόσεις βγαίνουν κάθε Πέμπτη ή Τρίτη;"),
    "hindi": ("रिलीज़ हर गुरुवार को होती है", "रिलीज़ हर गुरुवार को होती है या शुक्रवार को?"),
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon with the model that is installed, and something to tell apart from."""
    home = tmp_path_factory.mktemp("doors")
    (home / "config.toml").write_text(PATIENT, encoding="utf-8")
    with running(home) as started:
        for memory in (*OTHERS, *(memory for memory, _ in SCRIPTS.values())):
            started.remember(memory)
        yield started


def told(daemon: Daemon, prompt: str, session: str) -> set[str]:
    """Return the memories that are whispered."""
    body = {"prompt": prompt, "session_id": session}
    return {each["node_id"] for each in daemon.ok("POST", "/agent/whisper", body)["injected"]}


@pytest.mark.few(2)
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_prompt_in_any_script_can_be_whispered_to(daemon: Daemon, script: str) -> None:
    memory, prompt = SCRIPTS[script]

    assert daemon.remember(memory) in told(daemon, prompt, script)


def test_an_irrelevant_memory_never_changes_whether_we_whisper(daemon: Daemon) -> None:
    """A gate on a score that is relative to the others lets the best of the bad ones in."""
    wanted = daemon.remember("We cut releases on Thursdays", title="Release day")
    prompts = (QUESTION, "rename this variable, please", "what is the capital of Mongolia?")
    before = [told(daemon, prompt, f"before {prompt}") for prompt in prompts]

    for each in IRRELEVANT:
        daemon.remember(each)

    assert [told(daemon, prompt, f"after {prompt}") for prompt in prompts] == before
    assert wanted in before[0]


def test_recall_json_matches_its_contract(daemon: Daemon) -> None:
    daemon.remember("The mascot is a heron called Olga", space="zoo", tags=["birds"])

    answer = daemon.ok("POST", "/agent/recall", {"query": "what is the mascot?", "limit": 2})

    assert answer.keys() >= {"text", "results", "silence"}
    first: dict[str, Any] = answer["results"][0]
    assert first.keys() >= {"memory", "score", "reasons", "match"}
    assert 0 < first["score"] <= 1
    assert first["reasons"]
    assert first["memory"]["space"] == "zoo"
    assert first["memory"].keys() >= {"id", "type", "tier", "title", "content", "tags", "created"}


def test_rebuild_leaves_one_self(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    cli = Cli(tmp_path / "home")
    cli.remember("Plays the cello", "--about-self")
    before = _selves(cli)

    (cli.home / "index.db").unlink()
    cli.remember("Sings, too", "--about-self")
    cli.ok("rebuild")

    assert len(before) == 1
    assert _selves(cli) == before


def _selves(cli: Cli) -> list[str]:
    listed = cli.ok("list", "--type", "person")["memories"]
    return [each["id"] for each in listed if each["source"] == "system:self"]


@pytest.mark.soak
def test_two_processes_writing_at_once_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    home = tmp_path / "home"
    texts = [f"Written by process {number}" for number in range(3)]

    writers = [subprocess.Popen([*MODULE, "--home", str(home), "remember", text]) for text in texts]

    assert [each.wait(30) for each in writers] == [0] * len(texts)
    listed = Cli(home).ok("list")["memories"]
    assert sorted(each["content"] for each in listed) == texts
