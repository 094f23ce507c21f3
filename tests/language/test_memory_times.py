"""Whether a time in a question is the memory's, or belongs to the matter."""

from __future__ import annotations

import pytest

from madeleine.language.memory_times import asks_about_memory_time, asks_for_decisions


@pytest.mark.parametrize(
    "question",
    [
        "what did I decide last week",
        "What did we settle yesterday about the roof?",
        "which paint did Marta recommend on Friday",
        "what was agreed with the landlord last month",
        "what have we learned about the pump since Monday",
        "where did we leave the boat last weekend",
        "the name that she mentioned yesterday, what was it",
        "what happened with the deploy last night",
        "what went wrong last Tuesday",
        "anything new on the permit since Friday?",
        "what came out of the review this week",
        "my notes on the ferry since Monday",
        "remind me where we landed on pricing last month",
        "who told us about the leak yesterday",
        "what was I working on yesterday",
        "how was the outage resolved last night",
        "was haben wir gestern beschlossen?",
        "¿qué anoté ayer?",
        "qu'est-ce que nous avons décidé hier ?",
        "cosa ho annotato ieri?",
        "wat heb ik gisteren besloten?",
        "что мы решили вчера?",
    ],
)
def test_what_was_said_or_done_then_was_kept_then(question: str) -> None:
    assert asks_about_memory_time(question)


@pytest.mark.parametrize(
    "question",
    [
        "add a chart of signups for the last 90 days",
        "who is on call this week",
        "wer hat heute Dienst?",
        "¿qué comemos hoy?",
        "was kostet die Fähre am Sonntag",
        "is there a rehearsal on Thursday",
        "what does parking cost this year",
        "the invoice total last month",
        "plot last night's temperatures",
        "book a table for tonight",
        "release notes for this week",
        "how many trucks came by yesterday",
        "which train runs on Sunday",
        "did we use to ship on Fridays",
        "am I supposed to call her today",
        "tests take eleven minutes since Monday, find out why",
        "deploy the fix this afternoon",
    ],
)
def test_a_time_of_the_matter_is_none_of_the_memory(question: str) -> None:
    assert not asks_about_memory_time(question)


@pytest.mark.parametrize("question", ["what did we decide today", "yesterday's decisions"])
def test_decisions_are_asked_for(question: str) -> None:
    assert asks_for_decisions(question)
    assert not asks_for_decisions("what did we eat today")
