"""Leading a soak: rounds of work, each ended by SIGKILL, each followed by every check."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from madeleine.api.remote import RemoteDoor
from madeleine.errors import MadeleineError, Unavailable
from madeleine.server.launch import LaunchedDaemon, launch_daemon
from tests.soak.checks import check_files, check_index, check_journal
from tests.soak.client import Client, Gone
from tests.soak.model import Vaulted, Wrong
from tests.soak.texts import Texts

ENVIRONMENT = {
    "MADELEINE_EMBEDDER_KIND": "fake",
    # Each client has a space; a link that meaning suggests must not reach another's memories.
    "MADELEINE_WRITE_CROSS_SPACE_PENALTY": "1.0",
    # Nobody but the clients writes: a daemon that lives for a minute would begin its jobs.
    "MADELEINE_SLEEP_ENABLED": "false",
    "CONSOLIDATION_ENABLED": "false",
}
SHARED = 8
ROUND_SECONDS = (0.2, 2.5)
END_SECONDS = 30.0


@dataclass(frozen=True)
class Plan:
    """How long and with how many."""

    seed: int
    operations: int = 10_000
    clients: int = 4
    seconds: float = 3_600.0


@dataclass
class Report:
    """What was done."""

    kills: int = 0
    starts_killed: int = 0
    rebuilds_killed: int = 0
    torn_lines: int = 0
    memories: int = 0
    operations: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return sum(n for what, n in self.operations.items() if not what.startswith("killed"))


class Soak:
    """One run on one home."""

    def __init__(self, plan: Plan, home: Path, say: Callable[[str], None]) -> None:
        self.plan = plan
        self.home = home
        self.report = Report()
        self._say = say
        self._dice = random.Random(plan.seed)
        self._shared: dict[str, bytes] = {}
        self._clients: list[Client] = []
        self._failures: list[BaseException] = []

    def run(self) -> Report:
        """Work and kill until the plan is fulfilled; `Wrong` if anything is not as promised."""
        deadline = time.monotonic() + self.plan.seconds
        daemon = launch_daemon(self.home, port=0)
        try:
            self._prepare(RemoteDoor(Path(daemon.socket)))
            while self.report.total < self.plan.operations and time.monotonic() < deadline:
                self._round(daemon)
                daemon = self._restarted()
                self._check(daemon)
            self._end(daemon)
        finally:
            if daemon.process.poll() is None:
                daemon.process.kill()
                daemon.process.wait(END_SECONDS)
        return self.report

    def _prepare(self, door: RemoteDoor) -> None:
        texts = Texts("shared", self._dice)
        bodies = [{"content": texts.new(), "space": "shared"} for _ in range(SHARED)]
        found = [str(door.call("remember", body=body)["node_id"]) for body in bodies]
        text = texts.new()
        body = {"content": text, "space": "contended"}
        contended = str(door.call("remember", body=body)["node_id"])
        files = Vaulted.read(self.home / "vault").files
        self._shared = {each: files[each].data for each in found}
        self._clients = [
            Client(
                f"c{number}",
                self.home / "vault",
                tuple(found),
                contended,
                random.Random(f"{self.plan.seed}-{number}"),
                attempts={text},
            )
            for number in range(self.plan.clients)
        ]

    def _round(self, daemon: LaunchedDaemon) -> None:
        """Let everybody work for a while, then kill the daemon under them."""
        stop = threading.Event()
        where = Path(daemon.socket)
        threads = [
            threading.Thread(target=self._work, args=(client, where, stop))
            for client in self._clients
        ]
        rebuilding = self._dice.random() < 0.15
        if rebuilding:
            threads.append(threading.Thread(target=self._rebuild, args=(where, stop)))
        for thread in threads:
            thread.start()
        stop.wait(self._dice.uniform(*ROUND_SECONDS))
        os.kill(daemon.pid, signal.SIGKILL)
        stop.set()
        daemon.process.wait(END_SECONDS)
        for thread in threads:
            thread.join()
        self.report.kills += 1
        self.report.rebuilds_killed += rebuilding
        self._sum_up()
        if self._failures:
            raise self._failures[0]

    def _work(self, client: Client, where: Path, stop: threading.Event) -> None:
        client.door = RemoteDoor(where)
        try:
            while not stop.is_set():
                client.step()
        except Gone:
            return
        except Exception as error:  # noqa: BLE001  # raised again when everybody has ended
            self._failures.append(error)
            stop.set()

    def _rebuild(self, where: Path, stop: threading.Event) -> None:
        try:
            while not stop.is_set():
                RemoteDoor(where).call("rebuild")
        except Unavailable:
            return  # killed
        except MadeleineError as error:
            self._failures.append(error)
            stop.set()

    def _restarted(self) -> LaunchedDaemon:
        """Start the daemon again; now and then it is killed while it starts."""
        while self._dice.random() < 0.25:
            command = [sys.executable, "-m", "madeleine.server", "--port", "0"]
            process = subprocess.Popen(
                [*command, "--home", os.fspath(self.home)], stdout=subprocess.DEVNULL
            )
            time.sleep(self._dice.uniform(0.2, 1.0))
            process.kill()
            process.wait(END_SECONDS)
            self.report.starts_killed += 1
        return launch_daemon(self.home, port=0)

    def _check(self, daemon: LaunchedDaemon) -> None:
        vaulted = check_files(self.home, self._clients, self._shared)
        self.report.torn_lines = check_journal(self.home)
        with tempfile.TemporaryDirectory(prefix="madeleine-soak-") as beside:
            door = RemoteDoor(Path(daemon.socket))
            check_index(self.home, door, vaulted, self._dice, Path(beside) / "home")
        self.report.memories = len(vaulted.files)
        self._sum_up()
        self._say(
            f"{self.report.total:,} operations, {self.report.kills} kills, "
            f"{self.report.memories:,} memories"
        )

    def _sum_up(self) -> None:
        self.report.operations = Counter[str]()
        for client in self._clients:
            self.report.operations.update(client.counts)

    def _end(self, daemon: LaunchedDaemon) -> None:
        """End in good order, start once more, and look a last time."""
        daemon.process.terminate()
        if daemon.process.wait(END_SECONDS) != 0:
            raise Wrong(f"the daemon ended with {daemon.process.returncode}")
        again = launch_daemon(self.home, port=0)
        try:
            self._check(again)
        finally:
            again.process.kill()
            again.process.wait(END_SECONDS)
