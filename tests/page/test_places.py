"""Back and Forward lead to where somebody was: what was loaded, in sight, chosen and focused."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.browsing import Visit, visiting
from tests.server.running import Daemon

MANY = 130


@pytest.fixture(scope="module", autouse=True)
def full(daemon: Daemon) -> None:
    """More than any list shows at once."""
    drafts = [
        {
            "content": f"Thing number {n} is kept in drawer {n}. " + "It is wide. " * (n % 40),
            "title": f"Thing number {n}",
            "created": f"2026-{1 + n // 28:02}-{1 + n % 28:02}T10:00:00Z",
        }
        for n in range(MANY)
    ]
    for start in range(0, MANY, 50):
        daemon.ok("POST", "/agent/remember/batch", {"items": drafts[start : start + 50]})


def top_of(page: Page, row: str) -> float:
    """Where a row stands in the window."""
    return float(page.locator(row).first.evaluate("each => each.getBoundingClientRect().top"))


def scroll_to_the_row(page: Page, number: int) -> str:
    """Scroll on and on until so many rows are there, and return one that is in sight."""
    rows = page.locator("a.line")
    while rows.count() < number:
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.wait_for_timeout(100)
    page.evaluate("scrollBy(0, -1500)")
    page.wait_for_timeout(300)  # until the heights of the rows are known
    seen = rows.evaluate_all(
        "all => all.filter(each => each.getBoundingClientRect().top > 300).map(each =>"
        " each.getAttribute('href'))[0]"
    )
    return f'a.line[href="{seen}"]'


def expect_at(page: Page, row: str, top: float) -> None:
    page.wait_for_function(
        "([row, top]) => Math.abs(document.querySelector(row)?.getBoundingClientRect().top - top)"
        " < 3",
        arg=[row, top],
    )


def test_back_from_a_memory_leads_to_the_same_place_in_the_search(visit: Visit) -> None:
    page = visit.open("/search")
    row = scroll_to_the_row(page, 100)
    rows, top = page.locator("a.line").count(), top_of(page, row)

    page.locator(row).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thing number")
    page.go_back()

    expect_at(page, row, top)
    assert page.locator("a.line").count() == rows
    expect(page.locator(row)).to_be_focused()
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thing number")
    page.go_back()
    expect_at(page, row, top)
    page.reload()
    expect_at(page, row, top)


def test_back_leads_to_the_row_that_the_keys_had_chosen(visit: Visit) -> None:
    page = visit.open("/search?q=thing+drawer")
    page.wait_for_selector("a.line")
    page.keyboard.press("Escape")
    for _ in range(5):
        page.keyboard.press("j")
    chosen = page.locator("a.chosen .title").inner_text()

    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(chosen)
    page.keyboard.press("b")

    expect(page.locator("a.chosen .title")).to_have_text(chosen)
    page.keyboard.press("k")  # the box has not taken the focus
    expect(page.locator("a.chosen .title")).not_to_have_text(chosen)
    expect(page.locator("#search")).to_have_value("thing drawer")


def test_back_leads_to_the_same_place_in_the_timeline(visit: Visit) -> None:
    page = visit.open("/time")
    for _ in range(2):
        before = page.locator("a.line").count()
        page.get_by_role("button", name="Show what was before").click()
        expect(page.locator("a.line")).not_to_have_count(before)
    row = scroll_to_the_row(page, 120)
    rows, top = page.locator("a.line").count(), top_of(page, row)

    page.locator(row).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thing number")
    page.go_back()

    expect_at(page, row, top)
    assert page.locator("a.line").count() == rows


def test_a_day_with_many_memories_is_shown_whole_and_returned_to(visit: Visit) -> None:
    page = visit.open("/time?day=2026-10-01")
    while page.get_by_role("button", name="Show more").count():
        before = page.locator("a.line").count()
        page.get_by_role("button", name="Show more").click()
        expect(page.locator("a.line")).not_to_have_count(before)
    row = scroll_to_the_row(page, 100)
    top = top_of(page, row)

    page.locator(row).click()
    expect(page.get_by_text("As it was on 1 October 2026.")).to_be_visible()
    page.go_back()

    expect_at(page, row, top)


def test_a_row_that_is_gone_by_then_does_not_lose_the_place(visit: Visit) -> None:
    page = visit.open("/search")
    row = scroll_to_the_row(page, 90)
    following = page.locator(f"{row} + a.line").get_attribute("href")

    page.locator(row).click()
    page.get_by_role("button", name=re.compile("Forget")).click()
    expect(page.get_by_text("Forgotten", exact=True)).to_be_visible()
    page.go_back()

    expect(page.locator(f'a.line[href="{following}"]')).to_be_in_viewport()
    expect(page.locator(row)).to_have_count(0)


def test_what_is_remembered_meanwhile_takes_no_row_away(visit: Visit) -> None:
    page = visit.open("/search")
    row = scroll_to_the_row(page, 90)
    rows = page.locator("a.line").count()

    visit.daemon.remember("Something that nobody expected", title="Unexpected")

    expect(page.get_by_role("link", name="Unexpected")).to_have_count(1)
    assert page.locator("a.line").count() >= rows
    expect(page.locator(row)).to_be_in_viewport()


def test_another_view_and_a_new_search_begin_at_the_top(visit: Visit) -> None:
    page = visit.open("/search")
    scroll_to_the_row(page, 90)

    page.keyboard.press("Escape")
    for key in "gt":
        page.keyboard.press(key)
    expect(page.get_by_role("heading", level=1, name="Time")).to_be_visible()
    assert page.evaluate("scrollY") == 0
    for key in "gs":
        page.keyboard.press(key)
    expect(page.locator("a.line")).to_have_count(30)
    expect(page.locator("#search")).to_be_focused()
    assert page.evaluate("scrollY") == 0


def test_back_leads_to_the_same_place_among_the_prompts(browser: Browser, daemon: Daemon) -> None:
    for n in range(70):
        daemon.ok("POST", "/agent/whisper", {"prompt": f"what about drawer {n}, please?"})
    with visiting(browser, daemon) as visit:
        page = visit.open("/whispers")
        page.get_by_role("button", name="Older prompts").click()
        line = page.locator("[data-line]", has_text="what about drawer 2, please?")
        line.scroll_into_view_if_needed()
        name = f'[data-line="{line.get_attribute("data-line")}"]'
        top = top_of(page, name)

        for key in "gs":
            page.keyboard.press(key)
        page.wait_for_selector("#search")
        page.go_back()

        expect_at(page, name, top)


def test_the_link_past_the_bar_leads_to_the_content(visit: Visit) -> None:
    page = visit.open("/search")
    page.wait_for_selector("a.line")

    page.get_by_role("link", name="Skip to the content").focus()
    page.keyboard.press("Enter")

    expect(page.locator("main")).to_be_focused()


def test_back_leads_to_the_same_place_among_the_runs(visit: Visit) -> None:
    for n in range(25):
        visit.daemon.remember(f"Night number {n} was quiet")
        visit.daemon.ok("POST", "/admin/tasks/importance_scorer/run", {}, wait="true")
    page = visit.open("/sleep?runs=all&job=importance_scorer")
    runs = page.locator('[aria-labelledby="runs"] li a')
    expect(runs).to_have_count(15)
    page.get_by_role("button", name="Earlier runs").click()
    expect(runs.nth(24)).to_be_attached()
    row = f'a[href="{runs.nth(22).get_attribute("href")}"]'
    page.locator(row).scroll_into_view_if_needed()
    top = top_of(page, row)

    page.locator(row).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Importance")
    page.go_back()

    expect_at(page, row, top)
    expect(page.locator(row)).to_be_focused()


def test_more_comes_however_the_end_is_reached(visit: Visit) -> None:
    """Also when somebody is at the new end in the very frame in which it was drawn."""
    page = visit.open("/search")
    page.wait_for_selector("a.line")

    page.evaluate(
        """() => new MutationObserver(() => scrollTo(0, document.body.scrollHeight))
            .observe(document.querySelector('#found'), {childList: true})"""
    )
    page.evaluate("scrollTo(0, document.body.scrollHeight)")

    expect(page.locator("a.line").nth(119)).to_be_attached()
