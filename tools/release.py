"""Makes a release: version, changelog, archives of all packages, and a try in an empty environment.

    python tools/release.py 0.2.0        (`make release VERSION=0.2.0`)

The order: the changelog must have a section for the version; the version is written to its one
place; `dist/` is emptied, and an sdist and a wheel of every package are built into it; their
requirements are checked; the wheels are installed into a new environment and a memory is written
and found there, and so with `uv tool` and `pipx` where they are found. Nothing is committed, tagged
or published. Stopping anywhere is safe: run it again.
"""

from __future__ import annotations

import argparse
import email.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Mapping, Sequence
from email.message import Message
from pathlib import Path
from types import MappingProxyType

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parents[1]
VERSION_LINE = re.compile(r'^__version__ = "(.*)"$', re.MULTILINE)
MAIN = "madeleine-memory"

REMEMBERED = "We chose SQLite for the index because a single file is easy to back up."
ASKED = "which database did we pick?"


class ReleaseRefused(Exception):
    """A release cannot be made of this tree. The message says why."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Build a release into dist/ and try it.")
    parser.add_argument("version", help="for example 0.2.0")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    dist = given.root / "dist"
    try:
        check_changelog(given.root, check_version(given.version))
        check_requirements(given.root, given.version)
        set_version(given.root, given.version)
        build_archives(given.root, dist)
        check_archives(dist, given.version)
        try_wheels(dist)
        try_tool_installers(dist)
    except ReleaseRefused as refusal:
        sys.exit(f"no release: {refusal}")
    print(f"{given.version} is in {dist}, installed and tried. Nothing is published:")
    print(f"  git commit -am 'Release {given.version}' && git tag v{given.version}")


def check_version(text: str) -> str:
    """Return the version as it is, if it is written as Python packages write versions."""
    try:
        if str(Version(text)) == text and Version(text).local is None:
            return text
    except InvalidVersion:
        pass
    raise ReleaseRefused(f"`{text}` is no version; it looks like 0.2.0 or 0.2.0rc1")


def check_changelog(root: Path, version: str) -> None:
    """Refuse a version that CHANGELOG.md has no section for, or an empty one."""
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.compile(rf"^## \[?{re.escape(version)}\]?(?![\w.+-]).*$", re.MULTILINE)
    if (found := heading.search(changelog)) is None:
        raise ReleaseRefused(f"CHANGELOG.md has no section `## {version}`")
    if not changelog[found.end() :].split("\n## ")[0].strip():
        raise ReleaseRefused(f"the section `## {version}` of CHANGELOG.md is empty")


def check_requirements(root: Path, version: str) -> None:
    """Refuse a version that a package of `packages/` does not allow, before anything is built."""
    for place in sorted(root.glob("packages/*/pyproject.toml")):
        needs = tomllib.loads(place.read_text(encoding="utf-8"))["project"].get("dependencies", [])
        for needed in map(Requirement, needs):
            is_main = canonicalize_name(needed.name) == canonicalize_name(MAIN)
            if is_main and not needed.specifier.contains(version, prereleases=True):
                shown = place.relative_to(root)
                raise ReleaseRefused(f"{shown} requires `{needed}`; let it allow {version}")


def set_version(root: Path, version: str) -> None:
    """Write the version to the one place that has it."""
    place = root / "src" / "madeleine" / "version.py"
    text = place.read_text(encoding="utf-8")
    place.write_text(VERSION_LINE.sub(f'__version__ = "{version}"', text), encoding="utf-8")


def build_archives(root: Path, dist: Path) -> None:
    """Build an sdist of every package, and from it a wheel, into an empty `dist`."""
    shutil.rmtree(dist, ignore_errors=True)
    for project in [
        root,
        *sorted(found.parent for found in root.glob("packages/*/pyproject.toml")),
    ]:
        run([sys.executable, "-m", "build", "--outdir", str(dist), str(project)])


def check_archives(dist: Path, version: str) -> None:
    """Refuse archives that name a path or URL, or that need another version of each other."""
    archives = {path: read_metadata(path) for path in sorted(dist.iterdir())}
    versions = {canonicalize_name(told["Name"]): told["Version"] for told in archives.values()}
    main = versions.get(canonicalize_name(MAIN))
    if main != version:
        raise ReleaseRefused(f"{MAIN} was built as {main}, not as {version}")
    for path, metadata in archives.items():
        for needed in map(Requirement, metadata.get_all("Requires-Dist", [])):
            if needed.url is not None:
                raise ReleaseRefused(f"{path.name} requires `{needed}`, of this machine only")
            built = versions.get(canonicalize_name(needed.name))
            if built is not None and not needed.specifier.contains(built, prereleases=True):
                raise ReleaseRefused(f"{path.name} requires `{needed}`, but {built} is built")


def read_metadata(archive: Path) -> Message:
    """Return what a wheel or an sdist says about itself."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
            return email.parser.BytesParser().parsebytes(wheel.read(name))
    with tarfile.open(archive) as sdist:
        member = sdist.extractfile(archive.name.removesuffix(".tar.gz") + "/PKG-INFO")
        if member is None:
            raise ReleaseRefused(f"{archive.name} has no PKG-INFO")
        return email.parser.BytesParser().parsebytes(member.read())


