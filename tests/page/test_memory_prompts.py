"""From a memory to the prompts it was whispered for, in a real browser, with thumbs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.page.browsing import Visit, visiting
from tests.page.nights import ask
from tests.page.world import furnish
from tests.server.running import Daemon, running

PROMPT = "on which day do we deploy?"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A home in which the same was asked in three sessions, with the real model."""
    with running(tmp_path_factory.mktemp("prompts")) as started:
        furnish(started)
        for number in range(3):
            ask(started, f"s-{number}", "atlas", PROMPT)
        ask(started, "s-9", "ledger", "which database did we choose for the ledger, and why?")
        yield started


@pytest.fixture
def tuesdays(daemon: Daemon) -> str:
    found = daemon.ok("GET", "/agent/list", limit=100)["memories"]
    return next(str(each["id"]) for each in found if each["title"] == "Deploys happen on Tuesdays")


def test_a_memory_leads_to_all_prompts_it_was_whispered_for(visit: Visit, tuesdays: str) -> None:
    page = visit.open(f"/m/{tuesdays}")
    prompts = page.get_by_role("region", name="Whispered for")

    expect(prompts.get_by_role("listitem")).to_have_count(3)
    expect(prompts).not_to_contain_text("ledger")
    expect(prompts).to_contain_text("likely to answer it")
    assert visit.faults() == []
    visit.picture("memory-prompts")
    prompts.get_by_role("link", name=PROMPT).first.click()

    expect(page.get_by_role("region", name="The prompt")).to_contain_text("Deploys happen")


def test_a_thumb_there_counts_and_is_taken_back(
    visit: Visit, daemon: Daemon, tuesdays: str
) -> None:
    def feedback() -> list[object]:
        asked = daemon.ok("GET", f"/ui/data/memory/{tuesdays}/prompts")["prompts"]
        return [each["feedback"] for each in asked]

    page = visit.open(f"/m/{tuesdays}")
    first = page.get_by_role("region", name="Whispered for").get_by_role("listitem").first
    first.get_by_role("button", name="Useful here", exact=True).click()
    expect(first.get_by_role("button", pressed=True)).to_have_count(1)
    assert feedback() == [1, None, None]

    first.get_by_role("button", name="Not useful here").click()
    expect(page.get_by_text("Noted: not useful here")).to_be_visible()
    assert feedback() == [-1, None, None]
    page.keyboard.press("u")
    expect(first.get_by_role("button", name="Useful here", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    page.keyboard.press("u")

    expect(first.get_by_role("button", pressed=True)).to_have_count(0)
    assert feedback() == [None, None, None]


def test_a_figure_leads_to_the_prompts_of_a_memory(visit: Visit, tuesdays: str) -> None:
    page = visit.open("/")
    earning = page.get_by_role("region", name="Which memories earn their keep")
    earning.get_by_role("link", name="Deploys happen on Tuesdays").click()

    expect(
        page.get_by_role("region", name="Whispered for").get_by_role("heading")
    ).to_be_in_viewport()


def test_a_memory_that_was_never_whispered_says_so(visit: Visit, daemon: Daemon) -> None:
    quiet = daemon.remember("A quiet memory about nothing much.")
    page = visit.open(f"/m/{quiet}")

    expect(page.get_by_text("It was not whispered in the last 30 days.")).to_be_visible()


def test_on_a_phone_prompts_fit(browser: Browser, daemon: Daemon, tuesdays: str) -> None:
    with visiting(browser, daemon, "phone") as visit:
        page = visit.open(f"/m/{tuesdays}")
        page.get_by_role("region", name="Whispered for").get_by_role("listitem").first.wait_for()

        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
