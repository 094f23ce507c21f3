"""Hooks through a real daemon: what is asked of the pipeline, and what a host gets to read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from madeleine.server.hook_hosts import MAX_CONTEXT_BYTES
from madeleine.server.hook_service import NUDGE_TEXT
from tests.hooks.running import Hooked, claude, context, hooked
from tests.ingest.writing import a_line
from tests.server.running import WAIT_SECONDS, eventually


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hooked]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        with hooked(tmp_path_factory.mktemp("home")) as started:
            yield started


def nudged(served: Hooked, session: str, prompts: int, kind: str = "quiet") -> list[int]:
    """Send prompts and return the numbers of those that were answered with the nudge."""
    replies = [served.post(claude(f"{kind} {n}", session)) for n in range(1, prompts + 1)]
    return [n for n, reply in enumerate(replies, 1) if reply and NUDGE_TEXT in context(reply)]


def test_the_pipeline_is_asked_with_session_folder_and_space(
    served: Hooked, tmp_path: Path
) -> None:
    folder = tmp_path / "atlas" / "src"
    folder.mkdir(parents=True)
    (tmp_path / "atlas" / ".git").mkdir()

    told = context(served.post(claude("which one?", "asked", cwd=str(folder)), host="codex"))

    passed = {"session_id": "asked", "cwd": str(folder), "space": "atlas"}
    assert told == f"about which one? {passed} by agent:codex"


def test_what_the_host_put_beside_the_prompt_is_not_asked_about(served: Hooked) -> None:
    beside = "<system-reminder>The file a.py changed.</system-reminder>\n"

    told = context(served.post(claude(f"{beside}what changed?", "beside")))

    assert told.startswith("about what changed? {")


@pytest.mark.parametrize(
    "prompt",
    [
        "<task-notification>\n<task-id>1</task-id>\n</task-notification>",
        "<command-name>/clear</command-name>",
        "/compact",
        "[Request interrupted by user]",
        "",
        "  \n ",
    ],
)
def test_nobody_is_whispered_to_where_no_person_asked(served: Hooked, prompt: str) -> None:
    before = served.counts.get("prompts", 0)

    assert served.post(claude(prompt, "machine")) == b""
    assert served.counts.get("prompts", 0) == before


def test_a_wake_up_on_a_timetable_is_not_whispered_to(served: Hooked) -> None:
    assert served.post(claude("check the build", "wake", source="schedule_wakeup")) == b""
    assert served.post(claude("check the build", "wake", agent_id="a1")) == b""
    assert served.post(claude("check the build", "wake", source="user")) != b""


def test_a_hook_installed_twice_whispers_once(served: Hooked) -> None:
    before = served.counts.get("repeated", 0)
    body = claude("sleep 200 please", "twice")
    with ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(served.post, [body, body]))

    assert sorted(map(bool, replies)) == [False, True]
    assert served.counts["repeated"] == before + 1


@pytest.mark.parametrize("text", ["refuse this", "bug here"])
def test_what_goes_wrong_inside_is_silence(served: Hooked, text: str) -> None:
    status, answer = served.ask(json.dumps(claude(text, "wrong")).encode())

    assert status == (200 if text.startswith("refuse") else 500)
    assert b"about" not in answer
    assert "the text of a memory" not in served.log
    assert served.post(claude("still there?", text)) != b""


def test_a_whisper_longer_than_hosts_take_is_cut_at_a_line(served: Hooked) -> None:
    told = context(served.post(claude("wide 20000 bytes", "wide")))

    assert 9_000 < len(told.encode()) <= MAX_CONTEXT_BYTES
    assert set(told.splitlines()) == {"海" * 20}
    assert served.log.count("longer than hosts take") == 1


def test_every_tenth_prompt_of_a_session_brings_the_nudge(served: Hooked) -> None:
    assert nudged(served, "nudge", 21) == [10, 20]


def test_the_nudge_stands_behind_what_is_whispered(served: Hooked) -> None:
    replies = [served.post(claude(f"tell {n}", "behind")) for n in range(1, 11)]

    assert context(replies[9]).startswith("about tell 10 ")
    assert context(replies[9]).endswith(f"\n\n{NUDGE_TEXT}")


def test_what_is_no_prompt_does_not_count_towards_the_nudge(served: Hooked) -> None:
    for number in range(9):
        served.post(claude(f"quiet {number}", "counted"))
        served.post(claude(f"quiet {number}", "counted"))  # the hook is installed twice
        served.post(claude("/compact", "counted"))

    assert NUDGE_TEXT in context(served.post(claude("quiet at last", "counted")))


@pytest.mark.few(1)
@pytest.mark.parametrize(("interval", "expected"), [(3, [3, 6]), (0, [])])
def test_the_nudge_comes_as_often_as_is_set(home: Path, interval: int, expected: list[int]) -> None:
    with hooked(home, nudge_interval=interval) as served:
        assert nudged(served, "set", 7) == expected


def test_twenty_sessions_at_once_each_get_their_own(served: Hooked) -> None:
    def session(number: int) -> list[str]:
        prompts = [f"question {number}.{turn}" for turn in range(5)]
        return [context(served.post(claude(each, f"many {number}"))) for each in prompts]

    with ThreadPoolExecutor(20) as pool:
        told = list(pool.map(session, range(20)))

    for number, texts in enumerate(told):
        for turn, text in enumerate(texts):
            assert text.startswith(f"about question {number}.{turn} ")
            assert f"'session_id': 'many {number}'" in text


@pytest.mark.proves("I5")
def test_slow_whispers_do_not_hold_up_the_ones_after_them(home: Path) -> None:
    """Those whose turn comes too late are not begun, so nothing piles up."""
    with hooked(home, deadline_ms=400) as served:
        with ThreadPoolExecutor(30) as pool:
            slow = [claude(f"sleep 1500 {n}", f"slow {n}") for n in range(30)]
            assert set(pool.map(served.post, slow)) == {b""}

        eventually(lambda: served.post(claude("quick", "after")) != b"", WAIT_SECONDS)
        assert served.counts["late"] >= 30
        assert served.log.count("missed its deadline") == 1


def test_over_tcp_a_hook_needs_the_token(served: Hooked) -> None:
    status, answer = served.ask(b"{}", token="another")

    assert status == 401
    assert b"rejected" in answer


def test_a_host_that_nobody_knows_is_logged_once(served: Hooked) -> None:
    for _ in range(2):
        assert served.post(claude("hello", "unknown"), host="clade") == b""

    assert served.log.count("comes from `clade`") == 1


# -- storing -------------------------------------------------------------------------------


def kept(served: Hooked) -> set[str]:
    listed = served.door.call("list")["memories"]
    assert isinstance(listed, list)
    return {str(each["content"]) for each in listed}


def test_a_store_hook_takes_in_what_the_person_said_outright(
    served: Hooked, tmp_path: Path
) -> None:
    transcript = tmp_path / "s.jsonl"
    transcript.write_bytes(a_line("Remember that the harbour office closes at noon."))

    assert served.post(claude("", "store", transcript_path=str(transcript)), "store") == b""

    eventually(lambda: "The harbour office closes at noon." in kept(served), WAIT_SECONDS)
    assert served.counts["kept"] >= 1


def test_every_tenth_prompt_has_the_transcript_taken_in(served: Hooked, tmp_path: Path) -> None:
    transcript = tmp_path / "ten.jsonl"
    transcript.write_bytes(a_line("From now on, call the second mast the mizzen"))
    body = {"transcript_path": str(transcript)}

    for number in range(9):
        served.post(claude(f"quiet {number}", "tenth", **body))
    assert not any("mizzen" in each for each in kept(served))
    served.post(claude("quiet ten", "tenth", **body))

    eventually(lambda: any("mizzen" in each for each in kept(served)), WAIT_SECONDS)


@pytest.mark.parametrize(
    "path", [None, 7, "relative.jsonl", "/no/such.jsonl", "/etc/passwd", "/\0.jsonl", "/"]
)
def test_a_transcript_that_is_none_is_silence_and_does_no_harm(
    served: Hooked, path: object
) -> None:
    before = kept(served)

    assert served.post(claude("", "none", transcript_path=path), "store") == b""
    assert served.post(claude(f"still {path}", "none")) != b""
    assert kept(served) == before
    assert "nobody waited for" not in served.log


def test_a_transcript_that_is_not_there_is_told_in_words(served: Hooked) -> None:
    served.post(claude("", "none", transcript_path="/no/words.jsonl"), "store")

    told = "claude: a transcript was not taken in: /no/words.jsonl is not there"
    eventually(lambda: told in served.counts["problems"], WAIT_SECONDS)


def test_a_sub_agents_transcript_is_left_alone(served: Hooked, tmp_path: Path) -> None:
    folder = tmp_path / "s" / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-1.jsonl").write_bytes(a_line("Remember that sub-agents keep nothing here."))
    mine = tmp_path / "mine.jsonl"
    mine.write_bytes(a_line("Remember that people keep a few things."))

    served.post(claude("", "sub", transcript_path=str(folder / "agent-1.jsonl")), "store")
    served.post(claude("", "sub", transcript_path=str(mine), agent_id="a1"), "store")
    served.post(claude("", "sub", transcript_path=str(mine)), "store")

    eventually(lambda: "People keep a few things." in kept(served), WAIT_SECONDS)
    assert not any("sub-agents" in each.lower() for each in kept(served))
