"""The map of all memories by meaning: where each lies, and which topics there are.

It is derived, like the index: made of vectors (`rules/map_layout.py`), kept in one file, and made
again where that is gone. What is new is placed beside its neighbours; when much is new, the whole
map is laid out again and grows out of the last one, so that nobody has to find their way anew.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from madeleine.language.topic_words import topic_words
from madeleine.rules.map_layout import lay_out, place_beside
from madeleine.rules.map_topics import MapTopic, WordTable, find_topics
from madeleine.write.stores import Stores

FORMAT = 1
READ_AT_ONCE = 400  # memories
TEXT_CHARS = 400  # of a memory that are read for its words
ANEW_SHARE = 0.2  # of a map that may be new before all of it is laid out again
ANEW_LEAST = 40
LAND_CELLS = 72  # of the longer side of the land

Pause = Callable[[], object]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class MemoryMap:
    """Where memories lie, the strongest first, and the topics among them."""

    ids: NDArray[np.str_]
    places: Floats
    created: NDArray[np.int64]
    """Seconds since 1970."""
    uses: NDArray[np.int64]
    topics: tuple[MapTopic, ...]
    model: str

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Where each memory stands in the columns."""
        return {str(each): at for at, each in enumerate(self.ids)}

    @cached_property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, bottom, right, top."""
        low, high = self.places.min(0), self.places.max(0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    def within(self, box: tuple[float, float, float, float], limit: int) -> list[str]:
        """Return the strongest memories in a part of the map."""
        left, bottom, right, top = box
        x, y = self.places.T
        inside = np.flatnonzero((x >= left) & (x <= right) & (y >= bottom) & (y <= top))
        return [str(each) for each in self.ids[inside[:limit]]]

    @cached_property
    def land(self) -> tuple[int, int, list[int]]:
        """How many memories lie in each cell of a grid over the map: columns, rows, and counts
        from the left below."""
        left, bottom, right, top = self.bounds
        wide, high = max(right - left, 1.0), max(top - bottom, 1.0)
        cell = max(wide, high) / LAND_CELLS
        columns, rows = max(1, round(wide / cell)), max(1, round(high / cell))
        counts, _, _ = np.histogram2d(
            self.places[:, 1], self.places[:, 0], (rows, columns), ((bottom, top), (left, right))
        )
        return columns, rows, counts.astype(int).ravel().tolist()


def make_map(stores: Stores, before: MemoryMap | None, pause: Pause) -> MemoryMap | None:
    """Return the map of what there is now; nothing where no memory has a vector."""
    model = stores.minds.embedder.name if stores.minds.embedder is not None else ""
    if before is not None and before.model != model:
        before = None
    ids, vectors = _read_vectors(stores, _list_ids(stores, pause), pause)
    if not ids:
        return None
    known = before.rows if before is not None else {}
    fresh = [at for at, each in enumerate(ids) if each not in known]
    if before is not None and len(fresh) <= max(ANEW_LEAST, ANEW_SHARE * len(before)):
        places = np.empty((len(ids), 2), np.float32)
        old = [at for at, each in enumerate(ids) if each in known]
        places[old] = before.places[[known[ids[at]] for at in old]]
        if fresh and old:
            places[fresh] = place_beside(vectors[fresh], vectors[old], places[old], pause)
        elif fresh:
            places = lay_out(vectors, pause)
    else:
        places = lay_out(vectors, pause, _lay_before(ids, before))
    created, uses = _read_standings(stores, ids, pause)
    topics = find_topics(places, _count_words(stores, ids, pause), pause)
    return MemoryMap(np.array(ids), places, created, uses, tuple(topics), model)


def _lay_before(ids: Sequence[str], before: MemoryMap | None) -> Floats | None:
    if before is None:
        return None
    places = np.full((len(ids), 2), np.nan, np.float32)
    for at, each in enumerate(ids):
        row = before.rows.get(each)
        if row is not None:
            places[at] = before.places[row]
    return places


def _list_ids(stores: Stores, pause: Pause) -> list[str]:
    """Return all memories that the graph draws, the strongest of each space in turn."""
    now = stores.clock.now()
    by_space: list[list[str]] = []
    for space, many in stores.graph.regions(now).items():
        mine: list[str] = []
        for offset in range(0, many, READ_AT_ONCE):
            pause()
            found = stores.graph.strongest(space, now, READ_AT_ONCE, offset)
            mine += [each.id for each in found]
        by_space.append(mine)
    ranked = ((at / len(mine), each) for mine in by_space for at, each in enumerate(mine))
    return list(dict.fromkeys(each for _, each in sorted(ranked)))


def _read_vectors(stores: Stores, ids: Sequence[str], pause: Pause) -> tuple[list[str], Floats]:
    """Return the ids that have a vector, and their vectors as rows of length 1."""
    kept: list[str] = []
    rows: list[Floats] = []
    for start in range(0, len(ids), READ_AT_ONCE):
        pause()
        part = ids[start : start + READ_AT_ONCE]
        found = stores.search.vectors(part)
        kept += [each for each in part if each in found]
        rows += [np.asarray(found[each], np.float32) for each in part if each in found]
    if not rows:
        return [], np.empty((0, 0), np.float32)
    matrix = np.vstack(rows)
    return kept, matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-6)


def _read_standings(
    stores: Stores, ids: Sequence[str], pause: Pause
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return when each was made, and how often it was used."""
    columns = stores.search.standings(pause)
    row_of = {each: at for at, each in enumerate(columns.ids)}
    rows = [row_of.get(each, -1) for each in ids]
    there = np.array(rows) >= 0
    created = np.where(there, columns.created[rows] // 1_000_000, 0)
    return created.astype(np.int64), np.where(there, columns.uses[rows], 0).astype(np.int64)


def _count_words(stores: Stores, ids: Sequence[str], pause: Pause) -> WordTable:
    """Return which memories hold which words."""
    numbers: dict[str, int] = {}
    written: list[Counter[str]] = []
    holders: list[int] = []
    words: list[int] = []
    for start in range(0, len(ids), READ_AT_ONCE):
        pause()
        part = ids[start : start + READ_AT_ONCE]
        found = stores.search.memories(part)
        for at, each in enumerate(part, start):
            if each not in found:
                continue
            memory = found[each]
            text = f"{memory.title or ''} {' '.join(memory.tags)} {memory.content[:TEXT_CHARS]}"
            for low, word in topic_words(text).items():
                number = numbers.setdefault(low, len(numbers))
                if number == len(written):
                    written.append(Counter())
                written[number][word] += 1
                holders.append(at)
                words.append(number)
    shown = [max(sorted(each), key=each.__getitem__) for each in written]
    return WordTable(np.array(holders, np.int64), np.array(words, np.int64), shown)


# -- in a file -----------------------------------------------------------------------------


def save_map(made: MemoryMap, path: Path) -> None:
    """Put a map into a file, whole or not at all."""
    aside = path.with_suffix(".new")
    about = {
        "format": FORMAT,
        "model": made.model,
        "topics": [asdict(each) for each in made.topics],
    }
    aside.touch(mode=0o600)
    with aside.open("wb") as file:
        np.savez(
            file,
            ids=made.ids,
            places=made.places,
            created=made.created,
            uses=made.uses,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
        )
    aside.replace(path)


def load_map(path: Path) -> MemoryMap | None:
    """Return the map that a file holds; nothing if there is none, or none that can be read."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            about = json.loads(kept["about"].tobytes())
            if about["format"] != FORMAT:
                return None
            topics = (
                MapTopic(**{**each, "words": tuple(each["words"])}) for each in about["topics"]
            )
            return MemoryMap(
                kept["ids"],
                kept["places"],
                kept["created"],
                kept["uses"],
                tuple(topics),
                about["model"],
            )
    except (OSError, ValueError, KeyError, TypeError, EOFError):
        return None
