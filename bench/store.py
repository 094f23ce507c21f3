"""How quick the store is: `madeleine bench store`, or `python bench/store.py`.

Every figure is a ratio within this run, or a time with its target, so that it means the same
on another machine. Homes are made in a temporary folder; `--folder` keeps them for next time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _corpus import Texts, fill
from _measure import Row, in_turns, median, ms, progress, table, write_json

from madeleine.api.remote import RemoteDoor
from madeleine.bootstrap import HomeContext, open_home
from madeleine.minds.local import LocalEmbedder, load_built_in
from madeleine.model.draft import Draft
from madeleine.model.embedding import Passage
from madeleine.write.reconcile import reconcile
from madeleine.write.remember import remember
from madeleine.write.remember_many import BATCH_SIZE, remember_many
from madeleine.write.upkeep import rebuild

HEAVY = ("numpy", "onnxruntime", "tokenizers", "apsw", "pydantic", "fastapi", "starlette",
         "uvicorn", "watchdog", "httpx", "yaml", "asyncio")  # fmt: skip
QUICK = 200  # memories, where only the program is to be tried out
MB = 1_048_576


class Daemon(NamedTuple):
    """A daemon that answers."""

    pid: int
    door: RemoteDoor


class Bench:
    """One run: the homes it made, and how often each thing is done."""

    def __init__(self, folder: Path, sizes: list[int], quick: bool) -> None:
        self.folder = folder
        self.small, self.middle, self.large = sizes
        self.times = 7 if quick else 41
        self.few = 1 if quick else 3
        model = load_built_in(0)
        if model is None:
            raise SystemExit("the built-in model is not installed: pip install madeleine-minilm")
        self.model: LocalEmbedder = model
        self.texts = Texts(seed=time.time_ns())

    def home(self, size: int) -> Path:
        """Return the home with `size` memories, made on first use."""
        home = self.folder / f"home-{size}"
        if not (home / "index.db").exists():
            progress(f"making a home of {size:,} memories")
            model = self.model
            fill(home, size, model.name, model.dimension, model.token_dimension, progress)
        return home

    def steps(self) -> dict[str, Callable[[], Row]]:
        """Return what is measured, by name; the small things first."""
        return {
            "help": self._help,
            "imports": imports_row,
            "start-middle": lambda: self._start(self.middle, 1.5),
            "start-large": lambda: self._start(self.large, 3.0),
            "resident": self._resident,
            "remember": self._remember,
            "batch": self._batch,
            "growth": self._growth,
            "reconcile-middle": lambda: self._reconcile(self.middle),
            "reconcile-large": lambda: self._reconcile(self.large),
            "rebuild": self._rebuild,
        }

    # -- writing ---------------------------------------------------------------------------

    def _remember(self) -> Row:
        """One remember against the two things it cannot do without."""
        times = 5 * self.times
        with (
            opened(self.home(self.middle)) as context,
            tempfile.TemporaryDirectory(dir=self.folder) as beside,
        ):
            drafts = [self.texts.draft() for _ in range(times + 5)]
            size = _file_size(context)
            mine, bare = iter(drafts), iter(drafts)  # both sides have the same texts

            def needed() -> None:
                self.model.read([_whole(next(bare).content)])
                durable_write(Path(beside), os.urandom(size))

            for _ in range(5):
                remember(context.stores, next(mine))
                needed()
            pair = in_turns(lambda: remember(context.stores, next(mine)), needed, times)
        return Row(
            f"remember, warm, at {self.middle:,} memories",
            "at most 1.2 x (one embedding + one fsync'd file write)",
            f"{pair.ratio:.2f} x",
            pair.ratio <= 1.2,
            f"{ms(pair.one)} against {ms(pair.other)}; median of {times}, in turns",
        )

    def _growth(self) -> Row:
        with opened(self.home(self.large)) as large, opened(self.home(self.small)) as small:
            drafts = iter([self.texts.draft() for _ in range(2 * self.times + 10)])

            def keep(context: HomeContext) -> Callable[[], object]:
                return lambda: remember(context.stores, next(drafts))

            for context in (large, small) * 3:
                keep(context)()
            pair = in_turns(keep(large), keep(small), self.times)
        return Row(
            f"remember at {self.large:,} against at {self.small:,}",
            "at most 1.5 x",
            f"{pair.ratio:.2f} x",
            pair.ratio <= 1.5,
            f"{ms(pair.one)} against {ms(pair.other)}; median of {self.times}, in turns",
        )

    def _batch(self) -> Row:
        count = 128 if self.few == 1 else 512
        with opened(self.home(self.middle)) as context:

            def batch() -> None:
                remember_many(context.stores, self._drafts(count))

            def bare() -> None:
                texts = [_whole(draft.content) for draft in self._drafts(count)]
                for start in range(0, count, BATCH_SIZE):
                    self.model.read(texts[start : start + BATCH_SIZE])

            bare()
            pair = in_turns(batch, bare, 2 * self.few + 1)
        share = pair.other / pair.one
        return Row(
            "batch remember",
            "at least 0.9 of the embedder's own throughput",
            f"{share:.2f}",
            share >= 0.9,
            f"{count / pair.one:.0f}/s against {count / pair.other:.0f}/s; {count} at a time, "
            f"median of {2 * self.few + 1}, in turns",
        )

    def _drafts(self, count: int) -> list[Draft]:
        return [self.texts.draft() for _ in range(count)]

    # -- reconcile and rebuild -------------------------------------------------------------

    def _reconcile(self, size: int) -> Row:
        with opened(self.home(size)) as context:
            root = context.stores.vault.root
            if reconcile(context.stores).written or bare_scan(root) < size:
                raise SystemExit("the home is not as it was made")
            times = self.times if size < 50_000 else max(self.times // 3, self.few)
            pair = in_turns(lambda: reconcile(context.stores), lambda: bare_scan(root), times)
        return Row(
            f"reconcile with nothing changed, {size:,} files",
            "at most 3 x a bare scandir + stat",
            f"{pair.ratio:.2f} x",
            pair.ratio <= 3,
            f"{ms(pair.one)} against {ms(pair.other)}; median of {times}, in turns",
        )

    def _rebuild(self) -> Row:
        with opened(self.home(self.large)) as context:
            before = os.times()
            seconds = median(lambda: rebuild(context.stores), self.few)
            after = os.times()
            files = context.stores.search.counts().memories
        here = (after.user + after.system - before.user - before.system) / self.few
        beside = after.children_user + after.children_system
        beside = (beside - before.children_user - before.children_system) / self.few
        return Row(
            f"rebuild of {self.large:,} files with cached vectors",
            "at least 6,000 files/s",
            f"{files / seconds:,.0f} files/s",
            files / seconds >= 6_000,
            f"{seconds:.1f} s, median of {self.few}; processor time {here:.1f} s, and {beside:.1f} "
            "s of the process that reads; a journal line for each memory is replayed, vectors are "
            "synthetic",
        )

    # -- the daemon and the command --------------------------------------------------------

    def _start(self, size: int, target: float) -> Row:
        home, kinds = self.home(size), ("list", "recall")
        with daemon(home):
            pass  # what is read once is in memory from now on, as on a machine in use
        found = {kind: median_of(lambda k=kind: _first_answer(home, k), self.few) for kind in kinds}  # type: ignore[misc]
        return Row(
            f"daemon from start to first answer, {size:,}",
            f"at most {target:g} s",
            f"{found['recall']:.2f} s",
            found["recall"] <= target,
            f"a recall, with the model loaded for it; a list after {found['list']:.2f} s; "
            f"median of {self.few}",
        )

    def _resident(self) -> Row:
        with daemon(self.home(self.large)) as started:
            ask(started.door, "recall")
            megabytes = _resident_bytes(started.pid) / MB
        return Row(
            f"resident memory at {self.large:,} memories",
            "at most 500 MB",
            f"{megabytes:.0f} MB",
            megabytes <= 500,
            "VmRSS of the daemon after a recall, model loaded",
        )

    def _help(self) -> Row:
        quiet = [sys.executable, "-c", "pass"]
        said = [sys.executable, "-m", "madeleine", "--help"]
        pair = in_turns(lambda: spawn(said), lambda: spawn(quiet), self.times)
        return Row(
            "`madeleine --help`",
            "at most 5 x `python -c pass`",
            f"{pair.ratio:.2f} x",
            pair.ratio <= 5,
            f"{ms(pair.one)} against {ms(pair.other)}; median of {self.times}, in turns",
        )


def imports_row() -> Row:
    code = "import sys, madeleine; print(' '.join(sys.modules))"
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    heavy = sorted(set(HEAVY) & {name.partition(".")[0] for name in said.stdout.split()})
    return Row(
        "`import madeleine`",
        "nothing heavy until needed",
        f"pulls {', '.join(heavy) or 'nothing'}",
        not heavy,
        f"looked for {', '.join(HEAVY)}",
    )


# -- pieces --------------------------------------------------------------------------------


def _whole(text: str) -> Passage:
    return Passage(text, 0, len(text))


@contextlib.contextmanager
def opened(home: Path) -> Iterator[HomeContext]:
    context = open_home(home)
    embedder = context.stores.minds.embedder
    assert embedder is not None
    embedder.ask("a first text")
    try:
        yield context
    finally:
        context.close()


@contextlib.contextmanager
def daemon(home: Path) -> Iterator[Daemon]:
    """Start a daemon and wait until it says that it answers."""
    command = [sys.executable, "-P", "-m", "madeleine.server", "--home", os.fspath(home)]
    # With bytecode, as pip leaves it where it installs us, whatever is set here.
    compiled = {
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": os.fspath(home.parent / "bytecode"),
    }
    process = subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, env={**os.environ, **compiled}
    )
    try:
        assert process.stdout is not None
        with process.stdout as pipe:
            said = json.loads(pipe.readline())
        yield Daemon(process.pid, RemoteDoor(Path(said["ready"]["socket"])))
    finally:
        process.terminate()
        process.wait(60)


def ask(door: RemoteDoor, kind: str) -> None:
    if kind == "recall":
        door.call("recall", body={"query": "who fixed the parser before the trip?"})
    else:
        door.call("list", query={"limit": 10})


def _first_answer(home: Path, kind: str) -> float:
    began = time.perf_counter()
    with daemon(home) as started:
        ask(started.door, kind)
        return time.perf_counter() - began


def median_of(measure: Callable[[], float], times: int) -> float:
    found = sorted(measure() for _ in range(times))
    return found[len(found) // 2]


def durable_write(folder: Path, data: bytes) -> None:
    """Write a file as safely as a memory's: temporary name, fsync, rename, fsync folder."""
    name = os.urandom(8).hex()
    unfinished = folder / f".{name}.tmp"
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(handle, data)
    os.fsync(handle)
    os.close(handle)
    unfinished.replace(folder / f"{name}.md")
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(handle)
    os.close(handle)


