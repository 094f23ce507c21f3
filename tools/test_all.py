"""Runs the tests on each supported Python that is found on this machine (`make test-all`).

A Python is looked for on the PATH, among those of pyenv and among those of uv; nothing is
downloaded. Each has a virtual environment of its own, `.venv-3.12` and so on, and runs what
`make unit` runs. A version that is not found is named and left out; all found ones are run, and
the exit code is 1 if one of them fails or none is found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
UV_VARIABLE = "UV_PYTHON_INSTALL_DIR"
LOOK_SECONDS = 20  # a shim may start a shell or two before it answers


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the tests on each Python that is found.")
    parser.add_argument("--goal", default="unit", help="what to make with each; unit if not said")
    goal = parser.parse_args().goal
    outcomes = {version: run_tests(version, goal) for version in VERSIONS}
    for version, outcome in outcomes.items():
        print(f"Python {version}: {outcome}")
    sys.exit(0 if set(outcomes.values()) <= {"passed", "not found"} and any_ran(outcomes) else 1)


def any_ran(outcomes: dict[str, str]) -> bool:
    return any(outcome != "not found" for outcome in outcomes.values())


def run_tests(version: str, goal: str) -> str:
    """Return `passed`, `failed` or `not found`."""
    python = find_python(version)
    if python is None:
        print(f"Python {version} is not on the PATH, nor has pyenv or uv one", flush=True)
        return "not found"
    print(f"Python {version} is {python}", flush=True)
    command = ["make", "--no-print-directory", f"VENV=.venv-{version}", f"PYTHON={python}", goal]
    done = subprocess.run(command, cwd=ROOT, check=False)
    return "passed" if done.returncode == 0 else "failed"


def find_python(version: str) -> str | None:
    """Return the first interpreter that starts and is of this version."""
    return next((path for path in list_candidates(version) if is_version(path, version)), None)


def list_candidates(version: str) -> Iterator[str]:
    """Yield where an interpreter may be, best first: PATH, pyenv, uv; the newest release first."""
    for folder in os.get_exec_path():
        if found := shutil.which(f"python{version}", path=folder):
            yield found
    for root in (pyenv_versions(), uv_versions()):
        releases = [*root.glob(f"{version}.*"), *root.glob(f"cpython-{version}.*")]
        for release in sorted(releases, key=patch_number, reverse=True):
            yield str(release / "bin" / f"python{version}")


def pyenv_versions() -> Path:
    return Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")


def uv_versions() -> Path:
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(os.environ.get(UV_VARIABLE) or Path(data, "uv", "python"))


def patch_number(release: Path) -> int:
    """Return 7 for `3.11.7` and for `cpython-3.11.7-linux-x86_64-gnu`; -1 for what has none."""
    patch = release.name.removeprefix("cpython-").split("-")[0].split(".")[2:]
    return int(patch[0]) if patch and patch[0].isdecimal() else -1


def is_version(python: str, version: str) -> bool:
    """Whether `python` runs and is of `version`. A shim of pyenv may be there and not run."""
    script = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [python, "-c", script],
            capture_output=True,
            encoding="utf-8",
            timeout=LOOK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip() == version


if __name__ == "__main__":
    main()
