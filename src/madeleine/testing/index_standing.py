"""The port's promises to the jobs: standings, neighbours, what was seen, what was judged."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from madeleine.index.graph import CrossSpaceEdge
from madeleine.index.port import Index, IndexBatch
from madeleine.model.digest import text_digest
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import DEFAULT_STABILITY_DAYS, Connection, Memory
from madeleine.model.query import Filter
from madeleine.model.vector import Vector
from madeleine.model.verdict import Relation, Verdict, verdict_to_json
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, Edge, MemoryType, Tier
from madeleine.rules.forgetting import PROTECTED_TAG
from madeleine.rules.usage import WHISPER_COUNT, MemoryUse
from madeleine.testing.engines import Maker
from madeleine.testing.making import NOON, event, keep, long_text, memory, memory_id, put, unit

ANY = Filter()
EAST, NORTH, UP = unit(1, 0, 0, 0), unit(0, 1, 0, 0), unit(0, 0, 1, 0)
NORTH_EAST = unit(1, 1, 0, 0)
NEARLY_EAST = unit(1, 0.1, 0, 0)


# -- standings -----------------------------------------------------------------------------


def test_an_empty_index_has_no_standings(index: Index) -> None:
    assert len(index.search.standings()) == 0
    assert index.search.standings().importance.shape == (0,)


def test_standings_tell_what_the_jobs_go_by(index: Index) -> None:
    born = NOON - timedelta(days=10)
    made = memory(
        1, created=born, type=MemoryType.GOAL, tier=Tier.CORE, space="atlas", source="agent:me"
    )
    keep(index, made, memory(2))
    index.write(
        IndexBatch(
            events=[
                event(EventKind.USED, 1, memory=memory_id(1), how="recalled", session="s"),
                event(EventKind.SCORED, 2, scores={memory_id(1): {"importance": 0.75}}),
            ]
        )
    )

    found = index.search.standings()

    assert list(found.ids) == [memory_id(1), memory_id(2)]
    assert list(found.spaces) == ["atlas", None]
    assert found.sources[0] == "agent:me"
    assert list(MemoryType)[found.types[0]] is MemoryType.GOAL
    assert list(Tier)[found.tiers[0]] is Tier.CORE
    assert found.created[0] == born.timestamp() * 1_000_000
    assert found.last_accessed[0] == NOON.timestamp() * 1_000_000
    assert found.last_accessed[1] == found.created[1]
    assert found.uses.tolist() == [1, 0]
    assert found.stability[0] > 1
    assert found.stability[1] == 1
    assert found.importance.tolist() == [0.75, 0.5]


def test_standings_tell_confidence_relevance_and_protection(index: Index) -> None:
    keep(index, memory(1, confidence=0.25, tags=(PROTECTED_TAG,)), memory(2), memory(3))
    scored = [
        event(EventKind.SCORED, 1, scores={"relevance": {memory_id(1): 0.5, memory_id(2): 0.75}}),
        event(EventKind.SCORED, 2, 5, scores={"relevance": {memory_id(2): None}}),
    ]
    index.write(IndexBatch(events=scored))

    found = index.search.standings()

    assert found.confidence.tolist() == [0.25, 1.0, 1.0]
    assert found.protected.tolist() == [True, False, False]
    assert np.isnan(found.relevance).tolist() == [False, True, True]
    assert found.relevance[0] == 0.5
    assert found.relevance_at.tolist() == [scored[0].at.timestamp() * 1_000_000, 0, 0]


def test_scores_are_taken_either_way_round_and_the_newest_counts(index: Index) -> None:
    keep(index, memory(1), memory(2))
    one, two = memory_id(1), memory_id(2)
    index.write(
        IndexBatch(
            events=[
                event(EventKind.SCORED, 1, 9, scores={one: {"relevance": 0.9, "importance": 0.1}}),
                event(EventKind.SCORED, 2, 5, scores={"relevance": {one: 0.2, two: 1}}),
            ]
        )
    )

    known = index.search.memories([one, two])

    assert (known[one].relevance, known[one].importance) == (0.9, 0.1)
    assert (known[two].relevance, known[two].importance) == (1.0, 0.5)


def test_a_part_of_standings_holds_the_same_places(index: Index) -> None:
    arrow = (Connection(memory_id(1), Edge.SUPPORTS, by="agent:me"),)
    keep(index, memory(1), *(memory(number, connections=arrow) for number in range(2, 8)))
    whole = index.search.standings()

    first, rest = whole.part(0, 3), whole.part(3, 100)

    assert [*first.ids, *rest.ids] == list(whole.ids)
    assert [*first.connections, *rest.connections] == [6, 1, 1, 1, 1, 1, 1]
    assert (len(first), len(rest)) == (3, 4)


def test_arrows_between_a_space_and_none_are_told_either_way(index: Index) -> None:
    out = (Connection(memory_id(2), Edge.SUPPORTS, by="agent:me"), Connection(memory_id(9)))
    back = (Connection(memory_id(1), Edge.PART_OF), Connection(memory_id(3)))
    keep(
        index,
        memory(1, source="import:notes", connections=out),
        memory(2, space="atlas", connections=back),
        memory(3, space="sea"),
        memory(4, connections=(Connection(memory_id(1)),)),
    )

    assert index.graph.across_spaces() == [
        CrossSpaceEdge(memory_id(1), "import:notes", memory_id(2), "atlas", Edge.PART_OF, None),
        CrossSpaceEdge(
            memory_id(1), "import:notes", memory_id(2), "atlas", Edge.SUPPORTS, "agent:me"
        ),
    ]


def test_only_connections_that_somebody_meant_count(index: Index) -> None:
    drawn = (
        Connection(memory_id(2), Edge.SUPPORTS, by="agent:me"),
        Connection(memory_id(2), Edge.PART_OF),
        Connection(memory_id(3), Edge.RELATED_TO, by="remember"),
        Connection(memory_id(3), Edge.SUPPORTS, by="auto_linker"),
        Connection(memory_id(9), Edge.SUPPORTS, by="agent:me"),
    )
    keep(index, memory(1, connections=drawn), memory(2), memory(3))

    assert index.search.standings().connections.tolist() == [2, 2, 0]


def test_the_self_and_what_is_about_it_are_marked(index: Index) -> None:
    keep(index, memory(1, source=SELF_SOURCE), memory(2, tags=(ABOUT_SELF,)), memory(3))

    found = index.search.standings()

    assert found.is_self.tolist() == [True, False, False]
    assert found.about_self.tolist() == [True, True, False]
    assert found.connections.tolist() == [0, 1, 0]


def test_pages_of_ids_hold_every_memory_once_in_order(index: Index) -> None:
    keep(index, *(memory(number) for number in range(11, 0, -1)))
    found: list[str] = []
    while page := index.search.ids_after(found[-1] if found else "", 4):
        found += page

    assert list(index.search.standings().ids) == found

    assert found == [memory_id(number) for number in range(1, 12)]


def test_uses_are_told_once_for_each_session_and_day(index: Index) -> None:
    keep(index, memory(1), memory(2))
    uses = [
        event(EventKind.USED, number, minutes, memory=memory_id(1), how="recalled", session=session)
        for number, (minutes, session) in enumerate([(5, "a"), (1, "a"), (9, "b"), (2_000, "a")])
    ]
    index.write(IndexBatch(events=uses))

    found = index.log.uses([memory_id(1), memory_id(2)])

    times = [(1, "a"), (9, "b"), (2_000, "a")]
    assert found == {
        memory_id(1): [MemoryUse(NOON + timedelta(minutes=at), by) for at, by in times]
    }


def test_of_a_whisper_and_a_recall_in_one_session_and_day_the_recall_counts(index: Index) -> None:
    keep(index, *(memory(each, created=NOON - timedelta(days=1)) for each in (1, 2)))
    told = [(1, 1, "whispered"), (1, 5, "recalled"), (1, 9, "whispered"), (2, 1, "whispered")]
    uses = [
        event(EventKind.USED, number, at, memory=memory_id(which), how=how, session="s")
        for number, (which, at, how) in enumerate(told)
    ]
    index.write(IndexBatch(events=uses))

    found = index.log.uses([memory_id(1), memory_id(2)])

    assert found[memory_id(1)] == [MemoryUse(NOON + timedelta(minutes=5), "s")]
    assert found[memory_id(2)] == [MemoryUse(NOON + timedelta(minutes=1), "s", WHISPER_COUNT)]
    known = index.search.memories([memory_id(1), memory_id(2)])
    recalled, whispered = (known[memory_id(each)].usage for each in (1, 2))
    assert recalled.access_count == whispered.access_count == 1
    assert DEFAULT_STABILITY_DAYS < whispered.stability < recalled.stability


# -- neighbours ----------------------------------------------------------------------------


def near(index: Index, numbers: list[int], **how: object) -> dict[int, list[int]]:
    chosen, k, least = how.get("chosen", ANY), how.get("k", 10), how.get("least", -1.0)
    ids = [memory_id(number) for number in numbers]
    found = index.search.neighbours(ids, chosen, NOON, k, least)  # type: ignore[arg-type]
    number_of = {memory_id(number): number for number in range(1, 2_000)}
    return {number_of[each]: [number_of[hit.id] for hit in hits] for each, hits in found.items()}


def filled(index: Index, vectors: list[Vector | None]) -> None:
    puts = [put(memory(number), each) for number, each in enumerate(vectors, 1)]
    index.write(IndexBatch(puts=puts))


def test_neighbours_come_nearest_first_and_without_oneself(index: Index) -> None:
    filled(index, [EAST, NEARLY_EAST, NORTH_EAST, NORTH])

    assert near(index, [1, 4]) == {1: [2, 3, 4], 4: [3, 2, 1]}
    assert near(index, [1], k=1) == {1: [2]}
    assert near(index, [1], least=0.9) == {1: [2]}
    (best, *_) = index.search.neighbours([memory_id(1)], ANY, NOON, 3)[memory_id(1)]
    assert best.score == pytest.approx(float(EAST @ NEARLY_EAST), abs=1e-3)


def test_a_memory_without_a_vector_takes_part_in_no_pairing(index: Index) -> None:
    filled(index, [EAST, None, NEARLY_EAST])

    assert near(index, [1, 2]) == {1: [3]}


def test_neighbours_obey_the_filters_the_hits_obey(index: Index) -> None:
    vectors = [EAST, NEARLY_EAST, NORTH_EAST, NEARLY_EAST, NEARLY_EAST]
    made = [
        memory(1),
        memory(2, tier=Tier.ARCHIVAL),
        memory(3, space="atlas"),
        memory(4, type=MemoryType.GOAL, tags=("x",)),
        memory(5, superseded_by=memory_id(1)),
    ]
    pairs = zip(made, vectors, strict=True)
    index.write(IndexBatch(puts=[put(each, vector) for each, vector in pairs]))

    assert near(index, [1]) == {1: [2, 4, 3]}
    assert near(index, [1], chosen=Filter(tiers=(Tier.WORKING,))) == {1: [4, 3]}
    assert near(index, [1], chosen=Filter(spaces=("atlas",))) == {1: [3]}
    assert near(index, [1], chosen=Filter(tags=("x",))) == {1: [4]}
    assert near(index, [1], chosen=Filter(outdated=True)) == {1: [2, 4, 5, 3]}
    assert near(index, [5]) == {5: [2, 4, 1, 3]}


def test_equally_near_ones_come_by_their_ids(index: Index) -> None:
    filled(index, [EAST, NORTH, NORTH, NORTH, NORTH])

    assert near(index, [1], k=2) == {1: [2, 3]}


def test_a_long_memory_is_as_near_as_its_nearest_passage(index: Index) -> None:
    filled(index, [EAST, NORTH_EAST])
    many = memory(3, long_text("one", "two", "three"))
    index.write(IndexBatch(puts=[put(many, UP, NORTH, NEARLY_EAST)]))

    assert near(index, [1, 3], k=2) == {1: [3, 2], 3: [1, 2]}
    assert near(index, [1], chosen=Filter(created_after=many.created)) == {1: [3]}


def test_neighbours_follow_what_changes(index: Index) -> None:
    filled(index, [EAST, NEARLY_EAST, NORTH])
    index.write(IndexBatch(puts=[put(memory(3), NEARLY_EAST)], drops=[memory_id(2)]))

    assert near(index, [1, 2]) == {1: [3]}


def test_nobody_asked_about_has_no_neighbours(index: Index) -> None:
    filled(index, [EAST])

    assert near(index, []) == {}
    assert near(index, [1, 7]) == {1: []}
    assert near(index, [1], k=0) == {1: []}


def test_neighbours_in_bulk_are_those_found_one_by_one(index: Index) -> None:
    source = np.random.default_rng(7)
    vectors = [unit(*source.normal(size=4)) for _ in range(200)]
    filled(index, list(vectors))

    found = index.search.neighbours([memory_id(n) for n in range(1, 201)], ANY, NOON, 5, 0.2)

    kept = index.search.vectors(list(found))
    for each, hits in found.items():
        alone = index.search.search_vector(kept[each], ANY, NOON, 6, 0.2)
        assert hits == [hit for hit in alone if hit.id != each][:5]


def test_above_the_exact_size_neighbours_are_still_found(make_index: Maker, tmp_path: Path) -> None:
    """The contract's index is exact up to 1,000 rows."""
    opened = make_index(tmp_path)
    source = np.random.default_rng(7)
    vectors = [unit(*source.normal(size=4)) for _ in range(1_100)]
    filled(opened, list(vectors))

    found = opened.search.neighbours([memory_id(1), memory_id(2)], ANY, NOON, 3)

    kept = opened.search.vectors(list(found))
    for each, hits in found.items():
        alone = opened.search.search_vector(kept[each], ANY, NOON, 4)
        assert hits == [hit for hit in alone if hit.id != each][:3]
    opened.close()


