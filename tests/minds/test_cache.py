"""embeddings.db: what it keeps, what it gives back, and what happens when it breaks."""

from __future__ import annotations

import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.errors import MindDown, StoreUnwritable
from madeleine.minds.cache import MAX_PENDING_WRITES, PAGE_BYTES, CachedEmbedder, EmbeddingCache
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.port import CachingEmbedder, Embedder, Minds
from madeleine.minds.vectors import (
    empty_tokens,
    normalize_vectors,
    pack_vectors,
    quantize_tokens,
    unpack_vectors,
)
from madeleine.model.embedding import Passage, PassageEmbedding, QueryEmbedding
from madeleine.model.vector import Vector
from madeleine.rules.token_packing import pack_numbers

from .reading import key, passage, vectors


class CountingEmbedder(FakeEmbedder):
    """Remembers what it was asked."""

    def __init__(self, dimension: int = 64, name: str = "fake-1") -> None:
        super().__init__(dimension)
        self.name = name
        self.asked: list[str] = []

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        self.asked += [each.text for each in passages]
        return super().read(passages)


class DeafEmbedder:
    """A model that is away."""

    name = "fake-1"
    token_dimension = FakeEmbedder.token_dimension

    @property
    def dimension(self) -> int:
        raise MindDown(self.name, "away")

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        raise MindDown(self.name, "away")

    def ask(self, text: str) -> QueryEmbedding:
        raise MindDown(self.name, "away")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "embeddings.db"


@pytest.fixture
def store(path: Path) -> Iterator[EmbeddingCache]:
    opened = EmbeddingCache.open(path)
    yield opened
    opened.close()


def as_bytes(vectors: Sequence[Vector]) -> list[bytes]:
    return [vector.tobytes() for vector in vectors]


def traces(embedder: Embedder, texts: Sequence[str]) -> list[tuple[bytes, bytes]]:
    """What is made of each text, to the last bit."""
    made = embedder.read([passage(text) for text in texts])
    return [(trace.vector.tobytes(), trace.tokens.tobytes()) for trace in made]


def test_the_parts_fit_their_ports(store: EmbeddingCache) -> None:
    embedder: Embedder = FakeEmbedder()
    keeping: CachingEmbedder = CachedEmbedder(embedder, store)

    assert Minds(keeping).embedder is keeping
    assert (keeping.name, keeping.dimension, keeping.token_dimension) == ("fake-1", 64, 16)


def test_a_kept_trace_is_the_fresh_one_to_the_last_bit(path: Path) -> None:
    texts = [f"memory number {number}" for number in range(50)]
    first, second = EmbeddingCache.open(path), EmbeddingCache.open(path)

    fresh = CachedEmbedder(FakeEmbedder(), first).read([passage(text) for text in texts])
    first.close()
    kept = CachedEmbedder(DeafEmbedder(), second).read([passage(text) for text in texts])
    asked = [CachedEmbedder(FakeEmbedder(), second).ask(text) for text in texts]
    second.close()

    assert as_bytes([each.vector for each in fresh]) == as_bytes([each.vector for each in kept])
    assert as_bytes([each.vector for each in fresh]) == as_bytes([each.vector for each in asked])
    for one, other, question in zip(fresh, kept, asked, strict=True):
        assert one.vector.dtype == np.float32
        assert one.tokens.dtype == np.int8
        assert one.tokens.shape == other.tokens.shape == (3, 16)
        assert one.tokens.tobytes() == other.tokens.tobytes()
        assert np.abs(question.small - one.tokens.astype(np.float32) / np.float32(127)).max() < 0.05
        assert float(np.linalg.norm(one.vector)) == pytest.approx(1, abs=1e-6)


@pytest.mark.soak
@given(
    rows=st.integers(1, 40).flatmap(
        lambda size: st.lists(
            st.lists(st.floats(-1, 1, width=32), min_size=size, max_size=size).filter(
                lambda row: max(map(abs, row)) > 0.01
            ),
            min_size=1,
            max_size=9,
        )
    )
)
def test_a_vector_comes_back_the_same_alone_and_among_others(rows: list[list[float]]) -> None:
    vectors = normalize_vectors(np.array(rows, np.float32))
    assert vectors is not None
    packed = pack_vectors(vectors)

    together = unpack_vectors(packed)
    alone = [unpack_vectors([each])[0] for each in packed]

    for vector, one, original in zip(together, alone, vectors, strict=True):
        assert vector is not None
        assert one is not None
        assert vector.tobytes() == one.tobytes()
        assert float(vector @ original) > 0.999


