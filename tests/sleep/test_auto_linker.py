"""Linking: what the judge says two memories are to each other, drawn once and with weight."""

from __future__ import annotations

from datetime import timedelta

import pytest

from madeleine.model.memory import Connection, Memory
from madeleine.model.query import RecallQuery
from madeleine.model.verdict import Relation
from madeleine.model.words import Edge, Tier
from madeleine.recall.recall import recall
from madeleine.sleep.jobs.auto_linker import make_auto_linker
from madeleine.write.connections import link, unlink
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, keep, vault_bytes
from tests.sleep.scripted import ScriptedJudge, always, context, says

RED = "red apples grow in the garden behind the house"
GREEN = "green pears grow in the garden behind the house"
BLUE = "blue plums grow in the garden behind the house"


def apart(stores: Stores, content: str, days: float = 0, **fields: object) -> Memory:
    """A memory without the connections that similarity suggests."""
    memory = keep(stores, content, created=NOON + timedelta(days=days), **fields)
    for each in memory.connections:
        unlink(stores, memory.id, each.target)
    return stores.search.memories([memory.id])[memory.id]


def arrows(stores: Stores, *memories: Memory) -> list[tuple[str, str, Edge]]:
    found = stores.search.memories([each.id for each in memories])
    return [(each.id, c.target, c.edge) for each in found.values() for c in each.connections]


def says_always(relation: Relation, sure: float = 0.95, **more: object) -> ScriptedJudge:
    return ScriptedJudge(always(says(relation, sure, **more)))


@pytest.mark.parametrize(
    ("relation", "edge"),
    [
        (Relation.SUPPORTS, Edge.SUPPORTS),
        (Relation.PART_OF, Edge.PART_OF),
        (Relation.DEPENDS_ON, Edge.DEPENDS_ON),
        (Relation.TENSION, Edge.CONTRADICTS),
        (Relation.RELATED_TO, Edge.RELATED_TO),
    ],
)
def test_a_verdict_becomes_the_arrow_it_names(
    stores: Stores, relation: Relation, edge: Edge
) -> None:
    old, new = apart(stores, RED, -9), apart(stores, GREEN, -1)

    context(stores, make_auto_linker(), says_always(relation))

    assert arrows(stores, old, new) == [(new.id, old.id, edge)]


def test_the_arrow_starts_where_the_judge_says(stores: Stores) -> None:
    old, new = apart(stores, RED, -9), apart(stores, GREEN, -1)

    context(stores, make_auto_linker(), says_always(Relation.PART_OF, from_older=True))

    assert arrows(stores, old, new) == [(old.id, new.id, Edge.PART_OF)]


@pytest.mark.parametrize("relation", [Relation.NONE, Relation.DUPLICATE, Relation.EVOLUTION])
def test_what_is_no_connection_draws_none(stores: Stores, relation: Relation) -> None:
    old, new = apart(stores, RED), apart(stores, GREEN)

    context(stores, make_auto_linker(), says_always(relation))

    assert arrows(stores, old, new) == []


def test_a_connection_says_why_who_and_when(stores: Stores) -> None:
    apart(stores, RED, -9)
    new = apart(stores, GREEN, -1)

    context(stores, make_auto_linker(), says_always(Relation.SUPPORTS, 0.93))

    (arrow,) = stores.search.memories([new.id])[new.id].connections
    assert (arrow.reason, arrow.by, arrow.weight) == ("so it is written", "auto_linker", 0.93)
    assert arrow.at is not None


def test_a_link_made_at_night_spreads_activation(stores: Stores) -> None:
    target = apart(stores, "the kettle is kept under the stairs")
    source = apart(stores, RED)

    context(stores, make_auto_linker(), says_always(Relation.SUPPORTS), link_threshold=-1.0)

    found = recall(stores, RecallQuery("red apples in the garden"))
    reasons = {hit.memory.id: hit.reasons for hit in found.hits}
    assert source.id in reasons
    assert any("supports" in str(each) for each in reasons[target.id])


def test_even_a_strange_judge_draws_no_arrow_without_weight(stores: Stores) -> None:
    apart(stores, RED, -9)
    new = apart(stores, GREEN, -1)

    context(stores, make_auto_linker(), says_always(Relation.SUPPORTS, 0.0), link_at=0.0)

    (arrow,) = stores.search.memories([new.id])[new.id].connections
    assert arrow.weight > 0


