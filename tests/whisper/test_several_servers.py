"""A session whose prompts go now to one server, now to another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.whisper.delivery import LATE, give_up
from madeleine.whisper.whisper import TOLD
from tests.fakes import close, keep, make_stores
from tests.whisper.conftest import KNOWN
from tests.whisper.listening import HABITS, Listener, contents
from tests.whisper.test_whisper import ASK_FERRY, FERRY


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[Listener, Listener]]:
    """Two servers on one memory. What each of them remembers of a session is its own."""
    stores = make_stores(tmp_path / "home", truth="database")
    for each in KNOWN:
        keep(stores, each)
    yield Listener(stores), Listener(stores)
    close(stores)


def test_what_one_server_whispered_another_does_not_repeat(
    servers: tuple[Listener, Listener],
) -> None:
    one, other = servers

    first = one.hears(ASK_FERRY, session="s")
    again = other.hears(ASK_FERRY, session="s")
    elsewhere = other.hears(ASK_FERRY, session="another")

    assert (contents(first), contents(elsewhere)) == ([FERRY], [FERRY])
    assert (contents(again), again.silence) == ([], TOLD)


def test_a_whisper_that_came_too_late_is_told_by_another_server(
    servers: tuple[Listener, Listener],
) -> None:
    one, other = servers

    late = one.hears(ASK_FERRY, session="s")
    give_up(one.stores, one.whisperer.sessions, late.whisper_id, LATE)

    assert contents(other.hears(ASK_FERRY, session="s")) == [FERRY]


def test_after_a_gap_another_server_may_tell_it_again(servers: tuple[Listener, Listener]) -> None:
    one, other = servers

    one.hears(ASK_FERRY, session="s")
    one.clock.pass_by(minutes=HABITS.session_gap_minutes + 1)

    assert contents(other.hears(ASK_FERRY, session="s")) == [FERRY]
