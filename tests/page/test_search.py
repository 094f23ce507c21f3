"""Search and list in a real browser: by keyboard and by mouse, live, and on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.browsing import Visit, visiting
from tests.page.world import MEMORIES, furnish
from tests.server.running import Daemon, running


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


def test_an_empty_box_lists_everything_newest_first(visit: Visit) -> None:
    page = visit.open("/search")

    expect(page.get_by_text(re.compile(r"\d+ memories, newest first"))).to_be_visible()
    assert "Elevation service has a mirror" in rows(page)[:3]
    assert "Old port of the tile server" not in rows(page)


def test_it_recalls_as_one_types_and_says_why(visit: Visit) -> None:
    page = visit.open("/search")

    page.keyboard.type("which database did we choose")

    expect_first(page, "SQLite over Postgres for the ledger")
    expect(page.locator("#found a").first).to_contain_text("shares words")
    expect(page.locator("#found a mark").first).to_have_text(re.compile("database", re.IGNORECASE))
    assert visit.path == "/search?q=which+database+did+we+choose"


def test_the_keyboard_leads_from_the_question_to_the_memory_and_back(visit: Visit) -> None:
    page = visit.open("/sleep")

    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("contour lines")
    expect_first(page, "Contour lines every ten metres")
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(r"/ui/m/[0-9a-f-]{36}$"))
    page.go_back()
    expect_first(page, "Contour lines every ten metres")
    expect(page.locator("#search")).to_have_value("contour lines")


def test_j_and_k_walk_through_the_list(visit: Visit) -> None:
    page = visit.open("/search")
    page.wait_for_selector("#found a")

    page.keyboard.press("Escape")
    for key in "jjjk":
        page.keyboard.press(key)

    chosen = page.locator("#found a.chosen")
    expect(chosen).to_have_count(1)
    assert chosen.locator(".title").inner_text() == rows(page)[1]


def test_filters_narrow_the_list_and_stand_in_the_address(visit: Visit) -> None:
    page = visit.open("/search")

    page.get_by_role("button", name="Space").click()
    page.get_by_role("checkbox", name="ledger").check()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Type").click()
    page.get_by_role("checkbox", name="decision").check()
    page.keyboard.press("Escape")

    expect(page.get_by_text("2 memories, newest first")).to_be_visible()
    assert set(rows(page)) == {"Rounding is half-even", "SQLite over Postgres for the ledger"}
    assert visit.path == "/search?spaces=ledger&types=decision"
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#found a")).not_to_have_count(2)


def test_tags_are_found_by_their_beginning(visit: Visit) -> None:
    page = visit.open("/search")

    page.get_by_role("button", name="Tag").click()
    page.get_by_label("Find a tag").fill("mon")

    expect(page.get_by_role("checkbox", name="monitoring")).to_be_visible()
    expect(page.get_by_role("checkbox", name="food")).to_have_count(0)
    page.get_by_role("checkbox", name="monitoring").check()
    expect(page.get_by_text("2 memories, newest first")).to_be_visible()


def test_what_is_outdated_shows_when_asked_for_and_says_so(visit: Visit) -> None:
    page = visit.open("/search?q=tile+server+port")
    expect_first(page, "Tile server port")
    assert "Old port of the tile server" not in rows(page)

    page.get_by_role("button", name="Validity").click()
    page.get_by_label("What is outdated too").check()

    old = page.locator("#found a", has_text="Old port of the tile server")
    expect(old).to_contain_text("outdated")


def test_as_it_was_on_a_day_shows_what_held_then(visit: Visit) -> None:
    page = visit.open("/search?spaces=atlas&tags=configuration&holds=2026-06-01")

    expect(page.get_by_text("1 memory, newest first")).to_be_visible()
    assert rows(page) == ["Old port of the tile server"]


def test_a_time_narrows_by_when_it_was_written(visit: Visit) -> None:
    page = visit.open("/search?when=2026-05-01..2026-05-31")

    expect(page.get_by_text("2 memories, newest first")).to_be_visible()


def test_what_is_not_found_is_said_with_its_reason(visit: Visit) -> None:
    page = visit.open("/search?q=zebra+xylophone&tiers=core")

    expect(page.get_by_text("Nothing answers this")).to_be_visible()
    expect(page.locator("#found")).to_contain_text("near enough")


def test_a_memory_that_is_missed_says_why_it_is_not_there(visit: Visit) -> None:
    page = visit.open("/search?q=green+tea&types=decision")
    page.get_by_role("button", name="Missing one?").click()

    page.get_by_role("dialog").get_by_role("searchbox").fill("green tea")
    page.get_by_role("dialog").get_by_text("Green tea, no sugar").first.click()

    said = page.get_by_role("dialog", name="Why not this one?").get_by_role("status")
    expect(said).to_have_text("The filter leaves it out, by type.")


def test_what_is_remembered_meanwhile_appears_by_itself(visit: Visit) -> None:
    page = visit.open("/search")
    page.wait_for_selector("#found a")

    visit.daemon.remember("The kettle in the office has moved to the second floor")

    expect(page.locator("#found")).to_contain_text("The kettle in the office")


def test_a_wide_screen_shows_the_chosen_memory_beside_the_list(visit: Visit) -> None:
    page = visit.open("/search?q=which+database+did+we+choose")
    beside = page.get_by_role("complementary")
    expect(beside.get_by_role("heading", level=2)).to_have_text(
        "SQLite over Postgres for the ledger"
    )
    expect(beside.locator("strong")).to_have_text("SQLite")

    page.keyboard.press("ArrowDown")

    expect(beside.get_by_role("heading", level=2)).to_have_text("Write-ahead logging is on")
    expect(beside).to_contain_text("depends on SQLite over Postgres")


def test_a_key_asks_once(visit: Visit) -> None:
    page = visit.open("/search")
    page.wait_for_selector("#found a")
    asked: list[str] = []
    page.on(
        "request",
        lambda request: asked.append(request.url) if "/data/search" in request.url else None,
    )

    for letter in "tea":
        page.keyboard.type(letter)
        page.wait_for_timeout(700)
    expect_first(page, "Green tea, no sugar")

    assert 1 <= len(asked) <= 3


def test_a_search_that_stands_asks_for_nothing_more(visit: Visit) -> None:
    page = visit.open("/search")
    page.wait_for_selector("#found a")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.wait_for_timeout(1_000)

    assert asked == []


def test_looking_does_not_count_as_use(visit: Visit) -> None:
    title = "Idempotency"
    page = visit.open(f"/search?q={title.lower()}")
    expect_first(page, title)

    found = visit.daemon.recall(title, limit=1)

    assert found[0]["access_count"] == 0


def test_search_is_accessible_with_a_list_with_hits_and_with_a_filter_open(visit: Visit) -> None:
    page = visit.open("/search")
    page.wait_for_selector("#found a")
    assert visit.faults() == []

    visit.open("/search?q=port+of+the+tile+server&holds=all")
    page.wait_for_selector("#found a")
    page.get_by_role("button", name="Type").click()
    assert visit.faults() == []


def test_search_fits_a_phone(browser: Browser, daemon: Daemon) -> None:
    with visiting(browser, daemon, "phone") as visit:
        page = visit.open("/search?q=tiles&spaces=atlas")
        page.wait_for_selector("#found a")

        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Type").click()
        expect(page.get_by_role("checkbox", name="decision")).to_be_in_viewport()
        assert visit.faults() == []


def test_the_memory_beside_the_list_says_how_many_connections_there_are_and_leads_to_all(
    visit: Visit,
) -> None:
    hub = visit.daemon.remember("The hub of the wheel is oiled in May", title="Wheel hub")
    for n in range(7):
        spoke = visit.daemon.remember(f"Spoke number {n} was mended", title=f"Spoke {n}")
        body = {"source_id": spoke, "target_id": hub, "edge": "depends_on", "weight": 0.8}
        visit.daemon.ok("POST", "/agent/connect", body)
    page = visit.open("/search?q=wheel+hub+oiled")
    beside = page.get_by_role("complementary")
    expect(beside.get_by_role("heading", level=2)).to_have_text("Wheel hub")

    expect(beside.locator("li").first).to_contain_text("is needed by Spoke")
    expect(beside).not_to_contain_text("←")
    total = visit.daemon.ok("GET", f"/ui/data/memory/{hub}")["connections_total"]
    beside.get_by_role("link", name=f"All {total} connections").click()

    connections = page.get_by_role("region", name="Connections")
    expect(connections).to_be_focused()
    expect(connections.get_by_role("heading")).to_be_in_viewport()
    expect(connections.get_by_text("is needed by")).to_have_count(7)


def test_a_filter_is_chosen_by_arrows_and_enter(visit: Visit) -> None:
    page = visit.open("/search")
    page.wait_for_selector("#found a")
    page.get_by_role("button", name="Type").focus()
    page.keyboard.press("ArrowDown")
    boxes = page.get_by_role("group", name="Type").get_by_role("checkbox")
    expect(boxes.first).to_be_focused()

    page.keyboard.press("ArrowDown")
    expect(boxes.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(boxes.nth(1)).to_be_checked()
    page.keyboard.press("End")
    expect(boxes.last).to_be_focused()
    page.keyboard.press("Space")
    expect(boxes.last).to_be_checked()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    expect(boxes.first).to_be_focused()
    page.keyboard.press("g")
    expect(page.get_by_role("checkbox", name="goal")).to_be_focused()
    expect(page.locator("#found a.chosen")).to_have_count(0)  # the list behind did not walk along
    assert visit.faults() == []
    page.keyboard.press("Escape")

    expect(boxes).to_have_count(0)
    expect(page.get_by_role("button", name="Type:")).to_be_focused()
    assert visit.path.count("types=") == 2


def test_the_arrows_walk_in_a_filter_of_one_choice_and_choose_nothing(visit: Visit) -> None:
    page = visit.open("/search?when=7d")
    page.get_by_role("button", name="Time: last 7 days").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Last 7 days")).to_be_focused()

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Last year")).to_be_focused()
    assert visit.path == "/search?when=7d"
    page.keyboard.press("Enter")

    expect(page.get_by_label("Last year")).to_be_checked()
    assert visit.path == "/search?when=365d"


def test_the_arrows_lead_from_the_field_of_tags_to_the_tags(visit: Visit) -> None:
    page = visit.open("/search")
    page.get_by_role("button", name="Tag").click()
    page.keyboard.type("monit")
    expect(page.get_by_role("group", name="Tag").get_by_role("checkbox")).to_have_count(1)

    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    expect(page.get_by_role("checkbox", name="monitoring")).to_be_checked()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("Find a tag")).to_be_focused()


@pytest.mark.soak
def test_pictures_of_search_are_kept(visit: Visit) -> None:
    page = visit.open("/search")
    page.wait_for_selector("#found a")
    assert len(MEMORIES) > 15
    visit.picture("search-list")

    visit.open("/search?q=which+database+did+we+choose")
    page.wait_for_selector("#found a")
    visit.picture("search-hits")


def test_what_a_connection_brought_names_the_memory_it_came_by(visit: Visit) -> None:
    seed = visit.daemon.remember(
        "The zeppelin moored at Lakehurst in the evening.", title="Zeppelin at Lakehurst"
    )
    led = visit.daemon.remember("Hydrogen is not to be used any more.", title="No hydrogen")
    body = {"source_id": led, "target_id": seed, "edge": "derived_from", "weight": 1.0}
    visit.daemon.ok("POST", "/agent/connect", body)
    page = visit.open("/search?q=where+did+the+zeppelin+moor")

    row = page.locator("#found a", has_text="No hydrogen")
    expect(row.locator(".why")).to_contain_text("derived from “Zeppelin at Lakehurst”")
    assert not re.search(r"\b[0-9a-f]{8}\b", page.locator("#found").inner_text())


def test_a_score_is_a_word_with_its_number_on_hover_and_the_tail_is_folded(visit: Visit) -> None:
    page = visit.open("/search?q=which+database+did+we+choose+for+the+ledger")
    expect_first(page, "SQLite over Postgres for the ledger")

    word = page.locator("#found .score").first
    expect(word).to_have_text(re.compile("^(sure|likely|maybe)$"))
    expect(word).to_have_attribute("title", re.compile(r"^the chance that this answers: \d+ %$"))
    shown = page.locator("#found a").count()
    tail = page.get_by_role("button", name=re.compile(r"^\d+ more, unlikely$"))
    more = int(tail.inner_text().split()[0])
    tail.click()

    expect(page.locator("#found a")).to_have_count(shown + more)
    expect(page.locator("#found .unlikely")).to_have_count(more)


def test_the_newer_stands_above_the_older_that_it_replaces(visit: Visit) -> None:
    page = visit.open("/search?q=which+port+does+the+tile+server+listen+on&holds=all")
    expect(page.locator("#found")).to_contain_text("Old port of the tile server")

    titles = rows(page)

    assert titles.index("Tile server port") < titles.index("Old port of the tile server")


def test_a_dense_list_shows_more_memories_and_stays_dense(visit: Visit) -> None:
    page = visit.open("/search")
    page.wait_for_selector("#found a")
    line = page.locator("#found a").nth(1)
    roomy = line.bounding_box()

    page.get_by_role("button", name="Compact list").click()

    dense = line.bounding_box()
    assert roomy
    assert dense
    assert dense["height"] < 0.6 * roomy["height"]
    page.reload()
    expect(page.get_by_role("button", name="Compact list", pressed=True)).to_be_visible()
    assert visit.faults() == []
    visit.picture("search-compact")
