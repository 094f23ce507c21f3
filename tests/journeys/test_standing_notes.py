"""How things are to be done: told by a note's text, corrected by its author, asked for at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Cli
from tests.server.running import running


@pytest.fixture
def nora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)
    return Cli(tmp_path / "home")


def file_of(cli: Cli, memory: str) -> Path:
    shown = cli.ok("show", memory)
    return cli.home / "vault" / str(shown["path"])


def test_nora_sees_what_is_taken_for_a_rule_and_says_what_is_none(nora: Cli) -> None:
    rule = nora.remember("Never deploy to production on a Friday")
    fact = nora.remember("Marta lives in Kiel", "--kind", "standing")

    assert "standing    how things are done: deploy (by its text)" in nora("show", rule).out
    assert "(set)" in nora("show", fact).out
    assert "kind: standing\n" in file_of(nora, fact).read_text(encoding="utf-8")

    nora.ok("revise", rule, "--kind", "plain")
    assert nora.ok("show", rule)["standing"] is False
    assert "standing    no (set)" in nora("show", rule).out
    nora.ok("revise", rule, "--clear", "kind")
    assert nora.ok("show", rule)["standing"] is True
    assert "kind:" not in file_of(nora, rule).read_text(encoding="utf-8")


def test_another_kind_than_ours_is_refused_in_a_request_and_left_alone_in_a_file(
    nora: Cli,
) -> None:
    refused = nora("remember", "Soup is on Mondays", "--kind", "recipe")
    kept = nora.remember("Soup is on Tuesdays")
    file = file_of(nora, kept)
    text = file.read_text(encoding="utf-8").replace("type: fact\n", "type: fact\nkind: recipe\n")
    file.write_text(text, encoding="utf-8")
    nora.ok("reconcile")

    assert refused.code == 2
    assert nora.ok("show", kept)["memory"]["kind"] is None
    nora.ok("revise", kept, "--title", "Soup")
    assert "kind: recipe\n" in file_of(nora, kept).read_text(encoding="utf-8")


def test_all_standing_notes_come_grouped_by_what_they_are_about(nora: Cli) -> None:
    rules = {
        nora.remember("Never deploy to production on a Friday", "--space", "atlas"): "deploy",
        nora.remember("No deploy without a look at the queue", "--space", "atlas"): "deploy",
        nora.remember("Always plain emails, never HTML"): "email",
        nora.remember("Please no emojis", "--type", "preference"): "everything",
    }
    nora.remember("The roof was done in 2019 by Keller")
    nora.remember("Never deploy on a full moon", "--space", "tide")

    with running(nora.home) as daemon:
        asked = {"query": "which rules do I have here?"}
        told = daemon.ok("POST", "/agent/recall", asked, default_space="atlas")
    said = nora("recall", "what are my preferences?", "--space", "atlas", "--space", "global")

    groups = {each["memory"]["id"]: each["group"] for each in told["results"]}
    assert groups == rules
    assert [each["group"] for each in told["results"]] == [
        *("everything", "deploy", "deploy", "email")
    ]
    assert told["text"].startswith("4 memories on how things are done.\neverything:\n")
    lines = said.out.splitlines()
    assert [each for each in lines if each in rules.values()] == ["everything", "deploy", "email"]


def test_who_says_how_many_gets_as_many(nora: Cli) -> None:
    for number in range(14):
        nora.remember(f"Never delete folder number {number} without asking")

    assert len(nora.ok("recall", "what are my rules?")["results"]) == 14
    assert len(nora.ok("recall", "what are my rules?", "--limit", "3")["results"]) == 3
