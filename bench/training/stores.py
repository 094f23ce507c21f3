"""The stores to learn from and to measure on.

Learnt from: what is invented here, and the sets that may be used for anything, ormah and
PrecisionMemBench (both MIT). LoCoMo and BEAM may not: they only measure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import cast

from bench import _recall_sets as sets
from bench.training.values import Item, Question, Store

MEASURING = ("locomo", "beam")
UNANSWERED = ("5",)
"""LoCoMo's category of questions about the wrong person: measured, never learnt from."""


def permissive(data: Path) -> list[Store]:
    """Return the stores of the sets under `data` that weights may be learnt from."""
    ormah = sets.read_ormah(_one(data, "ormah/golden*.jsonl"))
    precision = sets.read_precision(_one(data, "precision*"))
    return [_store(each) for each in [*ormah, sets.pooled(precision, "precision")]]


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
