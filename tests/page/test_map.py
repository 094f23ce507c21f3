"""The map by meaning: topics with names, colours, what is near, a filter, and how it grew."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.browsing import Visit, visiting
from tests.page.world import furnish
from tests.server.running import Daemon, eventually, running

FIELDS = {
    "bread": "Rye bread needs a sourdough starter, flour, salt and {} hours in a warm kitchen.",
    "boats": "The sailing boat lies in harbour berth {}, its mast and anchor were checked.",
    "taxes": "The tax return for quarter {} was sent with the invoice and the receipts.",
    "garden": "Row {} of the garden has tomatoes; water and compost every other day.",
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A home with the real model: what is near must mean something alike."""
    with running(tmp_path_factory.mktemp("home")) as started:
        furnish(started)
        drafts = [
            {
                "content": text.format(n),
                "title": f"{name.capitalize()} number {n}",
                "space": ("home", "work")[n % 2],
                "created": f"2026-{1 + n % 9:02}-{1 + n:02}T10:00:00Z",
            }
            for name, text in FIELDS.items()
            for n in range(1, 16)
        ]
        for draft in drafts:
            started.remember(**draft)
        total = len(drafts) + 1
        eventually(lambda: _mapped(started) >= total, seconds=60)
        yield started


def _mapped(daemon: Daemon) -> int:
    return int(daemon.ok("GET", "/ui/data/graph/map")["memories"])


@pytest.fixture
def world_map(visit: Visit) -> Page:
    return _drawn(visit, "/graph")


def _drawn(visit: Visit, path: str) -> Page:
    page = visit.open(path)
    page.wait_for_selector("[data-drawn]")
    page.wait_for_selector("section[aria-label='The map as a list'] li")
    return page


def _spots(daemon: Daemon) -> dict[str, tuple[float, float]]:
    nodes = daemon.ok("GET", "/ui/data/graph")["memories"]
    return {each["headline"]: tuple(each["spot"][:2]) for each in nodes if each["spot"]}


def test_topics_are_named_and_lead_to_their_memories(world_map: Page, daemon: Daemon) -> None:
    panel = world_map.get_by_label("The map as a list")
    expect(panel.get_by_role("heading", name="Topics in view")).to_be_visible()
    topic = panel.get_by_role("button", name=re.compile("garden|tomatoes|compost", re.I)).first
    topic.click()
    expect(panel.get_by_role("button", name=re.compile("Garden number")).first).to_be_visible()


def test_what_means_alike_lies_together_whatever_its_space(daemon: Daemon) -> None:
    spots = _spots(daemon)
    for name in FIELDS:
        mine = [spot for title, spot in spots.items() if title.startswith(name.capitalize())]
        x, y = (sum(each[axis] for each in mine) / len(mine) for axis in (0, 1))
        near = sorted(
            spots, key=lambda title: (spots[title][0] - x) ** 2 + (spots[title][1] - y) ** 2
        )
        assert sum(each.startswith(name.capitalize()) for each in near[: len(mine)]) >= 0.8 * len(
            mine
        )


def test_colours_say_what_is_chosen_and_stay(world_map: Page, visit: Visit) -> None:
    for said in ("type", "age", "use", "space"):
        world_map.get_by_label("Colour by").select_option(said)
    world_map.get_by_label("Colour by").select_option("age")
    world_map.get_by_text("Signs").click()
    expect(world_map.get_by_text("stronger colour: newer")).to_be_visible()
    page = _drawn(visit, "/graph")
    expect(page.get_by_label("Colour by")).to_have_value("age")


def test_a_question_shows_only_what_answers_it(world_map: Page, visit: Visit) -> None:
    box = world_map.get_by_role("searchbox", name="Show what answers …")
    box.fill("which berth is the boat in")
    box.press("Enter")

    panel = world_map.get_by_label("The map as a list")
    expect(panel.get_by_role("button", name=re.compile("Boats number")).first).to_be_visible()
    expect(panel.get_by_role("button", name=re.compile("Garden number"))).to_have_count(0)
    assert "q=which" in visit.path
    world_map.keyboard.press("Escape")
    world_map.keyboard.press("Escape")
    expect(panel.get_by_role("heading", name="Topics in view")).to_be_visible()


