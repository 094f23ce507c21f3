"""The life of a daemon: starting, a second one, ending, and being killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest
from uvicorn import Config

from madeleine.api import remote
from madeleine.api.home_paths import socket_path, socket_pointer_path
from madeleine.api.remote import RemoteDoor, find_daemon, stop_daemon
from madeleine.bootstrap import HomeLock, make_folders
from madeleine.errors import HomeBusy, Unavailable
from madeleine.server.connections import OpenConnections
from madeleine.server.daemon import _StoppableServer as Uvicorn
from madeleine.server.launch import launch_daemon
from madeleine.server.sockets import listen_tcp
from tests.server.running import WAIT_SECONDS, busy_port, eventually, running


def run_files(home: Path) -> set[str]:
    return {path.name for path in (home / "run").iterdir()}


def test_a_daemon_says_where_it_is(home: Path) -> None:
    with running(home) as daemon:
        run = home / "run"

        assert (run / "pid").read_text(encoding="utf-8") == f"{daemon.launched.pid}\n"
        assert (run / "port").read_text(encoding="utf-8") == f"{daemon.launched.port}\n"
        assert daemon.launched.socket == str(run / "socket")
        found = find_daemon(home)
        assert found is not None
        assert found.call("health")["status"] == "ok"


def test_a_home_made_by_starting_is_its_owners_alone(home: Path) -> None:
    with running(home):
        for folder in (home, home / "vault", home / "logs", home / "journal"):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_daemon_outlives_the_session_that_started_it(home: Path) -> None:
    with running(home) as daemon:
        assert os.getsid(daemon.launched.pid) == daemon.launched.pid


def test_a_second_daemon_on_the_same_home_is_refused(home: Path) -> None:
    with running(home) as daemon:
        with pytest.raises(HomeBusy, match="is open in"):
            launch_daemon(home, port=0)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "madeleine.server", "--home", str(home), "--port", "0"],
            capture_output=True,
            timeout=WAIT_SECONDS,
            check=False,
        )

        assert done.returncode == 5
        assert f"is open in process {daemon.launched.pid}" in done.stdout.decode()
        assert daemon.ask("GET", "/agent/list").status == 200


@pytest.mark.soak
def test_a_home_that_another_command_holds_is_busy(home: Path) -> None:
    make_folders(home)
    lock = HomeLock(home)
    lock.take(0)
    try:
        done = subprocess.run(
            [
                sys.executable,
                "-P",
                "-c",
                "import sys, madeleine.server.daemon as d; d.LOCK_TIMEOUT_SECONDS = 0.1;"
                "from madeleine.server.__main__ import main; sys.exit(main(sys.argv[1:]))",
                "--home",
                str(home),
            ],
            capture_output=True,
            timeout=WAIT_SECONDS,
            check=False,
        )
    finally:
        lock.release()

    assert done.returncode == 5
    assert f"is open in process {os.getpid()}" in done.stdout.decode()


def test_a_taken_port_is_named_and_leaves_nothing_behind(home: Path) -> None:
    with busy_port() as port, pytest.raises(Unavailable) as refused:
        launch_daemon(home, port=port)

    assert refused.value.exit_code == 5
    assert f"127.0.0.1:{port}: the port is taken" in refused.value.message
    assert f"port {port}" in refused.value.hint
    assert run_files(home) == {"lock"}
    assert find_daemon(home) is None


@pytest.mark.soak
def test_why_it_did_not_start_stands_in_the_log(home: Path) -> None:
    with busy_port() as port, pytest.raises(Unavailable):
        launch_daemon(home, port=port)

    log = (home / "logs" / "daemon.log").read_text(encoding="utf-8")
    assert f"ERROR madeleine.daemon: cannot listen on 127.0.0.1:{port}: the port is taken" in log


@pytest.mark.soak
def test_a_stuck_daemon_is_stopped_all_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "STOP_REPLY_TIMEOUT_SECONDS", 0.3)
    monkeypatch.setattr(remote, "SIGNAL_TIMEOUT_SECONDS", 0.5)
    with running(home) as daemon:
        kept = daemon.remember("what was acknowledged")
        os.kill(daemon.launched.pid, signal.SIGSTOP)

        assert stop_daemon(home)
        assert daemon.launched.process.wait(WAIT_SECONDS) == -signal.SIGKILL

    with running(home) as daemon:
        assert daemon.ok("GET", f"/agent/recall/{kept}")["node_id"] == kept


def test_only_the_daemon_itself_is_ended_by_its_process_id(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left in run/ by a daemon that was killed may name somebody else's process."""
    monkeypatch.setattr(remote, "STOP_REPLY_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr(remote, "SIGNAL_TIMEOUT_SECONDS", 0.1)
    make_folders(home)
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    (home / "run" / "pid").write_text(f"{bystander.pid}\n", encoding="utf-8")
    lock = HomeLock(home)
    lock.take(0)
    try:
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(str(home / "run" / "socket"))
            silent.listen()
            with pytest.raises(Unavailable, match="does not end"):
                stop_daemon(home, 0.2)
        assert bystander.poll() is None
    finally:
        lock.release()
        bystander.kill()
        bystander.wait()


def test_answers_over_tcp_do_not_wait_for_acknowledgements() -> None:
    """asyncio turns Nagle's delay off only where the protocol is named."""
    with listen_tcp("127.0.0.1", 0) as server:
        assert server.proto == socket.IPPROTO_TCP


@pytest.mark.few(1)
@pytest.mark.parametrize("port", [70_000, -1])
def test_a_number_that_is_no_port_is_refused(home: Path, port: int) -> None:
    with pytest.raises(Unavailable, match=f"cannot listen on 127.0.0.1:{port}"):
        launch_daemon(home, port=port)


@pytest.mark.few(1)
@pytest.mark.parametrize("host", ["256.1.1.1", "192.0.2.1"])
def test_an_address_that_is_not_ours_is_refused(home: Path, host: str) -> None:
    with pytest.raises(Unavailable, match="cannot listen on"):
        launch_daemon(home, host=host, port=0)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[server]\nprot = 1\n", r"server\.prot"),
        ('[judge]\nkind = "oracle"\n', "'oracle'; it takes"),
    ],
)
def test_a_bad_setting_is_told_to_whoever_starts_it(home: Path, line: str, said: str) -> None:
    home.mkdir()
    (home / "config.toml").write_text(line, encoding="utf-8")

    with pytest.raises(Exception, match=said) as refused:
        launch_daemon(home)

    assert getattr(refused.value, "exit_code", None) == 2


