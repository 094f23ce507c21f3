"""Many proposals in a real browser: none is out of reach, and none is decided unread."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page.browsing import Visit
from tests.page.nights import shown, wonder
from tests.server.running import Daemon, running

ARCHIVE, SPACES = 960, 41
SEVERAL_MS = 50_000  # dozens of decisions, each of them durable, on a busy machine
# By the page's own clock: five presses within a quarter of a second, however busy the machine is.
HURRIED = """async () => {
  for (let at = 0; at < 5; at++) {
    dispatchEvent(new KeyboardEvent('keydown', { key: 'r' }))
    await new Promise(done => setTimeout(done, 60))
  }
}"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A home in which a thousand questions wait; those about spaces are the oldest."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        for name in ("MADELEINE_SLEEP_ENABLED", "CONSOLIDATION_ENABLED"):
            patch.setenv(name, "false")  # a job would decide by itself what no longer fits
        wonder(home, ARCHIVE, SPACES)
        with running(home) as started:
            yield started


def waiting(daemon: Daemon) -> int:
    return int(daemon.ok("GET", "/ui/data/proposals")["total"])


@pytest.mark.soak
def test_a_kind_behind_the_first_page_is_listed_whole(visit: Visit) -> None:
    page = visit.open("/sleep/proposals")
    expect(page.get_by_text("1,001 proposals wait")).to_be_visible()
    expect(page.locator("[data-proposal]")).to_have_count(100)
    expect(page.get_by_role("button", name=f"Archive {ARCHIVE}")).to_be_visible()

    page.get_by_role("button", name=f"Space {SPACES}").click()
    expect(page.locator("[data-proposal]")).to_have_count(SPACES)
    expect(shown(page)).to_contain_text("to attic")
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_role("button", name="More").click()

    expect(page.locator("[data-proposal]")).to_have_count(200)
    assert visit.faults() == []
    visit.picture("proposals-many")


