"""Decay: who is scored when, what is written where, and what undo brings back."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.errors import AlreadyDone, ScoredSince
from madeleine.model.event import EventKind
from madeleine.model.memory import DEFAULT_IMPORTANCE, Connection
from madeleine.model.query import RecallQuery
from madeleine.model.words import ABOUT_SELF, MACHINE_AUTHORS, Edge, Tier
from madeleine.recall.recall import recall
from madeleine.sleep.standings import PAGE
from madeleine.sleep.tasks.decay import make_decay_task
from madeleine.write.config import RecallConfig
from madeleine.write.connections import link
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores, VerbConfig
from madeleine.write.undo import undo
from tests.fakes import close, keep, make_stores, reopened, vault_bytes
from tests.sleep.nights import all_bytes, as_now, run
from tests.sleep.tasks.ageing import aged, fill, relevance, set_to, use, wait, weigh

NEAR = 2e-4  # scores have four decimals


# -- scores --------------------------------------------------------------------------------


def test_the_documented_curve_is_what_a_memory_gets(stores: Stores) -> None:
    fresh = keep(stores, "Lunch is at noon", confidence=0.5)
    tenth = aged(stores, "Backups run at night", 10, confidence=0.5)
    sure = aged(stores, "The moon is round", 10, confidence=1.0)
    heavy = aged(stores, "Ann lives in Dublin", 30, confidence=0.5)
    weigh(stores, heavy, 0.9)

    run(stores, make_decay_task())

    assert relevance(stores, fresh) == pytest.approx(0.85, abs=NEAR)
    assert relevance(stores, tenth) == pytest.approx(0.466490, abs=NEAR)
    assert relevance(stores, sure) == pytest.approx(0.466490 / 0.85, abs=NEAR)
    assert relevance(stores, heavy) == pytest.approx(0.196706, abs=NEAR)


def test_the_floored_curve_can_be_had_instead(stores: Stores) -> None:
    old = aged(stores, "Backups run at night", 90, confidence=0.5)

    run(stores, make_decay_task(), set_to(formula="floored"))

    assert relevance(stores, old) == pytest.approx(0.15, abs=NEAR)


def test_use_makes_a_memory_relevant_again(stores: Stores) -> None:
    old = aged(stores, "Backups run at night", 30, confidence=0.5)
    run(stores, make_decay_task())
    assert relevance(stores, old) == pytest.approx(0.140504, abs=NEAR)

    use(stores, old)
    run(stores, make_decay_task())

    assert relevance(stores, old) == pytest.approx(0.629695, abs=NEAR)


def test_a_formula_that_nobody_knows_is_refused(stores: Stores) -> None:
    keep(stores, "Lunch is at noon")

    report = run(stores, make_decay_task(), set_to(formula="golden"))

    assert "consolidation.formula" in str(report.error)
    assert "document or floored" in str(report.error)


def test_a_missing_importance_means_one_thing_everywhere(stores: Stores) -> None:
    """What shows a memory, what decay reckons with and what the jobs see are one number."""
    memory = keep(stores, "Lunch is at noon", confidence=0.5)
    given = keep(stores, "Backups run at night", confidence=0.5)
    weigh(stores, given, DEFAULT_IMPORTANCE)

    run(stores, make_decay_task())

    assert as_now(stores, memory).importance == DEFAULT_IMPORTANCE
    assert set(stores.search.standings().importance.tolist()) == {DEFAULT_IMPORTANCE}
    assert relevance(stores, memory) == relevance(stores, given)


def test_edges_a_job_made_do_not_strengthen_their_ends(stores: Stores) -> None:
    plain = aged(stores, "Lunch is at noon", 10, confidence=0.5)
    drawn = aged(stores, "Backups run at night", 10, confidence=0.5)
    meant = aged(stores, "Ann lives in Dublin", 10, confidence=0.5)
    for by in sorted(MACHINE_AUTHORS):
        arrow = Connection(plain.id, Edge.RELATED_TO, by=by)
        keep(stores, f"Something that {by} connected", connections=(arrow,))
    link(stores, meant.id, Connection(drawn.id, Edge.SUPPORTS), by="agent:me")

    run(stores, make_decay_task())

    assert relevance(stores, plain) == pytest.approx(0.466490, abs=NEAR)
    assert relevance(stores, drawn) == relevance(stores, meant)
    assert relevance(stores, meant) == pytest.approx(0.466490 * 1.20794, abs=NEAR)


def test_what_is_archived_is_left_alone(stores: Stores) -> None:
    away = keep(stores, "Lunch is at noon", tier=Tier.ARCHIVAL)
    keep(stores, "Backups run at night")

    report = run(stores, make_decay_task())

    assert relevance(stores, away) is None
    assert report.counts["processed"] == 1


# -- who has its turn ----------------------------------------------------------------------


def test_a_run_asked_for_scores_all_and_a_due_one_what_matters(stores: Stores) -> None:
    light, heavy = keep(stores, "Lunch is at noon"), keep(stores, "Backups run at night")
    weigh(stores, light, 0.1)
    run(stores, make_decay_task(), due=True)
    before = relevance(stores, light)
    wait(stores, days=3)

    due = run(stores, make_decay_task(), due=True)

    assert due.counts["processed"] == 1
    assert before is not None
    assert relevance(stores, light) == before
    assert run(stores, make_decay_task()).counts["processed"] == 2
    assert (relevance(stores, light) or 1) < before
    assert relevance(stores, heavy) is not None


def test_the_least_important_fade_first(stores: Stores) -> None:
    light, heavy = keep(stores, "Lunch is at noon"), keep(stores, "Backups run at night")
    weigh(stores, light, 0.1)
    weigh(stores, heavy, 0.9)
    for _ in range(30):
        run(stores, make_decay_task(), due=True)
        wait(stores, days=1)

    first, second = relevance(stores, light), relevance(stores, heavy)

    assert first is not None
    assert second is not None
    assert first < 0.3 < second * 2


@pytest.mark.soak
def test_every_memory_is_visited_past_any_page_limit(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    ids = fill(stores, 2 * PAGE + 7, days=10)

    report = run(stores, make_decay_task())

    assert report.counts["processed"] == report.counts["scored"] == len(ids)
    assert {each.relevance for each in stores.search.memories(ids).values()} == {0.5488}
    close(stores)


# -- what is written -----------------------------------------------------------------------


def test_no_file_is_touched_and_nothing_is_written_twice(stores: Stores) -> None:
    for number in range(5):
        aged(stores, f"Note number {number}", number * 5)
    files = vault_bytes(stores)

    first, second = run(stores, make_decay_task()), run(stores, make_decay_task())

    assert vault_bytes(stores) == files
    assert (first.counts["scored"], second.counts["scored"]) == (5, 0)
    assert second.applied == 0


def test_only_a_noticeable_move_is_written(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    run(stores, make_decay_task())
    wait(stores, hours=20)  # less than a day: only age tells, by 0.8 %

    assert run(stores, make_decay_task()).counts["scored"] == 0
    assert run(stores, make_decay_task(), set_to(relevance_step=0.005)).counts["scored"] == 1
    assert relevance(stores, memory) == pytest.approx(0.9917, abs=NEAR)


def test_a_dry_run_of_decay_changes_no_byte(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    aged(stores, "Lunch is at noon", 10)
    stores.journal.flush()
    before = all_bytes(home)

    report = run(stores, make_decay_task(), dry_run=True)

    assert all_bytes(home) == before
    assert report.counts["scored"] == 1
    assert report.patches[0]["would"] == "apply"
    close(stores)


def test_the_report_tells_the_documented_figures(stores: Stores) -> None:
    for days in (0, 10, 30, 90):
        aged(stores, f"{days} days old", days, confidence=0.5)
    first = run(stores, make_decay_task()).counts
    wait(stores, days=10)
    second = run(stores, make_decay_task()).counts

    assert first["processed"] == 4
    assert first["avg_relevance_before"] is None
    mean = (0.85 + 0.46649 + 0.140504 + 0.003839) / 4
    assert first["avg_relevance_after"] == pytest.approx(mean, abs=NEAR)
    assert first["distribution"] == {"high": 1, "medium": 1, "low": 1, "archive": 1}
    assert second["avg_relevance_before"] == first["avg_relevance_after"]
    assert second["distribution"] == {"high": 0, "medium": 1, "low": 1, "archive": 2}


def test_an_empty_store_and_one_memory_are_no_trouble(stores: Stores) -> None:
    nothing = run(stores, make_decay_task())
    only = keep(stores, "Lunch is at noon", tags=(ABOUT_SELF,))
    one = run(stores, make_decay_task())

    assert nothing.error is None
    assert nothing.counts["processed"] == 0
    assert nothing.counts["avg_relevance_after"] is None
    assert one.counts["processed"] == 1
    assert relevance(stores, only) is not None


# -- undo ----------------------------------------------------------------------------------


def test_undoing_the_first_decay_leaves_no_scores(stores: Stores) -> None:
    memories = [aged(stores, f"{days} days old", days) for days in (0, 10, 30)]
    done = run(stores, make_decay_task())
    assert all(relevance(stores, each) is not None for each in memories)

    undo(stores, done.run)

    assert [relevance(stores, each) for each in memories] == [None, None, None]


def test_undoing_a_later_decay_brings_the_previous_scores_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    memories = [aged(stores, f"{days} days old", days) for days in (0, 10, 30)]
    run(stores, make_decay_task())
    before = [relevance(stores, each) for each in memories]
    wait(stores, days=10)
    new = keep(stores, "New since then")
    done = run(stores, make_decay_task())
    assert [relevance(stores, each) for each in memories] != before

    back = undo(stores, done.run)

    assert [relevance(stores, each) for each in memories] == before
    assert relevance(stores, new) is None
    stores = reopened(stores, home, without_index=True)
    assert [relevance(stores, each) for each in [*memories, new]] == [*before, None]
    undo(stores, back.change)
    assert relevance(stores, new) is not None
    close(stores)


def test_scores_outlive_the_index(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    memory = aged(stores, "Lunch is at noon", 10)
    run(stores, make_decay_task())
    before = relevance(stores, memory)

    stores = reopened(stores, home, without_index=True)

    assert relevance(stores, memory) == before
    close(stores)


def test_compacting_keeps_the_newest_scores(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    memory = aged(stores, "Lunch is at noon", 1)
    for _ in range(4):
        run(stores, make_decay_task())
        wait(stores, days=3)
    wait(stores, days=40)
    before = relevance(stores, memory)

    compacted = stores.journal.compact(stores.clock.now().strftime("%Y-%m"))
    stores = reopened(stores, home, without_index=True)

    assert len(compacted.dropped) >= 3
    assert relevance(stores, memory) == before
    close(stores)


# -- size ----------------------------------------------------------------------------------


@pytest.mark.soak
def test_a_hub_of_many_connections_is_counted_quickly(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    ids = fill(stores, 20_000, hub=19_999, days=10)
    began = time.process_time()

    report = run(stores, make_decay_task())

    assert time.process_time() - began < 5  # a tenth of that, on a machine that is not busy
    assert report.error is None
    found = stores.search.memories(ids[:2])
    assert found[ids[0]].relevance == 1.0
    assert found[ids[1]].relevance == pytest.approx(0.5488 * 1.20794, abs=NEAR)
    close(stores)


@pytest.mark.soak
def test_fading_ten_thousand_takes_a_few_writes(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    fill(stores, 2 * PAGE, days=10)

    run(stores, make_decay_task())

    written = stores.log.recent_events([EventKind.SCORED.value], 100)
    assert len(written) == 2
    assert all("scores" not in each.body for each in written)
    close(stores)


def test_a_clock_that_was_set_back_fades_nothing(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    stores.clock.at -= timedelta(days=30)  # type: ignore[attr-defined]  # the fake clock

    run(stores, make_decay_task())

    assert relevance(stores, memory) == 1.0


# -- where it shows ------------------------------------------------------------------------


def asked(stores: Stores, question: str) -> list[str]:
    return [hit.memory.id for hit in recall(stores, RecallQuery(question), touch=False).hits]


def test_fading_changes_the_order_of_recall(tmp_path: Path) -> None:
    """Where relevance is given a weight; by default it has none."""
    quiet = make_stores(tmp_path / "quiet")
    weighing = make_stores(
        tmp_path / "weighing", config=VerbConfig(recall=RecallConfig(relevance_weight=0.9))
    )
    for stores in (quiet, weighing):
        first = aged(stores, "Lunch is at noon on Mondays", 1)
        second = aged(stores, "Lunch is at noon on Tuesdays and then some", 1)
        before = asked(stores, "When is lunch at noon on Mondays?")
        assert before == [first.id, second.id]
        scores = {"relevance": {first.id: 0.0, second.id: 1.0}}
        record_events(
            stores, [new_event(stores, EventKind.SCORED, {"scores": scores})], durable=False
        )

        after = asked(stores, "When is lunch at noon on Mondays?")

        assert after == ([second.id, first.id] if stores is weighing else before)
        close(stores)


def test_a_patch_about_one_memory_says_so(stores: Stores) -> None:
    aged(stores, "Lunch is at noon", 10)
    one = run(stores, make_decay_task(), dry_run=True)
    aged(stores, "Dinner is at seven", 10)
    two = run(stores, make_decay_task(), dry_run=True)

    assert [one.patches[0]["what"], two.patches[0]["what"]] == [
        "give 1 memory a new relevance",
        "give 2 memories a new relevance",
    ]


def test_undoing_an_older_run_says_that_a_newer_one_stands(stores: Stores) -> None:
    memory = aged(stores, "Lunch is at noon", 10)
    older = run(stores, make_decay_task())
    wait(stores, days=30)
    newer = run(stores, make_decay_task())
    now = relevance(stores, memory)

    with pytest.raises(ScoredSince, match="scored anew"):
        undo(stores, older.run)
    assert relevance(stores, memory) == now
    undo(stores, newer.run)
    undo(stores, older.run)

    assert relevance(stores, memory) is None
    with pytest.raises(AlreadyDone):
        undo(stores, older.run)
