"""The frame of the page: the bar, keys, signing in, and what is served."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.page.browsing import Visit

VIEWS = ["/", "/search", "/graph", "/whispers", "/sleep", "/time"]


@pytest.mark.parametrize("path", VIEWS)
def test_every_view_opens_by_its_address(visit: Visit, path: str) -> None:
    visit.open(path)

    assert visit.path == path
    expect(visit.page.locator("nav a[aria-current]")).to_have_count(1)


@pytest.mark.parametrize(("key", "path"), [("s", "/search"), ("t", "/time"), ("h", "/")])
def test_g_and_a_letter_lead_to_a_view(visit: Visit, key: str, path: str) -> None:
    visit.open("/sleep")

    visit.page.keyboard.press("g")
    visit.page.keyboard.press(key)

    expect(visit.page).to_have_url(re.compile(f"/ui{re.escape(path)}$"))


def test_a_key_just_before_them_does_not_keep_g_and_a_letter_from_leading_on(visit: Visit) -> None:
    page = visit.open("/whispers")
    expect(page.get_by_role("heading", level=1)).to_be_visible()

    for key in ("j", "g", "n"):
        page.keyboard.press(key)

    page.wait_for_url("**/ui/sleep")


def test_a_question_mark_shows_the_keys_and_escape_closes_them(visit: Visit) -> None:
    visit.open("/sleep")

    visit.page.keyboard.press("?")
    expect(visit.page.get_by_role("dialog")).to_contain_text("go to Search")
    visit.page.keyboard.press("Escape")

    expect(visit.page.get_by_role("dialog")).to_have_count(0)


PRESS = """([key, modifiers]) => {
    const event = new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true, ...modifiers})
    document.body.dispatchEvent(event)
}"""
ALT_GR = {"modifierAltGraph": True}
ON_WINDOWS = {"ctrlKey": True, "altKey": True}


@pytest.mark.parametrize("modifiers", [ALT_GR, ON_WINDOWS, {**ALT_GR, **ON_WINDOWS}])
def test_a_sign_that_a_keyboard_makes_with_alt_gr_is_that_sign(
    visit: Visit, modifiers: dict[str, bool]
) -> None:
    memory = visit.daemon.remember(f"The gate squeaks {sorted(modifiers)}")
    page = visit.open(f"/m/{memory}")
    expect(page.get_by_role("button", name="Forget")).to_be_visible()

    page.evaluate(PRESS, ["#", modifiers])

    expect(page.get_by_text("Forgotten", exact=True)).to_be_visible()


def test_on_a_mac_alt_makes_signs(visit: Visit) -> None:
    visit.page.add_init_script("Object.defineProperty(navigator, 'platform', {value: 'MacIntel'})")
    memory = visit.daemon.remember("The gate squeaks on a Mac")
    page = visit.open(f"/m/{memory}")
    expect(page.get_by_role("button", name="Forget")).to_be_visible()

    page.evaluate(PRESS, ["#", {"altKey": True}])

    expect(page.get_by_text("Forgotten", exact=True)).to_be_visible()
    expect(page.locator(".toast")).to_contain_text("“The gate squeaks on a Mac”")


@pytest.mark.parametrize(
    ("key", "modifiers"),
    [
        ("#", {"ctrlKey": True}),
        ("#", {"metaKey": True}),
        ("#", {"altKey": True}),
        ("e", {"altKey": True}),
        ("e", ON_WINDOWS),
    ],
)
def test_what_belongs_to_the_browser_stays_its_own(
    visit: Visit, key: str, modifiers: dict[str, bool]
) -> None:
    memory = visit.daemon.remember("The gate does not squeak any more")
    page = visit.open(f"/m/{memory}")
    expect(page.get_by_role("button", name="Forget")).to_be_visible()

    page.evaluate(PRESS, [key, modifiers])
    page.keyboard.press("l")  # what would have happened has happened by now

    expect(page.get_by_role("dialog", name="Link with which memory?")).to_be_visible()
    expect(page.get_by_text("Forgotten", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Save")).to_have_count(0)


def test_a_page_that_is_not_there_has_a_heading(visit: Visit) -> None:
    page = visit.open("/nope")

    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
    assert visit.faults() == []
