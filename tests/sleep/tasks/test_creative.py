"""Creative: what is found, what is drawn, what is asked, and what fades again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from madeleine.index.graph import MemoryGraph
from madeleine.index.port import IndexBatch, MemoryPut
from madeleine.model.codec import connection_to_json
from madeleine.model.draft import MemoryLimits
from madeleine.model.embedding import PassageEmbedding
from madeleine.model.event import EventKind
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Connection, Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.revision import read_revision
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.verdict import Relation
from madeleine.model.words import MACHINE_AUTHORS, META_SOURCE, Edge, MemoryType, Tier
from madeleine.sleep.jobs.auto_linker import make_auto_linker
from madeleine.sleep.jobs.conflict_detector import make_conflict_detector
from madeleine.sleep.jobs.duplicate_merger import make_duplicate_merger
from madeleine.sleep.tasks.creative import CreativeTask, make_creative_task
from madeleine.sleep.values import Job
from madeleine.write.actions import link_action
from madeleine.write.connections import link
from madeleine.write.proposals import add_states, decide_proposal, preview_proposal, propose
from madeleine.write.questions import question_key
from madeleine.write.record import new_event, record_events
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, keep, reopened, vault_bytes
from tests.sleep.nights import all_bytes, as_now, job_of, run
from tests.sleep.scripted import ScriptedJudge, always, context, says
from tests.sleep.tasks.ageing import set_to, use, wait
from tests.sleep.tasks.meaning import along, at_cosine, keep_as, mean, unlinked

INSIGHT, PATTERN = MemoryType.OBSERVATION, MemoryType.CONCEPT
DECISION, GOAL = MemoryType.DECISION, MemoryType.GOAL
LONG_AGO = NOON - timedelta(days=15)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    with unlinked(tmp_path / "home") as opened:
        yield opened


def two(stores: Stores, cosine: float, *types: MemoryType, **fields: object) -> list[Memory]:
    """An old memory and a new one, so alike."""
    one, other = types
    return [
        keep_as(stores, "first of two", along(0), type=one, created=LONG_AGO, **fields),
        keep_as(stores, "second of both", at_cosine(cosine), type=other, **fields),
    ]


def drawn(stores: Stores, memory: Memory) -> tuple[Connection, ...]:
    return as_now(stores, memory).connections


def associations(stores: Stores) -> list[tuple[str, str, str | None]]:
    return [
        (row.source, row.connection.target, row.connection.kind)
        for row in stores.graph.newest_edges((Edge.DISCOVERED,), 1_000)
    ]


# -- the rules -----------------------------------------------------------------------------


def test_an_insight_and_a_pattern_at_cosine_099_are_exactly_one_explanation(
    stores: Stores,
) -> None:
    pattern, insight = two(stores, 0.99, PATTERN, INSIGHT)

    report = run(stores, make_creative_task())

    (found,) = drawn(stores, insight)
    assert (found.target, found.edge, found.kind) == (pattern.id, Edge.DISCOVERED, "explains")
    assert (found.confidence, found.by) == (0.7, "creative")
    assert found.weight == pytest.approx(0.99, abs=1e-3)
    assert found.at is not None
    assert drawn(stores, pattern) == ()
    assert report.counts["discovered"] == report.counts["created"] == 1


def test_what_was_seen_explains_the_pattern_whichever_is_older(stores: Stores) -> None:
    insight, pattern = two(stores, 0.6, INSIGHT, PATTERN)

    run(stores, make_creative_task())

    assert associations(stores) == [(insight.id, pattern.id, "explains")]


def test_an_association_shows_the_documented_properties(stores: Stores) -> None:
    _, insight = two(stores, 0.99, PATTERN, INSIGHT)

    run(stores, make_creative_task())

    shown = connection_to_json(drawn(stores, insight)[0])
    assert shown["algorithm"] == "creative_association"
    assert shown["discovered_at"] == shown["at"]
    assert (shown["kind"], shown["confidence"]) == ("explains", 0.7)


def test_alike_memories_of_different_types_share_a_theme(stores: Stores) -> None:
    old, new = two(stores, 0.8, DECISION, GOAL)

    run(stores, make_creative_task())

    (found,) = drawn(stores, new)
    assert (found.target, found.kind) == (old.id, "shares_theme")
    assert found.confidence == pytest.approx(0.8, abs=1e-3)


def test_unlike_memories_of_one_week_are_parallel(stores: Stores) -> None:
    one = keep_as(stores, "one thing", along(0), created=NOON - timedelta(days=6))
    other = keep_as(stores, "other thing", along(1))
    keep_as(stores, "long ago", along(2), created=LONG_AGO)

    run(stores, make_creative_task())

    assert associations(stores) == [(other.id, one.id, "parallel_context")]


def test_a_run_that_nobody_asked_for_draws_no_mere_coincidence(stores: Stores) -> None:
    keep_as(stores, "one thing", along(0))
    keep_as(stores, "other thing", along(1))

    report = run(stores, make_creative_task(), due=True)

    assert (report.applied, report.counts["discovered"]) == (0, 0)
    assert run(stores, make_creative_task(), set_to(parallel_context=True), due=True).applied == 1


def test_a_run_that_nobody_asked_for_draws_all_else(stores: Stores) -> None:
    two(stores, 0.99, PATTERN, INSIGHT)

    assert run(stores, make_creative_task(), due=True).counts["created"] == 1


def test_two_unlike_decisions_are_a_contrast_as_documented(stores: Stores) -> None:
    one, other = two(stores, 0.2, DECISION, DECISION)

    report = run(stores, make_creative_task())

    (found,) = drawn(stores, other)
    assert (found.target, found.edge, found.kind) == (one.id, Edge.CONTRADICTS, None)
    assert (found.confidence, found.by) == (0.6, "creative")
    assert found.weight == pytest.approx(0.2, abs=1e-3)
    assert report.counts["discovered"] == report.counts["created"] == 1
    assert stores.log.proposals() == []


@pytest.mark.parametrize("space", [None, "atlas"])
def test_what_two_unlike_decisions_are_about_does_not_matter(
    stores: Stores, space: str | None
) -> None:
    keep_as(stores, "We decided to use tabs", along(0), type=DECISION, space=space)
    keep_as(stores, "We decided to hire Ana", along(1), type=DECISION, space="orion")

    assert run(stores, make_creative_task()).counts["created"] == 1


def test_a_contrast_shows_the_documented_properties(stores: Stores) -> None:
    _, other = two(stores, 0.2, DECISION, DECISION)

    run(stores, make_creative_task())

    shown = connection_to_json(drawn(stores, other)[0])
    assert shown["algorithm"] == "creative_association"
    assert shown["discovered_at"] == shown["at"]
    assert shown["confidence"] == 0.6


def test_a_run_that_nobody_asked_for_neither_draws_nor_asks_about_decisions(
    stores: Stores,
) -> None:
    two(stores, 0.1, DECISION, DECISION)
    before = vault_bytes(stores)

    for config in (set_to(), set_to(parallel_context=True), set_to(contrast_rule=True)):
        report = run(stores, make_creative_task(), config, due=True)
        assert (report.applied, report.proposed, report.counts["discovered"]) == (0, 0, 0)

    assert vault_bytes(stores) == before
    assert stores.log.proposals() == []


def test_contrasts_can_be_switched_off(stores: Stores) -> None:
    two(stores, 0.1, DECISION, DECISION)

    report = run(stores, make_creative_task(), set_to(contrast_rule=False))

    assert (report.applied, report.proposed, report.counts["discovered"]) == (0, 0, 0)


def test_a_decision_gets_no_more_contrasts_than_other_associations(stores: Stores) -> None:
    for number in range(8):
        keep_as(stores, f"The gateway has plan {number}", along(number), type=DECISION)

    for _ in range(3):
        run(stores, make_creative_task(), set_to(associations_each=2))

    ends = [
        end for row in stores.graph.associations() for end in (row.source, row.connection.target)
    ]
    assert ends
    assert max(ends.count(each) for each in ends) <= 2


def test_a_contrast_whose_ends_are_never_used_together_fades_away(stores: Stores) -> None:
    two(stores, 0.1, DECISION, DECISION)
    before = vault_bytes(stores)
    run(stores, make_creative_task())
    assert vault_bytes(stores) != before
    wait(stores, days=91)

    report = run(stores, make_creative_task(), set_to(sample_size=0), due=True)

    assert report.applied == 1
    assert vault_bytes(stores) == before


def test_a_contrast_that_a_person_once_approved_does_not_fade(stores: Stores) -> None:
    one, other = two(stores, 0.1, DECISION, DECISION)
    asked = ask_as_before(stores, one, other)
    decide_proposal(stores, asked.id, ProposalStatus.APPROVED)
    wait(stores, days=400)

    assert run(stores, make_creative_task(), set_to(sample_size=0)).applied == 0
    assert len(drawn(stores, other)) == 1


def ask_as_before(stores: Stores, one: Memory, other: Memory) -> Proposal:
    """Ask whether two decisions contradict each other, as earlier releases did."""
    now = stores.clock.now()
    arrow = Connection(one.id, Edge.CONTRADICTS, 0.1, "perhaps at odds", "creative", now)
    action = {**link_action(other.id, [arrow]), "by": "creative"}
    key = question_key(f"link contradicts {one.id}", [one, other])
    named = add_states(action, [one, other], key)
    return propose(stores, ProposalType.CONFLICT, (other.id, one.id), "connect", named, "at odds")


def test_who_said_no_to_a_contradiction_gets_no_contrast(stores: Stores) -> None:
    asked = ask_as_before(stores, *two(stores, 0.1, DECISION, DECISION))
    decide_proposal(stores, asked.id, ProposalStatus.REJECTED)

    assert run(stores, make_creative_task()).counts["created"] == 0


def test_any_run_withdraws_the_questions_of_earlier_releases(stores: Stores) -> None:
    """They may come with the journal of another device, long after this one was opened."""
    asked = ask_as_before(stores, *two(stores, 0.1, DECISION, DECISION))

    run(stores, job_of())

    assert stores.log.proposals(ProposalStatus.PENDING) == []
    (gone,) = stores.log.proposals(ProposalStatus.EXPIRED)
    assert gone.id == asked.id
    assert "no question any more" in str(preview_proposal(stores, asked.id).problem)


# -- what a contrast does not settle -------------------------------------------------------

TENSE = ScriptedJudge(always(says(Relation.TENSION)), cheap=False)


def keep_two_ways(stores: Stores) -> list[Memory]:
    one = keep_as(stores, "Gateway deploys happen by hand", along(0), type=DECISION)
    return [one, keep_as(stores, "Gateway deploys happen from CI", at_cosine(0.2), type=DECISION)]


@pytest.mark.parametrize("job", [make_conflict_detector, make_auto_linker])
@pytest.mark.parametrize("taken_back", [False, True])
def test_a_contrast_keeps_no_job_from_noticing_a_contradiction(
    stores: Stores, job: Callable[[], Job], taken_back: bool
) -> None:
    one, other = keep_two_ways(stores)
    done = run(stores, make_creative_task())
    assert done.counts["created"] == 1
    if taken_back:
        undo(stores, done.run)
    for each in (one, other):
        mean(stores, each, along(0))  # by now they are near enough to be looked at

    context(stores, job(), TENSE)

    (found,) = [each for each in drawn(stores, other) if each.edge is Edge.CONTRADICTS]
    assert found.by == job().name


def test_a_withdrawn_question_keeps_nobody_from_asking_about_a_contradiction(
    stores: Stores,
) -> None:
    one, other = keep_two_ways(stores)
    ask_as_before(stores, one, other)
    for each in (one, other):
        mean(stores, each, along(0))
    unsure = ScriptedJudge(always(says(Relation.TENSION, 0.7)), cheap=False)

    context(stores, make_conflict_detector(), unsure)

    (asked,) = stores.log.proposals(ProposalStatus.PENDING)
    assert dict(asked.action)["by"] == "conflict_detector"


def test_a_contrast_keeps_no_two_copies_apart(stores: Stores) -> None:
    one, other = keep_two_ways(stores)
    run(stores, make_creative_task())
    for each in (one, other):
        mean(stores, each, along(0))
    same = ScriptedJudge(always(says(Relation.DUPLICATE, 1.0)), cheap=False)

    context(stores, make_duplicate_merger(), same)

    assert len(stores.search.memories([one.id, other.id])) == 1


def test_a_pair_that_is_connected_already_is_left_as_it_is(stores: Stores) -> None:
    pattern, insight = two(stores, 0.99, PATTERN, INSIGHT)
    link(stores, pattern.id, Connection(insight.id, Edge.SUPPORTS, 0.4))
    before = vault_bytes(stores)

    assert run(stores, make_creative_task()).counts["discovered"] == 0
    assert vault_bytes(stores) == before


def test_a_second_run_draws_nothing_twice(stores: Stores) -> None:
    two(stores, 0.99, PATTERN, INSIGHT)
    run(stores, make_creative_task())
    before = vault_bytes(stores)

    assert run(stores, make_creative_task()).applied == 0
    assert vault_bytes(stores) == before


# -- who takes part ------------------------------------------------------------------------


def test_a_memory_without_a_vector_takes_part_in_no_pairing(stores: Stores) -> None:
    _, insight = two(stores, 0.99, PATTERN, INSIGHT)
    stored = stores.search.get(insight.id)
    assert stored is not None
    text = replace(stored.memory, content="unread as yet")
    stores.index.write(IndexBatch(puts=[MemoryPut(replace(stored, memory=text))]))

    report = run(stores, make_creative_task())

    assert report.counts["discovered"] == 0
    assert stores.log.proposals() == []


def test_jobs_leave_archival_and_derived_memories_out(stores: Stores) -> None:
    keep_as(stores, "a pattern", along(0), type=PATTERN, created=LONG_AGO)
    keep_as(stores, "in the archive", along(0), type=INSIGHT, tier=Tier.ARCHIVAL)
    keep_as(stores, "no longer so", along(0), type=INSIGHT, valid_until=NOON)
    made = keep_as(stores, "made of others", along(0), type=INSIGHT, source=META_SOURCE)
    faded = keep_as(stores, "hardly relevant", along(0), type=INSIGHT)
    body = {"scores": {"relevance": {faded.id: 0.3}}}
    record_events(stores, [new_event(stores, EventKind.SCORED, body)], durable=False)

    report = run(stores, make_creative_task())

    assert report.looked == 1
    assert associations(stores) == []
    assert drawn(stores, made) == ()


def test_what_is_old_and_has_no_score_yet_takes_no_part(stores: Stores) -> None:
    two(stores, 0.99, PATTERN, INSIGHT)
    wait(stores, days=365)

    report = run(stores, make_creative_task())

    assert (report.looked, report.counts["discovered"]) == (0, 0)


def test_edges_a_job_made_do_not_strengthen_their_ends(stores: Stores) -> None:
    pattern, insight = two(stores, 0.99, PATTERN, INSIGHT)

    run(stores, make_creative_task())

    assert {"creative", "cluster"} <= MACHINE_AUTHORS
    standings = stores.search.standings()
    assert standings.connections.tolist() == [0] * len(standings)
    assert {pattern.id, insight.id} <= set(standings.ids)


@pytest.mark.parametrize("count", [0, 1])
def test_an_empty_store_and_one_memory_have_no_associations(stores: Stores, count: int) -> None:
    for number in range(count):
        keep_as(stores, "alone", along(number))

    report = run(stores, make_creative_task())

    assert report.error is None
    assert report.looked == count
    assert report.counts == {"discovered": 0, "created": 0, "sample_associations": []}


def test_equal_vectors_of_one_type_are_nothing_new(stores: Stores) -> None:
    for number in range(30):
        keep_as(stores, f"the same {number}", along(0))

    assert run(stores, make_creative_task()).counts["discovered"] == 0


@pytest.mark.parametrize("size", [0, 1])
def test_a_sample_too_small_for_a_pair_finds_nothing(stores: Stores, size: int) -> None:
    two(stores, 0.99, PATTERN, INSIGHT)

    assert run(stores, make_creative_task(), set_to(sample_size=size)).counts["discovered"] == 0


# -- bounds and chance ---------------------------------------------------------------------


def test_a_memory_gets_only_so_many_associations_over_all_runs(stores: Stores) -> None:
    for number in range(15):
        keep_as(stores, f"thing number {number}", along(number))

    for _ in range(3):
        run(stores, make_creative_task(), set_to(associations_each=2))

    ends = [end for row in associations(stores) for end in row[:2]]
    assert ends
    assert max(ends.count(each) for each in ends) <= 2


def test_the_surest_associations_have_the_first_choice(stores: Stores) -> None:
    pattern = keep_as(stores, "a pattern", along(0), type=PATTERN)
    insight = keep_as(stores, "an insight", at_cosine(0.9), type=INSIGHT)
    for number in range(1, 9):
        keep_as(stores, f"thing number {number}", along(number))

    run(stores, make_creative_task(), set_to(associations_each=1))

    assert (insight.id, pattern.id, "explains") in associations(stores)


def test_the_same_seed_finds_the_same_and_each_run_draws_others(stores: Stores) -> None:
    for number in range(60):
        keep_as(stores, f"thing number {number}", along(number))
    small = set_to(sample_size=4)

    same = [run(stores, CreativeTask(seed=5), small, dry_run=True).patches for _ in range(2)]
    other = run(stores, CreativeTask(seed=6), small, dry_run=True).patches

    assert _pairs(same[0]) == _pairs(same[1]) != _pairs(other)
    first, second = (run(stores, make_creative_task(), small).patches for _ in range(2))
    assert _pairs(first) != _pairs(second)


def _pairs(patches: list[dict[str, object]]) -> list[object]:
    return [each["memories"] for each in patches]


def test_a_dry_run_shows_what_the_next_run_does(stores: Stores) -> None:
    for number in range(40):
        keep_as(stores, f"thing number {number}", along(number))

    shown = run(stores, make_creative_task(), dry_run=True)
    done = run(stores, make_creative_task())

    assert _pairs(shown.patches)[: len(done.patches)] == _pairs(done.patches)
    assert shown.counts["discovered"] == done.counts["discovered"]
    assert shown.counts["created"] == done.counts["created"] == done.applied > 0


# -- fading --------------------------------------------------------------------------------


def test_an_association_whose_ends_are_never_used_together_fades_away(stores: Stores) -> None:
    pattern, insight = two(stores, 0.99, PATTERN, INSIGHT)
    before = vault_bytes(stores)
    run(stores, make_creative_task())
    use(stores, pattern, "monday")
    use(stores, insight, "tuesday")
    wait(stores, days=89)
    run(stores, make_creative_task())
    assert len(drawn(stores, insight)) == 1
    wait(stores, days=2)

    report = run(stores, make_creative_task(), set_to(sample_size=0))

    assert drawn(stores, insight) == ()
    assert report.applied == 1
    assert vault_bytes(stores) == before


def test_what_faded_is_not_drawn_again_in_the_next_run(stores: Stores) -> None:
    pattern, insight = two(stores, 0.99, PATTERN, INSIGHT)
    at_once = set_to(association_days=0.0)
    run(stores, make_creative_task(), at_once)
    assert run(stores, make_creative_task(), at_once).applied == 1
    assert drawn(stores, insight) == ()

    report = run(stores, make_creative_task())

    assert (report.applied, report.counts["discovered"]) == (0, 0)
    use(stores, pattern, "monday")
    use(stores, insight, "monday")
    assert run(stores, make_creative_task()).counts["created"] == 1


def test_what_faded_is_drawn_again_when_a_text_is_another(stores: Stores) -> None:
    _, insight = two(stores, 0.99, PATTERN, INSIGHT)
    at_once = set_to(association_days=0.0)
    for _ in range(2):
        run(stores, make_creative_task(), at_once)
    revise(stores, insight.id, read_revision({"content": "third of many"}, MemoryLimits()))
    mean(stores, insight, at_cosine(0.99))

    assert run(stores, make_creative_task()).counts["created"] == 1


def test_what_faded_stays_so_in_an_index_made_anew(stores: Stores, tmp_path: Path) -> None:
    both = two(stores, 0.99, PATTERN, INSIGHT)
    for _ in range(2):
        run(stores, make_creative_task(), set_to(association_days=0.0))
    fresh = reopened(stores, tmp_path / "home", without_index=True)
    for each, vector in zip(both, (along(0), at_cosine(0.99)), strict=True):
        mean(fresh, each, vector)

    report = run(fresh, make_creative_task())

    assert report.looked == 2
    assert report.counts["discovered"] == 0


def test_with_more_days_than_there_were_nothing_fades(stores: Stores) -> None:
    _, insight = two(stores, 0.99, PATTERN, INSIGHT)
    run(stores, make_creative_task())
    wait(stores, days=9_000)

    report = run(stores, make_creative_task(), set_to(association_days=999_999.0))

    assert report.error is None
    assert len(drawn(stores, insight)) == 1


def test_an_association_that_was_taken_back_is_not_discovered_again(stores: Stores) -> None:
    two(stores, 0.99, PATTERN, INSIGHT)
    undo(stores, run(stores, make_creative_task()).run)

    counts = run(stores, make_creative_task(), dry_run=True).counts

    assert counts == {"discovered": 0, "created": 0, "sample_associations": []}


def test_an_association_whose_ends_were_used_together_stays(stores: Stores) -> None:
    pattern, insight = two(stores, 0.99, PATTERN, INSIGHT)
    run(stores, make_creative_task())
    wait(stores, days=10)
    use(stores, pattern, "monday")
    use(stores, insight, "monday")
    wait(stores, days=900)

    run(stores, make_creative_task(), set_to(sample_size=0))

    assert len(drawn(stores, insight)) == 1


def test_an_association_that_somebody_else_drew_does_not_fade(stores: Stores) -> None:
    one, other = two(stores, 0.1, GOAL, GOAL)
    link(stores, one.id, Connection(other.id, Edge.DISCOVERED), by="agent:me")
    wait(stores, days=900)

    run(stores, make_creative_task(), set_to(sample_size=0))

    assert len(drawn(stores, one)) == 1


# -- runs ----------------------------------------------------------------------------------


def test_a_dry_run_changes_no_byte(stores: Stores, tmp_path: Path) -> None:
    for number in range(12):
        keep_as(stores, f"The gateway has plan {number}", along(number), type=DECISION)
    two(stores, 0.99, PATTERN, INSIGHT)
    before = all_bytes(tmp_path / "home")

    report = run(stores, make_creative_task(), dry_run=True)

    assert report.applied
    assert report.proposed == 0
    assert all_bytes(tmp_path / "home") == before


def test_undo_brings_every_file_back_byte_for_byte(stores: Stores) -> None:
    for number in range(12):
        keep_as(stores, f"thing number {number}", along(number))
    before = vault_bytes(stores)
    report = run(stores, make_creative_task())
    assert report.applied > 3

    undo(stores, report.run)

    assert vault_bytes(stores) == before


def test_undo_of_fading_brings_associations_back(stores: Stores) -> None:
    two(stores, 0.99, PATTERN, INSIGHT)
    run(stores, make_creative_task())
    before = vault_bytes(stores)
    wait(stores, days=100)
    report = run(stores, make_creative_task(), set_to(sample_size=0))

    undo(stores, report.run)

    assert vault_bytes(stores) == before


def test_associations_are_there_after_a_rebuild(stores: Stores, tmp_path: Path) -> None:
    for number in range(6):
        keep(stores, f"thing number {number}")
    run(stores, make_creative_task())
    before = associations(stores)

    fresh = reopened(stores, tmp_path / "home", without_index=True)

    assert sorted(associations(fresh)) == sorted(before)


def test_the_report_names_the_first_associations(stores: Stores) -> None:
    for number in range(12):
        keep_as(stores, f"thing number {number}", along(number))

    counts = run(stores, make_creative_task()).counts

    named = counts["sample_associations"]
    assert isinstance(named, list)
    assert len(named) == 3
    assert set(named[0]) == {
        *("memory1_id", "memory2_id", "type", "kind", "confidence", "similarity"),
        "discovered_at",
    }
    assert named[0]["kind"] == "parallel_context"


def test_creative_asks_for_existing_edges_once(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        keep_as(stores, f"thing number {number}", along(number))
    asked: list[int] = []
    real = type(stores.graph).edges_between

    def counted(graph: MemoryGraph, ids: list[str]) -> object:
        asked.append(len(ids))
        return real(graph, ids)

    monkeypatch.setattr(type(stores.graph), "edges_between", counted)
    run(stores, make_creative_task(), dry_run=True)

    assert asked == [20]


@pytest.mark.soak
def test_it_takes_no_longer_in_a_large_store_with_a_hub(stores: Stores) -> None:
    count = 20_000
    chance = np.random.default_rng(1).standard_normal((count, 64)).astype(np.float32)
    chance /= np.linalg.norm(chance, axis=1, keepdims=True)
    ids = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(count)]
    hub = tuple(Connection(each, Edge.SUPPORTS) for each in ids[1:])
    _place(stores, ids, chance, hub)
    began = time.perf_counter()

    report = run(stores, make_creative_task(), dry_run=True)

    assert time.perf_counter() - began < 2.0
    assert report.looked == 20


def _place(
    stores: Stores, ids: list[str], vectors: np.ndarray, hub: tuple[Connection, ...]
) -> None:
    none = np.zeros((0, 0), np.int8)
    puts = [
        MemoryPut(
            StoredMemory(
                Memory(each, f"note {at}", NOON, NOON, connections=() if at else hub),
                f"{each}.md",
                Fingerprint(0, 0),
            ),
            [PassageEmbedding(vectors[at], none)],
        )
        for at, each in enumerate(ids)
    ]
    for start in range(0, len(puts), 5_000):
        stores.index.write(IndexBatch(puts=puts[start : start + 5_000]))