def test_an_index_without_a_model_has_no_neighbours(make_index: Maker, tmp_path: Path) -> None:
    opened = make_index(tmp_path, model=None)
    keep(opened, memory(1), memory(2))

    assert near(opened, [1, 2]) == {}
    opened.close()


# -- seen ----------------------------------------------------------------------------------


def seen(
    number: int, minutes: float, *memories: Memory, job: str = "j", judge: str = "local"
) -> Event:
    noted = {each.id: text_digest(each) for each in memories}
    return event(EventKind.JUDGED, number, minutes, job=job, judge=judge, seen=noted)


def unseen(index: Index, job: str = "j", judge: str = "local", **how: object) -> list[int]:
    chosen, limit = how.get("chosen", ANY), how.get("limit", 100)
    ids = index.search.unseen(job, judge, chosen, NOON, limit)  # type: ignore[arg-type]
    number_of = {memory_id(number): number for number in range(1, 100)}
    return [number_of[each] for each in ids]


def test_what_a_job_has_seen_is_not_shown_again(index: Index) -> None:
    filled(index, [EAST, NORTH, UP])
    index.write(IndexBatch(events=[seen(1, 0, memory(2))]))

    assert unseen(index) == [1, 3]
    assert unseen(index, limit=1) == [1]
    assert unseen(index, job="another") == [1, 2, 3]
    assert unseen(index, judge="another") == [1, 2, 3]


