"""Who takes in, and which folders it follows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from madeleine.bootstrap.minds import make_extractor
from madeleine.errors import MadeleineError
from madeleine.ingest.context import IngestContext
from madeleine.settings import Settings
from madeleine.write.stores import Stores


def make_intake(
    stores: Stores, settings: Settings, environment: Mapping[str, str]
) -> IngestContext:
    """Return who takes in. A language model that cannot be had leaves it to do without, and
    `status` says why."""
    wanted = settings.ingest
    intake = IngestContext(stores, wanted, why_not=f"ingest.extractor is {wanted.extractor}")
    if wanted.extractor == "llm":
        try:
            spending = stores.minds.spending
            intake.extractor, intake.why_not = make_extractor(settings, environment, spending), ""
        except MadeleineError as error:
            intake.why_not = error.message
    return intake


def list_session_folders(settings: Settings) -> list[tuple[Path, str]]:
    """Return the folders of transcripts that are followed, each with the agent whose they are."""
    given = settings.ingest.session_folders
    if given:
        return [(path, _agent_of_folder(path)) for path in parse_folders(given)]
    claude = os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude"
    codex = os.environ.get("CODEX_HOME") or "~/.codex"
    places = ((f"{claude}/projects", "claude-code"), (f"{codex}/sessions", "codex"))
    return [(Path(path).expanduser(), agent) for path, agent in places]


def _agent_of_folder(folder: Path) -> str:
    return "codex" if {"codex", ".codex"} & set(folder.parts) else "claude-code"


def parse_folders(given: str) -> list[Path]:
    """Return the folders that a setting names, separated as in PATH."""
    return [Path(each).expanduser().absolute() for each in given.split(os.pathsep) if each.strip()]