def test_the_port_comes_from_the_settings(home: Path) -> None:
    home.mkdir()
    with busy_port() as port:
        (home / "config.toml").write_text(f"[server]\nport = {port}\n", encoding="utf-8")

        with pytest.raises(Unavailable, match=str(port)):
            launch_daemon(home)


@pytest.mark.parametrize("how", ["route", "SIGTERM", "SIGINT"])
def test_a_daemon_that_is_told_to_end_tidies_up(home: Path, how: str) -> None:
    with running(home) as daemon:
        kept = daemon.remember("Kept before the end")
        daemon.ok("GET", f"/agent/recall/{kept}")
        if how == "route":
            assert daemon.ok("POST", "/admin/stop") == {"stopping": True}
        else:
            os.kill(daemon.launched.pid, getattr(signal, how))

        assert daemon.launched.process.wait(WAIT_SECONDS) == 0
        assert run_files(home) == {"lock", "token", "hook"}
        assert not list(home.glob("*.db-wal"))
    assert find_daemon(home) is None
    with running(home) as again:
        assert again.ok("GET", f"/agent/recall/{kept}")["memory"]["access_count"] == 1


class Latecomer:
    """A connection that is there only when the daemon has said goodbye to the others."""

    def __init__(self, connections: set[Any]) -> None:
        self._connections = connections

    def shutdown(self) -> None:
        self._connections.discard(self)


def test_an_ending_daemon_does_not_wait_for_who_comes_in_at_the_last_moment() -> None:
    async def nothing(scope: object, receive: object, send: object) -> None: ...

    async def end() -> set[Any]:
        config = Config(nothing, lifespan="off", log_config=None, timeout_graceful_shutdown=2)
        config.load()
        server = Uvicorn(config, threading.Event(), lambda: None, OpenConnections(8))
        server.lifespan, server.servers = config.lifespan_class(config), []
        there: set[Any] = server.server_state.connections
        asyncio.get_running_loop().call_later(0.02, there.add, Latecomer(there))
        there.add(waiting := Latecomer(there))
        asyncio.get_running_loop().call_later(0.5, there.discard, waiting)
        await server.shutdown()
        return there

    assert asyncio.run(end()) == set()


def test_a_daemon_whose_home_is_deleted_ends(home: Path) -> None:
    with running(home) as daemon:
        shutil.rmtree(home)

        assert daemon.launched.process.wait(WAIT_SECONDS) == 0


