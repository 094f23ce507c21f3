"""`madeleine sync`: two homes, a folder between them, and what status and doctor say."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.sync.segments import SEGMENT_NAME
from tests.cli.running import Cli


@pytest.fixture
def other(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "other")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "place"
    made.mkdir()
    return made


def test_two_homes_hold_the_same_after_a_sync_each(cli: Cli, other: Cli, place: Path) -> None:
    memory = cli.remember("The kettle is in the cellar")

    sent = cli("sync", "--to", str(place))
    received = other("sync", "--to", "place")  # from here on

    assert sent.out.startswith("1 change sent")
    assert f"  {place}" in received.out
    assert "The kettle is in the cellar" in other("show", memory).out
    assert all(SEGMENT_NAME.fullmatch(f"{p.parent.name}/{p.name}") for p in place.rglob("*.log"))


def test_the_place_may_stand_in_the_settings(cli: Cli, place: Path) -> None:
    cli.ok("config", "set", "sync.place", str(place))
    cli.remember("A secret diary", "--tag", "private")

    assert cli.ok("sync")["held"] == 1

    told = cli("sync", "status").out
    assert f"place       {place}" in told
    assert "tagged `private`" in told
    assert "\nsync" in cli("status").out


def test_a_sync_without_a_place_says_how_to_set_one(cli: Cli) -> None:
    ran = cli("sync")

    assert ran.code == 2
    assert "madeleine config set sync.place" in ran.err


def test_a_place_that_is_away_is_told_by_status_and_doctor(cli: Cli, tmp_path: Path) -> None:
    cli.ok("config", "set", "sync.place", str(tmp_path / "unplugged"))
    cli.remember("The kettle is in the cellar")

    ran = cli("sync")

    assert ran.code == 5
    assert "make the folder, or name another place" in ran.err
    assert "unplugged" in cli.ok("sync", "status")["problem"]
    assert "the last sync did not come about" in cli("doctor").out
