"""A fleet of servers on one database, under load and under fire.

Several servers, each a real process with a home of its own that holds no memories; many clients,
each with the token of one person, who remember, recall and are whispered to; every minute a
server is killed in the midst of it and started again. At the end it is counted what should not
have happened: a write that was acknowledged and is gone, a job that ran twice, an answer that
holds somebody else's words.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from _measure import ms, progress
from _recall_report import Figure, Target
from _scale_engines import Databases

from madeleine.api.routes import ROUTE_BY_NAME
from madeleine.server.launch import LaunchedDaemon, launch_daemon

SETTINGS = """[store]
url = "{url}"
truth = "database"
[embedder]
kind = "fake"
[server]
port = 0
[sleep]
first_seconds = 5.0
importance_scorer_minutes = 0.5
index_updater_minutes = 0.5
[consolidation]
enabled = true
tick_seconds = 5
decay_interval_seconds = 30
creative_interval_seconds = 30
"""
OFTEN = timedelta(seconds=30)  # between two runs of the jobs that are watched
CLOSE = 0.5  # of that time: two runs so close together are one too many
ROUND_SECONDS = 60.0
PATIENCE_SECONDS = 10.0
WORK = {"remember": 4, "recall": 4, "whisper": 2}
NOUNS = ("kettle", "ladder", "lantern", "anchor", "teapot", "compass", "violin", "hammer")
NONE = Target(0, at_most=True)


@dataclass(frozen=True, slots=True)
class Load:
    """How many of everything, and for how long."""

    servers: int
    clients: int
    minutes: float
    people: int


@dataclass(slots=True)
class Seen:
    """What one client knows."""

    kept: dict[str, str] = field(default_factory=dict)
    """Texts of acknowledged writes, by id."""
    took: dict[str, list[float]] = field(default_factory=lambda: {each: [] for each in WORK})
    refused: Counter[str] = field(default_factory=Counter)
    foreign: int = 0


def fleet(folder: Path, server: Databases, load: Load) -> Iterator[Figure]:
    """Yield what went wrong, and how quickly the rest went."""
    with server.made() as url, tempfile.TemporaryDirectory(dir=folder) as homes:
        running = Fleet(Path(homes), url, load)
        try:
            running.start()
            seen = running.work()
            yield from _figures(running, seen, _runs(server, url), load)
        finally:
            running.stop()


class Fleet:
    """The servers, and who may ask them."""

    def __init__(self, folder: Path, url: str, load: Load) -> None:
        self.load = load
        self.kills = 0
        self._homes = [folder / f"server-{number}" for number in range(load.servers)]
        for home in self._homes:
            home.mkdir()
            (home / "config.toml").write_text(SETTINGS.format(url=url), encoding="utf-8")
        self._servers: list[LaunchedDaemon | None] = [None] * load.servers
        self._tokens: dict[str, str] = {}

    def start(self) -> None:
        for number in range(self.load.servers):
            self._start(number)
        home = self._homes[0]
        for number in range(self.load.people):
            person = f"person{number}"
            _command(home, "person", "add", person)
            answer = _command(home, "token", "create", f"{person} desk", "--person", person)
            self._tokens[person] = str(answer["token"])

    def stop(self) -> None:
        for each in self._servers:
            if each is not None:
                each.process.kill()
                each.process.wait(PATIENCE_SECONDS)

    def work(self) -> list[Seen]:
        """Let all clients work, and kill a server every minute."""
        over, seen = threading.Event(), [Seen() for _ in range(self.load.clients)]
        people = sorted(self._tokens)
        clients = [
            threading.Thread(
                target=self._client, args=(people[number % len(people)], number, each, over)
            )
            for number, each in enumerate(seen)
        ]
        for client in clients:
            client.start()
        self._kill_now_and_then()
        over.set()
        for client in clients:
            client.join()
        return seen

    def missing(self, seen: Sequence[Seen]) -> int:
        """Return how many acknowledged writes are not there as they were acknowledged."""
        people = sorted(self._tokens)
        lost = 0
        for number, each in enumerate(seen):
            door = Door(self._address(0), self._tokens[people[number % len(people)]])
            for memory, text in each.kept.items():
                status, answer = door.call("show", memory)
                shown = answer.get("memory")
                kept = status == 200 and isinstance(shown, Mapping) and shown["content"] == text
                lost += not kept
        return lost

    # -- servers ---------------------------------------------------------------------------

    def _kill_now_and_then(self) -> None:
        ends = time.monotonic() + self.load.minutes * 60
        number = 0
        while time.monotonic() + ROUND_SECONDS <= ends:
            time.sleep(ROUND_SECONDS)
            self._kill(number % self.load.servers)
            progress(f"killed server {number % self.load.servers}")
            self._start(number % self.load.servers)
            number += 1
        time.sleep(max(0.0, ends - time.monotonic()))

    def _start(self, number: int) -> None:
        self._servers[number] = launch_daemon(self._homes[number], port=0)

    def _kill(self, number: int) -> None:
        server, self._servers[number] = self._servers[number], None
        if server is not None:
            server.process.kill()
            server.process.wait(PATIENCE_SECONDS)
            self.kills += 1

    def _address(self, number: int) -> tuple[str, int] | None:
        server = self._servers[number]
        return None if server is None else (server.host, server.port)

    # -- a client --------------------------------------------------------------------------

    def _client(self, person: str, number: int, seen: Seen, over: threading.Event) -> None:
        dice = random.Random(number)
        others = [each for each in self._tokens if each != person]
        while not over.is_set():
            address = self._address(dice.randrange(self.load.servers))
            if address is None:
                continue
            work = dice.choices(list(WORK), list(WORK.values()))[0]
            door = Door(address, self._tokens[person])
            try:
                self._one(door, work, person, others, dice, seen)
            except (OSError, http.client.HTTPException) as error:
                seen.refused[type(error).__name__] += 1
            finally:
                door.close()

    def _one(
        self,
        door: Door,
        work: str,
        person: str,
        others: Sequence[str],
        dice: random.Random,
        seen: Seen,
    ) -> None:
        body = _body(work, person, dice)
        began = time.perf_counter()
        status, answer = door.call(work, body=body)
        took = time.perf_counter() - began
        if status != 200:
            seen.refused[str(status)] += 1
            return
        seen.took[work].append(took)
        if work == "remember":
            seen.kept[str(answer["node_id"])] = str(body["content"])
        said = json.dumps(answer)
        seen.foreign += any(f"owned by {each}." in said for each in others)


def _body(work: str, person: str, dice: random.Random) -> dict[str, object]:
    noun = dice.choice(NOUNS)
    match work:
        case "remember":
            text = f"The {noun} {uuid.UUID(int=dice.getrandbits(128))} is owned by {person}."
            return {"content": text}
        case "recall":
            return {"query": f"who owns the {noun}?", "limit": 10}
        case _:
            session = f"{person}-{dice.randrange(4)}"
            return {"prompt": f"where did I leave the {noun}?", "session_id": session}


class Door:
    """One connection to one server, with one person's token."""

    def __init__(self, address: tuple[str, int] | None, token: str) -> None:
        host, port = address or ("127.0.0.1", 0)
        self._connection = http.client.HTTPConnection(host, port, timeout=PATIENCE_SECONDS)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def call(
        self, name: str, memory: str = "", body: Mapping[str, object] | None = None
    ) -> tuple[int, dict[str, Any]]:
        route = ROUTE_BY_NAME[name]
        data = None if body is None else json.dumps(body)
        path = route.path.replace("{id}", memory)
        self._connection.request(route.method, path, data, self._headers)
        answer = self._connection.getresponse()
        found = json.loads(answer.read() or b"{}")
        return answer.status, found if isinstance(found, dict) else {}

    def close(self) -> None:
        self._connection.close()


