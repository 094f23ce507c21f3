"""The home among options that are not parsed, for commands whose start a host waits for."""

from __future__ import annotations


def read_home_option(options: list[str]) -> str | None:
    """Return the home that is named last, if any."""
    home = None
    for before, word in zip(["", *options], options, strict=False):
        if before == "--home" or word.startswith("--home="):
            home = word.removeprefix("--home=")
    return home
