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


def test_a_question_mark_shows_the_keys_and_escape_closes_them(visit: Visit) -> None:
    visit.open("/sleep")

    visit.page.keyboard.press("?")
    expect(visit.page.get_by_role("dialog")).to_contain_text("go to Search")
    visit.page.keyboard.press("Escape")

    expect(visit.page.get_by_role("dialog")).to_have_count(0)