@pytest.mark.parametrize("backwards", [True, False])
def test_what_somebody_connected_is_left_alone(stores: Stores, backwards: bool) -> None:
    old, new = apart(stores, RED), apart(stores, GREEN)
    source, target = (old, new) if backwards else (new, old)
    link(stores, source.id, Connection(target.id, Edge.RELATED_TO), by="ana")
    judge = says_always(Relation.SUPPORTS)

    context(stores, make_auto_linker(), judge)

    assert judge.asked == []
    assert arrows(stores, old, new) == [(source.id, target.id, Edge.RELATED_TO)]


def test_a_connection_for_likeness_alone_may_get_a_better_one(stores: Stores) -> None:
    keep(stores, RED)
    new = keep(stores, GREEN)
    assert [each.by for each in new.connections] == ["remember"]

    context(stores, make_auto_linker(), says_always(Relation.PART_OF))

    assert Edge.PART_OF in {edge for _, _, edge in arrows(stores, new)}


def test_that_two_are_related_is_not_said_twice(stores: Stores) -> None:
    keep(stores, RED)
    keep(stores, GREEN)
    before = vault_bytes(stores)

    context(stores, make_auto_linker(), says_always(Relation.RELATED_TO))

    assert vault_bytes(stores) == before


def test_other_projects_have_to_be_closer(stores: Stores) -> None:
    apart(stores, RED, -9, space="atlas")
    apart(stores, GREEN, -5, space="borealis")
    apart(stores, BLUE, -1, space="borealis")
    judge = says_always(Relation.SUPPORTS)

    context(stores, make_auto_linker(), judge, link_threshold=0.8)

    assert judge.asked == [(GREEN, BLUE)]


def test_what_sleeps_in_the_archive_is_not_linked(stores: Stores) -> None:
    apart(stores, RED, tier=Tier.ARCHIVAL)
    apart(stores, GREEN)
    judge = says_always(Relation.SUPPORTS)

    context(stores, make_auto_linker(), judge)

    assert judge.asked == []


def test_an_unsure_verdict_draws_nothing(stores: Stores) -> None:
    old, new = apart(stores, RED), apart(stores, GREEN)

    report = context(stores, make_auto_linker(), says_always(Relation.SUPPORTS, 0.7))

    assert arrows(stores, old, new) == []
    assert report.proposed == 0


def test_a_run_draws_so_many_and_the_next_one_goes_on(stores: Stores) -> None:
    memories = [apart(stores, text) for text in (RED, GREEN, BLUE)]
    judge = says_always(Relation.SUPPORTS)

    for expected in (1, 2, 3, 3):
        context(stores, make_auto_linker(), judge, link_edges=1)
        assert len(arrows(stores, *memories)) == expected


def test_mere_likeness_that_finds_no_room_does_not_wait_for_it(stores: Stores) -> None:
    memories = [apart(stores, text) for text in (RED, GREEN, BLUE)]
    judge = says_always(Relation.RELATED_TO)

    context(stores, make_auto_linker(), judge, link_edges=1)
    again = context(stores, make_auto_linker(), judge, link_edges=1)

    assert (again.looked, again.judged, again.applied) == (0, 0, 0)
    assert len(arrows(stores, *memories)) == 1


def test_what_says_more_than_likeness_is_drawn_first(stores: Stores) -> None:
    memories = [apart(stores, text) for text in (RED, GREEN, BLUE)]
    more, similarity = says(Relation.SUPPORTS, 0.9), says(Relation.RELATED_TO, 0.99)
    judge = ScriptedJudge(lambda pair: similarity if BLUE in pair.newer.content else more)

    context(stores, make_auto_linker(), judge, link_edges=1)

    assert [edge for _, _, edge in arrows(stores, *memories)] == [Edge.SUPPORTS]


def test_one_memory_gets_so_many_in_a_run(stores: Stores) -> None:
    memories = [apart(stores, f"{RED} {number}") for number in range(8)]

    context(stores, make_auto_linker(), says_always(Relation.SUPPORTS), link_edges_each=2)

    ends = [end for source, target, _ in arrows(stores, *memories) for end in (source, target)]
    assert max(ends.count(each.id) for each in memories) == 2


def test_a_second_night_changes_nothing_and_undo_takes_the_first_back(stores: Stores) -> None:
    for text in (RED, GREEN, BLUE):
        apart(stores, text)
    before = vault_bytes(stores)
    judge = says_always(Relation.DEPENDS_ON)

    report = context(stores, make_auto_linker(), judge)
    after = vault_bytes(stores)
    assert after != before
    assert context(stores, make_auto_linker(), judge).applied == 0
    assert vault_bytes(stores) == after
    undo(stores, report.run)

    assert vault_bytes(stores) == before
