"""Every format that can be written. Light: the help lists them."""

from __future__ import annotations

from types import MappingProxyType

FORMATS = ("jsonl", "zip", "obsidian")
FORMAT_BY_ALIAS = MappingProxyType({"madeleine": "jsonl"})
"""What an import calls our own format."""
