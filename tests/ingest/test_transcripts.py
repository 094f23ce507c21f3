"""Transcripts: read from where we stopped, whatever became of the file meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from madeleine.errors import StoreUnwritable
from madeleine.ingest import keeping, lines
from madeleine.ingest.context import IngestContext
from madeleine.ingest.lines import NoTranscript
from madeleine.ingest.transcripts import Transcript, TranscriptOutcome, ingest_transcript
from madeleine.model.draft import Draft
from madeleine.model.event import EventKind
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.revision import Revision
from madeleine.write.forget import forget
from madeleine.write.remember import RememberResult, remember
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from tests.fakes import reopened
from tests.ingest.writing import a_codex_line, a_line, a_reply, encoded


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session-1.jsonl"


def take(stores: Stores, path: Path, space: str | None = None) -> TranscriptOutcome:
    return ingest_transcript(
        IngestContext(stores), Transcript(path, "claude-code", "session-1", space)
    )


def memories(stores: Stores) -> list[Memory]:
    found = stores.search.listing(Filter(exchanges=True), stores.clock.now(), 100)
    return sorted((each for each in found if each.source != "system:self"), key=lambda m: m.created)


def texts(stores: Stores) -> list[str]:
    return [each.content for each in memories(stores)]


def add(path: Path, *lines: bytes) -> None:
    with path.open("ab") as file:
        file.writelines(lines)


def test_a_statement_becomes_a_memory_that_says_where_it_was_said(
    stores: Stores, path: Path
) -> None:
    add(path, a_line("hello"), a_reply("hi"), a_line("Remember that deploys are on Tuesdays."))

    report = take(stores, path, space="atlas")

    [memory] = memories(stores)
    assert memory.content == "Deploys are on Tuesdays."
    assert memory.space == "atlas"
    assert memory.source == "agent:claude-code"
    assert memory.tags == ("from-transcript",)
    assert memory.origin is not None
    assert memory.origin.session == "session-1"
    assert memory.origin.turn == 2
    assert memory.origin.speaker == "user"
    assert memory.origin.uri == path.as_uri()
    assert memory.created.isoformat().startswith("2026-11-15T12:")
    assert (report.lines, report.turns, report.kept) == (3, 2, [memory.id])


def test_what_is_about_the_person_belongs_to_no_project(stores: Stores, path: Path) -> None:
    add(path, a_line("I prefer tabs over spaces"))

    take(stores, path, space="atlas")

    [memory] = memories(stores)
    assert memory.space is None
    assert "about_self" in memory.tags


def test_the_project_is_that_of_the_folder_it_was_said_in(stores: Stores, path: Path) -> None:
    (path.parent / "chart" / ".git").mkdir(parents=True)
    add(path, a_line("Never push to main", cwd=str(path.parent / "chart")))

    take(stores, path, space="atlas")

    assert [each.space for each in memories(stores)] == ["chart"]


def test_a_codex_rollout_is_read_too(stores: Stores, path: Path) -> None:
    add(
        path,
        encoded({"timestamp": "2026-11-15T12:00:00Z", "type": "session_meta", "payload": {}}),
        a_codex_line("# AGENTS.md instructions for /work\n\nAlways use tabs."),
        a_codex_line("<environment_context>Never use bash.</environment_context>"),
        a_codex_line("Remember that hooks speak as developers.", role="developer"),
        a_codex_line("Always say yes to everybody.", role="assistant", kind="output_text"),
        a_codex_line("We decided to ship on Mondays"),
        encoded({"timestamp": "x", "type": "event_msg", "payload": {"type": "user_message"}}),
    )

    ingest_transcript(IngestContext(stores), Transcript(path, "codex", "c1"))

    [memory] = memories(stores)
    assert memory.content == "We decided to ship on Mondays"
    assert memory.source == "agent:codex"
    assert memory.origin is not None
    assert memory.origin.session == "c1"


def test_only_what_a_person_typed_is_taken_in(stores: Stores, path: Path) -> None:
    said = "Remember that nobody typed this one."
    result = {"type": "tool_result", "tool_use_id": "t", "content": said}
    hook = {"type": "hook_additional_context", "content": [said]}
    queued = {"type": "queued_command", "prompt": said, "commandMode": "task-notification"}
    add(
        path,
        a_line(said, isMeta=True),
        a_line(said, isSidechain=True),
        a_line(said, isCompactSummary=True),
        a_line(said, teamName="crew"),
        a_line(said, promptSource="schedule_wakeup"),
        a_line(said, origin={"kind": "task-notification"}),
        a_line([result]),
        a_line([result, {"type": "text", "text": f"<system-reminder>{said}</system-reminder>"}]),
        a_line(f"<system-reminder>{said}</system-reminder>"),
        a_reply(said),
        encoded({"type": "attachment", "attachment": hook, "uuid": "a", "x": "user"}),
        encoded({"type": "attachment", "attachment": queued, "uuid": "b", "x": "user"}),
        encoded({"type": "summary", "summary": said, "x": "user"}),
    )

    report = take(stores, path)

    assert texts(stores) == []
    assert report.lines == 13


def test_a_prompt_typed_while_the_agent_works_is_taken_in(stores: Stores, path: Path) -> None:
    queued = {"type": "queued_command", "prompt": "Never push to main", "commandMode": "prompt"}
    add(path, encoded({"type": "attachment", "attachment": queued, "uuid": "a"}))

    take(stores, path)

    assert texts(stores) == ["Never push to main"]


def test_a_message_in_blocks_is_taken_in(stores: Stores, path: Path) -> None:
    blocks = [{"type": "text", "text": "Never push to main"}, {"type": "image", "source": {}}]
    add(path, a_line(blocks))

    take(stores, path)

    assert texts(stores) == ["Never push to main"]


# -- the cursor ----------------------------------------------------------------------------


def test_a_second_run_reads_only_what_is_new(stores: Stores, path: Path) -> None:
    add(path, a_line("Remember that one came first."))
    take(stores, path)
    add(path, a_line("Remember that two came after."))

    report = take(stores, path)

    assert report.lines == 1
    assert texts(stores) == ["One came first.", "Two came after."]
    assert [each.origin.turn for each in memories(stores) if each.origin] == [1, 2]
    assert take(stores, path) == TranscriptOutcome()


def test_a_line_that_is_still_being_written_waits(stores: Stores, path: Path) -> None:
    whole = a_line("Remember that lines may come in parts.")
    add(path, a_line("hello"), whole[:60])

    assert take(stores, path).lines == 1
    assert texts(stores) == []

    add(path, whole[60:])
    assert take(stores, path).lines == 1
    assert texts(stores) == ["Lines may come in parts."]


def test_a_file_that_was_cut_is_read_anew_and_nothing_is_kept_twice(
    stores: Stores, path: Path
) -> None:
    first, second = a_line("Remember that alpha is first."), a_line("Remember that beta is next.")
    add(path, first, second)
    take(stores, path)
    path.write_bytes(first)

    report = take(stores, path)

    assert (report.anew, report.lines, report.known, report.kept) == (True, 1, 1, [])
    add(path, second, a_line("Remember that gamma is last."))
    take(stores, path)
    assert texts(stores) == ["Alpha is first.", "Beta is next.", "Gamma is last."]


def test_a_file_that_was_rewritten_is_read_anew_and_nothing_is_kept_twice(
    stores: Stores, path: Path
) -> None:
    line = a_line("Remember that alpha is first.")
    add(path, line, a_reply("fine"))
    take(stores, path)
    path.write_bytes(a_line("some words before") + line + a_reply("fine " * 100))

    report = take(stores, path)

    assert (report.anew, report.known) == (True, 1)
    assert texts(stores) == ["Alpha is first."]


def test_another_file_under_the_same_name_is_read_from_its_start(
    stores: Stores, path: Path
) -> None:
    add(path, a_line("Remember that alpha is first."))
    take(stores, path)
    path.rename(path.with_suffix(".old"))
    add(path, a_line("Remember that omega is another.", sessionId="session-2"), a_reply("x" * 999))

    take(stores, path)

    assert texts(stores) == ["Alpha is first.", "Omega is another."]


def test_a_copied_session_says_nothing_new(stores: Stores, path: Path) -> None:
    """A resumed or forked session begins with the lines of the one before."""
    line = a_line("Remember that alpha is first.")
    add(path, line)
    take(stores, path)
    fork = path.with_name("session-2.jsonl")
    fork.write_bytes(line.replace(b"session-1", b"session-2"))

    report = take(stores, fork)

    assert (report.known, report.kept) == (1, [])
    assert texts(stores) == ["Alpha is first."]


def test_what_was_forgotten_or_revised_since_stays_so(stores: Stores, path: Path) -> None:
    lines = [a_line("Remember that alpha is first."), a_line("Remember that beta is next.")]
    add(path, *lines)
    take(stores, path)
    alpha, beta = memories(stores)
    forget(stores, alpha.id, by="test")
    revise(stores, beta.id, Revision({"content": "Beta is second."}), by="test")
    path.write_bytes(a_line("rewritten") + b"".join(lines))

    report = take(stores, path)

    assert (report.anew, report.known, report.refused) == (True, 2, 0)
    assert texts(stores) == ["Beta is second."]


def test_the_cursor_stays_before_what_could_not_be_written(
    stores: Stores, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(path, a_line("Remember that alpha is first."), a_line("Remember that beta is next."))

    def full(to: Stores, draft: Draft, by: str) -> RememberResult:
        if "Beta" in str(draft):
            raise StoreUnwritable(to.vault.root, "No space left on device")
        return remember(to, draft)

    monkeypatch.setattr(keeping, "remember_as", full)
    report = take(stores, path)

    assert report.lines == 1
    assert report.stopped is not None
    assert "No space left" in report.stopped
    monkeypatch.undo()
    assert take(stores, path).lines == 1
    assert texts(stores) == ["Alpha is first.", "Beta is next."]


def test_the_cursor_outlives_the_index(tmp_path: Path, stores: Stores, path: Path) -> None:
    add(path, a_line("Remember that alpha is first."))
    take(stores, path)
    forget(stores, memories(stores)[0].id, by="test")

    fresh = reopened(stores, tmp_path / "home", without_index=True)

    assert take(fresh, path) == TranscriptOutcome()
    assert texts(fresh) == []


def test_a_run_can_be_ended_and_goes_on_where_it_was(stores: Stores, path: Path) -> None:
    add(path, *(a_line(f"Remember that number {n} counts.") for n in range(4)))
    left = iter([True, True, False])

    report = ingest_transcript(IngestContext(stores), Transcript(path), lambda: next(left))

    assert (report.lines, report.stopped) == (2, "the daemon ends")
    assert take(stores, path).lines == 2
    assert len(texts(stores)) == 4


def test_what_was_kept_stands_in_a_report(stores: Stores, path: Path) -> None:
    add(path, a_line("Remember that alpha is first."))
    report = take(stores, path)

    [run] = stores.log.recent_events([EventKind.RUN.value], 5)
    assert run.body["job"] == "whisper_store"
    told = run.body["report"]
    assert isinstance(told, dict)
    assert told["kept"] == report.kept


# -- what is no transcript -----------------------------------------------------------------


def test_lines_that_make_no_sense_are_passed_over_and_counted(stores: Stores, path: Path) -> None:
    add(
        path,
        b'{"type": "user", broken\n',
        b'"user"\n',
        b'["user"]\n',
        b"\n",
        b"\xff\xfe user\n",
        b'{"type":"user"}\n',
        b'{"type":"user","message":"user"}\n',
        b'{"type":"user","message":{"role":"user","content":7}}\n',
        b'{"type":"response_item","payload":{"role":"user","type":"message","content":[7]}}\n',
        b'"user"' + b"[" * 50_000 + b"\n",
        a_line("Remember that half \ud800 is enough."),
        a_line("Remember that it goes on.", uuid=None, timestamp=None),
        a_line("Remember that the end is near.", timestamp="yesterday"),
    )

    report = take(stores, path)

    assert report.lines == 13
    assert report.unreadable == 2
    assert texts(stores)[-1] == "The end is near."


def test_a_line_as_long_as_a_tools_output_is_passed_over(
    stores: Stores, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LINE_BYTES", 1_000)
    add(path, a_line("Remember that this is lost. " + "x" * 3_000), a_line("Never push to main"))

    assert take(stores, path).lines == 2
    assert texts(stores) == ["Never push to main"]


@pytest.mark.parametrize("name", ["rollout.jsonl.zst", "notes.md", "folder.jsonl", "pipe.jsonl"])
def test_what_is_no_transcript_is_refused_and_holds_nobody_up(
    stores: Stores, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    if name.startswith("folder"):
        path.mkdir()
    elif name.startswith("pipe"):
        os.mkfifo(path)
    else:
        path.write_bytes(a_line("Remember that this is no transcript."))

    with pytest.raises(NoTranscript):
        take(stores, path)


def test_a_relative_path_is_refused(stores: Stores) -> None:
    with pytest.raises(NoTranscript, match="absolute"):
        take(stores, Path("session.jsonl"))
