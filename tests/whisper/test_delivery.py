"""What follows from a whisper that reached somebody, and what does not from one that did not."""

from __future__ import annotations

import pytest

from madeleine.index.log import WhisperEntry
from madeleine.whisper.composing import review_key
from madeleine.whisper.delivery import Loss, confirm_delivery, mark_undelivered
from madeleine.whisper.learning import notice_use
from madeleine.whisper.log import DeliveryState, is_delivered
from madeleine.whisper.missed import WhisperFate, fate_of
from madeleine.whisper.report import measure_hold_out
from tests.fakes import keep
from tests.whisper.listening import CONFIG, Listener, contents
from tests.whisper.test_whisper import ASK_FERRY, FERRY


def entry_of(listener: Listener, whisper_id: str) -> WhisperEntry:
    entry = listener.stores.log.whisper(whisper_id)
    assert entry is not None
    return entry


def test_who_does_not_confirm_is_told_at_once(listener: Listener) -> None:
    said = listener.hears(ASK_FERRY, "s")

    assert entry_of(listener, said.whisper_id).body["delivery"] == DeliveryState.DELIVERED


def test_what_awaits_its_receipt_is_neither_delivered_nor_free(listener: Listener) -> None:
    sent = listener.is_sent(ASK_FERRY, "s")

    body = entry_of(listener, sent.whisper_id).body
    assert (contents(sent), is_delivered(body)) == ([FERRY], False)
    assert listener.hears(ASK_FERRY, "s").text == ""


@pytest.mark.proves("I13")
def test_what_nobody_got_may_be_told_again_and_is_no_use(listener: Listener) -> None:
    sent = listener.is_sent(ASK_FERRY, "s")

    assert mark_undelivered(
        listener.stores, listener.whisperer.sessions, sent.whisper_id, Loss.UNCONFIRMED
    )

    memory = sent.injected[0].memory
    assert notice_use(listener.stores, "s", f"{FERRY}, as everybody knows.") == []
    assert fate_of(entry_of(listener, sent.whisper_id).body, memory.id) is WhisperFate.UNDELIVERED
    found = measure_hold_out(listener.stores, CONFIG)
    assert (found.told.whispers, found.late, found.undelivered) == (0, 0, 1)
    assert contents(listener.hears(ASK_FERRY, "s")) == [FERRY]


def test_what_was_confirmed_is_told_and_may_be_used(listener: Listener) -> None:
    sent = listener.is_sent(ASK_FERRY, "s")

    assert confirm_delivery([listener.stores], listener.whisperer.sessions, sent.whisper_id)

    assert listener.hears(ASK_FERRY, "s").text == ""
    used = notice_use(listener.stores, "s", f"{FERRY}, as everybody knows.")
    assert used == [sent.injected[0].memory.id]
    assert measure_hold_out(listener.stores, CONFIG).told.whispers == 1


def test_a_confirmation_after_it_was_given_up_is_the_truth(listener: Listener) -> None:
    sent = listener.is_sent(ASK_FERRY, "s")
    sessions = listener.whisperer.sessions

    mark_undelivered(listener.stores, sessions, sent.whisper_id, Loss.UNCONFIRMED)
    confirm_delivery([listener.stores], sessions, sent.whisper_id)

    body = entry_of(listener, sent.whisper_id).body
    assert (body["delivery"], body.get("not_delivered")) == (DeliveryState.DELIVERED, None)
    assert listener.hears(ASK_FERRY, "s").text == ""


def test_each_is_noted_once_however_often_it_is_said(listener: Listener) -> None:
    sent = listener.is_sent(ASK_FERRY, "s")
    stores, sessions = listener.stores, listener.whisperer.sessions

    confirmed = [confirm_delivery([stores], sessions, sent.whisper_id) for _ in range(3)]
    unknown = [
        confirm_delivery([stores], sessions, "none"),
        mark_undelivered(stores, sessions, "none", Loss.UNCONFIRMED),
    ]

    assert confirmed == [True, False, False]
    assert unknown == [False, False]


def test_what_is_given_up_twice_frees_nothing_that_was_told_in_between(listener: Listener) -> None:
    stores, sessions = listener.stores, listener.whisperer.sessions
    sent = listener.is_sent(ASK_FERRY, "s")
    mark_undelivered(stores, sessions, sent.whisper_id, Loss.UNCONFIRMED)
    listener.hears(ASK_FERRY, "s")

    assert not mark_undelivered(stores, sessions, sent.whisper_id, Loss.UNCONFIRMED)
    assert listener.hears(ASK_FERRY, "s").text == ""


def test_silence_awaits_no_receipt(listener: Listener) -> None:
    silent = listener.is_sent("which aria did the tenor sing?", "s")

    assert silent.text == ""
    assert "delivery" not in entry_of(listener, silent.whisper_id).body
    assert not confirm_delivery([listener.stores], listener.whisperer.sessions, silent.whisper_id)


def test_an_entry_of_an_earlier_release_counts_as_delivered(listener: Listener) -> None:
    assert is_delivered({"injected": ["a"]})
    assert not is_delivered({"injected": ["a"], "late": True})


def test_a_question_for_review_counts_as_asked_only_once_it_was_delivered(
    listener: Listener,
) -> None:
    keep(listener.stores, "The ferry was painted by Nils in spring")
    listener.config = type(CONFIG)(injection_gate=0.99)
    listener.hears("who painted the ferry in spring, Nils?", "earlier")
    listener.config = CONFIG
    listener.clock.pass_by(hours=13)

    sent = listener.is_sent("is Marta allergic to peanuts?", "later")
    asked_about = review_key(str(entry_of(listener, sent.whisper_id).body["reviewed"]))
    before = listener.stores.log.state(asked_about)
    confirm_delivery([listener.stores], listener.whisperer.sessions, sent.whisper_id)

    assert before is None
    assert listener.stores.log.state(asked_about) is not None
