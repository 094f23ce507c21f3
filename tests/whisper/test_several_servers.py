"""A session whose prompts go now to one server, now to another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.model.cause import Cause, WhisperSilence
from madeleine.whisper.delivery import Loss, confirm_delivery, mark_undelivered
from tests.fakes import close, keep, make_stores
from tests.whisper.conftest import KNOWN
from tests.whisper.listening import CONFIG, Listener, contents
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
    assert (contents(again), again.silence) == ([], Cause(WhisperSilence.TOLD_BEFORE))


def test_a_whisper_that_came_too_late_is_told_by_another_server(
    servers: tuple[Listener, Listener],
) -> None:
    one, other = servers

    late = one.hears(ASK_FERRY, session="s")
    mark_undelivered(one.stores, one.whisperer.sessions, late.whisper_id, Loss.LATE)

    assert contents(other.hears(ASK_FERRY, session="s")) == [FERRY]


def test_after_a_gap_another_server_may_tell_it_again(servers: tuple[Listener, Listener]) -> None:
    one, other = servers

    one.hears(ASK_FERRY, session="s")
    one.clock.pass_by(minutes=CONFIG.session_gap_minutes + 1)

    assert contents(other.hears(ASK_FERRY, session="s")) == [FERRY]


@pytest.mark.proves("I13")
def test_what_another_server_could_not_deliver_is_told_here(
    servers: tuple[Listener, Listener],
) -> None:
    one, other = servers

    sent = one.is_sent(ASK_FERRY, session="s")
    mark_undelivered(one.stores, one.whisperer.sessions, sent.whisper_id, Loss.UNCONFIRMED)

    assert contents(other.hears(ASK_FERRY, session="s")) == [FERRY]


def test_what_another_server_still_awaits_is_not_told_here_meanwhile(
    servers: tuple[Listener, Listener],
) -> None:
    one, other = servers

    one.is_sent(ASK_FERRY, session="s")

    assert contents(other.hears(ASK_FERRY, session="s")) == []


def test_what_a_killed_server_awaited_is_told_here_once_nobody_can_confirm_it(
    servers: tuple[Listener, Listener],
) -> None:
    one, other = servers

    one.is_sent(ASK_FERRY, session="s")
    meanwhile = other.hears(ASK_FERRY, session="s")
    one.clock.pass_by(seconds=5)

    assert contents(meanwhile) == []
    assert contents(other.hears(ASK_FERRY, session="s")) == [FERRY]


def test_what_was_confirmed_to_another_server_is_not_repeated_here(
    servers: tuple[Listener, Listener],
) -> None:
    one, other = servers

    sent = one.is_sent(ASK_FERRY, session="s")
    other.hears(ASK_FERRY, session="s")
    confirm_delivery([one.stores], one.whisperer.sessions, sent.whisper_id)
    one.clock.pass_by(seconds=5)

    assert contents(other.hears(ASK_FERRY, session="s")) == []


def test_what_was_confirmed_late_to_another_server_is_not_repeated_here(
    servers: tuple[Listener, Listener],
) -> None:
    one, other = servers

    sent = one.is_sent(ASK_FERRY, session="s")
    mark_undelivered(one.stores, one.whisperer.sessions, sent.whisper_id, Loss.UNCONFIRMED)
    confirm_delivery([one.stores], one.whisperer.sessions, sent.whisper_id)

    assert contents(other.hears(ASK_FERRY, session="s")) == []
    assert contents(one.hears(ASK_FERRY, session="s")) == []
