"""How an engine under test is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from madeleine.index.port import Index
from madeleine.testing.making import TOKEN_DIMENSION


class Maker(Protocol):
    """A way to open the index that belongs to a folder, for one model or for none: the same folder
    gives the same index again. Vectors have `making.DIMENSION` numbers, and an engine that also
    searches approximately does so above 1,000 memories."""

    def __call__(
        self, folder: Path, model: str | None = "tiny", token_dimension: int = TOKEN_DIMENSION
    ) -> Index: ...
