"""The doctor finds what is wrong with a home and its daemon."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from madeleine.agents import home_checks
from madeleine.agents.findings import DoctorFinding, findings_exit_code
from madeleine.agents.home_checks import check_home, check_status
from madeleine.errors import BadSetting, MadeleineError, Unavailable
from madeleine.server.launch import launch_daemon
from tests.server.running import Daemon, running


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        with running(tmp_path_factory.mktemp("home")) as started:
            started.remember("the tide turns at noon")
            yield started


def asking(daemon: Daemon, name: str, query: Mapping[str, object]) -> Mapping[str, Any]:
    return daemon.door.call(name, query=query)


def look(daemon: Daemon, now: float | None = None) -> list[DoctorFinding]:
    found = check_home(daemon.home, lambda *call: asking(daemon, *call), now or time.time())
    return [each for each in found if each.is_trouble]


def test_a_home_that_is_well_says_so(daemon: Daemon) -> None:
    assert look(daemon) == []


def test_a_home_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    found = list(check_home(tmp_path / "home", _unasked, time.time()))

    assert [each.fix for each in found] == ["madeleine serve"]
    assert findings_exit_code(found) == 3
    assert not (tmp_path / "home").exists()


def _unasked(name: str, query: Mapping[str, object]) -> Mapping[str, Any]:
    raise BadSetting("server.port", "is no number")


def test_an_empty_home_is_looked_at_and_left_empty(tmp_path: Path) -> None:
    found = list(check_home(tmp_path, _unasked, time.time()))

    assert [each.check for each in found] == ["daemon"]
    assert findings_exit_code(found) == 0, "the first prompt starts one"
    assert list(tmp_path.iterdir()) == []


def test_an_empty_home_with_settings_that_cannot_be_used_says_so(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[server]\nport = 'x'\n", encoding="utf-8")

    found = list(check_home(tmp_path, _unasked, time.time()))

    assert [each.check for each in found] == ["home"]
    assert "server.port" in found[0].message
    assert [path.name for path in tmp_path.iterdir()] == ["config.toml"]


def test_a_setting_that_keeps_the_daemon_from_starting_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "config.toml").write_text("[server]\nprot = 1\n", encoding="utf-8")
    with pytest.raises(MadeleineError):
        launch_daemon(tmp_path, port=0)

    (found,) = check_home(tmp_path, _unasked, time.time())

    assert (found.check, found.code) == ("home", "rejected")
    assert "prot" in found.message
    assert "madeleine serve" not in found.fix


def test_why_the_last_daemon_did_not_start_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable):
            launch_daemon(tmp_path, port=port)

    down = next(iter(check_home(tmp_path, _unasked, time.time())))

    assert down.message.startswith("no daemon runs on this home; the last one: cannot listen on")
    assert f"127.0.0.1:{port}: the port is taken" in down.message
    assert findings_exit_code([down]) == 5


@pytest.mark.parametrize(
    ("line", "told", "code"),
    [
        (
            "2026-11-16 07:00:00,123Z INFO madeleine.daemon: ended",
            "the next prompt or tool call starts one",
            "note",
        ),
        (
            "ImportError: no module named x",
            "the last one: ImportError: no module named x",
            "unavailable",
        ),
    ],
)
def test_only_a_start_that_failed_is_trouble(
    tmp_path: Path, line: str, told: str, code: str
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "daemon.log").write_text(f"x\n{line}\n", encoding="utf-8")

    down = next(iter(check_home(tmp_path, _unasked, time.time())))

    assert (down.message, down.code) == (f"no daemon runs on this home; {told}", code)


def test_a_damaged_journal_line_is_told_until_it_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with running(tmp_path) as daemon:
        daemon.remember("the tide turns at noon")
        daemon.ok("POST", "/agent/recall", {"query": "tide"})
    (journal,) = (tmp_path / "journal").glob("*.jsonl")
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"kind": "use", "id": \n')

    told = []
    for _ in range(2):
        with running(tmp_path) as daemon:
            daemon.ok("POST", "/admin/compact")
            told.append([each for each in look(daemon) if each.check == "journal"])

    assert [len(each) for each in told] == [1, 1]
    assert told[0][0].message.startswith(f"journal/{journal.name}:")
    assert "passed over" in told[0][0].fix
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(each for each in lines if each != b'{"kind": "use", "id": \n'))
    with running(tmp_path) as daemon:
        daemon.ok("POST", "/admin/rebuild")
        assert [each for each in look(daemon) if each.check == "journal"] == []


def test_a_journal_line_that_is_damaged_while_the_daemon_runs_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with running(tmp_path) as daemon:
        daemon.remember("the tide turns at noon")
        daemon.remember("the ferry leaves at eight")
        (journal,) = (tmp_path / "journal").glob("*.jsonl")
        whole = journal.read_bytes()
        lines = whole.count(b"\n")
        journal.write_bytes(whole.replace(b"\n{", b"\n{{", 1) + b"scribbled\n")
        damaged = look(daemon)
        journal.write_bytes(whole + b'{"v":1,"id":"0191')
        written_just_now = look(daemon)

    assert [each.message.split(": ")[0] for each in damaged] == [
        f"journal/{journal.name}:2",
        f"journal/{journal.name}:{lines + 1}",
    ]
    assert findings_exit_code(damaged) == 6
    assert written_just_now == []


def test_a_port_that_was_taken_is_a_note(daemon: Daemon) -> None:
    status = dict(asking(daemon, "status", {}))
    status["daemon"] = {**status["daemon"], "wanted_port": 8787}

    notes = [each for each in check_status(daemon.home, status) if each.code == "note"]

    assert any(each.message.startswith("port 8787 was taken") for each in notes)


def test_without_a_daemon_it_is_said_how_to_start_one(tmp_path: Path) -> None:
    """What keeps the home from being opened is told as well."""
    (tmp_path / "vault").mkdir()
    found = list(check_home(tmp_path, _unasked, time.time()))

    assert [(each.code, each.check) for each in found] == [
        ("note", "daemon"),
        ("rejected", "home"),
    ]
    assert found[0].fix.endswith("madeleine serve")
    assert found[1].message == "setting `server.port` is no number"


def test_a_daemon_that_is_stuck_is_found_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_checks, "ANSWER_TIMEOUT_SECONDS", 0.1)
    (tmp_path / "run").mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as stuck:
        stuck.bind(str(tmp_path / "run" / "socket"))
        stuck.listen()

        found = list(check_home(tmp_path, _unasked, time.time()))

    assert "does not answer" in found[-1].message


def test_a_token_that_the_daemon_does_not_take_is_found(daemon: Daemon) -> None:
    path = daemon.home / "run" / "token"
    path.write_text("another\n", encoding="utf-8")
    try:
        wrong = look(daemon)
        path.unlink()
        gone = look(daemon)
    finally:
        path.write_text(f"{daemon.token}\n", encoding="utf-8")
        path.chmod(0o600)

    assert [(each.check, each.code) for each in [*wrong, *gone]] == [("token", "rejected")] * 2
    assert look(daemon) == []


def test_what_others_may_read_is_found(daemon: Daemon) -> None:
    run = daemon.home / "run"
    daemon.home.chmod(0o755)
    run.chmod(0o755)
    (run / "token").chmod(0o644)
    try:
        found = look(daemon)
    finally:
        daemon.home.chmod(0o700)
        run.chmod(0o700)
        (run / "token").chmod(0o600)

    assert [each.fix for each in found] == [
        f"chmod 700 {daemon.home}",
        f"chmod 700 {run}",
        f"chmod 600 {run / 'token'}",
    ]


def test_a_memory_file_that_does_not_parse_is_found(daemon: Daemon) -> None:
    broken = daemon.vault / "broken.md"
    broken.write_text("---\ntitle: 'never closed\n---\nx\n", encoding="utf-8")
    daemon.ok("POST", "/admin/reconcile")
    try:
        found = look(daemon)
    finally:
        broken.unlink()
        daemon.ok("POST", "/admin/reconcile")

    assert found[0].message.startswith("broken.md:2: ")
    assert found[0].code == "damaged"
    assert findings_exit_code(found) == 6


def test_events_from_the_future_are_clock_trouble(daemon: Daemon) -> None:
    found = look(daemon, now=time.time() - 3_600)

    assert {each.check for each in found} == {"clock"}
    assert "is from the future" in found[0].message


def test_an_index_that_is_behind_is_found(daemon: Daemon) -> None:
    status = dict(asking(daemon, "status", {}))
    status["counts"] = {**status["counts"], "memories": 0}

    behind = [each for each in check_status(daemon.home, status) if each.is_trouble]

    assert [each.fix for each in behind] == ["madeleine reconcile"]
    assert "knows 0 of" in behind[0].message


def test_pairs_that_nothing_reads_though_it_is_wanted_are_a_note(daemon: Daemon) -> None:
    status = dict(asking(daemon, "status", {}))
    assert status["relations"] == {"name": None, "why_not": None}
    status["relations"] = {"name": None, "why_not": "not installed: madeleine_relations"}

    found = [each for each in check_status(daemon.home, status) if each.check == "relations"]

    assert [each.code for each in found] == ["note"]
    assert found[0].message.endswith("not installed: madeleine_relations")
    assert "madeleine-relations" in found[0].fix


def test_jobs_that_keep_failing_and_an_old_daemon_are_found(daemon: Daemon) -> None:
    status = dict(asking(daemon, "status", {}))
    jobs = [dict(each) for each in status["sleep"]["jobs"]]
    jobs[0] |= {"failures": 3, "last_run": {"error": "the judge is down"}}
    jobs[1] |= {"failures": 1, "last_run": {"error": "once"}}
    status["sleep"] = {**status["sleep"], "jobs": jobs}
    status["version"] = "0.0.1"

    found = [each for each in check_status(daemon.home, status) if each.is_trouble]

    assert found[0].message.startswith("the daemon runs release 0.0.1; installed is ")
    assert found[1].fix == f"madeleine sleep {jobs[0]['id']}"
    assert found[1].message.endswith("failed 3 times in a row: the judge is down")
    assert len(found) == 2


def test_whispers_that_come_too_late_are_found(daemon: Daemon) -> None:
    status = dict(asking(daemon, "status", {}))
    status["daemon"] = {**status["daemon"], "hooks": {"late": 30, "prompts": 100, "problems": []}}

    found = [each for each in check_status(daemon.home, status) if each.is_trouble]

    assert [each.check for each in found] == ["slow hooks"]


def test_lines_of_the_users_terms_that_say_nothing_are_named(daemon: Daemon) -> None:
    daemon.door.call(
        "remember",
        body={"content": "Bramble: warehouse system\njust words\nmore words", "tags": ["terms"]},
    )

    found = check_home(daemon.home, lambda *call: asking(daemon, *call), time.time())

    (terms,) = [each for each in found if each.check == "terms"]
    assert "'just words', and 1 more like it" in terms.message
    assert not terms.is_trouble


@pytest.mark.parametrize(
    ("languages", "why", "said"),
    [(["de", "ja"], "not installed", 1), (["de", "ja"], None, 0), ([], "not installed", 0)],
)
def test_memories_that_the_model_reads_badly_are_pointed_out(
    daemon: Daemon, languages: list[str], why: str | None, said: int
) -> None:
    def answer(name: str, query: Mapping[str, object]) -> Mapping[str, Any]:
        status = dict(asking(daemon, name, query))
        if name == "status":
            told = {"name": "m", "languages": languages, "why_only_english": why}
            status["embedder"] = {**status["embedder"], **told}
        return status

    found = [
        each for each in check_home(daemon.home, answer, time.time()) if each.check == "languages"
    ]

    assert len(found) == said
    for each in found:
        assert "memories in de, ja" in each.message
        assert "madeleine-memory[multilingual]" in each.fix
        assert not each.is_trouble
