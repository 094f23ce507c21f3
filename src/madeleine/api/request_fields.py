"""Fields that several requests have, read alike."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from madeleine.errors import InvalidValue
from madeleine.language.times import read_times
from madeleine.model.draft import read_one_line, read_space
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import parse_time

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall

MAX_REASON_CHARS = 1_000
SPOKEN_TIMES = "such as yesterday, monday, 3 days ago, 2026-11-01 or 2026-11-01T18:04:00Z"


def read_default_space(call: OperationCall) -> str | None:
    """Return the space of a request that names none itself."""
    reader = RequestReader(call.query)
    space = read_space(reader.text("default_space"))
    reader.done()
    return space


def read_spoken_time(
    reader: RequestReader, field: str, now: datetime
) -> tuple[datetime, datetime] | None:
    """Return the first moment of a time that people say, such as `yesterday`, `monday`, `3 days
    ago` or `2026-11-01`, and the first after it; of an instant, twice the instant."""
    text = reader.text(field)
    if text is None:
        return None
    said = text.strip()
    for span in read_times(said, now):
        if span.at == (0, len(said)) and span.start is not None and span.end is not None:
            return span.start, span.end
    try:
        exact = parse_time(field, said)
    except InvalidValue as error:
        raise InvalidValue(field, f"is {text!r}, not a time", hint=SPOKEN_TIMES) from error
    return exact, exact


def read_reason(reader: RequestReader) -> str | None:
    return read_one_line("reason", reader.text("reason"), MAX_REASON_CHARS)
