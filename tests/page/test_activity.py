"""Activity and Trash: whatever changed a memory is told, found again and taken back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.browsing import Visit
from tests.page.nights import remember_twins, run
from tests.page.world import furnish
from tests.server.running import Daemon


@pytest.fixture(scope="module")
def ids(daemon: Daemon) -> dict[str, str]:
    """A small life that an agent, a night and a person have had a hand in."""
    found = furnish(daemon)
    remember_twins(daemon)
    run(daemon, "duplicate_merger", "conflict_detector")
    waiting = daemon.ok("GET", "/agent/proposals", kind="merge")["proposals"]
    daemon.ok("POST", f"/agent/proposals/{waiting[0]['id']}", {"action": "approved"})
    return found


def entries(page: Page, words: str) -> Locator:
    return page.locator("[data-entry]", has_text=words)


def test_what_anybody_did_is_told_and_taken_back_after_a_reload(
    visit: Visit, daemon: Daemon, ids: dict[str, str]
) -> None:
    rounding = ids["Rounding is half-even"]
    daemon.ok("POST", f"/agent/update/{rounding}", {"title": "Round half to even"})
    page = visit.open("/activity")

    expect(entries(page, "Revised Round half to even")).to_have_count(1)
    expect(entries(page, "Approved: merge")).to_have_count(1)
    expect(entries(page, "Asked:").first.get_by_role("link", name="Answer")).to_be_visible()
    assert visit.faults() == []
    visit.picture("activity")
    page.reload()
    entries(page, "Revised Round half to even").get_by_role("button", name="Undo").click()

    expect(entries(page, "Revised").get_by_text("taken back")).to_be_visible()
    expect(entries(page, "Took back 1 change").first).to_be_visible()
    titles = daemon.ok("GET", f"/agent/recall/{rounding}")["memory"]["title"]
    assert titles == "Rounding is half-even"


def test_filters_show_only_what_they_name_and_stand_in_the_address(
    visit: Visit, ids: dict[str, str]
) -> None:
    page = visit.open("/activity")
    page.wait_for_selector("[data-entry]")

    page.get_by_label("By whom").select_option("by the night")
    expect(entries(page, "Remembered")).to_have_count(0)
    expect(entries(page, "Asked").first).to_be_visible()
    page.get_by_label("By whom").select_option("by anyone")
    page.get_by_label("What", exact=True).select_option("questions and answers")
    expect(entries(page, "Remembered")).to_have_count(0)
    assert "what=asked" in visit.path
    page.reload()

    expect(entries(page, "Approved").first).to_be_visible()
    expect(entries(page, "Remembered")).to_have_count(0)
    page.get_by_label("Space").select_option("ledger")
    expect(page.get_by_text("Nothing like this happened")).to_be_visible()
    page.get_by_role("link", name="Show everything").click()
    expect(entries(page, "Remembered").first).to_be_visible()


def test_by_keyboard_an_entry_is_opened_and_taken_back(
    visit: Visit, daemon: Daemon, ids: dict[str, str]
) -> None:
    lake = daemon.remember("The lake freezes in January.", title="The lake")
    daemon.ok("POST", f"/agent/update/{lake}", {"content": "The lake freezes in February."})
    page = visit.open("/activity")
    page.wait_for_selector("[data-entry]")

    page.keyboard.press("j")
    page.keyboard.press("o")
    expect(page.locator("mark", has_text="February")).to_be_visible()
    page.keyboard.press("u")

    expect(entries(page, "Revised The lake")).to_contain_text("taken back")
    assert "January" in daemon.ok("GET", f"/agent/recall/{lake}")["memory"]["content"]


def test_what_was_merged_away_is_found_opened_and_split_again(
    visit: Visit, daemon: Daemon, ids: dict[str, str]
) -> None:
    page = visit.open("/trash")
    expect(page.get_by_text("lies here").or_(page.get_by_text("lie here"))).to_be_visible()
    page.get_by_role("button", name="Merged away").click()
    line = page.locator("main li", has_text="merged into")
    expect(line).to_have_count(1)
    title = str(line.locator(".head a").text_content())
    assert visit.faults() == []
    visit.picture("trash")

    line.locator(".head a").click()
    expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()
    expect(page.get_by_text("it lies in the trash")).to_be_visible()
    page.go_back()
    line.get_by_role("button", name="Undo the merge").click()

    expect(page.get_by_text("Nothing in the trash says this")).to_be_visible()
    assert title in [each["title"] for each in daemon.recall(title)]


def test_a_forgotten_memory_is_restored_or_purged_for_good(
    visit: Visit, daemon: Daemon, ids: dict[str, str]
) -> None:
    kept, gone = (
        daemon.remember(f"The {each} kite.", title=f"A {each} kite")
        for each in ("yellow", "violet")
    )
    for each in (kept, gone):
        daemon.ok("DELETE", f"/agent/recall/{each}")
    page = visit.open("/trash")
    page.get_by_label("Find in the trash").fill("kite")
    expect(page.get_by_text("2 memories lie here")).to_be_visible()

    page.get_by_role("button", name="Restore A yellow kite").click()
    expect(page.get_by_text("1 memory lies here")).to_be_visible()
    page.get_by_role("button", name="Purge A violet kite").click()
    expect(page.get_by_role("dialog")).to_contain_text("There is no way back")
    assert visit.faults() == []
    page.get_by_role("dialog").get_by_role("button", name="Purge").click()

    expect(page.get_by_text("Nothing in the trash says this")).to_be_visible()
    assert daemon.ok("GET", f"/agent/recall/{kept}")["memory"]["title"] == "A yellow kite"
    assert daemon.ask("GET", f"/ui/data/memory/{gone}").status == 404
