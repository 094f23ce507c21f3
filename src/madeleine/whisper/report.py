"""What whispers were worth: what the hold-out shows, and what came of them week by week.

The hold-out: do whispered memories show in replies more often than they would?

Some whispers are held back on purpose (`whisper.holdout`). Whether a memory shows in the reply is
noticed for both, the ones told and the ones held back, from the session's transcript; the
difference is what whispering did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from madeleine.index.log import WhisperEntry
from madeleine.language.reply_use import share_difference
from madeleine.rules.calendar_bounds import week_start
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.learning import select_standing_feedback
from madeleine.whisper.log import entry_ids, is_about_prompt, is_delivered
from madeleine.write.stores import Stores

ENTRIES = 100_000  # of the log, newest first: more than anybody types in a month
SESSION_ENTRIES = 300  # of a session's log that its status line sums up
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


@dataclass(frozen=True, slots=True)
class WhisperWeek:
    """What came of the whispers of one week, which begins on a Monday."""

    begins: date
    told: HoldOutGroup
    held_out: HoldOutGroup
    thumbs_up: int
    thumbs_down: int
    tokens: int
    """What they cost an agent to read, as far as that was written down."""


@dataclass(frozen=True, slots=True)
class SessionWhispers:
    """What was whispered in one session, and what it cost to read."""

    whispers: int
    memories: int
    tokens: int


def count_in_session(stores: Stores, session: str) -> SessionWhispers:
    """Return what was whispered in a session and delivered."""
    entries = [
        each
        for each in stores.log.whispers(SESSION_ENTRIES, session)
        if is_delivered(each.body) and entry_ids(each, "injected")
    ]
    told = {memory for each in entries for memory in entry_ids(each, "injected")}
    return SessionWhispers(len(entries), len(told), sum(map(_count_cost, entries)))


def measure_weeks(stores: Stores) -> tuple[WhisperWeek, ...]:
    """Return what came of whispers in each week of the log, the last one first."""
    by_week: dict[date, list[WhisperEntry]] = {}
    for each in stores.log.whispers(ENTRIES):
        if is_about_prompt(each.body) and is_delivered(each.body):
            by_week.setdefault(week_start(each.at).date(), []).append(each)
    thumbs = _read_thumbs(stores, [each for entries in by_week.values() for each in entries])
    weeks = [_sum_up_week(begins, entries, thumbs) for begins, entries in by_week.items()]
    said = [each for each in weeks if each.told.whispers or each.held_out.whispers]
    return tuple(sorted(said, key=lambda each: each.begins, reverse=True))


def _sum_up_week(
    begins: date, entries: Sequence[WhisperEntry], thumbs: Mapping[str, Sequence[float]]
) -> WhisperWeek:
    told = [each for each in entries if entry_ids(each, "injected")]
    given = [signal for each in told for signal in thumbs.get(each.id, ())]
    return WhisperWeek(
        begins=begins,
        told=_count_group(told),
        held_out=_count_group(each for each in entries if each.body.get("held_out")),
        thumbs_up=sum(each > 0 for each in given),
        thumbs_down=sum(each < 0 for each in given),
        tokens=sum(map(_count_cost, told)),
    )


def _read_thumbs(stores: Stores, entries: Iterable[WhisperEntry]) -> Mapping[str, Sequence[float]]:
    """Return what people said outright about the memories of each whisper."""
    ids = sorted({memory for each in entries for memory in entry_ids(each, "injected")})
    thumbs: dict[str, list[float]] = {}
    for each in select_standing_feedback(stores.log.feedback(ids)) if ids else ():
        signal = each.body.get("signal")
        if each.body.get("source") == "explicit" and isinstance(signal, int | float):
            thumbs.setdefault(str(each.body.get("whisper")), []).append(signal)
    return thumbs


def _count_cost(entry: WhisperEntry) -> int:
    tokens = entry.body.get("tokens")
    return tokens if isinstance(tokens, int) else 0


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
