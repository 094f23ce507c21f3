"""Asking through the real command and over HTTP: the same document, with its reasons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Cli
from tests.server.running import Daemon, running

HIT = {"memory", "score", "sure", "reasons", "reasons_parts", "match", "passage"}
SOMETIMES = {"around", "replaced_by", "replaces"}
NUMBERS = {"head", "features", "weights", "evidence", "chance", "lifts", "boosts"}
STAGES = {"cross_encoder", "inherited"}


@pytest.fixture
def nora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Nora, who has no daemon running."""
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)
    return Cli(tmp_path / "home")


@pytest.fixture
def daemon(nora: Cli) -> Iterator[Daemon]:
    with running(nora.home) as started:
        yield started


def keep_a_few(cli: Cli) -> dict[str, str]:
    """Remember a few things and return their ids."""
    book = "\n\n".join(f"Chapter {n} is about the sea and its ships. " * 12 for n in range(12))
    ids = {
        "berlin": cli.remember("Marta lives in Berlin", "--type", "fact"),
        "ferry": cli.remember("The ferry to Bergen leaves at nine", "--space", "tide"),
        "why": cli.remember("A storm moved every departure to the morning", "--space", "tide"),
        "me": cli.remember("Prefers the window seat", "--about-self", "--type", "preference"),
        "book": cli.remember(f"{book}\n\nThe pilot's whistle is kept in the wheelhouse.\n\n{book}"),
    }
    cli.ok("link", ids["why"], ids["ferry"], "--edge", "supports", "--weight", "1.0")
    return ids


def found(answer: dict[str, Any]) -> list[str]:
    return [each["memory"]["id"] for each in answer["results"]]


def test_nora_asks_and_sees_what_why_and_where(nora: Cli) -> None:
    ids = keep_a_few(nora)

    said = nora("recall", "when does the ferry to Bergen leave?", "--explain")
    lines = said.out.splitlines()

    assert said.code == 0
    assert lines[1].split()[:3] == [ids["ferry"][:8], "fact", "The"]
    assert "shares words (1.00)" in lines[2]
    assert any(line.strip().startswith("chance 0.") for line in lines)
    assert any(line.strip().startswith("boosts") for line in lines)
    assert f"supports {ids['ferry'][:8]}" in said.out


def test_nora_sets_a_model_later_and_is_told_what_it_has_not_read(
    nora: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "2 memories are not read by the model yet; run `madeleine reconcile`"
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "none")
    nora.remember("Marta lives in Berlin")
    nora.remember("The ferry to Bergen leaves at nine")
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")

    assert note in nora.ok("recall", "where does Marta live?")["notes"]
    assert note in nora("recall", "where does Marta live?").err
    assert "the model has read 2 memories that it had not" in nora("reconcile").err

    assert nora.ok("recall", "where does Marta live?")["notes"] == []


def test_nora_finds_a_sentence_in_a_long_text(nora: Cli) -> None:
    ids = keep_a_few(nora)

    answer = nora.ok("recall", "where is the pilot's whistle kept?")
    said = nora("recall", "where is the pilot's whistle kept?", "--limit", "1")

    best = answer["results"][0]
    assert best["memory"]["id"] == ids["book"]
    start, end = best["passage"]["start"], best["passage"]["end"]
    assert "whistle is kept" in best["passage"]["text"]
    assert best["memory"]["content"][start:end] == best["passage"]["text"]
    assert f"at character {start:,}: " in said.out


def test_the_document_has_every_part(nora: Cli) -> None:
    ids = keep_a_few(nora)

    plain = nora.ok("recall", "when does the ferry leave?")
    told = nora.ok("recall", "when does the ferry leave?", "--explain", "--why-not", ids["me"])

    parts = {"silence_parts", "notes_parts", "floor", "more"}
    assert set(plain) == {"text", "results", "silence", "notes", "why_not", "folded"} | parts
    assert all(set(each) - SOMETIMES == HIT for each in plain["results"])
    assert all(set(each) - SOMETIMES == HIT | {"explained"} for each in told["results"])
    assert all(set(each["explained"]) >= NUMBERS | STAGES for each in told["results"])
    assert plain["silence"] is None
    assert plain["why_not"] is None
    assert ids["me"][:8] in told["why_not"] or ids["me"] in found(told)
    assert told["text"].count("because: ") == len(told["results"])


