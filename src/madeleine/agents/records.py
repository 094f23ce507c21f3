"""What Claude Code itself noted about our hooks: how long they took, and whether they failed.

Its transcripts have a line for every hook that ran. Only the ends of the newest few are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from madeleine.agents.surroundings import HOOK_NAME

TRANSCRIPTS = 8
FOLDERS = 50  # projects that are looked into, the newest first
TAIL_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Noted:
    """What was noted about one run of a hook."""

    milliseconds: float
    failed: bool


@dataclass(frozen=True, slots=True)
class Record:
    """What was noted about all runs that were found."""

    runs: tuple[Noted, ...]

    @property
    def median_ms(self) -> float:
        taken = sorted(each.milliseconds for each in self.runs)
        return taken[len(taken) // 2] if taken else 0.0

    @property
    def failures(self) -> int:
        return sum(each.failed for each in self.runs)


def claude_record(folder: Path) -> Record:
    """Return how our hooks did in the newest transcripts of Claude Code."""
    return Record(tuple(each for path in _newest(folder / "projects") for each in _runs(path)))


def _newest(projects: Path) -> list[Path]:
    folders = _by_age([each for each in _listed(projects) if each.is_dir()])[:FOLDERS]
    files = [path for folder in folders for path in _listed(folder) if path.suffix == ".jsonl"]
    return _by_age(files)[:TRANSCRIPTS]


def _listed(folder: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(folder)]
    except OSError:
        return []


def _by_age(paths: list[Path]) -> list[Path]:
    def changed(path: Path) -> float:
        try:
            return path.stat().st_mtime
        except OSError:
            return 0.0

    return sorted(paths, key=changed, reverse=True)


def _runs(path: Path) -> Iterator[Noted]:
    mark = HOOK_NAME.encode()
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = [line for line in stream if mark in line and b"durationMs" in line]
    except OSError:
        return
    for line in lines:
        noted = _noted(line)
        if noted is not None:
            yield noted


def _noted(line: bytes) -> Noted | None:
    """Return what a line says about a hook of ours; the format is Claude Code's own affair."""
    try:
        found: Any = json.loads(line)["attachment"]
        if HOOK_NAME not in str(found["command"]):
            return None
        return Noted(float(found["durationMs"]), bool(found.get("exitCode")))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
