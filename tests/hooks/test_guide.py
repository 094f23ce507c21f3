"""The guide: every entry in it parses, and is one that works."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.running import CLIENT, Hooked, claude
from tests.server.running import WAIT_SECONDS

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "whisper-hooks.md"
BLOCKS = re.findall(r"```json\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)


def entries(value: Any) -> Iterator[dict[str, Any]]:
    """Give every entry that runs a command."""
    if isinstance(value, dict) and "command" in value:
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from entries(each)


def command(entry: dict[str, Any], home: Path) -> list[str]:
    """Return the words that a host would run."""
    words = [entry["command"], *entry["args"]] if "args" in entry else shlex.split(entry["command"])
    real = {"PYTHON": sys.executable, "WHISPER": os.fspath(CLIENT), "HOME": os.fspath(home)}
    return [real.get(word, word) for word in words]


def test_the_guide_wires_four_hosts() -> None:
    assert len(BLOCKS) == 4


@pytest.mark.parametrize("block", BLOCKS, ids=["claude", "codex", "cursor", "gemini"])
def test_every_entry_of_the_guide_works(
    served: Hooked, block: str, request: pytest.FixtureRequest
) -> None:
    host = request.node.callspec.id
    for number, entry in enumerate(entries(json.loads(block))):
        words = command(entry, served.home)
        prompt = claude(f"does {host} {number} work?", f"guide {host} {number}")
        done = subprocess.run(
            words,
            input=json.dumps(prompt).encode(),
            capture_output=True,
            timeout=WAIT_SECONDS,
            check=True,
        )

        assert words[-1] == host
        assert bool(done.stdout) is (words[-2] == "inject")
        assert entry["timeout"] == (5000 if host == "gemini" else 5)