def test_a_memory_that_says_something_else_is_shown_again(index: Index) -> None:
    filled(index, [EAST])
    index.write(IndexBatch(events=[seen(1, 0, memory(1))]))
    linked = memory(1, connections=(Connection(memory_id(2), by="j"),), tier=Tier.CORE, space="x")
    index.write(IndexBatch(puts=[put(linked, EAST)]))
    assert unseen(index) == []

    index.write(IndexBatch(puts=[put(replace(linked, title="new"), EAST)]))

    assert unseen(index) == [1]


def test_what_was_seen_outlives_the_row_and_comes_in_any_order(index: Index) -> None:
    index.write(IndexBatch(events=[seen(2, 5, memory(1)), seen(1, 0, memory(1, "older words"))]))
    filled(index, [EAST])
    assert unseen(index) == []

    index.write(IndexBatch(drops=[memory_id(1)]))
    filled(index, [EAST])

    assert unseen(index) == []


def test_only_current_memories_with_a_vector_wait_to_be_seen(index: Index) -> None:
    expired = memory(2, valid_until=NOON - timedelta(days=1))
    replaced = memory(3, superseded_by=memory_id(1))
    archived = memory(4, tier=Tier.ARCHIVAL)
    puts = [put(each, EAST) for each in (memory(1), expired, replaced, archived)]
    index.write(IndexBatch(puts=[*puts, put(memory(5))]))

    assert unseen(index) == [1, 4]
    assert unseen(index, chosen=Filter(tiers=(Tier.WORKING,))) == [1]