def test_each_distinct_passage_is_read_once(store: EmbeddingCache) -> None:
    counting = CountingEmbedder()
    embedder = CachedEmbedder(counting, store)

    first = traces(embedder, ["a", "b", "a", "c", "b"])
    second = traces(embedder, ["c", "d", "a"])

    assert counting.asked == ["a", "b", "c", "d"]
    assert [first[0], first[3]] == [first[2], second[0]]


def test_the_same_words_with_another_unspoken_part_are_another_passage(
    store: EmbeddingCache,
) -> None:
    embedder = CachedEmbedder(FakeEmbedder(), store)

    spoken, half = embedder.read([passage("8 May: hello"), passage("8 May: hello", unspoken=7)])

    assert (len(spoken.tokens), len(half.tokens)) == (3, 1)


def test_no_passages_ask_nobody(store: EmbeddingCache) -> None:
    assert CachedEmbedder(DeafEmbedder(), store).read([]) == []


def test_a_question_is_not_kept(store: EmbeddingCache) -> None:
    CachedEmbedder(FakeEmbedder(), store).ask("what did we decide")

    assert store.models() == {}


def test_traces_are_found_by_key_and_strangers_left_out(store: EmbeddingCache) -> None:
    embedder = CachedEmbedder(FakeEmbedder(), store)
    (trace,) = embedder.read([passage("known")])

    found = embedder.kept([key("known"), key("unknown")])

    assert list(found) == [key("known")]
    assert found[key("known")].vector.tobytes() == trace.vector.tobytes()
    assert found[key("known")].tokens.tobytes() == trace.tokens.tobytes()


def test_models_never_see_each_others_vectors(store: EmbeddingCache) -> None:
    old, new = CountingEmbedder(name="old"), CountingEmbedder(dimension=32, name="new")
    vectors(CachedEmbedder(old, store), ["text"])

    (vector,) = vectors(CachedEmbedder(new, store), ["text"])

    assert (len(vector), new.asked) == (32, ["text"])
    assert store.models() == {"old": 1, "new": 1}


def test_the_dimension_of_a_model_that_is_away_is_read_from_what_is_kept(
    store: EmbeddingCache,
) -> None:
    vectors(CachedEmbedder(FakeEmbedder(), store), ["kept"])

    assert CachedEmbedder(DeafEmbedder(), store).dimension == 64
    with pytest.raises(MindDown):
        vectors(CachedEmbedder(DeafEmbedder(), store), ["new"])


def test_another_model_under_the_same_name_is_refused(store: EmbeddingCache) -> None:
    vectors(CachedEmbedder(FakeEmbedder(64), store), ["text"])

    with pytest.raises(MindDown, match="32 numbers where it gave 64"):
        vectors(CachedEmbedder(FakeEmbedder(32), store), ["other"])


def test_a_failing_model_keeps_nothing(store: EmbeddingCache) -> None:
    with pytest.raises(MindDown):
        vectors(CachedEmbedder(DeafEmbedder(), store), ["a", "b"])

    assert store.models() == {}


GOOD_VECTOR = np.full(64, 0.125, np.float16).tobytes()
GOOD_TOKENS = bytes([127, *[0] * 15])


@pytest.mark.parametrize(
    "nonsense",
    [
        *((vector, GOOD_TOKENS) for vector in (b"\xff" * 128, b"\0" * 128, b"short", b"")),
        *((GOOD_VECTOR, tokens) for tokens in (b"\x7f" * 16, b"\0" * 32, b"short", b"\x01")),
    ],
)
def test_a_kept_trace_that_makes_no_sense_is_made_again(
    store: EmbeddingCache, nonsense: tuple[bytes, bytes]
) -> None:
    embedder = CachedEmbedder(FakeEmbedder(), store)
    good = traces(embedder, ["a", "b", "c"])
    store.put("fake-1", {key("b"): nonsense})

    assert set(embedder.kept([key("a"), key("b")])) == {key("a")}
    again = traces(embedder, ["a", "b", "c"])

    assert again == good
    assert key("b") in embedder.kept([key("b")])


