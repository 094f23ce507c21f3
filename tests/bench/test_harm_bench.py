"""`madeleine bench harm`: its hand-written pairs, and that none of them is retired wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench.test_recall_bench import BENCH, bench
from tests.cli.running import Cli

retiring: Any = bench("_harm_retiring")
harm: Any = bench("harm")

BELIEFS = {"fact", "decision", "preference", "observation", "goal"}
ALL_NEAR = "conflict_similarity = 0.0\n"  # so that the job looks at every pair, however unlike
LOOKALIKES, TOLD = 300, 100  # pairs of each set that the build has time for


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)


def spread(pairs: list[Any], count: int) -> list[Any]:
    """Some of the pairs, from the whole of their file."""
    return pairs[:: max(1, len(pairs) // count)]


@pytest.mark.proves("I12")
def test_no_lookalike_is_retired_unasked(fake: None) -> None:
    pairs = retiring.read_pairs(BENCH / "harm" / "lookalikes.jsonl", is_told=False)

    found = retiring.run_pairs(spread(pairs, LOOKALIKES), "look-alikes", "told", ALL_NEAR)

    assert found.wrong == []
    assert found.right == []


@pytest.mark.soak
def test_told_changes_are_retired_the_older_and_never_the_newer(fake: None) -> None:
    pairs = retiring.read_pairs(BENCH / "harm" / "told.jsonl", is_told=True)
    chosen = spread(pairs, TOLD)

    found = retiring.run_pairs(chosen, "told changes", "told", ALL_NEAR)

    assert found.wrong == []
    assert len(found.right) >= 0.15 * len(chosen)


@pytest.mark.parametrize("name", ["lookalikes", "told"])
def test_the_pairs_are_whole_and_each_is_there_once(name: str) -> None:
    text = (BENCH / "harm" / f"{name}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]

    assert len({row["id"] for row in rows}) == len(rows)
    assert len({(row["a"], row["b"]) for row in rows}) == len(rows)
    assert {row["type"] for row in rows} <= BELIEFS
    assert all(row["a"].strip() and row["b"].strip() and row["a"] != row["b"] for row in rows)


def test_the_program_tells_wrong_from_right_and_misses_a_bound_that_does_not_hold(
    tmp_path: Path, fake: None
) -> None:
    alike = {"a": "Staging runs on Nomad", "b": "Production moved from Nomad to Kubernetes"}
    told = {"a": "We use Jenkins for builds", "b": "We switched builds from Jenkins to Drone"}
    for name, row in (("lookalikes", alike), ("told", told)):
        text = json.dumps({"id": name, "kind": "made", "type": "fact", "lang": "en", **row})
        (tmp_path / f"{name}.jsonl").write_text(f"{text}\n", encoding="utf-8")
    where = tmp_path / "figures.json"

    code = harm.main(["--only", "retiring", "--pairs", str(tmp_path), "--json", str(where)])

    found = json.loads(where.read_text(encoding="utf-8"))
    values = {each["what"]: each["value"] for each in found["figures"]}
    assert found["benchmark"] == "harm"
    assert values["wrong unasked retirements, look-alikes"] == 0
    assert values["right unasked retirements"] == 1
    assert code == 1  # fewer than sixty right ones


def test_with_data_labelled_sentences_conflicts_and_chats_are_looked_at(
    tmp_path: Path, fake: None
) -> None:
    pairs, chat = tmp_path / "pairs", tmp_path / "beam-100k" / "1"
    pairs.mkdir()
    chat.mkdir(parents=True)
    one, two = "A man plays the guitar", "A man is playing a guitar"
    sentence = {"a": one, "b": two, "label": 5.0, "set": "sts-b"}
    update = {"a": "I use Vim", "b": "I switched from Vim to Helix", "label": "update", "chat": 1}
    (pairs / "pairs-dev.jsonl").write_text(json.dumps(sentence), encoding="utf-8")
    (pairs / "conflicts-dev.jsonl").write_text(json.dumps(update), encoding="utf-8")
    said = [{"role": "user", "content": update[each]} for each in ("a", "b")]
    text = json.dumps([{"turns": [[*said, {"role": "assistant", "content": "Noted"}]]}])
    (chat / "chat.json").write_text(text, encoding="utf-8")

    sentences, conflicts = retiring.shared_pairs(tmp_path)
    wrong, notes = retiring.run_chats(tmp_path, "told")

    assert [(each.older, each.newer) for each in sentences] == [(one, two), (two, one)]
    assert [each.is_told for each in conflicts] == [True]
    assert (wrong, notes) == ([], 2)


def test_a_part_nobody_knows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        harm.main(["--only", "dreams"])
    assert "there is no part 'dreams'" in capsys.readouterr().err


def test_the_command_lists_it(tmp_path: Path, fake: None) -> None:
    assert "harm" in Cli(tmp_path / "home").ok("bench")["benchmarks"]
