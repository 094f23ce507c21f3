"""What setup writes really runs: each hook is started as its host would, against a real daemon."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from madeleine.agents.ownership import command_words
from tests.agents.machine import Machine, make_machine
from tests.hooks.running import Hooked, claude, hooked
from tests.server.running import WAIT_SECONDS

HOOK_FILES = {
    "claude": (".claude/settings.json", "UserPromptSubmit"),
    "codex": (".codex/hooks.json", "UserPromptSubmit"),
    "cursor": (".cursor/hooks.json", "beforeSubmitPrompt"),
    "gemini": (".gemini/settings.json", "BeforeAgent"),
    "copilot": (".copilot/hooks/madeleine.json", "UserPromptSubmit"),
}


@pytest.fixture(scope="module")
def wired(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Hooked]]:
    """A machine on which every host is wired, and its daemon."""
    machine = make_machine(tmp_path_factory.mktemp("m"))
    machine.setup(*HOOK_FILES, "opencode")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        with hooked(machine.around.home) as daemon:
            yield machine, daemon


def handler(machine: Machine, host: str) -> dict[str, Any]:
    path, event = HOOK_FILES[host]
    entry = machine.json(path)["hooks"][event][0]
    return dict(entry.get("hooks", [entry])[0])


def run(entry: dict[str, Any], body: dict[str, object], **variables: str) -> bytes:
    """Start an entry as hosts do: with its arguments, or by a shell."""
    command = command_words(entry) if "args" in entry else ["sh", "-c", entry["command"]]
    done = subprocess.run(
        command,
        input=json.dumps(body).encode(),
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=True,
        env={**os.environ, **variables},
    )
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("host", HOOK_FILES)
def test_a_hook_answers_in_the_shape_of_its_host(wired: tuple[Machine, Hooked], host: str) -> None:
    machine, _ = wired
    event = HOOK_FILES[host][1]
    body = claude(f"what about {host}?", f"shape {host}", hook_event_name=event)

    said = json.loads(run(handler(machine, host), body))

    if host == "cursor":
        text = said["additional_context"]
        assert set(said) == {"continue", "additional_context"}
    else:
        text = said["hookSpecificOutput"]["additionalContext"]
        assert said["hookSpecificOutput"]["hookEventName"] == event
        assert set(said) == {"hookSpecificOutput"}
    assert f"about what about {host}?" in text


def test_the_same_prompt_through_two_entries_is_whispered_to_once(
    wired: tuple[Machine, Hooked],
) -> None:
    """VS Code reads Claude Code's settings and Copilot's folder, and runs both."""
    machine, _ = wired
    body = claude("one prompt, two hooks", "twice")

    answers = [run(handler(machine, host), body) for host in ("claude", "copilot")]

    assert [bool(answer) for answer in answers] == [True, False]


def test_claudes_entry_run_by_cursor_answers_as_cursor_wants(wired: tuple[Machine, Hooked]) -> None:
    machine, _ = wired
    body = claude("who runs this?", "in cursor")

    said = json.loads(run(handler(machine, "claude"), body, CURSOR_VERSION="3.20"))

    assert "additional_context" in said


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_store_hooks_say_nothing(wired: tuple[Machine, Hooked], host: str) -> None:
    machine, _ = wired
    path = HOOK_FILES[host][0]
    event = "PreCompact" if host == "claude" else "Stop"
    entry = machine.json(path)["hooks"][event][0]["hooks"][0]

    assert run(entry, claude("x", "store", hook_event_name=event)) == b""


@pytest.mark.parametrize("host", HOOK_FILES)
def test_a_hook_whose_home_was_deleted_loses_nobody_a_prompt(machine: Machine, host: str) -> None:
    """Python ends with 2 for a script that is gone, and that makes hosts discard the prompt."""
    machine.setup(host)
    shutil.rmtree(machine.around.home)

    assert run(handler(machine, host), claude("still there?")) == b""


def test_the_server_that_is_written_down_greets_its_host(wired: tuple[Machine, Hooked]) -> None:
    machine, _ = wired
    words = command_words(machine.json(".cursor/mcp.json")["mcpServers"]["madeleine"])
    greeting = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "cursor", "version": "1"},
        },
    }

    done = subprocess.run(
        words,
        input=json.dumps(greeting).encode() + b"\n",
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=True,
    )

    said = json.loads(done.stdout)
    assert said["id"] == 1
    assert said["result"]["serverInfo"]["name"] == "madeleine"


PROGRAM = """
import { Madeleine } from %(plugin)s
const hooks = await Madeleine({ directory: %(folder)s })
const part = { id: "prt_1", type: "text", text: "what about opencode?", sessionID: "s" }
const output = { message: {}, parts: [part] }
await hooks["chat.message"]({ sessionID: "s" }, output)
console.log(JSON.stringify(output.parts))
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs a JavaScript interpreter")
def test_the_plugin_of_opencode_adds_a_part_to_the_message(
    wired: tuple[Machine, Hooked], tmp_path: Path
) -> None:
    machine, _ = wired
    plugin = tmp_path / "madeleine.mjs"
    shutil.copy(machine.user / ".config/opencode/plugins/madeleine.js", plugin)
    program = tmp_path / "run.mjs"
    program.write_text(
        PROGRAM % {"plugin": json.dumps(str(plugin)), "folder": json.dumps(str(tmp_path))},
        encoding="utf-8",
    )

    done = subprocess.run(
        ["node", str(program)], capture_output=True, timeout=WAIT_SECONDS, check=True
    )

    first, second = json.loads(done.stdout)
    assert first["text"] == "what about opencode?"
    assert second["synthetic"] is True
    assert second["id"].startswith("prt_")
    assert "about what about opencode?" in second["text"]
