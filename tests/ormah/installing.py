"""Real Ormah, in a virtual environment of its own.

Its server needs packages of several hundred megabytes and a model from a hub, and takes most of a
minute to install. Its clients do not: Ormah itself is installed without what it names as needed,
and then what the clients and its writer of files import. The environment is kept in pytest's
cache, under the name of the versions, so that only the first run waits for it.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ORMAH = "ormah>=0.15.3,<0.16"
NEEDED = (
    "httpx>=0.28",
    "mcp>=1.10,<2",
    "numpy",
    "pydantic-settings>=2.7",
    "python-frontmatter>=1.1",
    "python-slugify>=8",
)
PATIENCE_SECONDS = 300
READY = "ready"
# How pip says that it found no registry, or a registry that has nothing at all.
_UNREACHABLE = (
    "from versions: none",
    "Failed to establish",
    "Connection",
    "timed out",
    "Temporary",
)


def install(cache: Path) -> Path:
    """Return the environment's folder; skip the test if pip reaches no registry."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    place = cache / f"ormah-0.15-python-{version}"
    cache.mkdir(parents=True, exist_ok=True)
    with _alone(cache / "lock"):
        if not (place / READY).exists():
            _build(place)
            (place / READY).touch()
    return place


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Let one of several test processes install, and the others wait for it."""
    with lock.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(place: Path) -> None:
    has_pip = importlib.util.find_spec("pip") is not None
    _run(sys.executable, "-m", "venv", "--clear", *(["--without-pip"] if has_pip else []), place)
    python = place / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python] if has_pip else [python, "-m", "pip"]
    quiet = ("install", "-qq", "--disable-pip-version-check", "--retries", "1", "--timeout", "15")
    _run(*pip, *quiet, "--no-compile", "--no-deps", ORMAH)
    _run(*pip, *quiet, "--no-compile", *NEEDED)


def _run(*words: object) -> None:
    done = subprocess.run(
        [os.fspath(str(word)) for word in words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    if done.returncode and any(sign in done.stderr for sign in _UNREACHABLE):
        pytest.skip("pip reaches no registry, so Ormah cannot be installed")
    assert done.returncode == 0, done.stderr
