"""On a machine without a browser or Node `make test` passes, and says what it left out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.left_out import NO_BROWSER, NO_NODE, what_to_install
from tests.page.needs import find_browser, own_browsers, runs, why_no_node

ROOT = Path(__file__).parents[1]
BROWSER = "#!/bin/sh\necho 'Chromium 140.0'\n"
STUB = "#!/bin/sh\necho 'requires the chromium snap to be installed' >&2\nexit 10\n"


def page_tests(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run tests of the page in a process of its own, as `make test` does."""
    surroundings = {name: each for name, each in os.environ.items() if "PYTEST" not in name}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "not soak", *words],
        cwd=ROOT,
        env={**surroundings, "PAGE_TESTS": "", **variables},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=170,
    )


@pytest.mark.timeout(180)
def test_without_a_browser_each_test_of_the_page_is_skipped_and_the_end_says_what_to_install() -> (
    None
):
    at_length = "byte_for_byte or own_tests"  # what Node does, without a browser
    words = ["tests/page", "-m", "soak or not soak", "-k", f"not ({at_length})"]
    ran = page_tests(*words, CHROMIUM="/nowhere")

    assert ran.returncode == 0, ran.stdout
    *told, line = ran.stdout.strip().splitlines()
    counted = re.fullmatch(r"\d+ passed, (\d+) skipped, \d+ deselected in .*", told[-1])
    assert counted is not None, told[-1]
    reason = f"{NO_BROWSER}: CHROMIUM=/nowhere does not run"
    skips = [re.match(r"SKIPPED \[(\d+)\] tests/page/.*", each) for each in told if reason in each]
    assert sum(int(each[1]) for each in skips if each) == int(counted[1]) > 150
    assert line.startswith(f"left out, {counted[1]} tests of the page: install Chromium")
    assert "Traceback" not in ran.stdout + ran.stderr


def test_without_node_what_builds_the_page_is_skipped_and_the_end_says_what_to_install() -> None:
    ran = page_tests("tests/page/test_built.py", PATH="/nowhere")

    assert ran.returncode == 0, ran.stdout
    assert "3 passed, 2 skipped" in ran.stdout
    assert (
        ran.stdout.strip()
        .splitlines()[-1]
        .startswith("left out, 2 tests of the page: install Node 20.19 or newer")
    )


@pytest.mark.parametrize(
    ("words", "variables", "reason"),
    [
        (["tests/page/test_frame.py"], {"CHROMIUM": "/nowhere"}, NO_BROWSER),
        (["tests/page/test_built.py"], {"PATH": "/nowhere"}, NO_NODE),
    ],
)
def test_where_they_are_required_tests_that_would_be_skipped_fail(
    words: list[str], variables: dict[str, str], reason: str
) -> None:
    ran = page_tests(*words, PAGE_TESTS="required", **variables)

    assert ran.returncode == 1
    assert "skipped" not in ran.stdout.splitlines()[-1]
    assert reason in ran.stdout


def test_the_build_requires_them() -> None:
    assert "export PAGE_TESTS=required\n" in (ROOT / ".ci" / "run").read_text("utf-8")


@pytest.mark.parametrize(
    "name",
    [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "microsoft-edge",
        "microsoft-edge-stable",
    ],
)
def test_any_browser_on_the_path_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    place = _program(tmp_path / name, BROWSER.replace("Chromium", "Microsoft Edge"))

    assert find_browser.__wrapped__() == (place, "no Chromium, Chrome or Edge was found")


def test_a_stub_in_the_place_of_a_browser_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    _program(tmp_path / "chromium-browser", STUB)
    chrome = _program(tmp_path / "google-chrome", BROWSER)

    assert find_browser.__wrapped__()[0] == chrome


@pytest.mark.parametrize("given", ["by its path", "by its name"])
def test_the_browser_that_is_named_goes_before_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    _program(tmp_path / "chromium", BROWSER)
    mine = _program(tmp_path / "mine", BROWSER)
    monkeypatch.setenv("CHROMIUM", mine if given == "by its path" else "mine")

    assert find_browser.__wrapped__()[0] == mine


def test_the_browser_that_playwright_installed_is_found(tmp_path: Path) -> None:
    whole = tmp_path / "chromium-1200" / "chrome-linux" / "chrome"
    shell = tmp_path / "chromium_headless_shell-1200" / "chrome-linux" / "headless_shell"
    for each in (whole, shell):
        each.parent.mkdir(parents=True)
        _program(each, BROWSER)

    both = [*own_browsers(whole)]
    whole.unlink()

    assert both == [str(whole), str(shell)]
    assert [*own_browsers(whole)] == [str(shell)]
    assert runs(str(shell))


def test_an_old_node_is_as_good_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("node", "npm", "npx"):
        _program(tmp_path / name, "#!/bin/sh\necho v18.19.0\n")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert why_no_node.__wrapped__() == "v18.19.0 is too old"


def test_nothing_is_said_when_nothing_was_left_out() -> None:
    assert what_to_install(["root reads everything"]) is None


def _program(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path)
