"""How light and how quick the page is, in a real browser: `madeleine bench page`.

A home of 10,000 memories, a warm daemon, Chromium. Bytes are counted on the wire. Times are taken
inside the browser, and what they are compared with is done in turns with them: an empty page of the
same daemon, and one recall over HTTP. Needs `playwright` and /usr/bin/chromium.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _corpus import Texts, fill
from _measure import Row, progress, table, write_json
from _page_graph import NODES, GraphBench, graph_home, lay_out_home
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, sync_playwright

from madeleine.api.remote import RemoteDoor
from madeleine.minds.local import load_built_in
from madeleine.server.launch import LaunchedDaemon, launch_daemon

CHROMIUM = "/usr/bin/chromium"
FIRST_VIEW_BYTES = 400_000
INTERACTIVE_AT_MOST = 4.0
TYPED_AT_MOST = 3.0
QUICK = (200, 3)  # memories, times
VIEWS = (("/", "main .card"), ("/search", "#found a"))  # and what stands there when all is there
PAUSE_MS = 150  # between two keys of a quick typist

# Notes when the view stands, with all it asked for, and the browser has time for a person.
WATCH = """selector => {
  window.ready = new Promise(done => {
    const look = () => {
      if (!document.querySelector(selector)) return requestAnimationFrame(look)
      const channel = new MessageChannel()
      channel.port1.onmessage = () => done(performance.now())
      channel.port2.postMessage(0)
    }
    requestAnimationFrame(look)
  })
}"""
# Notes how long after a key its own answer is on the screen.
TYPING = """() => {
  const field = document.querySelector('#search')
  window.lasted = []
  let began = 0
  field.addEventListener('keydown', () => { began = performance.now() }, true)
  const shown = () => {
    const found = document.querySelector('#found')
    if (!began || found?.dataset.for !== field.value.trim()) return
    const from = began
    began = 0
    requestAnimationFrame(() => window.lasted.push(performance.now() - from))
  }
  new MutationObserver(shown).observe(document.querySelector('main'), {
    subtree: true, childList: true, attributes: true, attributeFilter: ['data-for'],
  })
}"""

LAST = """() => new Promise(done => {
  const look = () => window.lasted.length ? done(window.lasted.at(-1)) : setTimeout(look, 20)
  look()
})"""


class Bench:
    """One daemon on one home, and one browser."""

    def __init__(self, browser: Browser, daemon: LaunchedDaemon, home: Path, times: int) -> None:
        self._browser = browser
        self._daemon = daemon
        self._token = (home / "run" / "token").read_text(encoding="utf-8").strip()
        self._times = times
        self._root = f"http://127.0.0.1:{daemon.port}/ui"

    def rows(self) -> Iterator[Row]:
        for path, ready in VIEWS:
            yield self._bytes(path, ready)
        for path, ready in VIEWS:
            yield self._interactive(path, ready)
        yield self._typed()

    def graph(self, memories: int) -> Iterator[Row]:
        """The graph alone, see `_page_graph`."""
        with self._signed_in() as context:
            yield from GraphBench(context.new_page(), self._root, memories).rows()

    def _bytes(self, path: str, ready: str) -> Row:
        """Count what a browser that knows nothing fetches, headers and all."""
        with self._signed_in() as context:
            page = context.new_page()
            session = context.new_cdp_session(page)
            counted = _counting(session)
            page.goto(f"{self._root}{path}")
            page.wait_for_selector(ready)
            page.wait_for_timeout(1_000)
            total = sum(counted.values())
        what = f"first view of `/ui{path}`, bytes over the wire"
        told = f"{len(counted)} requests, nothing cached"
        passed = total <= FIRST_VIEW_BYTES
        return Row(what, f"at most {FIRST_VIEW_BYTES // 1000} kB", _kb(total), passed, told)

    def _interactive(self, path: str, ready: str) -> Row:
        """Compare with an empty page: the one that says that a link was used."""
        ours: list[float] = []
        empty: list[float] = []
        with self._signed_in() as context:
            for _ in range(self._times):
                ours.append(self._loaded(context, path, ready))
                empty.append(self._loaded(context, "/enter?code=none", "h1"))
        ratio = statistics.median(ours) / statistics.median(empty)
        told = f"{_ms(ours)} against {_ms(empty)} for an empty page; median of {self._times}"
        what = f"`/ui{path}` until it can be used"
        return Row(
            what,
            f"at most {INTERACTIVE_AT_MOST:g} x",
            f"{ratio:.1f} x",
            ratio <= INTERACTIVE_AT_MOST,
            told,
        )

    def _loaded(self, context: BrowserContext, path: str, ready: str) -> float:
        page = context.new_page()
        try:
            page.add_init_script(f"({WATCH})({json.dumps(ready)})")
            page.goto(f"{self._root}{path}", wait_until="commit")
            return float(page.evaluate("() => window.ready")) / 1000
        finally:
            page.close()

    def _typed(self) -> Row:
        questions = [Texts(seed).text()[:60].rsplit(" ", 1)[0] for seed in range(self._times)]
        asked: list[float] = []
        shown: list[float] = []
        with self._signed_in() as context, self._asking() as recall:
            page = context.new_page()
            page.goto(f"{self._root}/search")
            page.wait_for_selector("#found a")
            page.evaluate(TYPING)
            for question in questions:
                shown.append(_last_key(page, question))
                asked.append(recall(question))
        ratio = statistics.median(shown) / statistics.median(asked)
        told = (
            f"{_ms(shown)} from key to picture against {_ms(asked)} for a recall; "
            f"median of {self._times}"
        )
        what = "recall as you type, from the key to its result"
        return Row(
            what, f"at most {TYPED_AT_MOST:g} x", f"{ratio:.1f} x", ratio <= TYPED_AT_MOST, told
        )

    @contextmanager
    def _signed_in(self) -> Iterator[BrowserContext]:
        context = self._browser.new_context(viewport={"width": 1280, "height": 800})
        try:
            url = RemoteDoor(Path(self._daemon.socket)).call("page_link")["url"]
            page = context.new_page()
            page.goto(str(url))
            key = page.evaluate("localStorage.getItem('madeleine.key')")
            origin = self._root.removesuffix("/ui")
            cookies = context.cookies()
            context.close()
            # A browser that has the session and not one file of the page.
            kept = [{"name": "madeleine.key", "value": key}]
            state: Any = {
                "cookies": cookies,
                "origins": [{"origin": origin, "localStorage": kept}],
            }
            context = self._browser.new_context(
                viewport={"width": 1280, "height": 800}, storage_state=state
            )
            yield context
        finally:
            context.close()

    @contextmanager
    def _asking(self) -> Iterator[Callable[[str], float]]:
        """Give a way to recall over a connection that stays open; it returns how long it took."""
        connection = http.client.HTTPConnection("127.0.0.1", self._daemon.port, timeout=60)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}

        def recall(question: str) -> float:
            body = json.dumps({"query": question})
            return _lasting(connection, body, headers)

        try:
            yield recall
        finally:
            connection.close()


def _lasting(connection: http.client.HTTPConnection, body: str, headers: dict[str, str]) -> float:
    began = _now()
    connection.request("POST", "/agent/recall", body, headers)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise SystemExit(f"recall answered {answer.status}")
    return _now() - began


def _last_key(page: Page, question: str) -> float:
    """Type a question as a person does, and return how long its last key took."""
    page.fill("#search", question[:-4])
    page.wait_for_timeout(PAUSE_MS * 2)
    for letter in question[-4:]:
        page.evaluate("window.lasted.length = 0")
        page.keyboard.type(letter)
        page.wait_for_timeout(PAUSE_MS)
    return float(page.evaluate(LAST)) / 1000


def _counting(session: CDPSession) -> dict[str, float]:
    """Count bytes by request: when it is done, or as they come for one that never is."""
    counted: dict[str, float] = {}

    def took(event: dict[str, Any]) -> None:
        counted[event["requestId"]] = event["encodedDataLength"]

    session.send("Network.enable")
    session.on("Network.loadingFinished", took)
    return counted


def _now() -> float:
    return time.perf_counter()


def _ms(times: list[float]) -> str:
    return f"{statistics.median(times) * 1_000:.0f} ms"


def _kb(many: float) -> str:
    return f"{many / 1_000:.0f} kB"


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = argparse.ArgumentParser(prog="madeleine bench page", description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000, help="memories in the home")
    parser.add_argument("--folder", type=Path, help="where the home is kept for the next run")
    parser.add_argument("--times", type=int, default=15, help="how often each is done")
    parser.add_argument("--graph", action="store_true", help="only the graph, in a larger home")
    parser.add_argument("--quick", action="store_true", help="does it run at all?")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="rows as JSON")
    given = parser.parse_args(argv)
    memories, times = QUICK if given.quick else (given.memories, given.times)
    if given.graph and not given.quick:
        memories = max(memories, NODES)
    with tempfile.TemporaryDirectory(prefix="madeleine-bench-") as temporary:
        folder = given.folder or Path(temporary)
        name = f"graph-{memories}" if given.graph else f"home-{memories}"
        rows = _measured(folder / name, memories, times, given.graph)
    if given.json:
        write_json(given.json, rows)
    if given.json != "-":
        print(table(rows))
    return 0 if all(row.passed for row in rows) or given.quick else 1


def _fill(home: Path, memories: int) -> None:
    if (home / "index.db").exists():
        return
    model = load_built_in(0)
    if model is None:
        raise SystemExit("the built-in model is not installed: pip install madeleine-minilm")
    progress(f"making a home of {memories:,} memories")
    fill(home, memories, model.name, model.dimension, model.token_dimension, progress)


def _measured(home: Path, memories: int, times: int, graph: bool) -> list[Row]:
    make = graph_home if graph else _fill
    make(home, memories)
    laid_out = list(lay_out_home(home)) if graph else []
    daemon = launch_daemon(home, port=0)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            rows = laid_out
            bench = Bench(browser, daemon, home, times)
            for row in bench.graph(memories) if graph else bench.rows():
                progress(f"{row.what}: {row.figure} ({row.note})")
                rows.append(row)
            browser.close()
            return rows
    finally:
        daemon.process.terminate()
        daemon.process.wait(60)


if __name__ == "__main__":
    sys.exit(main())
