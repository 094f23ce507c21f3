"""Passages that are known by number and version, for engines in which others write too.

Questions of one day are about the same things, and reading the passages of their candidates from
a server takes longer than comparing them. A version is never given out twice, so what is kept
is right for as long as it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.pools import MAX_CACHED_BYTES
from madeleine.index.search import CandidatePool

PassageBytes = tuple[bytes, bytes]
"""Stems and tokens."""
ReadPassages = Callable[[Sequence[int]], Mapping[int, PassageBytes]]
"""Reads passages by their numbers."""


@dataclass(frozen=True, slots=True)
class VersionedPool(CandidatePool):
    """A pool that knows which version of each passage it saw."""

    versions: NDArray[np.int64]


class VersionedPassageCache:
    """Passages looked at lately."""

    def __init__(self) -> None:
        self._passages: dict[tuple[int, int], PassageBytes] = {}
        self._bytes = 0

    def find(
        self, read: ReadPassages, numbers: list[int], versions: list[int]
    ) -> list[PassageBytes]:
        """Return the stems and tokens of each passage; one that is gone has neither."""
        known = self._passages  # another thread may begin anew meanwhile
        keys = list(zip(numbers, versions, strict=True))
        fresh = read([number for number, version in keys if (number, version) not in known])
        found = [known.get(key) or fresh.get(key[0]) or (b"", b"") for key in keys]
        self._keep({key: fresh[key[0]] for key in keys if key[0] in fresh})
        return found

    def _keep(self, fresh: dict[tuple[int, int], PassageBytes]) -> None:
        self._bytes += sum(len(stems) + len(tokens) for stems, tokens in fresh.values())
        if self._bytes > MAX_CACHED_BYTES:
            self._passages, self._bytes = {}, 0
        else:
            self._passages.update(fresh)
