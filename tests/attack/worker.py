"""Reads inputs in a process of its own, and says of each how it went. `fuzz` starts it."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable

from madeleine.errors import MadeleineError

MEMORY_LIMIT_BYTES = 3 * 1024**3


def end_process(data: bytes) -> None:
    os._exit(3)


def hang(data: bytes) -> None:
    while True:
        continue


def work_by_squares(data: bytes) -> None:
    """Take a microsecond for each pair of bytes."""
    until = time.process_time() + len(data) ** 2 / 1_000_000 * 0.15
    while time.process_time() < until:
        continue


OWN_TARGETS: dict[str, Callable[[bytes], object]] = {
    "test-raises": lambda data: 1 // 0,
    "test-ends": end_process,
    "test-hangs": hang,
    "test-squares": work_by_squares,
    "test-fine": len,
}
"""What tests of the fuzzer itself throw at."""


def main(target: str) -> None:
    """Read inputs, each behind its length in four bytes; print a line of JSON for each."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    read = find_reader(target)
    source = sys.stdin.buffer
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while length := source.read(4):
        data = source.read(int.from_bytes(length, "big"))
        told = try_input(read, data)
        sys.stdout.write(f"{json.dumps(told)}\n")
        sys.stdout.flush()


def find_reader(target: str) -> Callable[[bytes], object]:
    if target in OWN_TARGETS:
        return OWN_TARGETS[target]
    from tests.attack.targets import TARGETS  # noqa: PLC0415  # it loads nearly everything

    return TARGETS[target].read


def try_input(read: Callable[[bytes], object], data: bytes) -> dict[str, object]:
    began = time.process_time()
    fault = ""
    try:
        read(data)
    except MadeleineError:
        pass
    except Exception:  # noqa: BLE001  # everything that is not ours is what is looked for
        fault = traceback.format_exc(limit=-6)
    return {"seconds": time.process_time() - began, "fault": fault}


if __name__ == "__main__":
    main(sys.argv[1])
