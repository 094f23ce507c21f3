"""One memory: looking at it, changing it, and taking that back, by keyboard and by mouse."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.page.browsing import Visit, visiting
from tests.page.test_steadiness import HARM
from tests.server.running import Daemon, running


def read(daemon: Daemon, memory: str) -> dict[str, Any]:
    """Return a memory as it is, without using it."""
    return dict(daemon.ok("GET", f"/ui/data/memory/{memory}"))


def content(daemon: Daemon, memory: str) -> str:
    return str(read(daemon, memory)["memory"]["content"])


def undo(page: Page) -> None:
    page.get_by_role("button", name="Undo").last.click()
    expect(page.get_by_text("Taken back", exact=True)).to_be_visible()


def typed(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Text", exact=True).fill(text)


def pick(page: Page, words: str, headline: str) -> None:
    """Choose a memory by typing, with the keyboard alone."""
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type(words)
    expect(dialog.locator("a.chosen")).to_contain_text(headline)
    page.keyboard.press("Enter")


def section(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name)


# -- looking -------------------------------------------------------------------------------


def test_a_memory_shows_what_it_says_where_it_comes_from_and_what_it_is_tied_to(
    visit: Visit,
) -> None:
    daemon = visit.daemon
    text = (
        "We chose **SQLite** for `invoices`.\n\n- one file\n- no server\n\n[why](https://x.example)"
    )
    origin = {"session": "talk-7", "turn": 3, "speaker": "Ana"}
    beside = {"title": "Invoices in SQLite", "metadata": {"ticket": "A-17"}}
    memory = daemon.remember(text, origin=origin, tags=["storage"], **beside)
    other = daemon.remember("Postgres needs a server to look after", title="Postgres needs care")
    body = {"source_id": memory, "target_id": other, "edge": "supports", "reason": "less to do"}
    daemon.ok("POST", "/agent/connect", body)

    page = visit.open(f"/m/{memory}")

    expect(page.get_by_role("heading", level=1)).to_have_text("Invoices in SQLite")
    said = page.get_by_role("region", name="What it says")
    expect(said.locator("strong")).to_have_text("SQLite")
    expect(said.locator("li")).to_have_count(2)
    expect(said.get_by_role("link", name="why")).to_have_attribute(
        "rel", re.compile("noopener noreferrer")
    )
    expect(section(page, "Where it comes from")).to_contain_text("talk-7, turn 3")
    expect(section(page, "Where it comes from")).to_contain_text('{"ticket":"A-17"}')
    tied = section(page, "Connections")
    expect(tied).to_contain_text("supports")
    expect(tied).to_contain_text("“less to do”")
    expect(section(page, "History")).to_contain_text("linked")
    tied.get_by_role("link", name="Postgres needs care").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Postgres needs care")
    expect(section(page, "Connections")).to_contain_text("is supported by")


def test_strength_is_drawn_with_its_uses_and_explained(visit: Visit) -> None:
    created = "2026-08-01T00:00:00Z"
    memory = visit.daemon.remember("The spare key hangs by the door", created=created)
    for session in ("one", "two", "three"):
        visit.daemon.ok("GET", f"/agent/recall/{memory}", session_id=session)

    page = visit.open(f"/m/{memory}")

    strength = section(page, "Strength")
    expect(strength.get_by_role("img")).to_have_attribute(
        "aria-label", re.compile(r"(100|99) % now, 3 uses")
    )
    expect(strength.locator("path.use")).to_have_count(3)
    expect(strength).to_contain_text("Used 3 times")
    expect(strength).to_contain_text("Importance")


def test_looking_at_a_memory_does_not_make_it_stronger(visit: Visit) -> None:
    memory = visit.daemon.remember("The bicycle has a blue bell")

    visit.open(f"/m/{memory}")
    visit.open(f"/m/{memory}")

    assert read(visit.daemon, memory)["memory"]["access_count"] == 0


def test_what_changes_elsewhere_appears_by_itself(visit: Visit) -> None:
    memory = visit.daemon.remember("The meeting is at nine")
    page = visit.open(f"/m/{memory}")

    visit.daemon.ok("POST", f"/agent/update/{memory}", {"content": "The meeting is at ten"})

    expect(section(page, "What it says")).to_have_text("The meeting is at ten")
    expect(section(page, "History")).to_contain_text("revised")


def test_a_memory_that_is_not_there_is_said_to_be_missing(visit: Visit) -> None:
    visit.expects("404")
    page = visit.open("/m/00000000-0000-4000-8000-000000000000")

    expect(page.get_by_text("There is no such memory")).to_be_visible()


def test_a_memory_as_it_was_on_a_day_stands_beside_how_it_is_now(visit: Visit) -> None:
    memory = visit.daemon.remember("The first wording of it", created="2026-01-01T00:00:00Z")
    page = visit.open(f"/m/{memory}?as_of=2026-02-01")

    expect(page.get_by_text("As it was on 1 February 2026")).to_be_visible()
    page.get_by_role("button", name="As it is now").click()
    expect(page.get_by_role("button", name="Edit")).to_be_visible()
    assert visit.path == f"/m/{memory}"


@pytest.mark.parametrize("said", ["2026-11-99T", "2026-02-31T00:00:00Z", "2026-02-01Tnoon"])
def test_a_moment_that_never_was_is_said_so(visit: Visit, said: str) -> None:
    memory = visit.daemon.remember(f"The barn has a door, {said}")

    page = visit.open(f"/m/{memory}?as_of={said}")

    expect(page.get_by_text(f"There is no such day as {said}")).to_be_visible()
    expect(section(page, "What it says")).to_contain_text("The barn has a door")


def test_an_address_that_fits_several_memories_lists_them_by_title(visit: Visit) -> None:
    visit.expects("409")
    titles = [f"Thread {each} (of many), `really` ({each})" for each in range(40)]
    ids = {each: visit.daemon.remember(f"{each} is here", title=each) for each in titles}
    firsts = Counter(each[0] for each in ids.values())
    prefix, many = firsts.most_common(1)[0]
    assert many > 1

    page = visit.open(f"/m/{prefix}")

    expect(page.get_by_role("heading", level=1)).to_have_text("Which memory?")
    assert visit.faults() == []
    link = page.locator("main li a").first
    title = link.inner_text()
    link.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def test_nothing_can_be_done_with_a_memory_as_it_was_on_a_day(visit: Visit) -> None:
    daemon = visit.daemon
    memory = daemon.remember("The kiln is at 900 degrees", created="2026-01-01T00:00:00Z")
    other = daemon.remember("The kiln is lit on Friday", title="Lighting the kiln")
    daemon.ok("POST", "/agent/connect", {"source_id": memory, "target_id": other})
    page = visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Edit").click()
    typed(page, "The kiln is at 1000 degrees")

    visit.open(f"/m/{memory}?as_of=2026-02-01")
    expect(section(page, "Connections")).to_contain_text("Lighting the kiln")
    for key in ("e", "l", "m", "r", "#"):
        page.keyboard.press(key)
    page.wait_for_timeout(500)

    expect(section(page, "What it says")).to_have_text("The kiln is at 900 degrees")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("Link|Merge|away"))).to_have_count(0)
    assert not read(daemon, memory)["forgotten"]
    page.get_by_role("button", name="As it is now").click()
    text = page.get_by_role("textbox", name="Text", exact=True)
    expect(text).to_have_value("The kiln is at 1000 degrees")


# -- editing -------------------------------------------------------------------------------


def test_editing_by_mouse_saves_and_can_be_taken_back(visit: Visit) -> None:
    memory = visit.daemon.remember("The lamp is broken", title="Lamp")
    page = visit.open(f"/m/{memory}")

    page.get_by_role("button", name="Edit").click()
    typed(page, "The lamp is mended")
    page.get_by_label("Title").fill("Lamp, mended")
    page.get_by_label("Tier").select_option("core")
    page.get_by_label("Tags").fill("light, #home")
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Lamp, mended")
    now = read(visit.daemon, memory)["memory"]
    assert (now["content"], now["tier"], now["tags"]) == (
        "The lamp is mended",
        "core",
        ["light", "home"],
    )
    undo(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Lamp")
    assert content(visit.daemon, memory) == "The lamp is broken"


def test_whether_a_memory_says_how_things_are_done_can_be_set_right(visit: Visit) -> None:
    daemon = visit.daemon
    memory = daemon.remember("The attic is cold, never mind")
    page = visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("How things are done").select_option("a standing note")
    page.get_by_role("button", name="Save").click()

    expect(section(page, "Where it comes from")).to_contain_text("a standing note (set by hand)")
    assert read(daemon, memory)["memory"]["kind"] == "standing"

    undo(page)
    assert read(daemon, memory)["memory"]["kind"] is None


def test_editing_by_keyboard_alone(visit: Visit) -> None:
    memory = visit.daemon.remember("The boat is in the harbour")
    page = visit.open(f"/m/{memory}")
    page.wait_for_selector("article")

    page.keyboard.press("e")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("The boat is at sea")
    page.keyboard.press("Control+s")

    expect(section(page, "What it says")).to_have_text("The boat is at sea")
    assert content(visit.daemon, memory) == "The boat is at sea"


def test_leaving_asks_before_it_throws_away_what_was_written(visit: Visit) -> None:
    memory = visit.daemon.remember("The parcel came on Monday")
    page = visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Edit").click()
    typed(page, "The parcel came on Tuesday")

    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Throw it away?")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(
        "The parcel came on Tuesday"
    )
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("dialog").get_by_role("button", name="Throw it away").click()

    expect(section(page, "What it says")).to_have_text("The parcel came on Monday")
    assert content(visit.daemon, memory) == "The parcel came on Monday"


def test_what_is_being_written_outlives_a_reload(visit: Visit) -> None:
    memory = visit.daemon.remember("The garden needs water")
    page = visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Edit").click()
    typed(page, "The garden needs water and shade")

    page.reload()

    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(
        "The garden needs water and shade"
    )
    assert content(visit.daemon, memory) == "The garden needs water"


def test_a_daemon_that_dies_costs_nothing_that_was_written(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    home = tmp_path / "home"
    with running(home) as daemon, visiting(browser, daemon) as visit:
        visit.expects("ERR_")  # the browser notes every request that nobody answers
        memory = daemon.remember("Written before the night")
        page = visit.open(f"/m/{memory}")
        page.get_by_role("button", name="Edit").click()
        typed(page, "Written while nobody listened")
        port = daemon.launched.port
        daemon.kill()
        page.keyboard.press("Control+s")
        expect(page.get_by_text("The daemon does not answer").first).to_be_visible()
        with running(home, port=port) as again:
            expect(page.get_by_text("What you see may be old")).to_have_count(0)
            page.get_by_role("button", name="Save").click()
            expect(section(page, "What it says")).to_have_text("Written while nobody listened")
            assert content(again, memory) == "Written while nobody listened"


# -- two who edit at once ------------------------------------------------------------------


def both_edit(visit: Visit, memory: str) -> tuple[Page, Page]:
    """Open the same memory in two tabs and write something else in each."""
    one, two = visit.open(f"/m/{memory}"), visit.window()
    two.goto(f"{visit.root}/m/{memory}")
    for page, text in ((one, "written in the first tab"), (two, "written in the second tab")):
        page.get_by_role("button", name="Edit").click()
        typed(page, text)
    return one, two


def test_two_tabs_that_edit_one_memory_see_both_texts_and_overwrite_nothing(visit: Visit) -> None:
    memory = visit.daemon.remember("written by nobody yet")
    one, two = both_edit(visit, memory)

    one.get_by_role("button", name="Save").click()
    expect(section(one, "What it says")).to_have_text("written in the first tab")

    alert = two.get_by_role("alert")
    expect(alert).to_contain_text("It was changed meanwhile")
    expect(alert).to_contain_text("written in the first tab")
    expect(alert).to_contain_text("written in the second tab")
    assert content(visit.daemon, memory) == "written in the first tab"
    alert.get_by_role("button", name="Keep what is there now").click()
    expect(section(two, "What it says")).to_have_text("written in the first tab")
    assert content(visit.daemon, memory) == "written in the first tab"


def test_a_save_that_comes_too_late_is_refused_by_the_daemon_itself(visit: Visit) -> None:
    """The tab cannot have heard of the other's change: its line to the daemon is cut."""
    visit.expects("409")
    visit.expects("ERR_")
    memory = visit.daemon.remember("as it was in the beginning")
    page = visit.page
    page.route("**/events", lambda route: route.abort())
    visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Edit").click()
    typed(page, "what I make of it")

    visit.daemon.ok("POST", f"/agent/update/{memory}", {"content": "what an agent made of it"})
    page.keyboard.press("Control+s")

    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("what an agent made of it")
    expect(alert).to_contain_text("what I make of it")
    assert content(visit.daemon, memory) == "what an agent made of it"


