"""What the other rooms ask of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from madeleine.minds.spending import SpendingLedger
from madeleine.model.embedding import Passage, PassageEmbedding, QueryEmbedding, TokenKeeper
from madeleine.model.extraction import Extraction, ExtractionSource
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair, Relation, Synthesis, Verdict

TextPair: TypeAlias = tuple[str, str]
"""An older and a newer text."""

RelationChances: TypeAlias = Mapping[Relation, float]
"""How likely each relation is; together one."""


class Embedder(Protocol):
    """Turns texts into unit vectors; the same text always gives the same vector."""

    @property
    def name(self) -> str:
        """Keys every kept vector: a change of weights or dimension is a new name."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def token_dimension(self) -> int:
        """How many numbers a kept token has; 0 for a model that gives none."""
        ...

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        """Return what is to be kept of each passage, in order: a float32 vector of length 1
        and its tokens.

        Raises `MindDown` when the model cannot answer; never returns a made-up vector.
        """
        ...

    def ask(self, text: str) -> QueryEmbedding:
        """Return what a question means, as a whole and token by token."""
        ...


class CachingEmbedder(Embedder, Protocol):
    """An embedder that keeps what it made, so that a rebuild does not ask the model again."""

    @property
    def problem(self) -> str:
        """Why its model is not asked at the moment; empty if it is."""
        ...

    @property
    def keeper(self) -> TokenKeeper:
        """Where the tokens of what it reads stand."""
        ...

    def forget(self, keys: Sequence[str]) -> int:
        """Keep nothing under these keys any longer; return how much that was."""
        ...

    def flush(self) -> None:
        """Write what was made and is not written yet. Whoever reads does not wait for it, so
        somebody else has to see to it now and then."""
        ...

    def close(self) -> None:
        """Write and let go of what is kept; nothing may be asked afterwards."""
        ...


class Reranker(Protocol):
    """Reads a question and a text together, which is slower and sees more than comparing
    what was made of each by itself."""

    @property
    def name(self) -> str: ...

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return for each text how well it answers, as the model says it: any number, larger
        is better.

        Raises `MindDown` when the model cannot answer.
        """
        ...


class RelationReader(Protocol):
    """Reads two texts together and says what they are to each other: what the local judge goes by
    where no rule is certain."""

    @property
    def name(self) -> str:
        """Keys what is kept of its readings."""
        ...

    def read(self, pairs: Sequence[TextPair]) -> list[RelationChances | None]:
        """Return calibrated chances (I10) for each pair, in order; nothing for one that has to wait
        because so many were read in this run. The same pair always gets the same chances,
        whatever it is read beside.

        Raises `MindDown` when the model cannot answer.
        """
        ...

    def weigh_in_store(self, pair: MemoryPair, read: RelationChances | None) -> RelationChances:
        """Return the chances of a pair among all that is near in its store (`MemoryPair.shared`),
        where hardly any pair is an update; also of one that was not read."""
        ...

    def begin_run(self) -> None:
        """Count anew how many pairs are read: another run begins."""
        ...

    def release(self) -> None:
        """Let go of what takes memory, once no run is left; the next reading loads it again."""
        ...


class Judge(Protocol):
    """Says what memories are to each other. It may be slow and it may fail: nobody holds a
    lock while it thinks (I6), and an answer that is missing changes nothing."""

    @property
    def name(self) -> str:
        """Keys what is remembered of its verdicts."""
        ...

    @property
    def cheap(self) -> bool:
        """Whether asking again costs next to nothing; then verdicts need not be kept."""
        ...

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        """Return a verdict for each pair, in order; nothing where no usable answer came."""
        ...

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        """Return one text for all of them; nothing where no usable answer came."""
        ...

    def problems(self) -> dict[str, int]:
        """Return what went wrong since it was last asked for this, in words, and how often."""
        ...


class Extractor(Protocol):
    """Finds in what was said or written what is worth keeping. It may be slow and it may fail;
    nobody holds a lock while it thinks (I6)."""

    @property
    def name(self) -> str: ...

    @property
    def tokens(self) -> int:
        """What it has used since it was last asked for its problems."""
        ...

    def extract(self, told: Sequence[ExtractionSource]) -> Extraction | None:
        """Return what is worth keeping, each with words that really stand in what was told;
        nothing where no usable answer came, which is not the same as an empty one."""
        ...

    def problems(self) -> dict[str, int]:
        """Return what went wrong since it was last asked for this, in words, and how often."""
        ...


@dataclass(frozen=True, slots=True)
class Minds:
    """The models at hand. Without an embedder there is text search only, and `why_not` says
    why in a sentence that `madeleine status` shows. `reads_other_languages` is whether a second
    model reads what is not English; `why_only_english` says why the built-in model reads that as
    well, which it does badly. Without a reranker the order is that of
    the scores. Without a reader of relations the local judge goes by signs in the texts. `spending`
    has the receipts of remote models, where there is a home to keep them in."""

    embedder: CachingEmbedder | None = None
    why_not: str = ""
    reads_other_languages: bool = False
    why_only_english: str = ""
    reranker: Reranker | None = None
    why_no_reranker: str = ""
    relations: RelationReader | None = None
    why_no_relations: str = ""
    spending: SpendingLedger | None = None
