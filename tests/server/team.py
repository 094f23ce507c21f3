"""A server for several people, in tests: a real daemon whose memory is in a real database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import postgres
from tests.server.answering import problems_of
from tests.server.running import Answer, Daemon, running

CONFIG = """
[embedder]
kind = "fake"
[store]
url = "{url}"
truth = "database"
[server]
names = "memory.example.org"
trust_loopback = true
[whisper]
deadline_ms = 15000
[sleep]
enabled = false
[consolidation]
enabled = false
[backup]
enabled = false
"""


@dataclass(frozen=True, slots=True)
class Client:
    """Somebody's client: it shows one token with all that it asks."""

    daemon: Daemon
    token: str

    def ask(self, method: str, path: str, body: object = None, **query: Any) -> Answer:
        return self.daemon.ask(method, path, body, token=self.token, **query)

    def ok(self, method: str, path: str, body: object = None, **query: Any) -> Any:
        answer = self.ask(method, path, body, **query)
        assert answer.status == 200, answer.body
        problems = problems_of(method, path, answer.body)
        assert not problems, problems
        return answer.body

    def remember(self, content: str, **draft: object) -> str:
        return str(self.ok("POST", "/agent/remember", {"content": content, **draft})["node_id"])

    def recall(self, query: str, **more: object) -> list[str]:
        """Return what the memories say that a recall finds."""
        found = self.ok("POST", "/agent/recall", {"query": query, **more})["results"]
        return [each["memory"]["content"] for each in found]

    def status(self, method: str, path: str, body: object = None, **query: Any) -> int:
        return self.ask(method, path, body, **query).status


@dataclass(frozen=True, slots=True)
class Team:
    """A server, and who may ask it."""

    daemon: Daemon

    @property
    def admin(self) -> Client:
        return Client(self.daemon, self.daemon.token)

    def person(self, name: str, role: str = "owner") -> Client:
        """Add a person, and return a client of theirs."""
        self.admin.ok("POST", "/admin/people", {"name": name})
        return self.client(name, role)

    def client(self, person: str, role: str = "owner") -> Client:
        body = {"name": f"{person}'s", "person": person, "role": role}
        return Client(self.daemon, self.admin.ok("POST", "/admin/tokens", body)["token"])

    def share(self, space: str, person: str, role: str = "writer") -> None:
        body = {"name": space, "person": person, "role": role}
        self.admin.ok("POST", "/admin/spaces", body)


def make_home(home: Path, database: str) -> Path:
    """Make a home whose memory is in a database of this name, as a role that no wall lets pass."""
    home.mkdir(parents=True)
    (home / "config.toml").write_text(
        CONFIG.format(url=postgres.ordinary(database)), encoding="utf-8"
    )
    return home


@contextmanager
def team(home: Path, database: str) -> Iterator[Team]:
    with running(make_home(home, database)) as daemon:
        yield Team(daemon)
