"""What the model is asked to read when something is written: each passage once, ever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.errors import MindDown
from madeleine.language.passages import split_passages
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.port import Minds
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.draft import Draft, MemoryLimits
from madeleine.model.embedding import Passage, PassageEmbedding
from madeleine.model.memory import Origin
from madeleine.model.query import Filter
from madeleine.model.revision import Revision, read_revision
from madeleine.model.words import Tier
from madeleine.write.embedding import split_by_size
from madeleine.write.merge import merge
from madeleine.write.reconcile import ReconcileResult, embed_missing, reconcile
from madeleine.write.remember import RememberResult, remember
from madeleine.write.remember_many import remember_many
from madeleine.write.resolve import get_stored
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.upkeep import rebuild
from tests.fakes import close, keep, make_stores, reopened
from tests.sentences import in_words

LONG = "\n\n".join(f"Chapter {number}. " + f"word{number} " * 100 for number in range(9))


class Reader(FakeEmbedder):
    """Notes what it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        self.texts += [each.text for each in passages]
        return super().read(passages)


def reader_of(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """Put a model that notes what it reads behind the cache."""
    reader = Reader()
    monkeypatch.setattr(stores.minds.embedder, "_embedder", reader)
    return reader


def nearest(stores: Stores, text: str) -> str:
    assert stores.minds.embedder is not None
    vector = stores.minds.embedder.ask(text).vector
    return stores.search.search_vector(vector, Filter(), stores.clock.now(), 1)[0].id


def to(**values: object) -> Revision:
    return read_revision(values, MemoryLimits())


def test_a_short_text_is_read_once(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = reader_of(stores, monkeypatch)

    keep(stores, "one text, one reading", title="Once")
    keep(stores, "one text, one reading", title="Once")

    assert reader.texts == ["Once. one text, one reading"]


def test_a_long_text_is_read_passage_by_passage_and_found_by_any(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = reader_of(stores, monkeypatch)
    keep(stores, "something else entirely, and short")

    memory = keep(stores, LONG, title="A book")

    assert reader.texts[1:] == [each.text for each in split_passages(memory)]
    assert len(reader.texts) > 5
    assert nearest(stores, "word0 word0") == nearest(stores, "word8 word8") == memory.id


@pytest.mark.parametrize("many", [False, True])
def test_what_was_said_is_read_with_the_date_that_its_file_says(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, many: bool
) -> None:
    """One minute before midnight; reading takes the clock over it."""
    reader = reader_of(stores, monkeypatch)
    stores.clock.at = datetime(2026, 3, 31, 23, 59, 59, 998_000, tzinfo=UTC)  # type: ignore[attr-defined]  # the clock of tests
    draft = Draft("I painted it!", origin=Origin("s1", 3, "Melanie"))

    (made,) = remember_many(stores, [draft]) if many else [remember(stores, draft)]

    assert isinstance(made, RememberResult)
    created = get_stored(stores, made.memory.id).memory.created
    assert reader.texts == [f"[{created.day} {created:%B} 2026] Melanie: I painted it!"]


def test_a_rebuild_asks_the_model_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    said = Origin("s1", 0, "Melanie")
    zone = timezone(timedelta(hours=-9))
    keep(stores, "I painted it!", origin=said, created=datetime(2023, 5, 8, 20, tzinfo=zone))
    keep(stores, LONG, title="A book", origin=replace(said, turn=1))
    keep(stores, "  spaces and\r\nline ends, \u00e9 and e\u0301  \n")
    remember_many(stores, [Draft(f"one of many, {number}", origin=said) for number in range(40)])
    one, two = keep(stores, "the cat sleeps"), keep(stores, "the moon is far")
    revise(stores, one.id, to(title="Cats", content="the cat wakes"))
    merge(stores, one.id, two.id, content="the cat sees the moon")
    stores.minds.embedder.flush()  # type: ignore[union-attr]  # it is there
    reader = reader_of(stores, monkeypatch)

    rebuild(stores)

    assert reader.texts == []
    assert stores.search.counts().unembedded == 0
    close(stores)
    assert reopened(stores, home).index.search.counts().unembedded == 0


def test_revising_a_part_of_a_long_text_reads_only_what_is_new(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = keep(stores, LONG)
    reader = reader_of(stores, monkeypatch)

    revise(stores, memory.id, to(content=LONG.replace("word8 word8", "other words", 1)))

    assert len(reader.texts) == 1
    assert "other words" in reader.texts[0]


def test_a_change_that_the_model_would_not_see_reads_nothing(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = keep(stores, "the cat sleeps", title="Cats")
    reader = reader_of(stores, monkeypatch)

    revise(stores, memory.id, to(tier=Tier.CORE.value, confidence=0.5, space="home"))

    assert reader.texts == []
    assert nearest(stores, "the cat sleeps") == memory.id
    assert stores.search.unembedded_ids(10) == []


def test_another_tag_is_read(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = keep(stores, "the cat sleeps", title="Cats")
    reader = reader_of(stores, monkeypatch)

    revise(stores, memory.id, to(tags=["animals", "about_self"]))

    assert reader.texts == ["Cats. (animals) the cat sleeps"]


def test_another_title_is_read(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = keep(stores, "the cat sleeps", title="Cats")
    reader = reader_of(stores, monkeypatch)

    revise(stores, memory.id, to(title="On cats"))

    assert reader.texts == ["On cats. the cat sleeps"]


class Deaf(FakeEmbedder):
    """A model that went away."""

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        raise MindDown(self.name, "away")


def test_a_model_that_went_away_reads_later(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = keep(stores, "the cat sleeps")
    with monkeypatch.context() as away:
        away.setattr(stores.minds.embedder, "_embedder", Deaf())
        assert "away" in in_words(revise(stores, memory.id, to(content=LONG)).notes)[0]
        (stores.vault.root / "by-hand.md").write_text("a text by hand\n", encoding="utf-8")
        assert in_words(reconcile(stores).notes) == [
            "kept without a vector, found by its words only: fake-1: away"
        ]
        assert embed_missing(stores) == 0
        assert len(stores.search.unembedded_ids(10)) == 2

    assert embed_missing(stores) == 2
    assert nearest(stores, "word8 word8") == memory.id


@pytest.mark.parametrize(
    "write",
    [
        lambda stores, memory, other: remember(stores, Draft("the dog barks")),
        lambda stores, memory, other: revise(stores, memory, to(content="the cat purrs")),
        lambda stores, memory, other: revise(
            stores,
            memory,
            to(
                content="the cat purrs",
                claim={"subject": "cat", "attribute": "mood", "value": "good"},
            ),
        ),
        lambda stores, memory, other: merge(stores, memory, other, content="the cat purrs"),
        lambda stores, memory, other: write_by_hand(stores, "a text by hand\n"),
    ],
    ids=["remember", "revise", "revise a claim", "merge", "reconcile"],
)
def test_a_text_that_the_model_did_not_read_is_noted_as_without_vector(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, write: Callable[[Stores, str, str], Any]
) -> None:
    memory, other = keep(stores, "the cat sleeps").id, keep(stores, "a cat is asleep").id
    monkeypatch.setattr(stores.minds.embedder, "_embedder", Deaf())

    notes = write(stores, memory, other).notes

    assert list(notes) == [Cause(NoteKind.WITHOUT_VECTOR, {"why": "fake-1: away"})]


def write_by_hand(stores: Stores, text: str) -> ReconcileResult:
    (stores.vault.root / "by-hand.md").write_text(text, encoding="utf-8")
    return reconcile(stores)


class Stop(Exception):
    """Somebody wants to end."""


def test_long_texts_do_not_keep_the_daemon_from_ending(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty books are not read in one go: after the first few it asks whether to go on."""
    without = replace(stores, minds=Minds(None, "none yet"))
    books = [Draft(f"Book {number}. {LONG * 4}") for number in range(30)]
    remember_many(without, books)
    reader = reader_of(stores, monkeypatch)

    def stop(done: int, total: int) -> None:
        raise Stop

    with pytest.raises(Stop):
        embed_missing(stores, stop)

    left = stores.search.counts().unembedded
    assert 0 < left < 30
    assert embed_missing(stores) == left
    assert len(reader.texts) == len(set(reader.texts))


@given(sizes=st.lists(st.integers(0, 50)), most=st.integers(1, 9), most_size=st.integers(1, 100))
def test_portions_hold_everything_in_order_and_no_more_than_they_may(
    sizes: list[int], most: int, most_size: int
) -> None:
    made = [list(each) for each in split_by_size(sizes, lambda size: size, most, most_size)]

    assert [size for portion in made for size in portion] == sizes
    for portion in made:
        assert 1 <= len(portion) <= most
        assert sum(portion) <= most_size or len(portion) == 1
