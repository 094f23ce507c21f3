"""The palette, the keys on the lines of lists, and where the focus goes when a dialog opens."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.page.browsing import Visit
from tests.page.world import furnish
from tests.server.running import Daemon, running


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A furnished home, with the real model: what is alike must be alike."""
    with running(tmp_path_factory.mktemp("home")) as started:
        furnish(started)
        yield started


def choose(page: Page, title: str) -> None:
    """Walk by keys to a line of the list, first up and then down."""
    page.wait_for_selector("#found a")
    page.evaluate("document.activeElement.blur()")
    for key in [*("k" * 5), *("j" * 40)]:
        if page.locator("#found a.chosen .title").all_inner_texts() == [title]:
            return
        page.keyboard.press(key)
    raise AssertionError(title)


def test_the_palette_goes_anywhere_does_what_is_here_and_finds_memories(visit: Visit) -> None:
    page = visit.open("/search")
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox")
    expect(box).to_be_focused()
    box.fill("go to time")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Time")).to_be_visible()

    page.keyboard.press("Control+k")
    box.fill("tensions")
    expect(page.get_by_role("option").first).to_contain_text("show tensions")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Tensions", pressed=True)).to_be_visible()

    page.keyboard.press("Control+k")
    box.fill("green tea")
    option = page.get_by_role("option", name=re.compile("Green tea, no sugar"))
    expect(option).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Green tea, no sugar")).to_be_visible()


def test_the_palette_opens_while_one_types_and_has_no_barriers(visit: Visit) -> None:
    page = visit.open("/search?q=tea")
    page.locator("#search").focus()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option").first).to_be_visible()
    assert visit.faults() == []
    visit.picture("palette")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#search")).to_be_focused()


@pytest.mark.parametrize(
    ("key", "opens"),
    [("e", "Edit this memory"), ("m", "Merge with which memory?"), ("r", "Retire this memory")],
)
def test_a_line_of_a_list_is_edited_merged_and_retired_by_its_key(
    visit: Visit, key: str, opens: str
) -> None:
    page = visit.open("/search")
    choose(page, "Deploys happen on Tuesdays")
    page.keyboard.press(key)

    expect(page.get_by_role("heading", level=1, name="Deploys happen on Tuesdays")).to_be_visible()
    expect(page.get_by_label(opens)).to_be_visible()
    assert "do=" not in visit.path


def test_several_are_selected_and_forgotten_at_once_and_one_undo_brings_them_back(
    visit: Visit,
) -> None:
    titles = ["Ladders in the shed", "Paint in the shed", "Ropes in the shed"]
    for title in titles:
        visit.daemon.remember(f"{title}, behind the door.", title=title, space="shed")
    page = visit.open("/search?spaces=shed")
    for title in titles[1:]:
        choose(page, title)
        page.keyboard.press("x")
    expect(page.get_by_role("group", name="With what is selected")).to_contain_text("2 selected")
    assert visit.faults() == []
    visit.picture("search-selected")
    page.keyboard.press("#")

    expect(page.locator("#found a")).to_have_count(1)
    expect(page.get_by_text("2 memories forgotten")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator("#found a")).to_have_count(3)


def test_two_that_are_selected_are_merged(visit: Visit) -> None:
    for title in ("The heron nests early", "The heron nests late"):
        visit.daemon.remember(f"{title} this year.", title=title, space="birds")
    page = visit.open("/search?spaces=birds")
    for title in ("The heron nests late", "The heron nests early"):
        choose(page, title)
        page.keyboard.press("x")
    page.keyboard.press("m")

    dialog = page.get_by_role("dialog", name="Make one memory of two")
    expect(dialog.get_by_role("radio")).to_have_count(2)
    expect(dialog.get_by_label("What it says then")).to_be_focused()
    assert visit.faults() == []


def test_the_picker_to_merge_with_begins_with_what_is_alike(visit: Visit) -> None:
    page = visit.open("/search")
    choose(page, "Tile server port")
    page.keyboard.press("m")

    dialog = page.get_by_role("dialog", name="Merge with which memory?")
    expect(dialog.get_by_text("Most alike first")).to_be_visible()
    port = page.url.partition("/m/")[2].partition("?")[0]
    alike = visit.daemon.ok("GET", f"/ui/data/memory/{port}/similar")["memories"]
    expect(dialog.locator("a .title")).to_have_text([each["headline"] for each in alike])
    expect(dialog.get_by_role("searchbox")).to_be_focused()


def test_a_question_opens_on_what_changes_nothing_and_a_field_on_itself(visit: Visit) -> None:
    lost = visit.daemon.remember("The kite broke its string")
    visit.daemon.ok("DELETE", f"/agent/recall/{lost}")
    page = visit.open("/trash")
    page.get_by_role("button", name="Purge").first.click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()

    page = visit.open("/search")
    choose(page, "Tile server port")
    page.keyboard.press("r")
    expect(page.get_by_label("Why it is no longer true")).to_be_focused()


def test_a_type_is_shown_as_a_sign_and_a_word(visit: Visit) -> None:
    page = visit.open("/search?q=green+tea")
    line = page.locator("#found a").first
    expect(line.locator(".foot .mark").first).to_have_text("preference")
    expect(line.locator(".foot .mark svg").first).to_be_visible()
