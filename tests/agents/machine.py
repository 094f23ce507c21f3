"""A made-up machine: a person's folder with hosts in it, and a home for memories."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from madeleine.agents import jsonc
from madeleine.agents.environment import SetupEnvironment
from madeleine.agents.findings import DoctorFinding
from madeleine.agents.setup import SetupRequest, prepare_setup, prepare_unsetup
from madeleine.agents.wiring_checks import check_agents

Tree = dict[str, tuple[int, bytes | str]]

HOSTS = (
    "claude",
    "codex",
    "cursor",
    "gemini",
    "opencode",
    "copilot",
    "claude-desktop",
    "windsurf",
    "zed",
)


@dataclass(frozen=True, slots=True)
class Machine:
    """The folder of a person, and what is done in it."""

    around: SetupEnvironment

    @property
    def user(self) -> Path:
        return self.around.user

    def write(self, path: str, text: str | bytes, mode: int = 0o644) -> Path:
        """Write a file under the person's folder."""
        place = self.user / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        place.chmod(mode)
        return place

    def read(self, path: str) -> bytes:
        return (self.user / path).read_bytes()

    def json(self, path: str) -> Any:
        return jsonc.read_json(self.read(path).decode("utf-8-sig")).value

    def setup(self, *agents: str, **more: bool) -> list[str]:
        """Wire agents; return the files that changed."""
        prepared = prepare_setup(self.around, SetupRequest(agents, **more))
        prepared.carry_out()
        return [str(change.path) for change in prepared.plan.changes]

    def unsetup(self, *agents: str) -> list[str]:
        """Take the wiring out; return the files that changed."""
        prepared = prepare_unsetup(self.around, agents)
        prepared.carry_out()
        return [str(change.path) for change in prepared.plan.changes]

    def tree(self) -> Tree:
        """Return everything there is, with modes: what a person would compare."""
        return dict(_looked_at(self.user))

    def findings(self) -> list[DoctorFinding]:
        return list(check_agents(self.around))

    def troubles(self) -> list[str]:
        return [each.message for each in self.findings() if each.is_trouble]

    def moved(self, **changes: Any) -> Machine:
        """Return the same folder as another installation or environment sees it."""
        return Machine(replace(self.around, **changes))


def make_machine(folder: Path, variables: Mapping[str, str] | None = None) -> Machine:
    user = folder / "user"
    user.mkdir()
    return Machine(
        SetupEnvironment(
            user=user,
            home=user / ".madeleine",
            variables=variables or {},
            python=sys.executable,
            command=(sys.executable, "-P", "-m", "madeleine"),
        )
    )


def _looked_at(folder: Path) -> Iterator[tuple[str, tuple[int, bytes | str]]]:
    for path in sorted(folder.rglob("*")):
        found = path.lstat()
        content: bytes | str = ""
        if stat.S_ISLNK(found.st_mode):
            content = os.fspath(path.readlink())
        elif stat.S_ISREG(found.st_mode):
            content = path.read_bytes()
        yield str(path.relative_to(folder)), (found.st_mode, content)