def test_a_cache_of_a_model_without_tokens_keeps_vectors_alone(store: EmbeddingCache) -> None:
    class Plain(CountingEmbedder):
        token_dimension = 0

        def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
            return [replace(trace, tokens=empty_tokens()) for trace in super().read(passages)]

    plain = Plain()
    embedder = CachedEmbedder(plain, store)

    (first,), (second,) = (embedder.read([passage("text")]) for _ in range(2))

    assert first.tokens.shape == second.tokens.shape == (0, 0)
    assert plain.asked == ["text"]


def test_what_is_new_is_found_at_once_and_written_later(path: Path, store: EmbeddingCache) -> None:
    embedder = CachedEmbedder(FakeEmbedder(), store)
    beside = apsw.Connection(str(path))

    vectors(embedder, ["one", "two"])
    assert set(embedder.kept([key("one"), key("two")])) == {key("one"), key("two")}
    assert beside.execute("SELECT count(*) FROM traces").get == 0

    embedder.flush()
    assert beside.execute("SELECT count(*) FROM traces").get == 2
    beside.close()


def test_enough_of_what_is_new_is_written_without_being_asked(
    path: Path, store: EmbeddingCache
) -> None:
    embedder = CachedEmbedder(FakeEmbedder(), store)
    beside = apsw.Connection(str(path))

    for number in range(MAX_PENDING_WRITES):
        assert beside.execute("SELECT count(*) FROM traces").get == 0
        vectors(embedder, [str(number)])

    assert beside.execute("SELECT count(*) FROM traces").get == MAX_PENDING_WRITES
    beside.close()


def test_closing_writes_what_is_new(path: Path) -> None:
    first = CachedEmbedder(FakeEmbedder(), EmbeddingCache.open(path))
    vectors(first, ["one"])
    first.close()

    second = CachedEmbedder(DeafEmbedder(), EmbeddingCache.open(path))

    assert len(vectors(second, ["one"])) == 1
    second.close()


def test_a_kill_costs_what_was_not_written_and_nothing_else(path: Path) -> None:
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from madeleine.minds.cache import CachedEmbedder, EmbeddingCache\n"
        "from madeleine.minds.fake import FakeEmbedder\n"
        "from madeleine.model.embedding import Passage\n"
        "kept = CachedEmbedder(FakeEmbedder(), EmbeddingCache.open(Path(sys.argv[1])))\n"
        "kept.read([Passage('written', 0, 7)])\n"
        "kept.flush()\n"
        "kept.read([Passage('lost', 0, 4)])\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)

    embedder = CachedEmbedder(CountingEmbedder(), EmbeddingCache.open(path))

    assert set(embedder.kept([key("written"), key("lost")])) == {key("written")}
    assert len(vectors(embedder, ["written", "lost"])) == 2
    embedder.close()


def test_what_the_disk_refuses_is_said_once_and_made_again(store: EmbeddingCache) -> None:
    embedder = CachedEmbedder(FakeEmbedder(), store)
    (before,) = vectors(embedder, ["text"])
    store._connection.pragma("query_only", True)  # as a disk that went read-only

    with pytest.raises(StoreUnwritable):
        embedder.flush()
    embedder.flush()
    store._connection.pragma("query_only", False)

    assert embedder.kept([key("text")]) == {}
    assert as_bytes(vectors(embedder, ["text"])) == [before.tobytes()]


def test_a_file_of_the_first_format_is_begun_anew_without_a_word(path: Path) -> None:
    old = apsw.Connection(str(path))
    old.execute("CREATE TABLE vectors (model TEXT, key TEXT, vector BLOB); PRAGMA user_version = 1")
    old.close()

    store = EmbeddingCache.open(path)
    vectors(CachedEmbedder(FakeEmbedder(), store), ["text"])

    assert store.models() == {"fake-1": 1}
    assert store.set_aside is None
    store.close()
    assert [each.name for each in path.parent.iterdir()] == ["embeddings.db"]


