"""What is said in sessions, where agents need a person's yes, or where nothing is to be kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.ingest.context import IngestContext
from madeleine.ingest.transcripts import Transcript, TranscriptOutcome, ingest_transcript
from madeleine.model.memory import Memory
from madeleine.model.proposal import ProposalStatus
from madeleine.model.query import Filter
from madeleine.write.config import ExclusionConfig, WriteConfig
from madeleine.write.proposals import decide_proposal
from madeleine.write.stores import Stores
from tests.ingest.writing import a_line, a_reply, an_answer, encoded

SAID = "Remember that deploys are on Tuesdays."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session-1.jsonl"


def take(stores: Stores, path: Path, *lines: bytes) -> TranscriptOutcome:
    with path.open("ab") as file:
        file.writelines(lines)
    transcript = Transcript(path, "claude-code", "session-1", ended=True)
    return ingest_transcript(IngestContext(stores), transcript)


def memories(stores: Stores) -> list[Memory]:
    found = stores.search.listing(Filter(exchanges=True), stores.clock.now(), 100)
    return [each for each in found if each.source != "system:self"]


def configured(stores: Stores, **sections: object) -> Stores:
    return replace(stores, config=replace(stores.config, **sections))  # type: ignore[arg-type]


def test_what_a_hook_finds_waits_for_a_yes(stores: Stores, path: Path) -> None:
    careful = configured(stores, write=WriteConfig(approval="agents"))

    take(careful, path, a_line(SAID), a_reply("Noted."))

    assert memories(careful) == []
    [asked] = careful.log.proposals(ProposalStatus.PENDING)
    assert "Deploys are on Tuesdays" in asked.proposed_action
    decide_proposal(careful, asked.id, ProposalStatus.APPROVED)
    assert [each.content for each in memories(careful)] == ["Deploys are on Tuesdays."]


def test_a_session_that_is_read_again_asks_nothing_twice(stores: Stores, path: Path) -> None:
    careful = configured(stores, write=WriteConfig(approval="agents"))
    take(careful, path, a_line(SAID), a_reply("Noted."))
    lines = path.read_bytes()
    path.unlink()

    again = take(careful, path, encoded({"type": "summary"}), lines)

    assert again.anew
    assert len(careful.log.proposals(ProposalStatus.PENDING)) == 1


def test_exchanges_are_not_kept_word_for_word_where_each_would_need_a_yes(
    stores: Stores, path: Path
) -> None:
    lines = (a_line("Why does the heron nest collapse each time it rains?"),)
    said = an_answer("The heron nest is built on sand, so the rain washes its base away.")
    careful = configured(stores, write=WriteConfig(approval="agents"))

    take(careful, path, *lines, said)

    assert memories(careful) == []
    asked = careful.log.proposals(ProposalStatus.PENDING)
    assert not any("exchange" in dict(each.action)["memory"] for each in asked)


def test_nothing_is_kept_of_an_excluded_folder_and_the_report_says_so(
    stores: Stores, path: Path
) -> None:
    careful = configured(stores, exclude=ExclusionConfig(folders="/nowhere/client"))

    report = take(
        careful,
        path,
        a_line(SAID, cwd="/nowhere/client/deep"),
        a_reply("Noted."),
        a_line("Remember that the bakery opens at six.", cwd="/nowhere/atlas"),
    )

    assert [each.content for each in memories(careful)] == ["The bakery opens at six."]
    assert report.excluded == 1


def test_nothing_is_kept_of_an_excluded_space(stores: Stores, path: Path) -> None:
    careful = configured(stores, exclude=ExclusionConfig(spaces="global"))

    report = take(careful, path, a_line(SAID))

    assert (memories(careful), report.excluded) == ([], 1)


def test_nothing_is_kept_that_holds_an_excluded_word(stores: Stores, path: Path) -> None:
    careful = configured(stores, exclude=ExclusionConfig(words="Falcon"))

    report = take(
        careful, path, a_line("Remember that Falcon ships in May."), a_line(SAID), a_reply("Noted.")
    )

    assert [each.content for each in memories(careful)] == ["Deploys are on Tuesdays."]
    assert report.excluded >= 1
