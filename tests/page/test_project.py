"""The page of a project in a real browser: what is known, what was whispered, a document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page.browsing import Visit, visiting
from tests.page.nights import ask
from tests.page.world import furnish
from tests.server.running import Daemon, running


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A home with two projects, in one of which was whispered, with the real model."""
    with running(tmp_path_factory.mktemp("project")) as started:
        furnish(started)
        started.remember("Always run the tile tests before a push.", space="atlas")
        started.remember("Prefers metric units on every map.", space="atlas", type="preference")
        started.remember("Cover all of Wicklow by May.", space="atlas", type="goal")
        old = started.remember("Cover Dublin by March.", space="atlas", type="goal")
        started.ok("POST", f"/agent/outdated/{old}", {"reason": "done"})
        ask(started, "s-1", "atlas", "on which day do we deploy?")
        yield started


def test_a_project_has_a_page_with_all_that_is_known_of_it(visit: Visit) -> None:
    page = visit.open("/")
    page.get_by_role("region", name="Projects").get_by_role("link", name="atlas").click()

    expect(page.get_by_role("heading", level=1, name="atlas")).to_be_visible()
    for name, words in (
        ("Open goals", "Cover all of Wicklow"),
        ("Rules", "Prefers metric units"),
        ("Rules", "Always run the tile tests"),
        ("Decisions", "Contour lines every ten metres"),
        ("Procedures", "How a release is made"),
        ("Whispered here", "on which day do we deploy?"),
        ("Timeline", "Cover Dublin by March"),
    ):
        expect(page.get_by_role("region", name=name)).to_contain_text(words)
    expect(page.get_by_role("region", name="Open goals")).not_to_contain_text("Dublin")
    expect(page.get_by_role("region", name="What is known")).not_to_contain_text("Always run")
    expect(page.get_by_text("Bank imports run at six")).to_have_count(0)
    assert visit.faults() == []
    visit.picture("project")


def test_what_was_whispered_in_a_project_leads_to_its_prompt(visit: Visit) -> None:
    page = visit.open("/projects/atlas")

    told = page.get_by_role("region", name="Whispered here")
    expect(told.get_by_role("link", name="Deploys happen on Tuesdays")).to_be_visible()
    told.get_by_role("link", name="on which day do we deploy?").click()

    expect(page.get_by_role("region", name="The prompt")).to_contain_text("Deploys happen")


def test_a_project_is_saved_as_a_document(visit: Visit, tmp_path: Path) -> None:
    page = visit.open("/projects/atlas")

    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a document").click()
    path = tmp_path / "atlas.md"
    download.value.save_as(path)

    assert download.value.suggested_filename == "atlas.md"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# atlas\n")
    assert "## Decisions\n\n### Contour lines every ten metres\n" in text
    assert "Zoom 15 doubled the size of the archive" in text
    assert "Bank imports" not in text
    expect(page.get_by_text("Saved as atlas.md")).to_be_visible()


def test_a_project_that_nobody_knows_says_so(visit: Visit) -> None:
    page = visit.open("/projects/nowhere%2Fat%20all")

    expect(page.get_by_text("Nothing is known of a project with this name")).to_be_visible()
    assert visit.faults() == []


def test_on_a_phone_a_project_is_one_column(browser: Browser, daemon: Daemon) -> None:
    with visiting(browser, daemon, "phone") as visit:
        page = visit.open("/projects/atlas")
        page.wait_for_selector("#timeline")

        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
