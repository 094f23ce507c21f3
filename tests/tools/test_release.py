"""`make release`: what it refuses, and the one place it writes to."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tools import release
from tools.release import ROOT, ReleaseRefused, check_archives, set_version

CHANGELOG = """# Changelog

## Unreleased

- Something new.

## 0.3.0 (2026-12-01)

## 0.2.0

- Something.
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "madeleine"
    package.mkdir(parents=True)
    (package / "version.py").write_text(
        (ROOT / "src" / "madeleine" / "version.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    return tmp_path


def ask_for(version: str, tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "release.py"), version, "--root", str(tree)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("0.4.0", "CHANGELOG.md has no section `## 0.4.0`"),
        ("0.2", "CHANGELOG.md has no section `## 0.2`"),
        ("0.2.01", "`0.2.01` is no version"),
        ("0.3.0", "the section `## 0.3.0` of CHANGELOG.md is empty"),
        ("Unreleased", "`Unreleased` is no version"),
        ("v0.2.0", "`v0.2.0` is no version"),
        ("0.2.0-rc1", "`0.2.0-rc1` is no version"),
        ("0.2.0+local", "`0.2.0+local` is no version"),
        ("0.2.0rc1", "CHANGELOG.md has no section `## 0.2.0rc1`"),
        ("", "`` is no version"),
    ],
)
def test_a_release_without_its_changelog_changes_nothing(
    version: str, reason: str, tree: Path
) -> None:
    before = (tree / "src" / "madeleine" / "version.py").read_bytes()

    asked = ask_for(version, tree)

    assert asked.returncode == 1
    assert f"no release: {reason}" in asked.stderr
    assert (tree / "src" / "madeleine" / "version.py").read_bytes() == before
    assert not (tree / "dist").exists()


def test_a_version_that_a_package_does_not_allow_changes_nothing(tree: Path) -> None:
    package = tree / "packages" / "engine"
    package.mkdir(parents=True)
    (package / "pyproject.toml").write_text(
        '[project]\nname = "engine"\ndependencies = ["madeleine-memory>=0.1,<0.2"]\n',
        encoding="utf-8",
    )
    version = tree / "src" / "madeleine" / "version.py"
    before = version.read_bytes()

    ran = ask_for("0.2.0", tree)

    assert ran.returncode == 1
    assert "packages/engine/pyproject.toml requires `madeleine-memory" in ran.stderr
    assert version.read_bytes() == before


def test_the_version_is_written_to_one_line(tree: Path) -> None:
    before = (tree / "src" / "madeleine" / "version.py").read_text(encoding="utf-8").splitlines()

    set_version(tree, "0.2.0")

    after = (tree / "src" / "madeleine" / "version.py").read_text(encoding="utf-8").splitlines()
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed == ['__version__ = "0.2.0"']


def write_archives(dist: Path, main_needs: str, model_version: str = "1.1.0") -> None:
    wheel = dist / "madeleine_memory-0.2.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(
            "madeleine_memory-0.2.0.dist-info/METADATA",
            f"Name: madeleine-memory\nVersion: 0.2.0\nRequires-Dist: {main_needs}\n",
        )
    name = f"madeleine_minilm-{model_version}"
    told = f"Name: madeleine-minilm\nVersion: {model_version}\n".encode()
    with tarfile.open(dist / f"{name}.tar.gz", "w:gz") as sdist:
        member = tarfile.TarInfo(f"{name}/PKG-INFO")
        member.size = len(told)
        sdist.addfile(member, io.BytesIO(told))


def test_archives_that_fit_each_other_are_released(tmp_path: Path) -> None:
    write_archives(tmp_path, "madeleine-minilm<2,>=1.1")

    check_archives(tmp_path, "0.2.0")

    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("needed", "model", "reason"),
    [
        (
            "madeleine-minilm @ file:///home/me/clone/packages/minilm",
            "1.1.0",
            "of this machine",
        ),
        (
            "numpy @ https://example.org/numpy.whl ; extra == 'fast'",
            "1.1.0",
            "of this machine",
        ),
        ("madeleine-minilm>=1.2,<2", "1.1.0", "but 1.1.0 is built"),
        ("Madeleine_MiniLM<2", "2.0.0", "but 2.0.0 is built"),
    ],
)
def test_requirements_that_nobody_else_can_fulfil_are_refused(
    needed: str, model: str, reason: str, tmp_path: Path
) -> None:
    write_archives(tmp_path, needed, model)

    with pytest.raises(ReleaseRefused, match=reason):
        check_archives(tmp_path, "0.2.0")


def test_a_wheel_of_another_version_is_refused(tmp_path: Path) -> None:
    write_archives(tmp_path, "numpy")

    with pytest.raises(ReleaseRefused, match=r"built as 0\.2\.0, not as 0\.2\.1"):
        check_archives(tmp_path, "0.2.1")


def test_a_command_that_fails_ends_the_release(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ReleaseRefused, match="ended with 3"):
        release.run([sys.executable, "-c", "print('why'); raise SystemExit(3)"])

    assert "why" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["uv", "pipx"])
def test_an_installer_finds_the_built_wheels_and_keeps_to_its_folder(
    name: str, tmp_path: Path
) -> None:
    dist, folder = tmp_path / "dist", tmp_path / "tools"

    command, places = release.tool_install("/usr/bin/installer", name, dist, folder)

    assert command[0] == "/usr/bin/installer"
    assert command[-1] == release.MAIN
    assert any(str(dist) in word for word in command)
    kept = [Path(where) for what, where in places.items() if what != "UV_PYTHON"]
    assert all(where.is_relative_to(folder) for where in kept)
    assert folder / "bin" in kept


def test_a_release_is_tried_by_its_own_command(tmp_path: Path) -> None:
    command = tmp_path / "madeleine"
    command.write_text("#!/bin/sh\necho '{\"results\": []}'\n", encoding="utf-8")
    command.chmod(0o755)

    with pytest.raises(ReleaseRefused, match="does not find"):
        release.try_command(command, tmp_path)
