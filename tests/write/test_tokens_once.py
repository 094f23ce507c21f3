"""The tokens of a home stand once, in embeddings.db, and homes of the former layout move over."""

from __future__ import annotations

from pathlib import Path

import apsw
import numpy as np
import pytest

from madeleine.index.search import CandidateQuery
from madeleine.language.passages import split_passages
from madeleine.language.text_keys import passage_key
from madeleine.minds.cache import EmbeddingCache
from madeleine.minds.fake import FakeEmbedder
from madeleine.model.draft import Draft
from madeleine.model.query import Filter
from madeleine.write.reconcile import reconcile_and_embed
from madeleine.write.remember import remember
from madeleine.write.stores import Stores
from madeleine.write.upkeep import rebuild
from tests.fakes import NOON, close, make_stores, reopened

TEXTS = [f"note {number} about place {number * 31 % 97}" for number in range(40)]


def fill(home: Path) -> Stores:
    stores = make_stores(home)
    for text in TEXTS:
        remember(stores, Draft(content=text))
    return stores


def read_tokens(stores: Stores) -> dict[str, bytes]:
    """Return what the index gives as the tokens of each memory."""
    pool = stores.search.pool(CandidateQuery(), Filter(), NOON)
    details = stores.search.details(pool, np.arange(len(pool.nodes)))
    named = stores.search.ids(pool.nodes.tolist())
    rows = np.split(details.tokens, details.token_starts[1:-1])
    return {
        named[node]: each.tobytes() for node, each in zip(pool.nodes.tolist(), rows, strict=True)
    }


def make_former_embeddings(home: Path, stores: Stores) -> None:
    """Write embeddings.db as the release before did: texts as keys, a byte for each number."""
    listed = stores.search.listing(Filter(), NOON, 1_000)
    pieces = [passage for memory in listed for passage in split_passages(memory)]
    made = FakeEmbedder().read(pieces)
    close(stores)
    (home / "embeddings.db").unlink()
    old = apsw.Connection(str(home / "embeddings.db"))
    old.pragma("journal_mode", "wal")
    old.execute(
        """CREATE TABLE traces (model TEXT NOT NULL, key TEXT NOT NULL, vector BLOB NOT NULL,
           tokens BLOB NOT NULL, PRIMARY KEY (model, key)) STRICT; PRAGMA user_version = 2"""
    )
    rows = [
        ("fake-1", passage_key(piece), each.vector.astype(np.float16).tobytes(),
         each.tokens.tobytes())
        for piece, each in zip(pieces, made, strict=True)
    ]  # fmt: skip
    old.executemany("INSERT INTO traces VALUES (?, ?, ?, ?)", rows)
    old.close()


def make_former_index(home: Path) -> None:
    """Give index.db the form that it had in the release before, with tokens in its own rows."""
    old = apsw.Connection(str(home / "index.db"))
    old.execute(
        """UPDATE passages SET tokens = randomblob(4096);
           ALTER TABLE passages DROP COLUMN reference; PRAGMA user_version = 10"""
    )
    old.close()


def test_the_index_keeps_no_tokens_and_reads_them_where_they_are_kept(tmp_path: Path) -> None:
    stores = fill(tmp_path)
    found = read_tokens(stores)
    close(stores)

    assert len(found) == len(TEXTS)
    assert all(found.values())
    raw = apsw.Connection(str(tmp_path / "index.db"))
    own = raw.execute("SELECT sum(length(tokens)), count(reference) FROM passages").fetchall()
    raw.close()
    raw = apsw.Connection(str(tmp_path / "embeddings.db"))
    kept = raw.execute("SELECT sum(length(tokens)) FROM traces").get
    raw.close()
    assert own == [(0, len(TEXTS))]
    assert kept == sum(len(each) * 9 // 16 + 1 for each in found.values())


def test_a_home_of_the_former_layout_moves_over_without_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = fill(tmp_path)
    before = read_tokens(stores)
    make_former_embeddings(tmp_path, stores)
    make_former_index(tmp_path)
    large = (tmp_path / "index.db").stat().st_size

    monkeypatch.setattr(FakeEmbedder, "read", lambda self, passages: pytest.fail("asked"))
    moved = reopened(make_stores(tmp_path), tmp_path)

    assert moved.search.counts().unembedded == 0
    assert read_tokens(moved) == before
    rebuild(moved)
    assert read_tokens(moved) == before
    close(moved)
    assert (tmp_path / "index.db").stat().st_size < large
    assert not list(tmp_path.glob("embeddings.db.*"))


def test_a_move_that_was_cut_off_begins_again(tmp_path: Path) -> None:
    stores = fill(tmp_path)
    before = read_tokens(stores)
    make_former_embeddings(tmp_path, stores)
    half = EmbeddingCache.open(tmp_path / "embeddings.db.new")
    half.put("fake-1", {"of nobody": (b"half", b"")})
    half.close()

    moved = EmbeddingCache.open(tmp_path / "embeddings.db")

    assert moved.models() == {"fake-1": len(TEXTS)}
    moved.close()
    again = make_stores(tmp_path)
    assert read_tokens(again) == before
    close(again)


def test_tokens_that_went_are_made_again(tmp_path: Path) -> None:
    stores = fill(tmp_path)
    before = read_tokens(stores)
    close(stores)
    for each in tmp_path.glob("embeddings.db*"):
        each.unlink()

    stores = make_stores(tmp_path)
    assert stores.search.counts().unembedded == len(TEXTS)
    reconcile_and_embed(stores)

    assert stores.search.counts().unembedded == 0
    assert read_tokens(stores) == before
    close(stores)


def test_what_an_acknowledged_memory_refers_to_survives_a_kill(tmp_path: Path) -> None:
    """The daemon need not get to its next writing of the cache."""
    stores = make_stores(tmp_path)
    remember(stores, Draft(content="kept before anybody flushes"))

    beside = apsw.Connection(str(tmp_path / "embeddings.db"))
    assert beside.execute("SELECT count(*) FROM traces").get == 1
    beside.close()
    close(stores)
