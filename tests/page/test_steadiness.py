"""What must not shake the page: a daemon that dies, and memories made to do harm."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.browsing import Visit, visiting
from tests.server.running import Daemon, running

HARM = (
    "<script>window.harmed = 'script'</script>",
    "<img src=x onerror=\"window.harmed = 'img'\">",
    "<svg onload=\"window.harmed = 'svg'\"></svg>",
    "[click](javascript:window.harmed='link') and [this](data:text/html,<script>alert(1)</script>)",
    "![picture](http://evil.example/pixel.png) <iframe src='http://evil.example'></iframe>",
    "</textarea></title><base href='http://evil.example/'>",
    "{@html '<b>svelte</b>'} {{constructor.constructor('window.harmed=1')()}}",
)


@pytest.fixture(scope="module")
def harmed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A home with memories that try to be more than text, and one of a megabyte."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        patch.setenv("MADELEINE_LIMITS_CONTENT_BYTES", "4000000")
        with running(tmp_path_factory.mktemp("home")) as daemon:
            for text in HARM:
                daemon.remember(f"{text}\n\nharmful text", title=text[:150], tags=["harm"])
            daemon.remember("<b>harmful</b> and long. " * 41_000, title="A megabyte", tags=["harm"])
            yield daemon


@contextmanager
def watched(browser: Browser, daemon: Daemon) -> Iterator[Visit]:
    """Visit, and fail if anything of a memory ran or was fetched from elsewhere."""
    with visiting(browser, daemon) as visit:
        foreign: list[str] = []
        own = f"http://127.0.0.1:{daemon.launched.port}/"
        visit.page.on(
            "request",
            lambda asked: (
                None if asked.url.startswith((own, "data:")) else foreign.append(asked.url)
            ),
        )
        yield visit
        assert visit.page.evaluate("() => window.harmed") is None
        assert visit.page.locator("main img, main script, main iframe, base").count() == 0
        assert foreign == []


@pytest.mark.few(4)
@pytest.mark.parametrize("path", ["/", "/search", "/search?q=harmful+text", "/graph", "/time"])
def test_memories_made_to_do_harm_run_nothing_in_any_view(
    browser: Browser, harmed: Daemon, path: str
) -> None:
    with watched(browser, harmed) as visit:
        page = visit.open(path)
        if path.startswith("/search"):
            expect(page.locator("#found")).to_contain_text("<script>window.harmed")
        page.wait_for_timeout(500)


@pytest.mark.few(2)
@pytest.mark.parametrize("harm", range(len(HARM)))
def test_a_memory_made_to_do_harm_is_shown_as_text(
    browser: Browser, harmed: Daemon, harm: int
) -> None:
    found = harmed.ok("GET", "/agent/list", tags="harm")["memories"]
    memory = next(each["id"] for each in found if each["content"].startswith(HARM[harm]))

    with watched(browser, harmed) as visit:
        page = visit.open(f"/m/{memory}")
        expect(page.locator("h1")).to_have_text(HARM[harm][:150].strip())
        expect(page.locator("main")).to_contain_text("harmful text")
        addresses = page.locator("main a").evaluate_all("all => all.map(each => each.protocol)")
        assert set(addresses) <= {"http:", "https:", "mailto:"}


def test_a_memory_of_a_megabyte_is_shown_without_a_halt(browser: Browser, harmed: Daemon) -> None:
    found = harmed.ok("GET", "/ui/data/search", query="A megabyte")["memories"]
    memory = next(each["id"] for each in found if each["headline"] == "A megabyte")

    with watched(browser, harmed) as visit:
        page = visit.open(f"/m/{memory}")
        expect(page.locator("main")).to_contain_text("<b>harmful</b> and long.")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()


def test_a_list_never_carries_a_long_text_whole(harmed: Daemon) -> None:
    answer = harmed.ask("GET", "/ui/data/list", tags="harm")

    assert len(answer.body["memories"]) == len(HARM) + 1
    assert len(str(answer.body)) < 20_000


def test_the_daemon_dies_and_the_page_waits_and_goes_on_by_itself(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    home = tmp_path / "home"
    with running(home) as daemon, visiting(browser, daemon) as visit:
        visit.expects("ERR_")  # the browser notes every request that nobody answers
        daemon.remember("The first memory stays where it is")
        page = visit.open("/search")
        expect(page.locator("#found")).to_contain_text("The first memory")
        page.keyboard.type("first mem")

        port = daemon.launched.port
        daemon.kill()
        expect(page.get_by_text("The daemon does not answer")).to_be_visible()
        page.keyboard.type("ory")
        with running(home, port=port) as again:
            again.remember("A second memory was written after the night")
            expect(page.get_by_text("The daemon does not answer")).to_have_count(0)
            expect(page.locator("#search")).to_have_value("first memory")
            expect(page.locator("#found")).to_contain_text("The first memory")
            page.keyboard.press("Escape")
            page.keyboard.press("Escape")
            expect(page.locator("#found")).to_contain_text("A second memory")


@pytest.mark.soak
def test_an_answer_ends_the_wait_and_what_was_said_about_it(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    home = tmp_path / "home"
    with running(home) as daemon, visiting(browser, daemon) as visit:
        visit.expects("ERR_")
        memory = daemon.remember("It is forgotten when somebody answers again")
        visit.page.clock.install()
        page = visit.open(f"/m/{memory}")
        page.get_by_role("button", name="Forget").wait_for()
        daemon.kill()
        expect(page.locator(".away")).to_be_visible()
        # From now on no time passes, so that nothing ends by itself.
        page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
        page.get_by_role("button", name="Forget").click()
        expect(page.locator(".toast.bad")).to_contain_text("The daemon does not answer")

        with running(home, port=daemon.launched.port):
            page.get_by_role("button", name="Forget").click()

            expect(page.get_by_text("This memory is forgotten")).to_be_visible()
            expect(page.locator(".away")).to_have_count(0)
            expect(page.locator(".toast.bad")).to_have_count(0)


HIDE = """hidden => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
  document.dispatchEvent(new Event('visibilitychange'))
}"""


def test_a_tab_that_nobody_looks_at_lets_go_of_its_line_and_catches_up_later(
    browser: Browser, harmed: Daemon
) -> None:
    """A browser opens six connections at most: a seventh tab must not wait for six hidden ones."""
    with visiting(browser, harmed) as visit:
        visit.page.clock.install()
        page = visit.open("/search?tags=patience")
        expect(page.get_by_text("No memory passes these filters")).to_be_visible()
        with page.expect_event("requestfailed", lambda request: "/events" in request.url):
            page.evaluate(HIDE, True)
            page.clock.fast_forward(20_000)
        harmed.remember("Patience is a plant as well", tags=["patience"])
        page.clock.fast_forward(20_000)
        expect(page.get_by_text("The daemon does not answer")).to_have_count(0)

        page.evaluate(HIDE, False)

        expect(page.locator("#found")).to_contain_text("Patience is a plant")


def opened(visit: Visit, path: str, many: int) -> list[Page]:
    """Open so many tabs side by side; for the browser all of them are looked at."""
    tabs = [visit.page, *(visit.window() for _ in range(many - 1))]
    for tab in tabs:
        tab.goto(f"{visit.root}{path}", wait_until="commit")
    for tab in tabs:
        tab.wait_for_selector("main h1, main input")
    return tabs


def lines(visit: Visit) -> list[Page]:
    """Return, from now on, the tabs that take up a line to the daemon."""
    found: list[Page] = []
    visit.context.on(
        "request",
        lambda asked: found.append(asked.frame.page) if asked.url.endswith("/events") else None,
    )
    return found


def test_eight_windows_share_one_line_and_all_hear_what_happens(
    browser: Browser, harmed: Daemon
) -> None:
    """A browser opens six connections at most: a line for each would leave none for the rest."""
    with visiting(browser, harmed) as visit:
        held = lines(visit)
        tabs = opened(visit, "/search?tags=eight", 8)
        for tab in tabs:
            expect(tab.get_by_text("No memory passes these filters")).to_be_visible()
        harmed.remember("Eight tabs hear of one memory", tags=["eight"])
        for tab in tabs:
            expect(tab.locator("#found")).to_contain_text("Eight tabs hear")

        # Whoever has the line is closed, and closed again: it passes on and nothing is missed.
        for text in ("The first heir hears this", "The second heir hears this"):
            before = len(held)
            tabs.remove(held[-1])
            held[-1].close()
            harmed.remember(text, tags=["eight"])
            for tab in tabs:
                expect(tab.locator("#found")).to_contain_text(text)
            assert len(held) == before + 1, "one tab takes the line up, and no other"


@pytest.mark.soak
def test_a_daemon_that_dies_and_comes_back_is_seen_in_all_windows(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    home = tmp_path / "home"
    with running(home) as daemon, visiting(browser, daemon) as visit:
        visit.expects("ERR_")
        tabs = opened(visit, "/search", 8)
        for tab in tabs:
            expect(tab.get_by_text("There are no memories yet")).to_be_visible()
        daemon.kill()
        for tab in tabs:
            expect(tab.locator(".away")).to_be_visible()

        with running(home, port=daemon.launched.port) as again:
            again.remember("It was written after the night")
            for tab in tabs:
                expect(tab.locator(".away")).to_have_count(0)
                expect(tab.locator("#found")).to_contain_text("written after the night")


@pytest.mark.soak
def test_a_hidden_window_passes_the_line_on_to_one_that_is_looked_at(
    browser: Browser, harmed: Daemon
) -> None:
    with visiting(browser, harmed) as visit:
        visit.page.clock.install()
        held = lines(visit)
        first, second = opened(visit, "/search?tags=passing", 2)
        expect(second.get_by_text("No memory passes these filters")).to_be_visible()
        assert held == [first]
        with visit.context.expect_event("request", lambda asked: "/events" in asked.url):
            first.evaluate(HIDE, True)
            first.clock.fast_forward(20_000)
        assert held == [first, second]
        harmed.remember("Only one of two is looked at", tags=["passing"])
        expect(second.locator("#found")).to_contain_text("Only one of two")
        expect(first.get_by_text("No memory passes these filters")).to_be_visible()

        first.evaluate(HIDE, False)

        expect(first.locator("#found")).to_contain_text("Only one of two")
        assert held == [first, second], "it listens to the other one"


@pytest.mark.soak
def test_a_window_that_stands_still_loses_the_line_to_another(
    browser: Browser, harmed: Daemon
) -> None:
    """A browser may stop a tab altogether, and with it the lock by which it holds the line."""
    with visiting(browser, harmed) as visit:
        other = visit.window()
        visit.open("/search?tags=still")
        held = lines(visit)
        other.clock.install()
        other.goto(f"{visit.root}/search?tags=still")
        expect(other.get_by_text("No memory passes these filters")).to_be_visible()
        assert held == []
        with visit.context.expect_event("request", lambda asked: "/events" in asked.url):
            other.clock.fast_forward(60_000)
        assert held[0] == other

        harmed.remember("The line was taken over", tags=["still"])

        for tab in (other, visit.page):
            expect(tab.locator("#found")).to_contain_text("The line was taken over")


@pytest.mark.soak
def test_where_a_browser_has_no_locks_each_window_has_a_line(
    browser: Browser, harmed: Daemon
) -> None:
    """So it is on a page that came over plain http from another machine."""
    with visiting(browser, harmed) as visit:
        visit.context.add_init_script("delete Navigator.prototype.locks")
        held = lines(visit)
        tabs = opened(visit, "/search?tags=lockless", 2)
        harmed.remember("Each hears it by itself", tags=["lockless"])
        for tab in tabs:
            expect(tab.locator("#found")).to_contain_text("Each hears it")
        assert set(held) == set(tabs)


@pytest.mark.soak
def test_all_windows_are_signed_out_and_signed_in_again_together(
    browser: Browser, harmed: Daemon
) -> None:
    with visiting(browser, harmed) as visit:
        visit.expects("401")
        tabs = opened(visit, "/search?tags=harm", 3)
        for tab in tabs:
            expect(tab.locator("#found")).to_be_visible()
        visit.context.clear_cookies()
        tabs[2].reload()
        for tab in tabs:
            expect(tab.get_by_text("This browser is not signed in")).to_be_visible()

        tabs[1].goto(str(harmed.door.call("page_link")["url"]))

        for tab in (tabs[0], tabs[2]):
            expect(tab.locator("#found")).to_be_visible()


def test_a_browser_that_is_not_signed_in_is_told_what_to_do(
    browser: Browser, harmed: Daemon
) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{harmed.launched.port}/ui/search")
        expect(page.get_by_text("This browser is not signed in")).to_be_visible()
        expect(page.get_by_text("madeleine ui", exact=True)).to_be_visible()
    finally:
        context.close()