def test_nora_asks_why_something_is_missing(nora: Cli) -> None:
    ids = keep_a_few(nora)

    said = nora("recall", "ferry", "--space", "tide", "--why-not", ids["berlin"][:8])
    silent = nora("recall", "ferry", "--space", "nowhere", "--why-not", ids["ferry"])
    nobody = nora("recall", "ferry", "--why-not", "ffffffff-ffff")

    assert f"{ids['berlin'][:8]} is left out by the filter `spaces`" in said.out
    assert f"{ids['ferry'][:8]} is left out by the filter `spaces`" in silent.out
    assert silent.err == "nothing recalled: no memory passes the filter\n"
    assert "there is no such memory" in nobody.out


def test_nora_asks_how_things_stood(nora: Cli) -> None:
    ids = keep_a_few(nora)
    before = nora.ok("show", ids["book"])["memory"]["created"]
    new = nora.remember("Marta lives in Dublin", "--type", "fact")
    nora.ok("retire", ids["berlin"], "--superseded-by", new)

    now = found(nora.ok("recall", "where does Marta live?"))
    then = found(nora.ok("recall", "where does Marta live?", "--as-of", before))
    both = nora.ok("recall", "Marta lives in Berlin", "--outdated")

    assert (new in now, ids["berlin"] in now) == (True, False)
    assert (new in then, ids["berlin"] in then) == (False, True)
    assert found(both)[0] == new
    old = next(each for each in both["results"] if each["memory"]["id"] == ids["berlin"])
    assert f"superseded by {new[:8]}" in old["reasons"]


def test_nora_asks_what_is_known_about_her(nora: Cli) -> None:
    ids = keep_a_few(nora)

    answer = nora.ok("recall", "which seat do I like?")

    assert found(answer)[0] == ids["me"]
    assert "about you" in answer["results"][0]["reasons"]


def test_nora_asks_what_she_did_today(nora: Cli) -> None:
    ids = keep_a_few(nora)

    answer = nora.ok("recall", "what did I write down in the last 2 hours?")

    listed = [each for each in found(answer) if each in ids.values()]
    assert listed == list(reversed(ids.values()))


def test_status_says_what_reranks_and_why_no_more(nora: Cli) -> None:
    keep_a_few(nora)

    answer, said = nora.ok("status"), nora("status")

    assert answer["reranker"]["name"] is None
    assert answer["reranker"]["why_not"].startswith("no cross-encoder: ")
    assert "late interaction (no cross-encoder: " in said.out
    assert nora.ok("recall", "ferry")["notes"] == []


def test_over_http_it_is_the_same_document(nora: Cli, daemon: Daemon) -> None:
    ids, question = keep_a_few(nora), "when does the ferry leave?"
    asked = {"query": question, "explain": True, "why_not": ids["me"]}
    for memory in ids.values():  # opened today: asking again changes no counter
        nora.ok("show", memory)
    nora.ok("recall", question)

    over_http = daemon.ok("POST", "/agent/recall", asked)
    by_command = nora.ok("recall", question, "--explain", "--why-not", ids["me"])

    assert without_scores(over_http) == without_scores(by_command)
    for one, other in zip(over_http["results"], by_command["results"], strict=True):
        assert one["score"] == pytest.approx(other["score"], abs=2e-4)


def without_scores(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer less what falls with every second: how recent things are."""
    fleeting = {"boosts": None, "inherited": None}
    results = [
        {**each, "score": None, "explained": {**each["explained"], **fleeting}}
        for each in answer["results"]
    ]
    return {**answer, "text": None, "results": results}


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "body",
    [
        {"query": ""},
        {"query": "ferry", "limit": 0},
        {"query": "ferry", "as_of": "then"},
        {"query": "ferry", "why_not": ["x"]},
    ],
)
def test_a_bad_question_is_refused_over_http_with_a_hint(
    daemon: Daemon, body: dict[str, object]
) -> None:
    answer = daemon.ask("POST", "/agent/recall", body)

    assert answer.status == 422
    assert answer.error["message"]
