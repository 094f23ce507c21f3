"""What remote models are asked, what that costs, and how much of it a day may have.

Every answer of a remote model leaves a receipt: when, what for, which model, how many tokens, and
what that costs if the settings name a price. Receipts are lines of JSON in the home's folder
`costs`, a file for each device and month; none holds a word of what was asked. Before a model is
asked the ledger says whether the day still has room. Whoever hears that it has not does without:
words answer alone, the local judge judges, and the local head finds what is worth keeping.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from madeleine.model.times import format_time

TOKENS_PER_PRICE = 1_000_000
CHARS_PER_TOKEN = 3  # a guess on the safe side, where the server has not counted

log = logging.getLogger("madeleine.minds")


class SpendingPurpose(StrEnum):
    """What a remote model is asked for."""

    QUESTIONS = "questions"
    """Reading questions and prompts, to find what answers them."""
    MEMORIES = "memories"
    """Reading memories, so that they are found by their meaning."""
    JUDGING = "judging"
    """Saying what memories are to each other."""
    SYNTHESIS = "synthesis"
    """Writing one memory for several."""
    EXTRACTION = "extraction"
    """Finding what is worth keeping in what was said."""


@dataclass(frozen=True, slots=True)
class TokenPrices:
    """What a million tokens cost, in any currency; 0 where that is not known."""

    read: float = 0.0
    written: float = 0.0

    def cost_of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.read + tokens_out * self.written) / TOKENS_PER_PRICE


NO_PRICES = TokenPrices()


@dataclass(frozen=True, slots=True)
class DailyCap:
    """The most that a day may have, in the currency of the prices and in tokens; 0 for no bound."""

    cost: float = 0.0
    tokens: int = 0


@dataclass(slots=True)
class SpendingTotal:
    """What some requests used together."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0

    def add(self, tokens_in: int, tokens_out: int, cost: float, requests: int = 1) -> None:
        self.requests += requests
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.cost += cost


@dataclass(frozen=True, slots=True)
class Receipt:
    """One answer of a remote model, as it is written down."""

    day: str
    purpose: str
    model: str
    tokens_in: int
    tokens_out: int
    cost: float


class SpendingLedger:
    """The receipts of one home. Any thread may ask and write."""

    def __init__(
        self, folder: Path, device: str, now: Callable[[], datetime], cap: DailyCap
    ) -> None:
        self.cap = cap
        self._folder = folder
        self._device = device
        self._now = now
        self._lock = threading.Lock()
        self._day = ""
        self._today = SpendingTotal()
        self._closed = ""

    def find_refusal(self, tokens: int = 0, cost: float = 0.0) -> str:
        """Return why a request that would use so much may not be made today; empty if it may.
        The first that may not closes the day for all that follow, whatever they would use."""
        if not self.cap.cost and not self.cap.tokens:
            return ""
        with self._lock:
            self._turn_to_today()
            self._closed = self._closed or self._find_cap_reached(tokens, cost)
            return self._closed

    def _find_cap_reached(self, tokens: int, cost: float) -> str:
        today, cap = self._today, self.cap
        if cap.tokens and today.tokens_in + today.tokens_out + tokens > cap.tokens:
            return f"today's {cap.tokens:,} tokens are used up (`cost.daily_tokens`)"
        if cap.cost and (today.cost >= cap.cost or today.cost + cost > cap.cost):
            return f"today's cost of {cap.cost:g} is used up (`cost.daily_cap`)"
        return ""

    def record(
        self,
        purpose: SpendingPurpose,
        model: str,
        tokens_in: int,
        tokens_out: int = 0,
        prices: TokenPrices = NO_PRICES,
    ) -> None:
        """Write a receipt. A disk that refuses it does not keep anybody from the answer; then it
        counts for as long as this process lives."""
        at, cost = self._now(), prices.cost_of(tokens_in, tokens_out)
        line = {
            "at": format_time(at),
            "for": purpose.value,
            "model": model,
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "cost": round(cost, 9),
        }
        with self._lock:
            self._turn_to_today()
            self._today.add(tokens_in, tokens_out, cost)
            try:
                self._append(at, json.dumps(line) + "\n")
            except OSError as error:
                log.warning("a receipt could not be written: %s", error.strerror)

    def read_month(self) -> list[Receipt]:
        """Return this month's receipts, of all devices whose files are in the home."""
        month = format_time(self._now())[:7]
        return list(_read_receipts(sorted(self._folder.glob(f"*-{month}.jsonl"))))

    @property
    def today(self) -> str:
        """The day that it is, in UTC, by which everything is counted."""
        return format_time(self._now())[:10]

    def _turn_to_today(self) -> None:
        """Begin the day's count anew if it is another day, with what this device used before."""
        if self._day == self.today:
            return
        self._day, self._today, self._closed = self.today, SpendingTotal(), ""
        for each in _read_receipts([self._path(self._day[:7])]):
            if each.day == self._day:
                self._today.add(each.tokens_in, each.tokens_out, each.cost)

    def _append(self, at: datetime, line: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._path(format_time(at)[:7])
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with open(number, "a", encoding="utf-8") as file:  # noqa: PTH123  # it has a number, no path
            file.write(line)

    def _path(self, month: str) -> Path:
        return self._folder / f"{self._device}-{month}.jsonl"


def _read_receipts(paths: Iterable[Path]) -> Iterator[Receipt]:
    """Give the receipts in some files. A line that is none, such as one that was torn, is passed
    over."""
    for path in paths:
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue  # there is none yet
        yield from filter(None, map(_parse_receipt, lines))


def _parse_receipt(line: str) -> Receipt | None:
    try:
        given = json.loads(line)
        return Receipt(
            str(given["at"])[:10],
            str(given["for"]),
            str(given["model"]),
            int(given["tokens_in"]),
            int(given["tokens_out"]),
            float(given["cost"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
