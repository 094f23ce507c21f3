"""A language model as judge, for as long as the day's cap leaves room; then the local judge, which
says why it was asked. Who judges is settled at the beginning of a run, which ends when `problems()`
is asked for, so that a run's verdicts are all of one judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from madeleine.minds.port import Judge
from madeleine.minds.spending import SpendingLedger
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair, Synthesis, Verdict


class CappedJudge:
    """Asks the one judge or the other. `make_local` is called when the local one is needed first;
    it takes a while to load."""

    def __init__(
        self, remote: Judge, make_local: Callable[[], Judge], spending: SpendingLedger
    ) -> None:
        self._remote = remote
        self._make_local = make_local
        self._spending = spending
        self._local: Judge | None = None
        self._chosen: Judge | None = None
        self._why = ""
        self._asked = False

    @property
    def name(self) -> str:
        return self._choose().name

    @property
    def cheap(self) -> bool:
        return self._choose().cheap

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        self._asked = self._asked or bool(pairs)
        return self._choose().judge(pairs)

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        self._asked = self._asked or bool(members)
        return self._choose().synthesise(members)

    def problems(self) -> dict[str, int]:
        found = self._choose().problems()
        told = {f"{self._why}; the local judge answered": 1} if self._why and self._asked else {}
        self._chosen, self._why, self._asked = None, "", False
        return {**found, **told}

    def _choose(self) -> Judge:
        """Return who judges in this run."""
        if self._chosen is None:
            self._why = self._spending.find_refusal()
            self._chosen = self._load_local() if self._why else self._remote
        return self._chosen

    def _load_local(self) -> Judge:
        if self._local is None:
            self._local = self._make_local()
        return self._local
