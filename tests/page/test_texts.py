"""Texts of every kind: from right to left, with signs that turn them, with wide tables."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.page.browsing import Visit, visiting
from tests.server.running import Daemon

OVERRIDE = "\u202e"
ARABIC = "مرحبا بالعالم\n\n- واحد\n- اثنان\n\n> اقتباس\n\n| عمود | ثان |\n|---|---|\n| خلية | س |"
TABLE = """| Name | Responsibility | Telephone | Department |
|---|---|---|---|
| Alexandra | Infrastructure and everything that hangs on it | 0123456789 | Engineering |
"""


@pytest.fixture(scope="module")
def ids(daemon: Daemon) -> dict[str, str]:
    return {
        "arabic": daemon.remember(ARABIC, title="عنوان طويل", space="rtl"),
        "turned": daemon.remember(f"Run {OVERRIDE}gnp.exe now", title=f"Photo {OVERRIDE}gnp.exe"),
        "table": daemon.remember(TABLE, title="Who does what"),
    }


def direction(found: Locator) -> str:
    return str(found.evaluate("each => getComputedStyle(each).direction"))


def test_a_text_from_right_to_left_is_laid_out_so(visit: Visit, ids: dict[str, str]) -> None:
    page = visit.open(f"/m/{ids['arabic']}")

    for place in ("h1", ".markdown p", ".markdown ul", "blockquote", ".markdown .wide"):
        assert direction(page.locator(place).first) == "rtl", place
    paragraph = page.locator(".markdown > p").bounding_box()
    whole = page.locator(".markdown").bounding_box()
    assert paragraph is not None
    assert whole is not None
    assert abs(paragraph["x"] + paragraph["width"] - whole["x"] - whole["width"]) < 2
    page = visit.open("/search?spaces=rtl")
    for place in ("#found .title", "#found .extract"):
        assert direction(page.locator(place).first) == "rtl", place
    visit.open(f"/graph?focus={ids['arabic']}")
    expect(page.locator(".head h2")).to_have_css("direction", "rtl")


def test_a_sign_that_turns_a_name_is_shown_and_turns_nothing(
    visit: Visit, ids: dict[str, str]
) -> None:
    said = "Photo ⟨U+202E⟩gnp.exe"

    page = visit.open(f"/m/{ids['turned']}")
    expect(page.locator("h1")).to_have_text(said)
    expect(page.locator(".markdown")).to_have_text("Run ⟨U+202E⟩gnp.exe now")
    page = visit.open("/search")
    expect(page.locator("#found .title", has_text="Photo")).to_have_text(said)
    visit.open(f"/graph?focus={ids['turned']}")
    expect(page.locator(".head h2")).to_have_text(said)


def test_editing_keeps_the_signs_that_are_in_a_text(
    visit: Visit, daemon: Daemon, ids: dict[str, str]
) -> None:
    page = visit.open(f"/m/{ids['turned']}")
    page.get_by_role("button", name="Edit").click()

    text = page.get_by_role("textbox", name="Text")
    text.press("Control+End")
    text.press_sequentially("!")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".markdown")).to_contain_text("now!")

    memory = daemon.ok("GET", f"/ui/data/memory/{ids['turned']}")["memory"]
    assert memory["title"] == f"Photo {OVERRIDE}gnp.exe"
    assert memory["content"] == f"Run {OVERRIDE}gnp.exe now!"


def test_a_table_on_a_phone_keeps_its_words_whole_and_is_scrolled(
    browser: Browser, daemon: Daemon, ids: dict[str, str]
) -> None:
    with visiting(browser, daemon, "phone") as visit:
        page = visit.open(f"/m/{ids['table']}")

        for word in ("Responsibility", "Telephone", "Department", "0123456789"):
            lines = page.get_by_text(word, exact=True).evaluate(
                "each => { const r = document.createRange(); r.selectNodeContents(each);"
                " return r.getClientRects().length }"
            )
            assert lines == 1, word
        table = page.get_by_role("group", name="Table")
        assert table.evaluate("each => each.scrollWidth > each.clientWidth")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert visit.faults() == []


def test_links_between_memories_footnotes_and_references_are_links(visit: Visit) -> None:
    daemon = visit.daemon
    daemon.remember("The kiln is fired on Fridays.", title="Kiln days")
    known = daemon.remember(
        "Glaze before [[Kiln days|the kiln]][^1], as [the book][b] says.\n\n"
        "[^1]: Two coats.\n\n[b]: https://glaze.example/book",
        title="Glazing",
    )
    page = visit.open(f"/m/{known}")
    text = page.get_by_label("What it says")
    expect(text.get_by_role("link", name="the book")).to_have_attribute(
        "href", "https://glaze.example/book"
    )
    expect(text.get_by_role("list", name="Footnotes")).to_contain_text("Two coats.")
    text.get_by_role("link", name="note 1").click()
    expect(text.locator("li:target")).to_contain_text("Two coats.")
    assert visit.faults() == []

    text.get_by_role("link", name="the kiln").click()
    expect(page.locator("#found a .title").first).to_have_text("Kiln days")
