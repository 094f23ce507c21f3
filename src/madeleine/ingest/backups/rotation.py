"""Where backups are, how they are called, and which of them go."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from madeleine.errors import PlaceTaken
from madeleine.language.late_pattern import compile_late
from madeleine.vault.files import fsync_folder

FOLDER = "backups"
_NAME = compile_late(r"madeleine-(\d{8}T\d{6})Z(?:-(\d+))?\.zip")
_TIME = "%Y%m%dT%H%M%S"
_UNFINISHED = compile_late(r"\..+\.zip\.\d+\.(?:copies|zip)\.tmp")


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A backup in the folder."""

    path: Path
    made: datetime
    size: int


def new_backup_path(folder: Path, to: Path | None, now: datetime) -> Path:
    """Return where a new backup goes: a free name in the folder, or the place that was named."""
    if to is not None and not to.is_dir():
        if to.exists():
            raise PlaceTaken(to)
        return to
    stem = f"madeleine-{now.strftime(_TIME)}Z"
    place, number = (to or folder) / f"{stem}.zip", 1
    while place.exists():
        number += 1
        place = place.with_name(f"{stem}-{number}.zip")
    return place


def list_backups(folder: Path) -> list[BackupFile]:
    """Return the backups in a folder, newest first."""
    found = []
    for path in folder.glob("madeleine-*.zip") if folder.is_dir() else ():
        name = _NAME.fullmatch(path.name)
        if name is not None and path.is_file():
            made = datetime.strptime(name[1], _TIME).replace(tzinfo=UTC)
            found.append((made, int(name[2] or 1), BackupFile(path, made, path.stat().st_size)))
    return [each for _, _, each in sorted(found, key=lambda each: each[:2], reverse=True)]


def rotate(folder: Path, keep: int, made: Path) -> tuple[Path, ...]:
    """Remove the oldest backups beyond so many; 0 keeps all. Only files that are called like
    ours are touched, and never the one just made: a wrong clock may have made newer ones."""
    others = [each.path for each in list_backups(folder) if each.path != made]
    surplus = tuple(others[keep - 1 :]) if keep > 0 else ()
    for path in surplus:
        path.unlink(missing_ok=True)
    if surplus:
        fsync_folder(folder)
    return surplus


def list_unfinished(folder: Path) -> list[Path]:
    """Return what backups that were killed left behind. No other may be under way."""
    return [each for each in folder.iterdir() if _UNFINISHED.fullmatch(each.name)]


def is_backup_due(folder: Path, every_hours: float, now: datetime) -> bool:
    """Whether the newest backup is too old. One from the future was made by a wrong clock."""
    newest = next(iter(list_backups(folder)), None)
    if newest is None or newest.made > now:
        return True
    return (now - newest.made).total_seconds() >= every_hours * 3600
