"""Files changed by hand while the daemon runs are followed within about a second."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.running import Daemon, eventually, running


def path_of(daemon: Daemon, memory_id: str) -> Path:
    return daemon.vault / str(daemon.ok("GET", f"/agent/recall/{memory_id}")["path"])


def contents(daemon: Daemon, query: str) -> list[str]:
    return [each["content"].strip() for each in daemon.recall(query)]


def test_an_edited_file_is_recalled_as_it_says_now(daemon: Daemon) -> None:
    kept = daemon.remember("The meeting is on Tuesday")
    path = path_of(daemon, kept)
    text = path.read_text(encoding="utf-8")

    path.write_text(text.replace("on Tuesday", "on the moon"), encoding="utf-8")

    eventually(lambda: "The meeting is on the moon" in contents(daemon, "meeting moon"))
    assert daemon.ok("GET", "/admin/status")["embedder"]["unembedded"] == 0


def test_a_file_put_into_the_vault_becomes_a_memory(daemon: Daemon) -> None:
    (daemon.vault / "garden.md").write_text(
        "---\ntype: procedure\ntags: [garden]\n---\nWater the ferns at dawn\n", encoding="utf-8"
    )

    eventually(lambda: "Water the ferns at dawn" in contents(daemon, "ferns dawn"))

    (found,) = daemon.ok("GET", "/agent/list", tags="garden")["memories"]
    assert found["type"] == "procedure"


def test_a_renamed_file_stays_the_same_memory(daemon: Daemon) -> None:
    kept = daemon.remember("Renamed but the same")
    path = path_of(daemon, kept)

    path.rename(daemon.vault / "another-name.md")

    eventually(lambda: path_of(daemon, kept).name == "another-name.md")
    assert contents(daemon, "renamed same").count("Renamed but the same") == 1


def test_a_removed_file_is_no_longer_recalled(daemon: Daemon) -> None:
    kept = daemon.remember("Soon removed by hand")

    path_of(daemon, kept).unlink()

    eventually(lambda: daemon.ask("GET", f"/agent/recall/{kept}").status == 404)
    assert "Soon removed by hand" not in contents(daemon, "removed by hand")


def test_a_folder_moved_in_brings_its_memories(daemon: Daemon, tmp_path: Path) -> None:
    folder = tmp_path / "brought"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.md").write_text(f"Brought along number {number}\n", encoding="utf-8")

    folder.rename(daemon.vault / "brought")

    eventually(lambda: len(contents(daemon, "brought along number")) >= 3)


def test_a_connection_written_by_hand_is_an_edge(daemon: Daemon) -> None:
    target = daemon.remember("The goal of a hand-written link")
    source = daemon.remember("Written with a pencil, that one")
    path = path_of(daemon, source)
    text = path.read_text(encoding="utf-8")
    head, _, body = text.rpartition("---\n")
    link = f"connections:\n  - target: {target}\n    edge: supports\n    weight: 0.7\n"

    def points_here() -> bool:
        rows = daemon.ok("GET", f"/agent/recall/{target}")["connections"]
        return any(row["source"] == source and row["edge"] == "supports" for row in rows)

    path.write_text(f"{head.split('connections:')[0]}{link}---\n{body}", encoding="utf-8")

    eventually(points_here)


def test_a_file_that_stops_parsing_keeps_its_row_and_is_listed(daemon: Daemon) -> None:
    kept = daemon.remember("Fragile as glass")
    path = path_of(daemon, kept)
    good = path.read_text(encoding="utf-8")

    def unreadable() -> list[dict[str, Any]]:
        return list(daemon.ok("GET", "/admin/status")["unreadable"])

    path.write_text(good.replace("type: fact", "type: rumour"), encoding="utf-8")

    eventually(lambda: [each["path"] for each in unreadable()] == [path.name])
    (problem,) = unreadable()
    assert problem["line"] >= 2
    assert "rumour" in problem["problem"]
    assert daemon.ok("GET", f"/agent/recall/{kept}")["memory"]["content"] == "Fragile as glass"

    path.write_text(good, encoding="utf-8")

    eventually(lambda: unreadable() == [])


def test_edits_made_while_no_daemon_ran_are_there_at_the_start(home: Path) -> None:
    with running(home) as daemon:
        kept = daemon.remember("Edited in the night")
        path = path_of(daemon, kept)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("in the night", "by daylight"), encoding="utf-8")

    with running(home) as again:
        assert contents(again, "edited daylight") == ["Edited by daylight"]


@pytest.mark.soak
def test_uses_that_another_device_noted_are_counted_once(home: Path) -> None:
    """A synced folder brings the other device's journal while the daemon runs."""
    with running(home) as daemon:
        kept = daemon.remember("Used on two devices")
        event = {
            "id": "11111111-2222-4333-8444-555555555555",
            "at": "2026-11-01T08:00:00Z",
            "kind": "used",
            "device": "desktop",
            "body": {"memory": kept, "how": "recalled", "session": "elsewhere"},
        }
        journal = next((home / "journal").glob("*.jsonl")).read_text(encoding="utf-8")
        own = json.loads(journal.splitlines()[0])
        line = {**event, **{key: own[key] for key in own.keys() - event.keys()}}
        other = home / "journal" / "desktop-2026-11.jsonl"
        other.write_text(json.dumps(line) + "\n", encoding="utf-8")

        def count() -> object:
            found = daemon.ok("GET", "/agent/list")["memories"]
            return found[0]["access_count"]

        eventually(lambda: count() == 1, seconds=15)
        other.with_name("desktop-2026-11 (copy).jsonl").write_bytes(other.read_bytes())
        daemon.ok("POST", "/admin/rebuild")
        assert count() == 1


