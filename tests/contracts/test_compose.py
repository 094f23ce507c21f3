"""What `compose.yaml` says of us is true of us; the images themselves are not started here."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from madeleine.cli.command_table import command_names
from madeleine.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "compose.yaml").read_text(encoding="utf-8")


def test_every_variable_for_a_server_is_a_setting() -> None:
    known = {
        f"MADELEINE_{section.name}_{each.name}".upper()
        for section in fields(Settings)
        for each in fields(getattr(Settings(), section.name))
    }
    given = set(re.findall(r"^      (MADELEINE_[A-Z_]+):", TEXT, re.MULTILINE))

    assert given - {"MADELEINE_PASSWORD"}
    assert given - {"MADELEINE_PASSWORD"} <= known


def test_the_command_that_a_server_runs_exists() -> None:
    (command,) = re.findall(r'CMD \["madeleine", "(\w+)"', TEXT)

    assert command in command_names()


def test_nobody_is_let_in_by_a_password_that_stands_in_the_file() -> None:
    assert set(re.findall(r"PASSWORD: (.*)", TEXT)) == {
        "${POSTGRES_PASSWORD:?}",
        "${MADELEINE_PASSWORD:?}",
    }


def test_a_browser_stays_at_the_server_where_it_signed_in() -> None:
    """Another one does not know its sign-in; the guides say the same."""
    guides = [
        (ROOT / "docs/guides" / name).read_text(encoding="utf-8")
        for name in ("page.md", "team-server.md")
    ]

    assert re.findall(r"lb_policy (\w+)", TEXT) == ["ip_hash"]
    assert all("`lb_policy ip_hash`" in each for each in guides)
