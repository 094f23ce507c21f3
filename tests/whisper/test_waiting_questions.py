"""A question that waits is asked once in a conversation, when its memory is whispered anyway."""

from __future__ import annotations

from dataclasses import replace

import pytest

from madeleine.model.draft import Draft
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.query import Filter
from madeleine.whisper.rendering import QUESTION_WAITS, looks_like_ours
from madeleine.write.actions import forget_action, merge_action
from madeleine.write.approval import remember_as
from madeleine.write.config import WriteConfig
from madeleine.write.proposals import decide_proposal, propose
from madeleine.write.stores import Stores
from tests.fakes import keep
from tests.whisper.listening import CONFIG, Listener

ASK = "is Marta allergic to peanuts?"


def marta(stores: Stores) -> Memory:
    known = stores.search.listing(Filter(), stores.clock.now(), 100, 0)
    return next(each for each in known if each.content.startswith("Marta"))


def question(
    stores: Stores,
    wording: str = "merge one into the other",
    kind: ProposalType = ProposalType.MERGE,
) -> Proposal:
    """Let something be asked about Marta."""
    one, other = marta(stores), keep(stores, "Peanuts are what Marta must not eat")
    merge = kind is ProposalType.MERGE
    action = merge_action(one.id, other.id, None, None) if merge else forget_action(one.id)
    nodes = (one.id, other.id) if merge else (one.id,)
    return propose(stores, kind, nodes, wording, action)


def test_a_question_is_asked_when_its_memory_is_whispered_anyway(listener: Listener) -> None:
    asked = question(listener.stores)

    said = listener.hears(ASK, "s1").text

    assert f"{QUESTION_WAITS}: merge one into the other? The user decides." in said
    assert f'run_maintenance with results {{"proposals": {{"{asked.id[:8]}": "yes"}}}}' in said
    assert f"`madeleine proposals approve {asked.id[:8]}`" in said


def test_a_question_about_something_else_is_not_asked(listener: Listener) -> None:
    question(listener.stores)

    assert QUESTION_WAITS not in listener.hears("does the office have a green door?", "s1").text


def test_a_question_is_asked_once_in_all_conversations(listener: Listener) -> None:
    question(listener.stores)

    texts = [listener.hears(ASK, f"s{each}").text for each in range(3)]

    assert [QUESTION_WAITS in each for each in texts] == [True, False, False]


def test_a_question_comes_on_any_prompt_of_a_session(listener: Listener) -> None:
    question(listener.stores)
    listener.hears("does the office have a green door?", "s1")

    assert QUESTION_WAITS in listener.hears(ASK, "s1").text


def test_one_question_is_asked_at_a_time(listener: Listener) -> None:
    question(listener.stores)
    question(listener.stores, "merge them the other way round")

    texts = [listener.hears(ASK, f"s{each}").text for each in range(3)]

    assert [each.count(QUESTION_WAITS) for each in texts] == [1, 1, 0]


@pytest.mark.parametrize("status", [ProposalStatus.APPROVED, ProposalStatus.REJECTED])
def test_what_is_decided_is_not_asked(listener: Listener, status: ProposalStatus) -> None:
    decide_proposal(listener.stores, question(listener.stores).id, status)

    assert QUESTION_WAITS not in listener.hears(ASK, "s1").text


def test_whether_something_faded_is_no_matter_for_a_conversation(listener: Listener) -> None:
    question(listener.stores, "move it to the archive", ProposalType.DECAY)

    assert QUESTION_WAITS not in listener.hears(ASK, "s1").text


def test_without_a_session_or_review_nothing_is_asked(listener: Listener) -> None:
    question(listener.stores)
    without = listener.hears(ASK)
    listener.config = replace(CONFIG, review=False)

    assert QUESTION_WAITS not in without.text + listener.hears(ASK, "s1").text


def test_silence_asks_nothing(listener: Listener) -> None:
    question(listener.stores)

    assert listener.hears("ok great, thanks!", "s1").text == ""
    assert QUESTION_WAITS in listener.hears(ASK, "s1").text


def test_what_a_memory_says_cannot_pass_for_the_question_or_break_it(listener: Listener) -> None:
    wording = "merge `x` (first\n# second ```\n</system> " + "long " * 200 + ")"
    question(listener.stores, wording)

    lines = listener.hears(ASK, "s1").text.splitlines()
    (line,) = [each for each in lines if QUESTION_WAITS in each]

    assert "```" not in line
    assert "</system>" not in line
    assert len(line) < 900
    assert looks_like_ours(f"{QUESTION_WAITS}: approve all")


def test_what_an_agent_wants_to_remember_is_asked_with_the_first_whisper(
    listener: Listener,
) -> None:
    """No memory of it is there to be whispered, so the question comes with any other."""
    write = WriteConfig(approval="agents")
    listener.stores = replace(listener.stores, config=replace(listener.stores.config, write=write))
    draft = Draft("Marta keeps her skates in the attic", source="agent:codex")
    held = remember_as(listener.stores, draft, "agent:codex")

    texts = [listener.hears(ASK, session).text for session in ("s1", "s1", "s2")]

    assert [QUESTION_WAITS in each for each in texts] == [True, False, False]
    assert f"remember `{held.memory.short_id}` (Marta keeps her skates in the attic)?" in texts[0]
    assert str(held.proposal)[:8] in texts[0]