def test_who_wants_to_see_something_again_sees_what_passes_the_filter(index: Index) -> None:
    expired = memory(3, valid_until=NOON - timedelta(days=1))
    index.write(IndexBatch(puts=[put(each, EAST) for each in (memory(1), memory(2), expired)]))
    index.write(IndexBatch(events=[seen(1, 0, memory(1), memory(2), expired)]))
    wanted = [memory_id(2), memory_id(3), memory_id(9)]

    assert index.search.unseen("j", "local", ANY, NOON, 100) == []
    assert index.search.unseen("j", "local", ANY, NOON, 100, wanted) == [memory_id(2)]


def test_what_was_looked_at_is_no_part_of_a_history(index: Index) -> None:
    filled(index, [EAST])
    index.write(IndexBatch(events=[seen(1, 0, memory(1))]))

    assert index.log.history(memory_id(1)) == []
    kept = index.log.event("event-0001")
    assert kept is not None
    assert "seen" not in kept.body


# -- verdicts ------------------------------------------------------------------------------

SAME = Verdict(Relation.DUPLICATE, 0.98, "both say so", title="T", content="C")
APART = Verdict(Relation.NONE, 0.9, "other things")


def judged(number: int, minutes: float, verdict: Verdict, *pair: Memory) -> Event:
    return event(
        EventKind.JUDGED,
        number,
        minutes,
        job="j",
        judge="costly",
        pair=[each.id for each in pair],
        digests=[text_digest(each) for each in pair],
        verdict=verdict_to_json(verdict),
    )


