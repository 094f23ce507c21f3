"""How smooth the graph is with 50,000 memories: `madeleine bench page -- --graph`.

The home is made without vectors: the graph needs none. Its memories hang together as those of a
person do, in topics: a few that many others lean on, most with a connection or two, some with none.
Frames are counted in the browser, which renders in software, while the map is dragged by a mouse
that moves once in every frame; those of an empty page, in turns, say what the machine had left.
"""

from __future__ import annotations

import random
import statistics
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from _corpus import FIRST_DAY, SEED, Texts
from _measure import Row, progress
from playwright.sync_api import Page

from madeleine.bootstrap import make_folders, open_home
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.recall.memory_map import MemoryMap, save_map
from madeleine.rules.map_layout import lay_out
from madeleine.rules.map_topics import WordTable, find_topics
from madeleine.vault.file_naming import candidate_file_names
from madeleine.vault.markdown import render_memory
from madeleine.write.stores import Stores

NODES = 50_000
FRAMES_AT_LEAST = 30.0
OPEN_WITHIN_MS = 3_000
LAID_OUT_WITHIN_SECONDS = 300
DIMENSIONS = 384
SPACES = {"atlas": 30, "kitchen": 18, "studio": 14, "garden": 9, None: 20, "ledger": 6, "choir": 3}
TOPIC = 40  # memories that have to do with each other
SETTLING = 4  # drags after which the graph knows how much it can draw here
DRAGS = 3

# Drags the map for a while, the mouse moving once in every frame, and returns how long each frame
# took and how many times the map was drawn. On a page without a map it only counts.
DRAG = """([selector, frames]) => new Promise(done => {
  const canvas = selector ? document.querySelector(selector) : null
  const box = canvas ? canvas.getBoundingClientRect() : {left: 0, top: 0, width: 800, height: 600}
  let [drawn, at, last, lasted] = [0, 0, 0, []]
  const count = () => drawn++
  const mouse = (name, target, turn) => target?.dispatchEvent(new MouseEvent(name, {
    bubbles: true, cancelable: true, button: 0,
    clientX: box.left + box.width * (0.5 + 0.2 * Math.sin(turn)),
    clientY: box.top + box.height * (0.5 + 0.1 * Math.sin(2 * turn)),
  }))
  addEventListener('graph-drawn', count)
  mouse('mousedown', canvas, 0)
  requestAnimationFrame(function frame(now) {
    if (last) lasted.push(now - last)
    last = now
    mouse('mousemove', canvas && document, (at / 60) * Math.PI)
    if (at++ < frames) return requestAnimationFrame(frame)
    mouse('mouseup', canvas && document, (at / 60) * Math.PI)
    removeEventListener('graph-drawn', count)
    done({lasted, drawn})
  })
})"""
MOUSE = "[data-drawn] .sigma-mouse"
FRAMES = 120


def graph_home(home: Path, count: int) -> None:
    """Make a home of so many memories, if there is none."""
    if (home / "index.db").exists():
        return
    progress(f"making a home of {count:,} memories without vectors")
    make_folders(home)
    (home / "config.toml").write_text('[embedder]\nkind = "none"\n', encoding="utf-8")
    for memory in graph_memories(count):
        (home / "vault" / next(iter(candidate_file_names(memory)))).write_bytes(
            render_memory(memory)
        )
    open_home(home, progress=lambda done, total: progress(f"{done:,} of {total:,} indexed")).close()


