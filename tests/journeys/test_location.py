"""A memory keeps where it happened, through every door."""

from __future__ import annotations

from pathlib import Path

from tests.server.running import running


def test_where_something_happened_is_kept_and_can_be_changed(tmp_path: Path) -> None:
    with running(tmp_path / "home") as daemon:
        body = {"content": "The board met", "location": "Lisbon"}
        written = daemon.ok("POST", "/agent/remember", body)
        daemon.ok("POST", f"/agent/update/{written['node_id']}", {"location": "Porto"})
        shown = daemon.ok("GET", f"/agent/recall/{written['node_id']}")

        (file,) = (tmp_path / "home" / "vault").glob("*.md")
        assert written["memory"]["location"] == "Lisbon"
        assert shown["memory"]["location"] == "Porto"
        assert "\nlocation: Porto\n" in file.read_text(encoding="utf-8")
