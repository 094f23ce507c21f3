"""How well the local judge tells duplicates and conflicts, on pairs that are only measured on.

*Merges*: of the pairs that would be merged without asking, which share may be? STS-B (4 and more
of 5), SICK (entailment) and MRPC (paraphrase), and every one of their pairs spoilt in three ways:
another number, another name, a negation. A spoilt pair is never a duplicate.

*Conflicts*: the labelled updates and contradictions of BEAM, among each statement's three nearest
neighbours in its chat that are not its partner. The first figure counts every verdict about such
a neighbour as wrong. A few of them are conflicts that nobody had labelled: `AUDITED` names them,
and a second figure leaves them out. Only neighbours that some version of this judge had called
conflicts were read for it, so the second figure can only be the higher one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from madeleine.language.passages import split_passages
from madeleine.minds.port import Embedder, Judge
from madeleine.model.memory import Memory, Origin
from madeleine.model.verdict import MemoryPair, Relation

MERGE_AT = 0.97
SAID_AT = 0.50  # a verdict that is likelier right than not
PROPOSED_AT = 0.60  # a verdict from here on is shown to people
NEIGHBOURS = 3
NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
CONFLICTS = (Relation.EVOLUTION, Relation.TENSION)
LABELS = {"update": Relation.EVOLUTION, "contradiction": Relation.TENSION}

AUDITED = frozenset(
    {
        *((2, 46, 66), (2, 62, 70), (3, 38, 52), (3, 106, 120), (6, 22, 96), (7, 52, 184)),
    }
)
"""Chat and messages of neighbours that do conflict, by reading them: a limit or a deadline that
the labelled pair changes too, a thing done that the labelled denial denies too."""


_MARKER = re.compile(r"\s*->->.*\Z", re.DOTALL)
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")
_DENIES = re.compile(r"\bnot?\b|n't\b|\bnever\b|\bnobody\b")
_VERB = re.compile(r"\b(is|are|was|were|will|has|have|can)\b")

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat's labelled conflicts, and near pairs of its statements that are not labelled."""

    number: int
    labelled: tuple[tuple[MemoryPair, Relation], ...]
    near: tuple[MemoryPair, ...]


def judge_rows(data: Path, judge: Judge, embedder: Embedder) -> list[Row]:
    """Return the figures of both targets, as rows {what, figure, target, n}."""
    told = chats(data, embedder)
    return [*merge_rows(data, judge, embedder), *conflict_rows(told, judge)]


# -- merges -----------------------------------------------------------------------------------


def merge_rows(data: Path, judge: Judge, embedder: Embedder) -> list[Row]:
    """Return how many merges without asking were right, on pairs as they are and spoilt."""
    given = [json.loads(line) for line in _lines(data / "pairs" / "pairs-dev.jsonl")]
    labelled = [(each["a"], each["b"], same(each)) for each in given]
    spoilt = [(a, bad, False) for a, _, _ in labelled for bad in spoil(a)]
    spoilt += [(a, bad, False) for a, b, alike in labelled if alike for bad in spoil(b)]
    right, merged = _merged(labelled, judge, embedder)
    wrong = _merged(spoilt, judge, embedder)[1]
    what = "merges applied without asking: precision on labelled pairs"
    share = right / (merged + wrong) if merged + wrong else 0.0
    alike = sum(each[2] for each in labelled)
    return [
        {"what": what, "figure": round(share, 3), "target": ">= .97", "n": merged + wrong},
        {"what": "of them spoilt pairs", "figure": wrong, "target": "0", "n": len(spoilt)},
        {"what": "duplicates merged without asking", "figure": round(right / alike, 3),
         "target": "", "n": alike},
    ]  # fmt: skip


def same(pair: dict[str, Any]) -> bool:
    """Whether people said that the two texts say the same."""
    match pair["set"]:
        case "sts-b":
            return float(pair["label"]) >= 4.0
        case "sick":
            return bool(pair["label"] == "entailment")
        case _:
            return bool(pair["label"] == 1)


def spoil(text: str) -> Iterator[str]:
    """Yield the text with another number, another name and a negation, where it has them."""
    if number := _NUMBER.search(text):
        yield f"{text[: number.start()]}{int(number[0]) + 1}{text[number.end() :]}"
    if name := _NAME.search(text):
        yield f"{text[: name.start()]}Quillon{text[name.end() :]}"
    verb = _VERB.search(text)
    if verb and not _DENIES.search(text):
        yield f"{text[: verb.end()]} not{text[verb.end() :]}"


def _merged(
    given: Sequence[tuple[str, str, bool]], judge: Judge, embedder: Embedder
) -> tuple[int, int]:
    """Return how many would be merged rightly, and how many in all."""
    older = [_memory(a, "pair", 2 * place) for place, (a, _, _) in enumerate(given)]
    newer = [_memory(b, "pair", 2 * place + 1) for place, (_, b, _) in enumerate(given)]
    similarity = np.sum(_vectors(embedder, older) * _vectors(embedder, newer), axis=1)
    pairs = [
        MemoryPair(a, b, float(like)) for a, b, like in zip(older, newer, similarity, strict=True)
    ]
    said = [
        verdict is not None and verdict.relation is Relation.DUPLICATE and verdict.sure >= MERGE_AT
        for verdict in judge.judge(pairs)
    ]
    right = sum(yes and truth for yes, (_, _, truth) in zip(said, given, strict=True))
    return right, sum(said)


