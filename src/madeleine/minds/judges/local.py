"""The judge that needs no model: it weighs signs that stand in the texts.

It is deterministic, asks nobody, and judges thousands of pairs a second. Where it is not sure
it says so, and the jobs make a proposal of it. What it looks at is in `rules/judging.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from madeleine.model.judging import Pair, Relation, Synthesis, Verdict
from madeleine.model.memory import Memory
from madeleine.rules.clauses import Reading, read
from madeleine.rules.extracts import extract
from madeleine.rules.judging import (
    LEARNT,
    SURE_AT_MOST,
    Model,
    Side,
    Signs,
    chances,
    reason_of,
    signs_of,
)
from madeleine.rules.saying import SAID_SURE, stated, turns_of
from madeleine.rules.stems import stems_of
from madeleine.rules.wording import first_person

READINGS = 8_192  # texts whose readings are kept; about 8 kB each
AT_ONCE = 2_048  # pairs weighed in one go
DAY_SECONDS = 86_400.0


class LocalJudge:
    """Signs, weights, and a few things that no weight may overrule."""

    cheap = True

    def __init__(self, model: Model) -> None:
        self.name = f"local:{model.version}"
        self._model = model
        self._read = lru_cache(maxsize=READINGS)(read)
        self._turns = lru_cache(maxsize=READINGS)(turns_of)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
        verdicts: list[Verdict | None] = []
        for start in range(0, len(pairs), AT_ONCE):
            verdicts += self._judge(pairs[start : start + AT_ONCE])
        return verdicts

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        """Return the members' own sentences, each once; never fails, never invents."""
        return extract(members) if members else None

    def problems(self) -> dict[str, int]:
        return {}

    def signs(self, pair: Pair) -> Signs:
        """Return the signs of a pair; training asks for them."""
        return signs_of(self._side(pair.older), self._side(pair.newer), pair.likeness)

    def _judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        signs = [self.signs(pair) for pair in pairs]
        said = chances(self._model, [each.row for each in signs]).tolist()
        return [
            self._verdict(pair, each, dict(zip(LEARNT, row, strict=True)))
            for pair, each, row in zip(pairs, signs, said, strict=True)
        ]

    def _verdict(self, pair: Pair, signs: Signs, chance: dict[Relation, float]) -> Verdict:
        if not signs.may_merge and chance[Relation.DUPLICATE] > SURE_AT_MOST:
            chance[Relation.DUPLICATE] = SURE_AT_MOST
        relation = max(LEARNT, key=lambda each: chance[each])
        if relation in (Relation.RELATED_TO, Relation.NONE):
            outright = self._outright(pair)
            if outright is not None:
                return outright
        reason = reason_of(relation, signs, pair.likeness)
        return Verdict(relation, round(chance[relation], 4), reason)

    def _outright(self, pair: Pair) -> Verdict | None:
        older, newer = pair.older, pair.newer
        turns = [self._turns(each.title, each.content) for each in (older, newer)]
        said = stated(turns[0], self._reading(older), turns[1], self._reading(newer))
        if said is None:
            return None
        return Verdict(said.relation, SAID_SURE, f"one says `{said.words}`", said.from_older)

    def _side(self, memory: Memory) -> Side:
        return Side(
            reading=self._reading(memory),
            title=stems_of(memory.title) if memory.title else frozenset(),
            session=memory.origin.session if memory.origin else None,
            first_person=first_person(memory.content),
            days=memory.created.timestamp() / DAY_SECONDS,
        )

    def _reading(self, memory: Memory) -> Reading:
        return self._read(memory.title, memory.content)
