"""Real Ormah's own clients against our daemon: its command line, its hooks, its MCP adapter."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.ingest.writing import a_line, encoded
from tests.ormah.clients import Ormah
from tests.ormah.installing import PATIENCE_SECONDS
from tests.server.running import Daemon, running

TOOLS = ["mark_outdated", "recall", "recall_node", "remember", "run_maintenance", "submit_feedback"]


# The first to run waits for the install.
pytestmark = [pytest.mark.timeout(PATIENCE_SECONDS), pytest.mark.soak]


# -- the command line ------------------------------------------------------------------------


def test_its_command_line_remembers_recalls_shows_and_retires(
    ormah: Ormah, trusting: Daemon
) -> None:
    said = ormah.said(
        *(
            "remember",
            "We chose SQLite over Postgres",
            "--type",
            "decision",
            "--tags",
            "db,storage",
        ),
        *("--title", "SQLite it is"),
    )
    (short,) = re.findall(r"Remembered as ([0-9a-f]{8}): SQLite it is", said)

    (memory,) = trusting.recall("SQLite over Postgres", limit=1)
    assert (memory["type"], memory["space"]) == ("decision", "atlas")
    assert memory["tags"] == ["db", "storage"]
    assert short in ormah.said("recall", "which database did we choose?", "--limit", "3")
    found = json.loads(ormah.said("recall", "SQLite", "--types", "decision", "--json"))
    assert [each["memory"]["short_id"] for each in found["results"]] == [short]
    assert "We chose SQLite over Postgres" in ormah.said("node", short)
    assert "Retired" in ormah.said("outdated", short, "--reason", "we moved on")
    assert short not in ormah.said("recall", "which database did we choose?")


def test_its_command_line_remembers_from_stdin_and_about_oneself(
    ormah: Ormah, trusting: Daemon
) -> None:
    ormah.said("remember", "-", "--about-self", "--space", "zoo", given="Likes herons best of all")

    (memory,) = trusting.recall("likes herons best", limit=1)
    assert memory["space"] == "zoo"
    assert "about_self" in memory["tags"]


def test_its_command_line_sees_a_server_and_its_numbers(ormah: Ormah, trusting: Daemon) -> None:
    trusting.remember("One memory at least")

    assert f"Server is running on port {ormah.port}." in ormah.said("server", "status")
    assert re.search(r"Whispers used: \d+ this week .*\nMemories: [1-9]", ormah.said("stats"))


def test_its_command_line_shows_what_is_wrong(ormah: Ormah) -> None:
    ran = ormah.run("node", "deadbeef")

    assert ran.code == 1
    assert "404" in ran.err
    assert "no memory `deadbeef`" in ran.err


# -- the hook ------------------------------------------------------------------------------------


def hook(ormah: Ormah, prompt: str) -> str:
    """Run its prompt hook as Claude Code does; return what the model gets to read."""
    given = {"prompt": prompt, "cwd": str(ormah.folder), "session_id": "session-1"}
    said = ormah.said("whisper", "inject", given=json.dumps(given))
    return json.loads(said)["hookSpecificOutput"]["additionalContext"] if said else ""


def test_its_hook_whispers_what_fits_and_is_silent_otherwise(
    ormah: Ormah, trusting: Daemon
) -> None:
    trusting.remember("Releases of Atlas are cut on Thursdays", title="Release day", space="atlas")

    told = hook(ormah, "on which day do we cut releases of Atlas?")

    assert "Releases of Atlas are cut on Thursdays" in told
    assert "data, not instructions" in told
    assert hook(ormah, "thanks") == ""


def transcript(ormah: Ormah, *prompts: str) -> str:
    """Write a session as Claude Code does; return what it hands to a hook at its end."""
    lines = [line for prompt in prompts for line in (said(prompt), replied("Done."))]
    file = ormah.home / "session-2.jsonl"
    with file.open("ab") as session:
        session.write(b"".join(lines))
    given = {"transcript_path": str(file), "cwd": str(ormah.folder), "session_id": "session-2"}
    return json.dumps(given)


def said(text: str) -> bytes:
    return a_line(text, timestamp="2026-11-15T12:00:00.000Z")


def replied(text: str) -> bytes:
    message = {"role": "assistant", "stop_reason": "end_turn"}
    content = [{"type": "text", "text": text}]
    return encoded({"type": "assistant", "message": {**message, "content": content}})


def cursor(ormah: Ormah) -> int:
    """Return how far its hook believes to have stored the session."""
    file = ormah.home / ".cache" / "ormah" / "whisper-cursors.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return int(known.get("session-2", 0))


def test_its_hook_stores_what_was_said_in_a_session(ormah: Ormah, trusting: Daemon) -> None:
    given = transcript(
        ormah, "We decided to deploy Atlas with Nix.", "Now fix the tests.", "Thank you, go on."
    )

    ormah.said("whisper", "store", given=given)

    (memory,) = trusting.recall("how do we deploy Atlas, with Nix?", types=["decision"], limit=1)
    assert memory["content"] == "We decided to deploy Atlas with Nix."
    assert memory["space"] == "atlas"
    assert "whisper-out" in memory["tags"]
    assert cursor(ormah) > 0


def test_its_hook_sends_again_what_could_not_be_stored(
    ormah: Ormah, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It moves its cursor after any answer but an error, so what was left out must be one."""
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    home = tmp_path / "narrow"
    home.mkdir()
    settings = "[server]\ntrust_loopback = true\n[ingest]\nmemories_per_session = 2\n"
    (home / "config.toml").write_text(settings, encoding="utf-8")
    decisions = ("We decided to use Nix.", "We decided to use Redis.", "We decided to use Rust.")
    with running(home) as narrow:
        asking = replace(ormah, port=narrow.launched.port)
        given = transcript(asking, *decisions)

        asking.said("whisper", "store", given=given)
        first = cursor(asking)
        for _ in decisions:
            if not cursor(asking):
                asking.said("whisper", "store", given=given)

        kept = narrow.ok("GET", "/agent/list", types="decision")["memories"]
    assert first == 0
    assert {each["content"] for each in kept} >= set(decisions)
    assert cursor(asking) > 0


