"""Time: the timeline, a day in the past, what changed its mind and what is at odds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, expect

from tests.page.browsing import Visit, visiting
from tests.page.world import furnish
from tests.server.running import Daemon, running


@pytest.fixture(scope="module")
def ids(daemon: Daemon) -> dict[str, str]:
    """The ids of a small life, by title, with one tension in it."""
    found = furnish(daemon)
    tie(daemon, found["Deploys happen on Tuesdays"], found["How a release is made"])
    return found


def tie(daemon: Daemon, newer: str, older: str) -> None:
    body = {"source_id": newer, "target_id": older, "edge": "contradicts", "reason": "which day?"}
    daemon.ok("POST", "/agent/connect", body)


@pytest.fixture
def apart(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Daemon]:
    """A daemon of its own, for what changes things."""
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with running(tmp_path_factory.mktemp("home")) as daemon:
        yield daemon


def test_the_timeline_tells_by_day_what_became_known_and_what_turned(
    visit: Visit, ids: dict[str, str]
) -> None:
    page = visit.open("/time")

    timeline = page.locator("#timeline")
    expect(timeline.get_by_role("heading", name="29 October 2026")).to_be_visible()
    expect(timeline).to_contain_text("Elevation service has a mirror")
    expect(timeline).to_contain_text("Changed its mind")
    expect(timeline).to_contain_text("These two contradict each other")
    days = timeline.get_by_role("heading", level=2).all_inner_texts()
    assert len(days) == len(set(days)) > 10
    expect(page.get_by_role("img", name=re.compile("memories became known"))).to_be_visible()


def test_j_and_enter_open_a_memory_from_the_timeline(visit: Visit, ids: dict[str, str]) -> None:
    page = visit.open("/time")
    page.wait_for_selector("#timeline a.line")

    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#timeline a.chosen")).to_have_count(1)
    headline = page.locator("#timeline a.chosen .title").inner_text()
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text(headline)


def test_a_day_by_the_date_field_shows_what_held_then(visit: Visit, ids: dict[str, str]) -> None:
    page = visit.open("/time")

    page.get_by_label("As it was on", exact=True).last.fill("2026-06-01")
    page.keyboard.press("Tab")

    expect(page.get_by_role("heading", name="As it was on 1 June 2026")).to_be_visible()
    held = page.locator("#held")
    expect(held).to_contain_text("Old port of the tile server")
    expect(held.locator("a", has_text="Tile server port")).to_have_count(0)
    expect(
        page.get_by_text(re.compile(r"13 memories held\. Since then \d+ came and 1 went"))
    ).to_be_visible()
    assert visit.path == "/time?day=2026-06-01"


@pytest.mark.parametrize("path", ["/time?day=2026-06-01", "/search?holds=2026-06-01"])
def test_what_held_on_a_day_is_not_struck_out_there(
    visit: Visit, ids: dict[str, str], path: str
) -> None:
    page = visit.open(path)

    row = page.locator("a.line", has_text="Old port of the tile server")
    expect(row).to_contain_text("held until 1 August 2026")
    expect(row.locator(".chip")).to_have_count(0)
    struck = row.locator(".title").evaluate("each => getComputedStyle(each).textDecorationLine")
    assert struck == "none"


# The same moment, the day on which it was there, and the day before.
PLACES = [
    ("America/Los_Angeles", "2026-06-16T03:00:00Z", "2026-06-15", "15 June 2026", "2026-06-14"),
    ("Asia/Tokyo", "2026-06-15T20:00:00Z", "2026-06-16", "16 June 2026", "2026-06-15"),
]


@pytest.mark.parametrize(("zone", "created", "day", "named", "before"), PLACES)
def test_a_day_is_a_day_where_the_person_is(
    browser: Browser, apart: Daemon, zone: str, created: str, day: str, named: str, before: str
) -> None:
    apart.remember("The lamp in the hall is green", title="Hall lamp", created=created)
    with visiting(browser, apart, zone=zone) as visit:
        page = visit.open("/time")
        expect(page.locator("#timeline").get_by_role("heading", level=2)).to_have_text(named)
        page.get_by_role("slider", name="As it was on").focus()

        page.keyboard.press("Home")
        while visit.path < f"/time?day={day}":
            page.keyboard.press("ArrowRight")

        expect(page.get_by_role("heading", name=f"As it was on {named}")).to_be_visible()
        expect(page.locator("#held")).to_contain_text("Hall lamp")
        with page.expect_request(re.compile("/data/memory/.*as_of")) as asked:
            page.locator("#held a").click()
        expect(page.get_by_text(f"As it was on {named}.")).to_be_visible()
        end = datetime.fromisoformat(f"{day}T23:59:59.999").replace(tzinfo=ZoneInfo(zone))
        assert datetime.fromisoformat(parse_qs(urlsplit(asked.value.url).query)["as_of"][0]) == end
        visit.open(f"/time?day={before}")
        expect(page.locator("#held")).to_contain_text("Nothing was known then")
        visit.open(f"/search?when={day}..{day}&holds={day}")
        expect(page.locator("#found a")).to_have_count(1)


@pytest.mark.parametrize(("zone", "created", "day", "named", "before"), PLACES)
def test_bars_stand_for_days_where_the_person_is(
    browser: Browser, apart: Daemon, zone: str, created: str, day: str, named: str, before: str
) -> None:
    now = datetime.now(ZoneInfo(zone)).replace(microsecond=0)
    late = (now - timedelta(days=3)).replace(hour=23, minute=50)
    early = (now - timedelta(days=2)).replace(hour=0, minute=10)
    for at in (late, early):
        apart.remember(f"Seen at {at}", created=at.astimezone(UTC).isoformat())
    with visiting(browser, apart, zone=zone) as visit:
        page = visit.open("/time")

        for at in (late, early):
            name = f"day from {at:%-d %B %Y}: 1 memory"
            expect(page.get_by_title(name, exact=True)).to_have_count(1)
        assert page.locator('.on input[type="date"]').get_attribute("max") == f"{now:%Y-%m-%d}"
        visit.open("/")
        days = page.get_by_role("region", name="Days")
        expect(days.get_by_role("link", name=f"{late:%-d %B %Y}: 1 memory")).to_have_count(1)


@pytest.mark.parametrize("day", ["2026-02-31", "2026-13-01", "yesterday", "2026-1-5"])
def test_a_day_that_there_is_not_is_said_to_be_none(visit: Visit, day: str) -> None:
    page = visit.open(f"/time?day={day}")

    expect(page.get_by_text(f"There is no such day as {day}")).to_be_visible()
    page.get_by_role("button", name="Go to today").click()
    expect(page.locator("#timeline")).to_be_visible()
    assert visit.path == "/time"


def test_a_day_to_come_is_said_not_to_be_here_yet(visit: Visit, ids: dict[str, str]) -> None:
    page = visit.open("/time?day=2999-01-01")
    expect(page.get_by_text("1 January 2999 is not here yet")).to_be_visible()
    assert visit.faults() == []

    visit.open(f"/m/{ids['Tile server port']}?as_of=2026-02-31")
    expect(page.get_by_text("There is no such day as 2026-02-31")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Tile server port")


def test_the_handle_goes_back_in_time_by_keyboard(visit: Visit, ids: dict[str, str]) -> None:
    page = visit.open("/time")
    handle = page.get_by_role("slider", name="As it was on")
    page.wait_for_selector("#timeline a.line")

    handle.focus()
    page.keyboard.press("Home")

    expect(page.locator("#held")).to_contain_text("Nothing was known then")
    page.keyboard.press("PageUp")
    page.keyboard.press("PageUp")
    expect(page.locator("#held")).to_contain_text("Atlas: maps for walkers")
    page.keyboard.press("End")
    expect(page.locator("#timeline")).to_be_visible()
    assert visit.path == "/time"


def test_a_memory_opened_from_a_day_is_shown_as_it_was(visit: Visit, ids: dict[str, str]) -> None:
    page = visit.open("/time?day=2026-06-01")

    page.locator("#held a", has_text="Old port of the tile server").click()

    expect(page.get_by_text("As it was on 1 June 2026")).to_be_visible()
    assert visit.path == f"/m/{ids['Old port of the tile server']}?as_of=2026-06-01"


def test_a_memory_of_a_day_opens_in_a_tab_of_its_own_as_it_was(
    visit: Visit, ids: dict[str, str]
) -> None:
    page = visit.open("/time?day=2026-06-01")
    row = page.locator("#held a", has_text="Old port of the tile server")
    for how in ({"modifiers": ["ControlOrMeta"]}, {"button": "middle"}):
        with visit.context.expect_page() as opened:
            row.click(**how)
        opened.value.wait_for_selector("main h1")
        expect(opened.value.get_by_text("As it was on 1 June 2026")).to_be_visible()
        opened.value.close()

    assert visit.path == "/time?day=2026-06-01"


def test_the_focus_stays_among_the_tensions_when_one_is_settled(
    browser: Browser, apart: Daemon
) -> None:
    for name in ("Ferry", "Tram"):
        older = apart.remember(f"The {name} is blue", title=f"{name} blue")
        tie(apart, apart.remember(f"The {name} is red", title=f"{name} red"), older)
    with visiting(browser, apart) as visit:
        page = visit.open("/time?show=tensions")
        page.get_by_role("button", name="This one holds: Ferry red").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("1 tension to settle")).to_be_visible()
        expect(page.locator("#turns > .turn :focus")).to_have_count(1)

        page.get_by_role("button", name="Both hold").focus()
        page.keyboard.press("Enter")

        expect(page.get_by_text("0 tensions to settle")).to_be_focused()


def test_evolutions_stand_side_by_side_with_their_texts(visit: Visit, ids: dict[str, str]) -> None:
    page = visit.open("/time")
    page.keyboard.press("2")

    turn = page.locator("#turns .turn", has_text="Tile server port")
    expect(turn).to_contain_text("Old port of the tile server")
    turn.get_by_role("button", name="Compare the texts").click()
    expect(turn.locator("td.removed")).to_contain_text("8081")
    expect(turn.locator("td.added")).to_contain_text("9000")
    assert visit.path == "/time?show=evolutions"


def test_a_tension_is_settled_by_saying_which_holds_and_that_is_taken_back(
    browser: Browser, apart: Daemon
) -> None:
    older = apart.remember("Never deploy on a Tuesday", title="Not on Tuesdays")
    newer = apart.remember("Always deploy on a Tuesday", title="On Tuesdays")
    tie(apart, newer, older)
    with visiting(browser, apart) as visit:
        page = visit.open("/time?show=tensions")
        expect(page.get_by_text("1 tension to settle")).to_be_visible()

        page.get_by_role("button", name="This one holds: On Tuesdays").click()

        expect(page.get_by_text("0 tensions to settle")).to_be_visible()
        expect(page.get_by_text("1 settled")).to_be_visible()
        seen = apart.ok("GET", f"/ui/data/memory/{older}")["memory"]
        assert seen["superseded_by"] == newer
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("1 tension to settle")).to_be_visible()
        assert apart.ok("GET", f"/ui/data/memory/{older}")["memory"]["superseded_by"] is None


def test_a_tension_that_is_none_goes_by_keyboard_and_comes_back(
    browser: Browser, apart: Daemon
) -> None:
    older = apart.remember("The red house is old", title="Red house")
    newer = apart.remember("The blue house is new", title="Blue house")
    tie(apart, newer, older)
    with visiting(browser, apart) as visit:
        page = visit.open("/time")
        page.keyboard.press("3")
        button = page.get_by_role("button", name="Both hold")
        button.focus()
        page.keyboard.press("Enter")

        expect(page.get_by_text("Nothing contradicts anything")).to_be_visible()
        page.get_by_role("button", name="Undo").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("1 tension to settle")).to_be_visible()


def test_what_is_remembered_meanwhile_appears_in_the_timeline(
    browser: Browser, apart: Daemon
) -> None:
    with visiting(browser, apart) as visit:
        page = visit.open("/time")
        expect(page.get_by_text("Nothing is known yet")).to_be_visible()

        apart.remember("The first thing there is to know")

        expect(page.locator("#timeline")).to_contain_text("The first thing there is to know")


def test_a_long_past_is_shown_page_by_page(browser: Browser, apart: Daemon) -> None:
    drafts = [
        {"content": f"Thing number {n}", "created": f"2026-01-{n % 28 + 1:02}T0{n % 9}:00:00Z"}
        for n in range(90)
    ]
    apart.ok("POST", "/agent/remember/batch", {"items": drafts})
    with visiting(browser, apart) as visit:
        page = visit.open("/time")
        rows = page.locator("#timeline a.line")
        expect(rows).to_have_count(40)
        page.get_by_role("button", name="Show what was before (50)").click()
        expect(rows).to_have_count(80)
        page.get_by_role("button", name="Show what was before (10)").click()
        expect(rows).to_have_count(90)


@pytest.mark.parametrize("path", ["/time", "/time?day=2026-06-01"])
def test_the_timeline_and_a_day_are_accessible(
    visit: Visit, ids: dict[str, str], path: str
) -> None:
    visit.open(path).wait_for_selector("#timeline a.line, #held a")

    assert visit.faults() == []


@pytest.mark.parametrize("show", ["evolutions", "tensions"])
def test_evolutions_and_tensions_are_accessible(
    visit: Visit, ids: dict[str, str], show: str
) -> None:
    page = visit.open(f"/time?show={show}")
    page.get_by_role("button", name="Compare the texts").first.click()
    page.wait_for_selector("#turns td")

    assert visit.faults() == []


def test_time_fits_a_phone(browser: Browser, daemon: Daemon, ids: dict[str, str]) -> None:
    with visiting(browser, daemon, "phone") as visit:
        for path in ("/time", "/time?day=2026-06-01", "/time?show=tensions"):
            page = visit.open(path)
            page.wait_for_selector("#timeline a, #held a, #turns a")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert visit.faults() == []


@pytest.mark.soak
def test_pictures_of_time_are_kept(visit: Visit, ids: dict[str, str]) -> None:
    page = visit.open("/time")
    page.wait_for_selector("#timeline a.line")
    visit.picture("time")
    visit.open("/time?day=2026-06-01")
    page.wait_for_selector("#held a")
    visit.picture("time-day")
    visit.open("/time?show=tensions")
    page.wait_for_selector("#turns a")
    visit.picture("time-tensions")
