"""What a meeting place has to be able to do: hold small files that never change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from madeleine.errors import Unavailable
from madeleine.sync.segments import Segment


class PlaceDown(Unavailable):
    """The place where machines meet cannot be reached, or refuses."""

    kind = "place_down"

    def __init__(self, place: str, problem: str, hint: str = "") -> None:
        super().__init__(
            f"{place}: {problem}",
            hint or "nothing was changed there; see that it can be reached, then sync again",
            place=place,
            problem=problem,
        )


class MeetingPlace(Protocol):
    """A place. Each method may take as long as a network does."""

    @property
    def name(self) -> str:
        """The place in words, without credentials."""
        ...

    def list_segments(self) -> dict[str, int]:
        """Return the names of all segments there, as `device/file`, with their lengths."""
        ...

    def fetch(self, names: Sequence[str]) -> Iterator[Segment]:
        """Give these files as they are there now; one that is gone is left out."""
        ...

    def publish(self, add: Sequence[Segment], remove: Sequence[str]) -> None:
        """Leave files there, each whole or not at all, and take others away."""
        ...
