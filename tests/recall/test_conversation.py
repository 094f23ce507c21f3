"""Conversations: what stands beside a turn lends it meaning, and who speaks counts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from madeleine.model.draft import Draft
from madeleine.model.memory import Memory, Origin
from madeleine.recall.surroundings import TURN_CHARS
from madeleine.write.forget import forget
from madeleine.write.revise import retire
from madeleine.write.stores import Stores
from tests.fakes import NOON
from tests.recall.asking import ask, first, hit_of, keep_many, place
from tests.sentences import in_words


def talk(stores: Stores, session: str, *turns: tuple[str, str], day: int = 0) -> list[Memory]:
    """Keep a conversation, turn by turn."""
    begun = NOON - timedelta(days=30 - day)
    return list(
        keep_many(
            stores,
            (
                Draft(
                    text,
                    origin=Origin(session, number, speaker),
                    created=begun + timedelta(minutes=number),
                )
                for number, (speaker, text) in enumerate(turns)
            ),
        )
    )


def chatter(stores: Stores, sessions: int = 6) -> None:
    """Keep other conversations, whose answers look the same."""
    topics = ("garden", "piano", "bakery", "tunnel", "violin", "harvest")
    for number, topic in enumerate(topics[:sessions]):
        talk(
            stores,
            f"other-{number}",
            ("Clara", f"tell me of the {topic}"),
            ("Dmitri", f"it is going well with the {topic}"),
            ("Clara", f"did you finish the {topic} already"),
            ("Dmitri", f"Yes, last Monday, number {number}!"),
            day=number,
        )


def test_an_answer_is_found_by_what_was_asked_before_it(stores: Stores) -> None:
    """«Yes, last Friday!» shares no word with the question that it answers."""
    chatter(stores)
    turns = talk(
        stores,
        "s1",
        ("Anna", "Hello there"),
        ("Boris", "Good morning"),
        ("Anna", "Did you visit the lighthouse museum?"),
        ("Boris", "Yes, last Friday!"),
        ("Anna", "How lovely"),
        day=10,
    )

    recalled = ask(stores, "When did Boris visit the lighthouse museum?", limit=5)

    assert place(turns[3], recalled) <= 3
    assert "its conversation is about this" in in_words(hit_of(turns[3], recalled).reasons)


def test_the_same_words_in_another_conversation_do_not_answer(stores: Stores) -> None:
    chatter(stores)
    here = talk(
        stores,
        "s1",
        ("Anna", "Did you visit the lighthouse museum?"),
        ("Boris", "Yes, last Friday!"),
    )
    there = talk(stores, "s2", ("Anna", "Did you sell the boat?"), ("Boris", "Yes, last Friday!!"))

    recalled = ask(stores, "When did Boris visit the lighthouse museum?", limit=20)

    assert place(here[1], recalled) < place(there[1], recalled)


def test_notes_taken_alone_do_not_lend_each_other_meaning(stores: Stores) -> None:
    """Who talks alone takes notes, and each note stands for itself."""
    notes = talk(
        stores,
        "diary",
        ("Anna", "the lighthouse museum is closed on Mondays"),
        ("Anna", "buy milk and bread"),
    )

    recalled = ask(stores, "when is the lighthouse museum closed?", explain=True)

    assert recalled.hits[0].memory.id == notes[0].id
    assert all(hit.explained and hit.explained.head == "note" for hit in recalled.hits)


@pytest.mark.parametrize("speaker", ["Anna", "Boris"])
def test_who_is_named_is_preferred_as_the_speaker(stores: Stores, speaker: str) -> None:
    chatter(stores)
    turns = talk(
        stores,
        "s1",
        ("Anna", "my favourite dish is dumplings"),
        ("Boris", "my favourite dish is pancakes"),
    )

    hit = first(stores, f"what is the favourite dish of {speaker}?")

    wanted = turns[0] if speaker == "Anna" else turns[1]
    assert hit.memory.id == wanted.id
    assert "said by whom you name" in in_words(hit.reasons)


def test_order_follows_turns_and_not_the_order_of_writing(stores: Stores) -> None:
    """Turns that arrive late are put where they were said."""
    drafts = [
        Draft("Yes, last Friday!", origin=Origin("s1", 3, "Boris")),
        Draft("Did you visit the lighthouse museum?", origin=Origin("s1", 2, "Anna")),
        Draft("Nice weather", origin=Origin("s1", 9, "Anna")),
        Draft("Indeed it is", origin=Origin("s1", 8, "Boris")),
    ]
    answer, asked, _, _ = keep_many(stores, drafts)

    recalled = ask(stores, "when was the lighthouse museum visited?")

    assert {hit.memory.id for hit in recalled.hits[:2]} == {answer.id, asked.id}


def test_forgetting_a_turn_closes_the_gap(stores: Stores) -> None:
    chatter(stores, 3)
    turns = talk(
        stores,
        "s1",
        ("Anna", "Did you visit the lighthouse museum?"),
        ("Boris", "hm hm"),
        ("Boris", "Yes, last Friday!"),
        ("Anna", "fine"),
    )
    forget(stores, turns[1].id)

    recalled = ask(stores, "When did Boris visit the lighthouse museum?", limit=20)

    assert turns[1].id not in [hit.memory.id for hit in recalled.hits]
    assert place(turns[2], recalled) <= 3


def test_what_stands_beside_an_answer_never_gets_round_the_filter(stores: Stores) -> None:
    """A foreign turn lends meaning and is no answer itself (I11)."""
    asked, answered = talk(
        stores,
        "s1",
        ("Anna", "Did you visit the lighthouse museum?"),
        ("Boris", "Yes, last Friday!"),
    )
    after = answered.created

    recalled = ask(stores, "visit to the lighthouse museum", created_after=after)

    assert asked.id not in [hit.memory.id for hit in recalled.hits]


def test_sessions_of_two_spaces_are_two_conversations(stores: Stores) -> None:
    """The same session name in another project is another conversation."""
    for space in ("atlas", "borneo"):
        keep_many(
            stores,
            [
                Draft(
                    f"in {space}: did you visit the museum?" if space == "atlas" else "nothing",
                    origin=Origin("s1", 0, "Anna"),
                    space=space,
                ),
                Draft("Yes, last Friday!", origin=Origin("s1", 1, "Boris"), space=space),
            ],
        )

    recalled = ask(stores, "when was the museum visited?", limit=10)

    best = [hit.memory.space for hit in recalled.hits if hit.memory.content.startswith("Yes")]
    assert best[0] == "atlas"


# -- what was said around a hit --------------------------------------------------------------


def walk(stores: Stores) -> list[Memory]:
    return talk(
        stores,
        "s1",
        ("Anna", "Hello there"),
        ("Boris", "Good morning"),
        ("Anna", "Did you visit the lighthouse museum?"),
        ("Boris", "Yes, last Friday!"),
        ("Anna", "How lovely"),
        ("Boris", "It was raining"),
    )


def test_a_hit_comes_with_the_turns_around_it(stores: Stores) -> None:
    turns = walk(stores)

    hit = hit_of(turns[2], ask(stores, "who visited the lighthouse museum?"))

    assert [each.id for each in hit.around] == [turns[n].id for n in (0, 1, 3, 4)]
    assert hit.around[0].speaker == "Anna"
    assert (hit.around[2].turn, hit.around[2].text) == (3, "Yes, last Friday!")


def test_at_the_beginning_there_is_nothing_before(stores: Stores) -> None:
    turns = walk(stores)

    hit = hit_of(turns[0], ask(stores, "hello there"))

    assert [each.turn for each in hit.around] == [1, 2]


def test_a_filter_for_the_answers_leaves_the_turns_around_them(stores: Stores) -> None:
    turns = walk(stores)
    chosen = turns[2].created

    found = ask(stores, "lighthouse museum", created_after=chosen, limit=1).hits[0]

    assert [each.turn for each in found.around] == [0, 1, 3, 4]


def test_a_retired_turn_is_not_shown_around_another(stores: Stores) -> None:
    turns = walk(stores)
    retire(stores, turns[3].id)

    hit = hit_of(turns[2], ask(stores, "who visited the lighthouse museum?"))

    assert [each.turn for each in hit.around] == [0, 1, 4]


def test_a_long_turn_is_cut(stores: Stores) -> None:
    turns = talk(stores, "s1", ("Anna", "the lighthouse museum"), ("Boris", "yes " * 400))

    hit = hit_of(turns[0], ask(stores, "lighthouse museum"))

    assert len(hit.around[0].text) == TURN_CHARS
    assert hit.around[0].text.endswith("…")


def test_a_note_has_nothing_around_it(stores: Stores) -> None:
    keep_many(stores, [Draft("the lighthouse museum")])

    assert first(stores, "lighthouse museum").around == ()
