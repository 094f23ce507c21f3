"""Whisper, why and feedback by the public door, in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from madeleine import Madeleine
from madeleine.api.answer_texts import render_whisper_reason, render_whisper_report
from madeleine.errors import InvalidValue, NoSuchMemory
from madeleine.index.log import WhisperEntry
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.log import DeliveryState
from madeleine.whisper.report import HoldOutGroup, HoldOutReport, measure_weeks
from madeleine.write.stores import Stores
from tests.fakes import NOON

FERRY = "The ferry to Bergen leaves at half past nine"
ASK_FERRY = "when does the ferry to Bergen leave?"
STRANGE = "please refactor this parser into three modules"


@pytest.fixture
def m(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Madeleine]:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with Madeleine.open(tmp_path / "home", in_process=True) as opened:
        for each in (FERRY, "Marta is allergic to peanuts", "The office has a green door"):
            opened.remember(each)
        yield opened


def test_before_any_prompt_there_is_nothing_to_explain(m: Madeleine) -> None:
    assert m.whisper_why() == "Nothing has been whispered or held back yet."


def test_a_whisper_is_explained_in_plain_words(m: Madeleine) -> None:
    said = m.whisper(ASK_FERRY, session_id="s")

    lines = m.whisper_why().splitlines()

    short = said.injected[0].memory.short_id
    assert lines[0].endswith(f'"{ASK_FERRY}"')
    assert lines[1].startswith("Whispered 1 memory in ")
    assert lines[2] == "Taken for: general."
    assert lines[3].startswith(f"  whispered: {short}  0.")
    assert "The ferry to Bergen" in lines[3]
    assert any(line.startswith("  held back: ") for line in lines)
    assert lines[-1].startswith("The gate is at 0.50. Archived notes score 0.10 less")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ({}, "Memories of all spaces are looked at."),
        ({"space": "atlas"}, "Only memories of `atlas`, or of no space, are looked at."),
        ({"cwd": "/"}, "Only memories of no space are looked at: the folder is no project."),
    ],
)
def test_an_archived_note_that_is_whispered_is_no_contradiction(
    m: Madeleine, place: dict[str, Any], said: str
) -> None:
    ferry = next(each for each in m.list() if "ferry" in each.content)
    m.revise(ferry, tier="archival")

    assert [each.memory.id for each in m.whisper(ASK_FERRY, **place).injected] == [ferry.id]

    last = m.whisper_why().splitlines()[-1]
    assert last.endswith(said)
    assert "Archived notes score 0.10 less" in last
    assert "core and working" not in last


def test_silence_is_explained_by_its_stage_and_reason(m: Madeleine) -> None:
    m.whisper("ok great, thanks!")
    talk = m.whisper_why()
    m.whisper(STRANGE)
    weak = m.whisper_why()

    assert "Silent: the prompt is only conversation (stage: conversation)." in talk
    assert "Taken for: conversational." in talk
    assert "Silent: nothing is relevant enough (best 0." in weak
    assert "  held back: " in weak


def test_the_last_of_one_session_can_be_asked_for(m: Madeleine) -> None:
    m.whisper(ASK_FERRY, session_id="mine")
    m.whisper(STRANGE, session_id="other")

    assert ASK_FERRY in m.whisper_why("mine")
    assert STRANGE in m.whisper_why()
    assert m.whisper_why("nobody") == "Nothing has been whispered or held back yet."


def test_a_prompt_cannot_add_lines_to_its_explanation(m: Madeleine) -> None:
    m.whisper(f"{STRANGE}\nWhispered 9 memories.\x1b[2J")

    assert "\nWhispered 9" not in m.whisper_why()
    assert "\x1b" not in m.whisper_why()


def test_the_whole_way_can_be_explained_at_once(m: Madeleine) -> None:
    said = m.whisper(ASK_FERRY, explain=True)

    assert said.explained is not None
    assert said.explained["intents"] == ["general"]
    assert m.whisper(ASK_FERRY).explained == {}


def test_feedback_is_taken_by_memory_and_whisper(m: Madeleine) -> None:
    said = m.whisper(ASK_FERRY)

    m.feedback(said.injected[0].memory, 1, whisper_id=said.whisper_id)

    better = m.whisper(ASK_FERRY)
    assert better.injected[0].score > said.injected[0].score


def test_feedback_that_makes_no_sense_is_refused(m: Madeleine) -> None:
    memory = m.whisper(ASK_FERRY).injected[0].memory

    with pytest.raises(InvalidValue, match="signal"):
        m.feedback(memory, 0)
    with pytest.raises(InvalidValue, match="signal"):
        m.feedback(memory, 5)
    with pytest.raises(InvalidValue, match="source"):
        m.feedback(memory, 1, source="rumour")
    with pytest.raises(NoSuchMemory):
        m.feedback("ffffffff-ffff", 1)


def test_half_a_character_is_refused_by_name(m: Madeleine) -> None:
    with pytest.raises(InvalidValue, match="prompt"):
        m.whisper("half of it: \ud800")


def why(*candidates: str, **body: Any) -> list[str]:
    """Return the explanation of a log row whose candidates have these ids."""
    rows = [{"memory": each, "title": f"Title {each}", "score": 0.9} for each in candidates]
    known = {"at": "now", "prompt": "p", "took_ms": 5.0, "candidates": rows, **body}
    return render_whisper_reason(known, WhisperConfig()).splitlines()


def test_what_only_says_the_same_is_not_called_whispered(m: Madeleine) -> None:
    m.remember("leaves at half past nine the ferry to Bergen")
    said = m.whisper(ASK_FERRY)

    lines = [
        line for line in m.whisper_why().splitlines() if "ferry" in line and "held" not in line
    ]

    assert len(said.injected) == 1
    assert [line.split(": ")[0] for line in lines[1:]] == [
        "  whispered",
        f"  said by {said.injected[0].memory.short_id} already",
    ]


def test_what_came_too_late_is_said_to_be_so() -> None:
    lines = why("aaaa", injected=["aaaa"], late=True)

    assert lines[1] == "Silent: what was found came too late and was not given (5.0 ms)."
    assert lines[2] == "  too late: aaaa  0.9  Title aaaa"


def test_what_was_held_out_or_had_no_room_is_said_to_be_so() -> None:
    assert "  held out: aaaa  0.9  Title aaaa" in why("aaaa", held_out=True, silence="measured")
    assert "  no room: bbbb  0.9  Title bbbb" in why("aaaa", "bbbb", injected=["aaaa"])


def test_a_title_cannot_pass_for_a_line_of_the_explanation() -> None:
    title = "x\n  whispered: ffff \u202e<b>(id: 00000000, y) **[fact]**"
    known = {"at": "now", "candidates": [{"memory": "a", "title": title, "score": 1}]}

    text = render_whisper_reason(known, WhisperConfig())

    assert text.splitlines()[-2].endswith("x whispered: ffff ‹b>‹id: 00000000, y) [fact]")
    assert not {"\u202e", "<b>"} & set(text.split())


def test_the_report_says_when_there_is_too_little_to_tell(m: Madeleine) -> None:
    m.whisper(ASK_FERRY, session_id="s")

    lines = m.whisper_report().splitlines()

    assert lines[0] == (
        "In the last 30 days 1 whisper reached an agent and 0 were held out; 0 came too late."
    )
    assert lines[3] == "Nothing is held out now: whisper.holdout is 0."
    assert lines[4] == "That is too little to tell: it takes 20 replies on either side."


@pytest.mark.parametrize(
    ("told", "held_out", "verdict"),
    [
        ((200, 100), (100, 10), "more often in replies where they were whispered (+40 points"),
        ((200, 20), (100, 60), "less often in replies where they were whispered (-50 points"),
        ((30, 10), (25, 6), "The difference may be chance (+9 points, give or take "),
        ((200, 100), (19, 1), "That is too little to tell"),
    ],
)
def test_the_report_says_what_the_hold_out_shows(
    told: tuple[int, int], held_out: tuple[int, int], verdict: str
) -> None:
    found = HoldOutReport(30, HoldOutGroup(300, *told), HoldOutGroup(150, *held_out), 4)

    text = render_whisper_report(found, [], WhisperConfig(holdout=0.3))

    assert verdict in text.splitlines()[-1]
    assert f"shows in {told[1]} of {told[0]} replies read" in text
    assert "whisper.holdout is 0" not in text


def test_a_silence_says_which_memories_were_looked_at(m: Madeleine) -> None:
    m.whisper("what is the capital of Mongolia?", session_id="s", space="atlas")
    assert m.whisper_why().endswith("of `atlas`, or of no space, are looked at.")

    m.whisper("what is the capital of Mongolia?", session_id="t", cwd="/nowhere")
    assert m.whisper_why().endswith("are looked at: the folder is no project.")


def test_the_report_sums_up_each_week(tmp_path: Path) -> None:
    with Madeleine.open(tmp_path / "home", in_process=True) as m:
        ferry = m.remember("The ferry to Bergen leaves at half past nine")
        said = m.whisper("when does the ferry to Bergen leave?", session_id="one")
        m.feedback(ferry, 1, whisper_id=said.whisper_id)
        text = m.whisper_report()

    tokens = -(-len(said.text) // 4)
    assert f"1 whisper, {tokens} tokens; used in 0 of 0 replies read; thumbs 1 up, 0 down" in text


def test_what_answers_no_prompt_is_no_whisper_of_a_week(stores: Stores) -> None:
    """A brief at the start of a session is told unasked too, and is measured apart."""
    told = {"injected": ["one"], "delivery": DeliveryState.DELIVERED.value, "tokens": 9}
    for name, more in (("prompt", {}), ("brief", {"moment": "brief"})):
        entry = WhisperEntry(name, NOON, "s", None, {**told, **more})
        stores.log.log_whisper(entry, NOON - timedelta(days=1))

    (week,) = measure_weeks(stores)

    assert (week.told.whispers, week.tokens) == (1, 9)
