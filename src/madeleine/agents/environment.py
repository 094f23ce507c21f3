"""Where we are: the person's folders, their environment, and how this installation is run.

Everything else in this room takes a `SetupEnvironment`, so that a test can make up a whole machine.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import madeleine
from madeleine.api.home_paths import DEFAULT_HOME

HOOK_NAME = "madeleine-hook.py"  # the mark by which a hook of ours is known
AGENTS_FOLDER = "agents"
# Runs the client if it is there. Python itself ends with 2 for a script that is gone, and hosts
# take that for a refusal: they would throw away every prompt of a person who deleted the home.
HOOK_LAUNCHER = (
    "import posix,sys;del sys.argv[0];"
    "exec(open(sys.argv[0],'rb').read() if posix.access(sys.argv[0],4) else '')"
)
SHELL_HOOK_TEMPLATE = '"{python}" -I -S -c "{run}" "{script}" "{home}" {verb} {host}'


@dataclass(frozen=True, slots=True)
class SetupEnvironment:
    """A person's machine, as far as wiring agents is concerned."""

    user: Path
    """The person's own folder."""
    home: Path
    """Where the memories are."""
    variables: Mapping[str, str]
    python: str
    command: tuple[str, ...]
    """How `madeleine` itself is run."""
    platform: str = "linux"

    def folder(self, variable: str, otherwise: str) -> Path:
        """Return a host's folder: where a variable says, else under the person's own."""
        given = self.variables.get(variable)
        return Path(given).expanduser() if given else self.user / otherwise

    @property
    def config(self) -> Path:
        """Where programs keep their settings by the rules of XDG."""
        return self.folder("XDG_CONFIG_HOME", ".config")

    def application(self, name: str) -> Path:
        """Return where a desktop application keeps its settings."""
        if self.platform == "darwin":
            return self.user / "Library" / "Application Support" / name
        return self.config / name

    def finds(self, program: str) -> bool:
        """Whether a program can be started by its name."""
        return shutil.which(program, path=self.variables.get("PATH", "")) is not None

    # -- our own things --------------------------------------------------------------------

    @property
    def usual_home(self) -> Path:
        """The home of somebody who never named one."""
        return self.user / Path(DEFAULT_HOME).name

    @property
    def agents(self) -> Path:
        """The folder in the home that belongs to this room."""
        return self.home / AGENTS_FOLDER

    @property
    def hook(self) -> Path:
        """The client that hosts run: a copy, so that no upgrade moves it."""
        return self.agents / HOOK_NAME

    def hook_words(self, verb: str, host: str) -> list[str]:
        """Return the words of a hook."""
        script, home = os.fspath(self.hook), os.fspath(self.home)
        return [self.python, "-I", "-S", "-c", HOOK_LAUNCHER, script, home, verb, host]

    def hook_line(self, verb: str, host: str) -> str:
        """Return a hook as a line for a shell."""
        paths = {"python": self.python, "script": str(self.hook), "home": str(self.home)}
        if any(sign in path for path in paths.values() for sign in '"\\$`\n'):
            return shlex.join(self.hook_words(verb, host))
        return SHELL_HOOK_TEMPLATE.format(run=HOOK_LAUNCHER, verb=verb, host=host, **paths)

    def server_words(self) -> list[str]:
        """Return the words that start the MCP server of this home."""
        return [*self.command, "mcp", "--home", os.fspath(self.home)]

    def daemon_words(self) -> list[str]:
        """Return the words that start the daemon of this home and stay."""
        return [self.python, "-P", "-m", "madeleine.server", "--home", os.fspath(self.home)]


def read_packaged_hook() -> bytes:
    """Return the client as this installation has it."""
    return (Path(madeleine.__file__).parent / "hooks" / "whisper.py").read_bytes()


def read_environment(home: Path) -> SetupEnvironment:
    """Return the machine we run on."""
    python = find_stable_python(Path(sys.executable))
    return SetupEnvironment(
        user=Path.home(),
        home=home,
        variables=dict(os.environ),  # noqa: TID251  # where hosts keep their files is theirs to say
        python=os.fspath(python),
        command=_find_own_command(python),
        platform=sys.platform,
    )


def find_stable_python(executable: Path) -> Path:
    """Return the interpreter under the name that stays when its minor version changes."""
    plain = executable.with_name("python3")
    try:
        return plain if plain.samefile(executable) else executable
    except OSError:
        return executable


def _find_own_command(python: Path) -> tuple[str, ...]:
    beside = python.with_name("madeleine")
    if beside.is_file():
        return (os.fspath(beside),)
    return (os.fspath(python), "-P", "-m", "madeleine")
