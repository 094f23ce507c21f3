"""The stores to learn from and to measure on.

Learnt from: what is invented here, a third of Everyday's train stores, and the sets that may be
used for anything, ormah and PrecisionMemBench (both MIT). LoCoMo and BEAM may not: they only
measure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from bench import _recall_sets as sets
from bench.training.everyday_split import head_stores
from bench.training.values import Item, Question, Store

MEASURING = ("locomo", "beam")
UNANSWERED = ("5",)
"""LoCoMo's category of questions about the wrong person: measured, never learnt from."""


def permissive(data: Path) -> list[Store]:
    """Return the stores of the sets under `data` that weights may be learnt from."""
    ormah = sets.read_ormah(_one(data, "ormah/golden*.jsonl"))
    precision = sets.read_precision(_one(data, "precision*"))
    return [_store(each) for each in [*ormah, sets.pooled(precision, "precision")]]


def everyday() -> list[Store]:
    """Return stores of Everyday's train split that the sentence model has not seen."""
    return [read_everyday_store(path) for path in head_stores()]


def read_everyday_store(path: Path) -> Store:
    """Return a store with its questions, its prompts and its actions. What says the same as
    something that fits, fits too."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    memories = [row for row in rows if row["record"] == "memory"]
    twins = [(row["id"], row["same_as"]) for row in memories if row["same_as"]]

    def question(row: Mapping[str, Any], text: str, fitting: Iterable[str]) -> Question:
        gold = set(fitting)
        gold |= {two for one, two in twins if one in gold}
        gold |= {one for one, two in twins if two in gold}
        record = row["record"]
        unasked = record != "question"
        kind = record if gold else f"{record}, none"
        return Question(text, frozenset(gold), kind, space=row["space"], unasked=unasked)

    questions = []
    for row in rows:
        match row["record"]:
            case "question":
                right = (key for key, grade in row["grades"].items() if grade == 2)
                questions.append(question(row, row["text"], right))
            case "prompt":
                questions.append(question(row, row["text"], (*row["must"], *row["ok"])))
            case "action":
                text = f"{row['tool']}: {row['target']}"
                questions.append(question(row, text, (*row["must"], *row["ok"])))
            case _:
                pass
    return Store(path.stem, [_everyday_item(row) for row in memories], questions)


def _everyday_item(row: Mapping[str, Any]) -> Item:
    return Item(
        id=row["id"],
        text=row["content"],
        title=row["title"],
        created=datetime.fromisoformat(row["created"]),
        type=row["type"],
        space=row["space"],
        about_self=row["about_self"],
    )


def measuring(data: Path, name: str) -> list[Store]:
    """Return the stores of a set that only measures."""
    if name == "locomo":
        found = sets.read_locomo(_one(data, "locomo/locomo*.json"))
    else:
        found = sets.read_beam(_one(data, "beam*"))
    return [_store(each) for each in found]


def _store(given: sets.Store) -> Store:
    """Return a benchmark's store with as much of it as counts here."""
    return Store(
        given.name,
        [_item(draft) for draft in given.drafts],
        [Question(each.text, each.gold, each.label) for each in given.questions],
    )


def _item(draft: Mapping[str, object]) -> Item:
    origin = cast("Mapping[str, object]", draft.get("origin") or {})
    created = draft.get("created")
    return Item(
        id=str(draft["id"]),
        text=str(draft["content"]),
        title=cast("str | None", draft.get("title")),
        speaker=cast("str | None", origin.get("speaker")),
        session=cast("str | None", origin.get("session")),
        turn=cast("int | None", origin.get("turn")),
        created=created if isinstance(created, datetime) else None,
    )


def _one(data: Path, pattern: str) -> Path:
    """Return the first path that fits."""
    found: Sequence[Path] = sorted(data.glob(pattern))
    if not found:
        raise FileNotFoundError(f"nothing fits `{pattern}` in {data}")
    return found[0]
