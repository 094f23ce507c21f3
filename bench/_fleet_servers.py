"""Database servers with a server of ours on each, tenants spread over them, and what they use."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _measure import progress
from _scale_engines import Databases, databases
from _scale_fleet import Door

from madeleine.server.launch import LaunchedDaemon, launch_daemon

SETTINGS = """[store]
url = "{url}"
truth = "database"
[server]
port = 0
[sleep]
enabled = false
[consolidation]
enabled = false
"""
NOUNS = ("kettle", "ladder", "lantern", "anchor", "teapot", "compass", "violin", "hammer")
PLACES = ("Bergen", "Leeds", "Quito", "Oslo", "Perth", "Hanoi", "Turin", "Fez")
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(slots=True)
class FleetNode:
    """A database server, a server of ours on it, and the tokens of the tenants that live there."""

    home: Path
    databases: Databases
    url: str
    daemon: LaunchedDaemon
    tokens: list[str] = field(default_factory=list)

    @property
    def address(self) -> tuple[str, int]:
        return self.daemon.host, self.daemon.port

    def server_seconds(self) -> float:
        """Return the processor time of our server so far."""
        return process_seconds(self.daemon.pid)

    def server_bytes(self) -> int:
        """Return the memory that our server holds."""
        text = Path(f"/proc/{self.daemon.pid}/statm").read_text(encoding="ascii")
        return int(text.split()[1]) * PAGE

    def database_seconds(self) -> float:
        """Return the processor time of the database server so far, with those of its processes
        that have ended."""
        return tree_seconds(self._postmaster())

    def database_bytes(self) -> int:
        """Return what this database takes on the disk."""
        with self.databases.connect(self.url) as connection:
            sql = "SELECT pg_database_size(current_database())"
            return int(connection.execute(sql).fetchone()[0])

    def restart(self) -> None:
        """Start our server again: no tenant is open then."""
        self.stop()
        self.daemon = launch_daemon(self.home, port=0)

    def stop(self) -> None:
        self.daemon.process.terminate()
        self.daemon.process.wait(60)

    def _postmaster(self) -> int:
        with self.databases.connect(self.url) as connection:
            (folder,) = connection.execute("SHOW data_directory").fetchone()
        text = (Path(str(folder)) / "postmaster.pid").read_text(encoding="utf-8")
        return int(text.splitlines()[0])


@contextmanager
def fleet_of(folder: Path, count: int) -> Iterator[list[FleetNode]]:
    """Start so many database servers, each with one server of ours."""
    with ExitStack() as stack:
        nodes = []
        for number in range(count):
            server = stack.enter_context(databases(None))
            url = stack.enter_context(server.made())
            home = folder / f"node-{number}"
            home.mkdir()
            (home / "config.toml").write_text(SETTINGS.format(url=url), encoding="utf-8")
            node = FleetNode(home, server, url, launch_daemon(home, port=0))
            stack.callback(node.stop)
            nodes.append(node)
        yield nodes


def add_tenants(nodes: Sequence[FleetNode], count: int, memories: int) -> None:
    """Make tenants, spread over the nodes in turn, each with so many memories of its own."""
    doors = [Door(each.address, _admin_token(each)) for each in nodes]
    for number in range(count):
        place = number % len(nodes)
        name = f"tenant{number}"
        _must(doors[place].call("add_person", body={"name": name}))
        asked = {"name": "bench", "person": name, "role": "owner"}
        token = str(_must(doors[place].call("create_token", body=asked))["token"])
        nodes[place].tokens.append(token)
        texts = [write_text(random.Random(number * 1_000 + each), name) for each in range(memories)]
        door = Door(nodes[place].address, token)
        body = {"items": [{"content": each} for each in texts]}
        _must(door.call("remember_many", body=body))
        door.close()
        if number % 50 == 0:
            progress(f"{number} of {count} tenants")
    for door in doors:
        door.close()


def _admin_token(node: FleetNode) -> str:
    return (node.home / "run" / "token").read_text(encoding="utf-8").strip()


def _must(answered: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    status, answer = answered
    if status >= 400:
        raise SystemExit(f"{status}: {answer}")
    return answer


def write_text(dice: random.Random, owner: str) -> str:
    """Return a memory that is nobody else's."""
    noun, place = dice.choice(NOUNS), dice.choice(PLACES)
    year, number = dice.randrange(30) + 1990, dice.randrange(10**6)
    return f"The {noun} {number} of {owner} is kept in {place} since {year}."


def build_request(work: str, dice: random.Random, owner: str) -> dict[str, object]:
    """Return the body of one operation."""
    noun = dice.choice(NOUNS)
    match work:
        case "remember":
            return {"content": write_text(dice, owner)}
        case "recall":
            return {"query": f"where is the {noun} {dice.randrange(10**6)} kept?", "limit": 10}
        case _:
            session = f"{owner} {dice.randrange(10**6)}"
            prompt = f"where did we put the {noun} of number {dice.randrange(10**6)}?"
            return {"prompt": prompt, "session_id": session}


# -- processor time ------------------------------------------------------------------------


def process_seconds(pid: int) -> float:
    """Return the processor time of a process and of its children that have ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return 0.0
    fields = text.rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def tree_seconds(pid: int) -> float:
    """Return the processor time of a process and of all its children."""
    children = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid:
            children += process_seconds(int(stat.parent.name))
    return process_seconds(pid) + children


def machine_seconds() -> tuple[float, float]:
    """Return the processor time that the machine had so far, and what of it was used."""
    line = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    every = [int(each) / TICKS for each in line[:8]]
    idle = every[3] + every[4]
    return sum(every), sum(every) - idle


# -- load ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """What clients that never pause got done."""

    done: int
    failed: int
    seconds: float


def load_fleet(
    nodes: Sequence[FleetNode], mix: Sequence[str], clients: int, seconds: float
) -> LoadOutcome:
    """Let clients ask one thing after the other, each time as another tenant."""
    over, done, failed = threading.Event(), [0] * clients, [0] * clients
    tenants = [(node, token) for node in nodes for token in node.tokens]

    def work(number: int) -> None:
        dice = random.Random(number)
        while not over.is_set():
            node, token = dice.choice(tenants)
            door, name = Door(node.address, token), dice.choice(mix)
            try:
                status, _ = door.call(name, body=build_request(name, dice, token[-6:]))
            except OSError:
                status = 599
            finally:
                door.close()
            done[number] += status < 400
            failed[number] += status >= 400

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    began = time.monotonic()
    for each in threads:
        each.start()
    time.sleep(seconds)
    over.set()
    for each in threads:
        each.join()
    return LoadOutcome(sum(done), sum(failed), time.monotonic() - began)
