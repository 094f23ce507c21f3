"""What becomes a memory of what is said in passing, without a language model."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.ingest.config import IngestConfig
from madeleine.ingest.context import IngestContext
from madeleine.ingest.transcripts import Transcript, ingest_transcript
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.words import MemoryType, Tier
from madeleine.write.stores import Stores
from tests.ingest.writing import a_line, an_answer, encoded


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session-1.jsonl"


def take(stores: Stores, path: Path, *lines: bytes, extractor: str = "local") -> list[Memory]:
    """Take a session in and return the working memories that came of it, in their order."""
    path.write_bytes(path.read_bytes() + b"".join(lines) if path.exists() else b"".join(lines))
    intake = IngestContext(stores, IngestConfig(extractor=extractor))
    ingest_transcript(intake, Transcript(path, "claude-code", "session-1", "atlas", True))
    found = stores.search.listing(Filter(tiers=(Tier.WORKING,)), stores.clock.now(), 100)
    return sorted(found, key=lambda each: each.origin.turn or 0 if each.origin else 0)


def say(*turns: str) -> list[bytes]:
    """Return a conversation: a person and the agent in turns."""
    return [
        a_line(turn) if number % 2 == 0 else an_answer(turn) for number, turn in enumerate(turns)
    ]


def a_result(text: str, failed: bool) -> bytes:
    content = {"type": "tool_result", "tool_use_id": "t1", "content": text, "is_error": failed}
    return a_line([content])


WORTH = (
    "we take the blue connector for the pump, not the grey one",
    "for all services: timestamps are UTC and end in _at",
    "I hate it when you touch the lock file",
    "in future ask Lotte before you change anything under rates/",
    "the ferry only takes lorries up to 38 tonnes",
    "our accountant is Mr. Osei, he only reads letters",
    "the audit is on the 4th of March, in Leiden",
    "careful, the importer stops at 10,000 rows and says nothing",
    "no retries for the label printer, it prints everything twice otherwise",
    "wir haben mit Jan ausgemacht, dass die Miete ab Mai 910 Euro ist",
    "nunca subas nada al servidor los viernes",
    "toujours vouvoyer les parents dans les lettres",
)
NOT_WORTH = (
    "can you look at the pump driver",
    "maybe we could use a second queue one day, who knows",
    "thanks, that's lovely",
    "hm, let me think about the colours",
    "run the tests again please",
    "should we split the module?",
    "lol, my cat is on the keyboard",
    "the build is red again",
    "vielleicht machen wir irgendwann eine App",
    "no sé, ya veremos",
    "on verra demain",
    "show me the last three commits",
)


def test_most_of_what_is_worth_keeping_becomes_a_working_memory(stores: Stores, path: Path) -> None:
    """By the signs alone, without a model's vectors, the head misses some."""
    lines = [line for said in WORTH for line in say(said, "All right.")]

    kept = [each.content.lower() for each in take(stores, path, *lines)]

    found = [said for said in WORTH if any(said[5:-5].lower() in each for each in kept)]
    assert len(found) >= 10, set(WORTH) - set(found)


@pytest.mark.parametrize("said", NOT_WORTH)
def test_chatter_ideas_and_errands_are_not_kept(stores: Stores, path: Path, said: str) -> None:
    assert take(stores, path, *say(said, "All right.")) == []


def test_a_kept_sentence_says_where_it_was_said_and_what_it_belongs_to(
    stores: Stores, path: Path
) -> None:
    [kept] = take(stores, path, *say("we take the oak for the hull, not the pine", "Fine."))

    assert kept.type is MemoryType.DECISION
    assert kept.space == "atlas"
    assert kept.content.startswith("atlas: We take the oak")
    assert kept.origin is not None
    assert (kept.origin.session, kept.origin.turn, kept.origin.speaker) == ("session-1", 1, "user")
    assert kept.confidence < 0.9


@pytest.mark.parametrize(
    ("said", "meant", "first"),
    [
        ("keep the rows 30 days. no, sorry, 45, that's the dispute window", "45 days", "30"),
        ("the limit for uploads is 20 MB. no wait, 25", "25 MB", "20"),
        ("we decided on 4 workers for the queue. make it 6", "6 workers", "4"),
        ("die Gebühr ist ab März 3 Euro, nein, warte, 4 Euro", "4 Euro", "3 "),
        ("quedamos en que el plazo son 10 días, no, perdón, 12 días", "12 días", "10"),
    ],
)
def test_a_value_that_is_corrected_is_kept_as_corrected(
    stores: Stores, path: Path, said: str, meant: str, first: str
) -> None:
    [kept] = take(stores, path, *say(said, "Done."))

    assert meant in kept.content
    assert first not in kept.content


def test_a_value_that_only_the_next_turn_corrects_is_kept_as_corrected(
    stores: Stores, path: Path
) -> None:
    kept = take(
        stores,
        path,
        *say(
            "for all exports the timeout is 60 seconds",
            "All right, 60 seconds it is.",
            "no, sorry, 90",
            "Changed.",
        ),
    )

    assert [each.content for each in kept] == ["atlas: For all exports the timeout is 90 seconds."]


