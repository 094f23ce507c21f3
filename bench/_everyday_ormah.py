"""Ormah as a system of Everyday, where the command `ormah` is installed.

Nobody's own memories are touched: each store has an Ormah of its own on an empty folder. It is
told the memories over HTTP, as its clients do, oldest first. Ormah has no way to be told when
something was noted, so the dates are put into its files while it is stopped; it makes its index
anew from them. What it whispers and recalls is read from the text that it shows to agents.

Settings are Ormah's own, unless `ORMAH_…` variables say otherwise; its models are taken from
where its user has them. An Ormah that finds no model still answers, by words alone. That is not
what it is, so the benchmark ends then.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from _everyday_http import HttpDoor, NoAnswer, NotMeasurable
from _everyday_set import EverydayStore
from _everyday_systems import MOST_RECALLED, Asked, ScoredId, Whispered
from _measure import progress
from _recall_homes import Homes, Notes, digest

START_SECONDS = 900.0  # the first start of all downloads its models
STOP_SECONDS = 30.0
LOG = "server.log"
IDS = "everyday-ids.json"  # beside the files of a store: the set's ids by Ormah's

_WHISPERED = re.compile(r"\(id: ([0-9a-f]{8})")
_RECALLED = re.compile(r"^ +ID: ([0-9a-f]{8})[0-9a-f-]* .*?Score: ([0-9.]+)", re.MULTILINE)
_DATES = re.compile(r"^(created|updated|last_accessed): .*$", re.MULTILINE)
_NO_VECTORS = re.compile(r"(?:Failed to index embedding|Vector search failed)[^\n]*")
_NO_RERANKER = re.compile(r"Whisper reranker unavailable; [^\n]*")


@dataclass(slots=True)
class OrmahSystem:
    """Real Ormah, started anew for each store."""

    homes: Homes
    command: str
    said: set[str] = field(default_factory=set)

    @contextmanager
    def opened(self, store: EverydayStore) -> Iterator[Asked]:
        content = digest([asdict(each) for each in store.memories])
        home, _ = self.homes.made(
            f"ormah-{store.name}", content, lambda home: self._fill(home, store)
        )
        work = self.homes.folder / f"ormah-{store.name}.asked"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(home / "nodes", work / "memory" / "nodes")
        names = json.loads((home / IDS).read_text(encoding="utf-8"))
        with self._running(work) as door:
            yield OrmahAsked(door, names)
        self._look_into(work / LOG)
        shutil.rmtree(work)

    def _fill(self, home: Path, store: EverydayStore) -> Notes:
        work = home / "filling"
        work.mkdir()
        with self._running(work) as door:
            names = remember_store(door, store)
        self._look_into(work / LOG)
        created = {node: _created(store, key) for node, key in names.items()}
        for path in (work / "memory" / "nodes").glob("*.md"):
            put_dates(path, created)
        shutil.move(work / "memory" / "nodes", home / "nodes")
        shutil.rmtree(work)
        short = {node[:8]: key for node, key in names.items()}
        (home / IDS).write_text(json.dumps(short), encoding="utf-8")
        return {}

    @contextmanager
    def _running(self, folder: Path) -> Iterator[HttpDoor]:
        """Run its server on a folder, and end it however the asking ends."""
        port = _free_port()
        with (folder / LOG).open("wb") as log:
            process = subprocess.Popen(
                [self.command, "server", "start"],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=environment(folder, port),
            )
        door = HttpDoor(f"http://127.0.0.1:{port}")
        try:
            _await(door, process, folder / LOG)
            yield door
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _look_into(self, log: Path) -> None:
        """End the benchmark if Ormah had no vectors; say it once if it had no reranker."""
        text = log.read_text(encoding="utf-8", errors="replace")
        missing = _NO_VECTORS.search(text)
        if missing is not None:
            raise NotMeasurable(
                f"Ormah works without vectors here ({missing[0]}): run `ormah setup` once where "
                "its model can be downloaded, with a Python whose SQLite is 3.41 or newer"
            )
        without = _NO_RERANKER.search(text)
        if without is not None and without[0] not in self.said:
            self.said.add(without[0])
            progress(f"Ormah says: {without[0]}")


@dataclass(slots=True)
class OrmahAsked:
    """An Ormah that holds one store, asked over HTTP."""

    door: HttpDoor
    names: Mapping[str, str]
    """The set's ids by the first eight digits of Ormah's."""
    sessions: int = 0

    def whisper(self, text: str, space: str | None, session: Sequence[str] = ()) -> Whispered:
        self.sessions += 1
        name = f"everyday-{self.sessions}"
        before: set[str] = set()
        for earlier in session:
            before.update(each.id for each in self._say(earlier, space, name))
        return Whispered(tuple(self._say(text, space, name)), frozenset(before))

    def act(self, tool: str, target: str, space: str | None) -> Whispered:
        return self.whisper(f"{tool}: {target}", space)

    def _say(self, text: str, space: str | None, session: str) -> list[ScoredId]:
        body = {"prompt": text, "session_id": session, **({"space": space} if space else {})}
        said = self.door.ask("POST", "/agent/whisper", body)["text"]
        # A whisper shows no scores.
        return [ScoredId(self.names.get(each, each), 0.0) for each in _WHISPERED.findall(said)]

    def recall(self, text: str, space: str | None) -> list[ScoredId]:
        body = {"query": text, "limit": MOST_RECALLED}
        query = {"default_space": space} if space else {}
        said = self.door.ask("POST", "/agent/recall", body, query)["text"]
        return [
            ScoredId(self.names.get(node, node), float(score))
            for node, score in _RECALLED.findall(said)
        ]


def find_ormah(homes: Homes) -> OrmahSystem:
    """Return the Ormah whose command is on the path."""
    command = shutil.which("ormah")
    if command is None:
        raise NotMeasurable(
            "Ormah is not installed: `pip install ormah` into an environment of its own and put "
            "its `bin` on PATH"
        )
    return OrmahSystem(homes, command)


def remember_store(door: HttpDoor, store: EverydayStore) -> dict[str, str]:
    """Tell a server the memories of a store, oldest first; return the set's ids by its own."""
    names = {}
    for memory in sorted(store.memories, key=lambda each: each.created):
        draft = {
            "content": memory.content,
            "type": memory.type,
            "space": memory.space,
            "title": memory.title,
            "tags": list(memory.tags),
            "about_self": memory.about_self,
        }
        names[str(door.ask("POST", "/agent/remember", draft)["node_id"])] = memory.id
    return names


