"""Remember: one file, one row, one vector, and the first memory when the text is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.errors import IdTaken, KeyReused, NoSuchMemory, SelfLink
from madeleine.minds.cache import CachedEmbedder, EmbeddingCache
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.port import Minds
from madeleine.model.draft import Draft
from madeleine.model.embedding import Passage, PassageEmbedding
from madeleine.model.memory import Connection, Origin
from madeleine.model.query import Filter
from madeleine.model.words import ABOUT_SELF, Edge, MemoryType, Tier
from madeleine.write.config import WriteConfig
from madeleine.write.identity import SELF_ID
from madeleine.write.remember import RememberResult, remember
from madeleine.write.remember_many import remember_many
from madeleine.write.resolve import get_stored
from madeleine.write.show import show
from madeleine.write.stores import Stores, VerbConfig
from tests.fakes import FakeClock, close, keep, make_stores, reopened, vault_bytes
from tests.sentences import in_words


def test_remembering_writes_one_file_that_says_it(stores: Stores) -> None:
    memory = keep(stores, "Lives in Dublin", title="Home", tags=("location",), space="atlas")

    files = vault_bytes(stores)
    assert len(files) == 1
    (name, data), *_ = files.items()
    assert name == f"fact_home_{memory.short_id}.md"
    assert b"Lives in Dublin" in data
    assert get_stored(stores, memory.short_id).memory == memory


def test_remembering_the_same_text_twice_names_the_first(stores: Stores) -> None:
    first = keep(stores, "Prefers tea", space="home")

    again = remember(stores, Draft("Prefers   tea\n", space="home"))

    assert again.existing
    assert again.memory.id == first.id
    assert "already known" in in_words(again.notes)[0]
    assert len(vault_bytes(stores)) == 1


def test_the_same_text_in_another_space_is_another_memory(stores: Stores) -> None:
    first = keep(stores, "Uses tabs", space="one")

    assert keep(stores, "Uses tabs", space="two").id != first.id
    assert keep(stores, "Uses tabs").id != first.id


def test_the_same_words_said_elsewhere_in_a_conversation_are_kept(stores: Stores) -> None:
    first = keep(stores, "Thanks!", origin=Origin(session="s", turn=1))

    assert keep(stores, "Thanks!", origin=Origin(session="s", turn=9)).id != first.id
    assert keep(stores, "Thanks!", origin=Origin(session="s", turn=1)).id == first.id


def test_a_repeated_idempotency_key_returns_the_first_memory(stores: Stores) -> None:
    first = keep(stores, "Deploys on Fridays", idempotency_key="call-1")

    again = remember(stores, Draft("Deploys on Fridays", space="x", idempotency_key="call-1"))

    assert again.existing
    assert again.memory.id == first.id
    with pytest.raises(KeyReused):
        remember(stores, Draft("Another text", idempotency_key="call-1"))


def test_an_idempotency_key_survives_a_lost_index(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    first = keep(stores, "Deploys on Fridays", idempotency_key="call-1")

    fresh = reopened(stores, home, without_index=True)

    assert remember(fresh, Draft("Deploys on Fridays", idempotency_key="call-1")).memory == first
    close(fresh)


def test_an_id_of_the_callers_choice_is_kept_and_refused_for_another_text(stores: Stores) -> None:
    wanted = "97acbe8e-0000-4000-8000-000000000001"
    assert keep(stores, "one", id=wanted).id == wanted

    assert remember(stores, Draft("one", id=wanted)).existing
    with pytest.raises(IdTaken):
        remember(stores, Draft("two", id=wanted))


def test_ids_sharing_a_prefix_get_two_files(stores: Stores) -> None:
    keep(stores, "same title", id="97acbe8e-0000-4000-8000-000000000001", title="T")
    keep(stores, "same title too", id="97acbe8e-0000-4000-8000-000000000002", title="T")

    assert len(vault_bytes(stores)) == 2


def test_a_draft_is_linked_to_what_it_names_by_short_id(stores: Stores) -> None:
    target = keep(stores, "Chose SQLite over Postgres")

    link = Connection(target.short_id, Edge.SUPPORTS, 0.8, "it says so")
    linked = keep(stores, "One file is easy to back up", connections=(link, link))

    assert [(c.target, c.edge, c.weight) for c in linked.connections] == [
        (target.id, Edge.SUPPORTS, 0.8)
    ]


def test_a_link_to_nothing_writes_nothing(stores: Stores) -> None:
    with pytest.raises(NoSuchMemory):
        keep(stores, "orphan", connections=(Connection("deadbeef"),))

    assert vault_bytes(stores) == {}


def test_a_link_to_itself_is_refused(stores: Stores) -> None:
    wanted = "97acbe8e-0000-4000-8000-000000000001"

    with pytest.raises(SelfLink):
        keep(stores, "an ouroboros", id=wanted, connections=(Connection(wanted.upper()),))

    assert vault_bytes(stores) == {}


def test_close_texts_are_linked_and_distant_ones_are_not(stores: Stores) -> None:
    near = keep(stores, "the atlas service stores its data in a sqlite database file")
    keep(stores, "grandmother's apple pie needs six eggs")

    memory = keep(stores, "the atlas service stores its data in one sqlite database file")

    assert [c.target for c in memory.connections] == [near.id]
    assert memory.connections[0].edge is Edge.RELATED_TO
    assert memory.connections[0].weight >= 0.65


class OneScript(FakeEmbedder):
    """A model that makes the same of every text in a script other than ASCII, and knows it."""

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        return [self._of(passage) for passage in passages]

    def _of(self, passage: Passage) -> PassageEmbedding:
        if passage.text.isascii():
            return super().read([passage])[0]
        return replace(super().read([Passage("unknown", 0, 7)])[0], known=0.2)


def test_texts_that_the_model_cannot_read_are_not_linked_for_likeness(tmp_path: Path) -> None:
    plain = make_stores(tmp_path / "home")
    cache = EmbeddingCache.open(tmp_path / "traces.db")
    mind = CachedEmbedder(OneScript(), cache)
    stores = replace(plain, minds=Minds(mind))

    for text in ("猫の名前はミケです", "鍵は引き出しの中"):
        assert keep(stores, text).connections == ()
    many = remember_many(stores, [Draft("ราคาน้ำมันวันนี้"), Draft("поезд уходит утром")])

    assert [each.memory.connections for each in many if isinstance(each, RememberResult)] == [
        (),
        (),
    ]
    assert stores.search.counts().unembedded == 0
    cache.close()
    close(plain)


def test_linking_across_spaces_needs_more(tmp_path: Path) -> None:
    """The documented penalty of 0.1: what is just near enough at home is not abroad."""
    one, other = "alpha beta gamma delta", "alpha beta gamma epsilon"
    stores = make_stores(tmp_path / "probe")
    keep(stores, one, space="a")
    assert stores.minds.embedder is not None
    vector = stores.minds.embedder.ask(other).vector
    hit = stores.search.search_vector(vector, Filter(), stores.clock.now(), 1)[0]
    close(stores)
    config = VerbConfig(write=WriteConfig(link_threshold=hit.score - 0.05))

    for name, space, links in (("same", "a", 1), ("cross", "b", 0)):
        stores = make_stores(tmp_path / name, config=config)
        keep(stores, one, space="a")
        assert len(keep(stores, other, space=space).connections) == links
        close(stores)


def test_about_self_makes_one_self_that_defines_the_memory(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    memory = keep(stores, "Lives in Dublin", tags=(ABOUT_SELF,), about_self=True)
    keep(stores, "Prefers tea", tags=(ABOUT_SELF,), about_self=True)

    for _ in range(2):
        stores = reopened(stores, home, without_index=True)
        keep(stores, "Rides a bicycle", tags=(ABOUT_SELF,), about_self=True)

    selves = [m for m in stores.search.listing(Filter(), stores.clock.now(), 50) if m.id == SELF_ID]
    assert [(m.type, m.tier, m.source) for m in selves] == [
        (MemoryType.PERSON, Tier.CORE, "system:self")
    ]
    incoming = [e for e in show(stores, memory.id).edges if e.source == SELF_ID]
    assert [e.connection.edge for e in incoming] == [Edge.DEFINES]
    close(stores)


def test_the_core_cap_demotes_the_least_important_and_spares_the_self(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", config=VerbConfig(write=WriteConfig(core_cap=2)))
    keep(stores, "about me", tags=(ABOUT_SELF,), about_self=True)
    first = keep(stores, "first of the core", tier=Tier.CORE)
    keep(stores, "second of the core", tier=Tier.CORE)

    result = remember(stores, Draft("third of the core", tier=Tier.CORE))

    tiers = {m.content: m.tier for m in stores.search.listing(Filter(), stores.clock.now(), 10)}
    assert sum(tier is Tier.CORE for tier in tiers.values()) == 2  # the self is one of them
    assert tiers["third of the core"] is Tier.CORE
    assert "core is full" in in_words(result.notes)[0]
    assert get_stored(stores, first.id).memory.tier is Tier.WORKING
    assert stores.search.memories([SELF_ID])[SELF_ID].tier is Tier.CORE
    close(stores)


def test_without_a_model_memories_are_kept_and_it_is_said(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home, with_model=False)

    result = remember(stores, Draft("found by its words only"))

    assert "without a vector" in in_words(result.notes)[0]
    close(stores)
    again = make_stores(home)
    assert again.index.search.unembedded_ids(10) == [result.memory.id]
    close(again)


def test_many_drafts_get_one_answer_each_whatever_becomes_of_the_others(stores: Stores) -> None:
    one = "97acbe8e-0000-4000-8000-000000000001"
    drafts = [
        Draft("first", id=one),
        Draft("second", connections=(Connection("nowhere1"),)),
        Draft("third", connections=(Connection(one, Edge.SUPPORTS),)),
        Draft("third"),
    ]

    outcomes = remember_many(stores, drafts)

    assert isinstance(outcomes[1], NoSuchMemory)
    assert [getattr(o, "existing", None) for o in outcomes] == [False, None, False, True]
    assert len(vault_bytes(stores)) == 2


def test_created_may_be_given_for_imports(stores: Stores) -> None:
    then = FakeClock().at.replace(year=2020)

    memory = keep(stores, "long ago", created=then)

    assert memory.created == then
    assert replace(memory, usage=memory.usage) == get_stored(stores, memory.id).memory
