"""One browser for all tests, one daemon for each module, one profile for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.page.browsing import CHROMIUM, Visit, start, visiting
from tests.server.running import Daemon, running

if not Path(CHROMIUM).exists():
    pytest.skip(f"{CHROMIUM} is not installed", allow_module_level=True)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = start(playwright)
        yield started
        started.close()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon that all tests of a module share; texts must differ between them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        with running(tmp_path_factory.mktemp("home")) as started:
            yield started


@pytest.fixture
def visit(browser: Browser, daemon: Daemon) -> Iterator[Visit]:
    """A signed-in window on the page."""
    with visiting(browser, daemon) as opened:
        yield opened
