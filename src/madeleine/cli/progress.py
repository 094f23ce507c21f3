"""A progress bar of one line: `412/1,000  41 %  about 3 s left`."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

REDRAW_SECONDS = 0.1  # faster is only flicker
SHOW_AFTER_SECONDS = 0.5  # what ends sooner needs no bar
_ERASE_LINE = "\r\x1b[K"


class ProgressBar:
    """Draws on `stream`; without one it stays silent."""

    def __init__(
        self, stream: TextIO | None, what: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._what = what
        self._clock = clock
        self._began = clock()
        self._drawn_at = self._began + SHOW_AFTER_SECONDS - REDRAW_SECONDS
        self._drawn = False

    def __call__(self, done: int, total: int | None = None) -> None:
        """Say how far the work is; no total when nobody knows it."""
        now = self._clock()
        if self._stream is None or now - self._drawn_at < REDRAW_SECONDS:
            return
        text = render_progress(done, total, now - self._began)
        self._stream.write(f"{_ERASE_LINE}{self._what}  {text}")
        self._stream.flush()
        self._drawn_at, self._drawn = now, True

    def of(self, what: str) -> None:
        """Say that other work has begun; how long it takes is reckoned anew."""
        if what != self._what:
            self._what, self._began = what, self._clock()

    def clear(self) -> None:
        """Take the bar away, so that other lines can be printed."""
        if self._stream is not None and self._drawn:
            self._stream.write(_ERASE_LINE)
            self._stream.flush()
            self._drawn = False

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.clear()


def render_progress(done: int, total: int | None, seconds: float) -> str:
    """Return how far the work is, and about how long it will still take."""
    if not total:
        return f"{done:,}"
    text = f"{done:,}/{total:,}  {100 * done // total} %"
    if not done or done >= total:
        return text
    return f"{text}  about {_render_duration(seconds / done * (total - done))} left"


def _render_duration(seconds: float) -> str:
    whole = max(1, round(seconds))
    if whole < 90:
        return f"{whole} s"
    if whole < 5400:
        return f"{round(whole / 60)} min"
    return f"{whole / 3600:.1f} h"
