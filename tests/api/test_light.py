"""What importing costs: a command that goes through the daemon loads nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"numpy", "onnxruntime", "tokenizers", "apsw", "starlette", "uvicorn", "watchdog", "yaml"}


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has after running `code`."""
    script = f"{code}\nimport json, sys\nsys.stdout.write(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, timeout=30
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    "code",
    [
        "import madeleine",
        "from madeleine import Madeleine",
        "import madeleine.api",
        "from madeleine.api.remote import RemoteDoor, find_daemon",
        "from madeleine.server.launch import launch_daemon",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str) -> None:
    assert loaded_by(code).isdisjoint(HEAVY)


def test_the_way_to_the_daemon_knows_only_the_table_and_the_errors() -> None:
    ours = {name for name in loaded_by("import madeleine.api.remote") if "madeleine" in name}

    assert ours == {
        "madeleine",
        "madeleine.api",
        "madeleine.api.home_paths",
        "madeleine.api.remote",
        "madeleine.api.routes",
        "madeleine.api.error_codec",
        "madeleine.errors",
        "madeleine.version",
    }


def test_importing_madeleine_alone_imports_no_door() -> None:
    assert "madeleine.api" not in loaded_by("import madeleine")
