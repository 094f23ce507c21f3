"""Every format that can be brought in, and what its path may be. Light: the help lists them."""

from __future__ import annotations

from types import MappingProxyType

FORMATS = MappingProxyType(
    {
        "agents-md": "CLAUDE.md, AGENTS.md and their like: a file or a project's folder",
        "automem": "AutoMem: falkordb_*.json.gz, its folder, a tar.gz, or the URL of its server",
        "basic-memory": "a folder of basic-memory notes",
        "chatgpt": "a ChatGPT export: the zip, its folder or conversations.json",
        "claude-ai": "a claude.ai export: the zip, its folder or conversations.json",
        "claude-code": "Claude Code's memory: a memory folder, or ~/.claude for all projects",
        "claude-mem": "claude-mem: ~/.claude-mem, its claude-mem.db, or its export as JSON",
        "madeleine": "an export of Madeleine: JSON lines, or a zip or folder of its files",
        "mcp-memory": "memory.jsonl of the MCP reference server",
        "mem0": "what get_all of mem0 answers, as a JSON file",
        "mempalace": "MemPalace: a palace's folder, or the folder of its JSON lines",
        "obsidian": "an Obsidian vault: its folder or a zip of it",
        "ormah": "Ormah's memory folder",
    }
)

FORMAT_BY_ALIAS = MappingProxyType({"jsonl": "madeleine", "zip": "madeleine"})
"""What an export calls its formats: both are read as an export of Madeleine."""


def is_url(path: str) -> bool:
    """Whether a path is the address of a server."""
    return path.lower().startswith(("http://", "https://"))