def test_only_its_owner_can_read_the_cache(path: Path, store: EmbeddingCache) -> None:
    vectors(CachedEmbedder(FakeEmbedder(), store), ["private"])

    files = list(path.parent.iterdir())

    assert {file.name for file in files} >= {"embeddings.db", "embeddings.db-wal"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def _not_a_database(path: Path) -> None:
    path.write_bytes(b"this was a database once " * 400)


def _of_another_shape(path: Path) -> None:
    path.unlink()
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE traces (id INTEGER PRIMARY KEY)")
    db.close()


def _of_another_format(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.pragma("user_version", 99)
    db.close()


@pytest.mark.parametrize("damage", [_not_a_database, _of_another_shape, _of_another_format])
def test_a_damaged_cache_is_set_aside_when_it_is_opened(
    path: Path, damage: Callable[[Path], None]
) -> None:
    before = EmbeddingCache.open(path)
    (vector,) = vectors(CachedEmbedder(FakeEmbedder(), before), ["text"])
    before.close()
    damage(path)

    after = EmbeddingCache.open(path)
    (again,) = vectors(CachedEmbedder(FakeEmbedder(), after), ["text"])
    after.close()

    assert again.tobytes() == vector.tobytes()
    assert after.set_aside == path.with_name("embeddings.db.damaged")
    assert after.set_aside.exists()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_damage_found_while_reading_is_healed_too(path: Path) -> None:
    """The header is whole, so that it opens; every page behind it is not."""
    texts = [f"memory number {number}" for number in range(500)]
    before = EmbeddingCache.open(path)
    made = vectors(CachedEmbedder(FakeEmbedder(), before), texts)
    before.close()
    whole = path.read_bytes()
    first_page = PAGE_BYTES
    path.write_bytes(whole[:first_page] + b"\xee" * (len(whole) - first_page))

    store = EmbeddingCache.open(path)
    again = vectors(CachedEmbedder(FakeEmbedder(), store), texts)
    kept = store.models()
    store.close()

    assert as_bytes(again) == as_bytes(made)
    assert store.set_aside is not None
    assert kept == {"fake-1": 500}


def test_a_cache_that_cannot_be_made_says_where(tmp_path: Path) -> None:
    with pytest.raises(StoreUnwritable, match=r"absent/embeddings\.db"):
        EmbeddingCache.open(tmp_path / "absent" / "embeddings.db")


def test_eight_threads_share_one_cache(store: EmbeddingCache) -> None:
    embedder = CachedEmbedder(FakeEmbedder(), store)
    expected = {text: embedder.ask(text).vector.tobytes() for text in map(str, range(200))}

    def work(start: int) -> list[tuple[str, bytes]]:
        texts = [str((start * 25 + step) % 200) for step in range(200)]
        pairs: list[tuple[str, bytes]] = []
        for place in range(0, 200, 10):
            some = texts[place : place + 10]
            pairs += zip(some, as_bytes(vectors(embedder, some)), strict=True)
        return pairs

    with ThreadPoolExecutor(8) as pool:
        answers = [pair for pairs in pool.map(work, range(8)) for pair in pairs]

    assert len(answers) == 1_600
    assert all(expected[text] == vector for text, vector in answers)
    assert store.models() == {"fake-1": 200}


def test_a_rebuild_reads_its_traces_quickly(store: EmbeddingCache) -> None:
    """Twenty times slower than it is on an idle machine would still pass."""
    generator = np.random.default_rng(7)
    made = normalize_vectors(generator.standard_normal((5_000, 384)).astype(np.float32))
    assert made is not None
    rows = quantize_tokens(generator.standard_normal((40, 16)).astype(np.float32))
    (tokens,) = pack_numbers([rows.tobytes()])
    keys = [key(str(number)) for number in range(5_000)]
    packed = ((vector, tokens) for vector in pack_vectors(made))
    store.put("fake-1", dict(zip(keys, packed, strict=True)))
    embedder = CachedEmbedder(FakeEmbedder(384), store)

    started = time.perf_counter()
    found = embedder.kept(keys)

    assert len(found) == 5_000
    assert time.perf_counter() - started < 2.0