def test_who_saves_after_seeing_both_leaves_the_other_text_in_the_history(visit: Visit) -> None:
    memory = visit.daemon.remember("written by nobody so far")
    one, two = both_edit(visit, memory)
    one.get_by_role("button", name="Save").click()
    expect(section(one, "What it says")).to_have_text("written in the first tab")

    two.get_by_role("alert").get_by_role("button", name="Save what I wrote").click()

    expect(section(two, "What it says")).to_have_text("written in the second tab")
    assert content(visit.daemon, memory) == "written in the second tab"
    undo(two)
    expect(section(two, "What it says")).to_have_text("written in the first tab")
    assert content(visit.daemon, memory) == "written in the first tab"


def open_editor(visit: Visit, title: str) -> tuple[str, Page]:
    """Change the text of a memory with a title, a tag and a tier that nobody touches."""
    memory = visit.daemon.remember(f"{title} is at six", title=title, tags=["old"])
    page = visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Edit").click()
    typed(page, f"{title} is at seven")
    return memory, page


def test_saving_a_text_takes_back_no_title_tag_or_tier_that_somebody_else_gave(
    visit: Visit,
) -> None:
    memory, page = open_editor(visit, "Swimming")
    theirs = {"title": "Swimming, with the club", "tags": ["fresh", "agent"], "tier": "core"}
    visit.daemon.ok("POST", f"/agent/update/{memory}", theirs)

    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Swimming is at seven")
    expect(page.get_by_label("Title")).to_have_value("Swimming, with the club")
    expect(page.get_by_label("Tags")).to_have_value("fresh, agent")
    for untouched in ("Title:", "Tags:", "Tier:"):
        expect(alert).not_to_contain_text(untouched)
    visit.picture("memory-conflict-untouched")
    alert.get_by_role("button", name="Save what I wrote").click()

    expect(section(page, "What it says")).to_have_text("Swimming is at seven")
    now = read(visit.daemon, memory)["memory"]
    assert {name: now[name] for name in theirs} == theirs


