"""Search when it is hurried, gone back in, or opened by an address that makes no sense."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.page.browsing import Visit
from tests.page.world import furnish
from tests.server.running import Daemon, running

# Answers come late, as they do from a busy machine.
SLOW = """(() => {
    const real = window.fetch
    window.fetch = async (...asked) => {
        const answer = await real(...asked)
        if (String(asked[0]).includes('/data/search')) await new Promise(go => setTimeout(go, 500))
        return answer
    }
})()"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A furnished home, with the real model: what is found must make sense."""
    with running(tmp_path_factory.mktemp("home")) as started:
        furnish(started)
        yield started


def rows(page: Page) -> list[str]:
    return page.locator("#found a .title").all_inner_texts()


def expect_first(page: Page, title: str) -> None:
    expect(page.locator("#found a .title").first).to_have_text(title)


@pytest.mark.parametrize("before", ["/search?q=tea", "/search"])
def test_enter_opens_the_answer_to_what_stands_in_the_box(visit: Visit, before: str) -> None:
    visit.page.add_init_script(SLOW)
    page = visit.open(before)
    page.wait_for_selector("#found a")
    page.locator("#search").focus()
    page.locator("#search").select_text()

    page.keyboard.insert_text("Wicklow Way in spring")  # as if pasted
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Walk the Wicklow Way in spring")


def test_enter_opens_nothing_when_one_has_typed_on_or_left_meanwhile(visit: Visit) -> None:
    visit.page.add_init_script(SLOW)
    page = visit.open("/search")
    page.wait_for_selector("#found a")

    page.keyboard.insert_text("bank imports")
    page.keyboard.press("Enter")
    page.keyboard.type(" at six")
    expect(page.locator("#found")).to_have_attribute("data-for", "bank imports at six")
    assert visit.path.startswith("/search?")
    page.keyboard.type(" o'clock")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Time").first.click()
    page.wait_for_timeout(1_200)

    assert visit.path == "/time"