# -- conflicts --------------------------------------------------------------------------------


def conflict_rows(told: Sequence[Chat], judge: Judge) -> list[Row]:
    """Return recall and precision of labelled conflicts, from two degrees of sureness on."""
    rows: list[Row] = []
    for least, said_as in ((SAID_AT, "said"), (PROPOSED_AT, "proposed")):
        right, said, true = conflict_figures(told, judge, least)
        _, unaudited, _ = conflict_figures(told, judge, least, audited=True)
        what = f"conflicts {said_as} and labelled right"
        rows += [
            _row(f"{what}: recall", right / max(true, 1), ">= .60", true),
            _row(f"{what}: precision", right / max(said, 1), ">= .85", said),
            _row(f"{what}: precision, audited", right / max(unaudited, 1), "", unaudited),
        ]
    return rows


def conflict_figures(
    told: Sequence[Chat], judge: Judge, least: float, audited: bool = False
) -> tuple[int, int, int]:
    """Return how many conflicts were labelled right, how many were said, and how many are.

    With `audited`, a neighbour that is a conflict itself is neither right nor wrong."""
    labelled = [each for chat in told for each in chat.labelled]
    near = [
        pair for chat in told for pair in chat.near if not (audited and key_of(pair) in AUDITED)
    ]
    truths = [relation for _, relation in labelled] + [Relation.NONE] * len(near)
    verdicts = judge.judge([*(pair for pair, _ in labelled), *near])
    said = [
        verdict.relation
        if verdict is not None and verdict.relation in CONFLICTS and verdict.sure >= least
        else None
        for verdict in verdicts
    ]
    right = sum(one is two for one, two in zip(said, truths, strict=True))
    return right, sum(each is not None for each in said), len(labelled)


def key_of(pair: MemoryPair) -> tuple[int, int, int]:
    """Return chat and message numbers of a pair."""
    chat, one = pair.older.id.split("/")
    return int(chat), int(one), int(pair.newer.id.split("/")[1])


def chats(data: Path, embedder: Embedder, neighbours: int = NEIGHBOURS) -> list[Chat]:
    """Return the chats that have labelled conflicts."""
    given = [json.loads(line) for line in _lines(data / "pairs" / "conflicts-dev.jsonl")]
    numbers = sorted({each["chat"] for each in given})
    return [
        _chat(
            data, number, [each for each in given if each["chat"] == number], embedder, neighbours
        )
        for number in numbers
    ]


def _chat(
    data: Path, number: int, given: Sequence[dict[str, Any]], embedder: Embedder, neighbours: int
) -> Chat:
    said = _messages(data / "beam-100k" / str(number) / "chat.json", number)
    ids = list(said)
    vectors = _vectors(embedder, [said[each] for each in ids])
    similarity = vectors @ vectors.T
    place = {each: number for number, each in enumerate(ids)}

    def pair(one: int, two: int) -> MemoryPair:
        older, newer = sorted((one, two))
        return MemoryPair(said[older], said[newer], float(similarity[place[one], place[two]]))

    partners = {frozenset((each["a_id"], each["b_id"])): LABELS[each["label"]] for each in given}
    near = {
        frozenset((one, ids[other]))
        for one in {each for both in partners for each in both}
        for other in _nearest(similarity[place[one]], place[one], neighbours + 2)
    }
    kept = [
        both for both in near - partners.keys() if len({said[each].content for each in both}) > 1
    ]
    return Chat(
        number,
        tuple((pair(*both), relation) for both, relation in partners.items()),
        tuple(pair(*sorted(both)) for both in sorted(kept, key=sorted)),
    )


def _nearest(similarity: Any, place: int, count: int) -> list[int]:
    order = [int(each) for each in np.argsort(-similarity, kind="stable") if each != place]
    return order[: count - 2]


def _messages(path: Path, number: int) -> dict[int, Memory]:
    batches = json.loads(path.read_text(encoding="utf-8"))
    said = [
        message
        for batch in batches
        for turn in batch["turns"]
        for message in turn
        if message["role"] == "user"
    ]
    return {
        each["id"]: _memory(_MARKER.sub("", each["content"]).strip(), str(number), each["id"])
        for each in said
    }


# -- words ------------------------------------------------------------------------------------


def _row(what: str, figure: float, target: str, count: int) -> Row:
    return {"what": what, "figure": round(figure, 3), "target": target, "n": count}


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line]


def _memory(text: str, group: str, place: int) -> Memory:
    made_at = NOON + timedelta(hours=place)
    return Memory(f"{group}/{place}", text, made_at, made_at, origin=Origin())


def _vectors(embedder: Embedder, memories: Sequence[Memory]) -> Any:
    traces = embedder.read([split_passages(each)[0] for each in memories])
    return np.array([trace.vector for trace in traces], np.float64)
