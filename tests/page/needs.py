"""What the page's tests need and pip does not install: a browser, and Node for the page's source.

Without them such tests are skipped, each with the reason, and the end of the run says what to
install. Where they may not be left out, as in the build, `PAGE_TESTS=required` turns
each skip into a failure.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from playwright.sync_api import sync_playwright

WEB = Path(__file__).parents[2] / "web"
REQUIRED = "PAGE_TESTS"
_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "google-chrome-beta",
    "chrome",
    "microsoft-edge-stable",
    "microsoft-edge",
    "microsoft-edge-beta",
    "msedge",
)
_PLACES = (
    "/snap/bin/chromium",
    "/var/lib/flatpak/exports/bin/org.chromium.Chromium",
    "/var/lib/flatpak/exports/bin/com.google.Chrome",
    "/opt/google/chrome/chrome",
    "/opt/microsoft/msedge/msedge",
    "/usr/lib/chromium/chromium",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "~/Applications/Chromium.app/Contents/MacOS/Chromium",
    "~/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "~/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_HEADLESS = ("headless_shell", "chrome-headless-shell")  # what playwright may have alone
_OLDEST_NODE = (20, 19)
_VERSION_SECONDS = 20.0


def leave_out(need: str, why: str) -> NoReturn:
    """Skip the test, or fail it where nothing may be left out."""
    reason = f"{need}: {why}"
    if os.environ.get(REQUIRED) == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@functools.cache
def find_browser() -> tuple[str | None, str]:
    """Return where a browser is that runs, or why there is none. `CHROMIUM` names the only one
    that counts."""
    given = os.environ.get("CHROMIUM")
    if given:
        path = shutil.which(given)
        return (path, "") if path and runs(path) else (None, f"CHROMIUM={given} does not run")
    path = next((each for each in _candidates() if runs(each)), None)
    return path, "no Chromium, Chrome or Edge was found"


def _candidates() -> Iterator[str]:
    """Give browsers in the order in which they are tried; playwright's own is asked for last,
    since it takes a moment."""
    named = (shutil.which(each) for each in _NAMES)
    yield from (each for each in named if each)
    yield from (str(each) for place in _PLACES if (each := Path(place).expanduser()).exists())
    yield from own_browsers(_playwrights_place())


def _playwrights_place() -> Path:
    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path)


def own_browsers(place: Path) -> Iterable[str]:
    """Give the browsers that playwright installed: the one it would start, or of any release the
    one without windows."""
    if place.exists():
        yield str(place)
    folder = next((each.parent for each in place.parents if each.name.startswith("chromium")), None)
    for name in _HEADLESS if folder else ():
        yield from map(str, sorted((folder or place).glob(f"chromium_headless_shell-*/*/{name}")))


def runs(path: str) -> bool:
    """Whether a program is a browser that starts; some systems have a stub in its place."""
    try:
        said = subprocess.run(
            [path, "--version", "--no-sandbox"],
            capture_output=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return said.returncode == 0 and re.search(rb"Chrom|Edge", said.stdout) is not None


@functools.cache
def why_no_node() -> str:
    """Return why the page's source cannot be built; nothing if it can."""
    node, npm, npx = (shutil.which(each) for each in ("node", "npm", "npx"))
    if node is None or npm is None or npx is None:
        return "node, npm or npx is not installed"
    said = subprocess.run([node, "--version"], capture_output=True, encoding="utf-8", check=False)
    found = re.match(r"v(\d+)\.(\d+)", said.stdout)
    if found is None or (int(found[1]), int(found[2])) < _OLDEST_NODE:
        return f"{said.stdout.strip() or 'node'} is too old"
    return "" if (WEB / "node_modules").is_dir() else "web/node_modules is not there"
