"""A backup that takes a while says how far it is."""

from __future__ import annotations

import argparse
import io
import re
import threading

import pytest

from madeleine.api.local import LocalDoor
from madeleine.cli import progress
from madeleine.cli import watched_run as watching
from madeleine.cli.commands import backup
from madeleine.cli.door import CommandDoor
from madeleine.cli.output import CommandOutput
from tests.cli.running import Cli
from tests.server.running import eventually

DRAWN = re.compile(r"backup  (\d+)/(\d+)  50 %")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw at once, and look often."""
    monkeypatch.setattr(progress, "SHOW_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(watching, "POLL_SECONDS", 0.01)


@pytest.mark.usefixtures("impatient")
def test_a_backup_shows_how_far_it_is_where_a_terminal_watches(cli: Cli) -> None:
    for text in ("tea at five", "coffee at nine", "the tide at noon"):
        cli.remember(text)
    out, err = io.StringIO(), io.StringIO()
    say = CommandOutput(out, err, live=True)
    with CommandDoor(str(cli.home), say) as door:
        opened = door.open()
        assert isinstance(opened, LocalDoor)
        asked = argparse.Namespace(list=False, to=None)
        command = threading.Thread(target=backup.run, args=(asked, door, say))

        with (
            opened.context.stores.writing
        ):  # all is copied by then; the last look waits for writers
            command.start()
            eventually(lambda: DRAWN.search(err.getvalue()))
        command.join(50)

        assert not command.is_alive()
        assert opened.call("backups")["running"] is None
    assert out.getvalue().startswith("3 memories, ")
    assert err.getvalue().endswith("\r\x1b[K"), "the bar is taken away"


def test_a_backup_without_a_terminal_draws_nothing(cli: Cli) -> None:
    cli.remember("tea at five")

    ran = cli("backup")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("1 memory, ")