def lay_out_home(home: Path) -> Iterator[Row]:
    """Make the map by meaning of a home, of vectors that lie in topics; nothing if there is one."""
    path = home / "map-home.npz"
    if path.exists():
        return
    context = open_home(home)
    try:
        stores = context.stores
        ids = [each for part in _pages_of_ids(stores) for each in part]
        dice = np.random.default_rng(SEED)
        topics = dice.normal(size=(max(2, len(ids) // TOPIC), DIMENSIONS))
        of_topic = dice.integers(0, len(topics), len(ids))
        vectors = topics[of_topic] + 0.8 * dice.normal(size=(len(ids), DIMENSIONS))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        progress(f"laying out {len(ids):,} memories")
        began = time.process_time()
        places = lay_out(vectors.astype(np.float32), lambda: None)
        took = time.process_time() - began
        columns = stores.search.standings()
        words = WordTable(np.arange(len(ids)), of_topic, [f"topic {n}" for n in range(len(topics))])
        made = MemoryMap(
            np.array(ids),
            places,
            columns.created // 1_000_000,
            columns.uses,
            tuple(find_topics(places, words, lambda: None)),
            "",
        )
        save_map(made, path)
    finally:
        context.close()
    yield Row(
        f"laying out the map of {len(ids):,} memories, in the background",
        f"at most {LAID_OUT_WITHIN_SECONDS} s of a processor",
        f"{took:.0f} s",
        took <= LAID_OUT_WITHIN_SECONDS,
        f"vectors of {DIMENSIONS} numbers in {len(topics):,} topics",
    )


def _pages_of_ids(stores: Stores) -> Iterator[list[str]]:
    last = ""
    while part := stores.search.ids_after(last, 5_000):
        yield part
        last = part[-1]


def graph_memories(count: int, seed: int = SEED) -> Iterator[Memory]:
    """Yield memories in topics, each topic in one space, with connections to earlier ones."""
    texts, dice = Texts(seed), random.Random(seed)
    others: list[str] = []
    topic: list[str] = []
    space: str | None = None
    for number in range(count):
        if not topic or dice.random() < 1 / TOPIC:
            topic, space = [], dice.choices(list(SPACES), list(SPACES.values()))[0]
        memory = _memory(texts, dice, number, space)
        targets = _targets(dice, topic, others)
        yield replace(memory, connections=tuple(_connection(dice, each) for each in targets))
        topic.append(memory.id)
        others = [*others[-400:], memory.id]


def _memory(texts: Texts, dice: random.Random, number: int, space: str | None) -> Memory:
    at = FIRST_DAY + timedelta(minutes=number * 8)
    return Memory(
        id=str(uuid.UUID(int=dice.getrandbits(128), version=4)),
        content=texts.text(),
        created=at,
        updated=at,
        type=dice.choice(list(MemoryType)),
        tier=dice.choices(list(Tier), [0.1, 70, 29.9])[0],
        space=space,
        title=texts.title(),
    )


def _targets(dice: random.Random, topic: list[str], others: list[str]) -> list[str]:
    """Choose what a memory leans on: mostly what its topic began with, now and then the rest."""
    if not topic or dice.random() < 0.15:
        return []
    many = dice.choice([1, 1, 2, 3])
    chosen = {topic[int(len(topic) * dice.random() ** 3)] for _ in range(many)}
    if dice.random() < 0.04:
        chosen.add(dice.choice(others))
    return sorted(chosen)


def _connection(dice: random.Random, target: str) -> Connection:
    edge = dice.choice([Edge.RELATED_TO, Edge.RELATED_TO, Edge.PART_OF, Edge.DEPENDS_ON])
    return Connection(target, edge, round(dice.uniform(0.4, 1.0), 2), None, "remember", None)


class GraphBench:
    """One window on the graph of a large home. What the first drags cost decides how much is
    drawn; the frames of those that follow are counted."""

    def __init__(self, page: Page, root: str, count: int) -> None:
        self._page = page
        self._root = root
        self._count = count

    def rows(self) -> Iterator[Row]:
        yield self._opened("/graph?by=space")
        yield self._dragged("by space")
        self._load_everything()
        yield self._dragged("by space, all of them loaded")
        yield self._opened("/graph")
        yield self._dragged("by meaning")

    def _opened(self, path: str) -> Row:
        self._page.goto(f"{self._root}{path}")
        self._page.wait_for_selector("[data-drawn]")
        took = float(self._page.evaluate("performance.now()"))
        return Row(
            f"`/ui{path}` with {self._count:,} memories until it is drawn",
            f"at most {OPEN_WITHIN_MS} ms",
            f"{took:.0f} ms",
            took <= OPEN_WITHIN_MS,
            f"{self._drawn()} memories drawn first",
        )

    def _load_everything(self) -> None:
        """Ask for more of each space until all of it is there, page after page."""
        more = self._page.locator("button.more:enabled")
        while self._page.locator("button.more").count():
            if more.count():
                more.first.click()
            self._page.wait_for_timeout(50)
        progress(f"{self._loaded():,} memories loaded")

    def _loaded(self) -> int:
        return int(self._page.get_attribute("[data-loaded]", "data-loaded") or 0)

    def _dragged(self, what: str) -> Row:
        """Drag the map about and count frames, once the graph knows what this machine can do."""
        for _ in range(SETTLING):
            self._drag(MOUSE)
        taken: list[float] = []
        empty: list[float] = []
        drawn = 0
        for _ in range(DRAGS):
            moved = self._drag(MOUSE)
            taken += moved["lasted"]
            drawn += moved["drawn"]
            empty += self._still()
        slow = statistics.quantiles(taken, n=20)[-1]
        told = (
            f"{len(taken)} frames, {drawn} times drawn, slowest twentieth above {slow:.0f} ms; "
            f"{self._drawn()} memories drawn; an empty page in turns: {_rate(empty):.0f} a second"
        )
        return Row(
            f"the graph while it is dragged, {what} ({self._count:,} memories)",
            f"at least {FRAMES_AT_LEAST:g} a second",
            f"{_rate(taken):.0f} a second",
            _rate(taken) >= FRAMES_AT_LEAST,
            told,
        )

    def _drag(self, selector: str) -> Any:
        moved = self._page.evaluate(DRAG, [selector, FRAMES])
        self._page.wait_for_timeout(500)
        return moved

    def _still(self) -> list[float]:
        """Return the frames of a page with nothing on it, at about the same moment."""
        page = self._page.context.new_page()
        page.goto(f"{self._root}/enter?code=none")
        lasted: list[float] = page.evaluate(DRAG, ["", FRAMES // 2])["lasted"]
        page.close()
        return lasted

    def _drawn(self) -> str:
        return f"{int(self._page.get_attribute('[data-drawn]', 'data-drawn') or 0):,}"


def _rate(lasted: list[float]) -> float:
    return 1_000 * len(lasted) / sum(lasted)
