"""The judge that cannot be had: whoever asks it hears why."""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.errors import MadeleineError
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair, Synthesis, Verdict


class AbsentJudge:
    """Stands where the settings ask for a judge that there is not. Jobs that need none run all
    the same; the others fail, and their reports say why."""

    name = "absent"
    cheap = True

    def __init__(self, error: MadeleineError) -> None:
        self._error = error

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        raise self._error

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        raise self._error

    def problems(self) -> dict[str, int]:
        return {}