@pytest.mark.soak
def test_a_vault_that_is_not_watched_is_followed_by_reconcile(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[vault]\nwatch = false\n", encoding="utf-8")
    with running(home) as daemon:
        (daemon.vault / "quiet.md").write_text("Nobody watches\n", encoding="utf-8")

        answer = daemon.ok("POST", "/admin/reconcile")

        assert answer["written"] == 1
        loops = daemon.ok("GET", "/admin/status")["daemon"]["loops"]
        assert "watcher" not in [each["name"] for each in loops]


def test_status_says_how_many_files_wait_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with running(tmp_path / "home") as daemon:
        assert daemon.ok("GET", "/admin/status")["unread_files"] == 0
        waiting = []
        for number in range(3_000):
            (daemon.vault / f"dropped-{number}.md").write_text(
                f"Box {number} holds letters\n", "utf-8"
            )

        def is_done() -> bool:
            status = daemon.ok("GET", "/admin/status")
            waiting.append(status["unread_files"])
            return bool(status["counts"]["memories"] >= 3_000)

        eventually(is_done, 60)
        assert max(waiting) > 0
        eventually(lambda: daemon.ok("GET", "/admin/status")["unread_files"] == 0)


def test_a_text_that_is_no_memory_is_named_in_status(daemon: Daemon) -> None:
    (daemon.vault / "shopping.txt").write_text("eggs\n", "utf-8")

    daemon.ok("POST", "/admin/reconcile")

    assert "shopping.txt" in daemon.ok("GET", "/admin/status")["ignored"]


def test_a_copied_file_is_told_and_becomes_a_memory_at_the_next_reconcile(daemon: Daemon) -> None:
    kept = daemon.remember("The recipe asks for two eggs")
    copied = daemon.vault / "another-recipe.md"
    copied.write_bytes(path_of(daemon, kept).read_bytes().replace(b"two eggs", b"three lemons"))

    notes = daemon.ok("POST", "/admin/reconcile")["notes"]

    assert any("another-recipe.md was a copy of" in note for note in notes), notes
    assert "The recipe asks for three lemons" in contents(daemon, "recipe lemons")
    assert path_of(daemon, kept) != copied
