"""Search when it is hurried, gone back in, or opened by an address that makes no sense."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.page.browsing import Visit, visiting
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


@pytest.mark.parametrize(
    ("filters", "says", "clears"),
    [
        ("when=abc", "There is no such time as abc", "Any time"),
        ("when=0d", "There is no such time as 0d", "Any time"),
        ("when=99999999999d", "There is no such time as 99999999999d", "Any time"),
        ("when=2026-13-01..", "There is no such day as 2026-13-01", "Any time"),
        ("when=0001-01-01..9999-12-31", "There is no such day as 0001-01-01", "Any time"),
        ("when=..2999-07-01", "1 July 2999 is not here yet", "Any time"),
        ("when=2026-06-01..2026-05-01", "1 June 2026 comes after 1 May 2026", "Any time"),
        ("holds=blah", "There is no such day as blah", "What holds now"),
        ("holds=2026-02-31", "There is no such day as 2026-02-31", "What holds now"),
        ("holds=2026-11-01T00:00:00Z", "There is no such day as 2026-11-01T00", "What holds now"),
        ("holds=2031-07-01", "1 July 2031 is not here yet", "What holds now"),
        ("types=nonsense", "There is no type called nonsense", "Any type"),
        ("types=fact&tiers=deep", "There is no tier called deep", "Any tier"),
    ],
)
def test_a_filter_that_makes_no_sense_is_said_to_and_can_be_cleared(
    visit: Visit, filters: str, says: str, clears: str
) -> None:
    page = visit.open(f"/search?{filters}")

    expect(page.get_by_text(says)).to_be_visible()
    expect(page.locator("#found a")).to_have_count(0)
    expect(page.get_by_text("Loading")).to_have_count(0)
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    page.locator(".empty").get_by_role("button", name=clears, exact=True).click()

    expect(page.locator("#found a").first).to_be_visible()
    expect(page.locator("#search")).to_be_focused()
    assert visit.path == ("/search?types=fact" if "fact" in filters else "/search")


def test_a_filter_that_makes_no_sense_leaves_the_page_whole(visit: Visit) -> None:
    page = visit.open("/search?q=tea&holds=blah")
    expect(page.get_by_text("There is no such day as blah")).to_be_visible()
    expect(page.get_by_role("button", name="Validity: as of blah")).to_be_visible()

    visit.daemon.remember("The samovar is polished on Sundays")  # which asks anew
    page.keyboard.press("Enter")
    page.wait_for_timeout(800)

    assert visit.faults() == []
    assert visit.path == "/search?q=tea&holds=blah"


def test_any_number_of_days_is_a_time_and_has_a_name(visit: Visit) -> None:
    visit.daemon.remember("The lighthouse was painted white", title="White lighthouse")

    page = visit.open("/search?when=5d")

    expect(page.get_by_role("button", name="Time: last 5 days")).to_be_visible()
    expect(page.locator("#found")).to_contain_text("White lighthouse")
    assert "Atlas: maps for walkers" not in rows(page)


def test_back_and_forward_lead_to_the_question_though_the_box_has_the_focus(visit: Visit) -> None:
    page = visit.open("/search?q=tile+server+port")
    expect_first(page, "Tile server port")
    page.get_by_role("link", name="Search").first.click()
    page.keyboard.press("/")
    page.keyboard.type("bank imports")
    expect_first(page, "Bank imports run at six")
    expect(page.locator("#search")).to_be_focused()

    page.go_back()
    expect(page.locator("#search")).to_have_value("tile server port")
    expect_first(page, "Tile server port")
    page.go_forward()

    expect(page.locator("#search")).to_have_value("bank imports")
    expect_first(page, "Bank imports run at six")


def test_the_memory_beside_the_list_is_what_it_is_now(visit: Visit) -> None:
    kept = visit.daemon.remember("The gramophone plays at dusk", title="Gramophone")
    page = visit.open("/search?q=gramophone+at+dusk")
    beside = page.get_by_role("complementary")
    expect(beside).to_contain_text("plays at dusk")

    visit.daemon.ok("POST", f"/agent/update/{kept}", {"content": "The gramophone plays at dawn"})

    expect(beside).to_contain_text("plays at dawn")
    expect(beside).not_to_contain_text("plays at dusk")


def test_a_day_leads_to_what_a_memory_said_then(visit: Visit) -> None:
    page = visit.open("/search?q=old+port+tile+server&holds=2026-07-01")
    row = page.locator("#found a", has_text="Old port of the tile server")
    expect(row).to_have_attribute("href", re.compile(r"\?as_of=2026-07-01$"))
    beside = page.get_by_role("complementary")
    title = beside.get_by_role("link", name="Old port of the tile server")
    expect(title).to_have_attribute("href", re.compile(r"\?as_of=2026-07-01$"))

    page.locator("#search").focus()
    page.keyboard.press("Enter")

    expect(page.get_by_text("As it was on 1 July 2026")).to_be_visible()
    assert visit.path.endswith("?as_of=2026-07-01")


def test_the_memory_beside_the_list_says_what_it_said_on_that_day(visit: Visit) -> None:
    def as_then(route: Route) -> None:
        """Answer as if the journal went back that far."""
        answer = route.fetch()
        seen = answer.json()
        then = {**seen["memory"], "content": "It listened on port 8000 then."}
        route.fulfill(response=answer, json={**seen, "then": then})

    visit.page.route(re.compile(r"/data/memory/.*as_of=2026-07-01"), as_then)
    page = visit.open("/search?q=old+port+tile+server&holds=2026-07-01")

    beside = page.get_by_role("complementary")
    expect(beside).to_contain_text("As it was on 1 July 2026.")
    expect(beside).to_contain_text("It listened on port 8000 then.")
    expect(beside).not_to_contain_text("8081")


def test_clearing_a_filter_leaves_the_focus_among_the_filters(visit: Visit) -> None:
    page = visit.open("/search?types=fact&tiers=core")
    page.get_by_role("button", name="Any type").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Type", exact=True)).to_be_focused()

    page.get_by_role("button", name="Clear", exact=True).focus()
    page.keyboard.press("Enter")

    expect(page.get_by_role("button", name="Space", exact=True)).to_be_focused()
    assert visit.path == "/search"


def test_the_keys_are_explained_only_where_there_is_something_to_choose(visit: Visit) -> None:
    page = visit.open("/search")
    expect(page.get_by_text("choose a memory to read here")).to_be_visible()

    visit.open("/search?q=zebra+xylophone&tiers=core")
    expect(page.get_by_text("Nothing answers this")).to_be_visible()
    expect(page.get_by_text("choose a memory to read here")).to_have_count(0)


def test_on_a_phone_a_filter_has_a_title_and_a_way_to_close_it(
    browser: Browser, daemon: Daemon
) -> None:
    with visiting(browser, daemon, "phone") as visit:
        page = visit.open("/search?q=tile")
        page.wait_for_selector("#found a")
        lines = page.locator(".about").evaluate(
            "at => [...at.children].map(each => each.getClientRects().length && each.offsetHeight)"
        )
        assert max(lines) < 40, lines  # one line each

        page.get_by_role("button", name="Type").click()
        sheet = page.get_by_role("group", name="Type")
        expect(sheet.get_by_text("Type", exact=True)).to_be_in_viewport()
        assert visit.faults() == []
        sheet.get_by_role("button", name="Close").click()

        expect(sheet).to_have_count(0)
        expect(page.get_by_role("button", name="Type", exact=True)).to_be_focused()
