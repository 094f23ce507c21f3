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

from madeleine.agents.environment import HOOK_NAME

MAX_TRANSCRIPTS = 8
MAX_FOLDERS = 50  # projects that are looked into, the newest first
TAIL_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class HookRun:
    """What was noted about one run of a hook."""

    milliseconds: float
    failed: bool


@dataclass(frozen=True, slots=True)
class HookRecord:
    """What was noted about all runs that were found."""

    runs: tuple[HookRun, ...]

    @property
    def median_ms(self) -> float:
        taken = sorted(each.milliseconds for each in self.runs)
        return taken[len(taken) // 2] if taken else 0.0

    @property
    def failures(self) -> int:
        return sum(each.failed for each in self.runs)


def read_hook_record(folder: Path) -> HookRecord:
    """Return how our hooks did in the newest transcripts of Claude Code."""
    return HookRecord(
        tuple(
            each
            for path in _find_newest_transcripts(folder / "projects")
            for each in _read_hook_runs(path)
        )
    )


def _find_newest_transcripts(projects: Path) -> list[Path]:
    folders = _sort_newest_first([each for each in _list_folder(projects) if each.is_dir()])[
        :MAX_FOLDERS
    ]
    files = [path for folder in folders for path in _list_folder(folder) if path.suffix == ".jsonl"]
    return _sort_newest_first(files)[:MAX_TRANSCRIPTS]


def _list_folder(folder: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(folder)]
    except OSError:
        return []


def _sort_newest_first(paths: list[Path]) -> list[Path]:
    def changed(path: Path) -> float:
        try:
            return path.stat().st_mtime
        except OSError:
            return 0.0

    return sorted(paths, key=changed, reverse=True)


def _read_hook_runs(path: Path) -> Iterator[HookRun]:
    mark = HOOK_NAME.encode()
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = [line for line in stream if mark in line and b"durationMs" in line]
    except OSError:
        return
    for line in lines:
        noted = _parse_hook_run(line)
        if noted is not None:
            yield noted


def _parse_hook_run(line: bytes) -> HookRun | None:
    """Return what a line says about a hook of ours; the format is Claude Code's own affair."""
    try:
        found: Any = json.loads(line)["attachment"]
        if HOOK_NAME not in str(found["command"]):
            return None
        return HookRun(float(found["durationMs"]), bool(found.get("exitCode")))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
