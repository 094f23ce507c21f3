"""Purging: nothing of a purged memory remains, and nothing of the others goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.api.answers import build_purge_receipt
from madeleine.errors import AmbiguousId, NoSuchChange, NotInTrash
from madeleine.model.draft import MemoryLimits
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Connection, Memory
from madeleine.model.proposal import ProposalStatus
from madeleine.model.query import Filter
from madeleine.model.revision import read_revision
from madeleine.model.words import META_SOURCE, Edge
from madeleine.sleep.tasks.cluster import make_cluster_task
from madeleine.sleep.tasks.decay import make_decay_task
from madeleine.sleep.tasks.forget import make_forget_task as forget_task
from madeleine.sleep.values import AddConnections, Patch, RunReport, Synthesise
from madeleine.vault.purged_memories import PurgedMemories, describe_purged
from madeleine.vault.redaction import redact_event
from madeleine.write.connections import link
from madeleine.write.forget import forget, restore
from madeleine.write.merge import merge
from madeleine.write.proposals import decide_proposal
from madeleine.write.purge import purge
from madeleine.write.record_use import record_use
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, close, keep, make_stores, reopened, vault_bytes
from tests.sleep.nights import as_now, job_of, one_of_each, run
from tests.sleep.tasks.ageing import aged, set_to
from tests.sleep.tasks.meaning import at_cosine, keep_as, unlinked

SECRET = "zanzibarquokka"  # a word that nothing else holds


def everything(home: Path) -> dict[str, bytes]:
    """Every byte under a home."""
    return {
        str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()
    }


def holding(home: Path, *texts: str) -> list[str]:
    """The files in which any of the texts stands, in names or contents."""
    wanted = [each.encode("utf-8") for each in texts]
    return [
        name
        for name, data in everything(home).items()
        if any(each in data.lower() or each in name.encode("utf-8").lower() for each in wanted)
    ]


def test_nothing_of_a_purged_memory_remains(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    other = keep(stores, "Lunch is at noon", title="Lunch")
    memory = keep(stores, f"The {SECRET} sleeps", title=f"About the {SECRET}", tags=(SECRET,))
    revised = read_revision({"content": f"The {SECRET} wakes up"}, MemoryLimits())
    revise(stores, memory.id, revised)
    link(stores, memory.id, Connection(other.id, Edge.SUPPORTS, reason=SECRET), by="me")
    record_use(stores, [memory.id], "opened", "s", wait=True)
    run(stores, make_decay_task())
    forget(stores, memory.id, reason=f"no more {SECRET}")
    close(stores)
    stores = make_stores(home)
    assert holding(home, SECRET, memory.id)

    done = purge(stores, [memory.short_id])

    close(stores)
    assert holding(home, SECRET, memory.id) == []
    assert done.files == 1
    assert done.journal.dropped >= 4
    assert done.traces >= 2
    stores = reopened(make_stores(home), home, without_index=True)
    assert as_now(stores, other).content == "Lunch is at noon"
    with pytest.raises(NotInTrash):
        restore(stores, memory.id)
    close(stores)


def test_what_a_task_put_into_the_trash_is_purged_from_its_report_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    memory = aged(stores, f"The {SECRET} sleeps", 1_000)
    aged(stores, "Backups run at night", 1_000)
    report = run(stores, forget_task(), set_to(delete_threshold=0.05))
    assert report.counts["deleted_count"] == 2

    purge(stores, [memory.id])
    close(stores)

    assert holding(home, SECRET, memory.id) == []
    stores = make_stores(home)
    undo(stores, report.run)
    assert [each.content for each in everyone(stores)] == ["Backups run at night"]
    close(stores)


def everyone(stores: Stores) -> list[Memory]:
    return stores.search.listing(Filter(), stores.clock.now(), 100)


def test_use_scores_and_history_of_the_others_stay(stores: Stores) -> None:
    kept, gone = keep(stores, "Lunch is at noon"), keep(stores, "Dinner is at seven")
    for each in (kept, gone):
        record_use(stores, [each.id], "opened", "s", wait=True)
    run(stores, make_decay_task())
    before, story = as_now(stores, kept), stores.log.history(kept.id)
    forget(stores, gone.id)

    purge(stores, [gone.id])

    assert as_now(stores, kept) == before
    assert stores.log.history(kept.id) == story
    assert stores.log.history(gone.id) == []


def test_a_merge_whose_other_half_was_purged_can_still_be_taken_back(stores: Stores) -> None:
    keeper, dropped = keep(stores, "Lunch is at noon"), keep(stores, f"The {SECRET} eats at noon")
    before = stores.vault.read_bytes(stores.search.get(keeper.id).path)  # type: ignore[union-attr]
    done = merge(stores, keeper.id, dropped.id, content="Lunch is at noon sharp")

    purge(stores, [dropped.id])
    undo(stores, done.change)

    (path,) = [name for name in vault_bytes(stores) if not name.startswith("trash/")]
    assert stores.vault.read_bytes(path) == before


def test_a_purged_change_cannot_be_taken_back(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    gone = forget(stores, memory.id)

    purge(stores, [memory.id])

    with pytest.raises(NoSuchChange):
        undo(stores, gone.change)


def test_the_whole_trash_can_be_purged_at_once(stores: Stores) -> None:
    kept = keep(stores, "Lunch is at noon")
    for number in range(5):
        forget(stores, keep(stores, f"Note number {number}").id)

    done = purge(stores, None)

    assert len(done.memories) == done.files == 5
    assert list(stores.vault.trashed_memories()) == []
    assert as_now(stores, kept).content == "Lunch is at noon"
    assert purge(stores, None).files == 0


@pytest.mark.by_hand
def test_a_memory_that_lives_again_loses_only_its_copy_in_the_trash(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    gone = forget(stores, memory.id)
    data = stores.vault.read_bytes(gone.trash_path)
    restore(stores, memory.id)
    (stores.vault.root / "trash" / "copy.md").write_bytes(data)

    done = purge(stores, [memory.id])

    assert (done.files, done.journal.dropped, done.traces) == (1, 0, 0)
    assert as_now(stores, memory).content == "Lunch is at noon"


def test_what_is_not_in_the_trash_is_not_purged(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    files = vault_bytes(stores)

    with pytest.raises(NotInTrash):
        purge(stores, [memory.id])
    for content in ("One", "Two"):
        forget(stores, keep(stores, content).id)
    first = next(iter(stores.vault.trashed_memories())).memory.id[0]
    if len(stores.vault.find_trashed(first)) > 1:
        with pytest.raises(AmbiguousId):
            purge(stores, [first])

    assert files.items() <= vault_bytes(stores).items()


def test_a_purge_that_was_cut_short_is_finished_by_the_next(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    memory = keep(stores, f"The {SECRET} sleeps")
    forget(stores, memory.id)
    stores.journal.redact({memory.id})  # and then the power went

    purge(stores, [memory.id])
    close(stores)

    assert holding(home, SECRET, memory.id) == []


def test_a_purge_leaves_a_report_without_texts(stores: Stores) -> None:
    memory = keep(stores, f"The {SECRET} sleeps")
    forget(stores, memory.id)

    purge(stores, [memory.id])

    runs = stores.log.recent_events([EventKind.RUN.value], 10)
    (told,) = [each.body["report"] for each in runs if each.body["job"] == "purge"]
    assert told["memories"] == told["files"] == 1  # type: ignore[index]
    assert memory.id not in str(told)


def test_connections_of_others_that_point_to_it_are_told(stores: Stores) -> None:
    memory, other = keep(stores, "Lunch is at noon"), keep(stores, "Dinner is at seven")
    link(stores, other.id, Connection(memory.id, Edge.SUPPORTS), by="me")
    forget(stores, memory.id)

    done = purge(stores, [memory.id])

    assert done.pointing == 1


# -- what jobs said and made of it ---------------------------------------------------------


def linked_by_a_job(stores: Stores) -> tuple[Memory, Memory, RunReport]:
    """Two memories, the first linked to the second, which has a secret."""
    other = keep(stores, "Lunch is at noon", title="Lunch")
    memory = keep(stores, f"The {SECRET} sleeps", title=f"About the {SECRET}")
    arrow = Connection(memory.id, Edge.RELATED_TO, 0.7, by="planned")
    patch = Patch(AddConnections(other, (arrow,), (memory,)), f"both speak of the {SECRET}")
    return other, memory, run(stores, job_of(patch))


def test_what_a_job_said_when_it_linked_another_to_it_goes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    other, memory, linked = linked_by_a_job(stores)
    forget(stores, memory.id)
    assert holding(home / "journal", SECRET)

    purge(stores, [memory.id])
    undo(stores, linked.run)
    close(stores)

    assert holding(home, SECRET) == []
    stores = make_stores(home)
    assert as_now(stores, other).connections == ()
    close(stores)


@pytest.mark.parametrize("ask", [True, False])
def test_questions_about_it_go_whatever_was_answered(tmp_path: Path, ask: bool) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    other, memory, linked = linked_by_a_job(stores)
    if ask:
        arrow = Connection(memory.id, Edge.CONTRADICTS, 0.7, by="planned")
        asked = Patch(AddConnections(other, (arrow,), (memory,)), f"the {SECRET}?", ask=True)
        run(stores, job_of(asked))
        decide_proposal(stores, stores.log.proposals()[0].id, ProposalStatus.REJECTED, by="me")
    else:
        undo(stores, linked.run)
    assert stores.log.proposals(ProposalStatus.REJECTED)
    forget(stores, memory.id)

    purge(stores, [memory.id])
    close(stores)

    assert holding(home, SECRET) == []


def shelf(stores: Stores) -> list[Memory]:
    """Five memories about one thing, the first of which has a secret and is the nearest."""
    texts = [f"The {SECRET} shelf holds books", *(f"Shelf {n} holds books" for n in range(5))]
    return [keep_as(stores, text, at_cosine(0.95 - n / 100)) for n, text in enumerate(texts)]


@pytest.mark.parametrize("rewritten", [True, False])
def test_a_summary_goes_with_its_purged_member(tmp_path: Path, rewritten: bool) -> None:
    home = tmp_path / "home"
    with unlinked(home) as stores:
        member = shelf(stores)[0]
        run(stores, make_cluster_task())
        (summary,) = [each for each in everyone(stores) if each.source == META_SOURCE]
        forget(stores, member.id)
        if rewritten:  # then the journal has it as it was
            run(stores, make_cluster_task())

        done = purge(stores, [member.id])

        assert (summary.id in {each.id for each in done.memories}) != rewritten
    assert holding(home, SECRET, member.id) == []
    with unlinked(home) as stores:
        run(stores, make_cluster_task())
        (new,) = [each for each in everyone(stores) if each.source == META_SOURCE]
        assert len(new.connections) == 5


def test_a_summary_that_a_person_edited_is_left_and_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with unlinked(home) as stores:
        member = shelf(stores)[0]
        run(stores, make_cluster_task())
        (summary,) = [each for each in everyone(stores) if each.source == META_SOURCE]
        edited = read_revision(
            {"title": "Shelves", "content": "Books are on shelves"}, MemoryLimits()
        )
        revise(stores, summary.id, edited)
        forget(stores, member.id)

        done = purge(stores, [member.id])

        assert [each.id for each in done.made_from] == [summary.id]
        assert as_now(stores, summary).content == "Books are on shelves"
    assert holding(home, SECRET) == []


def test_what_was_made_from_it_is_named(stores: Stores) -> None:
    action = one_of_each(stores)["synthesise"]
    assert isinstance(action, Synthesise)
    run(stores, job_of(Patch(action, "m")))
    forget(stores, action.members[0].id)

    done = purge(stores, [action.members[0].id])

    assert [each.headline for each in done.made_from] == ["Meals"]
    receipt = build_purge_receipt(done)
    assert f"`{done.made_from[0].short_id}`" in receipt.text


def test_who_took_over_the_words_of_a_merged_memory_is_named(stores: Stores) -> None:
    gone, kept, last = (keep(stores, f"The gate opens with {each}") for each in "abc")
    merge(stores, kept.id, gone.id, content="The gate opens with a and b")
    merge(stores, last.id, kept.id, content="The gate opens with a, b and c")

    done = purge(stores, [gone.id])

    assert [each.id for each in done.merged_into] == sorted([kept.id, last.id])
    receipt = build_purge_receipt(done)
    assert f"It was merged into: `{done.merged_into[0].short_id}`" in receipt.text
    assert {each.id for each in receipt.left.merged_into} == {kept.id, last.id}


def test_who_took_over_nothing_in_the_end_is_not_named(stores: Stores) -> None:
    gone, kept, other = (keep(stores, f"The gate opens with {each}") for each in "abc")
    undo(stores, merge(stores, kept.id, gone.id).change)
    merge(stores, other.id, gone.id)
    merge(stores, other.id, kept.id)

    assert [each.id for each in purge(stores, [gone.id]).merged_into] == [other.id]
    assert [each.id for each in purge(stores, None).merged_into] == [other.id]


def test_a_memory_that_says_the_name_of_a_job_takes_no_run_with_it(stores: Stores) -> None:
    memory = keep(stores, "decay")
    run(stores, make_decay_task())
    forget(stores, memory.id)

    purge(stores, [memory.id])

    jobs = [each.body["job"] for each in stores.log.recent_events([EventKind.RUN.value], 10)]
    assert sorted(map(str, jobs)) == ["decay", "purge", "rebuild"]


# -- lines of the journal ------------------------------------------------------------------


def line(kind: EventKind, **body: object) -> Event:
    return Event("e1", NOON, kind, "laptop", body)


@pytest.mark.parametrize(
    "event",
    [
        line(EventKind.USED, memory="x", how="opened"),
        line(EventKind.REMEMBERED, memory="x", change="c", path="fact_x.md"),
        line(EventKind.PROPOSED, proposal="p", nodes=["a", "x"], wording="merge"),
        line(EventKind.JUDGED, judge="j", pair=["x", "b"], verdict={}),
        line(EventKind.CHANGED, change="c", verb="forget", edits=[{"memory": "x", "before": "t"}]),
    ],
)
def test_a_line_about_it_goes(event: Event) -> None:
    assert redact_event(event, PurgedMemories({"x"}), []) is None


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ({"scores": {"relevance": {"x": 1, "a": 0.5}}}, {"scores": {"relevance": {"a": 0.5}}}),
        ({"scores": {"x": {"importance": 1}}, "was": {}}, {"scores": {}, "was": {}}),
        ({"report": {"patches": [{"memories": ["x"]}, 1]}}, {"report": {"patches": [1]}}),
        (
            {"report": {"deleted": [{"id": "x"}, {"id": "a"}]}},
            {"report": {"deleted": [{"id": "a"}]}},
        ),
    ],
)
def test_a_line_about_others_loses_its_part(body: dict[str, object], left: object) -> None:
    found = redact_event(line(EventKind.RUN, **body), PurgedMemories({"x"}), [])

    assert found is not None
    assert found.body == left


def told(memory: Memory) -> PurgedMemories:
    return describe_purged({memory.id}, [memory])


LUNCH = Memory("1f3a91c2-0000-4000-8000-000000000000", f"Lunch with {SECRET} at noon", NOON, NOON)


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (
            {"report": {"clusters": [{"sample_content": LUNCH.content}, {"size": 5}]}},
            {"report": {"clusters": [{"size": 5}]}},
        ),
        (
            {"report": {"patches": [{"what": "connect `1f3a91c2` (L) to `22222222` (D)"}]}},
            {"report": {"patches": []}},
        ),
        ({"verdict": {"reason": f"as in “{LUNCH.content}”"}}, {"verdict": {"reason": "[purged]"}}),
        ({"report": {"stopped": "Lunch with Ada at noon"}}, None),
        ({"job": "decay", "by": "cluster"}, None),
    ],
)
def test_a_line_that_quotes_it_without_its_id_loses_that(
    body: dict[str, object], left: object
) -> None:
    found = redact_event(line(EventKind.RUN, **body), told(LUNCH), [])

    assert found is not None
    assert found.body == (body if left is None else left)


def test_a_refused_summary_stays_refused_without_one_of_its_members() -> None:
    action = {"key": "k", LUNCH.id: "member", "a": "member"}
    asked = line(
        EventKind.PROPOSED, proposal="p", nodes=[], wording="write a summary", action=action
    )

    found = redact_event(asked, told(LUNCH), [])

    assert found is not None
    assert found.body["action"] == {"key": "k", "a": "member"}


def test_a_change_of_several_files_keeps_the_others() -> None:
    edits = [{"memory": "x", "before": "its text"}, {"memory": "a", "before": "names x"}]
    details = {
        "reasons": {"x": "its text", "a": "old"},
        "deeds": [{"nodes": ["x"], "wording": "its text"}, {"nodes": ["a"]}],
        "title": "its text",
    }
    texts: list[bytes] = []

    found = redact_event(
        line(EventKind.CHANGED, edits=edits, reason="its text", details=details),
        PurgedMemories({"x"}),
        texts,
    )

    assert found is not None
    assert found.body == {
        "edits": edits[1:],
        "details": {"reasons": {"a": "old"}, "deeds": [{"nodes": ["a"]}]},
    }
    assert texts == [b"its text"]
