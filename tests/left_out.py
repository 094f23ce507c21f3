"""Tests that are left out because something is not installed, and what would bring them back."""

from __future__ import annotations

from collections.abc import Iterable

NO_BROWSER = "no browser for the page"
NO_NODE = "no Node for the page"
TO_INSTALL = {
    NO_BROWSER: "Chromium, Chrome or Edge (apt install chromium, or playwright install chromium; "
    "CHROMIUM=/path names one)",
    NO_NODE: "Node 20.19 or newer with npm, then `make web/node_modules`",
}


def what_to_install(reasons: Iterable[str]) -> str | None:
    """Return the line that says what to install for the tests that were left out."""
    told = [*reasons]
    missing = {need: sum(need in each for each in told) for need in TO_INSTALL}
    parts = [
        f"{count} {'test' if count == 1 else 'tests'} of the page: install {TO_INSTALL[need]}"
        for need, count in missing.items()
        if count
    ]
    return f"left out, {'; '.join(parts)}" if parts else None