def bare_scan(root: Path) -> int:
    """Look at every file once: what nobody who wants to notice changes can do without."""
    count = 0
    with os.scandir(root) as entries:
        for entry in entries:
            entry.stat(follow_symlinks=False)
            count += 1
    return count


def spawn(command: list[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def _file_size(context: HomeContext) -> int:
    prints = context.stores.search.fingerprints().values()
    return sum(each.size for each in prints) // max(len(prints), 1)


def _resident_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1_024
    raise SystemExit("this system does not tell how much memory a process has")


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = argparse.ArgumentParser(prog="madeleine bench store", description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000", help="small, middle, large")
    parser.add_argument("--quick", action="store_true", help="tiny homes: does it run at all?")
    parser.add_argument("--folder", type=Path, help="keep the homes here and use them again")
    parser.add_argument("--only", default="", help="just these rows: help,start,remember …")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="rows as JSON")
    given = parser.parse_args(argv)
    sizes = [int(each) for each in given.sizes.split(",")]
    if given.quick and given.sizes == parser.get_default("sizes"):
        sizes = [QUICK, 2 * QUICK, 5 * QUICK]
    if len(sizes) != 3:
        parser.error("--sizes takes three numbers")
    with contextlib.ExitStack() as stack:
        folder = given.folder or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="madeleine-bench-"))
        )
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        wanted = tuple(given.only.split(","))
        for name, measure in Bench(folder, sizes, given.quick).steps().items():
            if not name.startswith(wanted):
                continue
            row = measure()
            progress(f"{row.what}: {row.figure} ({'pass' if row.passed else 'miss'})")
            rows.append(row)
    if given.json:
        write_json(given.json, rows)
    if given.json != "-":
        print(table(rows))
    return 0 if all(row.passed for row in rows) or given.quick else 1


if __name__ == "__main__":
    sys.exit(main())
