"""How smooth the graph is with 50,000 memories: `madeleine bench page -- --graph`.

The home is made without vectors: the graph needs none. Its memories hang together as those of a
person do, in topics: a few that many others lean on, most with a connection or two, some with none.
Frames are counted in the browser, which renders in software, while the map is dragged by the mouse:
the time from one frame to the next, of all frames in which the picture moved.
"""

from __future__ import annotations

import json
import random
import statistics
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from _corpus import FIRST_DAY, SEED, Texts
from _measure import Row, progress
from playwright.sync_api import Page

from madeleine.bootstrap import make_folders, open_house
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.vault.markdown import render_memory
from madeleine.vault.naming import file_names

NODES = 50_000
FRAMES_AT_LEAST = 30.0
OPEN_WITHIN_MS = 3_000
SPACES = {"atlas": 30, "kitchen": 18, "studio": 14, "garden": 9, None: 20, "ledger": 6, "choir": 3}
TOPIC = 40  # memories that have to do with each other
DRAGS = 6
LOADED_AT_LEAST = 0.98  # of all memories: what a person who keeps coming nearer ends up with

# Notes when each frame began in which the map was drawn anew.
WATCH = """() => {
  window.drawn = []
  window.addEventListener('graph-drawn', () => window.drawn.push(performance.now()))
}"""
FRAMES = """() => {
  const at = window.drawn
  window.drawn = []
  return at.slice(1).map((each, place) => each - at[place]).filter(each => each < 500)
}"""


def graph_home(home: Path, count: int) -> None:
    """Make a home of so many memories, if there is none."""
    if (home / "index.db").exists():
        return
    progress(f"making a home of {count:,} memories without vectors")
    make_folders(home)
    (home / "config.toml").write_text('[embedder]\nkind = "none"\n', encoding="utf-8")
    for memory in graph_memories(count):
        (home / "vault" / next(iter(file_names(memory)))).write_bytes(render_memory(memory))
    open_house(
        home, progress=lambda done, total: progress(f"{done:,} of {total:,} indexed")
    ).close()


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
    """One window on the graph of a large home."""

    def __init__(self, page: Page, root: str, count: int) -> None:
        self._page = page
        self._root = root
        self._count = count

    def rows(self) -> Iterator[Row]:
        yield self._opened()
        yield self._dragged("overview")
        self._come_nearer()
        yield self._dragged("all memories loaded")

    def _opened(self) -> Row:
        self._page.add_init_script(f"({WATCH})()")
        self._page.goto(f"{self._root}/graph")
        self._page.wait_for_selector("[data-drawn]")
        took = float(self._page.evaluate("performance.now()"))
        return Row(
            f"`/ui/graph` with {self._count:,} memories until it is drawn",
            f"at most {OPEN_WITHIN_MS} ms",
            f"{took:.0f} ms",
            took <= OPEN_WITHIN_MS,
            f"{self._drawn()} memories drawn first",
        )

    def _come_nearer(self) -> None:
        """Load page after page, as coming nearer does, until nearly everything is there."""
        wanted = LOADED_AT_LEAST * self._count
        self._page.evaluate("window.graph.everything()")
        self._page.wait_for_function(
            f"() => window.graph.loaded() >= {wanted}", timeout=600_000, polling=500
        )

    def _dragged(self, what: str) -> Row:
        """Drag the map about and count frames, once the graph knows what this machine can do."""
        self._drag(DRAGS)
        self._page.evaluate(FRAMES)
        self._drag(DRAGS)
        lasted = [float(each) for each in json.loads(json.dumps(self._page.evaluate(FRAMES)))]
        rate = 1_000 * len(lasted) / sum(lasted) if lasted else 0.0
        slow = statistics.quantiles(lasted, n=20)[-1] if len(lasted) > 1 else 0.0
        told = (
            f"{len(lasted)} frames, slowest twentieth above {slow:.0f} ms; "
            f"{self._drawn()} memories drawn"
        )
        return Row(
            f"the graph while it is dragged, {what} ({self._count:,} memories)",
            f"at least {FRAMES_AT_LEAST:g} a second",
            f"{rate:.0f} a second",
            rate >= FRAMES_AT_LEAST,
            told,
        )

    def _drag(self, times: int) -> None:
        mouse, box = self._page.mouse, self._page.locator("[data-drawn]").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for number in range(times):
            way = 1 if number % 2 else -1
            mouse.move(x - way * 150, y - 60)
            mouse.down()
            mouse.move(x + way * 150, y + 60, steps=40)
            mouse.up()
            self._page.wait_for_timeout(400)

    def _drawn(self) -> str:
        return f"{int(self._page.get_attribute('[data-drawn]', 'data-drawn') or 0):,}"
