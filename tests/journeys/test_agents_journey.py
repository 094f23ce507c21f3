"""From install to the next prompt, and out again: setup, an agent's hook, unsetup."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from madeleine.agents.ownership import command_words
from madeleine.api.remote import find_daemon, stop_daemon
from tests.cli.running import Cli
from tests.hooks.running import claude, context, variables
from tests.server.running import WAIT_SECONDS, eventually

MEMORY = (
    "The whisper eval pipeline builds an isolated store, runs whisper over its prompts and "
    "records which ids were told, for scoring."
)
QUESTION = "how does the whisper eval pipeline work?"


def test_an_agent_remembers_from_the_prompt_after_setup_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody started a daemon: the first prompt does, and the next one is whispered to."""
    for name, value in {**variables(), "MADELEINE_EMBEDDER_KIND": "fake"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MADELEINE_SERVER_PORT", "0")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "opus"} // mine\n', encoding="utf-8")
    cli = Cli(tmp_path / ".madeleine")
    memory = cli.remember(MEMORY, "--title", "Eval of whisper")

    cli.ok("setup", "claude")
    try:
        assert _hook(settings, "s1") == b""
        eventually(lambda: find_daemon(cli.home) is not None, WAIT_SECONDS)
        said = context(_hook(settings, "s2"))
        cli.ok("unsetup")
        kept = cli.ok("show", memory)
    finally:
        stop_daemon(cli.home)

    assert "Eval of whisper" in said
    assert settings.read_text(encoding="utf-8") == '{"model": "opus"} // mine\n'
    assert kept["memory"]["content"] == MEMORY


def _hook(settings: Path, session: str) -> bytes:
    """Run the hook of Claude Code as its settings say."""
    text = settings.read_text(encoding="utf-8").partition("//")[0]
    entry = json.loads(text)["hooks"]["UserPromptSubmit"][0]["hooks"][0]
    sent = json.dumps(claude(QUESTION, session)).encode()
    done = subprocess.run(
        command_words(entry), input=sent, capture_output=True, timeout=WAIT_SECONDS, check=True
    )
    return done.stdout