def test_a_draft_knows_after_a_reload_what_the_person_had_touched(visit: Visit) -> None:
    memory, page = open_editor(visit, "Rowing")
    page.get_by_label("Tags").fill("mine")
    page.goto(f"{visit.root}/")
    theirs = {"title": "Rowing, with the club", "tags": ["fresh"], "tier": "core"}
    visit.daemon.ok("POST", f"/agent/update/{memory}", theirs)
    page = visit.open(f"/m/{memory}")

    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Tags: fresh now, mine as you wrote it")
    page.reload()
    expect(alert).to_contain_text("Tags: fresh now, mine as you wrote it")
    expect(alert).not_to_contain_text("Title:")
    page.get_by_label("Title").fill("Rowing alone")
    visit.daemon.ok("POST", f"/agent/update/{memory}", {"title": "Rowing in pairs"})
    expect(alert).to_contain_text("Title: Rowing in pairs now, Rowing alone as you wrote it")
    page.keyboard.press("Control+s")
    alert.get_by_role("button", name="Save what I wrote").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Rowing alone")
    now = read(visit.daemon, memory)["memory"]
    expected = ("Rowing is at seven", ["mine"], "core")
    assert (now["content"], now["tags"], now["tier"]) == expected


def test_an_edit_of_the_file_by_hand_is_a_conflict_too(visit: Visit) -> None:
    memory = visit.daemon.remember("typed into the page first")
    page = visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Edit").click()
    typed(page, "typed into the page later")

    path = visit.daemon.vault / read(visit.daemon, memory)["path"]
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("typed into the page first", "by hand"), encoding="utf-8")
    visit.expects("409")
    page.keyboard.press("Control+s")

    expect(page.get_by_role("alert")).to_contain_text("by hand")
    assert "by hand" in path.read_text(encoding="utf-8")


def test_a_memory_forgotten_elsewhere_while_it_is_edited_keeps_what_was_written(
    visit: Visit,
) -> None:
    memory = visit.daemon.remember("The pump is oiled in May.", title="Oil for the pump")
    page = visit.open(f"/m/{memory}")
    page.keyboard.press("e")
    typed(page, "The pump is oiled in May and October.")

    visit.daemon.ok("DELETE", f"/agent/recall/{memory}")

    expect(page.get_by_role("alert")).to_contain_text("forgotten while you were editing it")
    expect(section(page, "What you wrote")).to_contain_text("in May and October")
    assert visit.faults() == []
    visit.picture("memory-forgotten-while-edited")
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(
        "The pump is oiled in May and October."
    )


def test_a_change_elsewhere_that_meets_nothing_written_is_simply_taken_over(visit: Visit) -> None:
    memory = visit.daemon.remember("nobody has typed anything")
    page = visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Edit").click()

    visit.daemon.ok("POST", f"/agent/update/{memory}", {"content": "an agent has"})

    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("an agent has")
    expect(page.get_by_role("alert")).to_have_count(0)


# -- everything else that can be done ------------------------------------------------------


def test_what_is_taken_back_in_the_history_is_not_offered_to_be_undone_again(
    visit: Visit,
) -> None:
    memory = visit.daemon.remember("Sails are mended in March.", title="Mending sails")
    page = visit.open(f"/m/{memory}")
    page.keyboard.press("e")
    typed(page, "Sails are mended in April.")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()

    section(page, "History").get_by_role("button", name="Undo").first.click()

    expect(page.get_by_text("Taken back", exact=True)).to_be_visible()
    expect(page.get_by_text("Saved", exact=True)).to_have_count(0)


def test_an_undo_that_is_refused_names_the_memory(visit: Visit) -> None:
    visit.expects("409")
    memory = visit.daemon.remember("Nets dry on the east quay.", title="Where nets dry")
    page = visit.open(f"/m/{memory}")
    visit.daemon.ok("POST", f"/agent/update/{memory}", {"content": "Nets dry on the west quay."})
    revised = section(page, "History").locator("li", has_text="revised")
    expect(revised).to_have_count(1)
    visit.daemon.ok("POST", f"/agent/update/{memory}", {"content": "Nets dry in the shed."})
    expect(revised).to_have_count(2)

    revised.last.get_by_role("button", name="Undo").click()

    expect(page.get_by_text("“Where nets dry” was changed since")).to_be_visible()


def test_a_save_that_is_refused_says_so_once_and_no_longer_when_it_works(visit: Visit) -> None:
    visit.expects("422")
    memory = visit.daemon.remember("The clock in the hall is slow")
    page = visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Space").fill("x" * 10_000)
    refused = page.locator(".toast.bad")

    for _ in range(2):
        with page.expect_response("**/agent/update/*"):
            page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    expect(refused).to_have_count(1)
    page.get_by_label("Space").fill("")
    typed(page, "The clock in the hall is right")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert refused.count() == 0  # at once, not by its time


def test_a_memory_is_not_saved_without_a_text(visit: Visit) -> None:
    memory = visit.daemon.remember("The attic is dry", title="Attic")
    page = visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Edit").click()
    typed(page, " ")

    page.keyboard.press("Control+s")

    expect(page.get_by_role("alert")).to_have_text(
        "A memory needs a text. To be rid of it, leave and forget it."
    )
    assert visit.faults() == []
    typed(page, "The attic is wet")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.keyboard.press("Control+s")
    expect(section(page, "What it says")).to_have_text("The attic is wet")


def test_who_wrote_something_is_said_in_plain_words(visit: Visit) -> None:
    memory = visit.daemon.remember("Ropes are tarred twice a year.", title="Tarring ropes")
    page = visit.open(f"/m/{memory}")

    expect(section(page, "Where it comes from")).to_contain_text("an agent")
    expect(page.locator("main")).not_to_contain_text("agent:unknown")


