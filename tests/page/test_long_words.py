"""Words without a place to break them: on a phone nothing reaches out of the screen."""

from __future__ import annotations

from datetime import datetime

import pytest
from playwright.sync_api import Browser

from tests.page.browsing import visiting
from tests.server.running import Daemon

SPACE = "space" + "u" * 55
TAGS = ["tag_" + "w" * 56, "another_" + "v" * 52]
LONG = "Donau" + "dampfschifffahrt" * 4
# What reaches out, unless something around it scrolls or holds it back on purpose.
REACHING_OUT = """() => [...document.querySelectorAll('main *')].filter(each => {
    if (each.closest('.hidden-text, [role=region], .around, pre, .clip')) return false
    return each.getBoundingClientRect().right > innerWidth + 1
}).map(each => `${each.outerHTML.slice(0, 120)} ${each.getBoundingClientRect().right}`)"""


@pytest.fixture(scope="module")
def memory(daemon: Daemon) -> str:
    """A memory of long words, one that contradicts it, and one that replaced another."""
    written = [
        daemon.remember(f"{LONG} {at}", title=f"{LONG}{at}", space=SPACE, tags=TAGS)
        for at in range(3)
    ]
    edge = {"source_id": written[1], "target_id": written[0], "edge": "contradicts"}
    daemon.ok("POST", "/agent/connect", {**edge, "reason": LONG})
    daemon.ok("POST", f"/agent/outdated/{written[2]}", {"superseded_by": written[0]})
    body = {"prompt": f"what is {LONG}?", "session_id": "s-1", "space": SPACE}
    daemon.ok("POST", "/agent/whisper", body)
    return written[0]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/m/{id}",
        "/search",
        "/search?q={word}&spaces={space}&tags={tag}",
        "/time",
        "/time?day={today}",
        "/time?show=tensions",
        "/time?show=evolutions",
        "/whispers",
        "/sleep",
    ],
)
def test_long_words_do_not_push_the_page_sideways(
    browser: Browser, daemon: Daemon, memory: str, path: str
) -> None:
    with visiting(browser, daemon, "phone") as visit:
        today = datetime.now().astimezone().date()
        page = visit.open(path.format(id=memory, space=SPACE, tag=TAGS[0], word=LONG, today=today))
        lines = page.locator("main li, main .line, main article, main #turns .card")
        lines.first.wait_for(state="attached")
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")

        assert page.evaluate(REACHING_OUT) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
