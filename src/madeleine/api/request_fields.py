"""Fields that several requests have, read alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from madeleine.model.draft import read_one_line, read_space
from madeleine.model.request_reader import RequestReader

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall

MAX_REASON_CHARS = 1_000


def read_default_space(call: OperationCall) -> str | None:
    """Return the space of a request that names none itself."""
    reader = RequestReader(call.query)
    space = read_space(reader.text("default_space"))
    reader.done()
    return space


def read_reason(reader: RequestReader) -> str | None:
    return read_one_line("reason", reader.text("reason"), MAX_REASON_CHARS)
