"""Several servers on one database: what one writes all know, and none is missed when it dies."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime, timedelta
from http.client import HTTPException
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest

from madeleine.index.port import Index
from madeleine.model.event import EventKind
from madeleine.model.times import parse_time
from madeleine.sleep.interrupted import BEGUN, CUT_OFF
from tests import postgres
from tests.server.running import WAIT_SECONDS, Daemon, eventually, running
from tests.server.test_events import listening
from tests.server.test_tasks import slow_model, task

LEASE_SECONDS = 2.0
pytestmark = pytest.mark.timeout(180)  # each test starts several servers
SLOW = "duplicate_merger"
NIGHTLY = ("auto_linker", "conflict_detector", "duplicate_merger", "consolidator")


class Fleet:
    """Servers with homes of their own on one database of their own."""

    def __init__(self, folder: Path, stack: ExitStack, url: str) -> None:
        self._folder = folder
        self._url = url
        self._stack = stack
        self._count = 0

    def start(self) -> Daemon:
        self._count += 1
        return self._stack.enter_context(running(self._folder / f"server-{self._count}"))

    def index(self) -> Index:
        """Return the index that the servers share."""
        return self._stack.enter_context(closing(postgres.open_at(self._url, Path("home"))))


@contextmanager
def fleet_on(url: str, folder: Path) -> Iterator[Fleet]:
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        patch.setenv("MADELEINE_STORE", url)
        patch.setenv("MADELEINE_STORE_TRUTH", "database")
        patch.setenv("MADELEINE_STORE_LEASE_SECONDS", str(LEASE_SECONDS))
        patch.setenv("MADELEINE_SLEEP_FIRST_SECONDS", "3600")
        yield Fleet(folder, stack, url)


@pytest.fixture
def fleet(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    """A fleet for a test that ends servers."""
    with fleet_on(postgres.database(request.node.name), tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, Daemon]]:
    """Two servers for the tests that only ask; texts must differ between them."""
    with fleet_on(postgres.database(__name__), tmp_path_factory.mktemp("pair")) as opened:
        yield opened.start(), opened.start()


def test_what_one_server_writes_the_others_recall_at_once(pair: tuple[Daemon, Daemon]) -> None:
    one, other = pair

    written = one.remember("the harbour crane is painted green")
    found = other.recall("harbour crane")
    other.ok("POST", f"/agent/update/{written}", {"content": "the harbour crane is painted red"})

    assert [each["id"] for each in found] == [written]
    assert one.recall("harbour crane")[0]["content"] == "the harbour crane is painted red"
    assert not list((one.home / "vault").iterdir())
    assert not list((one.home / "journal").iterdir())


def test_who_listens_at_any_server_is_told_once(pair: tuple[Daemon, Daemon]) -> None:
    one, other = pair

    with listening(one) as here, listening(other) as there:
        written = one.remember("the lighthouse blinks twice")
        one.ok("POST", f"/agent/update/{written}", {"title": "Lighthouse"})

        for heard in (here, there):
            names = [heard.next() for _ in range(2)]
            assert [name for name, _ in names] == ["remembered", "revised"]
            assert names[0][1]["node_id"] == written


def test_the_same_text_sent_to_all_servers_at_once_is_one_memory(
    pair: tuple[Daemon, Daemon],
) -> None:
    with ThreadPoolExecutor(8) as clients:
        ids = set(clients.map(lambda n: pair[n % 2].remember("said by many"), range(16)))

    assert len(ids) == 1
    assert [each["id"] for each in everything(pair[0]) if each["id"] in ids] == list(ids)


@pytest.mark.soak
def test_nothing_acknowledged_is_lost_when_servers_are_killed(fleet: Fleet) -> None:
    servers = [fleet.start(), fleet.start(), fleet.start()]
    client = Client(servers)

    with ThreadPoolExecutor(6) as threads:
        work = [threads.submit(client.write_many, who) for who in range(6)]
        for victim in servers[:2]:
            client.wait_for_more(15)
            victim.kill()
        client.wait_for_more(15)
        client.enough.set()
        for each in work:
            each.result()

    last = servers[2]
    known = {each["id"]: each["content"] for each in everything(last)}
    assert client.kept.items() <= known.items()
    assert sorted(known.values()) == sorted(set(known.values()))
    assert last.ok("POST", "/admin/reconcile")["written"] == 0
    status = last.ok("GET", "/admin/status")
    assert (status["unreadable"], status["journal"]["problems"]) == ([], [])
    before = sorted(known)
    last.ok("POST", "/admin/rebuild")
    assert sorted(each["id"] for each in everything(last)) == before


@pytest.mark.soak
@pytest.mark.timeout(120)
def test_a_job_that_is_due_runs_once_in_the_whole_fleet(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_SLEEP_FIRST_SECONDS", "0")
    monkeypatch.setenv("MADELEINE_SLEEP_IMPORTANCE_SCORER_MINUTES", "0.05")
    fleet.start()  # alone: a job that two servers claim at once is due again in a minute
    index = fleet.index()
    eventually(lambda: len(runs_of(index, *NIGHTLY)) >= len(NIGHTLY), 3 * WAIT_SECONDS)
    for _ in range(2):
        fleet.start()

    eventually(lambda: len(runs_of(index, "importance_scorer")) >= 4, 3 * WAIT_SECONDS)
    once = runs_of(index, *NIGHTLY)
    again = runs_of(index, "importance_scorer")

    assert sorted(each["job"] for each in once) == sorted(NIGHTLY)
    gaps = [later - sooner for sooner, later in pairwise(sorted(began(each) for each in again))]
    assert min(gaps) >= timedelta(seconds=3)


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Lets the model answer, for which a job waits that asks it."""
    event = threading.Event()
    with slow_model(event) as url:
        monkeypatch.setenv("MADELEINE_JUDGE_KIND", "llm")
        monkeypatch.setenv("MADELEINE_JUDGE_URL", url)
        monkeypatch.setenv("MADELEINE_JUDGE_MODEL", "slow")
        yield event