@pytest.mark.soak
def test_a_daemon_can_be_ended_while_it_still_indexes(home: Path) -> None:
    vault = home / "vault"
    vault.mkdir(parents=True)
    for number in range(6_000):
        (vault / f"{number}.md").write_text(f"Text number {number}\n", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "madeleine.server", "--home", str(home), "--port", "0"],
        stdout=subprocess.PIPE,
    )
    eventually(lambda: find_daemon(home) is not None, seconds=WAIT_SECONDS)

    process.terminate()
    said, _ = process.communicate(timeout=WAIT_SECONDS)

    assert process.returncode == 0
    assert said == b""
    assert run_files(home) == {"lock"}


def test_stopping_waits_until_the_home_is_free(home: Path) -> None:
    with running(home) as daemon:
        assert stop_daemon(home) is True

        HomeLock(home).take(0)
        assert daemon.launched.process.wait(WAIT_SECONDS) == 0
    assert stop_daemon(home) is False


def test_requests_under_way_are_finished_before_the_end(home: Path) -> None:
    """A batch that was accepted is answered whole although the daemon was told to end."""
    items = [{"content": f"Number {number} of the last batch"} for number in range(300)]
    results: list[dict[str, object]] = []
    with running(home) as daemon:
        path = "/agent/remember/batch"
        asking = threading.Thread(
            target=lambda: results.append(daemon.ok("POST", path, {"items": items}))
        )
        asking.start()
        eventually(lambda: any(daemon.vault.glob("*.md")))
        os.kill(daemon.launched.pid, signal.SIGTERM)
        asking.join(WAIT_SECONDS)

        assert daemon.launched.process.wait(WAIT_SECONDS) == 0
    (answer,) = results
    assert len(list(daemon.vault.glob("*.md"))) == 300
    assert answer["text"] == "300 memories written"


def test_a_killed_daemon_loses_nothing_and_needs_no_tidying(home: Path) -> None:
    with running(home) as daemon:
        kept = [daemon.remember(f"Acknowledged number {number}") for number in range(5)]
        daemon.ok("GET", f"/agent/recall/{kept[0]}")
        daemon.kill()

    assert (home / "run" / "socket").exists()
    assert find_daemon(home) is None
    with running(home) as again:
        found = again.ok("GET", "/agent/list")["memories"]
        assert sorted(each["id"] for each in found) == sorted(kept)
        assert again.ok("GET", f"/agent/recall/{kept[0]}")["memory"]["access_count"] == 1
        assert again.token == daemon.token
        status = again.ok("GET", "/admin/status")
        assert status["journal"]["problems"] == []


def test_a_call_to_a_daemon_that_is_gone_says_how_to_start_it(home: Path) -> None:
    with running(home) as daemon:
        door = daemon.door
        daemon.kill()

    with pytest.raises(Unavailable, match="no daemon answers") as refused:
        door.call("list")
    assert "madeleine serve" in refused.value.hint


