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
from madeleine.agents.instructions import SKILL_TEXT

PLUGIN_FOLDER = "claude-plugin"
PLUGIN_NAME = "madeleine"
_DESCRIPTION = "Memory that surfaces by itself: markdown files on your own disk"


def plugin_files(
    hooks: Mapping[str, Mapping[str, object]], server: Mapping[str, object]
) -> dict[str, str]:
    """Return the plugin's files by their path in the folder.

    No version is named, so that the files stay the same over upgrades. hooks/hooks.json is found
    by Claude Code itself; naming it in the manifest as well would load it twice.
    """
    grouped = {event: [dict(group)] for event, group in hooks.items()}
    owner = {"name": "Madeleine"}
    entry = {"name": PLUGIN_NAME, "source": f"./{PLUGIN_NAME}", "description": _DESCRIPTION}
    plugin = f"{PLUGIN_NAME}/"
    return {
        ".claude-plugin/marketplace.json": _render_json(
            {"name": PLUGIN_NAME, "owner": owner, "plugins": [entry]}
        ),
        plugin + ".claude-plugin/plugin.json": _render_json(
            {"name": PLUGIN_NAME, "description": _DESCRIPTION, "author": owner}
        ),
        plugin + "hooks/hooks.json": _render_json({"description": _DESCRIPTION, "hooks": grouped}),
        plugin + ".mcp.json": _render_json({"mcpServers": {PLUGIN_NAME: dict(server)}}),
        plugin + "skills/memory/SKILL.md": SKILL_TEXT,
    }


def is_plugin_enabled(folder: Path) -> bool:
    """Whether Claude Code has our plugin switched on, as its settings say."""
    return any(
        on
        for name, on in _read_enabled_plugins(folder).items()
        if name.partition("@")[0] == PLUGIN_NAME
    )


def _read_enabled_plugins(folder: Path) -> Mapping[str, Any]:
    try:
        text = (folder / "settings.json").read_text(encoding="utf-8-sig")
        found = jsonc.read_json(text).at(["enabledPlugins"])
    except (OSError, UnicodeDecodeError, jsonc.InvalidJson):
        return {}  # whoever reads the hooks in that file says what is wrong with it
    return found.value if found is not None and found.opening == "{" else {}


def install_steps(folder: Path) -> list[str]:
    """Return what a person types to install the plugin."""
    return [
        f'claude plugin marketplace add "{folder}"',
        f"claude plugin install {PLUGIN_NAME}@{PLUGIN_NAME}",
    ]


def _render_json(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"
