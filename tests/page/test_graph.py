"""The graph: the map and the same as a list, by mouse and by keys, near and far."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.browsing import Visit, visiting
from tests.page.world import LINKS, furnish
from tests.server.running import Daemon

MIDDLE = "Ana and the ledger"
REASON = "she checks them by hand"
LONG = "s" * 60
# Note what is written and drawn on which layer, frame by frame.
LAYERS = """() => {
  const noted = (window.noted = { words: [], strokes: [] })
  const layer = (context) => context.canvas.className.replace('sigma-', '')
  const text = CanvasRenderingContext2D.prototype
  const write = text.fillText
  text.fillText = function (words, ...at) {
    noted.words.push([layer(this), words.trim()])
    return write.call(this, words, ...at)
  }
  for (const name of ['drawArrays', 'drawArraysInstanced'])
    for (const gl of [WebGLRenderingContext.prototype, WebGL2RenderingContext.prototype]) {
      const draw = gl[name]
      if (draw) gl[name] = function (mode, ...rest) {
        noted.strokes.push([layer(this), mode])
        return draw.call(this, mode, ...rest)
      }
    }
}"""
DRAW_ANEW = """() => new Promise(done => {
  window.addEventListener('graph-drawn', () => {
    window.noted.words.length = window.noted.strokes.length = 0
    window.addEventListener('graph-drawn', () => done(window.noted), {once: true})
    window.dispatchEvent(new Event('resize'))
  }, {once: true})
  window.dispatchEvent(new Event('resize'))
})"""
LINES = 1  # of WebGL


@pytest.fixture(scope="module")
def ids(daemon: Daemon) -> dict[str, str]:
    """A small life, in which one more memory leads from the bank to the books."""
    known = furnish(daemon)
    known[MIDDLE] = daemon.remember(
        "Ana checks the bank imports by hand at the end of each month.",
        title=MIDDLE,
        space="ledger",
        type="procedure",
    )
    for target in ("Bank imports run at six", "Ana keeps the books"):
        body = {"source_id": known[MIDDLE], "target_id": known[target], "edge": "supports"}
        daemon.ok("POST", "/agent/connect", {**body, "reason": REASON})
    daemon.remember("A space can be called anything.", title="Of the long name", space=LONG)
    return known


@pytest.fixture
def graph(visit: Visit, ids: dict[str, str]) -> Page:
    assert ids
    return _drawn(visit, "/graph?by=space")


def _drawn(visit: Visit, path: str) -> Page:
    page = visit.open(path)
    page.wait_for_selector("[data-drawn]")
    page.wait_for_selector("section[aria-label='The map as a list'] li")
    return page


def _pixels(page: Page) -> int:
    """Count what stands out on the picture of the map: it really is drawn."""
    script = """() => new Promise(done => requestAnimationFrame(() => {
      window.dispatchEvent(new Event('resize'))
      window.addEventListener('graph-drawn', () => {
        const canvas = document.querySelector('.sigma-nodes')
        const [width, height] = [canvas.width, canvas.height]
        const gl = canvas.getContext('webgl2') || canvas.getContext('webgl')
        const pixels = new Uint8Array(width * height * 4)
        gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels)
        done(pixels.filter((each, at) => at % 4 === 3 && each > 100).length)
      }, {once: true})
    }))"""
    return int(page.evaluate(script))


def test_the_map_draws_every_memory_of_a_small_home(graph: Page, ids: dict[str, str]) -> None:
    drawn = int(graph.get_attribute("[data-drawn]", "data-drawn") or 0)

    assert drawn == len(ids) + 2  # the self is there, too, and what has the long name
    assert _pixels(graph) > 20 * drawn


def test_the_picture_is_the_same_next_time(visit: Visit, ids: dict[str, str]) -> None:
    assert ids
    pictures = []
    for _ in range(2):
        page = _drawn(visit, "/graph?by=space")
        page.wait_for_timeout(400)
        pictures.append(page.locator("[data-drawn]").screenshot())

    assert pictures[0] == pictures[1]


def test_a_memory_of_the_list_shows_what_surrounds_it(graph: Page, ids: dict[str, str]) -> None:
    graph.get_by_role("button", name=re.compile("Atlas: maps for walkers")).click()

    expect(graph).to_have_url(re.compile(f"focus={ids['Atlas: maps for walkers']}"))
    panel = graph.get_by_label("The map as a list")
    expect(panel.get_by_role("heading", name="Atlas: maps for walkers")).to_be_visible()
    expect(panel).to_contain_text("2 connections")
    expect(panel).to_contain_text("Tiles are cut at zoom fourteen")
    graph.keyboard.press("Escape")
    expect(panel.get_by_role("heading", name="Spaces")).to_be_visible()


def test_a_click_on_the_map_focuses_the_memory_under_it(graph: Page, ids: dict[str, str]) -> None:
    graph.goto(f"{graph.url.split('?')[0]}?focus={ids['Idempotency']}")
    expect(graph.get_by_role("heading", name="Idempotency")).to_be_visible()
    graph.get_by_role("button", name="Close").click()
    graph.goto(f"{graph.url.split('?')[0]}?from={ids['Idempotency']}&to={ids['Idempotency']}")
    graph.wait_for_timeout(400)
    box = graph.locator("[data-drawn]").bounding_box()
    assert box is not None

    graph.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    expect(graph).to_have_url(re.compile(f"focus={ids['Idempotency']}"))


def test_keys_go_through_the_list_and_into_it(graph: Page) -> None:
    first = graph.locator("section h3 + ul button").nth(1)
    title = first.locator(".title").inner_text()

    graph.locator("[data-drawn]").focus()
    graph.keyboard.press("j")
    graph.keyboard.press("j")
    expect(first).to_have_attribute("aria-current", "true")
    graph.keyboard.press("Enter")

    expect(graph.locator(".head h2")).to_have_text(title)
    graph.keyboard.press("o")
    expect(graph).to_have_url(re.compile("/ui/m/"))


def test_the_way_between_two_memories_is_found_and_said(graph: Page, ids: dict[str, str]) -> None:
    graph.goto(f"{graph.url.split('?')[0]}?focus={ids['Idempotency']}")
    graph.get_by_role("button", name=re.compile("Way to")).click()
    graph.get_by_role("searchbox", name="Which memory?").fill("Rounding is half-even")
    best = graph.get_by_role("dialog").get_by_role("link").first
    expect(best).to_contain_text("Rounding is half-even")
    best.click()

    panel = graph.get_by_label("The map as a list")
    expect(panel.get_by_role("heading", name="The way between them")).to_be_visible()
    titles = panel.locator("ol .title")
    expect(titles).to_have_text(
        [
            "Idempotency",
            "Bank imports run at six",
            MIDDLE,
            "Ana keeps the books",
            "Rounding is half-even",
        ]
    )
    expect(panel.locator("ol .before")).to_have_text(
        [
            "is needed by",
            "is supported by",
            f"“{REASON}”",
            "supports",
            f"“{REASON}”",
            "led to",
        ]
    )


def test_what_surrounds_a_memory_is_told_with_its_reason(visit: Visit, ids: dict[str, str]) -> None:
    page = _drawn(visit, f"/graph?by=space&focus={ids['Ana keeps the books']}")

    near = page.get_by_role("button", name=re.compile(MIDDLE))
    expect(near.locator(".before")).to_have_text(["is supported by", f"“{REASON}”"])
    page.goto(f"{visit.root}/graph?by=space&focus={ids['Lives in Dublin']}")
    expect(page.get_by_text("“it is about you”")).to_be_visible()


def _layers(visit: Visit, path: str) -> dict[str, list[list[Any]]]:
    """Return what is written and drawn in one frame, each with its layer."""
    visit.page.add_init_script(f"({LAYERS})()")
    page = _drawn(visit, path)
    page.wait_for_timeout(400)
    noted: dict[str, list[list[Any]]] = page.evaluate(DRAW_ANEW)
    return noted


def test_names_of_spaces_stand_above_the_connections(visit: Visit, ids: dict[str, str]) -> None:
    assert ids
    noted = _layers(visit, "/graph?by=space")

    layers = [
        each.replace("sigma-", "")
        for each in visit.page.locator("canvas").evaluate_all(
            "all => all.map(each => each.className)"
        )
    ]
    for name in ("atlas", "ledger", "global"):
        written = [layer for layer, words in noted["words"] if words == name]
        assert written, name
        assert layers.index(written[0]) > layers.index("edges"), name
    assert not [words for _, words in noted["words"] if len(words) > 40]


def test_a_way_is_drawn_above_the_other_connections_and_all_of_it_is_named(
    visit: Visit, ids: dict[str, str]
) -> None:
    one, other = ids["Idempotency"], ids["Rounding is half-even"]

    noted = _layers(visit, f"/graph?by=space&from={one}&to={other}")

    modes = [mode for layer, mode in noted["strokes"] if layer == "edges"]
    assert LINES in modes
    assert modes[-1] != LINES
    titles = visit.page.locator("ol .title").all_inner_texts()
    written = {words for _, words in noted["words"]}
    assert len(titles) == 5
    assert written.issuperset(titles)


def test_lines_are_named_above_all_memories_in_the_words_of_the_list(
    visit: Visit, ids: dict[str, str]
) -> None:
    one, other = ids["Idempotency"], ids["Lives in Dublin"]
    found = {"source_id": one, "target_id": other, "edge": "discovered"}
    said = {"reason": "parallel context, likeness 0.39"}
    visit.daemon.ok("POST", "/agent/connect", {**found, **said})

    noted = _layers(visit, f"/graph?by=space&from={one}&to={other}")
    visit.daemon.ok("POST", "/agent/disconnect", found)

    expect(visit.page.locator("ol .before")).to_have_text(
        ["goes together with", "“they came within a week of each other”"]
    )
    written = [layer for layer, words in noted["words"] if words == "goes together with"]
    assert written == ["labels"], "memories are drawn below this layer"
    assert "discovered" not in {words for _, words in noted["words"]}


@pytest.mark.parametrize("size", ["laptop", "phone"])
def test_a_long_name_of_a_space_leaves_the_counts_in_sight(
    browser: Browser, daemon: Daemon, ids: dict[str, str], size: str
) -> None:
    assert ids
    with visiting(browser, daemon, size) as visit:
        page = _drawn(visit, "/graph?by=space")

        panel = page.get_by_label("The map as a list")
        assert panel.evaluate("each => each.scrollWidth <= each.clientWidth")
        edge = page.evaluate("innerWidth")
        for count in panel.locator(".space .smaller").all():
            box = count.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= edge


def test_two_memories_that_do_not_hang_together_are_said_so(
    visit: Visit, ids: dict[str, str]
) -> None:
    one, other = ids["Idempotency"], ids["Deploys happen on Tuesdays"]

    page = visit.open(f"/graph?by=space&from={one}&to={other}")

    expect(page.get_by_label("The map as a list")).to_contain_text("do not hang together")


def test_a_forgotten_memory_can_be_opened_from_where_it_would_be(
    visit: Visit, daemon: Daemon, ids: dict[str, str]
) -> None:
    gone = daemon.remember("Soon nobody will know this.", title="Gone soon")
    daemon.ok("DELETE", f"/agent/recall/{gone}")
    visit.expects("404")

    page = visit.open(f"/graph?by=space&focus={gone}")
    expect(page.get_by_text("This memory is not on the map")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    assert visit.faults() == []
    visit.open(f"/graph?by=space&from={ids['Idempotency']}&to={gone}")
    expect(page.get_by_text("“Gone soon” is not on the map")).to_be_visible()
    page.get_by_role("link", name="Open it").click()

    expect(page.get_by_text("This memory is forgotten")).to_be_visible()
    assert visit.path == f"/m/{gone}"


@pytest.mark.parametrize("asked", ["focus=zzz", "from={id}&to=zzz"])
def test_a_memory_that_never_was_is_not_offered_to_be_opened(
    visit: Visit, ids: dict[str, str], asked: str
) -> None:
    visit.expects("404")

    page = visit.open(f"/graph?by=space&{asked.format(id=ids['Idempotency'])}")

    expect(page.get_by_text("There is no such memory")).to_be_visible()
    expect(page.get_by_role("link", name="Open it")).to_have_count(0)
    assert visit.faults() == []
    page.get_by_role("button", name="Back to the map").click()
    expect(page.get_by_role("heading", name="Spaces")).to_be_visible()


def test_the_map_moves_and_zooms_by_keys_and_comes_back(graph: Page) -> None:
    stage = graph.locator("[data-drawn]")
    before = stage.screenshot()
    stage.focus()

    for key in ("+", "+", "ArrowRight", "ArrowUp"):
        graph.keyboard.press(key)
    graph.wait_for_timeout(500)
    assert stage.screenshot() != before
    graph.keyboard.press("0")
    graph.wait_for_timeout(500)
    graph.evaluate("document.activeElement.blur()")

    assert stage.screenshot() == before


def test_the_map_is_dragged_by_the_mouse(graph: Page) -> None:
    stage = graph.locator("[data-drawn]")
    before, box = stage.screenshot(), stage.bounding_box()
    assert box is not None
    x, y = box["x"] + 40, box["y"] + box["height"] / 2

    graph.mouse.move(x, y)
    graph.mouse.down()
    graph.mouse.move(x + 200, y + 30, steps=8)
    graph.mouse.up()
    graph.wait_for_timeout(500)

    assert stage.screenshot() != before
    expect(graph).to_have_url(re.compile(r"/ui/graph\?by=space$"))


def test_a_space_fills_the_view(graph: Page) -> None:
    graph.get_by_role("button", name=re.compile("^atlas")).click()

    expect(graph).to_have_url(re.compile("space=atlas"))
    expect(graph.get_by_role("button", name=re.compile("^atlas"))).to_have_attribute(
        "aria-current", "true"
    )


def test_a_new_memory_appears_without_being_asked_for(
    graph: Page, daemon: Daemon, ids: dict[str, str]
) -> None:
    before = int(graph.get_attribute("[data-drawn]", "data-drawn") or 0)

    ids["new"] = daemon.remember("Sheep have the right of way.", title="Sheep", space="atlas")

    graph.wait_for_function(
        f"() => Number(document.querySelector('[data-drawn]').dataset.drawn) > {before}"
    )


def test_a_browser_that_cannot_draw_still_has_the_list(visit: Visit, ids: dict[str, str]) -> None:
    assert ids
    blind = "HTMLCanvasElement.prototype.getContext = () => null"
    visit.page.add_init_script(blind)

    page = visit.open("/graph?by=space")

    expect(page.get_by_text("This browser cannot draw the map")).to_be_visible()
    page.get_by_role("button", name=re.compile("Atlas: maps for walkers")).click()
    expect(page.get_by_label("The map as a list")).to_contain_text("2 connections")


def test_the_graph_is_accessible_as_map_as_list_and_with_its_signs(
    visit: Visit, ids: dict[str, str]
) -> None:
    page = _drawn(visit, "/graph?by=space")
    page.get_by_text("Signs").click()
    assert visit.faults() == []

    page = _drawn(visit, f"/graph?by=space&focus={ids['Atlas: maps for walkers']}")
    assert visit.faults() == []


def test_the_graph_fits_a_phone(browser: Browser, daemon: Daemon, ids: dict[str, str]) -> None:
    assert ids
    with visiting(browser, daemon, "phone") as visit:
        page = _drawn(visit, "/graph?by=space")

        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        expect(page.locator("[data-drawn]")).to_be_in_viewport()
        assert visit.faults() == []


@pytest.mark.soak
def test_pictures_of_the_graph_are_kept(visit: Visit, ids: dict[str, str]) -> None:
    assert len(LINKS) > 5
    _drawn(visit, "/graph?by=space")
    visit.picture("graph")
    _drawn(visit, f"/graph?by=space&focus={ids['Atlas: maps for walkers']}")
    visit.picture("graph-focus")


# -- what the daemon answers -----------------------------------------------------------------


def test_answers_about_the_graph_are_bounded(daemon: Daemon, ids: dict[str, str]) -> None:
    few = daemon.ok("GET", "/ui/data/graph", limit="1")
    page = daemon.ok("GET", "/ui/data/graph/space", space="atlas", limit="2", offset="1")

    assert len(few["memories"]) <= 8 * len(few["regions"])  # the least of each space
    assert few["total"] >= len(ids)
    assert len(page["memories"]) == 2
    assert daemon.ask("GET", "/ui/data/graph", limit="100000").status == 422


def test_what_surrounds_a_memory_says_who_is_next_to_it(
    daemon: Daemon, ids: dict[str, str]
) -> None:
    answer = daemon.ok("GET", f"/ui/data/graph/near/{ids['Ana keeps the books'][:8]}")

    assert set(answer["near"]) == {ids["Rounding is half-even"], ids[MIDDLE]}
    assert ids["Bank imports run at six"] in {each["id"] for each in answer["memories"]}
