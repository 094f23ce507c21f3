"""What the hold-out shows: do whispered memories show in replies more often than they would?

Some whispers are held back on purpose (`whisper.holdout`). Whether a memory shows in the reply is
noticed for both, the ones told and the ones held back, from the session's transcript; the
difference is what whispering did.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from madeleine.index.log import WhisperEntry
from madeleine.language.reply_use import share_difference
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.log import entry_ids, is_about_prompt, is_delivered
from madeleine.write.stores import Stores

ENTRIES = 100_000  # of the log, newest first: more than anybody types in a month
REPLIES_LEAST = 20  # on either side, before anything is said about the difference


@dataclass(frozen=True, slots=True)
class HoldOutGroup:
    """Whispers of one kind: how many there were, had their reply read, and show in it."""

    whispers: int
    replied: int
    used: int

    @property
    def share(self) -> float | None:
        return self.used / self.replied if self.replied else None


@dataclass(frozen=True, slots=True)
class HoldOutReport:
    """The two sides, over the days that the log is kept. What came `late`, or was `undelivered`
    for another reason, belongs to neither."""

    days: int
    told: HoldOutGroup
    held_out: HoldOutGroup
    late: int
    undelivered: int = 0

    @property
    def enough(self) -> bool:
        return min(self.told.replied, self.held_out.replied) >= REPLIES_LEAST

    @property
    def difference(self) -> tuple[float, float]:
        """By how much the share of the told is larger, and how far that may be off."""
        told, held_out = self.told, self.held_out
        return share_difference((told.used, told.replied), (held_out.used, held_out.replied))


def measure_hold_out(stores: Stores, config: WhisperConfig) -> HoldOutReport:
    """Return what the log says about whispers told and held out."""
    entries = [each for each in stores.log.whispers(ENTRIES) if is_about_prompt(each.body)]
    in_time = [each for each in entries if is_delivered(each.body)]
    late = sum(bool(each.body.get("late")) for each in entries)
    return HoldOutReport(
        days=config.log_days,
        told=_count_group(each for each in in_time if entry_ids(each, "injected")),
        held_out=_count_group(each for each in in_time if each.body.get("held_out")),
        late=late,
        undelivered=len(entries) - len(in_time) - late,
    )


def _count_group(entries: Iterable[WhisperEntry]) -> HoldOutGroup:
    known = list(entries)
    replied = [each for each in known if each.body.get("replied")]
    return HoldOutGroup(
        len(known), len(replied), sum(bool(entry_ids(each, "seen")) for each in replied)
    )