def try_wheels(dist: Path) -> None:
    """Install all wheels into an empty environment, write a memory there and find it.

    Our packages come from `dist` alone, so an older one of an index cannot take their place.
    """
    with tempfile.TemporaryDirectory(prefix="madeleine-release-") as folder:
        venv.create(Path(folder, "venv"), with_pip=True)
        commands = Path(folder, "venv", "bin")
        wheels = [str(wheel) for wheel in sorted(dist.glob("*.whl"))]
        pip = [str(commands / "python"), "-m", "pip", "install", "--quiet"]
        run([*pip, "--no-index", "--no-deps", *wheels])
        run([*pip, *wheels])
        run([str(commands / "python"), "-m", "pip", "check"])
        try_command(commands / "madeleine", Path(folder))


def try_tool_installers(dist: Path) -> None:
    """Install as people do, with those of `uv tool` and `pipx` that are here, and try what is there
    then. Both keep to a folder that is thrown away."""
    for name in ("uv", "pipx"):
        if (installer := shutil.which(name)) is None:
            print(f"{name} is not here, and so not tried")
            continue
        with tempfile.TemporaryDirectory(prefix=f"madeleine-{name}-") as folder:
            command, places = tool_install(installer, name, dist.resolve(), Path(folder))
            run(command, places=places)
            try_command(Path(folder, "bin", "madeleine"), Path(folder))


def tool_install(
    installer: str, name: str, dist: Path, folder: Path
) -> tuple[list[str], dict[str, str]]:
    """Return the command that installs what is in `dist` below a folder, and the variables that
    keep it there."""
    if name == "uv":
        command = [installer, "tool", "install", "--find-links", str(dist), MAIN]
        return command, {
            "UV_TOOL_DIR": str(folder / "tools"),
            "UV_TOOL_BIN_DIR": str(folder / "bin"),
            "UV_PYTHON": sys.executable,
        }
    command = [installer, "install", f"--pip-args=--find-links {dist}", MAIN]
    return command, {"PIPX_HOME": str(folder / "tools"), "PIPX_BIN_DIR": str(folder / "bin")}


def try_command(madeleine: Path, folder: Path) -> None:
    """Write a memory with an installed command, and refuse the release if it is not found."""
    home = ["--home", str(folder / "home")]
    run([str(madeleine), "remember", REMEMBERED, *home], cwd=str(folder))
    answer = json.loads(run([str(madeleine), "recall", ASKED, "--json", *home], cwd=str(folder)))
    if not any(REMEMBERED in hit["memory"]["content"] for hit in answer["results"]):
        raise ReleaseRefused(f"{madeleine} does not find `{REMEMBERED}`")


def run(
    command: list[str], cwd: str | None = None, places: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Run a command without the environment's PYTHONPATH and MADELEINE_*; return its output."""
    print("$", *command, flush=True)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONPATH" and not name.startswith("MADELEINE_")
    }
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**kept, **places},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        print(done.stdout)
        raise ReleaseRefused(f"`{' '.join(command)}` ended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    main()
