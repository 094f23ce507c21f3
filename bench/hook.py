"""How long a hook takes, from spawn to exit: `madeleine bench hook`, or `python bench/hook.py`.

What a host starts and waits for is measured whole, against the two things it cannot do without:
an interpreter that does nothing, and one whisper. Done in turns, so that a busy machine burdens
all alike. The home is made in a temporary folder; `--folder` keeps it for next time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _corpus import Texts
from _measure import Row, ms, timed
from _spawning import daemon, in_turns, made_home, parser_for, run

import madeleine.hooks.whisper
from madeleine.api.remote import RemoteDoor

CLIENT = madeleine.hooks.whisper.__file__
WARM = 5
IDLE = [sys.executable, "-I", "-S", "-c", "pass"]


class Bench:
    """One run against one daemon."""

    def __init__(self, home: Path, size: int, times: int) -> None:
        self.home = home
        self.size = size
        self.times = times
        self._texts = Texts(seed=time.time_ns())
        self._sessions = iter(range(1_000_000))

    def steps(self) -> dict[str, Callable[[RemoteDoor], Row]]:
        """Return what is measured while the daemon runs, by name."""
        return {
            "hook": self._hook,
            "client": self._client,
            "deed": self._deed,
            "burst": self._burst,
            "command": self._command,
        }

    def _hook(self, door: RemoteDoor) -> Row:
        """A prompt through the hook against an idle interpreter and the whisper itself."""
        found = self._in_turns(
            {
                "hook": lambda: self._spawn(self._thin(), self._prompt()),
                "idle": lambda: self._spawn(IDLE, {}),
                "whisper": lambda: self._whisper(door),
            }
        )
        return self._row(
            f"hook process, warm daemon, {self.size:,} memories",
            2.5,
            found["hook"],
            found["idle"] + found["whisper"],
            f"`python -I -S -c pass` ({ms(found['idle'])}) + one whisper ({ms(found['whisper'])})",
        )

    def _client(self, door: RemoteDoor) -> Row:
        """The client and the way to the daemon alone: a host's command gets no whisper."""
        found = self._in_turns(
            {
                "hook": lambda: self._spawn(self._thin(), self._prompt("/compact")),
                "idle": lambda: self._spawn(IDLE, {}),
            }
        )
        note = "`python -I -S -c pass`; a prompt that is not whispered to"
        return self._row("the client alone", 1.5, found["hook"], found["idle"], note)

    def _deed(self, door: RemoteDoor) -> Row:
        """A file that is about to be edited, each time another one, against a prompt."""
        found = self._in_turns(
            {
                "hook": lambda: self._spawn(self._thin(), self._edit(next(self._sessions))),
                "prompt": lambda: self._spawn(self._thin(), self._prompt()),
            }
        )
        note = f"a prompt's hook; {self.size:,} memories"
        return self._row("hook before a deed", 1.3, found["hook"], found["prompt"], note)

    def _burst(self, door: RemoteDoor) -> Row:
        """One file that is edited again and again in a session, against the client alone."""
        session = next(self._sessions)
        found = self._in_turns(
            {
                "hook": lambda: self._spawn(self._thin(), self._edit(session)),
                "client": lambda: self._spawn(self._thin(), self._prompt("/compact")),
            }
        )
        note = "the client alone; one file, edited on and on in one session"
        return self._row("hook in a burst of edits", 1.3, found["hook"], found["client"], note)

    def _edit(self, number: int) -> dict[str, object]:
        """Return an edit of a file; the number names the file and its session."""
        words = self._texts.draft().content
        path = self.home / "src" / f"part_{number}" / "module.py"
        given = {"file_path": os.fspath(path), "old_string": "x", "new_string": words}
        return {
            "hook_event_name": "PreToolUse",
            "session_id": f"deeds {number}",
            "cwd": os.fspath(self.home),
            "tool_name": "Edit",
            "tool_input": given,
        }

    def _command(self, door: RemoteDoor) -> Row:
        """The documented command, for comparison."""
        command = [sys.executable, "-m", "madeleine", "whisper", "inject"]
        command += ["--home", os.fspath(self.home)]
        found = self._in_turns(
            {
                "hook": lambda: self._spawn(command, self._prompt("/compact")),
                "idle": lambda: self._spawn([sys.executable, "-c", "pass"], {}),
            }
        )
        note = "`python -c pass`; as above, through the command line"
        return self._row("`madeleine whisper inject`", 5.0, found["hook"], found["idle"], note)

    def down(self) -> Row:
        """No daemon runs, and one was started less than a minute ago."""
        stamp = self.home / "run" / "start"
        stamp.write_text("now\n", encoding="utf-8")

        def hook() -> float:
            os.utime(stamp)
            return self._spawn(self._thin(), self._prompt())

        found = self._in_turns({"hook": hook, "idle": lambda: self._spawn(IDLE, {})})
        note = "`python -I -S -c pass`; no daemon runs"
        return self._row("without a daemon", 1.5, found["hook"], found["idle"], note)

    def _in_turns(self, acts: Mapping[str, Callable[[], float]]) -> dict[str, float]:
        return in_turns(acts, self.times, WARM)

    def _row(self, what: str, most: float, took: float, needed: float, note: str) -> Row:
        ratio = took / needed
        told = f"{ms(took)} against {note}; median of {self.times}, in turns"
        return Row(what, f"at most {most:g} x", f"{ratio:.2f} x", ratio <= most, told)

    def _spawn(self, command: list[str], sent: Mapping[str, object]) -> float:
        data, nowhere = json.dumps(sent).encode(), subprocess.DEVNULL
        return timed(lambda: subprocess.run(command, input=data, stdout=nowhere, check=True))

    def _whisper(self, door: RemoteDoor) -> float:
        """One whisper, as the daemon itself times it: the way there is the hook's affair."""
        took = door.call("whisper", body=self._asked())["took_ms"]
        assert isinstance(took, int | float)
        return took / 1_000

    def _thin(self) -> list[str]:
        return [sys.executable, "-I", "-S", CLIENT, os.fspath(self.home), "inject", "claude"]

    def _prompt(self, text: str = "") -> dict[str, object]:
        """Return a prompt that nobody asked before, in a session of its own."""
        asked = self._asked()
        return {
            "hook_event_name": "UserPromptSubmit",
            "session_id": asked["session_id"],
            "cwd": os.fspath(self.home),
            "prompt": text or asked["prompt"],
        }

    def _asked(self) -> dict[str, object]:
        words = " ".join(self._texts.draft().content.split()[:12])
        return {"prompt": f"what about {words}?", "session_id": f"bench {next(self._sessions)}"}


def measured(wanted: tuple[str, ...], folder: Path, size: int, times: int) -> list[Row]:
    home = made_home(folder, size)
    bench, rows = Bench(home, size, times), []
    with daemon(home) as door:
        rows += [act(door) for name, act in bench.steps().items() if name.startswith(wanted)]
    if "down".startswith(wanted):
        rows.append(bench.down())
    return rows


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = parser_for("hook", __doc__)
    parser.add_argument(
        "--only", default="", help="just these rows: hook,client,deed,burst,command,down"
    )
    given = parser.parse_args(argv)
    return run(given, partial(measured, tuple(given.only.split(","))))


if __name__ == "__main__":
    sys.exit(main())
