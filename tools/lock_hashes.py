"""Writes `requirements.lock`: every version of `constraints.txt` with the hashes of its archives.

    python tools/lock_hashes.py        (`make lock`, after each change of constraints.txt)

pip itself says what it would install, once for each system and Python that the project is for, and
which hash that archive has; nothing is installed, and no address is written down. The lock serves
`pip install --require-hashes --no-deps -r requirements.lock` and `make audit`. A package that some
systems have no archive of stands there for the others only.

Archives that do not come from the public index (a mirror's own builds, files of this machine) are
refused: nobody else could check their hashes. Needs a pip that knows `--report` (23 or newer); the
Python that runs this brings it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
LOCK = ROOT / "requirements.lock"
INDEX_HOST = "files.pythonhosted.org"
PYTHONS = ("3.11", "3.12", "3.13")
GLIBC = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")
MACS = tuple(f"macosx_{version}" for version in ("14_0", "13_0", "12_0", "11_0", "10_15", "10_13"))
PLATFORMS: Mapping[str, tuple[str, ...]] = {
    "linux": (
        *(f"{each}_x86_64" for each in GLIBC),
        *("manylinux_2_12_x86_64", "manylinux2010_x86_64", "manylinux_2_5_x86_64"),
        "manylinux1_x86_64",
    ),
    "linux aarch64": tuple(f"{each}_aarch64" for each in GLIBC),
    "darwin": tuple(f"{each}_{chip}" for chip in ("arm64", "universal2") for each in MACS),
    "darwin x86_64": (
        *(f"{each}_{chip}" for chip in ("x86_64", "universal2") for each in MACS),
        *("macosx_10_12_x86_64", "macosx_10_9_x86_64", "macosx_10_9_universal2"),
    ),
    "win32": ("win_amd64",),
}
MISSING = re.compile(r"No matching distribution found for ([A-Za-z0-9_.-]+)==")
HEAD = """\
# Every version of constraints.txt with the hashes of its archives, made by `make lock`.
#
#     pip install --require-hashes --no-deps -r requirements.lock
"""


class LockError(Exception):
    """The lock cannot be made; the message says why."""


@dataclass(slots=True)
class LockedPackage:
    """A version, the hashes of its archives, and the systems and Pythons that have one."""

    version: str
    hashes: set[str] = field(default_factory=set)
    systems: set[str] = field(default_factory=set)
    pythons: set[str] = field(default_factory=set)


def main() -> int:
    pinned = read_pins(CONSTRAINTS.read_text(encoding="utf-8"))
    locked = {name: LockedPackage(version) for name, version in pinned.items()}
    try:
        for name, version, found, system, python in _find_archives(pinned):
            if version != pinned[name]:
                raise LockError(f"{name} {version} was found in place of {pinned[name]}")
            locked[name].hashes.add(found)
            locked[name].systems.add(system.split()[0])
            locked[name].pythons.add(python)
    except LockError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    LOCK.write_text(render_lock(locked), encoding="utf-8")
    print(f"{len(locked)} packages, {sum(len(each.hashes) for each in locked.values())} hashes")
    return 0


def read_pins(text: str) -> dict[str, str]:
    """Return the versions that a file pins, by the normalised names of packages."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    pairs = (line.split(";")[0].split("\\")[0].partition("==") for line in lines if "==" in line)
    return {normalize(name): version.strip() for name, _, version in pairs}


def read_hashes(text: str) -> dict[str, int]:
    """Return how many hashes a lock has of each package."""
    counts: dict[str, int] = {}
    name = ""
    for line in text.splitlines():
        if "==" in line and not line.startswith("#"):
            name = normalize(line.partition("==")[0].strip())
            counts[name] = 0
        if "--hash=sha256:" in line:
            counts[name] += 1
    return counts


def normalize(name: str) -> str:
    """Return a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def render_lock(locked: Mapping[str, LockedPackage]) -> str:
    """Return the lock's text, sorted, so that a change shows what changed."""
    lines = [HEAD.rstrip("\n")]
    for name, package in sorted(locked.items()):
        if not package.hashes:
            raise LockError(f"no system has an archive of {name} {package.version}")
        marker = render_marker(package)
        hashes = [f"    --hash=sha256:{each}" for each in sorted(package.hashes)]
        pin = f"{name}=={package.version}{marker and f' ; {marker}'}"
        lines += [" \\\n".join([pin, *hashes])]
    return "\n".join(lines) + "\n"


def render_marker(package: LockedPackage) -> str:
    """Return for which systems and Pythons a package can be had; nothing if for all of them."""
    told = []
    if package.systems != {system.split()[0] for system in PLATFORMS}:
        where = " or ".join(f"sys_platform == '{each}'" for each in sorted(package.systems))
        told.append(f"({where})" if " or " in where else where)
    if package.pythons != set(PYTHONS):
        told.append(f"python_version >= '{min(package.pythons, key=PYTHONS.index)}'")
    return " and ".join(told)


def _find_archives(pinned: Mapping[str, str]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield (package, version, hash, system, Python) of all that pip would install anywhere."""
    for system, tags in PLATFORMS.items():
        for python in PYTHONS:
            words = ["--only-binary=:all:", "--python-version", python, "--implementation", "cp"]
            words += [word for tag in tags for word in ("--platform", tag)]
            found = _ask_pip(pinned, words, system)
            print(f"{system}, Python {python}: {len(found)} of {len(pinned)}", flush=True)
            for name, version, digest in found:
                yield name, version, digest, system, python


def _ask_pip(
    pinned: Mapping[str, str], words: list[str], system: str
) -> list[tuple[str, str, str]]:
    """Return what pip would install of these; what a system has no archive of is left out."""
    wanted = dict(pinned)
    while wanted:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            listed = Path(folder) / "wanted.txt"
            listed.write_text("\n".join(f"{k}=={v}" for k, v in wanted.items()), encoding="utf-8")
            command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
            command += ["--no-deps", "--quiet", "--report", os.fspath(report), "--target", folder]
            done = subprocess.run(
                [*command, *words, "-r", os.fspath(listed)],
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            if not done.returncode:
                return list(_read_report(json.loads(report.read_text(encoding="utf-8"))))
        missing = MISSING.search(done.stderr)
        if missing is None or normalize(missing[1]) not in wanted:
            raise LockError(f"pip cannot say what it would install on {system}: {done.stderr}")
        del wanted[normalize(missing[1])]
    return []


def _read_report(report: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for each in report["install"]:
        name, version = normalize(each["metadata"]["name"]), each["metadata"]["version"]
        info = each["download_info"]
        if urlsplit(info["url"]).hostname != INDEX_HOST:
            raise LockError(f"{name} {version} does not come from the public index")
        yield name, version, info["archive_info"]["hashes"]["sha256"]


if __name__ == "__main__":
    sys.exit(main())