PAIR = memory_id(1), memory_id(2)


def test_a_verdict_holds_until_one_side_changes(index: Index) -> None:
    filled(index, [EAST, NORTH])
    index.write(IndexBatch(events=[judged(1, 0, SAME, memory(1), memory(2))]))

    assert index.log.verdicts([PAIR, PAIR[::-1]], "costly") == {PAIR: SAME}
    assert index.log.verdicts([PAIR], "another") == {}
    index.write(IndexBatch(puts=[put(memory(2, "something else"), NORTH)]))
    assert index.log.verdicts([PAIR], "costly") == {}


def test_what_was_said_of_older_memories_is_found_without_the_newer(index: Index) -> None:
    filled(index, [EAST, NORTH])
    index.write(IndexBatch(events=[judged(1, 0, SAME, memory(1), memory(2))]))

    assert index.log.verdicts_on_older([*PAIR, memory_id(9)], "costly") == {PAIR: SAME}
    assert index.log.verdicts_on_older(PAIR[1:], "costly") == {}
    assert index.log.verdicts_on_older(PAIR, "another") == {}
    assert index.log.verdicts_on_older([], "costly") == {}
    index.write(IndexBatch(puts=[put(memory(2, "something else"), NORTH)]))
    assert index.log.verdicts_on_older(PAIR, "costly") == {}


def test_of_two_verdicts_the_later_counts_in_any_order(index: Index) -> None:
    filled(index, [EAST, NORTH])
    both = [judged(2, 9, APART, memory(1), memory(2)), judged(1, 1, SAME, memory(1), memory(2))]
    index.write(IndexBatch(events=both))

    assert index.log.verdicts([PAIR], "costly") == {PAIR: APART}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"judge": "costly", "job": "j", "seen": ["x"]},
        {"judge": "costly", "job": "j", "seen": {"m": "no hash"}},
        {"judge": "costly", "pair": ["a"], "digests": ["00", "00"], "verdict": {}},
        {"judge": "costly", "pair": list(PAIR), "digests": ["00", "zz"], "verdict": {}},
        {"judge": "costly", "pair": list(PAIR), "digests": ["00", "00"], "verdict": "yes"},
    ],
)
def test_an_odd_line_about_a_judge_has_no_effect(index: Index, body: dict[str, object]) -> None:
    filled(index, [EAST, NORTH])
    index.write(IndexBatch(events=[event(EventKind.JUDGED, 1, **body)]))

    assert unseen(index) == [1, 2]
    assert index.log.verdicts([PAIR], "costly") == {}


def test_a_verdict_that_says_nothing_known_is_none(index: Index) -> None:
    filled(index, [EAST, NORTH])
    odd = judged(1, 0, SAME, memory(1), memory(2))
    body = {**odd.body, "verdict": {"relation": "friends", "sure": 2}}
    index.write(IndexBatch(events=[replace(odd, body=body)]))

    assert index.log.verdicts([PAIR], "costly") == {}


# -- scores of a run -----------------------------------------------------------------------


def test_scores_of_a_run_are_found_by_its_name(index: Index) -> None:
    body = {"change": "c-000001", "run": "r1", "scores": {"m": {"importance": 0.4}}, "was": {}}
    index.write(IndexBatch(events=[event(EventKind.SCORED, 1, **body)]))

    for name in ("r1", "c-000001", "c-0000"):
        (found,) = index.log.changes(name)
        assert found.kind is EventKind.SCORED
        assert not {"scores", "was"} & found.body.keys()
    assert index.log.unsettled_changes() == []


def test_scores_are_told_of_what_is_there(index: Index) -> None:
    keep(index, memory(1), memory(2))
    index.write(
        IndexBatch(events=[event(EventKind.SCORED, 1, scores={"relevance": {memory_id(1): 0.5}})])
    )

    found = index.search.scores([memory_id(1), memory_id(2), memory_id(3)])

    assert found == {
        memory_id(1): {"importance": 0.5, "relevance": 0.5},
        memory_id(2): {"importance": 0.5, "relevance": None},
    }
