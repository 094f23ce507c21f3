"""`m.sleep()` gives reports, in this process and through a daemon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine import Madeleine
from madeleine.api import sleep_answers
from madeleine.api.contract.memories import to_json
from madeleine.api.local import open_local
from madeleine.errors import Missing
from madeleine.model.memory import Memory
from madeleine.model.words import Edge, Tier
from tests.api.test_light import loaded_by
from tests.server.running import running


@pytest.fixture(params=["in process", "daemon"])
def m(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Madeleine]:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    home = tmp_path / "home"
    if request.param == "daemon":
        with running(home), Madeleine.open(home) as opened:
            yield opened
    else:
        with Madeleine.open(home, in_process=True) as opened:
            yield opened


def forgotten_long_ago(m: Madeleine) -> Memory:
    """Remember something that nobody ever asked about."""
    memory = m.remember("The old boiler was made by Hansen", created="2019-01-01T00:00:00Z")
    m.sleep("importance_scorer")
    return memory


def test_associations_can_be_read_like_any_connection(m: Madeleine) -> None:
    ids = [m.remember(text).id for text in ("Birds sing at dawn", "Interest rates rose in spring")]

    done = m.consolidate("creative")

    assert done["steps"]["creative"]["applied"] == 1  # type: ignore[index]  # plain JSON
    (link,) = [each for each in m.show(ids[0]).connections if each.edge is Edge.DISCOVERED]
    assert link.kind == "parallel_context"


def test_sleep_returns_a_report_of_every_job(m: Madeleine) -> None:
    m.remember("Ana keeps bees")

    slept = m.sleep()

    assert slept.status == "finished"
    assert [each.job for each in slept][:2] == ["importance_scorer", "index_updater"]
    assert len({each.run for each in slept}) == len(slept) == 8
    assert not any(each.error for each in slept)


def test_one_job_can_be_run_and_its_run_taken_back(m: Madeleine) -> None:
    memory = forgotten_long_ago(m)

    (report,) = m.sleep("decay_manager", now=True)

    assert (report.applied, report.dry_run) == (1, False)
    assert m.get(memory).tier is Tier.ARCHIVAL
    m.undo(report.run)
    assert m.get(memory).tier is Tier.WORKING


def test_a_dry_run_says_what_would_be_done_and_does_nothing(m: Madeleine) -> None:
    memory = forgotten_long_ago(m)

    (report,) = m.sleep("decay_manager", dry_run=True, now=True)

    (patch,) = report.patches
    assert (patch["would"], patch["memories"]) == ("apply", [memory.id])
    assert "+tier: archival" in str(patch["diff"])
    assert m.get(memory).tier is Tier.WORKING
    assert m.status()["sleep"]["jobs"][-1]["last_run"] is None  # type: ignore[index]


def test_a_job_nobody_knows_is_missing(m: Madeleine) -> None:
    with pytest.raises(Missing, match="no job `dreaming`"):
        m.sleep("dreaming")


# -- what it costs who does not sleep ------------------------------------------------------


def test_neither_scheduler_nor_jobs_are_loaded_before_they_are_needed() -> None:
    """A daemon answers before it thinks of the night; a command does not think of it at all."""
    loaded = loaded_by("import madeleine.server.daemon, madeleine.api.local")

    assert loaded.isdisjoint({"apscheduler", "tzlocal", "fsrs"})
    assert "madeleine.sleep.cycle" not in loaded
    assert "madeleine.minds.judges.local" not in loaded


# -- an agent that judges ------------------------------------------------------------------


def test_whispers_say_that_maintenance_is_due_while_an_agent_has_something_to_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.setenv("MADELEINE_JUDGE_KIND", "agent")
    door = open_local(tmp_path / "home")
    context = door.context
    context.look_for_maintenance()
    assert not context.whisper_config.maintenance  # there is nothing at all

    for place in ("Lisbon", "Oslo"):
        door.call("remember", body={"content": f"The office of the Atlas project is in {place}."})
    context.look_for_maintenance()
    assert context.whisper_config.maintenance

    batch = door.call("maintenance")
    door.call("hand_in", body={"job_id": batch["job_id"], "results": {"verdicts": []}})
    assert context.stores.log.state("maintenance") is not None  # so nobody is asked again today
    door.close()


def test_no_agent_is_asked_where_another_judge_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    door = open_local(tmp_path / "home")
    door.call("remember", body={"content": "The office is in Lisbon."})

    door.context.look_for_maintenance()

    assert not door.context.whisper_config.maintenance
    door.close()


def test_why_there_are_no_questions_is_said_with_the_fields_that_belong_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    door = open_local(tmp_path / "home")

    idle = door.call("maintenance")
    for place in ("Lisbon", "Oslo"):
        door.call("remember", body={"content": f"The office of the Atlas project is in {place}."})
    ready, busy = door.call("maintenance"), door.call("maintenance")
    door.close()

    assert (idle["status"], set(idle)) == ("idle", {"text", "status", "message"})
    assert (busy["status"], set(busy)) == ("busy", {"text", "status", "message", "expires_at"})
    assert busy["expires_at"] == ready["expires_at"]
    assert ready["merge_candidates"] or ready["conflict_candidates"]


def test_a_batch_that_was_just_handed_in_is_reserved_until_null() -> None:
    """The batch is looked for twice, and may be handed in between."""
    given = {"status": "busy", "message": "Another agent is judging.", "expires_at": None}

    assert to_json(sleep_answers.build_maintenance_batch(given)) == {
        "text": given["message"],
        **given,
    }
