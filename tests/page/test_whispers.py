"""Whispers in a real browser: what was said or kept silent, why, and what one thinks of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.hooks.host_calls import CLAUDE_DEED, CLAUDE_SESSION, written
from tests.hooks.running import client
from tests.page.browsing import Visit, visiting
from tests.page.nights import PROMPTS, ask
from tests.page.world import furnish
from tests.server.running import Daemon, eventually, running

DATABASE = "which database did we choose for the ledger, and why?"
DEPLOYS = "on which day do we deploy?"


@pytest.fixture(scope="module")
def ids() -> dict[str, str]:
    """The memories by their titles; filled when the daemon is up."""
    return {}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, ids: dict[str, str]) -> Iterator[Daemon]:
    """A furnished home, with the real model: what is whispered must make sense."""
    with running(tmp_path_factory.mktemp("home")) as started:
        ids.update(furnish(started))
        for session, space, prompt in PROMPTS:
            ask(started, session, space, prompt)
        yield started


def open_prompt(page: Page, text: str) -> None:
    page.get_by_role("link", name=text).click()
    expect(page.locator("article blockquote")).to_contain_text(text)


def considered(page: Page, title: str) -> Locator:
    return page.locator("article li", has=page.get_by_role("link", name=title))


def test_the_last_prompts_are_listed_with_what_came_of_each(visit: Visit) -> None:
    page = visit.open("/whispers")

    listed = page.get_by_label("Prompts")
    expect(listed.get_by_role("link")).to_have_count(len(PROMPTS))
    expect(listed.get_by_role("link").first).to_contain_text(PROMPTS[-1][2])
    expect(listed).to_contain_text("the prompt is only conversation")
    expect(listed.get_by_role("link", name=DATABASE)).to_contain_text("Whispered")


def test_one_prompt_shows_the_stage_that_decided_and_the_scores(visit: Visit) -> None:
    page = visit.open("/whispers")

    open_prompt(page, "thanks!")
    article = page.locator("article")
    expect(article).to_contain_text("Nothing was whispered: the prompt is only conversation.")
    decided = article.get_by_label("Stages").locator(".decided")
    expect(decided).to_contain_text("More than chat")
    expect(article.get_by_label("Stages").locator(".not_reached")).to_have_count(8)

    open_prompt(page, DATABASE)
    row = considered(page, "SQLite over Postgres for the ledger")
    expect(row).to_contain_text("whispered")
    row.get_by_role("button", name=re.compile("Worth saying")).click()
    expect(row).to_contain_text("closeness in meaning")
    assert visit.faults() == []
    visit.picture("whispers")


def test_the_very_text_and_other_moments_stand_beside_prompts(visit: Visit, daemon: Daemon) -> None:
    told = agent_at_work(daemon)
    page = visit.open("/whispers")
    listed, article = page.get_by_label("Prompts"), page.locator("article")

    open_prompt(page, DATABASE)
    got = article.get_by_role("region", name="What the agent got")
    expect(got).to_contain_text("We chose **SQLite** over Postgres for the ledger")

    page.get_by_role("button", name="Starts").click()
    expect(listed.get_by_role("link")).to_have_count(1)
    listed.get_by_role("link", name="A session began").click()
    expect(got).to_contain_text("where things stand")
    assert got.inner_text().split() == told["start"].split()
    expect(article.get_by_role("list").get_by_role("link").first).to_be_visible()
    expect(article.get_by_label("Stages")).to_have_count(0)

    page.get_by_role("button", name="Deeds").click()
    listed.get_by_role("link", name="bank/imports.py").click()
    expect(article.locator("blockquote")).to_contain_text("bank/imports.py")
    assert got.inner_text().split() == told["deed"].split()
    assert visit.faults() == []
    visit.picture("whispers-deed")

    page.get_by_role("button", name="Deeds").click()
    expect(listed.get_by_role("link")).to_have_count(len(PROMPTS) + 2)


def agent_at_work(daemon: Daemon) -> dict[str, str]:
    """Begin a session in the ledger's folder and change a file that a memory is about; return what
    the hooks told."""
    folder = daemon.home.parent / "ledger"
    (folder / ".git").mkdir(parents=True)
    daemon.remember("bank/imports.py is not changed without asking Ana", space="ledger")
    calls = {
        "start": written(CLAUDE_SESSION, "s-start", str(folder)),
        "deed": written(
            CLAUDE_DEED,
            "s-deed",
            str(folder),
            tool="Edit",
            input=json.dumps({"file_path": f"{folder}/bank/imports.py", "old_string": "a"}),
        ),
    }
    told = {}
    for moment, call in calls.items():
        ran = client(daemon.home, call, "inject", "claude")
        told[moment] = json.loads(ran.out)["hookSpecificOutput"]["additionalContext"]
    eventually(lambda: delivered_moments(daemon) == {"prompt", "start", "deed"})
    return told


def delivered_moments(daemon: Daemon) -> set[str]:
    page: Any = daemon.door.call("page_whispers", query={"outcome": "whispered"})
    return {each["moment"] for each in page["whispers"]}


def test_thumbs_give_feedback_that_stays(visit: Visit, daemon: Daemon) -> None:
    page = visit.open("/whispers")
    open_prompt(page, DATABASE)
    useful = page.get_by_role(
        "button", name="Useful: SQLite over Postgres for the ledger", exact=True
    )

    useful.click()
    expect(useful).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(useful).to_have_attribute("aria-pressed", "true")

    worse = page.get_by_role("button", name="Not useful: SQLite over Postgres for the ledger")
    worse.focus()
    page.keyboard.press("Enter")
    expect(worse).to_have_attribute("aria-pressed", "true")
    expect(useful).to_have_attribute("aria-pressed", "false")

    worse.click()
    expect(worse).to_have_attribute("aria-pressed", "false")
    page.reload()
    expect(useful).to_have_attribute("aria-pressed", "false")
    expect(worse).to_have_attribute("aria-pressed", "false")


def test_silence_names_the_nearest_memory_by_its_title(visit: Visit, daemon: Daemon) -> None:
    ask(daemon, "s-9", "atlas", "what is the wingspan of an ostrich")
    page = visit.open("/whispers")

    line = page.locator("[data-line]", has_text="ostrich")

    expect(line).to_contain_text(re.compile("the nearest, “.+”, "))
    expect(line.locator(".came")).not_to_contain_text(re.compile(r"[0-9a-f]{8}|\d\.\d"))


def test_what_came_near_is_said_not_to_be_kept_and_can_be_asked_about(
    visit: Visit, daemon: Daemon
) -> None:
    prompt = "what is the wingspan of an albatross"
    ask(daemon, "s-10", "atlas", prompt)
    page = visit.open("/whispers")
    open_prompt(page, prompt)
    article = page.locator("article")

    expect(article).to_contain_text(re.compile("came near, none near enough"))
    expect(article).to_contain_text("Nothing near enough was found")
    expect(article).to_contain_text("What came near is not kept")
    expect(article).not_to_contain_text("considered")
    expect(article.locator(".said")).not_to_contain_text(re.compile(r"0\.\d|[0-9a-f]{8}"))
    assert visit.faults() == []
    visit.picture("whispers-near")

    page.keyboard.press("w")
    page.keyboard.type("tile server port")
    expect(page.get_by_role("dialog").get_by_role("link").first).to_contain_text("Tile server port")
    page.keyboard.press("Enter")
    answer = page.get_by_role("dialog").get_by_role("status")
    expect(answer).to_contain_text("It was not found. Looked for now: It ")
    expect(answer).not_to_contain_text(re.compile(r"0\.\d|[0-9a-f]{8}"))
    visit.picture("whispers-why-not")


def test_a_thumb_is_taken_back_by_its_note(visit: Visit) -> None:
    page = visit.open("/whispers")
    open_prompt(page, DATABASE)
    useful = page.get_by_role(
        "button", name="Useful: SQLite over Postgres for the ledger", exact=True
    )

    useful.click()
    expect(useful).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("u")

    expect(useful).to_have_attribute("aria-pressed", "false")


def test_a_thumb_that_is_pressed_twice_offers_no_undo_of_what_is_taken_back(visit: Visit) -> None:
    page = visit.open("/whispers")
    open_prompt(page, DATABASE)
    useful = page.get_by_role(
        "button", name="Useful: SQLite over Postgres for the ledger", exact=True
    )

    useful.click()
    expect(useful).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Noted: useful here")).to_be_visible()
    useful.click()

    expect(page.get_by_text("Taken back")).to_be_visible()
    assert page.get_by_text("Noted: useful here").count() == 0  # at once, not by its time


def test_thumbs_that_changed_are_taken_back_one_by_one(visit: Visit) -> None:
    page = visit.open("/whispers")
    open_prompt(page, DATABASE)
    name = "seful: SQLite over Postgres for the ledger"
    useful = page.get_by_role("button", name=f"U{name}", exact=True)
    worse = page.get_by_role("button", name=f"Not u{name}", exact=True)
    useful.click()
    expect(useful).to_have_attribute("aria-pressed", "true")
    worse.click()
    expect(worse).to_have_attribute("aria-pressed", "true")

    page.keyboard.press("u")
    expect(useful).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Taken back")).to_be_visible()
    page.keyboard.press("u")

    expect(useful).to_have_attribute("aria-pressed", "false")
    expect(worse).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("u")  # there is nothing more
    page.wait_for_timeout(300)
    expect(useful).to_have_attribute("aria-pressed", "false")


def test_why_not_this_one_names_the_stage_by_keyboard(visit: Visit) -> None:
    page = visit.open("/whispers")
    open_prompt(page, DATABASE)

    page.keyboard.press("w")
    page.keyboard.type("tile server port")
    expect(page.get_by_role("dialog").get_by_role("link").first).to_contain_text("Tile server port")
    page.keyboard.press("Enter")

    answer = page.get_by_role("dialog").get_by_role("status")
    expect(answer).to_contain_text("It is of “atlas”")
    assert visit.faults() == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_memory_that_was_told_before_or_is_new_says_so(
    daemon: Daemon, ids: dict[str, str]
) -> None:
    first = ask(daemon, "again", "ledger", DATABASE)
    again = ask(daemon, "again", "ledger", "remind me: which database did we choose, and why?")
    title = "SQLite over Postgres for the ledger"
    new = daemon.remember("Ledger backups go to a disk in the cellar.", space="ledger")

    def why(whisper: str, memory: str) -> dict[str, str]:
        return dict(daemon.ok("GET", f"/ui/data/whispers/{whisper}/why_not", memory=memory))

    assert why(first, ids[title])["fate"] == "whispered"
    assert why(again, ids[title])["stage"] in ("topic", "session")
    assert "not known yet" in why(first, new)["text"]
    assert "It was not found" in why(first, ids["Bank imports run at six"])["text"] or (
        why(first, ids["Bank imports run at six"])["fate"] == "weak"
    )


def test_j_and_k_walk_through_the_prompts(visit: Visit) -> None:
    page = visit.open("/whispers")
    links = page.get_by_label("Prompts").get_by_role("link")
    expect(links.first).to_have_attribute("aria-current", "true")

    page.keyboard.press("j")
    expect(links.nth(1)).to_have_attribute("aria-current", "true")
    expect(page).to_have_url(re.compile("/ui/whispers/[0-9a-f-]{36}$"))
    page.keyboard.press("k")

    expect(links.first).to_have_attribute("aria-current", "true")


def test_only_what_was_whispered_or_only_silence_can_be_shown(visit: Visit) -> None:
    page = visit.open("/whispers")

    page.get_by_role("button", name="Silent").click()

    expect(page.get_by_label("Prompts").get_by_role("link", name=DATABASE)).to_have_count(0)
    expect(page.get_by_label("Prompts").get_by_role("link", name="thanks!")).to_have_count(1)
    assert visit.path == "/whispers?outcome=silent"


def test_what_is_shown_is_one_of_those_that_are_listed(visit: Visit) -> None:
    page = visit.open("/whispers")
    open_prompt(page, DEPLOYS)
    current = page.get_by_label("Prompts").locator("a[aria-current]")

    page.get_by_role("button", name="Whispered").click()
    expect(current).to_contain_text(DEPLOYS)  # it is one of them, so it stays
    page.get_by_role("button", name="Silent").click()
    expect(current).to_have_count(1)
    expect(page.locator("article blockquote")).not_to_have_text(DEPLOYS)
    page.get_by_role("button", name="Held out").click()

    expect(page.get_by_text("None of the last prompts")).to_be_visible()
    expect(page.get_by_label("The prompt", exact=True)).to_have_count(0)


def test_an_outcome_that_there_is_not_has_a_way_back(visit: Visit) -> None:
    visit.expects("422")
    page = visit.open("/whispers?outcome=foo")

    expect(page.get_by_text("There is no such choice")).to_be_visible()
    expect(page.get_by_text("Whispered, Silent, Held out, Too late")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    visit.picture("whispers-no-such")
    page.get_by_role("button", name="Show all prompts").click()

    expect(page.get_by_role("link", name=DEPLOYS)).to_be_visible()
    assert visit.path == "/whispers"


def test_a_new_prompt_appears_by_itself_and_moves_nothing_away(
    visit: Visit, daemon: Daemon
) -> None:
    page = visit.open("/whispers")
    open_prompt(page, "thanks!")

    ask(daemon, "s-9", "atlas", "how far apart are contour lines?")

    listed = page.get_by_label("Prompts")
    expect(listed.get_by_role("link").first).to_contain_text("how far apart are contour lines?")
    expect(page.locator("article blockquote")).to_have_text("thanks!")


def test_older_prompts_come_page_by_page(daemon: Daemon) -> None:
    seen: list[str] = []
    after = ""
    while True:
        page = daemon.ok("GET", "/ui/data/whispers", limit=2, **({"after": after} if after else {}))
        seen += [each["id"] for each in page["whispers"]]
        after = page["next"] or ""
        if not after:
            break

    whole = daemon.ok("GET", "/ui/data/whispers", limit=200)["whispers"]
    assert seen == [each["id"] for each in whole]
    assert len(seen) == len(set(seen)) >= len(PROMPTS)


def test_a_prompt_that_nobody_knows_is_said_not_to_be_there(visit: Visit) -> None:
    visit.expects("404")
    page = visit.open("/whispers/00000000-0000-4000-8000-000000000000")

    expect(page.get_by_label("The prompt", exact=True)).to_contain_text("There is no such prompt")
    expect(page.locator("article blockquote")).to_have_count(0)


def test_on_a_phone_a_prompt_takes_the_place_of_the_list(browser: Browser, daemon: Daemon) -> None:
    with visiting(browser, daemon, "phone") as visit:
        page = visit.open("/whispers")
        expect(page.locator("article")).to_have_count(0)

        open_prompt(page, "thanks!")
        expect(page.get_by_label("Prompts")).to_be_hidden()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert visit.faults() == []
        page.get_by_role("link", name="All prompts").click()

        expect(page.get_by_label("Prompts")).to_be_visible()