@pytest.mark.parametrize(
    ("said", "corrected", "content"),
    [
        (
            "for all exports the timeout is 60 seconds",
            "no, sorry, 90",
            "atlas: For all exports the timeout is 90 seconds.",
        ),
        (
            "in future compare prices with the net amounts",
            "actually no, gross amounts",
            "atlas: In future compare prices with the gross amounts.",
        ),
        (
            "we decided with Pia that the harvest starts on Monday",
            "no, sorry, Tuesday",
            "atlas: We decided with Pia that the harvest starts on Tuesday.",
        ),
        (
            "Wir haben mit Jana beschlossen, dass die Mahnung nach 14 Tagen rausgeht",
            "nein, Entschuldigung, nach 21 Tagen",
            "atlas: Wir haben mit Jana beschlossen, dass die Mahnung nach 21 Tagen rausgeht.",
        ),
    ],
)
@pytest.mark.parametrize("runs", [1, 2])
def test_a_bare_correction_leaves_only_the_corrected_value(
    stores: Stores, path: Path, said: str, corrected: str, content: str, runs: int
) -> None:
    """Also where the first value was a memory before the correction was read."""
    lines = say(said, "All right.", corrected, "Changed.")
    if runs == 2:
        [first] = take(stores, path, *lines[:2])
        assert first.content != content
        lines = lines[2:]

    kept = take(stores, path, *lines)

    assert [each.content for each in kept] == [content]


@pytest.mark.parametrize(
    ("said", "corrected", "content"),
    [
        (
            "We always deploy Atlas on Thursdays.",
            "correction: we deploy on Tuesdays, not Thursdays",
            "atlas: We deploy on Tuesdays, not Thursdays.",
        ),
        (
            "our accountant is Mr. Osei, he only reads letters",
            "that's wrong, our accountant is Ms. Brandt, not Mr. Osei",
            "atlas: Our accountant is Ms. Brandt, not Mr. Osei.",
        ),
        (
            "from now on write changelogs in Markdown",
            "from now on write changelogs in AsciiDoc, no longer in Markdown",
            "From now on write changelogs in AsciiDoc, no longer in Markdown",
        ),
    ],
)
def test_what_another_session_corrects_is_replaced_by_it(
    stores: Stores, path: Path, said: str, corrected: str, content: str
) -> None:
    [first] = take(stores, path, *say(said, "Noted."))

    other = path.with_name("session-2.jsonl")
    other.write_bytes(b"".join(say(corrected, "Noted.")))
    intake = IngestContext(stores, IngestConfig(extractor="local"))
    ingest_transcript(intake, Transcript(other, "claude-code", "session-2", "atlas", True))

    chosen = Filter(tiers=(Tier.WORKING,))
    [kept] = stores.search.listing(chosen, stores.clock.now(), 10)
    assert kept.content == content
    ended = stores.search.get(first.id)
    assert ended is not None
    assert ended.memory.superseded_by == kept.id


@pytest.mark.parametrize(
    "said",
    [
        "for all services: no, the timeout is fine as it is",
        "we take the grey connector for the lamp, not the white one",
        "no, the audit is not late, it is in Leiden",
    ],
)
def test_what_another_session_says_of_something_else_replaces_nothing(
    stores: Stores, path: Path, said: str
) -> None:
    before = take(
        stores,
        path,
        *say("we take the blue connector for the pump, not the grey one", "Fine."),
        *say("the audit is on the 4th of March, in Leiden", "Fine."),
    )

    other = path.with_name("session-2.jsonl")
    other.write_bytes(b"".join(say(said, "Noted.")))
    intake = IngestContext(stores, IngestConfig(extractor="local"))
    ingest_transcript(intake, Transcript(other, "claude-code", "session-2", "atlas", True))

    found = stores.search.listing(Filter(tiers=(Tier.WORKING,)), stores.clock.now(), 10)
    assert {each.id for each in before} <= {each.id for each in found}


@pytest.mark.parametrize(
    ("reply", "content"),
    [
        (
            "OK, the timeout of the import is 90 seconds.",
            "The timeout of the import is 90 seconds.",
        ),
        ("Done.", "Should the timeout of the import be 90 seconds? Yes."),
    ],
)
def test_an_agents_question_that_is_answered_with_another_value_is_kept_with_that(
    stores: Stores, path: Path, reply: str, content: str
) -> None:
    asked = "I can do that. Should the timeout of the import be 60 seconds?"

    kept = take(stores, path, *say("write the import", asked, "no, sorry, 90", reply))

    assert [each.content for each in kept] == [f"atlas: {content}"]


def test_a_correction_of_what_the_agent_asked_leaves_what_was_said_before_as_it_is(
    stores: Stores, path: Path
) -> None:
    fees = "we decided with Marek that dunning fees are 0, 5 and 10 euros"
    fee = "for all new clients the fee is 10 euros"

    kept = take(
        stores,
        path,
        *say(
            fees,
            "Noted. Should the timeout be 60 seconds?",
            "no, sorry, 90",
            "OK, the timeout is 90 seconds.",
            fee,
            "Noted. Should the timeout of the export be 30 seconds?",
            "no, sorry, 45",
            "Done.",
        ),
    )

    told = " ".join(each.content for each in kept)
    assert "0, 5 and 10 euros" in told
    assert "fee is 10 euros" in told
    assert "The timeout is 90 seconds" in told