def test_quick_presses_decide_only_what_stood_there(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/sleep/proposals")
    shown(page)
    before = waiting(daemon)

    page.evaluate(HURRIED)

    expect(page.get_by_label("Waiting", exact=True)).to_contain_text(f"{before - 1:,} proposals")
    shown(page)
    assert waiting(daemon) == before - 1


def test_a_decision_can_be_taken_back_when_its_note_is_gone(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/sleep/proposals?type=space")
    before = waiting(daemon)
    titles = []
    for key in ("a", "r"):
        titles.append(shown(page).get_by_role("heading", level=2).inner_text().rstrip("?"))
        page.keyboard.press(key)
        expect(page.get_by_role("heading", level=2, name=titles[-1])).to_have_count(0)
    page.reload()

    page.get_by_role("button", name="Decided").click()
    expect(page.locator("[data-proposal]").first).to_contain_text("Rejected")
    for title, did in zip(reversed(titles), ("Rejected", "Approved"), strict=True):
        page.locator("[data-proposal]", has_text=title).click()
        expect(page.get_by_role("heading", level=2, name=title)).to_be_visible()
        expect(shown(page)).to_contain_text(f"{did} just now by you, on this page")
        if did == "Approved":
            expect(shown(page).locator("td.added").first).to_contain_text("space: attic")
            assert visit.faults() == []
            visit.picture("proposals-decided")
        page.keyboard.press("u")
        expect(page.locator("[data-proposal]", has_text=title)).to_have_count(0)

    page.keyboard.press("d")
    expect(page.get_by_text(f"{before:,} proposals wait")).to_be_visible()
    assert waiting(daemon) == before


def title_of(page: Page) -> str:
    return shown(page).get_by_role("heading", level=2).inner_text().rstrip("?")


def decide(page: Page, key: str) -> str:
    """Decide what is shown; return what it was called."""
    title = title_of(page)
    page.keyboard.press(key)
    expect(page.get_by_role("heading", level=2, name=title)).to_have_count(0)
    return title


def test_quick_undoing_of_decisions_touches_nothing_that_is_not_shown(
    visit: Visit, daemon: Daemon
) -> None:
    memory = daemon.remember("Unrelated to any question")
    page = visit.open("/sleep/proposals?type=space")
    shown(page)
    rows = page.locator("[data-proposal]").all_inner_texts()
    titles = [decide(page, "r"), decide(page, "r")]
    assert [title[1:] in row for title, row in zip(titles, rows, strict=False)] == [True, True]
    page.evaluate("path => history.pushState(null, '', path)", f"/ui/m/{memory}")
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    expect(page.get_by_role("heading", level=1)).to_have_text("Unrelated to any question")
    page.keyboard.press("#")
    expect(page.get_by_text("This memory is forgotten")).to_be_visible()
    for key in ("g", "n"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", level=1, name="Sleep")).to_be_visible()
    page.keyboard.press("p")
    page.get_by_role("button", name="Decided").click()
    shown(page)

    page.evaluate(HURRIED.replace("'r'", "'u'"))

    expect(page.locator("[data-proposal]", has_text=titles[1])).to_have_count(0)
    expect(page.locator("[data-proposal]", has_text=titles[0])).to_have_count(1)
    assert page.locator(".toast.bad").count() == 0
    assert daemon.ok("GET", f"/ui/data/memory/{memory}")["forgotten"]
    shown(page)
    page.keyboard.press("u")
    expect(page.locator("[data-proposal]", has_text=titles[0])).to_have_count(0)


def test_a_decision_whose_undoing_broke_off_is_taken_back_by_the_next_try(
    visit: Visit, daemon: Daemon
) -> None:
    page = visit.open("/sleep/proposals?type=space")
    before = waiting(daemon)
    decide(page, "a")
    visit.expects("ERR_FAILED")
    page.route("**/agent/proposals/*", lambda route: route.abort())

    with page.expect_event("requestfailed"):
        page.keyboard.press("u")
    page.wait_for_timeout(200)
    page.unroute("**/agent/proposals/*")
    page.keyboard.press("u")

    expect(page.get_by_text("Taken back: it waits for you again")).to_be_visible()
    assert waiting(daemon) == before


def test_a_decision_taken_back_among_the_decided_offers_no_second_undo(
    visit: Visit, daemon: Daemon
) -> None:
    page = visit.open("/sleep/proposals?type=space")
    before = waiting(daemon)
    title = decide(page, "a")
    for key in ("g", "h"):
        page.keyboard.press(key)
    page.wait_for_url("**/ui/")
    page.go_back()
    page.get_by_role("button", name="Decided").click()
    page.locator("[data-proposal]", has_text=title).click()
    shown(page).get_by_role("button", name="Undo").click()
    expect(page.locator("[data-proposal]", has_text=title)).to_have_count(0)

    assert page.get_by_text("Approved", exact=True).count() == 0
    page.get_by_role("button", name="Waiting").click()
    shown(page)
    page.keyboard.press("u")
    page.wait_for_timeout(300)

    assert page.locator(".toast.bad").count() == 0
    assert waiting(daemon) == before


def test_what_is_decided_elsewhere_makes_room_for_the_one_beside_it(
    visit: Visit, daemon: Daemon
) -> None:
    page = visit.open("/sleep/proposals?type=space")
    shown(page)
    for _ in range(6):
        page.keyboard.press("j")
    rows = page.locator("[data-proposal]")
    here, beside = (str(rows.nth(each).get_attribute("data-proposal")) for each in (6, 7))
    expect(rows.nth(6)).to_have_attribute("aria-current", "true")
    shown(page)

    daemon.ok("POST", f"/agent/proposals/{here}", {"action": "rejected"})

    expect(page.get_by_text("It was decided elsewhere")).to_be_visible()
    expect(page.locator(f"[data-proposal='{beside}']")).to_have_attribute("aria-current", "true")
    daemon.ok("POST", f"/agent/proposals/{here}", {"action": "pending"})


def test_thirty_are_decided_by_keyboard_in_a_minute_and_each_was_shown(
    visit: Visit, daemon: Daemon
) -> None:
    page = visit.open("/sleep/proposals?type=decay")
    shown(page)
    before = waiting(daemon)
    began = time.perf_counter()

    titles = [decide(page, "ar"[nth % 2]) for nth in range(30)]

    assert time.perf_counter() - began < 60
    assert waiting(daemon) == before - 30
    expect(page.locator(".toast")).to_have_count(1)  # one note for all of them
    decided = daemon.ok("GET", "/ui/data/proposals", status="decided", limit=30)["proposals"]
    assert len(set(titles)) == 30
    assert {each["sides"][0]["headline"] for each in decided} == {
        title.split("“")[1].split("”")[0] for title in titles
    }


def test_a_range_is_selected_reviewed_and_decided_with_one_undo(
    visit: Visit, daemon: Daemon
) -> None:
    page = visit.open("/sleep/proposals?type=decay")
    shown(page)
    before = waiting(daemon)

    page.keyboard.press("x")
    for _ in range(24):
        page.keyboard.press("j")
    page.keyboard.press("X")
    expect(page.get_by_text("25 selected").first).to_be_visible()
    page.keyboard.press("a")

    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_have_text("Approve these 25?")
    expect(dialog.locator("li")).to_have_count(25)
    approve = dialog.get_by_role("button", name="Approve")
    assert approve.is_disabled(), "nobody has read to its end"
    assert visit.faults() == []
    visit.picture("proposals-review")
    dialog.locator("li").last.scroll_into_view_if_needed()
    dialog.locator(".end").scroll_into_view_if_needed()
    approve.click()

    expect(dialog).to_have_count(0, timeout=SEVERAL_MS)
    assert waiting(daemon) == before - 25
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back")).to_be_visible(timeout=SEVERAL_MS)
    assert waiting(daemon) == before


def test_a_whole_group_is_rejected_as_it_was_shown(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/sleep/proposals?type=space")
    shown(page)
    before = waiting(daemon)
    many = page.locator("[data-proposal]").count()

    page.get_by_role("button", name="Reject all").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("li")).to_have_count(many)
    dialog.locator(".end").scroll_into_view_if_needed()
    dialog.get_by_role("button", name="Reject").click()

    expect(page.get_by_text("None of this kind waits")).to_be_visible(timeout=SEVERAL_MS)
    assert waiting(daemon) == before - many
    page.keyboard.press("u")
    expect(page.locator("[data-proposal]")).to_have_count(many, timeout=SEVERAL_MS)


def test_what_is_put_off_waits_elsewhere_until_it_is_asked_again(
    visit: Visit, daemon: Daemon
) -> None:
    page = visit.open("/sleep/proposals?type=space")
    before, title = waiting(daemon), title_of(page)

    page.keyboard.press("s")
    expect(page.get_by_role("heading", level=2, name=title)).to_have_count(0)
    assert waiting(daemon) == before - 1
    assert daemon.ok("GET", "/ui/data/home")["sleep"]["proposals"] == before - 1
    page.get_by_role("button", name="Later 1").click()
    expect(page.locator("[data-proposal]")).to_contain_text("Asked again on")
    assert title_of(page) == title
    assert visit.faults() == []
    visit.picture("proposals-later")
    page.keyboard.press("s")

    expect(page.get_by_text("Nothing was put off")).to_be_visible()
    assert waiting(daemon) == before


def test_keys_walk_on_behind_the_first_page(visit: Visit) -> None:
    page = visit.open("/sleep/proposals")
    expect(page.locator("[data-proposal]")).to_have_count(100)
    page.locator("[data-proposal]").last.click()

    page.keyboard.press("j")

    expect(page.locator("[data-proposal]")).to_have_count(200)
    page.keyboard.press("j")
    expect(page.locator("[data-proposal]").nth(100)).to_have_attribute("aria-current", "true")


def test_what_cannot_be_carried_out_any_more_is_said_in_plain_words(
    visit: Visit, daemon: Daemon
) -> None:
    visit.expects("409")
    page = visit.open("/sleep/proposals")
    before = waiting(daemon)
    heading = shown(page).get_by_role("heading", level=2)
    words = str(heading.text_content())
    title = words.split("“")[1].split("”")[0]
    memory = daemon.ok("GET", "/ui/data/search", query=title)["memories"][0]["id"]

    def late(route: Route) -> None:
        """An agent is quicker by a moment."""
        daemon.ok("POST", f"/agent/update/{memory}", {"content": f"{title} is empty now."})
        route.continue_()

    page.route("**/agent/proposals/*", late, times=1)
    page.keyboard.press("a")

    said = page.get_by_label("The proposal").get_by_role("alert")
    expect(said).to_contain_text(f"“{title}” changed since this was asked")
    expect(said).to_contain_text("if it still fits what they say now, it is asked anew")
    expect(page.locator(".toast")).to_have_count(0)
    shown(page)
    assert "madeleine" not in said.inner_text()
    assert memory[:8] not in said.inner_text()
    assert visit.faults() == []
    visit.picture("proposals-changed")
    page.keyboard.press("a")
    expect(heading).to_have_text(words)
    said.get_by_role("button", name="Reject").click()
    expect(page.get_by_text(f"{before - 1:,} proposals wait")).to_be_visible()
    expect(page.locator(".toast")).to_contain_text(title)
    expect(page.locator(".toast")).to_contain_text("only if the memories say something else")


def test_what_is_read_stays_when_a_newer_question_comes(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/sleep/proposals?type=space")
    words = shown(page).get_by_role("heading", level=2).inner_text()
    page.locator("[data-proposal]").nth(3).click()
    expect(page.get_by_role("heading", level=2, name=words)).to_have_count(0)
    first = str(page.locator("[data-proposal]").nth(1).get_attribute("data-proposal"))
    read = str(shown(page).get_by_role("heading", level=2).text_content())

    daemon.ok("POST", f"/agent/proposals/{first}", {"action": "rejected"})

    expect(page.locator(f"[data-proposal='{first}']")).to_have_count(0)
    expect(page.get_by_label("The proposal").get_by_role("heading", level=2)).to_have_text(read)


def test_a_thousand_questions_are_told_quickly(daemon: Daemon) -> None:
    began = time.perf_counter()
    for offset in (0, 500):
        daemon.ok("GET", "/ui/data/proposals", limit=500, offset=offset)

    assert time.perf_counter() - began < 2.0
