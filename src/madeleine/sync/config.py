"""The settings of sync."""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.model.setting import advanced, setting


@dataclass(frozen=True, slots=True)
class SyncConfig:
    """Several machines of one person."""

    place: str = setting(
        "",
        "where machines meet: a folder that a sync program carries, a git remote (git+URL or ….git)"
        " or ssh://host/folder",
    )
    every: int = setting(0, "minutes between two syncs of the daemon; 0: only by hand", 0, 100_000)
    private_spaces: str = advanced("", "spaces, separated by commas, that never leave this machine")
    timeout_seconds: float = advanced(120.0, "how long git or ssh may take", 1, 86_400)
