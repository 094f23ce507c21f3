"""Instants as text and back. Everything inside is aware UTC; a time without a zone is UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from madeleine.errors import InvalidValue, quote

UTC_SUFFIX_CHARS = len("+00:00")


def parse_time(field: str, value: object) -> datetime:
    """Return the instant that `value` names, in UTC; a bare date is its first moment."""
    if isinstance(value, datetime):
        return as_utc(value)
    if not isinstance(value, str):
        raise InvalidValue(
            field, f"is {quote(value)}, not a time", hint="such as 2026-11-15T18:04:00Z"
        )
    try:
        return as_utc(datetime.fromisoformat(value.strip()))
    except (ValueError, OverflowError) as error:
        raise InvalidValue(
            field,
            f"is {quote(value)}, not a time",
            hint="such as 2026-11-15T18:04:00Z or 2026-11-15",
        ) from error


def as_utc(moment: datetime) -> datetime:
    """Return the same instant in UTC; a naive one is taken to be in UTC already."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)


def format_time(moment: datetime) -> str:
    """Return RFC 3339 with `Z`, with just as many decimals as the instant has."""
    text = as_utc(moment).isoformat()[:-UTC_SUFFIX_CHARS]
    return f"{text.rstrip('0')}Z" if "." in text else f"{text}Z"