def test_what_the_agent_said_of_something_else_is_not_put_beside_a_whole_sentence(
    stores: Stores, path: Path
) -> None:
    kept = take(
        stores,
        path,
        *say(
            "make the header blue",
            "Understood, the header is blue now, and the footer stays grey.",
            "I hate it when you touch the lock file",
            "I will leave it alone.",
        ),
    )

    assert [each.content for each in kept] == ["I hate it when you touch the lock file."]


def test_a_value_that_is_taken_back_in_a_later_turn_is_not_kept(stores: Stores, path: Path) -> None:
    kept = take(
        stores,
        path,
        *say(
            "the fee for late invoices is 9 euros from now on, we agreed on that",
            "Understood, 9 euros.",
            "no, I misread that. the fee for late invoices is 7 euros, not 9",
            "Changed.",
        ),
    )

    assert [each.content for each in kept if "7 euros" in each.content]
    assert not [each.content for each in kept if "is 9 euros" in each.content]


def test_a_short_answer_is_kept_with_what_it_answers(stores: Stores, path: Path) -> None:
    kept = take(
        stores,
        path,
        *say(
            "next the archive",
            "How long should scans be kept in the archive?",
            "13 months, not more",
            "Fine.",
        ),
    )

    assert [each for each in kept if "How long should scans be kept" in each.content]


def test_what_helped_after_a_failure_is_kept_as_the_agent_told_it(
    stores: Stores, path: Path
) -> None:
    lines = [
        a_line("flash the board"),
        an_answer("", tool="Bash"),
        a_result("no device found", True),
        an_answer("", tool="Bash"),
        a_result("flashed", False),
        an_answer("It works now. The boot jumper has to be closed before the cable goes in."),
    ]

    [kept] = take(stores, path, *lines)

    assert kept.type is MemoryType.PROCEDURE
    assert "boot jumper has to be closed" in kept.content
    assert kept.origin is not None
    assert kept.origin.speaker == "agent"


def test_what_the_agent_proposes_is_nobodys_decision(stores: Stores, path: Path) -> None:
    kept = take(
        stores,
        path,
        *say(
            "what now", "I suggest we move everything to Kafka and never use cron.", "no", "Fine."
        ),
    )

    assert kept == []


def test_a_list_of_memories_that_stands_in_a_prompt_is_not_kept_again(
    stores: Stores, path: Path
) -> None:
    told = "Memories that may matter:\n- The gateway never retries.\n- Ana owns the gateway.\n\n"

    kept = take(stores, path, *say(f"{told}rename the variable please", "Done."))

    assert kept == []


def test_nothing_private_is_written_anywhere(stores: Stores, path: Path) -> None:
    take(
        stores,
        path,
        *say(
            "the release is always on a Tuesday. <private>Marek is leaving in May</private>",
            "I see that Marek leaves in May.",
            "<private>and he is ill, so we always cover for him",
            "I am sorry to hear that he is ill.",
        ),
    )

    every = stores.search.listing(Filter(exchanges=True, outdated=True), stores.clock.now(), 100)
    assert every
    assert not [each for each in every if "Marek" in each.content or "ill" in each.content.split()]


@pytest.mark.parametrize(
    "said",
    [
        "don't save this, but we always pay Ruth in cash",
        "don't save this anywhere: Ruth never signs anything",
        "please don't keep this. the owner of the mill is bankrupt",
        "no guardes esto: Ruth siempre cobra en efectivo",
        "ne garde pas ça : Ruth est toujours payée en liquide",
        "speicher das bitte nicht: Ruth bekommt immer Bargeld",
        "non salvare questo: Ruth prende sempre contanti",
        "não guardes isto: a Ruth recebe sempre em dinheiro",
        "onthoud dit niet: Ruth krijgt altijd contant geld",
        "nie zapisuj tego: Ruth zawsze bierze gotówkę",
    ],
)
def test_what_is_not_to_be_saved_is_not(stores: Stores, path: Path, said: str) -> None:
    take(stores, path, *say(said, "Understood, I will not mention Ruth or the mill to anybody."))

    assert stores.search.count(Filter(exchanges=True), stores.clock.now()) == 0


def test_without_the_head_nothing_said_in_passing_is_kept(stores: Stores, path: Path) -> None:
    assert take(stores, path, *say(WORTH[0], "Fine."), extractor="none") == []


def test_reading_a_session_again_keeps_nothing_twice(stores: Stores, path: Path) -> None:
    lines = say("we take the blue connector for the pump, not the grey one", "Fine.")

    once = take(stores, path, *lines)
    path.write_bytes(encoded({"type": "summary", "summary": "x"}) + b"".join(lines))
    twice = take(stores, path)

    assert [each.id for each in once] == [each.id for each in twice]
