"""One browser for all tests, one daemon for each module, one profile for each test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.page.browsing import CHROMIUM, Visit, start, visiting
from tests.server.running import Daemon, running

if not Path(CHROMIUM).exists():
    pytest.skip(f"{CHROMIUM} is not installed", allow_module_level=True)


# The build has fifteen minutes, and a browser takes its time. What keeps a person's words safe and
# the page whole is tested in it wholly, every view by its first journeys; the rest has its turn
# in `make soak`.
WHOLE = ("test_built.py", "test_steadiness.py")
JOURNEYS = {"test_memory.py": 14, "test_search.py": 5}
OF_OTHERS = 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seen: Counter[str] = Counter()
    for item in items:
        name = item.path.name
        if item.path.parent == Path(__file__).parent and name not in WHOLE:
            seen[name] += 1
            if seen[name] > JOURNEYS.get(name, OF_OTHERS):
                item.add_marker(pytest.mark.soak)


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
