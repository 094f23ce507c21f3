"""A daemon that nobody asks anything of costs nothing worth naming."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from tests.server.running import running

WAKE_UPS = 2.0  # a second, all threads together
WINDOW_SECONDS = 4.0
BOUND = 60.0  # seconds until a daemon that has just started must have come to rest
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="wake-ups are read from /proc")


def count_wake_ups(pid: int) -> int:
    """How often the threads of a process went to wait, since they began."""
    told = Path(f"/proc/{pid}/task").glob("*/status")
    found = (
        re.search(r"^voluntary_ctxt_switches:\s+(\d+)", each.read_text(encoding="utf-8"), re.M)
        for each in told
    )
    return sum(int(each[1]) for each in found if each)


@ON_LINUX
def test_an_idle_daemon_wakes_up_twice_a_second_at_most(home: Path) -> None:
    with running(home) as daemon:
        daemon.remember("We deploy on Fridays")
        pid, deadline, rates = daemon.launched.pid, time.monotonic() + BOUND, [float("inf")]
        while min(rates) > WAKE_UPS and time.monotonic() < deadline:
            before = count_wake_ups(pid)
            time.sleep(WINDOW_SECONDS)
            rates.append((count_wake_ups(pid) - before) / WINDOW_SECONDS)
        assert min(rates) <= WAKE_UPS, rates


def test_answers_are_dated_though_the_server_does_not_look_at_the_clock(home: Path) -> None:
    with running(home) as daemon:
        first = parsedate_to_datetime(daemon.ask("GET", "/agent/health").headers["date"])
        time.sleep(2.1)
        second = parsedate_to_datetime(daemon.ask("GET", "/agent/health").headers["date"])
        assert 1 <= (second - first).total_seconds() <= 30


def test_use_of_a_memory_reaches_the_disk_without_being_waited_for(home: Path) -> None:
    """The note of use is written behind the answer; the journal is flushed when there is news."""
    with running(home) as daemon:
        daemon.remember("Marek prefers tabs")
        daemon.ok("POST", "/agent/recall", {"query": "what does Marek prefer"})
        deadline = time.monotonic() + BOUND
        while '"used"' not in "".join(
            each.read_text(encoding="utf-8") for each in (home / "journal").glob("*.jsonl")
        ):
            assert time.monotonic() < deadline
            time.sleep(0.1)


@ON_LINUX
def test_memory_that_is_not_used_any_more_goes_back_to_the_system() -> None:
    """In a process of its own: this one's heap is in use by other tests."""
    code = (
        "import re; from pathlib import Path\n"
        "from madeleine.server.process_memory import release_unused_memory\n"
        "status = Path('/proc/self/status')\n"
        "read = lambda: int(re.search(r'VmRSS:\\s+(\\d+)', status.read_text('utf-8'))[1])\n"
        "kept = []; freed = [bytearray(100_000) for _ in range(300)]\n"
        "kept = [bytearray(600) for _ in range(1000)]; full = read()\n"
        "del freed; release_unused_memory(); print(full - read())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )

    assert int(done.stdout) > 20_000
