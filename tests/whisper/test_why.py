"""Whisper, why and feedback by the public door, in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine import Madeleine
from madeleine.errors import InvalidValue, NoSuchMemory

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
    assert lines[-1] == "The gate is at 0.50."


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
