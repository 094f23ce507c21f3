"""Receipts of what remote models are asked, and what happens when a day's cap is used up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from madeleine.bootstrap.minds import make_judge
from madeleine.errors import MindDown
from madeleine.minds.extractor import RemoteExtractor
from madeleine.minds.judges.capped import CappedJudge
from madeleine.minds.judges.language_model import ModelAddress, RunBudget
from madeleine.minds.judges.remote import RemoteJudge
from madeleine.minds.remote import RemoteEmbedder
from madeleine.minds.spending import DailyCap, SpendingLedger, SpendingPurpose, TokenPrices
from madeleine.model.extraction import ExtractionSource
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair
from madeleine.settings import read_settings

from .reading import passage
from .test_remote import Script, refusing

KEY = "sk-very-secret-0123456789"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Days:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
def server() -> Iterator[Script]:
    script = Script()
    script.thread.start()
    yield script
    script.close()


def ledger(folder: Path, days: Days, cost: float = 0.0, tokens: int = 0) -> SpendingLedger:
    return SpendingLedger(folder / "costs", "laptop-1", days.now, DailyCap(cost, tokens))


def pair() -> MemoryPair:
    old = Memory("0" * 32, "Harbor uses SQLite", NOON, NOON)
    new = Memory("1" * 32, "Harbor moved to Postgres", NOON, NOON)
    return MemoryPair(old, new, 0.7)


def embeddings(*rows: list[float], tokens: int) -> str:
    data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
    return json.dumps({"data": data, "usage": {"prompt_tokens": tokens}})


def completion(text: str, tokens: tuple[int, int] = (1_000, 200)) -> str:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return json.dumps({"choices": [choice], "usage": usage})


def test_every_answer_leaves_a_receipt_without_a_word_of_what_was_asked(
    server: Script, tmp_path: Path, days: Days
) -> None:
    spending = ledger(tmp_path, days)
    embedder = RemoteEmbedder(server.url, "vectors", KEY, 5, spending, price=20.0)
    server.replies = [refusing(200, embeddings([1.0, 0.0], tokens=50))]
    embedder.read([passage("the harbour is deep")])
    embedder.ask("how deep is the harbour?")
    bounds = RunBudget(price_in=1_000.0, price_out=5_000.0)
    server.replies = [refusing(200, completion('{"memories": []}'))]
    RemoteExtractor(ModelAddress(server.url, "words", KEY), 5, bounds, spending).extract(
        [ExtractionSource("user", "the harbour is deep")]
    )

    read = spending.read_month()

    assert [(e.purpose, e.model, e.tokens_in, e.tokens_out) for e in read] == [
        ("memories", "remote:vectors", 50, 0),
        ("questions", "remote:vectors", 50, 0),
        ("extraction", "llm:words", 1_000, 200),
    ]
    assert [each.cost for each in read] == pytest.approx([0.001, 0.001, 2.0])
    [file] = (tmp_path / "costs").iterdir()
    assert file.name == "laptop-1-2026-11.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    assert "harbour" not in file.read_text(encoding="utf-8")
    assert KEY not in file.read_text(encoding="utf-8")


def test_a_server_that_does_not_count_is_counted_by_the_length_of_the_text(
    server: Script, tmp_path: Path, days: Days
) -> None:
    spending = ledger(tmp_path, days)

    RemoteEmbedder(server.url, "vectors", KEY, 5, spending).ask("x" * 300)

    assert [each.tokens_in for each in spending.read_month()] == [101]


def test_beyond_the_cap_a_model_is_not_asked_until_the_next_day(
    server: Script, tmp_path: Path, days: Days
) -> None:
    server.replies = [refusing(200, embeddings([1.0, 0.0], tokens=60))]
    spending = ledger(tmp_path, days, cost=0.1)
    embedder = RemoteEmbedder(server.url, "vectors", KEY, 5, spending, price=1_000.0)
    embedder.ask("one")
    embedder.ask("two")

    with pytest.raises(MindDown, match=r"today's cost of 0\.1 is used up \(`cost\.daily_cap`\)"):
        embedder.ask("three")
    assert len(server.asked) == 2

    days.at = NOON + timedelta(days=1)  # another month, too
    embedder.ask("three")
    assert len(server.asked) == 3
    assert [each.day for each in spending.read_month()] == ["2026-12-01"]


def test_a_cap_of_tokens_needs_no_prices(server: Script, tmp_path: Path, days: Days) -> None:
    server.replies = [refusing(200, embeddings([1.0, 0.0], tokens=60))]
    embedder = RemoteEmbedder(server.url, "vectors", KEY, 5, ledger(tmp_path, days, tokens=61))
    embedder.ask("one")

    with pytest.raises(MindDown, match=r"today's 61 tokens are used up \(`cost\.daily_tokens`\)"):
        embedder.ask("two")


def test_a_restart_does_not_open_the_cap(tmp_path: Path, days: Days) -> None:
    prices = TokenPrices(1_000_000.0)
    ledger(tmp_path, days, cost=1).record(SpendingPurpose.JUDGING, "m", 2, prices=prices)

    again = ledger(tmp_path, days, cost=1)

    assert again.find_refusal() == "today's cost of 1 is used up (`cost.daily_cap`)"


def test_lines_that_are_torn_are_passed_over(tmp_path: Path, days: Days) -> None:
    spending = ledger(tmp_path, days)
    spending.record(SpendingPurpose.JUDGING, "m", 2)
    with (tmp_path / "costs" / "laptop-1-2026-11.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"at": "2026-11-30T12:00:00Z", "for": "jud\nnull\n[]\n{}\n')

    assert len(spending.read_month()) == 1


def test_receipts_of_all_devices_are_counted_together(tmp_path: Path, days: Days) -> None:
    spending = ledger(tmp_path, days)
    spending.record(SpendingPurpose.JUDGING, "m", 2)
    phone = SpendingLedger(tmp_path / "costs", "phone-2", days.now, DailyCap())
    phone.record(SpendingPurpose.SYNTHESIS, "m", 3)

    assert [each.tokens_in for each in spending.read_month()] == [2, 3]


def test_a_disk_that_takes_no_receipt_keeps_nobody_from_the_answer(
    server: Script, tmp_path: Path, days: Days
) -> None:
    (tmp_path / "costs").write_text("a file in the folder's place", encoding="utf-8")
    spending = ledger(tmp_path, days, tokens=1_000)
    embedder = RemoteEmbedder(server.url, "vectors", KEY, 5, spending)

    embedder.ask("x" * 2_000)

    assert spending.find_refusal(500)


# -- who judges then -----------------------------------------------------------------------


def capped(url: str, spending: SpendingLedger) -> CappedJudge:
    table: dict[str, Any] = {
        "judge": {"kind": "llm", "model": "words", "url": url, "price_in": 1_000.0}
    }
    made = make_judge(read_settings(table, {}), {"OPENAI_API_KEY": KEY}, None, spending)
    assert isinstance(made, CappedJudge)
    return made


def test_beyond_the_cap_the_local_judge_answers_and_says_so(
    server: Script, tmp_path: Path, days: Days
) -> None:
    said = {"verdicts": [{"pair": 1, "relation": "evolution", "sure": 0.9, "reason": "moved"}]}
    server.replies = [refusing(200, completion(json.dumps(said)))]
    judge = capped(server.url, ledger(tmp_path, days, cost=1.0))
    assert (judge.name, judge.cheap) == ("llm:words", False)
    judge.judge([pair()])
    assert judge.problems() == {}

    (verdict,) = judge.judge([pair()])

    assert verdict is not None
    assert judge.name.startswith("local:")
    assert list(judge.problems()) == [
        "today's cost of 1 is used up (`cost.daily_cap`); the local judge answered"
    ]
    assert len(server.asked) == 1
    days.at = NOON + timedelta(days=1)
    assert judge.name == "llm:words"


def test_a_judge_that_nobody_asked_has_nothing_to_say(tmp_path: Path, days: Days) -> None:
    spending = ledger(tmp_path, days, tokens=1)
    spending.record(SpendingPurpose.JUDGING, "m", 2)
    judge = capped("http://127.0.0.1:1/v1", spending)

    assert judge.judge([]) == []
    assert judge.problems() == {}


def test_a_judge_whose_cap_is_reached_in_the_middle_goes_on_without_verdicts(
    server: Script, tmp_path: Path, days: Days
) -> None:
    """A run is of one judge: what it may not ask any more waits for the next."""
    server.replies = [refusing(200, completion('{"verdicts": []}', (1_000, 0)))]
    spending = ledger(tmp_path, days, tokens=2_000)
    judge = RemoteJudge(server.url, "words", KEY, timeout_seconds=5, spending=spending)

    judge.judge([pair()] * 8)
    found = judge.judge([replace(pair(), similarity=0.6)] * 8)

    assert found == [None] * 8
    assert any("daily_tokens" in problem for problem in judge.problems())