@pytest.mark.few(1)
def test_a_job_whose_server_was_killed_is_run_by_another(
    fleet: Fleet, release: threading.Event
) -> None:
    one, other, index = in_the_middle_of_a_job(fleet)

    one.kill()
    release.set()
    other.ok("POST", f"/admin/tasks/{SLOW}/run", {}, wait="true")

    runs = runs_of(index, SLOW)
    assert [each["report"].get("error") == CUT_OFF for each in runs] == [False, True]


@pytest.mark.few(1)
def test_a_server_that_slept_through_its_lease_writes_nothing_more(
    fleet: Fleet, release: threading.Event
) -> None:
    one, other, index = in_the_middle_of_a_job(fleet)

    os.kill(one.launched.pid, signal.SIGSTOP)
    release.set()
    other.ok("POST", f"/admin/tasks/{SLOW}/run", {}, wait="true")
    os.kill(one.launched.pid, signal.SIGCONT)
    eventually(lambda: task(one, SLOW)["running"] is False, WAIT_SECONDS)

    runs = runs_of(index, SLOW)
    assert [each["report"].get("error") == CUT_OFF for each in runs] == [False, True]


def in_the_middle_of_a_job(fleet: Fleet) -> tuple[Daemon, Daemon, Index]:
    """Return two servers of which the first waits for a model, in a job."""
    one, other = fleet.start(), fleet.start()
    for place in ("Lisbon", "Oslo", "Dublin"):
        one.remember(f"The office of the Atlas project is in {place}.")
    index = fleet.index()
    one.ok("POST", f"/admin/tasks/{SLOW}/run")
    eventually(lambda: index.log.state(BEGUN), WAIT_SECONDS)
    return one, other, index


class Client:
    """Writes to any of some servers, and remembers what was acknowledged."""

    def __init__(self, servers: list[Daemon]) -> None:
        self.servers = servers
        self.kept: dict[str, str] = {}
        self.enough = threading.Event()

    def wait_for_more(self, number: int) -> None:
        """Wait until so many more were acknowledged."""
        wanted = len(self.kept) + number
        eventually(lambda: len(self.kept) >= wanted, WAIT_SECONDS)

    def write_many(self, who: int) -> None:
        for number in count():
            if self.enough.is_set():
                return
            self.write(f"client {who} says thing number {number}", who + number)

    def write(self, text: str, turn: int) -> None:
        """Send a text until some server says that it is kept."""
        for server in (self.servers[(turn + again) % len(self.servers)] for again in range(30)):
            try:
                self.kept[server.remember(text)] = text
            except (OSError, HTTPException):
                continue  # that one is gone
            return
        raise AssertionError(f"no server took {text!r}")


def everything(server: Daemon) -> list[dict[str, Any]]:
    found = server.ok("GET", "/agent/list", limit=1000)
    return list(found["memories"])


def runs_of(index: Index, *jobs: str) -> list[Mapping[str, Any]]:
    return [each.body for each in index.log.recent_events([EventKind.RUN.value], 1_000, jobs)]


def began(run: Mapping[str, Any]) -> datetime:
    return parse_time("began", run["report"]["began"])
