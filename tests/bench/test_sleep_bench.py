"""`madeleine bench sleep`: what it generates, what it counts, and a run of every part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from madeleine import Madeleine
from tests.bench.test_recall_bench import bench
from tests.cli.running import Cli

cycle: Any = bench("_sleep_cycle")
updates: Any = bench("_sleep_updates")
kept: Any = bench("_sleep_kept")
sleep: Any = bench("sleep")
world: Any = bench("_recall_world")

SMALL = ["--size", "200", "--changes", "6", "--facts", "12", "--thinks", "0.01"]
SMALL += ["--remembered", "5", "--nights", "3"]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)


# -- what changes --------------------------------------------------------------------------


def test_a_change_is_told_weeks_later_in_other_words() -> None:
    told = updates.story(24)
    by_id = {draft["id"]: draft for draft in told.drafts}

    assert len(told.changes) == 24
    for change in told.changes:
        new, fact = by_id[change.new], change.fact
        assert fact.subject in new["content"]
        assert new["content"] != fact.text
        for old in change.olds:
            assert new["created"] - by_id[old]["created"] > updates.LATER / 2
            assert fact.value.lower() in by_id[old]["content"].lower()


def test_every_relation_of_the_world_can_change() -> None:
    relations = {each.name for each in (*world.PROJECT, *world.PERSON)}

    assert set(updates.CHANGED) == relations
    for forms in updates.CHANGED.values():
        assert all("{s}" in form and "{v}" in form for form in forms)


def test_a_third_of_the_old_values_was_said_twice() -> None:
    told = updates.story(30)

    assert sum(len(each.olds) == 2 for each in told.changes) == 10
    ids = [draft["id"] for draft in told.drafts]
    assert len(ids) == len(set(ids))


def test_the_same_story_is_told_every_time() -> None:
    assert updates.story(12) == updates.story(12)


# -- what is lost --------------------------------------------------------------------------


def test_content_words_are_all_that_says_something() -> None:
    assert kept.words("The ferry, at 9:00, is Ana's.") == {"ferry", "9", "00", "ana"}


def test_what_a_merge_drops_counts_as_lost(tmp_path: Path, fake: None) -> None:
    drafts = [
        {"id": "97acbe8e-0000-4000-8000-000000000001", "content": "The ferry leaves at nine"},
        {"id": "97acbe8e-0000-4000-8000-000000000002", "content": "The ferry sails from pier four"},
    ]
    with Madeleine.open(tmp_path / "home", in_process=True) as m:
        m.remember_many(drafts)
        m.merge(drafts[0]["id"], drafts[1]["id"], content="The ferry leaves at nine from pier four")
        went = kept._went_into(m)

        assert kept._missing(m, drafts[0], went) == set()
        assert kept._missing(m, drafts[1], went) == {"sails"}


# -- speed ---------------------------------------------------------------------------------


def test_the_slow_judge_answers_as_the_one_behind_it() -> None:
    class Judge:
        name, cheap = "quick", True

        def judge(self, pairs: list[Any]) -> list[Any]:
            return list(pairs)

        def synthesise(self, members: list[Any]) -> Any:
            return None

        def problems(self) -> dict[str, int]:
            return {"odd": 1}

    slow = cycle.Thinking(Judge(), 0.0)
    slow.stays = False

    assert slow.judge([1, 2]) == [1, 2]
    assert not slow.cheap
    assert slow.problems() == {"odd": 1}
    assert slow.calls == 1


def test_ninety_five_in_a_hundred_stay_within_p95() -> None:
    assert cycle.p95([float(each) for each in range(1, 101)]) == pytest.approx(95.95)
    assert cycle.p95([0.5]) == 0.5


# -- the program ---------------------------------------------------------------------------


@pytest.mark.soak
def test_every_part_but_the_labelled_pairs_runs(tmp_path: Path, fake: None) -> None:
    where = tmp_path / "figures.json"
    sleep.main([*SMALL, "--cache", str(tmp_path / "cache"), "--json", str(where)])

    found = json.loads(where.read_text(encoding="utf-8"))

    assert found["benchmark"] == "sleep"
    assert "pairs is left out" in found["left_out"][0]
    parts = {each["part"].split()[0] for each in found["figures"]}
    assert parts == {"cycle", "busy", "stale", "kept", "story"}
    lost = next(each for each in found["figures"] if each["part"] == "kept")
    assert lost["value"] == 0


def test_a_part_nobody_knows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        sleep.main(["--only", "dreams"])
    assert "there is no part 'dreams'" in capsys.readouterr().err


def test_the_command_lists_it(tmp_path: Path, fake: None) -> None:
    assert "sleep" in Cli(tmp_path / "home").ok("bench")["benchmarks"]


def test_a_row_of_the_judge_becomes_a_figure_with_its_target() -> None:
    figure = sleep._figure({"what": "merges", "figure": 0.98, "target": ">= .97", "n": 12})

    assert figure.passed
    assert (figure.value, figure.n, figure.target.bound) == (0.98, 12, 0.97)
