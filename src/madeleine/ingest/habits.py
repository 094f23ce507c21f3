"""The numbers that taking in goes by; set in config.toml under `[ingest]`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IngestHabits:
    """What settings say; docs/reference/settings.md explains each."""

    exchanges: str = "fallback"
    memories_per_session: int = 100
    memories_per_day: int = 500
    memories_per_file: int = 200
    content_bytes: int = 10_485_760
    duplicate_similarity: float = 0.92
    tokens_per_day: int = 500_000
    deleted_files: str = "keep"
    session_min_turns: int = 5
    session_lookback_hours: float = 72.0
    session_debounce_seconds: float = 60.0
    folder_debounce_seconds: float = 2.0
