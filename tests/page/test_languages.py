"""The page speaks the language of the browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.page.browsing import Visit, visiting
from tests.page.world import furnish
from tests.server.running import Daemon

# A language as a browser names it; Search, an empty list, and a memory's button to edit it.
SAID = {
    "de-AT": ("Suche", "Keine Erinnerung besteht diese Filter", "Bearbeiten"),
    "es-MX": ("Buscar", "Ningún recuerdo pasa estos filtros", "Editar"),
    "ja-JP": ("検索", "条件に合う記憶はありません", "編集"),
    "zh-CN": ("搜索", "没有符合条件的记忆", "编辑"),
    "fr-FR": ("Search", "No memory passes these filters", "Edit"),
}
VIEWS = ("/", "/search", "/graph", "/whispers", "/sleep", "/time", "/activity", "/trash")


@pytest.fixture(scope="module")
def ids(daemon: Daemon) -> dict[str, str]:
    return furnish(daemon)


@pytest.fixture(params=SAID)
def abroad(
    request: pytest.FixtureRequest, browser: Browser, daemon: Daemon
) -> Iterator[tuple[str, Visit]]:
    """A browser whose owner reads that language."""
    with visiting(browser, daemon, locale=request.param) as opened:
        yield request.param, opened


def test_the_page_speaks_as_the_browser_does(
    abroad: tuple[str, Visit], ids: dict[str, str]
) -> None:
    locale, visit = abroad
    search, nothing, edit = SAID[locale]
    page = visit.open("/search?spaces=nowhere")
    language = locale.partition("-")[0] if search != "Search" else "en"
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator("nav a[href='/ui/search']")).to_have_text(search)
    expect(page.get_by_text(nothing)).to_be_visible()
    visit.open(f"/m/{ids['Green tea, no sugar']}")
    expect(page.get_by_role("button", name=edit).first).to_be_visible()


@pytest.mark.parametrize("path", VIEWS)
def test_every_view_has_no_barriers_and_no_empty_slots_in_another_language(
    path: str, browser: Browser, daemon: Daemon, ids: dict[str, str]
) -> None:
    with visiting(browser, daemon, locale="de-DE") as visit:
        page = visit.open(path)
        page.wait_for_timeout(500)
        assert visit.faults() == []
        assert "{" not in page.locator("main").inner_text()
        visit.picture(f"german{path.replace('/', '-')}")


def test_dates_and_numbers_are_written_as_the_language_writes_them(
    browser: Browser, daemon: Daemon, ids: dict[str, str]
) -> None:
    with visiting(browser, daemon, locale="de-DE") as visit:
        page = visit.open("/time")
        expect(page.locator("#timeline h2").filter(has_text="12. März 2026")).to_be_visible()
