"""Remember many: a file of JSON lines in, one answer per line out.

Lines go to the house in batches, so that no request grows without bound and a bar can be
drawn. Stopping halfway is safe: every line answered before is written, and a second run finds
those known. With `--json` the answers are one document, one result per line of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from madeleine.api.error_codec import error_to_json
from madeleine.cli.door import CommandDoor
from madeleine.cli.options import drop_none
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.cli.parsing import NotUnicode
from madeleine.cli.progress import ProgressBar
from madeleine.errors import ERROR_BASES, MadeleineError, NoFile, Rejected

BATCH_LINES = 256
BATCH_BYTES = 4_000_000  # well under what the daemon takes in one request
MAX_SHOWN_CHARS = 60


@dataclass(slots=True)
class DraftLine:
    """One line of the file: its number, and the draft in it or what is wrong with it."""

    number: int
    draft: dict[str, object] = field(default_factory=dict)
    error: MadeleineError | None = None


@dataclass(slots=True)
class LineTally:
    """What became of the lines."""

    written: int = 0
    known: int = 0
    refused: int = 0
    exit_code: int = 0

    def refuse(self, code: str) -> None:
        """Count a refusal; the first one gives the exit code."""
        self.refused += 1
        if not self.exit_code:
            self.exit_code = next((b.exit_code for b in ERROR_BASES if b.code == code), 1)


def remember_lines(
    name: str,
    shared: dict[str, object],
    door: CommandDoor,
    say: CommandOutput,
    space: str | None = None,
) -> int:
    """Remember every line of the file; the first refusal gives the exit code. `space` is that of
    lines that name none."""
    data = _read_input(name)
    total = data.count(b"\n") + (not data.endswith(b"\n"))
    tally = LineTally()
    writer = _ResultWriter(say, "standard input" if name == "-" else name, tally)
    with say.progress("remembering") as bar:
        for batch in read_batches(data, shared):
            _remember_batch(batch, door, space, writer, bar)
            bar(batch[-1].number, total)
    writer.end()
    where = f"; lines that name no space are in space {space}" if space else ""
    say.talk(
        f"{tally.written:,} remembered, {tally.known:,} known, {tally.refused:,} refused{where}"
    )
    return tally.exit_code


def read_batches(data: bytes, shared: dict[str, object]) -> Iterator[list[DraftLine]]:
    """Give the lines in batches bounded in number and size; blank lines are left out."""
    batch: list[DraftLine] = []
    size = 0
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip():
            continue
        if batch and (len(batch) >= BATCH_LINES or size + len(raw) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(_parse_line(number, raw, shared))
        size += len(raw)
    if batch:
        yield batch


def _parse_line(number: int, raw: bytes, shared: dict[str, object]) -> DraftLine:
    try:
        draft = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return DraftLine(number, error=NotUnicode("the line", error.start))
    except (ValueError, RecursionError) as error:
        return DraftLine(
            number, error=Rejected(f"not JSON: {error}", hint="one JSON object per line")
        )
    if not isinstance(draft, dict):
        return DraftLine(
            number, error=Rejected("not a JSON object", hint="one JSON object per line")
        )
    return DraftLine(number, {**shared, **draft})


def _remember_batch(
    batch: list[DraftLine],
    door: CommandDoor,
    space: str | None,
    writer: _ResultWriter,
    bar: ProgressBar,
) -> None:
    drafts = [line.draft for line in batch if line.error is None]
    query = drop_none(default_space=space)
    done = door.call("remember_many", query=query, body={"items": drafts}) if drafts else {}
    answers = iter(done.get("results", ()))
    bar.clear()
    for line in batch:
        refused = None if line.error is None else {"error": error_to_json(line.error)}
        writer.write(line, refused or next(answers))


class _ResultWriter:
    """Prints each result as it comes: a line of words, or a line of the one document."""

    def __init__(self, say: CommandOutput, name: str, tally: LineTally) -> None:
        self._say = say
        self._name = name
        self._tally = tally
        self._before = '{"results": ['

    def write(self, line: DraftLine, result: dict[str, Any]) -> None:
        self._count(result)
        if self._say.as_json:
            text = self._say.as_text({"line": line.number, **result})
            self._say.line(f"{self._before}{text}")
            self._before = ","
        elif "error" in result:
            self._say.talk(
                f"{self._name}:{line.number}: {escape_controls(result['error']['message'])}"
            )
        else:
            words = "known already:" if result.get("existing") else "remembered"
            self._say.line(f"{words} {result['node_id'][:8]}  {_draft_headline(line.draft)}")

    def end(self) -> None:
        if self._say.as_json:
            self._say.line("]}" if self._before == "," else '{"results": []}')

    def _count(self, result: dict[str, Any]) -> None:
        if "error" in result:
            self._tally.refuse(str(result["error"].get("code")))
        elif result.get("existing"):
            self._tally.known += 1
        else:
            self._tally.written += 1


def _draft_headline(draft: dict[str, object]) -> str:
    text = " ".join(escape_controls(str(draft.get("title") or draft.get("content"))).split())
    return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"


def _read_input(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    path = Path(name)
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise NoFile(path) from error
    except OSError as error:
        raise Rejected(f"cannot read {path}: {error.strerror}", hint="check the path") from error