def test_retiring_with_a_reason_and_a_successor_and_taking_it_back(visit: Visit) -> None:
    old = visit.daemon.remember("The office is in Cork Street", title="Office in Cork Street")
    new = visit.daemon.remember("The office is in Pearse Street", title="Office in Pearse Street")
    page = visit.open(f"/m/{old}")

    page.get_by_role("button", name="Retire").click()
    dialog = page.get_by_role("dialog", name="Retire this memory")
    dialog.get_by_label("Why it is no longer true").fill("they moved")
    dialog.get_by_role("button", name="Replaced by").click()
    page.get_by_role("dialog").get_by_role("searchbox").fill("Pearse Street")
    page.get_by_role("dialog").get_by_text("Office in Pearse Street").click()
    page.get_by_role("dialog").get_by_role("button", name="Retire").click()

    expect(page.get_by_text("No longer true since")).to_be_visible()
    assert read(visit.daemon, old)["memory"]["superseded_by"] == new
    expect(section(page, "History")).to_contain_text("they moved")
    undo(page)
    expect(page.get_by_text("No longer true since")).to_have_count(0)
    assert read(visit.daemon, old)["memory"]["valid_until"] is None


def test_retiring_by_keyboard_and_letting_it_hold_again(visit: Visit) -> None:
    memory = visit.daemon.remember("The shop closes at six")
    page = visit.open(f"/m/{memory}")
    page.wait_for_selector("article")

    page.keyboard.press("r")
    expect(page.get_by_label("Why it is no longer true")).to_be_focused()
    page.keyboard.type("longer hours")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No longer true since")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("r")

    expect(page.get_by_text("No longer true since")).to_have_count(0)
    assert read(visit.daemon, memory)["memory"]["valid_until"] is None


def test_forgetting_and_undoing_it_from_the_toast(visit: Visit) -> None:
    memory = visit.daemon.remember("The password hint is a bird")
    page = visit.open(f"/m/{memory}")

    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_text("This memory is forgotten")).to_be_visible()
    assert read(visit.daemon, memory)["forgotten"]
    undo(page)

    expect(page.get_by_text("This memory is forgotten")).to_have_count(0)
    assert not read(visit.daemon, memory)["forgotten"]


def test_forgetting_and_restoring_by_keyboard(visit: Visit) -> None:
    memory = visit.daemon.remember("The umbrella is in the car")
    page = visit.open(f"/m/{memory}")
    page.wait_for_selector("article")

    page.keyboard.press("#")
    expect(page.get_by_text("This memory is forgotten")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_text("This memory is forgotten")).to_have_count(0)
    page.keyboard.press("#")
    expect(page.get_by_text("This memory is forgotten")).to_be_visible()
    page.reload()
    expect(section(page, "What it says")).to_have_text("The umbrella is in the car")
    page.keyboard.press("Shift+R")

    expect(page.get_by_text("This memory is forgotten")).to_have_count(0)
    assert not read(visit.daemon, memory)["forgotten"]


def test_linking_by_keyboard_and_taking_the_connection_away_by_mouse(visit: Visit) -> None:
    memory = visit.daemon.remember("Apples ripen in September", title="Apples")
    other = visit.daemon.remember("Quinces want a warm wall", title="Quinces")
    page = visit.open(f"/m/{memory}")
    page.wait_for_selector("article")

    page.keyboard.press("l")
    pick(page, "Quinces warm wall", "Quinces")
    dialog = page.get_by_role("dialog", name="Link two memories")
    expect(dialog.get_by_label("What the connection says")).to_be_focused()
    page.keyboard.press("s")  # the first that begins so
    dialog.get_by_label("Why").fill("both are fruit")
    page.keyboard.press("Enter")

    tied = section(page, "Connections")
    expect(tied.get_by_role("link", name="Quinces")).to_be_visible()
    (link,) = read(visit.daemon, memory)["connections"]
    assert (link["target"], link["edge"], link["reason"]) == (other, "supports", "both are fruit")
    tied.get_by_role("button", name="Take this connection away").click()
    expect(tied.get_by_role("link", name="Quinces")).to_have_count(0)
    undo(page)
    expect(tied.get_by_role("link", name="Quinces")).to_be_visible()


def test_a_memory_that_is_outdated_can_be_linked_too(visit: Visit) -> None:
    until = "2026-02-01T00:00:00Z"
    visit.daemon.remember("The ferry left at seven", title="Ferry at seven", valid_until=until)
    memory = visit.daemon.remember("The ferry leaves at eight", title="Ferry at eight")
    page = visit.open(f"/m/{memory}")
    page.wait_for_selector("article")

    page.keyboard.press("l")
    pick(page, "The ferry left at seven", "Ferry at seven")

    expect(page.get_by_role("dialog", name="Link two memories")).to_contain_text("Ferry at seven")


def test_merging_two_memories_and_taking_it_back(visit: Visit) -> None:
    memory = visit.daemon.remember("The cat is called Minka", title="Minka")
    other = visit.daemon.remember("Minka the cat is nine years old", title="Minka is nine")
    page = visit.open(f"/m/{memory}")
    page.wait_for_selector("article")

    page.keyboard.press("m")
    pick(page, "Minka the cat is nine", "Minka is nine")
    dialog = page.get_by_role("dialog", name="Make one memory of two")
    dialog.get_by_role("button", name="Put both texts together").click()
    dialog.get_by_role("button", name="Merge", exact=True).click()

    expect(section(page, "What it says")).to_contain_text("nine years old")
    assert "called Minka" in content(visit.daemon, memory)
    assert read(visit.daemon, other)["forgotten"]
    undo(page)
    expect(section(page, "What it says")).to_have_text("The cat is called Minka")
    assert not read(visit.daemon, other)["forgotten"]


def merging(visit: Visit, one: str, two: str) -> tuple[str, str, Locator]:
    """Remember two and open the dialog that makes one of them."""
    memory = visit.daemon.remember(one, title=f"{one}, here")
    other = visit.daemon.remember(two, title=f"{two}, there")
    page = visit.open(f"/m/{memory}")
    page.wait_for_selector("article")
    page.keyboard.press("m")
    pick(page, two, f"{two}, there")
    dialog = page.get_by_role("dialog", name="Make one memory of two")
    expect(dialog.get_by_label("What it says then")).to_have_value(one)
    return memory, other, dialog


