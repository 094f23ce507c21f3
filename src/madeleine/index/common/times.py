"""Instants as the whole microseconds that the tables hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DAY_MICROS = 86_400_000_000


def to_micros(moment: datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def to_micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - EPOCH) // MICROSECOND


def from_micros(value: int) -> datetime:
    return EPOCH + timedelta(microseconds=value)


def from_micros_or_none(value: int | None) -> datetime | None:
    return None if value is None else EPOCH + timedelta(microseconds=value)
