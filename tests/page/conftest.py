"""One browser for all tests, one daemon for each module, one profile for each test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.left_out import NO_BROWSER, NO_NODE
from tests.page.browsing import Visit, start, visiting
from tests.page.needs import find_browser, leave_out, why_no_node
from tests.server.running import Daemon, running

# `make test` has ten minutes, and a browser takes its time. Every view is tested in it by its first
# journeys, more of them where a person's words could be lost; the rest has its turn in `make soak`.
WHOLE = ("test_built.py", "test_steadiness.py", "test_activity.py", "test_proposals.py")
JOURNEYS = {
    "test_memory.py": 8,
    "test_search.py": 3,
    "test_home.py": 4,
    "test_write.py": 3,
    "test_project.py": 2,
}
OF_OTHERS = 1


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
    path, why_not = find_browser()
    if path is None:
        leave_out(NO_BROWSER, why_not)
    with sync_playwright() as playwright:
        started = start(playwright)
        yield started
        started.close()


@pytest.fixture(scope="session")
def node() -> None:
    """What builds the page's source."""
    if why_not := why_no_node():
        leave_out(NO_NODE, why_not)


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
