"""What may have been replaced is not whispered alone: the newer one is, and the older is named."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from madeleine.language.deeds import read_named_deed
from madeleine.model.digest import text_digest
from madeleine.model.event import EventKind
from madeleine.model.memory import Connection, Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.verdict import SUSPECTED, Relation, Verdict, verdict_to_json
from madeleine.model.words import ABOUT_SELF, Edge, MemoryType
from madeleine.recall.recall import recall
from madeleine.whisper.brief import BriefRequest, build_brief
from madeleine.whisper.config import BriefConfig
from madeleine.whisper.deed import DeedRequest, DeedWord, speak_before_deed
from madeleine.whisper.missed import explain_missed
from madeleine.whisper.rendering import MAY_REPLACE
from madeleine.write.actions import supersede_action
from madeleine.write.proposals import decide_proposal, propose
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores
from tests.fakes import NOON, keep
from tests.whisper.listening import Listener

PROMPT = "which queue do the thumbnail workers read from?"
OLD = "The thumbnail workers read from the RabbitMQ queue"
NEW = "Since the move everything for pictures comes over Kafka"
MORE = "Every picture is cut to four sizes, and each size has a partition of its own. " * 3


def notes(stores: Stores, new: str = NEW, **fields: object) -> tuple[Memory, Memory]:
    older = keep(stores, OLD, created=NOON - timedelta(days=40))
    return older, keep(stores, new, created=NOON - timedelta(days=2), **fields)


def ask(stores: Stores, older: Memory, newer: Memory) -> Proposal:
    """Let somebody be asked whether the newer replaces the older, as the night does."""
    arrow = Connection(older.id, Edge.EVOLVED_FROM, 0.9, by="conflict_detector")
    action = supersede_action(older.id, newer.id, arrow)
    wording = f"let {newer.short_id} replace {older.short_id}"
    return propose(stores, ProposalType.CONFLICT, (older.id, newer.id), wording, action)


def suspect(stores: Stores, older: Memory, newer: Memory) -> None:
    """Keep that the newer may replace the older, as the night does before it asks."""
    body = {
        "job": "conflict_detector",
        "judge": SUSPECTED,
        "pair": [older.id, newer.id],
        "digests": [text_digest(older), text_digest(newer)],
        "verdict": verdict_to_json(Verdict(Relation.EVOLUTION, 0.5, "seems so")),
    }
    record_events(stores, [new_event(stores, EventKind.JUDGED, body)], durable=False)


def told(listener: Listener, prompt: str = PROMPT) -> list[str]:
    return [each.memory.content for each in listener.hears(prompt, "s1").injected]


@pytest.mark.parametrize("learn", [ask, suspect])
def test_the_newer_one_is_whispered_and_names_the_older(
    listener: Listener, learn: Callable[[Stores, Memory, Memory], object]
) -> None:
    older, newer = notes(listener.stores)
    assert OLD in told(listener)
    learn(listener.stores, older, newer)

    said = listener.hears(PROMPT, "s2")

    contents = [each.memory.content for each in said.injected]
    assert NEW in contents
    assert OLD not in contents
    assert f"{MAY_REPLACE}: {older.headline} (id: {older.short_id}, " in said.text
    assert newer.short_id in said.text


def test_where_both_are_found_the_older_is_only_named(listener: Listener) -> None:
    newer_text = "The thumbnail workers read from the Kafka topic now"
    older, newer = notes(listener.stores, newer_text)
    ask(listener.stores, older, newer)

    contents = told(listener)

    assert newer_text in contents
    assert OLD not in contents


def test_a_chain_of_questions_is_followed_to_its_end(listener: Listener) -> None:
    older, newer = notes(listener.stores, "The thumbnail workers read from the Kafka topic now")
    newest = keep(listener.stores, "Thumbnail workers read from the NATS stream", created=NOON)
    ask(listener.stores, older, newer)
    ask(listener.stores, newer, newest)

    contents = told(listener)

    assert newest.content in contents
    assert not {older.content, newer.content} & set(contents)


def test_who_said_no_is_told_the_older_one(listener: Listener) -> None:
    older, newer = notes(listener.stores)
    asked = ask(listener.stores, older, newer)
    decide_proposal(listener.stores, asked.id, ProposalStatus.REJECTED)

    assert OLD in told(listener)


def test_nothing_private_comes_in_the_place_of_something_else(listener: Listener) -> None:
    older, newer = notes(listener.stores, tags=(ABOUT_SELF,))
    ask(listener.stores, older, newer)

    assert NEW not in told(listener)


def test_what_was_told_already_in_a_session_is_not_told_again_for_the_older(
    listener: Listener,
) -> None:
    older, newer = notes(listener.stores)
    ask(listener.stores, older, newer)
    assert NEW in told(listener)

    assert {OLD, NEW}.isdisjoint(told(listener))


def test_who_asks_why_the_older_one_was_missed_is_told(listener: Listener) -> None:
    older, newer = notes(listener.stores)
    ask(listener.stores, older, newer)
    listener.hears(PROMPT, "s1")
    (entry,) = listener.stores.log.whispers(1)

    why = explain_missed(listener.stores, listener.config, entry, older)

    assert why.text == "A newer one, which may have replaced it, was told in its place."


# -- before a deed, and at the start of a session ------------------------------------------------

PLEDGE = "`legacy/` is not touched without asking Tom"
EASED = "`legacy/` may be touched by whoever runs its tests first"


def rules(stores: Stores) -> tuple[Memory, Memory]:
    older = keep(
        stores, PLEDGE, type=MemoryType.DECISION, space="atlas", created=NOON - timedelta(days=9)
    )
    newer = keep(stores, EASED, space="atlas", created=NOON - timedelta(days=2))
    return older, newer


def about_to_edit(listener: Listener) -> DeedWord:
    request = DeedRequest(read_named_deed("Edit", "legacy/pay.py"), space="atlas")
    return speak_before_deed(listener.stores, listener.config, listener.whisperer, request)


@pytest.mark.parametrize("learn", [ask, suspect])
def test_before_a_deed_the_newer_one_is_told_and_names_the_older(
    listener: Listener, learn: Callable[[Stores, Memory, Memory], object]
) -> None:
    older, newer = rules(listener.stores)
    assert PLEDGE in [each.memory.content for each in about_to_edit(listener).told]
    learn(listener.stores, older, newer)

    word = about_to_edit(listener)

    assert [each.memory.content for each in word.told] == [EASED]
    assert f"{MAY_REPLACE}: {older.headline} (id: {older.short_id}, " in word.text


@pytest.mark.parametrize("learn", [ask, suspect])
def test_a_session_is_told_the_newer_one_at_its_start(
    listener: Listener, learn: Callable[[Stores, Memory, Memory], object]
) -> None:
    older, newer = rules(listener.stores)
    learn(listener.stores, older, newer)

    made = build_brief(
        listener.stores,
        listener.config,
        BriefConfig(),
        listener.whisperer,
        BriefRequest(space="atlas"),
    )

    assert made.ids == (newer.id,)
    assert f"{MAY_REPLACE}: {older.headline} (id: {older.short_id}, " in made.text


def test_a_session_is_told_each_once_where_both_are_listed(listener: Listener) -> None:
    older = keep(listener.stores, PLEDGE, type=MemoryType.DECISION, created=NOON)
    newer = keep(
        listener.stores, EASED, type=MemoryType.DECISION, created=NOON + timedelta(minutes=1)
    )
    suspect(listener.stores, older, newer)

    made = build_brief(
        listener.stores, listener.config, BriefConfig(), listener.whisperer, BriefRequest()
    )

    assert made.ids == (newer.id,)
    assert made.text.count(newer.short_id) == 1


# -- recall -----------------------------------------------------------------------------------


def test_recall_says_what_may_have_replaced_a_hit(listener: Listener) -> None:
    stores = listener.stores
    older, newer = notes(stores)
    asked = ask(stores, older, newer)

    hits = {each.memory.id: each for each in recall(stores, RecallQuery(PROMPT, all=True)).hits}

    found = hits[older.id].replaced_by
    assert found is not None
    assert (found.memory.id, found.proposal) == (newer.id, asked.id)


def test_recall_tells_what_is_suspected_though_no_word_of_it_was_asked_for(
    listener: Listener,
) -> None:
    stores = listener.stores
    older, newer = notes(stores, "Since the move everything for pictures comes over Kafka")
    query = RecallQuery("RabbitMQ")
    assert [each.memory.id for each in recall(stores, query).hits] == [older.id]
    suspect(stores, older, newer)

    first, second = recall(stores, query).hits

    assert (first.memory.id, second.memory.id) == (newer.id, older.id)
    assert second.replaced_by is not None
    assert (second.replaced_by.is_known, second.replaced_by.proposal) == (False, None)
    assert [each.memory.id for each in first.replaces] == [older.id]


def test_what_is_asked_does_not_hide_what_is_suspected(listener: Listener) -> None:
    stores = listener.stores
    older, newer = notes(stores)
    other = keep(stores, "Frames are cut on the graphics cards", created=NOON)
    ask(stores, older, newer)
    suspect(stores, older, other)

    hits = [each.memory.id for each in recall(stores, RecallQuery("RabbitMQ")).hits]

    assert sorted(hits[:2]) == sorted([newer.id, other.id])
    assert hits[2] == older.id


def test_what_passes_no_filter_is_not_brought_for_another(listener: Listener) -> None:
    stores = listener.stores
    older, newer = notes(stores, space="elsewhere")
    suspect(stores, older, newer)

    hits = recall(stores, RecallQuery("RabbitMQ", filter=Filter(spaces=(None,)))).hits

    assert [each.memory.id for each in hits] == [older.id]


def test_of_two_hits_about_which_is_asked_the_newer_comes_first(listener: Listener) -> None:
    stores = listener.stores
    older, newer = notes(stores, f"Thumbnail workers read from a Kafka queue. {MORE}")
    query = RecallQuery("thumbnail workers read from queue RabbitMQ", all=True)
    before = [each.memory.id for each in recall(stores, query).hits]
    ask(stores, older, newer)

    hits = recall(stores, query).hits

    assert before[:2] == [older.id, newer.id]
    assert [each.memory.id for each in hits][:2] == [newer.id, older.id]
    assert [each.memory.id for each in hits[0].replaces] == [older.id]


def test_recall_says_whose_place_a_hit_took(listener: Listener) -> None:
    stores = listener.stores
    older, newer = notes(stores)
    asked = ask(stores, older, newer)
    decide_proposal(stores, asked.id, ProposalStatus.APPROVED)

    hits = recall(stores, RecallQuery("pictures over Kafka since the move")).hits

    (version,) = hits[0].replaces
    assert (hits[0].memory.id, version.memory.id, version.proposal) == (newer.id, older.id, None)
