"""How long a hook takes, from spawn to exit: `madeleine bench hook`, or `python bench/hook.py`.

What a host starts and waits for is measured whole, against the two things it cannot do without:
an interpreter that does nothing, and one whisper. Done in turns, so that a busy machine burdens
all alike. The home is made in a temporary folder; `--folder` keeps it for next time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _corpus import Texts, fill
from _measure import Row, ms, progress, table, timed, write_json

import madeleine.hooks.whisper
from madeleine.api.remote import RemoteDoor
from madeleine.minds.local import built_in

CLIENT = madeleine.hooks.whisper.__file__
PATIENT_MS = 10_000  # a whisper that comes late would be measured as a quick silence
WARM = 5
QUICK = 200  # memories, where only the program is to be tried out


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
        return {"hook": self._hook, "client": self._client, "command": self._command}

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
        """Do each in turn, another one first each time; return the median seconds of each."""
        names = list(acts)
        found: dict[str, list[float]] = {name: [] for name in names}
        for number in range(WARM + self.times):
            for name in names[number % len(names) :] + names[: number % len(names)]:
                took = acts[name]()
                if number >= WARM:
                    found[name].append(took)
            if number % 10 == 0:
                progress(f"{', '.join(names)}: {number} of {WARM + self.times}")
        return {name: statistics.median(each) for name, each in found.items()}

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


IDLE = [sys.executable, "-I", "-S", "-c", "pass"]


@contextlib.contextmanager
def daemon(home: Path) -> Iterator[RemoteDoor]:
    """Start a daemon and wait until it says that it answers."""
    command = [sys.executable, "-P", "-m", "madeleine.server", "--home", os.fspath(home)]
    patient = {**os.environ, "MADELEINE_WHISPER_DEADLINE_MS": str(PATIENT_MS)}
    process = subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, env=patient)
    try:
        assert process.stdout is not None
        with process.stdout as pipe:
            said = json.loads(pipe.readline())
        yield RemoteDoor(Path(said["ready"]["socket"]))
    finally:
        process.terminate()
        process.wait(60)


def made_home(folder: Path, size: int) -> Path:
    """Return a home with `size` memories, made on first use."""
    home = folder / f"home-{size}"
    if not (home / "index.db").exists():
        model = built_in(0)
        if model is None:
            raise SystemExit("the built-in model is not installed: pip install madeleine-minilm")
        progress(f"making a home of {size:,} memories")
        fill(home, size, model.name, model.dimension, model.token_dimension, progress)
    return home


def measured(folder: Path, size: int, times: int, wanted: tuple[str, ...]) -> list[Row]:
    home = made_home(folder, size)
    bench, rows = Bench(home, size, times), []
    with daemon(home) as door:
        rows += [act(door) for name, act in bench.steps().items() if name.startswith(wanted)]
    if "down".startswith(wanted):
        rows.append(bench.down())
    return rows


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = argparse.ArgumentParser(prog="madeleine bench hook", description=__doc__)
    parser.add_argument("--size", type=int, default=10_000, help="memories in the home")
    parser.add_argument("--times", type=int, default=41, help="how often each is done")
    parser.add_argument("--quick", action="store_true", help="a tiny home: does it run at all?")
    parser.add_argument("--folder", type=Path, help="keep the home here and use it again")
    parser.add_argument("--only", default="", help="just these rows: hook,client,command,down")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="rows as JSON")
    given = parser.parse_args(argv)
    size, times = (QUICK, 5) if given.quick else (given.size, given.times)
    with contextlib.ExitStack() as stack:
        folder = given.folder or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="madeleine-bench-"))
        )
        folder.mkdir(parents=True, exist_ok=True)
        rows = measured(folder, size, times, tuple(given.only.split(",")))
    for row in rows:
        progress(f"{row.what}: {row.figure} ({'pass' if row.passed else 'miss'})")
    if given.json:
        write_json(given.json, rows)
    if given.json != "-":
        print(table(rows))
    return 0 if all(row.passed for row in rows) or given.quick else 1


if __name__ == "__main__":
    sys.exit(main())
