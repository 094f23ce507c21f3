"""The jobs that need no judge, on small stores made by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.model.draft import Draft
from madeleine.model.event import EventKind
from madeleine.model.memory import Connection, Memory
from madeleine.model.proposal import ProposalStatus
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.rules.importance import RECENCY_WEIGHT, importance_score
from madeleine.sleep.cycle import JOBS
from madeleine.sleep.jobs.auto_cluster import make_auto_cluster
from madeleine.sleep.jobs.decay_manager import make_decay_manager
from madeleine.sleep.jobs.importance_scorer import make_importance_scorer
from madeleine.sleep.jobs.index_updater import make_index_updater
from madeleine.sleep.reports import report_to_json
from madeleine.sleep.values import Job
from madeleine.vault.vault import FolderVault
from madeleine.write.connections import link
from madeleine.write.identity import ensure_self
from madeleine.write.proposals import decide_proposal
from madeleine.write.record import new_event, record_events
from madeleine.write.record_use import record_use
from madeleine.write.remember_many import remember_many
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, close, keep, make_stores, vault_bytes
from tests.sleep.nights import CONFIG, all_bytes, as_now, run

OURS = (make_importance_scorer, make_index_updater, make_auto_cluster, make_decay_manager)


def wait(stores: Stores, **length: float) -> None:
    stores.clock.pass_by(**length)  # type: ignore[attr-defined]  # the fake clock


def use(stores: Stores, memory_id: str, session: str) -> None:
    assert record_use(stores, [memory_id], "recalled", session) == ()


def score(stores: Stores, memory: Memory, value: float) -> None:
    body = {"scores": {memory.id: {"importance": value}}}
    record_events(stores, [new_event(stores, EventKind.SCORED, body)], durable=False)


def test_the_cycle_has_the_documented_order() -> None:
    assert list(JOBS) == [
        *("importance_scorer", "index_updater", "duplicate_merger", "conflict_detector"),
        *("auto_linker", "auto_cluster", "consolidator", "decay_manager"),
    ]


@pytest.mark.parametrize("job", OURS)
def test_a_job_has_nothing_to_do_in_an_empty_store(tmp_path: Path, job: type[Job]) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)

    report = run(stores, job())

    assert (report.error, report.applied, report.proposed, report.looked) == (None, 0, 0, 0)
    close(stores)


def test_freshness_counts_half_after_the_half_life_that_is_set(stores: Stores) -> None:
    memory = keep(stores, "The kettle is red")
    wait(stores, days=30)

    run(stores, make_importance_scorer(), replace(CONFIG, importance_recency_half_life_days=30.0))

    scored = stores.search.memories([memory.id])[memory.id]
    assert scored.importance == pytest.approx(RECENCY_WEIGHT / 2, abs=1e-3)


@pytest.mark.parametrize("job", OURS)
def test_a_dry_run_of_a_job_changes_no_byte(tmp_path: Path, job: type[Job]) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    homeless(stores)
    wait(stores, days=1)
    if job is make_decay_manager:
        run(stores, make_importance_scorer())
    wait(stores, days=2)
    (home / "vault" / "by-hand.md").write_text("A remark by hand\n", encoding="utf-8")
    stores.journal.flush()
    before = all_bytes(home)

    report = run(stores, job(), dry_run=True, at_once=True)

    assert report.error is None
    assert all_bytes(home) == before
    assert report.patches or report.counts
    close(stores)


@pytest.mark.parametrize("job", OURS)
def test_running_a_job_twice_is_running_it_once(stores: Stores, job: type[Job]) -> None:
    homeless(stores)
    wait(stores, days=3)
    run(stores, make_importance_scorer())
    run(stores, job())
    after = vault_bytes(stores)
    proposals = stores.log.proposals()

    again = run(stores, job())

    assert (again.applied, again.proposed) == (0, 0)
    assert vault_bytes(stores) == after
    assert stores.log.proposals() == proposals


# -- importance ----------------------------------------------------------------------------


def test_importance_follows_uses_connections_and_freshness(stores: Stores) -> None:
    busy, plain, hub = (keep(stores, text) for text in ("often used", "never used", "a hub"))
    for day in range(3):
        wait(stores, days=1)
        use(stores, busy.id, f"s{day}")
    link(stores, hub.id, Connection(plain.id, Edge.SUPPORTS), by="agent:me")

    report = run(stores, make_importance_scorer())

    assert report.counts["scored"] == 3
    now = report.began
    for memory, uses, connections in ((busy, 3, 0), (plain, 0, 1), (hub, 0, 1)):
        known = as_now(stores, memory)
        days = (now - known.last_accessed) / timedelta(days=1)
        expected = importance_score(uses, connections, days, known.stability)
        assert known.importance == pytest.approx(expected, abs=1e-4)


def test_edges_a_job_made_do_not_strengthen_their_ends(stores: Stores) -> None:
    one, other = keep(stores, "Lunch is at noon"), keep(stores, "Dinner is at seven")
    link(stores, one.id, Connection(other.id, Edge.SUPPORTS, by="auto_linker"))
    link(stores, one.id, Connection(other.id, Edge.RELATED_TO, by="remember"))

    run(stores, make_importance_scorer())

    assert as_now(stores, one).importance == pytest.approx(0.33, abs=0.001)


def test_a_score_that_hardly_moves_is_not_written(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    run(stores, make_importance_scorer())
    wait(stores, minutes=10)

    assert run(stores, make_importance_scorer()).applied == 0

    wait(stores, days=1)
    assert run(stores, make_importance_scorer()).applied == 1
    assert as_now(stores, memory).importance < 0.2


def test_scoring_changes_no_file(stores: Stores) -> None:
    keep(stores, "Lunch is at noon")
    before = vault_bytes(stores)

    assert run(stores, make_importance_scorer()).applied == 1
    assert vault_bytes(stores) == before


def test_every_memory_is_visited_past_any_page_limit(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("madeleine.sleep.standings.PAGE", 7)
    drafts = [Draft(f"remark number {number}") for number in range(50)]
    remember_many(stores, drafts)

    report = run(stores, make_importance_scorer())

    assert (report.looked, report.counts["scored"]) == (50, 50)


# -- decay ---------------------------------------------------------------------------------


def test_what_nobody_uses_goes_to_the_archive_when_documented(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    score(stores, memory, 0.49)
    wait(stores, days=1.203)
    assert run(stores, make_decay_manager(), at_once=True).applied == 0

    wait(stores, days=0.002)
    report = run(stores, make_decay_manager(), at_once=True)

    assert report.applied == 1
    assert as_now(stores, memory).tier is Tier.ARCHIVAL
    assert "unlikely to come to mind (30%)" in str(report.patches[0]["why"])


def test_core_self_and_what_matters_stay_where_they_are(stores: Stores) -> None:
    core = keep(stores, "Never deploy on Fridays", tier=Tier.CORE)
    heavy = keep(stores, "The invoice number is 4711")
    score(stores, core, 0.1)
    score(stores, heavy, 0.5)
    ensure_self(stores)
    before = vault_bytes(stores)
    wait(stores, days=400)

    report = run(stores, make_decay_manager())

    assert report.applied == 0
    assert vault_bytes(stores) == before


def test_a_use_keeps_a_memory_at_hand(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    score(stores, memory, 0.1)
    wait(stores, days=3)
    use(stores, memory.id, "s")
    wait(stores, days=1)

    assert run(stores, make_decay_manager(), at_once=True).applied == 0


def test_true_fsrs_lets_a_memory_rest_longer(stores: Stores) -> None:
    pytest.importorskip("fsrs")
    memory = keep(stores, "Lunch is at noon")
    score(stores, memory, 0.1)
    use(stores, memory.id, "s")
    config = replace(CONFIG, lifecycle="fsrs")
    wait(stores, days=30)

    assert run(stores, make_decay_manager(), config).applied == 0

    wait(stores, days=90)
    assert run(stores, make_decay_manager(), config).applied == 1


def test_an_unknown_lifecycle_is_an_error_in_the_report(stores: Stores) -> None:
    report = run(stores, make_decay_manager(), replace(CONFIG, lifecycle="forever"))

    assert "sleep.lifecycle" in str(report.error)


def test_an_old_store_is_not_archived_overnight(stores: Stores) -> None:
    drafts = [Draft(f"remark number {n}", created=NOON - timedelta(days=999)) for n in range(60)]
    remember_many(stores, drafts)
    run(stores, make_importance_scorer())

    report = run(stores, make_decay_manager(), at_once=True)

    assert (report.applied, report.proposed) == (0, 1)
    assert "60 of 60 memories would change" in str(report_to_json(report)["stopped"])


def test_an_old_store_is_not_asked_about_anew_before_somebody_answers(stores: Stores) -> None:
    drafts = [Draft(f"remark number {n}", created=NOON - timedelta(days=999)) for n in range(60)]
    remember_many(stores, drafts)
    run(stores, make_importance_scorer())

    assert run(stores, make_decay_manager(), at_once=True).proposed == 1
    (first,) = stores.log.proposals(ProposalStatus.PENDING)
    second = run(stores, make_decay_manager(), at_once=True)
    assert (second.proposed, second.patches) == (0, [])
    assert "memories would change" in str(report_to_json(second)["stopped"])

    decide_proposal(stores, first.id, ProposalStatus.REJECTED)
    assert run(stores, make_decay_manager(), at_once=True).proposed == 1
    (next_one,) = stores.log.proposals(ProposalStatus.PENDING)
    assert not set(first.source_nodes) & set(next_one.source_nodes)
    assert len(first.source_nodes) == len(next_one.source_nodes) == 10


# -- spaces --------------------------------------------------------------------------------


def homeless(stores: Stores, source: str = "agent:me") -> Memory:
    """A memory without a space and three neighbours, two of them in one."""
    near = [
        keep(stores, text, space=space)
        for text, space in (("ships in May", "atlas"), ("has a map", "atlas"), ("is blue", "sea"))
    ]
    links = tuple(Connection(each.id, Edge.SUPPORTS) for each in near)
    return keep(stores, "the printer is upstairs", source=source, connections=links)


def neighbours(stores: Stores, *spaces: str | None) -> tuple[Connection, ...]:
    """Connections that somebody drew, to one memory in each of these spaces."""
    near = [keep(stores, f"plank {at}", space=space) for at, space in enumerate(spaces)]
    return tuple(Connection(each.id, Edge.SUPPORTS) for each in near)


@pytest.mark.parametrize(
    "spaces", [("atlas",) * 3, ("atlas",) * 3 + (None,) * 2, ("atlas",) * 4 + ("sea",)]
)
def test_a_clear_vote_writes_the_space_into_the_file(
    stores: Stores, spaces: tuple[str | None, ...]
) -> None:
    links = neighbours(stores, *spaces)
    memory = keep(stores, "the printer is upstairs", connections=links)
    before = vault_bytes(stores)

    report = run(stores, make_auto_cluster())

    assert (report.applied, report.proposed) == (1, 0)
    assert as_now(stores, memory).space == "atlas"
    path = stores.search.get(memory.id).path  # type: ignore[union-attr]  # it is there
    assert b"\nspace: atlas\n" in (stores.vault.root / path).read_bytes()
    undo(stores, report.run)
    assert vault_bytes(stores) == before


@pytest.mark.parametrize("spaces", [("atlas",) * 2, ("atlas",) * 3 + ("sea",)])
def test_a_vote_that_is_not_clear_is_a_question(
    stores: Stores, spaces: tuple[str | None, ...]
) -> None:
    keep(stores, "the printer is upstairs", connections=neighbours(stores, *spaces))

    report = run(stores, make_auto_cluster())

    assert (report.applied, report.proposed) == (0, 1)


def test_no_job_moves_a_global_memory_into_a_space_by_a_narrow_vote(stores: Stores) -> None:
    memory = homeless(stores)
    before = vault_bytes(stores)

    report = run(stores, make_auto_cluster())

    assert (report.applied, report.proposed) == (0, 1)
    assert vault_bytes(stores) == before
    (waiting,) = stores.log.proposals(ProposalStatus.PENDING)
    decide_proposal(stores, waiting.id, ProposalStatus.APPROVED)
    assert as_now(stores, memory).space == "atlas"


def test_what_was_brought_without_a_space_takes_the_majoritys(stores: Stores) -> None:
    memory = homeless(stores, source="import:notes")
    before = vault_bytes(stores)

    report = run(stores, make_auto_cluster())

    assert (report.applied, report.proposed) == (1, 0)
    assert as_now(stores, memory).space == "atlas"
    undo(stores, report.run)
    assert vault_bytes(stores) == before


def test_what_is_about_the_user_belongs_everywhere(stores: Stores) -> None:
    atlas = [keep(stores, text, space="atlas") for text in ("ships in May", "has a map")]
    links = tuple(Connection(each.id, Edge.SUPPORTS) for each in atlas)
    keep(stores, "prefers tabs", about_self=True, tags=("about_self",), connections=links)
    the_self = ensure_self(stores)
    for each in atlas:
        link(stores, the_self, Connection(each.id, Edge.SUPPORTS))

    report = run(stores, make_auto_cluster())

    assert (report.applied, report.proposed) == (0, 0)


def test_a_tie_and_a_single_neighbour_ask_nobody(stores: Stores) -> None:
    one, other = keep(stores, "a map", space="atlas"), keep(stores, "a wave", space="sea")
    keep(stores, "between two", connections=(Connection(one.id), Connection(other.id)))
    keep(stores, "beside one", connections=(Connection(one.id),))

    assert run(stores, make_auto_cluster()).proposed == 0


# -- the index -----------------------------------------------------------------------------


def test_files_that_changed_unseen_are_found(stores: Stores) -> None:
    kept, gone = keep(stores, "Lunch is at noon"), keep(stores, "Dinner is at seven")
    path = stores.search.get(kept.id).path  # type: ignore[union-attr]  # it is there
    file = stores.vault.root / path
    file.write_bytes(file.read_bytes().replace(b"noon", b"midday"))
    (stores.vault.root / stores.search.get(gone.id).path).unlink()  # type: ignore[union-attr]
    (stores.vault.root / "new.md").write_text("A remark by hand\n", encoding="utf-8")

    report = run(stores, make_index_updater())

    assert report.counts == {"written": 2, "dropped": 1}
    assert as_now(stores, kept).content == "Lunch is at midday"
    assert stores.search.get(gone.id) is None


def test_nothing_changed_means_no_file_is_read_and_no_line_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    for number in range(5):
        keep(stores, f"remark number {number}")
    run(stores, make_index_updater())
    wait(stores, days=0.04)
    stores.journal.flush()
    before = all_bytes(home)
    reads: list[str] = []
    monkeypatch.setattr(FolderVault, "_look", lambda self, path: reads.append(path))

    report = run(stores, make_index_updater())

    assert (report.looked, reads, report.idle) == (5, [], True)
    assert all_bytes(home) == before
    close(stores)


def test_one_idle_run_an_hour_is_written_down(stores: Stores) -> None:
    for _ in range(5):
        run(stores, make_index_updater())
        wait(stores, days=0.5 / 24)

    assert len(stores.log.recent_events([EventKind.RUN.value], 9)) == 3


def test_another_devices_journal_is_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    desk = make_stores(home, device="desk-aaaaaa")
    memory = keep(desk, "Lunch is at noon")
    laptop = make_stores(home, device="laptop-bbbbbb")
    use(laptop, memory.id, "s")
    laptop.journal.flush()
    close(laptop)

    run(desk, make_index_updater())

    assert as_now(desk, memory).access_count == 1
    close(desk)


def test_a_memory_whose_model_was_away_is_read_when_it_is_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    without = make_stores(home, with_model=False)
    keep(without, "Lunch is at noon", type=MemoryType.FACT)
    close(without)
    stores = make_stores(home)

    report = run(stores, make_index_updater())

    assert report.counts["read"] == 1
    assert stores.search.unembedded_ids(5) == []
    close(stores)


def test_likeness_alone_moves_nobody_who_may_be_where_they_want(stores: Stores) -> None:
    """Every global memory is like something in some project."""
    atlas = [keep(stores, text, space="atlas") for text in ("ships in May", "has a map")]
    links = tuple(Connection(each.id, Edge.RELATED_TO, by="remember") for each in atlas)
    keep(stores, "the printer is upstairs", connections=links)
    brought = keep(stores, "paper is below", source="import:notes", connections=links)

    report = run(stores, make_auto_cluster())

    assert (report.applied, report.proposed) == (1, 0)
    assert as_now(stores, brought).space == "atlas"


@pytest.mark.parametrize("due", [True, False])
def test_a_night_waits_a_month_whoever_asks_for_it(stores: Stores, due: bool) -> None:
    memory = keep(stores, "Lunch is at noon")
    score(stores, memory, 0.1)
    wait(stores, days=29)
    assert run(stores, make_decay_manager(), due=due).applied == 0

    wait(stores, days=2)
    assert run(stores, make_decay_manager(), due=due).applied == 1


def test_what_was_brought_here_lately_is_not_archived_unasked(stores: Stores) -> None:
    old = keep(stores, "Rotate the keys by hand", created=NOON - timedelta(days=90))
    score(stores, old, 0.0)

    assert run(stores, make_decay_manager(), due=True).applied == 0
    wait(stores, days=29)
    assert run(stores, make_decay_manager(), due=True).applied == 0
    wait(stores, days=2)
    assert run(stores, make_decay_manager(), due=True).applied == 1


def test_what_describes_the_asker_never_fades(stores: Stores) -> None:
    keep(stores, "My name is Dora", tags=("about_self",))
    wait(stores, days=300)
    run(stores, make_importance_scorer())

    assert run(stores, make_decay_manager()).applied == 0
