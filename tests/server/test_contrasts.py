"""Contrasts through a real daemon and the command line: asked for, and by the timetable."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.bootstrap import open_home
from tests.cli.running import Cli
from tests.server.running import Daemon, running

DECISIONS = (
    "The canary of a release runs for 15 minutes",
    "JWT access tokens live for 15 min",
    "Paint the meeting room blue",
    "Invoices are kept for ten years",
)


@pytest.fixture(autouse=True)
def _fake_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")


def contradictions(daemon: Daemon) -> list[str]:
    return [
        path.name
        for path in sorted(daemon.vault.glob("*.md"))
        if "contradicts" in path.read_text(encoding="utf-8")
    ]


def test_the_timetable_neither_draws_contrasts_nor_asks_about_them(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "home")
    for text in DECISIONS:
        cli.remember(text, "--type", "decision")
    before = [path.read_bytes() for path in cli.files]

    context = open_home(cli.home)
    context.sleeper.due("creative")
    context.sleeper.work_off()
    context.close()

    assert cli.ok("consolidate", "status")["last_creative"] is not None
    assert [path.read_bytes() for path in cli.files] == before
    assert cli.ok("proposals")["proposals"] == []


@pytest.mark.few(1)
@pytest.mark.parametrize("body", [{"task": "creative"}, {"mode": "creative"}, {}])
def test_who_asks_over_http_gets_the_documented_edges(home: Path, body: dict[str, str]) -> None:
    with running(home) as daemon:
        for text in DECISIONS[:2]:
            daemon.remember(text, type="decision")

        step = daemon.ok("POST", "/consolidate", body)["consolidation"]["steps"]["creative"]

        (sample,) = step["sample_associations"]
        assert (sample["type"], sample["confidence"]) == ("contradicts", 0.6)
        assert step["created"] == len(contradictions(daemon)) == 1
        assert daemon.ok("GET", "/agent/proposals")["proposals"] == []
        assert daemon.ok("GET", "/agent/insights")["tensions"] == []


def test_who_asks_on_the_command_line_gets_them_and_takes_them_back(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "home")
    ids = [cli.remember(text, "--type", "decision") for text in DECISIONS[:2]]
    before = [path.read_bytes() for path in cli.files]

    done = cli.ok("consolidate", "creative")

    assert "edge: contradicts" in "".join(p.read_text(encoding="utf-8") for p in cli.files)
    assert "contrasts_with" in cli("show", ids[1]).out
    assert "contradict" not in cli("show", ids[1]).out
    cli.ok("undo", done["consolidation"]["steps"]["creative"]["run"])
    assert [path.read_bytes() for path in cli.files] == before
