"""Madeleine as a plugin of Claude Code: a folder that is also a marketplace with one plugin.

The plugin brings hooks, the MCP server and a skill. Its files name absolute paths of this machine,
so it is written here (`madeleine setup claude --plugin`) and not downloaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from madeleine.agents import jsonc
from madeleine.agents.wording import SKILL

FOLDER = "claude-plugin"
NAME = "madeleine"
_ABOUT = "Memory that surfaces by itself: markdown files on your own disk"


def files(
    hooks: Mapping[str, Mapping[str, object]], server: Mapping[str, object]
) -> dict[str, str]:
    """Return the plugin's files by their path in the folder.

    No version is named, so that the files stay the same over upgrades. hooks/hooks.json is found
    by Claude Code itself; naming it in the manifest as well would load it twice.
    """
    grouped = {event: [{"hooks": [dict(entry)]}] for event, entry in hooks.items()}
    owner = {"name": "Madeleine"}
    entry = {"name": NAME, "source": f"./{NAME}", "description": _ABOUT}
    plugin = f"{NAME}/"
    return {
        ".claude-plugin/marketplace.json": _json(
            {"name": NAME, "owner": owner, "plugins": [entry]}
        ),
        plugin + ".claude-plugin/plugin.json": _json(
            {"name": NAME, "description": _ABOUT, "author": owner}
        ),
        plugin + "hooks/hooks.json": _json({"description": _ABOUT, "hooks": grouped}),
        plugin + ".mcp.json": _json({"mcpServers": {NAME: dict(server)}}),
        plugin + "skills/memory/SKILL.md": SKILL,
    }


def is_on(folder: Path) -> bool:
    """Whether Claude Code has our plugin switched on, as its settings say."""
    return any(on for name, on in _enabled(folder).items() if name.partition("@")[0] == NAME)


def _enabled(folder: Path) -> Mapping[str, Any]:
    try:
        text = (folder / "settings.json").read_text(encoding="utf-8-sig")
        found = jsonc.read(text).at(["enabledPlugins"])
    except (OSError, UnicodeDecodeError, jsonc.NotJson):
        return {}  # whoever reads the hooks in that file says what is wrong with it
    return found.value if found is not None and found.opening == "{" else {}


def steps(folder: Path) -> list[str]:
    """Return what a person types to install the plugin."""
    return [
        f'claude plugin marketplace add "{folder}"',
        f"claude plugin install {NAME}@{NAME}",
    ]


def _json(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"