def test_its_command_line_takes_in_a_conversation(ormah: Ormah, trusting: Daemon) -> None:
    told = "User: We decided to keep bees on the roof.\n\nAssistant: A fine idea.\n"

    first = ormah.said("ingest", "-", given=told)
    again = ormah.said("ingest", "-", given=told)

    assert "We decided to keep bees on the roof." in first
    assert "No new memories" in again
    assert trusting.recall("bees on the roof", limit=1)[0]["space"] == "atlas"


# -- the MCP adapter -----------------------------------------------------------------------------


def test_its_tools_remember_recall_and_give_feedback(ormah: Ormah, trusting: Daemon) -> None:
    first = trusting.remember("Atlas is written in Rust", space="atlas")
    with ormah.mcp() as tools:
        assert tools.names == TOOLS
        said = tools.call(
            "remember", content="Atlas is deployed to Fly", links=[first[:8]], tags='["ops"]'
        )
        (short,) = re.findall(r"Remembered as ([0-9a-f]{8})", said)
        found = tools.call("recall", query="where is Atlas deployed?", created_after="2026-01-01")
        shown = tools.call("recall_node", node_id=short)
        noted = tools.call("submit_feedback", node_id=short, signal=1, whisper_log_id=3)
        wrong = tools.call("remember", content="x", type="nonsense")
        gone = tools.call("recall_node", node_id="deadbeef")

    assert short in found
    assert f"related_to {first[:8]}" in shown
    assert "useful" in noted
    assert "unknown type 'nonsense'" in wrong
    assert gone.startswith("no memory `deadbeef`")
    memory = trusting.ok("GET", f"/agent/recall/{short}")["memory"]
    assert (memory["space"], memory["tags"]) == ("atlas", ["ops"])
    assert memory["access_count"] > 0


def test_its_tools_tend_the_memory_in_two_calls(ormah: Ormah, trusting: Daemon) -> None:
    debian = trusting.remember("The staging server runs Debian 12", title="Staging on Debian")
    also = trusting.remember("Staging server runs on Debian 12", title="Staging OS is Debian 12")
    with ormah.mcp() as tools:
        asked = tools.call("run_maintenance")
        (job,) = re.findall(r"job_id: (\S+)", asked)
        busy = json.loads(tools.call("run_maintenance"))
        again = tools.call("run_maintenance", job_id=job)
        results = {"merges": [{"keep_id": also, "discard_id": debian}], "edges": []}
        done = json.loads(tools.call("run_maintenance", job_id=job, results=results))
        (proposal,) = re.findall(r"ID: (\S+)", tools.call("list_proposals"))
        tools.call("resolve_proposal", proposal_id=proposal, action="approved")
        listed = tools.call("list_merges")
        (merge,) = re.findall(r"Merge ID: (\S+)", listed)
        undone = tools.call("undo_merge", merge_id=merge)
        after = tools.call("list_merges")

    assert "## Merge Candidates" in asked
    assert debian in asked
    assert asked == again
    assert busy["status"] == "busy"
    assert done["status"] == "applied"
    assert listed.startswith(f"[active] Kept: {also[:8]}  Removed: {debian[:8]}")
    assert undone.startswith("Took back")
    assert after.startswith("[UNDONE]")


def test_its_tools_for_administrators_work_too(ormah: Ormah, trusting: Daemon) -> None:
    one, other = (trusting.remember(f"The {each} gate is locked") for each in ("east", "west"))
    with ormah.mcp() as tools:
        tools.call("update_memory", node_id=one, title="East gate", tags=["gates"])
        linked = tools.call("connect_memories", source_id=one, target_id=other, edge="supports")
        audit = tools.call("list_audit_log", node_id=one, operation="update")

    assert "Linked" in linked
    assert audit.startswith(f"[update] Node: {one[:8]}")
    assert trusting.ok("GET", f"/agent/recall/{one}")["memory"]["title"] == "East gate"
