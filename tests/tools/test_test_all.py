"""`make test-all`: which Pythons are found, and what becomes of a failure of one of them.

The interpreters and `make` are small scripts, so that every machine has the same ones.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools.test_all import ROOT

SHIM = "#!/bin/sh\necho 'command not found' >&2\nexit 127\n"


def write_script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def write_python(path: Path, version: str) -> None:
    write_script(path, f"#!/bin/sh\necho {version}\n")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A home with a PATH that has `make`, which fails where the folder has a file `fails-X.Y`."""
    script = f'#!/bin/sh\necho "$@" >> {tmp_path}/made\n'
    script += f"test ! -e {tmp_path}/fails-${{2#VENV=.venv-}}\n"
    write_script(tmp_path / "bin" / "make", script)
    return tmp_path


def run_all(machine: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "test_all.py")],
        env={"PATH": str(machine / "bin"), "HOME": str(machine)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_a_version_that_is_not_found_is_named_and_left_out(machine: Path) -> None:
    write_python(machine / "bin" / "python3.12", "3.12")

    done = run_all(machine)

    assert done.returncode == 0
    assert done.stdout.splitlines()[-3:] == [
        "Python 3.11: not found",
        "Python 3.12: passed",
        "Python 3.13: not found",
    ]
    made = (machine / "made").read_text(encoding="utf-8").split()
    assert made[1:] == ["VENV=.venv-3.12", f"PYTHON={machine}/bin/python3.12", "unit"]


def test_all_are_run_and_one_that_fails_fails_the_whole(machine: Path) -> None:
    for version in ("3.11", "3.12", "3.13"):
        write_python(machine / "bin" / f"python{version}", version)
    (machine / "fails-3.11").touch()

    done = run_all(machine)

    assert done.returncode == 1
    assert done.stdout.splitlines()[-3:] == [
        "Python 3.11: failed",
        "Python 3.12: passed",
        "Python 3.13: passed",
    ]


def test_no_python_at_all_is_a_failure(machine: Path) -> None:
    done = run_all(machine)

    assert done.returncode == 1
    assert done.stdout.count("not found") == 3


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([".pyenv/versions/3.12.1/bin/python3.12"], 0),
        ([".local/share/uv/python/cpython-3.12.4-linux-x86_64-gnu/bin/python3.12"], 0),
        ([f".pyenv/versions/3.12.{patch}/bin/python3.12" for patch in (2, 10, 9)], 1),
        ([".local/share/uv/python/cpython-3.12-linux/bin/python3.12"], None),
        (["elsewhere/bin/python3.12"], None),
        (
            [
                ".local/share/uv/python/cpython-3.12.9-linux/bin/python3.12",
                ".pyenv/versions/3.12.0/bin/python3.12",
            ],
            1,
        ),
    ],
)
def test_pyenv_and_uv_are_asked_for_their_newest_release(
    places: list[str], expected: int | None, machine: Path
) -> None:
    for place in places:
        write_python(machine / place, "3.12")
    write_script(machine / "bin" / "python3.12", SHIM)

    done = run_all(machine)

    wanted = "not found" if expected is None else "passed"
    assert f"Python 3.12: {wanted}" in done.stdout
    if expected is not None:
        assert f"Python 3.12 is {machine / places[expected]}" in done.stdout


def test_an_interpreter_of_another_version_is_not_taken(machine: Path) -> None:
    write_python(machine / "bin" / "python3.13", "3.12")

    assert "Python 3.13: not found" in run_all(machine).stdout


def test_the_hooks_run_what_make_runs() -> None:
    """Each hook calls a goal of the Makefile, so that what is checked stands once."""
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    hooks = {hook["entry"]: hook["stages"] for repo in config["repos"] for hook in repo["hooks"]}

    assert hooks == {"make lint": ["pre-commit"], "make types": ["pre-push"]}
    assert all(f"\n{entry.split()[1]}: " in makefile for entry in hooks)
