"""Home in a real browser: a letter, who you are to your agents, your projects, and figures."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.page.browsing import Visit, visiting
from tests.page.nights import PROMPTS, ask, remember_twins, run
from tests.page.world import furnish
from tests.server.running import Daemon, running


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A home in which agents have asked and a night has passed, with the real model."""
    with running(tmp_path_factory.mktemp("home")) as started:
        furnish(started)
        for session, space, prompt in PROMPTS:
            ask(started, session, space, prompt)
        remember_twins(started)
        run(started, "importance_scorer", "duplicate_merger", "conflict_detector")
        started.ok("POST", "/admin/tasks/decay_manager/run", {"now": True}, wait="true")
        told = [ask(started, f"f-{n}", "atlas", "on which day do we deploy?") for n in range(3)]
        for signal, whisper in zip((1, -1), told, strict=False):
            detail = started.ok("GET", f"/ui/data/whispers/{whisper}")
            memory = next(each["id"] for each in detail["memories"] if each["fate"] == "whispered")
            body = {"node_id": memory, "signal": signal, "whisper_log_id": whisper}
            started.ok("POST", "/agent/feedback", body)
        yield started


def section(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def test_home_is_a_letter_with_figures_beneath(visit: Visit) -> None:
    page = visit.open("/")

    letter = section(page, "What the night did and asks")
    archived = re.compile(r"moved \d+ memories to the archive")
    expect(letter.get_by_role("link", name=archived)).to_be_visible()
    expect(letter).to_contain_text("wait for you")
    expect(section(page, "New from your sessions")).to_contain_text("Remembered")
    expect(section(page, "About you")).to_contain_text("Green tea")
    expect(section(page, "Projects")).to_contain_text("Atlas draws walking maps")
    for each in ("Growth by project", "Useful and useless whispers a week", "Days"):
        expect(section(page, each)).to_be_visible()
    expect(
        section(page, "Which memories earn their keep").get_by_role("listitem").first
    ).to_be_visible()
    assert visit.faults() == []
    visit.picture("home")


def test_a_night_is_taken_back_from_the_letter_and_that_again(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/")
    letter = section(page, "What the night did and asks")
    archived = letter.get_by_role("link", name=re.compile("moved .* to the archive"))
    expect(archived).to_be_visible()

    letter.get_by_role("button", name="Undo the night").click()

    expect(letter).to_contain_text("was taken back")
    expect(letter.get_by_role("button", name="Undo the night")).to_have_count(0)
    page.keyboard.press("u")
    expect(archived).to_be_visible()
    archived.click()
    expect(page.locator("[data-entry]", has_text="to the archive").first).to_be_visible()
    page.go_back()
    letter.get_by_role("link", name="Answer").click()
    expect(page.get_by_role("heading", name="Proposals")).to_be_visible()


def test_sleep_begins_with_the_night_and_takes_one_thing_of_it_back(visit: Visit) -> None:
    page = visit.open("/sleep")
    done = section(page, "The last night").get_by_role("listitem")
    done = done.filter(has_text="to the archive")
    expect(page.get_by_role("button", name=re.compile("^Pause"))).to_have_count(0)
    assert visit.faults() == []
    visit.picture("sleep-folded")

    done.get_by_role("button", name=re.compile("^Undo")).click()

    expect(done).to_contain_text("taken back")
    page.keyboard.press("u")
    expect(done.get_by_role("button", name=re.compile("^Undo"))).to_be_visible()
    page.locator("summary", has_text="Jobs").click()
    expect(page.get_by_role("button", name=re.compile("^Pause"))).to_have_count(12)


def test_what_is_known_about_you_is_edited_where_it_stands(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/")
    about = section(page, "About you")
    for group, words in (
        ("Preferences", "green tea without sugar"),
        ("Places", "Lives in Dublin"),
        ("Goals", "Wicklow Way"),
    ):
        expect(about.get_by_role("region", name=group)).to_contain_text(words)

    about.get_by_role("button", name="Edit: Green tea, no sugar").click()
    field = about.get_by_role("textbox")
    expect(field).to_be_focused()
    assert visit.faults() == []
    field.fill("Prefers white tea, without sugar.")
    page.reload()
    expect(field).to_have_value("Prefers white tea, without sugar.")
    field.press("Control+Enter")

    expect(about).to_contain_text("Prefers white tea, without sugar.")
    expect(about.get_by_role("textbox")).to_have_count(0)
    page.keyboard.press("u")
    expect(about).to_contain_text("Prefers green tea")


def test_what_an_agent_wrote_meanwhile_is_shown_and_not_written_over(
    visit: Visit, daemon: Daemon
) -> None:
    pen = daemon.remember("Writes with a blue pen.", type="preference", about_self=True)
    visit.expects("409")
    page = visit.open("/")
    about = section(page, "About you")
    about.get_by_role("button", name="Edit: Writes with a blue pen.").click()
    about.get_by_role("textbox").fill("Writes with a green pen.")
    daemon.ok("POST", f"/agent/update/{pen}", {"content": "Writes with a red pen."})
    about.get_by_role("button", name="Save").click()

    expect(about.get_by_role("alert")).to_contain_text("Somebody changed it meanwhile")
    expect(about).to_contain_text("Writes with a red pen.")
    about.get_by_role("button", name="Save").click()

    expect(about.get_by_role("textbox")).to_have_count(0)
    assert "green" in daemon.ok("GET", f"/agent/recall/{pen}")["memory"]["content"]


def test_a_backup_is_made_from_where_it_is_missed(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/")
    missed = page.get_by_role("region", name="What needs attention")
    expect(missed).to_contain_text("There is no backup yet")

    missed.get_by_role("button", name="Back up now").click()

    expect(page.get_by_text("Backed up to")).to_be_visible()
    expect(page.get_by_text("There is no backup yet")).to_have_count(0)
    expect(section(page, "What the night did and asks")).to_contain_text("last backup was made")
    assert daemon.ok("GET", "/admin/backup")["backups"]


def test_everything_in_a_figure_leads_to_what_it_shows(visit: Visit) -> None:
    page = visit.open("/")

    useful = section(page, "Useful and useless whispers a week").get_by_role("link", name="useful")
    expect(useful.first).to_have_attribute("aria-label", re.compile(r": \d+ useful$"))
    many = int(str(useful.first.get_attribute("aria-label")).split(": ")[1].split()[0])
    useful.first.click()
    expect(page.get_by_label("Prompts").get_by_role("listitem")).to_have_count(many)

    page.go_back()
    days = section(page, "Days")
    day = days.get_by_role("link", name=re.compile("12 March 2026: 1 memory"))
    days.get_by_role("link").last.focus()
    page.keyboard.press("Home")
    expect(days.get_by_role("link").first).to_be_focused()
    day.click()
    expect(page.get_by_text("1 memory, newest first")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("SQLite over Postgres"))).to_be_visible()

    page.go_back()
    stretch = section(page, "Growth by project").get_by_role("link", name=re.compile("in all$"))
    known = int(re.findall(r": (\d+) new", str(stretch.last.get_attribute("aria-label")))[0])
    stretch.last.click()
    listed = re.compile(rf"^{known} (memory|memories), newest first")
    expect(page.get_by_text(listed)).to_be_visible()

    page.go_back()
    section(page, "Growth by project").get_by_role("link", name="atlas", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="atlas")).to_be_visible()


def test_a_file_that_does_not_parse_is_named(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/")
    page.wait_for_selector(".letter")
    broken = daemon.vault / "broken.md"
    broken.write_text("---\nid: [\n---\nno\n", encoding="utf-8")
    daemon.ok("POST", "/admin/reconcile", {})

    page.reload()
    expect(page.get_by_label("What needs attention")).to_contain_text("broken.md")
    broken.unlink()
    daemon.ok("POST", "/admin/reconcile", {})


def test_a_job_that_failed_has_the_name_that_it_has_everywhere(visit: Visit) -> None:
    def failing(route: Route) -> None:
        """Let a job meet a bug: as the daemon tells it."""
        told = route.fetch().json()
        more, to = ["SQLError: no such table: usage"], "/sleep?job=decay_manager"
        item = {"kind": "bad", "text": "has failed", "more": more, "to": to}
        told["attention"] = [{**item, "job": "decay_manager", "error_kind": "error"}]
        route.fulfill(json=told)

    visit.page.route("**/ui/data/home*", failing)
    page = visit.open("/")

    wrong = page.get_by_label("What needs attention")
    expect(wrong.get_by_role("link", name="Fading has failed", exact=True)).to_be_visible()
    expect(wrong).to_contain_text("Something went wrong inside: no such table: usage.")
    expect(wrong).not_to_contain_text("SQLError")
    visit.picture("home-failed")


def test_home_is_live(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/")
    expect(page.locator(".size")).to_contain_text("memories")

    daemon.remember("A kettle was bought for the office.", title="Kettle")

    expect(section(page, "New from your sessions")).to_contain_text("Kettle")


def test_on_a_phone_it_is_one_column(browser: Browser, daemon: Daemon) -> None:
    with visiting(browser, daemon, "phone") as visit:
        page = visit.open("/")
        page.wait_for_selector("#earning")

        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert visit.faults() == []


def test_an_empty_home_says_how_to_begin(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with (
        running(tmp_path_factory.mktemp("empty")) as empty,
        visiting(browser, empty) as visit,
    ):
        page = visit.open("/")

        expect(page.get_by_text("There are no memories yet")).to_be_visible()


def test_what_home_asks_for_stays_small(daemon: Daemon) -> None:
    asked = ("home", "about", "projects", "figures")
    assert sum(len(str(daemon.ok("GET", f"/ui/data/{each}"))) for each in asked) < 100_000


def test_status_shows_hooks_in_time_jobs_and_health(visit: Visit) -> None:
    page = visit.open("/")
    page.get_by_role("link", name="How everything runs").click()

    expect(page.get_by_role("heading", level=1, name="Status")).to_be_visible()
    prompts = page.get_by_role("group", name=re.compile("How long the last 9 prompts took"))
    expect(prompts.get_by_role("link")).to_have_count(9)
    expect(page.get_by_label("Types")).to_contain_text("decision")
    expect(page.get_by_text("has not run yet").first).to_be_attached()
    assert visit.faults() == []
    visit.picture("status")
    prompts.get_by_role("link").last.click()
    expect(page).to_have_url(re.compile("/ui/whispers/"))
    page.go_back()
    page.get_by_label("Spaces").get_by_role("link", name="ledger").click()
    expect(page.get_by_text(re.compile(r"\d+ memories, newest first"))).to_be_visible()