def test_the_map_grows_by_the_slider(world_map: Page) -> None:
    stage = world_map.locator("[data-drawn]")
    whole = int(stage.get_attribute("data-drawn") or 0)
    slider = world_map.get_by_label("The map as it had grown by")
    slider.focus()
    world_map.keyboard.press("Home")

    few = int(stage.get_attribute("data-drawn") or 0)
    expect(slider).to_have_attribute("aria-valuetext", re.compile("January 2026$"))
    world_map.keyboard.press("End")

    assert few < whole / 4
    expect(stage).to_have_attribute("data-drawn", str(whole))
    expect(slider).to_have_attribute("aria-valuetext", "all of the time")


def test_a_memory_under_the_pointer_lights_what_it_is_connected_with(
    visit: Visit, daemon: Daemon
) -> None:
    visit.context.add_init_script("""(() => {
      window.lit = 0
      const line = CanvasRenderingContext2D.prototype.lineTo
      CanvasRenderingContext2D.prototype.lineTo = function (...at) {
        if (this.canvas.className.includes('hovers')) window.lit++
        return line.apply(this, at)
      }
    })()""")
    known = {each["headline"]: each for each in daemon.ok("GET", "/ui/data/graph")["memories"]}
    page = _drawn(visit, f"/graph?focus={known['Atlas: maps for walkers']['id']}")
    page.wait_for_timeout(600)
    box = page.get_by_role("application").bounding_box()
    assert box
    for dx in range(-60, 61, 6):
        for dy in range(-60, 61, 12):
            page.mouse.move(box["x"] + box["width"] / 2 + dx, box["y"] + box["height"] / 2 + dy)
            if page.evaluate("window.lit"):
                return
    raise AssertionError("nothing was lit")


def test_a_new_memory_takes_its_place_beside_what_is_like_it(
    world_map: Page, daemon: Daemon
) -> None:
    before = _spots(daemon)
    title = "Garden in autumn"
    daemon.remember("The garden beds get compost; the last tomatoes are picked.", title=title)

    def placed() -> bool:
        daemon.ok("GET", "/ui/data/graph/map")
        return title in _spots(daemon)

    eventually(placed, seconds=30)
    after = _spots(daemon)
    x, y = after[title]
    near = sorted(before, key=lambda each: (before[each][0] - x) ** 2 + (before[each][1] - y) ** 2)
    assert near[0].startswith("Garden")
    assert all(after[each] == before[each] for each in before if each in after)


def test_an_area_has_the_strongest_of_what_lies_there(daemon: Daemon) -> None:
    left, bottom, right, top = daemon.ok("GET", "/ui/data/graph/map")["bounds"]
    half = {
        "left": int(left) - 1,
        "bottom": int(bottom) - 1,
        "right": int((left + right) / 2),
        "top": int(top) + 1,
    }
    found = daemon.ok(
        "GET", "/ui/data/graph/area", **{k: str(v) for k, v in half.items()}, limit="9"
    )
    spots = [each["spot"] for each in found["memories"]]
    assert 0 < len(spots) <= 9
    assert all(x <= half["right"] + 1 for x, *_ in spots)


def test_the_map_is_there_at_once_after_a_restart(daemon: Daemon) -> None:
    assert next(daemon.home.glob("map-*.npz")).stat().st_mode & 0o077 == 0


def test_the_map_has_no_barriers_and_fits_a_phone(
    world_map: Page, visit: Visit, browser: Browser, daemon: Daemon
) -> None:
    assert visit.faults() == []
    visit.picture("map")
    with visiting(browser, daemon, size="phone") as phone:
        page = _drawn(phone, "/graph")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390
