"""A request to an operation, as every door hands it over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

DOOR_NAMES = ("http", "cli", "python", "page")  # who asks when nobody says who


@dataclass(frozen=True, slots=True)
class OperationCall:
    """One request, whichever door it came through. `by` is who asks."""

    id: str | None = None
    query: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, object] = field(default_factory=dict)
    by: str = "http"
    due: float | None = None
    """Of a prompt: when whoever asks stops waiting, by the monotonic clock."""
    awaits_receipt: bool = False
    """Of a prompt: whether the door says later if the whisper reached anybody."""
    is_local: bool = True
    """Whether who asks is at this machine; folders of others mean nothing here."""

    @property
    def path_id(self) -> str:
        """The id in the path; the table says which operations have one."""
        return self.id or ""
