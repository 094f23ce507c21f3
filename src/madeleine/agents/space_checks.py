"""Whether the memories that belong to a folder are heard by agents that work there."""

from __future__ import annotations

from madeleine.agents.findings import NOTE_CODE, DoctorFinding
from madeleine.agents.home_checks import AskDaemon
from madeleine.errors import MadeleineError

CHECK = "space"


def check_folder_space(folder: str | None, ask: AskDaemon) -> list[DoctorFinding]:
    """Return which space the folder is in, and which memories are not heard there for that."""
    if folder is None:
        return []
    try:
        found = ask("space_here", {"cwd": folder})
    except MadeleineError:  # what is wrong with the home is said by its own checks
        return []
    space = found["space"]
    unheard = [
        DoctorFinding(
            CHECK,
            f"memories of `{each}` are not heard in {folder}, which is `{space or 'global'}`: "
            f"{found['because']}",
            f"madeleine space merge {each} {space}"
            if space
            else f"madeleine space alias {folder} {each}",
            NOTE_CODE,
        )
        for each in found["unheard"]
    ]
    return unheard or [DoctorFinding(CHECK, f"{folder} is {found['text']}")]
