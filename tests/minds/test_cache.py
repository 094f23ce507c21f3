"""embeddings.db: what it keeps, what it gives back, and what happens when it breaks."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.errors import MindDown, StoreUnwritable
from madeleine.minds.cache import CachedEmbedder, VectorCache
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.port import Embedder, KeepingEmbedder, Minds
from madeleine.minds.vectors import pack, unit, unpack
from madeleine.model.vector import Vector
from madeleine.rules.text import text_key


class CountingEmbedder(FakeEmbedder):
    """Remembers what it was asked."""

    def __init__(self, dimension: int = 64, name: str = "fake-1") -> None:
        super().__init__(dimension)
        self.name = name
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        return super().embed(texts)


class DeafEmbedder:
    """A model that is away."""

    name = "fake-1"

    @property
    def dimension(self) -> int:
        raise MindDown(self.name, "away")

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        raise MindDown(self.name, "away")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "embeddings.db"


@pytest.fixture
def store(path: Path) -> Iterator[VectorCache]:
    opened = VectorCache.open(path)
    yield opened
    opened.close()


def as_bytes(vectors: Sequence[Vector]) -> list[bytes]:
    return [vector.tobytes() for vector in vectors]


def test_the_parts_fit_their_ports(store: VectorCache) -> None:
    embedder: Embedder = FakeEmbedder()
    keeping: KeepingEmbedder = CachedEmbedder(embedder, store)

    assert Minds(keeping).embedder is keeping
    assert (keeping.name, keeping.dimension) == ("fake-1", 64)


def test_a_kept_vector_is_the_fresh_one_to_the_last_bit(path: Path) -> None:
    texts = [f"memory number {number}" for number in range(50)]
    first, second = VectorCache.open(path), VectorCache.open(path)

    fresh = CachedEmbedder(FakeEmbedder(), first).embed(texts)
    first.close()
    kept = CachedEmbedder(DeafEmbedder(), second).embed(texts)
    asked = [CachedEmbedder(FakeEmbedder(), second).embed_query(text) for text in texts]
    second.close()

    assert as_bytes(fresh) == as_bytes(kept) == as_bytes(asked)
    assert all(vector.dtype == np.float32 for vector in fresh)
    assert np.allclose(np.linalg.norm(fresh, axis=1), 1, atol=1e-6)


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
    vectors = unit(np.array(rows, np.float32))
    assert vectors is not None
    packed = pack(vectors)

    together = unpack(packed)
    alone = [unpack([each])[0] for each in packed]

    for vector, one, original in zip(together, alone, vectors, strict=True):
        assert vector is not None
        assert one is not None
        assert vector.tobytes() == one.tobytes()
        assert float(vector @ original) > 0.999


def test_each_distinct_text_is_embedded_once(store: VectorCache) -> None:
    counting = CountingEmbedder()
    embedder = CachedEmbedder(counting, store)

    first = embedder.embed(["a", "b", "a", "c", "b"])
    second = embedder.embed(["c", "d", "a"])

    assert counting.asked == ["a", "b", "c", "d"]
    assert as_bytes([first[0], first[3]]) == as_bytes([first[2], second[0]])


def test_no_texts_ask_nobody(store: VectorCache) -> None:
    assert CachedEmbedder(DeafEmbedder(), store).embed([]) == []


def test_a_query_is_not_kept(store: VectorCache) -> None:
    CachedEmbedder(FakeEmbedder(), store).embed_query("what did we decide")

    assert store.models() == {}


def test_vectors_are_found_by_key_and_strangers_left_out(store: VectorCache) -> None:
    embedder = CachedEmbedder(FakeEmbedder(), store)
    (vector,) = embedder.embed(["known"])

    found = embedder.vectors([text_key("known"), text_key("unknown")])

    assert {key: value.tobytes() for key, value in found.items()} == {
        text_key("known"): vector.tobytes()
    }


def test_models_never_see_each_others_vectors(store: VectorCache) -> None:
    old, new = CountingEmbedder(name="old"), CountingEmbedder(dimension=32, name="new")
    CachedEmbedder(old, store).embed(["text"])

    (vector,) = CachedEmbedder(new, store).embed(["text"])

    assert (len(vector), new.asked) == (32, ["text"])
    assert store.models() == {"old": 1, "new": 1}
    assert store.forget_other_models("new") == 1
    assert store.models() == {"new": 1}


def test_the_dimension_of_a_model_that_is_away_is_read_from_what_is_kept(
    store: VectorCache,
) -> None:
    CachedEmbedder(FakeEmbedder(), store).embed(["kept"])

    assert CachedEmbedder(DeafEmbedder(), store).dimension == 64
    with pytest.raises(MindDown):
        CachedEmbedder(DeafEmbedder(), store).embed(["new"])


def test_another_model_under_the_same_name_is_refused(store: VectorCache) -> None:
    CachedEmbedder(FakeEmbedder(64), store).embed(["text"])

    with pytest.raises(MindDown, match="32 numbers where it gave 64"):
        CachedEmbedder(FakeEmbedder(32), store).embed(["other"])


def test_a_failing_model_keeps_nothing(store: VectorCache) -> None:
    with pytest.raises(MindDown):
        CachedEmbedder(DeafEmbedder(), store).embed(["a", "b"])

    assert store.models() == {}


@pytest.mark.parametrize("nonsense", [b"\xff" * 128, b"\0" * 128, b"short", b""])
def test_a_kept_vector_that_makes_no_sense_is_made_again(
    store: VectorCache, nonsense: bytes
) -> None:
    embedder = CachedEmbedder(CountingEmbedder(), store)
    good = embedder.embed(["a", "b", "c"])
    store.put("fake-1", {text_key("b"): nonsense})

    assert text_key("b") not in embedder.vectors([text_key("b")])
    again = embedder.embed(["a", "b", "c"])

    assert as_bytes(again) == as_bytes(good)
    assert text_key("b") in embedder.vectors([text_key("b")])


def test_only_its_owner_can_read_the_cache(path: Path, store: VectorCache) -> None:
    CachedEmbedder(FakeEmbedder(), store).embed(["private"])

    files = list(path.parent.iterdir())

    assert {file.name for file in files} >= {"embeddings.db", "embeddings.db-wal"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def _not_a_database(path: Path) -> None:
    path.write_bytes(b"this was a database once " * 400)


def _of_another_shape(path: Path) -> None:
    path.unlink()
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE vectors (id INTEGER PRIMARY KEY)")
    db.close()


def _of_another_format(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.pragma("user_version", 99)
    db.close()


@pytest.mark.parametrize("damage", [_not_a_database, _of_another_shape, _of_another_format])
def test_a_damaged_cache_is_set_aside_when_it_is_opened(
    path: Path, damage: Callable[[Path], None]
) -> None:
    before = VectorCache.open(path)
    (vector,) = CachedEmbedder(FakeEmbedder(), before).embed(["text"])
    before.close()
    damage(path)

    after = VectorCache.open(path)
    (again,) = CachedEmbedder(FakeEmbedder(), after).embed(["text"])
    after.close()

    assert again.tobytes() == vector.tobytes()
    assert after.set_aside == path.with_name("embeddings.db.damaged")
    assert after.set_aside.exists()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_damage_found_while_reading_is_healed_too(path: Path) -> None:
    """The header is whole, so that it opens; every page behind it is not."""
    texts = [f"memory number {number}" for number in range(500)]
    before = VectorCache.open(path)
    vectors = CachedEmbedder(FakeEmbedder(), before).embed(texts)
    before.close()
    whole = path.read_bytes()
    first_page = 4_096
    path.write_bytes(whole[:first_page] + b"\xee" * (len(whole) - first_page))

    store = VectorCache.open(path)
    again = CachedEmbedder(FakeEmbedder(), store).embed(texts)
    kept = store.models()
    store.close()

    assert as_bytes(again) == as_bytes(vectors)
    assert store.set_aside is not None
    assert kept == {"fake-1": 500}


def test_a_cache_that_cannot_be_made_says_where(tmp_path: Path) -> None:
    with pytest.raises(StoreUnwritable, match=r"absent/embeddings\.db"):
        VectorCache.open(tmp_path / "absent" / "embeddings.db")


def test_eight_threads_share_one_cache(store: VectorCache) -> None:
    embedder = CachedEmbedder(FakeEmbedder(), store)
    expected = {text: embedder.embed_query(text).tobytes() for text in map(str, range(200))}

    def work(start: int) -> list[tuple[str, bytes]]:
        texts = [str((start * 25 + step) % 200) for step in range(200)]
        pairs: list[tuple[str, bytes]] = []
        for place in range(0, 200, 10):
            some = texts[place : place + 10]
            pairs += zip(some, as_bytes(embedder.embed(some)), strict=True)
        return pairs

    with ThreadPoolExecutor(8) as pool:
        answers = [pair for pairs in pool.map(work, range(8)) for pair in pairs]

    assert len(answers) == 1_600
    assert all(expected[text] == vector for text, vector in answers)
    assert store.models() == {"fake-1": 200}


def test_a_rebuild_reads_its_vectors_quickly(store: VectorCache) -> None:
    """Twenty times slower than it is on an idle machine would still pass."""
    generator = np.random.default_rng(7)
    vectors = unit(generator.standard_normal((5_000, 384)).astype(np.float32))
    assert vectors is not None
    keys = [text_key(str(number)) for number in range(5_000)]
    store.put("fake-1", dict(zip(keys, pack(vectors), strict=True)))
    embedder = CachedEmbedder(FakeEmbedder(384), store)

    started = time.perf_counter()
    found = embedder.vectors(keys)

    assert len(found) == 5_000
    assert time.perf_counter() - started < 1.0
