"""Agents at work on one daemon: prompts through the hook's own route, and what runs beside them.

Prompts come when they come, whether or not the ones before were answered: a daemon that falls
behind is not spared. Each is a connection of its own over the daemon's socket with the hook's own
request, and says by when it has to be answered, as a hook does. A client here goes on reading
after that moment, so that an answer that is late shows how late it is.
"""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from madeleine.api.remote import RemoteDoor
from madeleine.errors import MadeleineError
from madeleine.hooks.whisper import build_request, header_value, read_response, report_outcome

PATIENCE_SECONDS = 10.0  # a client here waits so long to see how late an answer is
AT_ONCE = 256  # prompts under way at most: more than any daemon here answers in its deadline
SLEEP_PAUSE_SECONDS = 0.2  # between two whole cycles of jobs


@dataclass(frozen=True, slots=True)
class PromptOutcome:
    """One prompt: how long its answer took in seconds, and whether anything was whispered."""

    took: float
    whispered: bool
    answered: bool


@dataclass(slots=True)
class BesideOutcome:
    """What ran beside the prompts."""

    took: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


class Agents:
    """Sessions that type prompts to one daemon."""

    def __init__(
        self, where: Path, folder: str, count: int, prompts: Sequence[str], deadline: float
    ) -> None:
        self._where = str(where)
        self._folder = folder
        self._count = count
        self._prompts = prompts
        self._deadline = deadline
        self._typed = 0

    def type_prompts(self, rate: float, seconds: float, seed: int) -> list[PromptOutcome]:
        """Type `rate` prompts a second in all, at random moments, and return what came of each."""
        dice = random.Random(seed)
        waiting: list[Future[PromptOutcome]] = []
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="agent") as threads:
            due = began = time.monotonic()
            while due < began + seconds:
                time.sleep(max(0.0, due - time.monotonic()))
                waiting.append(threads.submit(self._type_one, *self._next_prompt(dice), due))
                due += dice.expovariate(rate)
            return [each.result() for each in waiting]

    def _next_prompt(self, dice: random.Random) -> tuple[str, str]:
        self._typed += 1
        text = self._prompts[self._typed % len(self._prompts)]
        return f"agent {dice.randrange(self._count)}", f"{text} ({self._typed})"

    def _type_one(self, session: str, text: str, began: float) -> PromptOutcome:
        """Ask as a hook does. `began` is when the prompt was typed: a client that came late to it
        counts too."""
        given = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": session,
            "cwd": self._folder,
            "prompt": text,
        }
        until = began + self._deadline
        message = build_request("inject", "claude", json.dumps(given).encode(), until)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(PATIENCE_SECONDS)
            connection.connect(self._where)
            connection.sendall(message)
            head, body = read_response(connection, began + PATIENCE_SECONDS)
            took = time.monotonic() - began
            whisper = header_value(head, b"madeleine-whisper").decode("ascii")
            report_outcome(connection, whisper, "delivered")
        except OSError:
            return PromptOutcome(time.monotonic() - began, whispered=False, answered=False)
        finally:
            connection.close()
        return PromptOutcome(took, bool(body), head.startswith(b"HTTP/1.1 200 "))


@contextmanager
def working_beside(acts: Sequence[Callable[[threading.Event], None]]) -> Iterator[None]:
    """Do things in threads of their own until the block is over."""
    over = threading.Event()
    threads = [threading.Thread(target=each, args=(over,)) for each in acts]
    for each in threads:
        each.start()
    try:
        yield
    finally:
        over.set()
        for each in threads:
            each.join()


def write_memories(
    where: Path, texts: Iterator[str], rate: float, seen: BesideOutcome
) -> Callable[[threading.Event], None]:
    """Return a writer: `rate` new memories a second, each waited for."""

    def work(over: threading.Event) -> None:
        door = RemoteDoor(where)
        for text in texts:
            if over.wait(1 / rate):
                return
            _timed_call(seen, door, "remember", {"content": text})

    return work


def ask_questions(
    where: Path, questions: Sequence[str], rate: float, seen: BesideOutcome
) -> Callable[[threading.Event], None]:
    """Return somebody who recalls: `rate` questions a second, each waited for."""

    def work(over: threading.Event) -> None:
        door = RemoteDoor(where)
        number = 0
        while not over.wait(1 / rate):
            number += 1
            asked = {"query": f"{questions[number % len(questions)]} {number}", "limit": 5}
            _timed_call(seen, door, "recall", asked)

    return work


def sleep_on_and_on(where: Path, seen: BesideOutcome) -> Callable[[threading.Event], None]:
    """Return somebody who runs the whole cycle of jobs, one after the other."""

    def work(over: threading.Event) -> None:
        door = RemoteDoor(where)
        while not over.wait(SLEEP_PAUSE_SECONDS):
            stopper = threading.Thread(target=_stop_at_the_end, args=(where, over), daemon=True)
            stopper.start()
            _timed_call(seen, door, "run_all", query={"wait": "true"})

    return work


def _stop_at_the_end(where: Path, over: threading.Event) -> None:
    over.wait()
    try:
        RemoteDoor(where).call("stop_task", "run-all")
    except MadeleineError:
        return  # nothing was under way


def _timed_call(
    seen: BesideOutcome,
    door: RemoteDoor,
    name: str,
    body: Mapping[str, object] | None = None,
    query: Mapping[str, object] | None = None,
) -> None:
    began = time.perf_counter()
    try:
        door.call(name, query=query, body=body)
    except MadeleineError as error:
        seen.refused.append(error.kind)
    else:
        seen.took.append(time.perf_counter() - began)
