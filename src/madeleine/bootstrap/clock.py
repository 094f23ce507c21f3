"""The clock of an open home."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

TICK = timedelta(microseconds=1)


class SystemClock:
    """The machine's time, in UTC, to the millisecond: finer only makes files longer.

    No two looks give the same time, so that what happened one after the other also has an
    order by time.
    """

    def __init__(self) -> None:
        self._last = datetime.min.replace(tzinfo=UTC)
        self._looking = threading.Lock()

    def now(self) -> datetime:
        now = datetime.now(UTC)
        now = now.replace(microsecond=now.microsecond // 1000 * 1000)
        with self._looking:
            just_now = timedelta(0) <= self._last - now < timedelta(seconds=1)
            self._last = self._last + TICK if just_now else now
            return self._last
