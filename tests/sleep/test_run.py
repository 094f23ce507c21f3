"""A run: plan, breaker, apply, report, undo; whatever the job."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.errors import EditedSince, MindDown, NoSuchChange, UnderWay
from madeleine.model.draft import MemoryLimits
from madeleine.model.event import EventKind
from madeleine.model.memory import Connection, Memory
from madeleine.model.revision import read_revision
from madeleine.model.words import Edge, Tier
from madeleine.settings import read_settings
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.jobs.duplicate_merger import make_duplicate_merger
from madeleine.sleep.run import run_all, run_job
from madeleine.sleep.values import (
    STOPPED,
    AddConnections,
    JobContext,
    Merge,
    Patch,
    RunReport,
    Score,
    SetTier,
)
from madeleine.sleep.wording import render_stop
from madeleine.vault.vault import FolderVault
from madeleine.write.merge import merge
from madeleine.write.reconcile import reconcile
from madeleine.write.recover import recover_changes
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import close, keep, make_stores, reopened, vault_bytes
from tests.sleep.nights import (
    CONFIG,
    FILE_KINDS,
    KINDS,
    Planned,
    Told,
    all_bytes,
    as_now,
    importance,
    job_of,
    living,
    one_of_each,
    run,
)
from tests.sleep.scripted import ScriptedJudge, always


def reports_in_journal(stores: Stores) -> list[dict[str, object]]:
    found = stores.log.recent_events([EventKind.RUN.value], 100)
    return [dict(each.body) for each in found]


# -- doing and undoing ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_a_patch_is_carried_out_and_told_in_the_report(stores: Stores, kind: str) -> None:
    action = one_of_each(stores)[kind]
    before = vault_bytes(stores)

    report = run(stores, job_of(Patch(action, "because")))

    assert (report.applied, report.skipped, report.error) == (1, 0, None)
    assert vault_bytes(stores) != before
    assert report.patches[0]["why"] == "because"
    (kept,) = reports_in_journal(stores)
    assert kept["run"] == report.run
    assert kept["job"] == "planned"


@pytest.mark.few(5)
@pytest.mark.proves("I7")
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_taken_back_leaves_everything_as_before(stores: Stores, kind: str) -> None:
    action = one_of_each(stores)[kind]
    before = vault_bytes(stores)
    weights = {each.id: each.importance for each in all_of(stores)}

    report = run(stores, job_of(Patch(action, "because")))
    undo(stores, report.run)

    assert living(vault_bytes(stores)) == living(before)
    assert {each.id: each.importance for each in all_of(stores)} == weights


def all_of(stores: Stores) -> list[Memory]:
    page = stores.search.standings()
    return list(stores.search.memories(page.ids).values())


def test_a_whole_run_of_many_patches_is_taken_back_at_once(stores: Stores) -> None:
    actions = one_of_each(stores)
    before = living(vault_bytes(stores))
    wanted = [Patch(actions[kind], kind) for kind in ("link", "tier", "supersede", "score")]

    report = run(stores, job_of(*wanted))
    assert report.applied == 4
    done = undo(stores, report.run)

    assert living(vault_bytes(stores)) == before
    assert len(done.changes) == 4


def test_a_taken_back_run_can_be_brought_back(stores: Stores) -> None:
    actions = one_of_each(stores)
    score = actions["score"]
    assert isinstance(score, Score)
    run_id = run(stores, job_of(Patch(actions["tier"], "t"), Patch(score, "s"))).run
    after = vault_bytes(stores)

    back = undo(stores, run_id)
    undo(stores, back.change)

    assert vault_bytes(stores) == after
    lunch = next(iter(score.scores))
    assert stores.search.memories([lunch])[lunch].importance == 0.9


def test_a_run_is_taken_back_after_the_index_is_lost(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    actions = one_of_each(stores)
    before = living(vault_bytes(stores))
    report = run(stores, job_of(Patch(actions["merge"], "m"), Patch(actions["score"], "s")))

    stores = reopened(stores, home, without_index=True)
    undo(stores, report.run)

    assert living(vault_bytes(stores)) == before
    assert {each.importance for each in all_of(stores)} == {0.5}
    close(stores)


def test_a_score_that_was_renewed_since_is_not_taken_back(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    first = run(stores, job_of(Patch(score(memory.id, 0.7, 0.5), "s")))
    run(stores, job_of(Patch(score(memory.id, 0.8, 0.7), "s")))

    with pytest.raises(Exception, match="scored anew since"):
        undo(stores, first.run)

    assert importance(stores, memory) == 0.8


def score(memory_id: str, value: float, was: float) -> Score:
    return Score("importance", {memory_id: value}, {memory_id: was})


@pytest.mark.by_hand
def test_undoing_a_run_whose_file_a_person_edited_changes_nothing(stores: Stores) -> None:
    actions = one_of_each(stores)
    report = run(stores, job_of(Patch(actions["link"], "l"), Patch(actions["tier"], "t")))
    link = actions["link"]
    assert isinstance(link, AddConnections)
    stored = stores.search.get(link.source.id)
    assert stored is not None
    path = stores.vault.root / stored.path
    path.write_text(path.read_text(encoding="utf-8") + "and mine\n", encoding="utf-8")
    after = vault_bytes(stores)

    with pytest.raises(EditedSince, match=stored.memory.headline):
        undo(stores, report.run)

    assert vault_bytes(stores) == after


def test_there_is_nothing_to_take_back_of_a_run_that_did_nothing(stores: Stores) -> None:
    report = run(stores, job_of())

    with pytest.raises(NoSuchChange):
        undo(stores, report.run)


# -- dry runs ------------------------------------------------------------------------------


@pytest.mark.parametrize("ask", [False, True])
def test_a_dry_run_changes_no_byte(tmp_path: Path, ask: bool) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    patches = [Patch(each, "why", ask=ask) for each in one_of_each(stores).values()]
    stores.journal.flush()
    before = all_bytes(home)

    report = run(stores, job_of(*patches), dry_run=True)

    assert all_bytes(home) == before
    assert report.dry_run
    assert len(report.patches) == len(patches)
    close(stores)


def test_a_dry_run_shows_what_the_run_then_does(stores: Stores) -> None:
    actions = one_of_each(stores)
    wanted = [Patch(actions["tier"], "t"), Patch(actions["merge"], "m")]

    shown = run(stores, job_of(*wanted), dry_run=True)
    done = run(stores, job_of(*wanted))

    assert shown.applied == done.applied == 2
    assert [each["what"] for each in shown.patches] == [each["what"] for each in done.patches]
    diff = str(shown.patches[0]["diff"])
    assert "+tier: archival" in diff
    assert "goes to the trash" in str(shown.patches[1]["diff"])


# -- what changed meanwhile ----------------------------------------------------------------


def test_a_memory_that_was_revised_meanwhile_is_left_alone(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")

    def plan(context: JobContext) -> Sequence[Patch]:
        patch = Patch(SetTier(as_now(stores, memory), Tier.ARCHIVAL), "t")
        revise(stores, memory.id, read_revision({"content": "Lunch is at one"}, MemoryLimits()))
        return [patch]

    looked: list[set[str]] = []
    report = run(stores, Planned(plan, ends=lambda context: looked.append(context.again)))

    assert (report.applied, report.skipped) == (0, 1)
    assert as_now(stores, memory).tier is Tier.WORKING
    assert as_now(stores, memory).content == "Lunch is at one"
    assert looked == [{memory.id}]


@pytest.mark.by_hand
def test_a_file_edited_by_hand_meanwhile_is_left_alone(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    stored = stores.search.get(memory.id)
    assert stored is not None
    path = stores.vault.root / stored.path
    mine = path.read_bytes() + b"\nby hand\n"
    path.write_bytes(mine)

    report = run(stores, job_of(Patch(SetTier(memory, Tier.ARCHIVAL), "t")))

    assert report.skipped == 1
    assert path.read_bytes() == mine


def test_a_use_meanwhile_is_no_change(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    seen = replace(memory, usage=replace(memory.usage, access_count=7))

    report = run(stores, job_of(Patch(SetTier(seen, Tier.ARCHIVAL), "t")))

    assert report.applied == 1


def test_of_many_links_only_those_of_a_changed_memory_are_skipped(stores: Stores) -> None:
    target = keep(stores, "the middle of it all")
    sources = [keep(stores, f"remark number {number}") for number in range(40)]
    patches = [
        Patch(AddConnections(each, (Connection(target.id, by="planned"),)), "l") for each in sources
    ]
    revise(stores, sources[3].id, read_revision({"content": "something else"}, MemoryLimits()))

    report = run(stores, job_of(*patches))

    assert (report.applied, report.skipped) == (39, 1)
    linked = [each for each in sources if links_to(stores, each.id, target.id)]
    assert [each.id for each in linked] == [each.id for each in sources if each is not sources[3]]
    assert len(stores.log.changes(report.run)) <= 6


def test_patches_that_share_a_change_keep_their_own_reasons(stores: Stores) -> None:
    memories = [keep(stores, f"remark number {number}") for number in range(3)]
    patches = [Patch(SetTier(each, Tier.ARCHIVAL), f"for {each.short_id}") for each in memories]

    run(stores, job_of(*patches))

    (newest, *_) = stores.log.history(memories[1].id)
    reasons = newest.body["details"]["reasons"]  # type: ignore[index]  # plain JSON
    assert reasons[memories[1].id] == f"for {memories[1].short_id}"


def links_to(stores: Stores, source: str, target: str) -> bool:
    memory = stores.search.memories([source])[source]
    return any(each.target == target and each.by == "planned" for each in memory.connections)


def test_a_link_is_not_drawn_to_what_says_something_else_now(stores: Stores) -> None:
    one, other = keep(stores, "Lunch is at noon"), keep(stores, "Dinner is at seven")
    link = AddConnections(
        one, (Connection(other.id, Edge.SUPPORTS, by="planned"),), targets=(other,)
    )
    revise(stores, other.id, read_revision({"content": "Dinner is off"}, MemoryLimits()))

    report = run(stores, job_of(Patch(link, "l")))

    assert (report.applied, report.skipped) == (0, 1)


def test_two_patches_about_one_memory_both_go_through(stores: Stores) -> None:
    one, other = keep(stores, "Lunch is at noon"), keep(stores, "Dinner is at seven")
    link = AddConnections(one, (Connection(other.id, Edge.SUPPORTS, by="planned"),))

    report = run(
        stores, job_of(Patch(link, "l"), Patch(SetTier(one, Tier.ARCHIVAL), "t"), Patch(link, "l"))
    )

    assert (report.applied, report.skipped) == (3, 0)
    now = as_now(stores, one)
    assert now.tier is Tier.ARCHIVAL
    assert [each.target for each in now.connections if each.by == "planned"] == [other.id]


def test_a_patch_about_what_was_merged_away_is_skipped(stores: Stores) -> None:
    kept, gone = keep(stores, "Lunch is at noon"), keep(stores, "Dinner is at seven")
    merge(stores, kept.id, gone.id)

    report = run(stores, job_of(Patch(SetTier(gone, Tier.ARCHIVAL), "t")))

    assert (report.applied, report.skipped) == (0, 1)
    assert report.error is None


def test_writes_while_a_job_applies_are_not_lost(stores: Stores) -> None:
    """Any interleaving: each memory has what the writer wrote, and the job's link or not."""
    target = keep(stores, "the middle of it all")
    sources = [keep(stores, f"remark number {number}") for number in range(40)]
    patches = [
        Patch(AddConnections(each, (Connection(target.id, by="planned"),)), "l") for each in sources
    ]
    changed = sources[::3]

    def write() -> None:
        for each in changed:
            text = read_revision({"content": f"{each.content}, revised"}, MemoryLimits())
            revise(stores, each.id, text)

    writer = threading.Thread(target=write)
    writer.start()
    report = run(stores, job_of(*patches))
    writer.join()

    assert report.applied + report.skipped == len(sources)
    for each in changed:
        assert as_now(stores, each).content == f"{each.content}, revised"
    linked = sum(links_to(stores, each.id, target.id) for each in sources)
    assert linked == report.applied


