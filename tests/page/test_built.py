"""The page that ships is the one that its source makes, and the source is sound."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from madeleine.server.page_door import PAGE_FOLDER
from tests.page.needs import WEB


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=WEB, capture_output=True, encoding="utf-8", check=False, timeout=380
    )


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.usefixtures("node")
@pytest.mark.timeout(400)
def test_the_committed_page_is_what_its_source_builds_byte_for_byte(tmp_path: Path) -> None:
    ran = run("npx", "vite", "build", "--logLevel", "error", "--outDir", str(tmp_path / "page"))
    assert ran.returncode == 0, ran.stderr

    built, committed = contents(tmp_path / "page"), contents(PAGE_FOLDER)

    assert sorted(built) == sorted(committed), "run `make page` and commit what it makes"
    assert [name for name in built if built[name] != committed[name]] == []


@pytest.mark.usefixtures("node")
@pytest.mark.timeout(400)
def test_the_parts_of_the_page_that_need_no_browser_pass_their_own_tests() -> None:
    ran = run("npm", "run", "--silent", "test")

    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-3000:]


def test_the_lock_names_no_address() -> None:
    assert "://" not in (WEB / "package-lock.json").read_text(encoding="utf-8")


def test_the_built_page_names_no_machine_and_no_foreign_address() -> None:
    """Nothing is loaded from a network: names of XML spaces and links in words are all there is."""
    for name, content in contents(PAGE_FOLDER).items():
        text = content.decode("utf-8")
        assert "sourceMappingURL" not in text, name
        assert str(WEB) not in text, name
        for piece in text.split("://")[1:]:
            assert piece.startswith(("www.w3.org/", "svelte.dev/e/")) or not piece[:1].isalnum(), (
                name,
                piece[:60],
            )


def test_no_text_is_ever_taken_for_markup() -> None:
    sources = [*WEB.glob("src/**/*.svelte"), *WEB.glob("src/**/*.ts")]
    assert sources

    for path in sources:
        text = path.read_text(encoding="utf-8")
        for forbidden in ("{@html", "innerHTML", "outerHTML", "insertAdjacentHTML", "eval("):
            assert forbidden not in text, (path.name, forbidden)
