"""Letting days go by in a home that nobody has open, as if they had passed in an empty house."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

from madeleine.model.times import format_time, parse_time

_TIME = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z"
_IN_JOURNAL = re.compile(rf'(?<="at":")({_TIME})(?=")')
_IN_FILE = re.compile(rf"(?m)^(created|updated): ({_TIME})$")


def let_days_pass(home: Path, days: float) -> None:
    """Move all that happened so far into the past. The index follows when it is opened next."""
    by = timedelta(days=days)

    def earlier(text: str) -> str:
        moved: datetime = parse_time("time", text) - by
        return format_time(moved)

    for path in (home / "journal").glob("*.jsonl"):
        lines = path.read_text(encoding="utf-8")
        path.write_text(_IN_JOURNAL.sub(lambda it: earlier(it[1]), lines), encoding="utf-8")
    for path in (home / "vault").rglob("*.md"):
        said = path.read_text(encoding="utf-8")
        aged = _IN_FILE.sub(lambda it: f"{it[1]}: {earlier(it[2])}", said)
        path.write_text(aged, encoding="utf-8")
    for path in home.glob("index.db*"):
        path.unlink()
