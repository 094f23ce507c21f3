"""Sleep in a real browser: the jobs, what they did to which file, and what they ask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.page.browsing import Visit, visiting
from tests.page.nights import live, run, shown
from tests.server.running import Daemon, running


def impatient(home: Path) -> Path:
    """Let memories fade in a home without the time that they have elsewhere."""
    settings = "[sleep]\ndecay_grace_days = 0\ndecay_least_days = 0\n"
    (home / "config.toml").write_text(settings, encoding="utf-8")
    return home


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A home in which a night has passed, with the real model."""
    with running(impatient(tmp_path_factory.mktemp("home"))) as started:
        live(started)
        yield started


def job(page: Page, name: str) -> Locator:
    unfold(page)
    return page.locator(f"#job-{name}")


def unfold(page: Page) -> None:
    """Show the jobs."""
    page.wait_for_selector("details")
    if page.locator("details:not([open])").count():
        page.locator("summary", has_text="Jobs").click()


def tier(daemon: Daemon, title: str) -> str:
    (found,) = [
        each
        for each in daemon.ok("GET", "/ui/data/list", limit=200)["memories"]
        if each["headline"] == title
    ]
    return str(found["tier"])


def test_the_jobs_say_what_they_did_and_when_they_run_next(visit: Visit) -> None:
    page = visit.open("/sleep")

    expect(job(page, "duplicate_merger")).to_contain_text("1 proposal")
    expect(job(page, "duplicate_merger")).to_contain_text("every 24 hours")
    expect(job(page, "auto_linker")).to_contain_text("Has not run yet")
    expect(job(page, "decay")).to_contain_text("Relevance")
    expect(page.get_by_role("link", name="proposals wait for you")).to_be_visible()
    assert visit.faults() == []
    visit.picture("sleep")


def test_the_last_night_is_told_in_sentences(visit: Visit) -> None:
    page = visit.open("/sleep")

    night = page.get_by_role("region", name="The last night")
    expect(night.get_by_role("listitem").first).to_contain_text("Asked: let")
    expect(night.get_by_role("button", name="Take it all back")).to_be_visible()
    expect(page.locator("#job-decay_manager")).to_be_hidden()
    assert visit.faults() == []
    visit.picture("sleep-folded")
    night.get_by_role("link", name="Answer").first.click()
    expect(page.get_by_label("The proposal")).to_be_visible()


def test_a_job_is_paused_and_resumed(visit: Visit) -> None:
    page = visit.open("/sleep")

    job(page, "consolidator").get_by_role("button", name="Pause").click()
    expect(job(page, "consolidator")).to_contain_text("Paused")
    job(page, "consolidator").get_by_role("button", name="Resume").click()

    expect(job(page, "consolidator").get_by_role("button", name="Pause")).to_be_visible()


def test_a_dry_run_shows_exact_differences_and_changes_nothing(
    visit: Visit, daemon: Daemon
) -> None:
    page = visit.open("/sleep")

    job(page, "decay_manager").get_by_role("button", name="Dry run").click()
    dialog = page.get_by_role("dialog")
    patch = dialog.locator("details", has_text="Idempotency")
    patch.locator("summary").click()

    expect(patch).to_contain_text("would do")
    expect(patch.locator("td.removed").first).to_contain_text("working")
    expect(patch.locator("td.added").first).to_contain_text("archival")
    assert visit.faults() == []
    visit.picture("sleep-dry-run")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert tier(daemon, "Idempotency") == "working"


def test_a_dry_run_of_the_whole_cycle_shows_every_job_and_changes_nothing(
    visit: Visit, daemon: Daemon
) -> None:
    page = visit.open("/sleep")
    expect(job(page, "decay_manager")).to_be_visible()

    page.keyboard.press("d")
    dialog = page.get_by_role("dialog", name="What the whole cycle would do")

    for name in ("Fading", "Duplicates", "Connections"):
        expect(dialog.get_by_role("heading", name=name)).to_be_visible()
    expect(dialog.locator("details", has_text="Idempotency").first).to_contain_text("would do")
    visit.picture("sleep-dry-run-whole")
    dialog.get_by_role("button", name="Close").last.click()
    assert tier(daemon, "Idempotency") == "working"


