"""No lock is held while a model is asked, and writers at once lose nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from madeleine.model.draft import Draft, MemoryLimits
from madeleine.model.embedding import Passage
from madeleine.model.memory import Connection
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.revision import read_revision
from madeleine.model.words import ABOUT_SELF, Edge
from madeleine.recall.recall import recall
from madeleine.write.connections import link
from madeleine.write.forget import forget, restore
from madeleine.write.merge import merge
from madeleine.write.reconcile import reconcile
from madeleine.write.remember import remember
from madeleine.write.remember_many import remember_many
from madeleine.write.resolve import get_stored
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import keep


def is_free(stores: Stores) -> bool:
    """Whether another thread could take the writers' lock right now."""

    def take() -> bool:
        taken = stores.writing.acquire(blocking=False)
        if taken:
            stores.writing.release()
        return taken

    with ThreadPoolExecutor(1) as other:
        return other.submit(take).result()


@pytest.mark.proves("I6")
def test_no_lock_is_held_while_the_model_thinks(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = keep(stores, "the cat sleeps").id, keep(stores, "the moon is far").id
    embedder = stores.minds.embedder
    assert embedder is not None
    seen: list[bool] = []
    inner = embedder._embedder  # type: ignore[attr-defined]  # the model behind the cache
    original, asking = type(inner).read, type(inner).ask

    def watched(self: object, passages: list[Passage]) -> object:
        seen.append(is_free(stores))
        return original(self, passages)

    def watched_asking(self: object, text: str) -> object:
        seen.append(is_free(stores))
        return asking(self, text)

    monkeypatch.setattr(type(inner), "read", watched)
    monkeypatch.setattr(type(inner), "ask", watched_asking)
    remember(stores, Draft("a new thing", tags=(ABOUT_SELF,), about_self=True))
    remember_many(stores, [Draft("many one"), Draft("many two")])
    revise(stores, one, read_revision({"content": "the cat wakes"}, MemoryLimits()))
    change = merge(stores, one, two, content="a wholly new text").change
    undo(stores, change)
    forget(stores, two)
    restore(stores, two)
    (stores.vault.root / "by-hand.md").write_text("a text by hand\n", encoding="utf-8")
    reconcile(stores)
    recall(stores, RecallQuery("who sleeps"))

    assert len(seen) >= 6
    assert all(seen)


def test_many_threads_writing_at_once_lose_nothing(stores: Stores) -> None:
    hub = keep(stores, "the hub of it all").id

    def work(number: int) -> str:
        memory = keep(stores, f"thought number {number} about topic {number % 7}")
        link(stores, memory.id, Connection(hub, Edge.PART_OF), by="test")
        revise(stores, memory.id, read_revision({"title": f"T{number}"}, MemoryLimits()))
        return memory.id

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(work, range(40)))

    assert len(set(ids)) == 40
    for number, memory_id in enumerate(ids):
        memory = get_stored(stores, memory_id).memory
        assert memory.title == f"T{number}"
        assert hub in [each.target for each in memory.connections]
    assert stores.search.count(Filter(), stores.clock.now()) == 41
    assert reconcile(stores).written == 0


def test_the_same_text_from_many_threads_becomes_one_memory(stores: Stores) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: remember(stores, Draft("only once")), range(16)))

    assert len({each.memory.id for each in made}) == 1
    assert sum(not each.existing for each in made) == 1


def test_many_threads_changing_one_memory_all_get_their_way(stores: Stores) -> None:
    texts = ("the moon is far", "apples are red", "tea is hot", "dogs bark at night")
    targets = [keep(stores, text).id for text in texts]
    source = keep(stores, "rockets are slow").id

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: link(stores, source, Connection(each, Edge.SUPPORTS)), targets))

    linked = {each.target for each in get_stored(stores, source).memory.connections}
    assert linked >= set(targets)
