"""Spreading activation: what hangs on a good answer comes along, and says on what."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.model.event import EventKind
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import ABOUT_SELF, ACTIVATION_BY_EDGE, Edge, MemoryType, Tier
from madeleine.rules.fusion import (
    CONFIDENCE_FLOOR,
    OTHER_SPACE_FACTOR,
    OUTDATED_FACTOR,
    RECENCY_BOOST,
    display_score,
    spread_score,
)
from madeleine.write.config import RecallConfig, WriteConfig
from madeleine.write.connections import link
from madeleine.write.forget import forget
from madeleine.write.record import new_event, record_events
from madeleine.write.revise import retire
from madeleine.write.stores import Stores
from tests.fakes import NOON, close, keep, make_stores
from tests.recall.asking import ask, connect, hit_of, keep_many, services
from tests.sentences import in_words

QUESTION = "when does the harbour open?"
STRANGERS = ("quay", "crane", "pilot", "tug", "buoy", "winch", "anchor", "keel", "mast", "sail")


@pytest.fixture
def harbour(tmp_path: Path) -> Iterator[Stores]:
    """Stores without a model: what shares no word with the question comes over a connection
    or not at all."""
    opened = make_stores(tmp_path / "home", with_model=False)
    yield opened
    close(opened)


def seed_of(stores: Stores) -> Memory:
    return keep(stores, "the harbour opens at nine")


def ids(stores: Stores, **fields: object) -> list[str]:
    return [hit.memory.id for hit in ask(stores, QUESTION, **fields).hits]


def test_a_neighbour_enters_with_its_reason(harbour: Stores) -> None:
    seed = seed_of(harbour)
    backing = keep(harbour, "a notice at the pier says so")
    backed = keep(harbour, "fish is sold from ten")
    connect(harbour, backing, Edge.SUPPORTS, seed, 1.0)
    connect(harbour, seed, Edge.DEPENDS_ON, backed, 1.0)

    recalled = ask(harbour, QUESTION)

    assert recalled.hits[0].memory.id == seed.id
    assert in_words(hit_of(backing, recalled).reasons) == (f"supports {seed.short_id}",)
    assert in_words(hit_of(backed, recalled).reasons) == (f"{seed.short_id} depends on it",)


def test_what_no_search_would_draw_comes_over_a_connection(harbour: Stores) -> None:
    """Among so many, only what shares a word with the question is compared with it."""
    keep_many(harbour, services(320))
    seed = seed_of(harbour)
    far = keep(harbour, "fish is sold from ten", space="atlas", tier=Tier.ARCHIVAL)
    connect(harbour, far, Edge.PART_OF, seed)

    hit = hit_of(far, ask(harbour, QUESTION, explain=True))

    assert in_words(hit.reasons) == (f"part of {seed.short_id}", "archival tier")
    assert (hit.match, hit.passage) == ({}, None)
    assert hit.explained is not None
    assert (hit.explained.head, hit.explained.chance) == (None, None)
    assert display_score(hit.explained.inherited or 0) == hit.score


@pytest.mark.parametrize("edge", list(Edge))
def test_each_edge_passes_on_its_documented_share(harbour: Stores, edge: Edge) -> None:
    seed = seed_of(harbour)
    neighbour = keep(harbour, "fish is sold from ten")
    connect(harbour, neighbour, edge, seed, 0.8)

    recalled = ask(harbour, QUESTION, explain=True)

    passed = spread_score(hit_of(seed, recalled).score, 0.8, ACTIVATION_BY_EDGE[edge], 0.5)
    hit = hit_of(neighbour, recalled)
    assert hit.explained is not None
    boosted = passed * math.prod(hit.explained.boosts.values())
    assert hit.score == pytest.approx(boosted, abs=2e-4)
    assert display_score(hit.explained.inherited or 0) == hit.score


STANDINGS: list[tuple[str, dict[str, object], float]] = [
    ("tier", {"tier": Tier.CORE}, 1.10),
    ("tier", {"tier": Tier.ARCHIVAL}, 0.90),
    ("space", {"space": "elsewhere"}, OTHER_SPACE_FACTOR),
    ("space", {"space": "atlas"}, 1.0),
    ("confidence", {"confidence": 0.0}, CONFIDENCE_FLOOR),
    ("recency", {"created": NOON - timedelta(days=7)}, 1 + RECENCY_BOOST / 2),
    ("validity", {"valid_until": NOON - timedelta(days=1)}, OUTDATED_FACTOR),
]


@pytest.mark.few(6)
@pytest.mark.parametrize("crowd", [0, 320])
@pytest.mark.parametrize(("boost", "fields", "factor"), STANDINGS)
def test_the_boosts_of_a_neighbour_act_on_what_it_inherits(
    harbour: Stores, boost: str, fields: dict[str, object], factor: float, crowd: int
) -> None:
    """Whether it was compared with the question itself or not."""
    keep_many(harbour, services(crowd))
    seed = seed_of(harbour)
    plain = keep(harbour, "eels are sold from eleven")
    odd = keep(harbour, "fish is sold from ten", **fields)
    for each in (plain, odd):
        connect(harbour, each, Edge.PART_OF, seed)

    recalled = ask(harbour, QUESTION, explain=True, outdated=True, space="atlas", limit=20)

    one, other = hit_of(odd, recalled).explained, hit_of(plain, recalled).explained
    assert one is not None
    assert other is not None
    assert one.boosts[boost] == pytest.approx(factor, abs=1e-4)
    ratio = factor / other.boosts[boost]
    assert hit_of(odd, recalled).score / hit_of(plain, recalled).score == pytest.approx(
        ratio, abs=0.01
    )


def test_use_and_importance_act_on_what_is_inherited_too(harbour: Stores) -> None:
    keep_many(harbour, services(320))
    seed = seed_of(harbour)
    used, fresh = keep(harbour, "fish is sold from ten"), keep(harbour, "eels from eleven")
    for each in (used, fresh):
        connect(harbour, each, Edge.PART_OF, seed)
    for session in range(5):
        ask(harbour, used.id, touch=True, limit=1, session_id=f"s{session}")
    scores = {used.id: {"importance": 0.9}}
    record_events(
        harbour, [new_event(harbour, EventKind.SCORED, {"scores": scores})], durable=False
    )

    recalled = ask(harbour, QUESTION, explain=True)

    explained = hit_of(used, recalled).explained
    assert explained is not None
    assert explained.boosts["use"] > 1
    assert explained.boosts["importance"] == pytest.approx(1.04, abs=1e-4)
    assert hit_of(used, recalled).score > hit_of(fresh, recalled).score


def test_the_documented_factors_order_the_neighbours(harbour: Stores) -> None:
    stores = replace(
        harbour, config=replace(harbour.config, recall=RecallConfig(activation_per_seed=10))
    )
    seed = seed_of(stores)
    edges = (Edge.CONTRADICTS, Edge.RELATED_TO, Edge.EVOLVED_FROM, Edge.SUPPORTS)
    kept = {edge: keep(stores, word) for edge, word in zip(edges, STRANGERS, strict=False)}
    for edge, memory in kept.items():
        connect(stores, memory, edge, seed, 1.0)

    expected = [kept[edge].id for edge in reversed(edges)]
    assert ids(stores) == [seed.id, *expected]


def test_a_stronger_connection_passes_on_more(harbour: Stores) -> None:
    seed = seed_of(harbour)
    weak, strong = keep(harbour, "quay"), keep(harbour, "crane")
    connect(harbour, weak, Edge.PART_OF, seed, 0.4)
    connect(harbour, strong, Edge.PART_OF, seed, 0.9)

    assert ids(harbour) == [seed.id, strong.id, weak.id]


@pytest.mark.parametrize(
    "filters",
    [
        {"types": (MemoryType.FACT,)},
        {"tiers": (Tier.WORKING,)},
        {"spaces": (None,)},
        {"tags": ("kept",)},
        {"created_after": NOON - timedelta(days=1)},
    ],
)
@pytest.mark.proves("I11")
def test_a_neighbour_has_to_pass_the_filter(harbour: Stores, filters: dict[str, object]) -> None:
    seed = keep(harbour, "the harbour opens at nine", tags=("kept",))
    foreign = keep(
        harbour,
        "fish is sold from ten",
        type=MemoryType.DECISION,
        tier=Tier.ARCHIVAL,
        space="atlas",
        created=NOON - timedelta(days=9),
    )
    connect(harbour, foreign, Edge.PART_OF, seed, 1.0)

    assert foreign.id in ids(harbour)
    assert ids(harbour, **filters) == [seed.id]


def test_a_neighbour_that_is_no_longer_true_stays_out_unless_asked_for(harbour: Stores) -> None:
    seed = seed_of(harbour)
    old = keep(harbour, "fish is sold from ten")
    connect(harbour, old, Edge.PART_OF, seed, 1.0)
    retire(harbour, old.id)

    assert ids(harbour) == [seed.id]
    assert ids(harbour, outdated=True) == [seed.id, old.id]


@pytest.mark.parametrize("crowd", [0, 320])
def test_a_neighbour_that_is_no_longer_true_inherits_half(harbour: Stores, crowd: int) -> None:
    """Whether it was compared with the question itself or not."""
    keep_many(harbour, services(crowd))
    seed = seed_of(harbour)
    old, current = keep(harbour, "fish is sold from ten"), keep(harbour, "eels from eleven")
    for each in (old, current):
        connect(harbour, each, Edge.PART_OF, seed)
    retire(harbour, old.id)

    recalled = ask(harbour, QUESTION, outdated=True)

    half = hit_of(current, recalled).score / 2
    assert hit_of(old, recalled).score == pytest.approx(half, abs=2e-4)
    assert any("no longer true" in reason for reason in in_words(hit_of(old, recalled).reasons))


def test_a_link_drawn_for_likeness_alone_passes_nothing_on(stores: Stores) -> None:
    """What is like a good answer has been compared with the question itself."""
    config = replace(stores.config, write=WriteConfig(link_threshold=0.5))
    linking = replace(stores, config=config)
    seed = keep(linking, "the harbour opens at nine")
    alike = keep(linking, "the harbour opens at nine on Sundays")
    assert [each.by for each in alike.connections] == ["remember"]
    assert alike.connections[0].target == seed.id

    recalled = ask(linking, QUESTION)

    assert not any("related to" in why for hit in recalled.hits for why in in_words(hit.reasons))


def test_a_connection_to_nothing_does_nothing(harbour: Stores) -> None:
    seed = seed_of(harbour)
    gone = keep(harbour, "fish is sold from ten")
    connect(harbour, seed, Edge.PART_OF, gone, 1.0)
    forget(harbour, gone.id)

    recalled = ask(harbour, QUESTION)

    assert [hit.memory.id for hit in recalled.hits] == [seed.id]
    assert in_words(recalled.notes) == ("text search only: none in this test",)


def test_only_the_first_few_of_a_hits_neighbours_come_along(harbour: Stores) -> None:
    seed = seed_of(harbour)
    for number, word in enumerate(STRANGERS):
        memory = keep(harbour, word)
        connect(harbour, memory, Edge.PART_OF, seed, 0.9 - number / 100)

    found = [hit.memory.content for hit in ask(harbour, QUESTION).hits]

    assert found == [seed.content, *STRANGERS[: RecallConfig().activation_per_seed]]


@pytest.mark.proves("I11")
def test_neighbours_that_do_not_pass_take_nobodys_place(harbour: Stores) -> None:
    """The one that passes the filter is found behind many stronger ones that do not."""
    seed = seed_of(harbour)
    for word in STRANGERS:
        memory = keep(harbour, word, type=MemoryType.GOAL)
        connect(harbour, memory, Edge.SUPPORTS, seed, 1.0)
    wanted = keep(harbour, "fish is sold from ten")
    connect(harbour, wanted, Edge.CONTRADICTS, seed, 0.5)

    assert ids(harbour, types=(MemoryType.FACT,)) == [seed.id, wanted.id]


def test_only_the_best_hits_pass_anything_on(harbour: Stores) -> None:
    hits = [keep(harbour, f"the harbour opens{' at pier nine' * n}") for n in range(8)]
    far = keep(harbour, "fish is sold from ten")
    worst = ask(harbour, QUESTION).hits[-1].memory
    assert len(hits) > RecallConfig().activation_seeds
    connect(harbour, far, Edge.PART_OF, worst, 1.0)

    assert far.id not in ids(harbour)


def test_a_contrast_passes_nothing_on(harbour: Stores) -> None:
    seed = seed_of(harbour)
    far = keep(harbour, "fish is sold from ten")
    link(harbour, far.id, Connection(seed.id, Edge.CONTRADICTS, 1.0, by="creative"))

    assert far.id not in ids(harbour)

    link(harbour, far.id, Connection(seed.id, Edge.CONTRADICTS, 1.0, by="user"))
    assert far.id in ids(harbour)


def test_a_neighbour_that_fits_by_itself_keeps_its_own_score(harbour: Stores) -> None:
    seed = seed_of(harbour)
    also = keep(harbour, "the harbour opens at nine, and at ten on Sundays")
    before = hit_of(also, ask(harbour, QUESTION))
    connect(harbour, also, Edge.CONTRADICTS, seed, 0.1)

    after = hit_of(also, ask(harbour, QUESTION))

    assert after.score == pytest.approx(before.score, abs=0.001)
    assert not any("contradicts" in reason for reason in in_words(after.reasons))


def test_a_memory_counts_once_however_many_connections_lead_to_it(harbour: Stores) -> None:
    seed, other = seed_of(harbour), keep(harbour, "the harbour opens for boats")
    both = keep(harbour, "fish is sold from ten")
    for target, edge in ((seed, Edge.SUPPORTS), (seed, Edge.RELATED_TO), (other, Edge.PART_OF)):
        connect(harbour, both, edge, target, 1.0)

    recalled = ask(harbour, QUESTION)
    best = recalled.hits[0].memory

    assert [hit.memory.id for hit in recalled.hits].count(both.id) == 1
    (reason,) = in_words(hit_of(both, recalled).reasons)
    assert reason.endswith(best.short_id)


def test_the_self_leads_to_what_describes_the_user(harbour: Stores) -> None:
    """The arrow stands in no file, and carries like any other."""
    mine = keep(harbour, "fish for supper", about_self=True, tags=(ABOUT_SELF,))
    the_self = harbour.index.graph.self_id()
    assert the_self is not None

    recalled = ask(harbour, the_self)

    assert f"{the_self[:8]} defines it" in in_words(hit_of(mine, recalled).reasons)


def test_connections_written_with_a_draft_carry_too(harbour: Stores) -> None:
    seed = seed_of(harbour)
    part = keep(harbour, "fish is sold from ten", connections=(Connection(seed.id, Edge.PART_OF),))

    assert in_words(hit_of(part, ask(harbour, QUESTION)).reasons) == (f"part of {seed.short_id}",)