def test_the_whole_cycle_is_started_and_followed_to_its_end(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with running(tmp_path) as daemon, visiting(browser, daemon) as visit:
        daemon.remember("The ferry leaves at nine.", title="Ferry", space="atlas")
        page = visit.open("/sleep")

        page.get_by_role("button", name="Run the whole cycle").click()

        expect(page.get_by_text("The whole cycle begins")).to_be_visible()
        for each in daemon.ok("GET", "/admin/tasks")["tasks"]:
            expect(job(page, each["id"])).not_to_contain_text("Has not run yet")
        expect(page.get_by_role("button", name="Run the whole cycle")).to_be_enabled()


def test_what_would_be_too_much_is_not_called_nothing_to_change(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.setenv("MADELEINE_SLEEP_PROPOSALS_PER_RUN", "2")
    with running(impatient(tmp_path)) as daemon, visiting(browser, daemon) as visit:
        for number in range(25):
            daemon.remember(f"Shelf {number} holds the lamps.", created="2024-01-01T00:00:00Z")
        run(daemon, "importance_scorer", "decay_manager", "decay_manager")
        page = visit.open("/sleep")
        expect(job(page, "decay_manager")).to_contain_text("changed nothing by itself")

        job(page, "decay_manager").get_by_role("button", name="Dry run").click()
        told = page.get_by_role("dialog")

        expect(told).to_contain_text("Would change nothing by itself")
        expect(told).to_contain_text(re.compile(r"Too much for one run: \d+ of 25 memories"))
        expect(told.get_by_text(re.compile("nothing to (change|do)", re.IGNORECASE))).to_have_count(
            0
        )
        expect(job(page, "decay_manager")).not_to_contain_text("nothing to change")
        expect(told.get_by_role("button", name="Run it now")).to_have_count(0)
        assert visit.faults() == []
        visit.picture("sleep-dry-run-too-much")
        page.keyboard.press("Escape")
        open_run(page, "Fading")
        expect(page.get_by_text(re.compile("^Too much for one run: "))).to_be_visible()
        expect(page.get_by_role("link", name="what waits")).to_be_visible()
        visit.picture("sleep-run-too-much")


def test_a_run_is_started_seen_live_opened_and_taken_back(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/sleep")

    job(page, "decay_manager").get_by_role("button", name="Run", exact=False).first.click()
    done = page.locator("section", has=page.locator("#runs")).locator("li", has_text="Fading").first
    expect(done).to_contain_text(re.compile(r"\d+ changes"))
    assert tier(daemon, "Idempotency") == "archival"

    done.get_by_role("link", name="Fading").click()
    expect(page.get_by_role("heading", name="Fading")).to_be_visible()
    listed = daemon.ok("GET", "/ui/data/sleep/runs", job="decay_manager")["runs"][0]
    assert daemon.ok("GET", f"/ui/data/sleep/runs/{listed['run']}")["applied"] == listed["applied"]
    expect(page.locator("header p")).to_contain_text(f"{listed['applied']} change")
    page.locator("button.fold").first.click()
    expect(page.locator("td.added").first).to_contain_text("archival")
    assert visit.faults() == []
    visit.picture("sleep-run")
    expect(page.locator("header p")).not_to_contain_text(listed["run"][:8])
    for _ in range(3):  # in a hurry, which means no more than once
        page.keyboard.press("u")

    expect(page.get_by_text("all taken back")).to_be_visible()
    told = page.get_by_text(re.compile(r"^Took back what it did to \d+ m"))
    expect(told).to_be_visible()
    expect(page.locator(".toast")).to_have_count(1)
    assert tier(daemon, "Idempotency") == "working"
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("/ui/sleep$"))
    again = page.locator("section", has=page.locator("#runs")).locator("li", has_text="Fading")
    expect(again.first).to_contain_text("taken back")

    page.get_by_role("link", name="Time", exact=True).click()
    page.keyboard.press("u")  # the report is closed, and asks for nothing any more
    expect(page.get_by_text("Taken back", exact=True)).to_be_visible()
    assert tier(daemon, "Idempotency") == "archival"
    daemon.ok("POST", f"/agent/undo/{listed['run']}", {})


def open_run(page: Page, name: str) -> None:
    listed = page.locator("section", has=page.locator("#runs"))
    listed.get_by_role("link", name=name, exact=True).first.click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()


def test_the_report_of_a_run_that_only_asked_leads_to_what_it_asked(visit: Visit) -> None:
    page = visit.open("/sleep")

    open_run(page, "Duplicates")

    expect(page.locator("header p")).to_contain_text(re.compile(r"\d{4}, \d\d:\d\d ·\s+1 proposal"))
    expect(page.get_by_text("No memory was changed by this run")).to_be_visible()
    assert visit.faults() == []
    visit.picture("sleep-run-asked")
    page.get_by_role("link", name="what waits").click()
    expect(page.get_by_role("heading", name="Proposals")).to_be_visible()


def test_only_a_dry_run_that_would_do_something_offers_to_run(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with running(impatient(tmp_path)) as daemon, visiting(browser, daemon) as visit:
        titles = ("Smile :( now", "A list (short)", "b) is the way to go")
        for number, title in enumerate(titles):
            old = f"The {number}th old matter"
            daemon.remember(old, title=title, created="2024-01-01T00:00:00Z")
        for number in range(8):  # enough beside them that the breaker stays quiet
            daemon.remember(f"Fresh matter number {number} about {'abcdefgh'[number] * 5}")
        run(daemon, "importance_scorer")
        page = visit.open("/sleep")
        dialog = page.get_by_role("dialog")
        start = dialog.get_by_role("button", name="Run it now")

        job(page, "decay_manager").get_by_role("button", name="Dry run").click()
        for title in titles:
            expect(dialog.get_by_text(f"move “{title}” to archival", exact=True)).to_be_visible()
        start.click()
        expect(job(page, "decay_manager")).to_contain_text("3 changes")

        job(page, "decay_manager").get_by_role("button", name="Dry run").click()
        expect(dialog).to_contain_text("Nothing to do")
        expect(start).to_have_count(0)
        page.keyboard.press("Escape")

        page.route("**/admin/tasks/decay_manager/run*", failed)
        job(page, "decay_manager").get_by_role("button", name="Dry run").click()
        expect(dialog).to_contain_text("Something went wrong inside: no such table: usage.")
        expect(start).to_have_count(0)
        assert visit.faults() == []
        visit.picture("sleep-dry-run-failed")


def failed(route: Route) -> None:
    """Let a dry run meet a bug."""
    report = {
        "job": "decay_manager",
        "error": "SQLError: no such table: usage",
        "error_kind": "error",
        "patches": [],
    }
    route.fulfill(json={"reports": [report]})


def test_a_job_is_paused_once_by_a_double_click(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/sleep")

    job(page, "consolidator").get_by_role("button", name="Pause").dblclick()

    expect(job(page, "consolidator").get_by_role("button", name="Resume")).to_be_visible()
    expect(page.locator(".toast")).to_have_count(1)
    daemon.ok("POST", "/admin/tasks/consolidator/resume", {})


@pytest.mark.parametrize(
    ("path", "said", "back"),
    [
        ("/sleep/proposals?type=nope", "There is no such kind of proposal", "Show all"),
        ("/sleep?job=nap", "There is no such job", "Show all jobs"),
    ],
)
def test_an_address_that_names_nothing_has_a_way_back(
    visit: Visit, path: str, said: str, back: str
) -> None:
    visit.expects("40")
    visit.expects("422")
    page = visit.open(path)

    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    page.get_by_role("button", name=back).click()

    expect(page.get_by_text(said)).to_have_count(0)
    assert visit.path == path.split("?")[0]


def hold(page: Page, key: str) -> None:
    """Press a key and do not let go for a while: it repeats."""
    for _ in range(6):
        page.keyboard.down(key)
        page.wait_for_timeout(150)
    page.keyboard.up(key)


@pytest.mark.parametrize("key", ["r", "Enter"])
def test_a_held_key_decides_one_proposal_and_no_more(
    visit: Visit, daemon: Daemon, key: str
) -> None:
    page = visit.open("/sleep/proposals")
    waiting = page.get_by_label("Waiting")
    expect(waiting.get_by_text("3 proposals wait")).to_be_visible()
    shown(page).get_by_role("button", name="Reject").focus()

    hold(page, key)

    expect(waiting.get_by_text("2 proposals wait")).to_be_visible()
    assert daemon.ok("GET", "/ui/data/proposals")["total"] == 2
    page.keyboard.press("u")
    expect(waiting.get_by_text("3 proposals wait")).to_be_visible()
    hold(page, "j")
    expect(page.locator("[data-proposal]").last).to_have_attribute("aria-current", "true")


def test_back_from_a_memory_leads_to_the_proposal_that_was_looked_at(visit: Visit) -> None:
    page = visit.open("/sleep/proposals")
    expect(page.locator("[data-proposal]")).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("j")
    last = page.locator("[data-proposal]").last
    expect(last).to_have_attribute("aria-current", "true")

    page.get_by_label("The proposal").locator('a[href^="/ui/m/"]').first.click()
    page.wait_for_selector("#connections")
    page.go_back()

    expect(last).to_have_attribute("aria-current", "true")


def test_proposals_are_decided_by_keyboard_with_both_texts_in_sight(
    visit: Visit, daemon: Daemon
) -> None:
    page = visit.open("/sleep")
    expect(page.get_by_role("link", name="3 proposals wait for you")).to_be_visible()

    page.keyboard.press("p")
    expect(page.locator("[data-proposal]")).to_have_count(3)
    detail = page.get_by_label("The proposal")
    expect(detail.get_by_role("heading", level=2)).to_contain_text("“Ferry at nine” into")
    expect(detail.locator("ins").first).to_be_visible()
    expect(page.locator("[data-proposal] del").first).to_be_visible()
    expect(detail).to_contain_text("Exactly what would change in files")
    assert visit.faults() == []
    visit.picture("proposals")
    shown(page)
    page.keyboard.press("a")

    expect(page.get_by_role("status").get_by_text("2 proposals wait")).to_be_visible()
    titles = [each["headline"] for each in daemon.ok("GET", "/ui/data/list")["memories"]]
    assert "The ferry leaves at nine" in titles
    assert "Ferry at nine" not in titles

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back")).to_be_visible()
    waiting = page.get_by_label("Waiting")
    expect(waiting.get_by_text("3 proposals wait")).to_be_visible()
    expect(waiting.locator("[aria-current]")).to_contain_text("“Ferry at nine” into")
    shown(page)
    page.keyboard.press("r")
    expect(waiting.get_by_text("2 proposals wait")).to_be_visible()
    page.keyboard.press("u")
    expect(waiting.get_by_text("3 proposals wait")).to_be_visible()
    for left in ("2 proposals wait", "1 proposal waits"):
        shown(page)
        page.keyboard.press("r")
        expect(waiting.get_by_text(left)).to_be_visible()
    shown(page).get_by_role("button", name="Reject").click()
    expect(page.get_by_text("Nothing waits for a decision")).to_be_visible()


def test_a_new_proposal_appears_by_itself(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/sleep/proposals")
    daemon.remember("The map printer takes 40 sheets per tray.", title="Tray", space="atlas")
    daemon.remember("The map printer takes 55 sheets per tray.", title="A tray", space="atlas")

    run(daemon, "duplicate_merger", "conflict_detector")

    asked = page.get_by_label("Waiting").locator("[data-proposal]", has_text="Tray")
    expect(asked.first).to_be_visible()


def test_on_a_phone_nothing_is_wider_than_the_screen(browser: Browser, daemon: Daemon) -> None:
    with visiting(browser, daemon, "phone") as visit:
        for path in ("/sleep", "/sleep/proposals"):
            page = visit.open(path)
            page.wait_for_selector("main ul, main .title")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
            assert visit.faults() == []


def test_a_run_that_nobody_knows_is_said_not_to_be_there(visit: Visit) -> None:
    visit.expects("404")
    page = visit.open("/sleep/abc")

    expect(page.get_by_role("heading", name="There is no such run")).to_be_visible()
    expect(page.get_by_text("changed nothing")).to_have_count(0)
    page.get_by_role("link", name="What was done").click()

    expect(page).to_have_url(re.compile("/ui/sleep$"))


def test_what_nobody_knows_is_not_there(daemon: Daemon) -> None:
    assert daemon.ask("GET", "/ui/data/sleep/runs/abc").status == 404
    assert daemon.ask("GET", "/ui/data/changes/abc").status == 404
    assert daemon.ask("GET", "/ui/data/sleep/runs", job="nap").status == 404
    assert daemon.ask("GET", "/ui/data/proposals", status="open").status == 422
