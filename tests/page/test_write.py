"""Writing on the page in a real browser: a new memory with its look-alikes, and dropped files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.browsing import Visit, visiting
from tests.page.world import furnish
from tests.server.running import Daemon, running

NOTES = """# Oven

The oven needs forty minutes to heat up. It stands in the north corner and takes twelve loaves.
"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A small life, read by the real model."""
    with running(tmp_path_factory.mktemp("write")) as started:
        furnish(started)
        yield started


def drop(page: Page, name: str, text: str) -> None:
    """Drop a file onto the page, as from the desktop."""
    page.evaluate(
        """([name, text]) => {
            const data = new DataTransfer()
            data.items.add(new File([text], name, {type: 'text/plain'}))
            for (const type of ['dragover', 'drop'])
                document.querySelector('main').dispatchEvent(new DragEvent(type,
                    {dataTransfer: data, bubbles: true, cancelable: true}))
        }""",
        [name, text],
    )


def test_n_writes_a_memory_of_a_type_for_a_project_and_undo_takes_it_back(
    visit: Visit, daemon: Daemon
) -> None:
    page = visit.open("/projects/atlas")
    page.wait_for_selector("#timeline")
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog", name="A new memory")
    expect(dialog.get_by_label("What is worth remembering?")).to_be_focused()
    expect(dialog.get_by_role("combobox", name="Project", exact=True)).to_have_value("atlas")
    assert visit.faults() == []

    page.keyboard.type("Labels of peaks are set in small capitals.")
    dialog.get_by_label("Type").select_option("decision")
    page.keyboard.press("Control+Enter")

    expect(dialog).to_have_count(0)
    expect(page.get_by_role("region", name="Decisions")).to_contain_text("small capitals")
    made = daemon.recall("small capitals of peaks")[0]
    assert (made["type"], made["space"], made["source"]) == ("decision", "atlas", "page")
    page.keyboard.press("u")
    expect(page.get_by_role("region", name="Decisions")).not_to_contain_text("small capitals")


def test_what_says_nearly_the_same_is_shown_while_typing_and_can_be_replaced(
    visit: Visit, daemon: Daemon, ids: dict[str, str]
) -> None:
    page = visit.open("/")
    page.get_by_role("button", name="New memory").click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("What is worth remembering?")
    field.press_sequentially("The tile server listens on port 9100, behind the proxy.")
    line = dialog.get_by_role("listitem").filter(has_text="Tile server port")
    expect(line).to_contain_text("alike")
    assert visit.faults() == []
    visit.picture("write")

    line.get_by_role("checkbox").check()
    dialog.get_by_role("combobox", name="Project", exact=True).fill("atlas")
    dialog.get_by_role("button", name="Remember").click()

    expect(page.get_by_text("Remembered", exact=True)).to_be_visible()
    old = daemon.ok("GET", f"/agent/recall/{ids['Tile server port']}")["memory"]
    assert old["superseded_by"]


def test_what_is_about_you_stands_under_about_you(visit: Visit) -> None:
    page = visit.open("/")
    about = page.get_by_role("region", name="About you", exact=True)
    about.get_by_role("button", name="Add: Preferences").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("It is about me")).to_be_checked()
    expect(dialog.get_by_label("Type")).to_have_value("preference")
    expect(dialog.get_by_role("combobox", name="Project", exact=True)).to_have_value("")

    dialog.get_by_label("What is worth remembering?").fill("Takes the window seat on trains.")
    dialog.get_by_role("button", name="Remember").click()

    expect(about.get_by_role("region", name="Preferences")).to_contain_text("window seat")


def test_what_was_typed_survives_a_reload_and_is_asked_about_before_it_goes(visit: Visit) -> None:
    page = visit.open("/search")
    page.keyboard.press("Escape")  # out of the search box
    page.keyboard.press("n")
    field = page.get_by_label("What is worth remembering?")
    field.fill("The barn door sticks in winter.")
    page.reload()
    page.wait_for_selector("#search")
    page.get_by_role("button", name="New memory").click()
    expect(field).to_have_value("The barn door sticks in winter.")

    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(2)


def test_what_is_known_already_is_opened_and_not_written_twice(visit: Visit) -> None:
    page = visit.open("/")
    page.keyboard.press("n")
    page.get_by_label("What is worth remembering?").fill(
        "Lives in Dublin since 2021, near the canal. Irish time zone."
    )
    page.get_by_role("dialog").get_by_role("button", name="Remember").click()

    expect(page.get_by_text("It is known already")).to_be_visible()
    expect(page.get_by_role("heading", level=1, name="Lives in Dublin")).to_be_visible()


def test_dropped_notes_are_shown_then_kept_and_taken_back(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/")
    page.wait_for_selector(".letter")
    drop(page, "kitchen.md", NOTES)
    dialog = page.get_by_role("dialog", name="Bring in files")
    file = dialog.get_by_role("region", name="kitchen.md")
    expect(file).to_contain_text("1 memory would be kept")
    expect(file).to_contain_text("Oven")
    assert "Oven" not in [
        each["title"] for each in daemon.recall("how long does the oven heat up?")
    ]
    assert visit.faults() == []
    visit.picture("files")

    dialog.get_by_role("button", name="Keep 1 memory").click()

    expect(dialog).to_have_count(0)
    expect(page.get_by_text("Kept 1 memory")).to_be_visible()
    sessions = page.get_by_role("region", name="New from your sessions")
    expect(sessions).to_contain_text("Remembered Oven")
    page.keyboard.press("u")
    expect(page.get_by_text("Taken back")).to_be_visible()
    expect(sessions).not_to_contain_text("Remembered Oven")
    told = daemon.ok("GET", "/agent/log", by="import")["entries"]
    assert [each["outcome"] for each in told] == ["undone"]


def test_a_file_that_is_no_text_is_refused_by_name(visit: Visit) -> None:
    page = visit.open("/")
    page.wait_for_selector(".letter")
    drop(page, "picture.png", "PNG\u0000\u0001")

    dialog = page.get_by_role("dialog", name="Bring in files")
    expect(dialog.get_by_role("region", name="picture.png")).to_contain_text("This is no text")
    expect(dialog.get_by_role("button", name=re.compile("^Keep"))).to_be_disabled()


def test_an_empty_home_offers_to_write_and_to_bring_in(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    with running(tmp_path_factory.mktemp("empty")) as empty, visiting(browser, empty) as visit:
        page = visit.open("/")
        page.get_by_role("button", name="Write a memory").click()
        page.get_by_label("What is worth remembering?").fill("The first thing worth keeping.")
        page.keyboard.press("Control+Enter")

        expect(page.get_by_role("link", name="1 memory")).to_be_visible()
        assert visit.faults() == []


def test_on_a_phone_the_button_stands_above_the_bar(browser: Browser, daemon: Daemon) -> None:
    with visiting(browser, daemon, "phone") as visit:
        page = visit.open("/")
        page.get_by_role("button", name="New memory").click()

        expect(page.get_by_role("dialog")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert visit.faults() == []


@pytest.fixture(scope="module")
def ids(daemon: Daemon) -> dict[str, str]:
    found = daemon.ok("GET", "/agent/list", limit=100)["memories"]
    return {str(each["title"]): str(each["id"]) for each in found}
