"""Whispers that were sent, and whether anybody got them (I13).

A client that confirms what it printed says so in its request. Its whispers are kept here until the
confirmation comes or is overdue; then the log and the session are told. All of that happens in one
thread, in the order in which it became known, so that a confirmation that comes late has the last
word. Nobody who waits for a whisper waits for it, but for the next prompt of a session, which must
know what its agent has not got.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import NamedTuple

from madeleine.api.reach import CallerReach
from madeleine.errors import MadeleineError
from madeleine.server.prompt_history import PromptArrival
from madeleine.whisper.delivery import Loss, confirm_delivery, mark_undelivered
from madeleine.whisper.whisper import RECEIPT_SECONDS

log = logging.getLogger("madeleine.hooks")


class SentWhisper(NamedTuple):
    """A whisper on its way. A hook waits for it until `due`, a moment of the monotonic clock; a
    prompt that came without a hook has neither that nor an `arrival`."""

    id: str
    reach: CallerReach
    arrival: PromptArrival | None = None
    due: float = 0.0


class DeliveryReceipts:
    """The whispers of one daemon that nobody has confirmed yet."""

    def __init__(self, settled: Callable[[SentWhisper, bool], None]) -> None:
        """`settled` is told of each whisper whether it was delivered."""
        self._settled = settled
        self._lock = threading.Lock()
        self._awaited: dict[str, SentWhisper] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="receipts")

    def close(self) -> None:
        """Finish what is known. What is still awaited stays so in the log, which counts as not
        delivered from then on."""
        self._thread.shutdown(wait=True)

    def expect(self, sent: SentWhisper) -> None:
        """Wait for a client's confirmation. Called in the event loop, before the answer is out."""
        with self._lock:
            self._awaited[sent.id] = sent
        after = max(sent.due - time.monotonic(), 0.0) + RECEIPT_SECONDS
        asyncio.get_running_loop().call_later(after, self._give_up, sent.id)

    def take(self, reach: CallerReach, whisper_id: str) -> None:
        """Take a confirmation. One that comes after its whisper was given up counts as well."""
        sent = SentWhisper(whisper_id, reach)
        with self._lock:
            known = self._awaited.get(whisper_id)
            if known is not None and known.reach.context is reach.context:
                sent = self._awaited.pop(whisper_id)
        self._thread.submit(self._note, sent, None)

    def disown(self, reach: CallerReach, whisper_id: str) -> None:
        """Take a client's word that nobody got a whisper; one that is not awaited is left alone."""
        with self._lock:
            known = self._awaited.get(whisper_id)
        if known is not None and known.reach.context is reach.context:
            self._give_up(whisper_id)

    def settle_overdue(self, arrival: PromptArrival, seconds: float) -> None:
        """Give up what the session of a new prompt should have confirmed by now, and wait for that
        no longer than `seconds`."""
        now = time.monotonic()
        with self._lock:
            overdue = [
                each
                for each in self._awaited.values()
                if each.due <= now and each.arrival and each.arrival.session == arrival.session
            ]
        given_up = [done for each in overdue if (done := self._give_up(each.id)) is not None]
        wait_for(given_up, timeout=max(seconds, 0.0))

    async def hand_over(self, sent: SentWhisper, is_gone: bool) -> None:
        """Note that an answer is handed to whoever does not confirm, or that they are gone."""
        done = self._thread.submit(self._note, sent, Loss.GONE if is_gone else None)
        await asyncio.wrap_future(done)

    def give_up_failed(self, sent: SentWhisper) -> None:
        """Note that there is no answer to hand over, and return when that is done."""
        self._thread.submit(self._note, sent, Loss.FAILED).result()

    def _give_up(self, whisper_id: str) -> Future[None] | None:
        with self._lock:
            sent = self._awaited.pop(whisper_id, None)
        if sent is None:
            return None
        try:
            return self._thread.submit(self._note, sent, Loss.UNCONFIRMED)
        except RuntimeError:
            return None  # the daemon ends; in the log it stays awaited

    def _note(self, sent: SentWhisper, why: Loss | None) -> None:
        """Note that a whisper was delivered, or `why` not."""
        stores, sessions = sent.reach.context.stores, sent.reach.context.whisperer.sessions
        stores.executor.wait()  # the log of a hook's whisper is written behind its answer
        try:
            if why is not None:
                is_new = mark_undelivered(stores, sessions, sent.id, why)
            else:
                everywhere = [place.context.stores for place in sent.reach.places()]
                is_new = confirm_delivery(everywhere, sessions, sent.id)
        except MadeleineError as error:
            log.warning("what became of a whisper was not noted: %s", error.message)
            return
        if is_new:
            self._settled(sent, why is None)