def test_a_home_with_a_long_path_gets_its_socket_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unix socket's path takes about 100 bytes; the home's may be longer."""
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    home = tmp_path / ("long" * 25) / "home"
    with running(home) as daemon:
        place = Path(daemon.launched.socket)
        found = find_daemon(home)

        assert found is not None
        assert found.call("health")["status"] == "ok"
        assert socket_path(home) == place
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
        daemon.kill()
    with running(home) as again:
        assert again.launched.socket == str(place)
    assert not place.exists()
    place.parent.rmdir()


def test_a_socket_in_a_folder_of_somebody_else_is_not_trusted(tmp_path: Path) -> None:
    home = tmp_path / ("long" * 25) / "home"
    make_folders(home)
    open_to_all = tmp_path / "shared"
    open_to_all.mkdir(mode=0o777)
    open_to_all.chmod(0o777)
    socket_pointer_path(home).write_text(str(open_to_all / "socket"), encoding="utf-8")

    assert find_daemon(home) is None


def test_a_journal_that_cannot_be_written_says_so_and_the_log_tells_no_text(home: Path) -> None:
    with running(home) as daemon:
        kept = daemon.remember("A very private text")
        (home / "journal").rename(home / "journal-away")
        (home / "journal").write_text("in the way", encoding="utf-8")
        read = daemon.ok("GET", f"/agent/recall/{kept}")
        answer = daemon.ask("POST", f"/agent/update/{kept}", {"title": "Private"})

        assert "not noted" in read["notes"][0]
        assert (answer.status, answer.error["code"]) == (503, "unavailable")
        assert "journal" in answer.error["message"]
        (home / "journal").unlink()
        (home / "journal-away").rename(home / "journal")
    log = (home / "logs" / "daemon.log").read_text(encoding="utf-8")
    assert "listening on 127.0.0.1" in log
    assert "private text" not in log


def test_a_damaged_index_is_made_anew_and_said(home: Path) -> None:
    with running(home) as daemon:
        kept = daemon.remember("It outlives its index")
    (home / "index.db").write_bytes(b"this is no database" * 1000)

    with running(home) as again:
        assert again.ok("GET", f"/agent/recall/{kept}")["node_id"] == kept
        (note,) = again.ok("GET", "/admin/status")["notes"]
        assert "made the index anew" in note


@pytest.mark.soak
def test_a_damaged_journal_line_is_reported_and_costs_only_itself(home: Path) -> None:
    with running(home) as daemon:
        kept = daemon.remember("Its journal is damaged")
        daemon.ok("GET", f"/agent/recall/{kept}")
    (journal,) = (home / "journal").glob("*.jsonl")
    journal.write_bytes(b'{"torn": \n' + journal.read_bytes())

    with running(home) as again:
        status = again.ok("GET", "/admin/status")
        (problem,) = status["journal"]["problems"]
        assert problem.startswith(f"{journal.name}:1: ")
        assert again.ok("GET", f"/agent/recall/{kept}")["memory"]["access_count"] == 1


@pytest.mark.soak
def test_a_newer_index_is_not_touched(home: Path) -> None:
    with running(home) as daemon:
        daemon.remember("Written by a newer release")
    with apsw.Connection(str(home / "index.db")) as database:
        database.pragma("user_version", 9_999)

    with pytest.raises(Exception, match="9999") as refused:
        launch_daemon(home, port=0)

    assert getattr(refused.value, "exit_code", None) == 6
    assert "rebuild" in getattr(refused.value, "hint", "")
    assert run_files(home) == {"lock", "token", "hook"}


def test_without_a_model_recall_still_works_and_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "none")
    with running(home) as daemon:
        kept = daemon.remember("Found by its words alone")
        answer = daemon.ok("POST", "/agent/recall", {"query": "found words"})
        status = daemon.ok("GET", "/admin/status")

        assert [each["memory"]["id"] for each in answer["results"]] == [kept]
        assert answer["notes"] == ["text search only: embedder.kind is none"]
        assert status["embedder"]["why_not"] == "embedder.kind is none"


def test_vectors_are_made_in_the_background_once_there_is_a_model(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "none")
    with running(home) as daemon:
        daemon.remember("It had no vector at first")
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")

    with running(home) as again:
        eventually(
            lambda: again.ok("GET", "/admin/status")["embedder"]["unembedded"] == 0, seconds=15
        )


def test_several_clients_at_once_are_all_answered(home: Path) -> None:
    with running(home) as daemon:
        door = RemoteDoor(Path(daemon.launched.socket))
        ids: list[str] = []

        def write(who: int) -> None:
            for number in range(10):
                answer = door.call("remember", body={"content": f"From {who}: {number}"})
                ids.append(str(answer["node_id"]))

        threads = [threading.Thread(target=write, args=(who,)) for who in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_SECONDS)

        assert len(set(ids)) == 80
        assert daemon.ok("GET", "/agent/list")["total"] == 80
        assert len(list(daemon.vault.glob("*.md"))) == 80


SIGNALLED = """
import os, signal, threading
from madeleine.server.connections import OpenConnections
from madeleine.server.daemon import _StoppableServer, _catch_signals
from uvicorn import Config

with _catch_signals() as stop:
    server = _StoppableServer(Config(lambda: None), stop, lambda: None, OpenConnections(8))
    for handler in (signal.getsignal(signal.SIGTERM), server.handle_exit):
        stop.clear()
        signal.signal(signal.SIGTERM, handler)
        with stop._cond:  # as in the middle of `stop.set()`
            os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(5)
print("ended")
"""


def test_a_signal_that_comes_while_the_daemon_is_told_to_stop_does_not_block_it() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SIGNALLED],
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=False,
    )

    assert ran.stdout == b"ended\n", ran.stderr.decode()


LOOPING = """
import sys, time
from pathlib import Path
from madeleine.bootstrap import HomeLock
from madeleine.errors import HomeBusy
print("begun", flush=True)
while True:
    lock = HomeLock(Path(sys.argv[1]))
    try:
        lock.take(60)
    except HomeBusy:
        continue
    time.sleep(0.05)
    lock.release()
"""


def test_two_who_open_the_home_again_and_again_do_not_keep_the_daemon_out(home: Path) -> None:
    make_folders(home)
    command = [sys.executable, "-c", LOOPING, str(home)]
    looping = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for each in looping:
            assert each.stdout is not None
            with each.stdout as said:
                assert said.readline() == b"begun\n"
        with running(home) as daemon:
            assert daemon.ask("GET", "/admin/health").status == 200
    finally:
        for each in looping:
            each.kill()
            each.wait(WAIT_SECONDS)