def put_dates(path: Path, created: Mapping[str, str]) -> None:
    """Write into a file of Ormah's when its memory was noted, if it is one of the set's."""
    head, end, content = path.read_text(encoding="utf-8").partition("\n---\n")
    found = re.search(r"^id: '?([0-9a-f-]{36})'?$", head, re.MULTILINE)
    if found is None or found[1] not in created:
        return
    dated = _DATES.sub(rf"\1: '{created[found[1]]}'", head)
    path.write_text(f"{dated}{end}{content}", encoding="utf-8")


def environment(folder: Path, port: int) -> dict[str, str]:
    """Return what its server is started with: the caller's settings and models, another home."""
    models = Path.home() / ".local" / "share" / "ormah" / "models"
    return {
        "FASTEMBED_CACHE_PATH": os.fspath(models),
        **os.environ,
        "HOME": os.fspath(folder),
        "ORMAH_HOST": "127.0.0.1",
        "ORMAH_PORT": str(port),
        "ORMAH_MEMORY_DIR": os.fspath(folder / "memory"),
        "ORMAH_BACKUP_DIR": os.fspath(folder / "backups"),
    }


def _created(store: EverydayStore, key: str) -> str:
    return next(each.created for each in store.memories if each.id == key)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _await(door: HttpDoor, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            door.ask("GET", "/admin/health")
        except NoAnswer:
            time.sleep(0.2)
            continue
        return
    last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise NotMeasurable(f"Ormah's server did not start: {''.join(last) or 'it said nothing'}")
