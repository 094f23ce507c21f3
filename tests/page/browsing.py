"""A real browser on the real page of a real daemon.

`Visit.open("/search")` signs in once and goes to a view. Anything the page says on the console as
an error, any exception in it and anything the policy blocked fails the test at its end, unless the
test expects it (`visit.expects("…")`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

from tests.left_out import NO_BROWSER, NO_NODE
from tests.page.needs import WEB, find_browser, leave_out
from tests.server.running import Daemon

ARGS = ["--no-sandbox", "--disable-gpu"]
SIZES = {"phone": (390, 844), "laptop": (1280, 800), "wide": (1920, 1080)}
PATIENCE_MS = 20_000  # a busy machine is slow, not broken
TWO_FRAMES = """() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))"""
AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
PICTURES = Path(os.environ.get("MADELEINE_PICTURES", "build/pictures"))


@dataclass(slots=True)
class Visit:
    """One browser window on one daemon."""

    daemon: Daemon
    context: BrowserContext
    page: Page
    problems: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def sign_in(self) -> None:
        """Open the one-time link that `madeleine ui` would open."""
        self.page.goto(str(self.daemon.door.call("page_link")["url"]))
        self.page.wait_for_selector("nav")

    def open(self, path: str) -> Page:
        """Go to a view, such as `/search?q=tea`, and wait until it stands."""
        self.page.goto(f"{self.root}{path}")
        self.page.wait_for_selector("main h1, main input")
        return self.page

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.daemon.launched.port}/ui"

    @property
    def path(self) -> str:
        """Where we are, below /ui."""
        found = urlsplit(self.page.url)
        return found.path.removeprefix("/ui") + (f"?{found.query}" if found.query else "")

    def window(self) -> Page:
        """Open a second tab that is signed in as well."""
        page = self.context.new_page()
        self._watch(page)
        return page

    def expects(self, words: str) -> None:
        """Let pass what the console says with these words in it."""
        self.expected.append(words)

    def picture(self, name: str) -> None:
        """Keep a picture of the view, light and dark at three sizes, to be looked at."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        for size, (width, height) in SIZES.items():
            self.page.set_viewport_size({"width": width, "height": height})
            for scheme in ("light", "dark"):
                self.page.emulate_media(color_scheme=scheme)
                self.page.wait_for_timeout(150)
                self.page.screenshot(path=PICTURES / f"{name}-{size}-{scheme}.png")

    def faults(self) -> list[str]:
        """Return what axe finds against WCAG A and AA; in the dark only colours differ."""
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        found = self._axe("light", {"type": "tag", "values": tags})
        return [*found, *self._axe("dark", {"type": "rule", "values": ["color-contrast"]})]

    def _axe(self, scheme: Literal["light", "dark"], only: dict[str, Any]) -> list[str]:
        self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        self.page.evaluate(TWO_FRAMES)  # until these colours are on the screen
        # The policy lets in no script of ours; a debugger's evaluation is not bound by it.
        if not AXE.exists():
            leave_out(NO_NODE, "axe, which looks for barriers, comes with web/node_modules")
        script = AXE.read_text(encoding="utf-8")
        self.page.evaluate(f"() => {{ if (!window.axe) {{ {script} }} }}")
        run = "only => axe.run(document, {runOnly: only, resultTypes: ['violations']})"
        result: Any = self.page.evaluate(run, only)
        return [
            f"{scheme}: {rule['id']}: {node['html'][:200]} ({node.get('failureSummary', '')[:300]})"
            for rule in result["violations"]
            for node in rule["nodes"]
        ]

    def _watch(self, page: Page) -> None:
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"))
        page.on(
            "console",
            lambda said: (
                self.problems.append(f"console: {said.text}") if said.type == "error" else None
            ),
        )

    def unexpected(self) -> list[str]:
        return [each for each in self.problems if not any(words in each for words in self.expected)]


@contextmanager
def visiting(
    browser: Browser,
    daemon: Daemon,
    size: str = "laptop",
    zone: str = "UTC",
    locale: str = "en-US",
) -> Iterator[Visit]:
    """Give a fresh browser profile that is signed in; fail if the page complained."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        reduced_motion="reduce",
        timezone_id=zone,
        locale=locale,
    )
    visit = Visit(daemon, context, context.new_page())
    visit._watch(visit.page)
    try:
        visit.sign_in()
        yield visit
    finally:
        context.close()
    assert not visit.unexpected(), visit.unexpected()


def start(playwright: Playwright) -> Browser:
    """Start whatever browser there is; playwright's own cannot be had everywhere."""
    expect.set_options(timeout=PATIENCE_MS)
    path, why_not = find_browser()
    if path is None:
        leave_out(NO_BROWSER, why_not)
    return playwright.chromium.launch(executable_path=path, args=ARGS)
