"""Cluster: one summary for what is alike, found again, kept up to date, and gone in time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from madeleine.index.port import IndexBatch, MemoryPut
from madeleine.model.codec import memory_to_json
from madeleine.model.embedding import PassageEmbedding
from madeleine.model.event import EventKind
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Connection, Memory
from madeleine.model.meta_pattern import read_meta_pattern
from madeleine.model.proposal import ProposalStatus
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.revision import read_revision
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.verdict import Synthesis
from madeleine.model.words import META_SOURCE, META_TAG, Edge, MemoryType, Tier
from madeleine.recall.recall import recall
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.jobs.auto_linker import make_auto_linker
from madeleine.sleep.jobs.duplicate_merger import make_duplicate_merger
from madeleine.sleep.tasks import cluster as module
from madeleine.sleep.tasks.cluster import make_cluster_task
from madeleine.sleep.values import STOPPED, Patch, RunReport, SetTier
from madeleine.write.connections import link, unlink
from madeleine.write.forget import forget, restore
from madeleine.write.proposals import decide_proposal
from madeleine.write.purge import purge
from madeleine.write.reconcile import reconcile
from madeleine.write.record import new_event, record_events
from madeleine.write.revise import retire, revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from madeleine.write.upkeep import rebuild
from tests.fakes import NOON, keep, make_stores, reopened, vault_bytes
from tests.sleep.nights import Planned, all_bytes, as_now, job_of, living, run
from tests.sleep.scripted import ScriptedJudge, context
from tests.sleep.tasks.ageing import set_to, wait
from tests.sleep.tasks.meaning import along, at_cosine, keep_as, mean, unlinked

SHELVES = ("left", "right", "upper", "lower", "middle", "narrow", "broad", "oldest")


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    with unlinked(tmp_path / "home") as opened:
        yield opened


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """A store of more memories than any page has, ten of them about one thing."""
    with unlinked(tmp_path_factory.mktemp("large")) as opened:
        place(opened, 10_500)
        yield opened


def alike(stores: Stores, count: int = 5, axis: int = 0, **fields: object) -> list[Memory]:
    """Memories that mean nearly the same, each a day older than the one before."""
    return [
        keep_as(
            stores,
            f"Backups of the {SHELVES[at]} shelf run at night. Shelf {at} of {axis} is full.",
            at_cosine(0.97, axis, towards=20 + at),
            created=NOON - timedelta(days=at),
            **fields,
        )
        for at in range(count)
    ]


def summaries(stores: Stores) -> list[Memory]:
    found = stores.search.listing(Filter(tags=(META_TAG,)), stores.clock.now(), 100)
    return sorted(found, key=lambda each: each.id)


def members(summary: Memory) -> set[str]:
    return {each.target for each in summary.connections if each.edge is Edge.SUMMARIZES}


def ids(memories: Sequence[Memory]) -> set[str]:
    return {each.id for each in memories}


def made(report: RunReport) -> tuple[object, object, object]:
    counts = report.counts
    return tuple(  # type: ignore[return-value]  # of three
        counts[f"meta_memories_{what}"] for what in ("created", "updated", "dissolved")
    )


# -- a summary -----------------------------------------------------------------------------


def test_three_near_parallel_vectors_are_one_cluster_of_three(stores: Stores) -> None:
    three = alike(stores, 3)
    keep_as(stores, "something else", along(5))

    report = run(stores, make_cluster_task(), set_to(min_cluster_size=3))

    (summary,) = summaries(stores)
    assert members(summary) == ids(three)
    assert report.counts["clusters_found"] == 1
    assert made(report) == (1, 0, 0)


def test_a_meta_memory_has_the_documented_properties(stores: Stores) -> None:
    five = [
        *alike(stores, 3, type=MemoryType.DECISION, confidence=0.9),
        *alike(stores, 2, type=MemoryType.GOAL, confidence=0.5, space=None),
    ]
    five[3:] = [
        keep_as(stores, f"goal {at}", at_cosine(0.97, 0, 30 + at), type=MemoryType.GOAL)
        for at in range(2)
    ]

    run(stores, make_cluster_task())

    (summary,) = summaries(stores)
    assert (summary.type, summary.tier) == (MemoryType.CONCEPT, Tier.WORKING)
    assert summary.source == META_SOURCE
    shown = memory_to_json(summary)["meta"]
    assert isinstance(shown, dict)
    assert shown["label"] == "MetaPattern"
    assert shown["dominant_type"] == "decision"
    assert shown["cluster_size"] == len(members(summary))
    assert shown["created_at"] == memory_to_json(summary)["created"]
    assert all(
        each.by == "cluster" and each.weight > 0.9 and each.at for each in summary.connections
    )


def test_a_meta_memory_tells_its_true_span_and_can_be_recalled(stores: Stores) -> None:
    alike(stores, 6)
    keep(stores, "Lunch is at noon on Fridays")

    run(stores, make_cluster_task())

    (summary,) = summaries(stores)
    pattern = read_meta_pattern(summary)
    assert pattern is not None
    assert pattern.temporal_span_days == 5.0
    assert summary.title is not None
    assert summary.title == "Backups"
    assert "Backups" in summary.content
    assert summary.id in stores.search.vectors([summary.id])
    answer = recall(stores, RecallQuery("backups of shelves at night"))
    assert summary.id in [hit.memory.id for hit in answer.hits]


def test_an_ordinary_memory_has_no_such_properties(stores: Stores) -> None:
    assert "meta" not in memory_to_json(keep(stores, "Lunch is at noon"))


def test_the_members_stay_just_as_they_are(stores: Stores) -> None:
    alike(stores)
    before = vault_bytes(stores)

    run(stores, make_cluster_task())

    after = vault_bytes(stores)
    assert {path: after[path] for path in before} == before
    assert len(after) == len(before) + 1


def test_four_are_too_few(stores: Stores) -> None:
    alike(stores, 4)

    assert run(stores, make_cluster_task()).counts["clusters_found"] == 0
    assert summaries(stores) == []


def test_a_chain_is_not_a_cluster(stores: Stores) -> None:
    """Each is like the next one (cosine 0.82); the ends have nothing in common."""
    for step in range(6):
        turned = np.radians(35.0 * step)
        vector = np.zeros(64, np.float32)
        vector[0], vector[1] = np.cos(turned), np.sin(turned)
        keep_as(stores, f"link number {step}", vector)

    assert run(stores, make_cluster_task()).counts["clusters_found"] == 0


def test_equal_vectors_are_one_cluster(stores: Stores) -> None:
    for number in range(30):
        keep_as(stores, f"the same {number}", along(0))

    report = run(stores, make_cluster_task())

    (summary,) = summaries(stores)
    assert len(members(summary)) == 30
    assert report.counts["clusters_found"] == 1


def test_at_a_threshold_of_one_only_what_means_the_same_is_together(stores: Stores) -> None:
    alike(stores, 8)
    same = [keep_as(stores, f"the same {number}", along(9)) for number in range(5)]

    run(stores, make_cluster_task(), set_to(similarity_threshold=1.0))

    (summary,) = summaries(stores)
    assert members(summary) == ids(same)


def test_at_a_threshold_of_zero_nothing_breaks(stores: Stores) -> None:
    alike(stores, 6)
    for axis in range(3, 9):
        keep_as(stores, f"alone {axis}", along(axis))

    report = run(stores, make_cluster_task(), set_to(similarity_threshold=0.0))

    assert report.error is None
    assert report.counts["clusters_found"]


@pytest.mark.parametrize("count", [0, 1])
def test_an_empty_store_and_one_memory_have_no_clusters(stores: Stores, count: int) -> None:
    for number in range(count):
        keep_as(stores, "alone", along(number))

    report = run(stores, make_cluster_task())

    assert report.error is None
    assert report.counts["clusters_found"] == 0
    assert made(report) == (0, 0, 0)


def test_a_store_without_a_model_has_no_clusters(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "plain", with_model=False)
    for number in range(6):
        keep(stores, f"Backups run at night {number}")

    report = run(stores, make_cluster_task())

    assert report.error is None
    assert report.counts["clusters_found"] == 0
    stores.index.close()


# -- whose words ---------------------------------------------------------------------------


def test_a_language_model_may_write_the_summary(stores: Stores) -> None:
    alike(stores)
    text = Synthesis("Nightly backups", "All shelves have backups that run at night.")
    judge = ScriptedJudge(cheap=False, text=lambda members: text)

    context(stores, make_cluster_task(), judge)

    (summary,) = summaries(stores)
    assert (summary.title, summary.content) == (text.title, text.content)
    before = vault_bytes(stores)
    context(stores, make_cluster_task(), judge)
    assert vault_bytes(stores) == before


@pytest.mark.parametrize(
    "text",
    [None, Synthesis("Backups", " "), Synthesis("Backups", "Ana runs 17 backups with Borg.")],
)
def test_a_model_that_answers_nothing_or_makes_things_up_is_not_taken(
    stores: Stores, text: Synthesis | None
) -> None:
    alike(stores)

    context(stores, make_cluster_task(), ScriptedJudge(cheap=False, text=lambda members: text))

    (summary,) = summaries(stores)
    assert "run at night" in summary.content
    assert "Borg" not in summary.content


# -- who takes part ------------------------------------------------------------------------


def test_jobs_leave_archival_and_derived_memories_out(stores: Stores) -> None:
    four = alike(stores, 4)
    keep_as(stores, "in the archive", along(0), tier=Tier.ARCHIVAL)
    keep_as(stores, "no longer so", along(0), valid_until=NOON)
    keep_as(stores, "made of others", along(0), source="job:consolidator")
    keep_as(
        stores, "told together", along(0), connections=(Connection(four[0].id, Edge.DERIVED_FROM),)
    )
    faded = keep_as(stores, "hardly relevant", along(0))
    _score(stores, faded, 0.3)

    assert run(stores, make_cluster_task()).counts["clusters_found"] == 0


def _score(stores: Stores, memory: Memory, relevance: float) -> None:
    body = {"scores": {"relevance": {memory.id: relevance}}}
    record_events(stores, [new_event(stores, EventKind.SCORED, body)], durable=False)


def test_summaries_are_members_of_nothing(stores: Stores) -> None:
    for axis in range(6):
        alike(stores, 5, axis)
    run(stores, make_cluster_task())
    for each in summaries(stores):
        mean(stores, each, along(40))

    report = run(stores, make_cluster_task())

    assert len(summaries(stores)) == 6
    assert made(report) == (0, 0, 0)


def test_a_cluster_never_mixes_two_spaces(stores: Stores) -> None:
    atlas, orion = alike(stores, 5, space="atlas"), alike(stores, 5, space="orion")

    run(stores, make_cluster_task())

    assert {(each.space, frozenset(members(each))) for each in summaries(stores)} == {
        ("atlas", frozenset(ids(atlas))),
        ("orion", frozenset(ids(orion))),
    }


def test_what_belongs_to_no_space_may_join_one(stores: Stores) -> None:
    atlas, free = alike(stores, 3, space="atlas"), alike(stores, 2)

    run(stores, make_cluster_task())

    (summary,) = summaries(stores)
    assert summary.space == "atlas"
    assert members(summary) == ids(atlas) | ids(free)


@pytest.mark.soak
def test_every_memory_is_visited_past_any_page_limit(large: Stores) -> None:
    report = run(large, make_cluster_task(), dry_run=True)

    assert report.looked == 10_500
    assert report.counts["clusters_found"] == 1_050


# -- the next run --------------------------------------------------------------------------


def test_clustering_twice_changes_nothing_the_second_time(stores: Stores) -> None:
    for axis in range(3):
        alike(stores, 5 + axis, axis)
    run(stores, make_cluster_task())
    before = vault_bytes(stores)
    wait(stores, days=30)

    report = run(stores, make_cluster_task())

    assert vault_bytes(stores) == before
    assert made(report) == (0, 0, 0)
    assert report.applied == 0


def test_a_rebuilt_index_finds_the_same_clusters(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home")
    for number in range(8):
        keep(stores, f"Backups of the big shelf run at night, as {number} says")
    run(stores, make_cluster_task())
    assert len(summaries(stores)) == 1
    before = vault_bytes(stores)

    fresh = reopened(stores, tmp_path / "home", without_index=True)
    report = run(fresh, make_cluster_task())

    assert vault_bytes(fresh) == before
    assert report.applied == 0
    fresh.index.close()


def test_a_new_member_is_taken_into_the_same_summary(stores: Stores) -> None:
    five = alike(stores, 5)
    run(stores, make_cluster_task())
    (before,) = summaries(stores)
    wait(stores, days=30)
    sixth = keep_as(stores, "Backups of the sixth shelf run at night", along(0))

    report = run(stores, make_cluster_task())

    (after,) = summaries(stores)
    assert (after.id, after.created) == (before.id, before.created)
    assert members(after) == {*ids(five), sixth.id}
    assert after.updated > before.updated
    assert made(report) == (0, 1, 0)
    assert memory_to_json(after)["meta"]["cluster_size"] == 6  # type: ignore[index]  # a map


@pytest.mark.parametrize(
    "changes",
    [
        {"tier": "core"},
        {"tags": [META_TAG, "mine"]},
        {"tags": []},
        {"space": "elsewhere"},
        {"title": "Mine"},
    ],
)
def test_a_summary_that_a_person_changed_in_any_way_is_theirs(
    stores: Stores, changes: dict[str, object]
) -> None:
    alike(stores, 5, space="atlas")
    run(stores, make_cluster_task())
    (summary,) = summaries(stores)
    revise(stores, summary.id, read_revision(changes, stores.config.limits))
    keep_as(stores, "Backups of the sixth shelf run at night", along(0), space="atlas")
    before = vault_bytes(stores)

    report = run(stores, make_cluster_task())

    assert vault_bytes(stores) == before
    assert made(report) == (0, 0, 0)
    assert report.counts["left_to_their_editors"] == 1


@pytest.mark.parametrize("taken", [1, 5])
def test_a_member_that_a_person_unlinked_is_not_linked_again(stores: Stores, taken: int) -> None:
    five = alike(stores, 5)
    run(stores, make_cluster_task())
    (summary,) = summaries(stores)
    for each in five[:taken]:
        unlink(stores, summary.id, each.id, by="me")
    keep_as(stores, "Backups of the sixth shelf run at night", along(0))

    report = run(stores, make_cluster_task())

    (after,) = summaries(stores)
    assert members(after) == ids(five[taken:])
    assert made(report) == (0, 0, 0)


def test_a_summary_that_a_person_linked_to_something_is_theirs(stores: Stores) -> None:
    alike(stores, 5)
    lunch = keep_as(stores, "Lunch is at noon", along(9))
    run(stores, make_cluster_task())
    (summary,) = summaries(stores)
    link(stores, summary.id, Connection(lunch.id, Edge.SUPPORTS), by="me")
    keep_as(stores, "Backups of the sixth shelf run at night", along(0))

    assert made(run(stores, make_cluster_task())) == (0, 0, 0)


def test_what_another_job_did_to_a_summary_leaves_it_ours(stores: Stores) -> None:
    five = alike(stores, 5)
    run(stores, make_cluster_task())
    (summary,) = summaries(stores)
    patch = Patch(SetTier(summary, Tier.ARCHIVAL), "faded")
    assert run(stores, job_of(patch, name="decay_manager")).applied == 1
    keep_as(stores, "Backups of the sixth shelf run at night", along(0))

    report = run(stores, make_cluster_task())

    assert made(report) == (0, 1, 0)
    after = as_now(stores, summary)
    assert after.tier is Tier.ARCHIVAL
    assert len(members(after)) == len(five) + 1


def test_a_member_that_says_something_else_renews_the_summary(stores: Stores) -> None:
    five = alike(stores, 5)
    run(stores, make_cluster_task())
    text = read_revision({"content": "Backups of all shelves run on Mondays"}, stores.config.limits)
    revise(stores, five[0].id, text)
    mean(stores, five[0], along(0))

    assert made(run(stores, make_cluster_task())) == (0, 1, 0)


def test_a_cluster_that_dissolves_takes_its_summary_along(stores: Stores) -> None:
    five = alike(stores, 5)
    before = vault_bytes(stores)
    run(stores, make_cluster_task())
    for each in five[:2]:
        forget(stores, each.id)

    report = run(stores, make_cluster_task())

    assert summaries(stores) == []
    assert made(report) == (0, 0, 1)
    assert len(vault_bytes(stores)) == len(before) + 1  # in the trash, not gone
    undo(stores, report.run)
    assert len(summaries(stores)) == 1


def test_a_cluster_that_comes_back_gets_a_summary_again(stores: Stores) -> None:
    five = alike(stores, 5)
    run(stores, make_cluster_task())
    forget(stores, five[0].id)
    run(stores, make_cluster_task())
    restore(stores, five[0].id)
    mean(stores, five[0], along(0))

    assert made(run(stores, make_cluster_task())) == (1, 0, 0)


def test_what_fades_or_is_archived_stays_summed_up(stores: Stores) -> None:
    five = alike(stores, 5)
    run(stores, make_cluster_task())
    before = vault_bytes(stores)
    for each in five:
        _score(stores, each, 0.05)
    assert run(stores, make_cluster_task()).applied == 0

    tier = read_revision({"tier": "archival"}, stores.config.limits)
    for each in five:
        revise(stores, each.id, tier)
    report = run(stores, make_cluster_task())

    assert made(report) == (0, 0, 0)
    assert len(summaries(stores)) == 1
    assert len(vault_bytes(stores)) == len(before)


def test_while_members_wait_for_their_vectors_nothing_dissolves(stores: Stores) -> None:
    five = alike(stores, 5)
    run(stores, make_cluster_task())
    for each in five:
        stored = stores.search.get(each.id)
        assert stored is not None
        unread = replace(stored, memory=replace(stored.memory, content="unread"))
        stores.index.write(IndexBatch(puts=[MemoryPut(unread)]))

    assert made(run(stores, make_cluster_task())) == (0, 0, 0)
    assert len(summaries(stores)) == 1


def test_a_summary_that_a_person_edited_is_left_alone(stores: Stores) -> None:
    five = alike(stores, 5)
    run(stores, make_cluster_task())
    (summary,) = summaries(stores)
    revise(stores, summary.id, read_revision({"content": "My own words"}, stores.config.limits))
    keep_as(stores, "Backups of the sixth shelf run at night", along(0))

    report = run(stores, make_cluster_task())

    assert made(report) == (0, 0, 0)
    assert report.counts["left_to_their_editors"] == 1
    for each in five:
        forget(stores, each.id)
    run(stores, make_cluster_task())
    assert as_now(stores, summary).content == "My own words"


def test_a_summary_that_a_person_forgot_or_retired_is_not_written_again(stores: Stores) -> None:
    alike(stores, 5)
    alike(stores, 5, axis=1)
    run(stores, make_cluster_task())
    one, other = summaries(stores)
    forget(stores, one.id)
    retire(stores, other.id)
    before = vault_bytes(stores)

    report = run(stores, make_cluster_task())

    assert made(report) == (0, 0, 0)
    assert vault_bytes(stores) == before


def test_a_summary_that_was_taken_back_is_not_written_again(stores: Stores) -> None:
    alike(stores, 5)
    undo(stores, run(stores, make_cluster_task()).run)

    assert made(run(stores, make_cluster_task())) == (0, 0, 0)
    assert summaries(stores) == []


def test_a_rewritten_summary_that_was_forgotten_is_not_written_again(stores: Stores) -> None:
    alike(stores, 5)
    run(stores, make_cluster_task())
    keep_as(stores, "Backups of the sixth shelf run at night", along(0))
    assert made(run(stores, make_cluster_task())) == (0, 1, 0)
    (summary,) = summaries(stores)
    forget(stores, summary.id)

    assert made(run(stores, make_cluster_task())) == (0, 0, 0)
    keep_as(stores, "Backups of the seventh shelf run at night", along(0))
    assert made(run(stores, make_cluster_task())) == (0, 0, 0)
    assert summaries(stores) == []


def test_a_forgotten_summary_is_not_written_again_when_it_is_purged(stores: Stores) -> None:
    five = alike(stores, 5)
    run(stores, make_cluster_task())
    (summary,) = summaries(stores)
    forget(stores, summary.id)
    forget(stores, five[0].id)
    purge(stores, None)
    for each in five[1:]:
        mean(stores, each, along(0))
    keep_as(stores, "Backups of the sixth shelf run at night", along(0))

    report = run(stores, make_cluster_task())

    assert report.counts["clusters_found"] == 1
    assert summaries(stores) == []


def test_nothing_that_a_purged_summary_said_is_kept_in_the_no(stores: Stores) -> None:
    alike(stores, 5)
    undo(stores, run(stores, make_cluster_task()).run)
    purge(stores, None)

    (kept,) = stores.log.proposals(ProposalStatus.REJECTED)
    assert kept.proposed_action == "write a summary of 5 memories"


def test_a_summary_that_was_taken_back_is_not_written_for_one_member_more(stores: Stores) -> None:
    alike(stores, 5)
    undo(stores, run(stores, make_cluster_task()).run)
    keep_as(stores, "Backups of the sixth shelf run at night", along(0))

    assert made(run(stores, make_cluster_task())) == (0, 0, 0)
    assert summaries(stores) == []


def test_a_no_to_one_summary_is_no_no_to_others(stores: Stores) -> None:
    alike(stores, 5)
    undo(stores, run(stores, make_cluster_task()).run)
    others = alike(stores, 5, axis=1)

    assert made(run(stores, make_cluster_task())) == (1, 0, 0)
    assert members(summaries(stores)[0]) == ids(others)


def file_of(stores: Stores, memory: Memory) -> Path:
    stored = stores.search.get(memory.id)
    assert stored is not None
    return stores.vault.root / stored.path


def test_a_summary_whose_file_somebody_deleted_is_not_written_again(tmp_path: Path) -> None:
    with unlinked(tmp_path / "home") as stores:
        alike(stores, 5)
        run(stores, make_cluster_task())
        file_of(stores, summaries(stores)[0]).unlink()
        assert reconcile(stores).dropped == 1

        assert made(run(stores, make_cluster_task())) == (0, 0, 0)
        keep_as(stores, "Backups of the sixth shelf run at night", along(0))
        assert made(run(stores, make_cluster_task())) == (0, 0, 0)
        rebuild(stores)
        assert made(run(stores, make_cluster_task())) == (0, 0, 0)
        others = alike(stores, 5, axis=1)
        assert made(run(stores, make_cluster_task())) == (1, 0, 0)
        assert members(summaries(stores)[0]) == ids(others)


def test_a_summary_that_somebody_wanted_and_deleted_is_not_written_again(stores: Stores) -> None:
    alike(stores, 5)
    run(
        stores,
        Planned(
            lambda context: [replace(each, ask=True) for each in make_cluster_task().plan(context)]
        ),
    )
    (asked,) = stores.log.proposals(ProposalStatus.PENDING)
    decide_proposal(stores, asked.id, ProposalStatus.APPROVED)
    file_of(stores, summaries(stores)[0]).unlink()
    reconcile(stores)

    assert made(run(stores, make_cluster_task())) == (0, 0, 0)


def test_a_summary_whose_file_was_renamed_or_comes_back_is_still_one(stores: Stores) -> None:
    alike(stores, 5)
    run(stores, make_cluster_task())
    (summary,) = summaries(stores)
    file = file_of(stores, summary)
    text = file.read_bytes()
    file.unlink()
    reconcile(stores)
    assert made(run(stores, make_cluster_task())) == (0, 0, 0)

    file.with_name("shelves.md").write_bytes(text)
    reconcile(stores)
    keep_as(stores, "Backups of the sixth shelf run at night", along(0))

    assert made(run(stores, make_cluster_task())) == (0, 1, 0)


def test_a_rewriting_that_was_taken_back_is_not_planned_again(stores: Stores) -> None:
    alike(stores, 5)
    run(stores, make_cluster_task())
    keep_as(stores, "Backups of the sixth shelf run at night", along(0))
    undo(stores, run(stores, make_cluster_task()).run)
    before = vault_bytes(stores)
    told: list[object] = []
    judge = ScriptedJudge(cheap=False, text=lambda members: told.append(members))

    report = context(stores, make_cluster_task(), judge)

    assert made(report) == (0, 0, 0)
    assert told == []
    assert vault_bytes(stores) == before
    keep_as(stores, "Backups of the seventh shelf run at night", along(0))
    assert made(run(stores, make_cluster_task())) == (0, 1, 0)


def test_what_is_old_and_has_no_score_yet_is_not_summed_up(stores: Stores) -> None:
    alike(stores, 5)
    wait(stores, days=365)

    report = run(stores, make_cluster_task())

    assert report.counts["clusters_found"] == 0
    assert summaries(stores) == []


def test_a_summary_is_never_a_question(stores: Stores) -> None:
    alike(stores)

    report = run(stores, make_cluster_task(), SleepConfig(breaker_least=1, breaker_share=0.0))

    assert (report.proposed, len(summaries(stores))) == (0, 1)


def test_the_other_jobs_leave_summaries_alone(stores: Stores) -> None:
    alike(stores, 5, type=MemoryType.CONCEPT)
    run(stores, make_cluster_task())
    (summary,) = summaries(stores)

    for job in (make_duplicate_merger(), make_auto_linker()):
        run(stores, job)

    assert as_now(stores, summary) == summary


# -- runs ----------------------------------------------------------------------------------


def test_a_dry_run_changes_no_byte(stores: Stores, tmp_path: Path) -> None:
    five = alike(stores, 5)
    alike(stores, 5, axis=1)
    run(stores, make_cluster_task())
    forget(stores, five[0].id)
    alike(stores, 6, axis=2)
    before = all_bytes(tmp_path / "home")

    report = run(stores, make_cluster_task(), dry_run=True)

    assert report.applied == 2
    assert made(report) == (1, 0, 1)
    assert [each["action"] for each in report.patches] == ["summarise", "forget"]
    assert all_bytes(tmp_path / "home") == before


def test_undo_brings_every_file_back_byte_for_byte(stores: Stores) -> None:
    for axis in range(4):
        alike(stores, 5, axis)
    first = living(vault_bytes(stores))
    one = run(stores, make_cluster_task())
    second = living(vault_bytes(stores))
    keep_as(stores, "Backups of the sixth shelf run at night", along(0))
    third = living(vault_bytes(stores))
    other = run(stores, make_cluster_task())
    assert living(vault_bytes(stores)) != third

    undo(stores, other.run)
    assert living(vault_bytes(stores)) == third
    undo(stores, one.run)
    now = living(vault_bytes(stores))
    assert {path: now[path] for path in first} == first
    assert len(now) == len(first) + 1
    assert len(second) == len(first) + 4


def test_a_member_that_goes_between_plan_and_writing_is_not_quoted(stores: Stores) -> None:
    five = alike(stores, 5)
    task = make_cluster_task()
    plan = task.plan

    def late(context: object) -> object:
        patches = plan(context)  # type: ignore[arg-type]  # a night
        forget(stores, five[0].id)
        return patches

    task.plan = late  # type: ignore[assignment,method-assign]  # the moment between
    report = run(stores, task)

    assert summaries(stores) == []
    assert report.skipped == 1
    assert made(report) == (0, 0, 0)


def test_a_request_to_stop_leaves_everything_as_it_is(stores: Stores) -> None:
    alike(stores, 5)
    before = vault_bytes(stores)

    report = context(stores, make_cluster_task(), ScriptedJudge(), stop=lambda: True)

    assert report.stopped == STOPPED
    assert vault_bytes(stores) == before


def test_a_run_writes_only_so_many_and_the_next_goes_on(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WRITTEN_AT_MOST", 2)
    for axis in range(3):
        alike(stores, 5 + axis, axis)

    first = run(stores, make_cluster_task())
    second = run(stores, make_cluster_task())

    assert first.counts["clusters_left"] == 1
    assert (made(first), made(second)) == ((2, 0, 0), (1, 0, 0))


def test_the_report_shows_the_largest_clusters(stores: Stores) -> None:
    alike(stores, 5)
    alike(stores, 7, axis=1)
    alike(stores, 6, axis=2)

    counts = run(stores, make_cluster_task()).counts

    shown = counts["sample_clusters"]
    assert isinstance(shown, list)
    assert [each["size"] for each in shown] == [7, 6]
    assert set(shown[0]) == {
        *("cluster_id", "memory_ids", "size", "dominant_type", "time_span_days"),
        *("sample_content", "created_at"),
    }
    assert shown[0]["time_span_days"] == 6.0
    assert len(shown[0]["memory_ids"]) == 7


@pytest.mark.soak
def test_clustering_ten_thousand_stays_in_budget(large: Stores) -> None:
    began = time.thread_time()

    run(large, make_cluster_task(), dry_run=True)

    assert time.thread_time() - began < 15


def place(stores: Stores, count: int, each: int = 10) -> None:
    """Put so many memories into the index alone, ten of them about one thing."""
    chance = np.random.default_rng(1)
    centres = np.repeat(chance.standard_normal((count // each, 64)), each, axis=0)
    vectors = centres + 0.3 * chance.standard_normal((count, 64))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    none = np.zeros((0, 0), np.int8)
    for start in range(0, count, 5_000):
        puts = [
            MemoryPut(
                StoredMemory(_memory(number), f"{number}.md", Fingerprint(0, 0)),
                [PassageEmbedding(vectors[number].astype(np.float32), none)],
            )
            for number in range(start, min(start + 5_000, count))
        ]
        stores.index.write(IndexBatch(puts=puts))


def _memory(number: int) -> Memory:
    born = NOON - timedelta(minutes=number)
    return Memory(f"{number:08x}-0000-4000-8000-000000000000", f"note {number}", born, born)