@pytest.mark.parametrize("which", [0, 1])
def test_what_is_written_while_two_are_merged_is_shown_and_not_overwritten(
    visit: Visit, which: int
) -> None:
    words = ("Larks nest in the meadow", "Skylarks breed on the common")
    *pair, dialog = merging(visit, f"{words[0]} {which}", f"{words[1]} {which}")
    mine = dialog.get_by_label("What it says then")
    mine.fill("what I made of both")

    visit.daemon.ok("POST", f"/agent/update/{pair[which]}", {"content": "written meanwhile"})

    alert = dialog.get_by_role("alert")
    expect(alert).to_contain_text("It was changed meanwhile")
    expect(alert).to_contain_text("written meanwhile")
    expect(mine).to_have_value("what I made of both")
    expect(dialog.get_by_role("button", name="Merge", exact=True)).to_be_disabled()
    assert visit.faults() == []
    alert.get_by_role("button", name="I have seen it").click()
    expect(alert).to_have_count(0)
    dialog.get_by_role("button", name="Merge", exact=True).click()
    expect(section(visit.page, "What it says")).to_have_text("what I made of both")
    assert read(visit.daemon, pair[1])["forgotten"]


def test_a_merge_that_comes_too_late_is_refused_by_the_daemon_itself(visit: Visit) -> None:
    visit.expects("409")
    visit.expects("ERR_")
    visit.page.route("**/events", lambda route: route.abort())
    memory, other, dialog = merging(visit, "Herons fish at dawn", "Bitterns boom in the reeds")
    dialog.get_by_role("button", name="Put both texts together").click()

    visit.daemon.ok("POST", f"/agent/update/{other}", {"content": "Bitterns left the reeds"})
    dialog.get_by_role("button", name="Merge", exact=True).click()

    expect(dialog.get_by_role("alert")).to_contain_text("Bitterns left the reeds")
    expect(dialog.get_by_label("What it says then")).to_have_value(
        "Herons fish at dawn\n\nBitterns boom in the reeds"
    )
    assert content(visit.daemon, memory) == "Herons fish at dawn"
    assert not read(visit.daemon, other)["forgotten"]