def _command(home: Path, *words: str) -> dict[str, Any]:
    """Run a command of ours on a home, and return what it says."""
    command = [sys.executable, "-m", "madeleine", "--home", os.fspath(home), "--json", *words]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# -- counting ------------------------------------------------------------------------------


def _runs(server: Databases, url: str) -> dict[tuple[str, str], list[tuple[datetime, datetime]]]:
    """Return when each job of each memory ran, from when to when."""
    sql = """SELECT t.name, a.body FROM madeleine.audit_log a
             JOIN madeleine.tenants t ON t.tenant = a.tenant WHERE a.kind = 'run'"""
    runs: dict[tuple[str, str], list[tuple[datetime, datetime]]] = {}
    with server.connect(url) as connection:
        for tenant, text in connection.execute(sql).fetchall():
            body = json.loads(text)
            report = body["report"]
            began = datetime.fromisoformat(report["began"])
            ended = began + timedelta(seconds=float(report.get("seconds") or 0))
            runs.setdefault((tenant, str(body["job"])), []).append((began, ended))
    return {key: sorted(each) for key, each in runs.items()}


def _doubles(runs: Mapping[tuple[str, str], Sequence[tuple[datetime, datetime]]]) -> int:
    """Return how many runs began before the one before had ended, or far too soon after it."""
    doubles = 0
    for times in runs.values():
        for (began, ended), (after, _) in pairwise(times):
            doubles += after < ended or after - began < CLOSE * OFTEN
    return doubles


def _figures(
    running: Fleet,
    seen: Sequence[Seen],
    runs: Mapping[tuple[str, str], Sequence[tuple[datetime, datetime]]],
    load: Load,
) -> Iterator[Figure]:
    part = f"fleet {load.servers} x {load.clients}"
    kept = sum(len(each.kept) for each in seen)
    note = f"{running.kills} kills in {load.minutes:g} minutes"
    yield Figure(
        part, "acknowledged writes lost", running.missing(seen), kept, NONE, "lost", note=note
    )
    count = sum(len(each) for each in runs.values())
    yield Figure(part, "jobs run twice", _doubles(runs), count, NONE, "runs")
    foreign = sum(each.foreign for each in seen)
    answers = sum(len(took) for each in seen for took in each.took.values())
    yield Figure(part, "answers across memories", foreign, answers, NONE, "answers")
    refused = sum((each.refused for each in seen), Counter[str]())
    told = ", ".join(f"{name} {number}" for name, number in refused.most_common())
    yield Figure(
        part, "calls without an answer", refused.total(), answers, None, "calls", note=told
    )
    for work in WORK:
        took = sorted(one for each in seen for one in each.took[work])
        if took:
            note = f"p95 {ms(took[int(0.95 * len(took))])}"
            middle = took[len(took) // 2] * 1_000
            yield Figure(part, f"{work}, p50", middle, len(took), unit="ms", note=note)