# -- kills ---------------------------------------------------------------------------------


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the code may catch it."""


@pytest.mark.few(3)
@pytest.mark.parametrize("step", range(8))
def test_a_kill_leaves_each_patch_done_or_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    actions = one_of_each(stores)
    one, other = keep(stores, "remark number one"), keep(stores, "second remark")
    link = AddConnections(one, (Connection(other.id, Edge.SUPPORTS, by="planned"),))
    wanted = [*(actions[kind] for kind in ("tier", "synthesise", "supersede")), link]
    states = [living(vault_bytes(stores))]
    runs = []
    for action in wanted:  # every state that a kill may leave
        runs.append(run(stores, job_of(Patch(action, "why"))).run)
        states.append(living(vault_bytes(stores)))
    for each in reversed(runs):
        undo(stores, each)
    assert living(vault_bytes(stores)) == states[0]
    original, calls = FolderVault.apply, iter(range(100))

    def dying(self: FolderVault, edit: object) -> object:
        if next(calls) == step:
            raise Killed
        return original(self, edit)  # type: ignore[arg-type]

    monkeypatch.setattr(FolderVault, "apply", dying)
    try:
        run(stores, job_of(*(Patch(action, "why") for action in wanted)))
    except Killed:
        pass
    monkeypatch.undo()

    stores = reopened(stores, home)
    recover_changes(stores)
    reconcile(stores)

    assert contents(living(vault_bytes(stores))) in [contents(each) for each in states]
    assert stores.log.unsettled_changes() == []
    close(stores)


def contents(files: dict[str, bytes]) -> dict[str, bytes]:
    """Files without the moment at which a job touched them."""
    return {
        path: b"\n".join(
            line for line in data.splitlines() if not line.strip().startswith((b"updated:", b"at:"))
        )
        for path, data in files.items()
    }


# -- the breaker ---------------------------------------------------------------------------


def many(stores: Stores, count: int) -> list[Patch]:
    memories = [keep(stores, f"remark number {number}") for number in range(count)]
    return [Patch(SetTier(each, Tier.ARCHIVAL), "t") for each in memories]


def test_no_setting_drops_half_the_store_in_one_run(stores: Stores) -> None:
    patches = many(stores, 30)
    before = vault_bytes(stores)

    report = run(stores, job_of(*patches))

    assert (report.applied, report.proposed) == (0, 30)
    assert report.stopped is not None
    assert "30 of 30 memories" in render_stop(report.stopped)
    assert vault_bytes(stores) == before
    assert len(stores.log.proposals()) == 30


def test_the_breaker_leaves_small_stores_alone(stores: Stores) -> None:
    report = run(stores, job_of(*many(stores, 10)))

    assert (report.applied, report.stopped) == (10, None)


def test_the_breaker_leaves_a_small_share_alone(stores: Stores) -> None:
    patches = many(stores, 100)

    assert run(stores, job_of(*patches[:25])).applied == 25
    assert run(stores, job_of(*patches[25:51])).proposed == 26


def test_new_links_do_not_trip_the_breaker(stores: Stores) -> None:
    target = keep(stores, "the middle of it all")
    sources = [keep(stores, f"remark number {number}") for number in range(30)]
    patches = [
        Patch(AddConnections(each, (Connection(target.id, by="planned"),)), "l") for each in sources
    ]

    report = run(stores, job_of(*patches))

    assert (report.applied, report.proposed, report.stopped) == (30, 0, None)


def test_no_more_proposals_wait_than_a_person_looks_at(stores: Stores) -> None:
    patches = many(stores, 30)
    few = replace(CONFIG, proposals_per_run=10)

    first, second = (run(stores, job_of(*patches), few) for _ in range(2))

    assert (first.proposed, second.proposed) == (10, 0)
    assert first.stopped is not None
    assert "20 of them found no room" in render_stop(first.stopped)


# -- failing, stopping, being alone --------------------------------------------------------


def failing(error: Exception) -> Planned:
    def plan(context: JobContext) -> Sequence[Patch]:
        raise error

    return Planned(plan, "failing")


@pytest.mark.proves("I8")
@pytest.mark.parametrize("error", [MindDown("judge", "is away"), ValueError("a bug")])
def test_one_failing_job_does_not_stop_the_next(stores: Stores, error: Exception) -> None:
    memory = keep(stores, "Lunch is at noon")
    working = job_of(Patch(SetTier(memory, Tier.ARCHIVAL), "t"))

    reports = run_all(stores, CONFIG, Told(), [failing(error), working])

    assert [each.job for each in reports] == ["failing", "planned"]
    assert str(error) in str(reports[0].error)
    assert reports[1].applied == 1
    kept = {each["job"]: each["report"] for each in reports_in_journal(stores)}
    assert str(error) in str(kept["failing"])
    assert "error" not in kept["planned"]  # type: ignore[operator]


def test_every_run_leaves_a_report_that_outlives_the_index(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    run(stores, job_of())
    run(stores, failing(ValueError("a bug")))

    stores = reopened(stores, home, without_index=True)

    assert [each["job"] for each in reports_in_journal(stores)] == ["failing", "planned"]
    close(stores)


def test_a_report_in_the_journal_stays_small(stores: Stores) -> None:
    memories = [keep(stores, f"remark number {number}") for number in range(100)]
    patches = [Patch(SetTier(each, Tier.ARCHIVAL), "why " * 5_000) for each in memories]

    run(stores, job_of(*patches), replace(CONFIG, breaker_share=1.0))

    (line,) = [
        line
        for name in stores.journal.names()
        for line in stores.journal.lines(name)
        if b'"kind":"run"' in line
    ]
    assert len(line) < 20_000


def test_a_job_never_runs_twice_at_once(stores: Stores) -> None:
    refused: list[UnderWay] = []

    def plan(context: JobContext) -> Sequence[Patch]:
        with pytest.raises(UnderWay) as caught:
            run(stores, job_of())
        refused.append(caught.value)
        return []

    assert run(stores, Planned(plan)).error is None
    assert "`planned`" in refused[0].message
    assert run(stores, job_of()).error is None


def test_another_job_may_run_at_the_same_time(stores: Stores) -> None:
    inner: list[RunReport] = []

    def plan(context: JobContext) -> Sequence[Patch]:
        inner.append(run(stores, job_of(name="other")))
        return []

    assert run(stores, Planned(plan)).error is None
    assert inner[0].error is None


def test_a_run_that_is_asked_to_stop_says_so_and_looks_again(stores: Stores) -> None:
    memories = [keep(stores, f"remark number {number}") for number in range(4)]
    merges = [Patch(Merge(one, other), "m") for one, other in (memories[:2], memories[2:])]
    answers = iter([False, False, True])
    seen: list[set[str]] = []
    job = Planned(lambda context: merges, ends=lambda context: seen.append(context.again))

    (report,) = run_all(stores, CONFIG, Told(), [job], stop=lambda: next(answers, True))

    assert report.stopped == STOPPED
    assert report.applied == 1
    assert seen == [{each.id for each in memories[2:]}]


def test_what_the_jobs_go_by_are_the_settings_of_their_sections() -> None:
    table = {"sleep": {"merge_at": 0.5}, "judge": {"unasked": "never"}}
    read = read_settings({**table, "consolidation": {"sample_size": 7}}, {})

    assert (read.sleep.merge_at, read.sleep.unasked) == (0.5, "never")
    assert read.sleep.consolidation == read.consolidation
    assert read.consolidation.sample_size == 7
    assert read_settings({}, {}).sleep == SleepConfig()


def test_a_judge_that_gives_no_answer_is_an_error_of_the_run(stores: Stores) -> None:
    for text in ("the cache holds 100 entries", "the cache holds 100 entries in all"):
        keep(stores, text)
    silent = SilentJudge()

    report = run_job(stores, replace(CONFIG, duplicate_score=0.1), silent, make_duplicate_merger())

    assert report.error == "the judge gave no answer: the server is down"
    assert report.problems == {"the server is down": 1}


class SilentJudge(ScriptedJudge):
    """A judge whose server is down."""

    def __init__(self) -> None:
        super().__init__(always(None), cheap=False, name="llm")

    def problems(self) -> dict[str, int]:
        return {"the server is down": len(self.asked)}