def test_what_is_typed_into_a_merge_is_not_thrown_away_without_a_question(visit: Visit) -> None:
    _, _, dialog = merging(visit, "Otters live by the weir", "Beavers came to the brook")
    page, mine = visit.page, dialog.get_by_label("What it says then")
    asked = page.get_by_role("dialog", name="Throw it away?")
    mine.fill("typed by a person")

    dialog.get_by_label("Beavers came to the brook, there").check()
    expect(mine).to_have_value("typed by a person")
    leaving: tuple[Callable[[], None], ...] = (
        lambda: page.keyboard.press("Escape"),
        lambda: page.mouse.click(3, 3),
        dialog.get_by_role("button", name="Close").click,
        dialog.get_by_role("button", name="Cancel").click,
        dialog.get_by_role("button", name="Put both texts together").click,
    )
    for leave in leaving:
        leave()
        expect(asked).to_be_visible()
        page.keyboard.press("Escape")
        expect(asked).to_have_count(0)
        expect(mine).to_have_value("typed by a person")
    page.keyboard.press("Escape")
    asked.get_by_role("button", name="Throw it away").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_what_is_typed_into_a_merge_outlives_a_reload(visit: Visit) -> None:
    memory, other, dialog = merging(visit, "Larks rise at four", "Larks sing over the moor")
    page, mine = visit.page, dialog.get_by_label("What it says then")
    dialog.get_by_label("Larks sing over the moor, there").check()
    mine.fill("Larks rise and sing")
    # While the page is away an agent writes, too: that is shown, and nothing is overwritten.
    page.goto("about:blank")
    visit.daemon.ok("POST", f"/agent/update/{other}", {"content": "Larks left the moor"})
    page.go_back()

    expect(mine).to_have_value("Larks rise and sing")
    expect(dialog.get_by_label("Larks sing over the moor, there")).to_be_checked()
    expect(dialog.get_by_role("alert")).to_contain_text("Larks left the moor")
    dialog.get_by_role("button", name="I have seen it").click()
    dialog.get_by_role("button", name="Merge", exact=True).click()
    expect(page).to_have_url(re.compile(f"/m/{other}$"))
    assert content(visit.daemon, other) == "Larks rise and sing"
    page.goto(f"{visit.root}/m/{memory}")
    expect(page.get_by_text("This memory is forgotten")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize(("key", "label"), [("r", "Why it is no longer true"), ("l", "Why (may")])
def test_a_typed_reason_is_not_thrown_away_without_a_question(
    visit: Visit, key: str, label: str
) -> None:
    visit.daemon.remember(f"The {key} of two mills", title=f"A mill for {key}")
    page = visit.open(f"/m/{visit.daemon.remember(f'The {key} of one mill')}")
    expect(page.get_by_role("button", name="Retire")).to_be_visible()
    page.keyboard.press(key)
    if key == "l":
        page.get_by_role("dialog").get_by_label("Which memory?").fill(f"A mill for {key}")
        page.get_by_role("dialog").get_by_role("link", name=f"A mill for {key}").click()
    dialog = page.locator("dialog:has(form)").first
    asked = page.get_by_role("dialog", name="Throw it away?")
    dialog.get_by_label(label).fill("typed by a person")

    leaving: tuple[Callable[[], None], ...] = (
        lambda: page.keyboard.press("Escape"),
        lambda: page.mouse.click(3, 3),
        dialog.get_by_role("button", name="Close").click,
        dialog.get_by_role("button", name="Cancel").click,
    )
    for leave in leaving:
        leave()
        expect(asked).to_be_visible()
        page.keyboard.press("Escape")
        expect(asked).to_have_count(0)
        expect(dialog.get_by_label(label)).to_have_value("typed by a person")
    dialog.get_by_label(label).fill("")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def dialog_of(visit: Visit, key: str, name: str) -> tuple[str, str, Locator]:
    """Remember two, open a dialog about them with a key, and type something into it."""
    here, there = (f"The {name} mill {place}" for place in ("by the weir", "on the hill"))
    memory = visit.daemon.remember(f"{here} grinds rye", title=here)
    other = visit.daemon.remember(f"{there} grinds oats", title=there)
    page = visit.open(f"/m/{memory}")
    expect(page.get_by_role("button", name="Edit")).to_be_visible()
    page.keyboard.press(key)
    if key == "r":
        page.get_by_role("dialog").get_by_role("button", name="Replaced by").click()
    pick(page, there, there)
    dialog = page.locator("dialog:has(form)").first
    kept_words(dialog).fill("typed by a person")
    return memory, other, dialog


def kept_words(dialog: Locator) -> Locator:
    return dialog.locator("textarea, input:not([type])")


SENDS = {"l": "Link", "m": "Merge", "r": "Retire"}


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("key", ["l", "m", "r"])
def test_a_dialog_says_which_of_its_memories_was_forgotten_meanwhile(
    visit: Visit, key: str, which: int
) -> None:
    *pair, dialog = dialog_of(visit, key, f"{['first', 'second'][which]} {SENDS[key]}")
    page, send = visit.page, dialog.get_by_role("button", name=SENDS[key], exact=True)

    visit.daemon.ok("DELETE", f"/agent/recall/{pair[which]}")

    alert = dialog.get_by_role("alert")
    place = ("by the weir", "on the hill")[which]
    expect(alert).to_contain_text(re.compile(f"mill {place}.* lies in the trash"))
    expect(send).to_be_disabled()
    page.keyboard.press("Control+Enter")
    assert visit.faults() == []
    page.reload()
    expect(alert).to_contain_text(re.compile(f"mill {place}.* lies in the trash"))
    expect(kept_words(dialog)).to_have_value("typed by a person")
    if which:
        visit.picture(f"memory-gone-{SENDS[key].lower()}")
    alert.get_by_role("button", name="Restore").click()
    expect(alert).to_have_count(0)
    expect(kept_words(dialog)).to_have_value("typed by a person")
    send.click()
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("key", ["l", "m", "r"])
def test_what_is_sent_for_a_forgotten_memory_is_refused_in_words_for_people(
    visit: Visit, key: str
) -> None:
    """The tab cannot have heard of it: its line to the daemon is cut."""
    visit.expects("404")
    visit.expects("ERR_")
    visit.page.route("**/events", lambda route: route.abort())
    memory, _, dialog = dialog_of(visit, key, f"lost {SENDS[key]}")

    visit.daemon.ok("DELETE", f"/agent/recall/{memory}")
    dialog.get_by_role("button", name=SENDS[key], exact=True).click()

    expect(dialog.get_by_role("alert")).to_contain_text("lies in the trash")
    expect(kept_words(dialog)).to_have_value("typed by a person")
    expect(visit.page.get_by_text("madeleine list")).to_have_count(0)


def test_a_merge_with_a_memory_that_was_purged_keeps_what_was_typed(visit: Visit) -> None:
    visit.expects("404")
    _, other, dialog = dialog_of(visit, "m", "purged")

    visit.page.route(f"**/memory/{other}", lambda route: route.fulfill(status=404, json={}))
    visit.page.reload()

    expect(dialog.get_by_role("alert")).to_contain_text("not even in the trash")
    expect(kept_words(dialog)).to_have_value("typed by a person")
    expect(dialog.get_by_role("button", name="Merge", exact=True)).to_be_disabled()


@pytest.mark.parametrize("key", ["l", "r"])
def test_a_typed_reason_outlives_a_reload(visit: Visit, key: str) -> None:
    memory, other, dialog = dialog_of(visit, key, f"lasting {SENDS[key]}")
    page = visit.page
    if key == "l":
        dialog.get_by_label("What the connection says").select_option("supports")
        dialog.get_by_role("button", name="Turn it around").click()

    page.reload()

    expect(kept_words(dialog)).to_have_value("typed by a person")
    expect(dialog).to_contain_text(f"The lasting {SENDS[key]} mill on the hill")
    if key == "l":
        expect(dialog.get_by_label("What the connection says")).to_have_value("supports")
        expect(dialog.locator(".end").first).to_contain_text("on the hill")
    dialog.get_by_role("button", name=SENDS[key], exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text("by the weir")
    expect(page.get_by_role("dialog")).to_have_count(0)
    told = visit.daemon.ok("GET", f"/agent/history/{other if key == 'l' else memory}")
    assert "typed by a person" in str(told)


def test_twenty_deeds_are_taken_back_one_by_one_when_their_notes_are_gone(visit: Visit) -> None:
    memories = [visit.daemon.remember(f"Deed number {each} of twenty") for each in range(20)]
    page = visit.open(f"/m/{memories[0]}")
    for memory in memories:
        page.evaluate("path => history.pushState(null, '', path)", f"/ui/m/{memory}")
        page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
        number = memories.index(memory)
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Deed number {number} of twenty")
        page.keyboard.press("#")
        expect(page.get_by_text("This memory is forgotten")).to_be_visible()
    while page.locator(".toast").count():
        page.locator(".toast").first.get_by_role("button", name="Dismiss").click()

    for _ in memories:
        page.keyboard.press("u")

    expect(page.locator(".toast").last).to_contain_text("Forgotten: “Deed number 0 of twenty”")
    assert not any(read(visit.daemon, each)["forgotten"] for each in memories)
    page.keyboard.press("u")
    assert not any(read(visit.daemon, each)["forgotten"] for each in memories)


def save(page: Page, text: str) -> None:
    page.keyboard.press("e")
    page.get_by_role("textbox", name="Text", exact=True).fill(text)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_count(0)


def test_an_undo_that_did_not_get_through_loses_none_of_those_behind_it(visit: Visit) -> None:
    memory = visit.daemon.remember("The chain has no link")
    page = visit.open(f"/m/{memory}")
    for each in ("one link", "two links", "three links"):
        save(page, f"The chain has {each}")
    cut = [True]

    def once(route: Route) -> None:
        route.abort() if cut.pop() else route.continue_()
        cut.append(False)

    page.route("**/agent/undo/*", once)

    visit.expects("ERR_FAILED")

    press = "dispatchEvent(new KeyboardEvent('keydown', { key: 'u' }));"
    with page.expect_event("requestfailed"):
        page.evaluate(press * 3)
    page.wait_for_timeout(200)
    assert read(visit.daemon, memory)["memory"]["content"] == "The chain has three links"
    for _ in range(3):
        page.keyboard.press("u")

    expect(page.get_by_text("The chain has no link").first).to_be_visible()
    assert read(visit.daemon, memory)["memory"]["content"] == "The chain has no link"


def test_an_undo_that_was_refused_can_be_tried_again(visit: Visit) -> None:
    daemon = visit.daemon
    memory = daemon.remember("The gate is open")
    page = visit.open(f"/m/{memory}")
    visit.expects("409")
    save(page, "The gate is shut")
    newer = daemon.ok("POST", f"/agent/update/{memory}", {"content": "The gate is gone"})["change"]

    page.keyboard.press("u")
    expect(page.locator(".toast.bad")).to_be_visible()
    daemon.ok("POST", f"/agent/undo/{newer}")
    page.keyboard.press("u")

    expect(page.locator(".toast").last).to_contain_text("Taken back")
    assert read(daemon, memory)["memory"]["content"] == "The gate is open"


def test_what_somebody_else_took_back_is_said_plainly(visit: Visit) -> None:
    daemon = visit.daemon
    memory = daemon.remember("The bell rings at six")
    page = visit.open(f"/m/{memory}")
    visit.expects("409")
    with page.expect_response("**/agent/update/*") as saved:
        save(page, "The bell rings at seven")
    daemon.ok("POST", f"/agent/undo/{saved.value.json()['change']}")

    page.keyboard.press("u")

    expect(page.get_by_text("It was taken back already")).to_be_visible()
    assert page.locator(".toast.bad").count() == 0


def test_a_held_enter_opens_the_editor_once_and_makes_lines_in_a_text(visit: Visit) -> None:
    memory = visit.daemon.remember("The kettle whistles in F sharp")
    page = visit.open(f"/m/{memory}")
    text = page.get_by_role("textbox", name="Text", exact=True)

    page.get_by_role("button", name="Edit").focus()
    page.keyboard.down("Enter")
    expect(text).to_be_focused()
    page.keyboard.up("Enter")
    text.fill("first")
    for _ in range(3):
        page.keyboard.down("Enter")  # pressed and not let go: it repeats
    page.keyboard.up("Enter")

    expect(text).to_have_value("first\n\n\n")


def test_a_similar_memory_can_be_kept_instead_of_this_one(visit: Visit) -> None:
    memory = visit.daemon.remember("Trains to Galway leave from Heuston", title="Galway trains")
    other = visit.daemon.remember(
        "Trains to Galway leave from Heuston station", title="Galway trains, Heuston"
    )
    page = visit.open(f"/m/{memory}")

    section(page, "Similar memories").get_by_role("button", name="Merge with").first.click()
    dialog = page.get_by_role("dialog", name="Make one memory of two")
    dialog.get_by_label("Galway trains, Heuston").check()
    dialog.get_by_role("button", name="Merge", exact=True).click()

    expect(page).to_have_url(re.compile(f"/m/{other}$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Galway trains, Heuston")
    assert read(visit.daemon, memory)["forgotten"]


def test_what_is_long_unused_is_said_to_have_faded(visit: Visit) -> None:
    old = visit.daemon.remember("The old pier had a lamp", created="2020-01-01T08:00:00Z")
    page = visit.open(f"/m/{old}")

    strength = section(page, "Strength")
    expect(strength).to_contain_text("faded; a use brings it back")
    expect(strength).not_to_contain_text("chance")


def test_history_shows_exactly_what_changed_and_takes_it_back(visit: Visit) -> None:
    memory = visit.daemon.remember("The fence is green", tags=["garden"])
    body = {"content": "The fence is white", "tags": ["garden", "paint"]}
    visit.daemon.ok("POST", f"/agent/update/{memory}", body)
    page = visit.open(f"/m/{memory}")

    told = section(page, "History").get_by_role("listitem").first
    told.get_by_role("button", name="What changed").click()
    expect(told).to_contain_text("garden, paint")
    expect(told.locator("td.removed")).to_contain_text("green")
    expect(told.locator("td.added")).to_contain_text("white")
    told.get_by_role("button", name="Undo").click()

    expect(section(page, "What it says")).to_have_text("The fence is green")
    assert content(visit.daemon, memory) == "The fence is green"


def test_history_says_what_was_kept_from_the_jobs_and_what_holds_again(visit: Visit) -> None:
    daemon = visit.daemon
    memory = daemon.remember("The sluice is opened at dusk", title="Sluice at dusk")
    daemon.ok("POST", f"/agent/outdated/{memory}")
    page = visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Let it hold again").click()
    history = section(page, "History")
    expect(history.get_by_text("holds again", exact=True)).to_be_visible()
    daemon.ok("DELETE", f"/agent/recall/{memory}")
    daemon.ok("POST", f"/agent/restore/{memory}")

    kept = history.locator("li", has_text="no job is to do this again")
    expect(kept).to_contain_text("move “Sluice at dusk” to the trash")
    expect(history).not_to_contain_text("proposed")
    visit.picture("memory-history-words")


def test_history_says_what_was_proposed_by_which_job_and_leads_to_it(visit: Visit) -> None:
    memory = visit.daemon.remember("The ice house is empty", title="Ice house")
    body = {
        "proposal": "00000000-0000-4000-8000-000000000001",
        "wording": f"move `{memory[:8]}` (Ice house) to archival",
        "reason": None,
        "action": {"by": "decay_manager", "states": "{}", "key": "k"},
    }
    event = {"id": "1", "at": "2026-11-16T09:00:00Z", "kind": "proposed", "body": body}
    answer = {"events": [event]}
    visit.page.route("**/agent/history/**", lambda route: route.fulfill(json=answer))

    page = visit.open(f"/m/{memory}")

    line = section(page, "History").locator("li")
    expect(line).to_contain_text("proposed by sleep (")
    expect(line).to_contain_text("move “Ice house” to archival")
    line.get_by_role("link", name="Proposals").click()
    expect(page).to_have_url(f"{visit.root}/sleep/proposals")


def test_history_calls_memories_by_their_titles(visit: Visit) -> None:
    memory = visit.daemon.remember("The jetty has five planks")
    kept = visit.daemon.remember("Planks are of oak", title="Oak planks")
    new = visit.daemon.remember("The jetty has six planks", title="Six planks")
    for target in (kept, new):
        body = {"source_id": memory, "target_id": target, "edge": "depends_on"}
        visit.daemon.ok("POST", "/agent/connect", body)
    visit.daemon.ok("POST", f"/agent/outdated/{memory}", {"superseded_by": new})
    page = visit.open(f"/m/{memory}")

    told = section(page, "History").get_by_role("listitem")
    told.nth(0).get_by_role("button", name="What changed").click()
    expect(told.nth(0)).to_contain_text("– → “Six planks”")
    told.nth(1).get_by_role("button", name="What changed").click()
    expect(told.nth(1)).to_contain_text("– → depends on “Six planks”")


# -- text that is made to do harm ----------------------------------------------------------


@pytest.fixture(scope="module")
def harmed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon that lets long memories in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        patch.setenv("MADELEINE_LIMITS_CONTENT_BYTES", "4000000")
        with running(tmp_path_factory.mktemp("home")) as daemon:
            yield daemon


def test_a_memory_made_to_do_harm_is_shown_edited_and_compared_as_text(
    browser: Browser, harmed: Daemon
) -> None:
    text = "\n\n".join(HARM)
    memory = harmed.remember(text, title=HARM[0][:150], tags=["harm"], origin={"uri": HARM[3]})
    friend = harmed.remember("A harmless neighbour")
    body = {"source_id": memory, "target_id": friend, "reason": HARM[1]}
    harmed.ok("POST", "/agent/connect", body)
    harmed.ok("POST", f"/agent/update/{memory}", {"content": f"{text}\n\nand more"})
    with visiting(browser, harmed) as visit:
        foreign: list[str] = []
        visit.page.on(
            "request", lambda asked: foreign.append(asked.url) if "evil" in asked.url else None
        )
        page = visit.open(f"/m/{memory}")
        for each in ("<script>", "<img src=x", "<svg", "<iframe", "</textarea>", "{@html"):
            expect(section(page, "What it says")).to_contain_text(each)
        expect(section(page, "Connections")).to_contain_text("<img src=x onerror")
        addresses = page.locator("article a").evaluate_all("all => all.map(a => a.href)")
        assert not [each for each in addresses if re.match(r"(?i)\s*(javascript|data):", each)]
        section(page, "History").get_by_role("button", name="What changed").first.click()
        expect(page.get_by_role("group", name="Difference").first).to_contain_text("and more")
        page.keyboard.press("e")
        expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(
            f"{text}\n\nand more"
        )
        page.get_by_role("button", name="How it looks").click()
        assert page.evaluate("window.harmed") is None
        assert page.locator("main img, main iframe, main script, base").count() == 0
        assert foreign == []


def test_a_megabyte_of_text_is_shown_in_part_at_first_and_the_page_stays_quick(
    browser: Browser, harmed: Daemon
) -> None:
    memory = harmed.remember("<b>long</b> **and** longer. " * 40_000, title="A megabyte")
    with visiting(browser, harmed) as visit:
        page = visit.open(f"/m/{memory}")
        expect(page.get_by_text("long and shown as it is")).to_be_visible()
        assert page.evaluate("document.querySelector('.markdown').textContent.length") < 100_000
        page.get_by_role("button", name="Show all of it").click()
        whole = "document.querySelector('.markdown pre').textContent.length"
        assert page.evaluate(whole) > 1_000_000
        page.keyboard.press("e")
        page.get_by_role("textbox", name="Text", exact=True).press("Control+End")
        page.keyboard.type("!")
        page.keyboard.press("Control+s")
        expect(page.get_by_text("Saved")).to_be_visible()
        assert content(harmed, memory).endswith("!")


# -- for everybody -------------------------------------------------------------------------


def test_a_memory_with_its_differences_is_accessible(visit: Visit) -> None:
    memory = visit.daemon.remember("Accessible to **all**\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    friend = visit.daemon.remember("Accessible as well", title="A friend")
    body = {"source_id": memory, "target_id": friend, "reason": "why not"}
    visit.daemon.ok("POST", "/agent/connect", body)
    visit.daemon.ok("POST", f"/agent/update/{memory}", {"content": "Accessible to *all*"})
    page = visit.open(f"/m/{memory}")
    section(page, "History").get_by_role("button", name="What changed").first.click()
    expect(page.get_by_role("group", name="Difference")).to_be_visible()

    assert visit.faults() == []


@pytest.mark.parametrize(
    ("key", "name"), [("l", "Link with which memory?"), ("r", "Retire this memory")]
)
def test_dialogs_are_accessible_and_close_with_escape(visit: Visit, key: str, name: str) -> None:
    memory = visit.daemon.remember(f"A dialog is opened here with {key}")
    page = visit.open(f"/m/{memory}")
    page.wait_for_selector("article")

    page.keyboard.press(key)
    expect(page.get_by_role("dialog", name=name)).to_be_visible()
    assert visit.faults() == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_conflict_is_accessible(visit: Visit) -> None:
    memory = visit.daemon.remember("Two will want to change this")
    page = visit.open(f"/m/{memory}")
    page.wait_for_selector("article")
    page.keyboard.press("e")
    typed(page, "Mine")
    visit.daemon.ok("POST", f"/agent/update/{memory}", {"content": "Theirs"})
    expect(page.get_by_role("alert")).to_be_visible()

    assert visit.faults() == []


def test_merging_is_accessible(visit: Visit) -> None:
    memory = visit.daemon.remember("One of two that are accessible", title="One of two")
    visit.daemon.remember("The other of two that are accessible", title="The other of two")
    page = visit.open(f"/m/{memory}")
    page.wait_for_selector("article")
    page.keyboard.press("m")
    pick(page, "The other of two that are accessible", "The other of two")
    expect(page.get_by_role("dialog", name="Make one memory of two")).to_contain_text("Goes")

    assert visit.faults() == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_forgotten_memory_is_accessible(visit: Visit) -> None:
    memory = visit.daemon.remember("Forgotten and accessible")
    visit.daemon.ok("DELETE", f"/agent/recall/{memory}")
    page = visit.open(f"/m/{memory}")
    expect(page.get_by_text("This memory is forgotten")).to_be_visible()

    assert visit.faults() == []


def test_a_memory_fits_a_phone(browser: Browser, daemon: Daemon) -> None:
    long = "a" * 400
    memory = daemon.remember(f"{long}\n\n```\n{long}\n```", title=f"Phone {long[:120]}")
    with visiting(browser, daemon, "phone") as visit:
        page = visit.open(f"/m/{memory}")
        page.wait_for_selector("article")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Edit").click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        typed(page, "short")
        page.get_by_role("button", name="Save").click()
        expect(section(page, "What it says")).to_have_text("short")
        assert visit.faults() == []


@pytest.mark.soak
def test_pictures_of_a_memory_are_kept(visit: Visit) -> None:
    daemon = visit.daemon
    text = (
        "We chose **SQLite** over Postgres for the ledger: one file, no server to look after.\n\n"
        "- reports do not wait for imports\n- a backup is a copy\n\nRevisit when two must write."
    )
    memory = daemon.remember(
        text, title="SQLite over Postgres", space="ledger", tags=["database"], type="decision"
    )
    wal = daemon.remember("The ledger opens its database in WAL mode", title="WAL is on")
    body = {"source_id": wal, "target_id": memory, "edge": "depends_on", "reason": "only there"}
    daemon.ok("POST", "/agent/connect", body)
    daemon.ok("POST", f"/agent/update/{memory}", {"content": text.replace("two", "three")})
    page = visit.open(f"/m/{memory}")
    section(page, "History").get_by_role("button", name="What changed").first.click()
    expect(page.get_by_role("group", name="Difference").first).to_be_visible()
    visit.picture("memory")
    page.keyboard.press("e")
    typed(page, text.replace("two", "four"))
    daemon.ok("POST", f"/agent/update/{memory}", {"content": text.replace("two", "five")})
    expect(page.get_by_role("alert")).to_be_visible()
    visit.picture("memory-conflict")


@pytest.mark.parametrize("mod", ["Control", "Meta"])
def test_mod_and_enter_confirm_a_dialog_from_its_box(visit: Visit, mod: str) -> None:
    memory = visit.daemon.remember(f"The north door is open ({mod})", title=f"North door {mod}")
    page = visit.open(f"/m/{memory}")
    page.get_by_role("button", name="Retire").click()

    page.get_by_label("Why it is no longer true").fill("It was closed")
    page.keyboard.press(f"{mod}+Enter")

    expect(page.get_by_text("Retired", exact=True)).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert read(visit.daemon, memory)["memory"]["valid_until"]


def test_mod_and_enter_link_and_merge(visit: Visit) -> None:
    one = visit.daemon.remember("The south door is painted blue", title="South door, blue")
    visit.daemon.remember("The south door is painted dark blue", title="South door, dark")
    page = visit.open(f"/m/{one}")
    page.keyboard.press("l")
    pick(page, "south door dark", "South door, dark")
    page.get_by_label("Why (may stay empty)").fill("the same door")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(re.compile("^Linked|^They are linked"))).to_be_visible()

    page.keyboard.press("m")
    pick(page, "south door dark", "South door, dark")
    page.get_by_label("What it says then").fill("The south door is blue, quite dark")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_text("Merged", exact=True)).to_be_visible()
    assert content(visit.daemon, one) == "The south door is blue, quite dark"
