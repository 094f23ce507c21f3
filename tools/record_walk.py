"""Make the pictures of the README and the guides: `make pictures`.

A furnished home, a daemon and a headless Chromium, as the page's tests have them. What is made are
stills of the views and a walk of twenty seconds, an animated WebP that plays anywhere without a
player. Pillow writes it; nothing else needs Pillow.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.hooks.host_calls import CLAUDE_DEED, CLAUDE_SESSION, written
from tests.hooks.running import client
from tests.page.browsing import Visit, start, visiting
from tests.page.nights import live
from tests.server.running import Daemon, running

PICTURES = Path("docs/pictures")
WIDTH, HEIGHT = 1280, 800
WALK_WIDTH = 960
FRAME_MS = 200
MOST_BYTES = 2_000_000
QUESTION = "which database did we choose for the ledger?"


@dataclass(slots=True)
class Walk:
    """What was seen, frame by frame; a frame that stays is kept once, for as long as it stays."""

    page: Page
    frames: list[Image.Image] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)

    def look(self, seconds: float) -> None:
        """Look at the page as it stands."""
        picture = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        height = picture.height * WALK_WIDTH // picture.width
        self.frames.append(picture.resize((WALK_WIDTH, height), Image.Resampling.LANCZOS))
        self.durations.append(int(seconds * 1000))

    def type(self, text: str) -> None:
        """Type a text, two letters a frame."""
        for at in range(0, len(text), 2):
            self.page.keyboard.type(text[at : at + 2])
            self.look(FRAME_MS / 2000)

    def scroll(self, pixels: int, steps: int) -> None:
        """Scroll down in steps."""
        for _ in range(steps):
            self.page.mouse.wheel(0, pixels / steps)
            self.page.wait_for_timeout(60)
            self.look(FRAME_MS / 1000)

    def save(self, path: Path) -> None:
        """Write it, as good as fits."""
        for quality in (80, 65, 50, 35):
            self.frames[0].save(
                path,
                save_all=True,
                append_images=self.frames[1:],
                duration=self.durations,
                loop=0,
                quality=quality,
                method=6,
            )
            if path.stat().st_size < MOST_BYTES:
                return
        raise SystemExit(f"{path} takes {path.stat().st_size:,} bytes; {MOST_BYTES:,} is the bound")


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=PICTURES, metavar="DIR")
    to = parser.parse_args().to
    to.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "home") as daemon,
        sync_playwright() as playwright,
    ):
        live(daemon)
        _work(daemon)
        browser = start(playwright)
        with visiting(browser, daemon) as visit:
            visit.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            for name, view in STILLS.items():
                view(visit)
                visit.page.screenshot(path=to / f"{name}.png")
            _walk(visit).save(to / "walk.webp")
        browser.close()
    for each in sorted(to.iterdir()):
        print(f"{each}  {each.stat().st_size:,} bytes", file=sys.stdout)


def _work(daemon: Daemon) -> None:
    """Let an agent begin a session and touch a file that something is known about."""
    folder = daemon.home.parent / "ledger"
    (folder / ".git").mkdir(parents=True)
    daemon.remember("bank/imports.py is not changed without asking Ana", space="ledger")
    given = json.dumps({"file_path": f"{folder}/bank/imports.py", "old_string": "a"})
    for call in (
        written(CLAUDE_SESSION, "walk", str(folder)),
        written(CLAUDE_DEED, "walk-2", str(folder), tool="Edit", input=given),
    ):
        client(daemon.home, call, "inject", "claude")


# -- the stills --------------------------------------------------------------------------------


def _open_home(visit: Visit) -> None:
    visit.open("/").wait_for_timeout(1_500)


def _open_search(visit: Visit) -> None:
    page = visit.open("/search")
    page.keyboard.type(QUESTION)
    page.wait_for_timeout(1_500)


def _open_whisper(visit: Visit) -> None:
    page = visit.open("/whispers")
    page.get_by_role("link", name="which database did we choose").click()
    page.locator("article pre").wait_for()
    page.wait_for_timeout(500)


def _open_proposals(visit: Visit) -> None:
    visit.open("/sleep/proposals").wait_for_timeout(1_500)


def _open_map(visit: Visit) -> None:
    visit.open("/graph").wait_for_timeout(6_000)


STILLS: dict[str, Callable[[Visit], None]] = {
    "home": _open_home,
    "page": _open_search,
    "whispers": _open_whisper,
    "proposals": _open_proposals,
    "map": _open_map,
}


# -- the walk ----------------------------------------------------------------------------------


def _walk(visit: Visit) -> Walk:
    walk = Walk(visit.page)
    _open_home(visit)
    walk.look(2.2)
    walk.scroll(700, 5)
    walk.look(0.8)
    page = visit.open("/search")
    walk.look(0.4)
    walk.type(QUESTION)
    page.wait_for_timeout(1_000)
    walk.look(2.0)
    _open_whisper(visit)
    walk.look(2.6)
    _open_proposals(visit)
    walk.look(1.6)
    page.keyboard.press("j")
    page.wait_for_timeout(300)
    walk.look(0.9)
    page.keyboard.press("a")
    page.wait_for_timeout(900)
    walk.look(1.5)
    _open_map(visit)
    walk.look(1.2)
    for _ in range(2):
        page.keyboard.press("+")
        page.wait_for_timeout(700)
        walk.look(1.0)
    walk.look(1.2)
    return walk


if __name__ == "__main__":
    main()
