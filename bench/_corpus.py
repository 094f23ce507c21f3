"""Homes of any size to measure on, the same for the same seed.

The files are real; they are written without waiting for the disk, and their vectors are not
made by the model: 100,000 texts would keep it busy for half an hour. Each passage gets a
random vector and random tokens in embeddings.db under the model's name, and the index is built
from that.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from madeleine.bootstrap import device_name, make_folders, open_home
from madeleine.language.passages import split_passages
from madeleine.language.text_keys import passage_key
from madeleine.minds.cache import EmbeddingCache, PackedEmbedding
from madeleine.minds.vectors import normalize_vectors, pack_vectors, quantize_tokens
from madeleine.model.draft import Draft
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.rules.token_packing import pack_numbers
from madeleine.vault.file_naming import candidate_file_names
from madeleine.vault.journal import FileJournal
from madeleine.vault.markdown import render_memory

SEED = 20
AT_ONCE = 5_000


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)

WHO = _words(
    "Ana Bram Chidi Dara Elif Farid Greta Hana Ivo Jun Kemal Lena Mira Noor Otto Priya Quinn Rosa "
    "Sven Tomas Uma Vera Wim Xenia Yara Zoltan grandmother neighbour dentist landlord intern"
)
THINGS = _words(
    "importer parser invoice garden bicycle piano backup firewall recipe passport thesis kitchen "
    "calendar telescope database bakery podcast sourdough marathon mortgage antenna greenhouse "
    "compiler newsletter violin heating aquarium scheduler contract vaccine kayak archive camera "
    "keyboard roof budget museum translation printer beehive workshop ferry dashboard harvest "
    "library mosaic router novel allergy ceramics elevator festival glacier hammock insurance "
    "jacket kettle lantern migration notebook orchestra pension quilt rental sensor timetable "
    "umbrella vineyard warehouse yoghurt zoning balcony carpet dictionary engine footpath"
)
DID = _words(
    "moved rewrote sold measured postponed bought repaired painted cancelled documented borrowed "
    "photographed inherited cleaned tested translated reviewed simplified doubled abandoned "
    "recommended planted encrypted sketched compared rehearsed weighed renamed mapped polished"
)
PLACES = _words(
    "Lisbon Oslo Dublin Nairobi Kyoto Quito Tallinn Perth Ghent Fez Hanoi Bergen Turin Izmir "
    "basement office harbour attic station clinic meadow studio cellar market bridge"
)
WHEN = (
    "in March", "last winter", "before breakfast", "on Tuesday", "during the strike", "at dawn",
    "after the merger", "two years ago", "while it rained", "by the end of the quarter",
)  # fmt: skip
FRAMES = (
    "{who} {did} the {thing} {when}.",
    "The {thing} in {place} costs {number} a month.",
    "{who} prefers the {thing} over the {other}.",
    "Nobody in {place} {did} a {thing} {when}.",
    "Ask {who} about the {thing}; room {number}.",
    "The {thing} broke because of the {other}.",
    "{who} wants {number} more of the {thing} for {place}.",
    "We decided against a {thing}: the {other} is enough.",
)
SPACES = (None, None, "atlas", "kitchen", "studio", "garden")
TAGS = ("work", "home", "decision", "todo", "people", "tools", "health", "travel")


class Texts:
    """Short texts as people and agents keep them: one to five sentences, no two the same."""

    def __init__(self, seed: int = SEED) -> None:
        self.dice = random.Random(seed)
        self._count = 0

    def text(self) -> str:
        self._count += 1
        sentences = [self._sentence() for _ in range(self.dice.randint(1, 5))]
        return " ".join([*sentences, f"({self._count}-{self.dice.randrange(10**6)})"])

    def title(self) -> str:
        return f"{self.dice.choice(WHO)} and the {self.dice.choice(THINGS)}"

    def _sentence(self) -> str:
        dice = self.dice
        words = {"who": WHO, "did": DID, "thing": THINGS, "other": THINGS, "place": PLACES}
        chosen = {name: dice.choice(each) for name, each in words.items()}
        when, number = dice.choice(WHEN), dice.randrange(2, 900)
        return dice.choice(FRAMES).format(**chosen, when=when, number=number)

    def draft(self) -> Draft:
        tags = tuple(self.dice.sample(TAGS, self.dice.randint(0, 3)))
        return Draft(content=self.text(), space=self.dice.choice(SPACES), tags=tags)


def memories(count: int, seed: int = SEED) -> Iterator[Memory]:
    """Yield memories, some with a title, tags and connections to earlier ones."""
    texts, dice = Texts(seed), random.Random(seed + 1)
    earlier: list[str] = []
    for number in range(count):
        memory_id = str(uuid.UUID(int=dice.getrandbits(128), version=4))
        at = FIRST_DAY + timedelta(minutes=number)
        targets = dice.sample(earlier, min(len(earlier), dice.choice([0, 0, 1, 2])))
        title = texts.title()
        yield Memory(
            id=memory_id,
            content=texts.text(),
            created=at,
            updated=at,
            type=dice.choice(list(MemoryType)),
            tier=dice.choice([Tier.WORKING, Tier.WORKING, Tier.ARCHIVAL]),
            space=dice.choice(SPACES),
            title=title if dice.random() < 0.5 else None,
            tags=tuple(dice.sample(TAGS, dice.randint(0, 3))),
            connections=tuple(
                Connection(each, Edge.RELATED_TO, 0.7, "close in meaning", "remember", at)
                for each in targets
            ),
        )
        earlier = [*earlier[-50:], memory_id]


def fill(
    home: Path,
    count: int,
    model: str,
    dimension: int,
    token_dimension: int,
    progress: Callable[[str], None] = lambda line: None,
) -> None:
    """Make a home with `count` memories, their journal, vectors and index."""
    make_folders(home)
    cache = EmbeddingCache.open(home / "embeddings.db")
    journal = FileJournal(home / "journal", device_name())
    numbers = np.random.default_rng(SEED)
    waiting: list[Memory] = []
    for number, memory in enumerate(memories(count), 1):
        (home / "vault" / next(iter(candidate_file_names(memory)))).write_bytes(
            render_memory(memory)
        )
        waiting.append(memory)
        if len(waiting) == AT_ONCE or number == count:
            cache.put(model, _traces(waiting, dimension, token_dimension, numbers))
            journal.append([_remembered(each, journal.device) for each in waiting], durable=False)
            waiting = []
            progress(f"{number:,} of {count:,} files")
    cache.close()
    journal.flush()
    open_home(home, progress=lambda done, total: progress(f"{done:,} of {total:,} indexed")).close()


def _traces(
    given: list[Memory], dimension: int, token_dimension: int, numbers: np.random.Generator
) -> dict[str, PackedEmbedding]:
    passages = [passage for each in given for passage in split_passages(each)]
    rows = normalize_vectors(numbers.standard_normal((len(passages), dimension), dtype=np.float32))
    assert rows is not None
    packed: dict[str, PackedEmbedding] = {}
    for passage, vector in zip(passages, pack_vectors(rows), strict=True):
        shape = (len(passage.text.split()), token_dimension)
        tokens = quantize_tokens(numbers.standard_normal(shape, dtype=np.float32))
        packed[passage_key(passage)] = (vector, *pack_numbers([tokens.tobytes()]))
    return packed


def _remembered(memory: Memory, device: str) -> Event:
    body = {
        "memory": memory.id,
        "change": str(uuid.uuid5(uuid.NAMESPACE_OID, memory.id)),
        "verb": "remember",
        "by": memory.source,
        "path": next(iter(candidate_file_names(memory))),
    }
    event_id = str(uuid.uuid5(uuid.NAMESPACE_OID, memory.id + "remembered"))
    return Event(event_id, memory.created, EventKind.REMEMBERED, device, body)
