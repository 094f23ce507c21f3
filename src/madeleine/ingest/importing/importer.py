"""One import from end to end: what a reader finds goes into the home in batches.

The home may be open in this process or in a daemon; all that is needed of it is to be asked.
Stopping halfway is safe: what was sent is brought in, and a second import finds it known.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from madeleine.ingest.importing.values import (
    ImportItem,
    ImportNote,
    ImportProblem,
    ImportTotal,
    Json,
    ReaderOutput,
)

BATCH_ITEMS = 128
BATCH_CHARS = 2_000_000  # well under what the daemon takes in one request
OUTCOMES = ("written", "revised", "known", "kept", "forgotten")

Send = Callable[[Json], Any]
Progress = Callable[[int, int | None], None]


@dataclass(slots=True)
class MemoryImport:
    """What waits to be sent, and what came of the rest."""

    form: str
    send: Send
    """Has the body of the operation `import` carried out, and returns its answer."""
    dry_run: bool = False
    progress: Progress = lambda done, total: None
    run: str = field(default_factory=lambda: str(uuid.uuid4()))
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[Json] = field(default_factory=list)
    left: list[Json] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cut: bool = False
    """Whether the source ended before its end."""
    _total: int = 0
    _waiting: list[ImportItem] = field(default_factory=list)
    _size: int = 0
    _done: int = 0

    def take_all(self, found: Iterable[ReaderOutput]) -> Json:
        """Bring in everything that a reader finds; return what came of it."""
        for each in found:
            self._take(each)
        self._import_waiting()
        return self._answer()

    def _take(self, found: ReaderOutput) -> None:
        match found:
            case ImportItem():
                self._add(found)
            case ImportProblem(place, problem, cut):
                self.cut = self.cut or cut
                self.problems.append({"place": place, "problem": problem})
            case ImportNote(text):
                self.notes.append(text)
            case ImportTotal(count):
                self._total += count

    def _add(self, item: ImportItem) -> None:
        self._waiting.append(item)
        self._size += sum(len(str(item.values.get(name, ""))) for name in ("content", "file"))
        if len(self._waiting) >= BATCH_ITEMS or self._size >= BATCH_CHARS:
            self._import_waiting()

    def _import_waiting(self) -> None:
        """Have what waits brought in."""
        if not self._waiting:
            return
        items = [each.values for each in self._waiting]
        body: Json = {"items": items, "format": self.form, "run": self.run}
        answer = self.send({**body, "dry_run": self.dry_run})
        for item, result in zip(self._waiting, answer["results"], strict=True):
            self._note(item, result)
        self._done += len(self._waiting)
        self._waiting, self._size = [], 0
        self.progress(self._done, max(self._total, self._done) if self._total else None)

    def _note(self, item: ImportItem, result: Any) -> None:
        if "error" in result:
            self.problems.append({"place": item.place, "problem": result["error"]["message"]})
            return
        outcome = result["outcome"]
        self.counts[outcome] = self.counts.get(outcome, 0) + 1
        if "note" in result:
            self.left.append({"place": item.place, **result})

    def _answer(self) -> Json:
        return {
            "format": self.form,
            "dry_run": self.dry_run,
            "run": self.run,
            "counts": {name: self.counts.get(name, 0) for name in OUTCOMES},
            "left": self.left,
            "problems": self.problems,
            "cut": self.cut,
            "notes": self.notes,
        }
