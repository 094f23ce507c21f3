"""Home in a real browser: the memory at a glance, and what needs attention."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.page.browsing import Visit, visiting
from tests.page.nights import ask, live
from tests.server.running import Daemon, running


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A home in which agents have asked and a night has passed, with the real model."""
    with running(tmp_path_factory.mktemp("home")) as started:
        live(started)
        yield started


def test_home_shows_size_growth_hooks_and_nights_in_pictures(visit: Visit) -> None:
    page = visit.open("/")

    expect(page.get_by_label("Size and growth")).to_contain_text("27")
    expect(
        page.get_by_role("img", name="Growth: 27 memories since 18 January 2026")
    ).to_be_visible()
    expect(
        page.get_by_role("img", name=re.compile("How long the last 6 prompts took"))
    ).to_be_visible()
    ends = page.locator("figcaption", has_text="whispered").locator("> span:not(.key)")
    assert len(set(ends.all_inner_texts())) == ends.count(), "both ends say the same"
    expect(page.get_by_label("Types")).to_contain_text("decision")
    expect(page.get_by_text("has not run yet").first).to_be_attached()
    assert visit.faults() == []
    visit.picture("home")


def test_what_needs_attention_leads_to_where_it_is_done(visit: Visit) -> None:
    page = visit.open("/")

    page.get_by_label("What needs attention").get_by_role("link", name="3 proposals wait").click()

    expect(page.get_by_role("heading", name="Proposals")).to_be_visible()


def test_a_file_that_does_not_parse_is_named(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/")
    page.wait_for_selector(".big")
    broken = daemon.vault / "broken.md"
    broken.write_text("---\nid: [\n---\nno\n", encoding="utf-8")
    daemon.ok("POST", "/admin/reconcile", {})

    page.reload()
    expect(page.get_by_label("What needs attention")).to_contain_text("broken.md")
    broken.unlink()
    daemon.ok("POST", "/admin/reconcile", {})


def test_a_job_that_failed_has_the_name_that_it_has_everywhere(visit: Visit) -> None:
    def failing(route: Route) -> None:
        """Let a job meet a bug: as the daemon tells it."""
        told = route.fetch().json()
        more, to = ["SQLError: no such table: usage"], "/sleep?job=decay_manager"
        item = {"kind": "bad", "text": "has failed", "more": more, "to": to}
        told["attention"] = [{**item, "job": "decay_manager"}]
        route.fulfill(json=told)

    visit.page.route("**/ui/data/home*", failing)
    page = visit.open("/")

    wrong = page.get_by_label("What needs attention")
    expect(wrong.get_by_role("link", name="Fading has failed", exact=True)).to_be_visible()
    expect(wrong).to_contain_text("Something went wrong inside: no such table: usage.")
    expect(wrong).not_to_contain_text("SQLError")
    visit.picture("home-failed")


def test_a_part_leads_to_its_memories(visit: Visit) -> None:
    page = visit.open("/")

    page.get_by_label("Spaces").get_by_role("link", name="ledger").click()

    expect(page).to_have_url(re.compile(r"/ui/search\?spaces=ledger$"))
    expect(page.get_by_text(re.compile(r"\d+ memories, newest first"))).to_be_visible()


def test_home_is_live(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/")
    expect(page.locator(".big")).to_have_text("27")

    daemon.remember("A kettle was bought for the office.", title="Kettle")
    ask(daemon, "live", "atlas", "what was bought for the office?")

    expect(page.locator(".big")).to_have_text("28")
    expect(page.locator(".newest")).to_contain_text("Kettle")
    expect(
        page.get_by_role("img", name=re.compile("How long the last 7 prompts took"))
    ).to_be_visible()


def test_on_a_phone_it_is_one_column(browser: Browser, daemon: Daemon) -> None:
    with visiting(browser, daemon, "phone") as visit:
        page = visit.open("/")
        page.wait_for_selector(".big")

        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert visit.faults() == []


def test_an_empty_home_says_how_to_begin(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with (
        running(tmp_path_factory.mktemp("empty")) as empty,
        visiting(browser, empty) as visit,
    ):
        page = visit.open("/")

        expect(page.get_by_text("There are no memories yet")).to_be_visible()


def test_what_home_asks_for_stays_small(daemon: Daemon) -> None:
    assert len(str(daemon.ok("GET", "/ui/data/home"))) < 40_000
