"""Prompts that arrive, with what fits them, and those that nothing fits.

A prompt that something fits is of the kind `OWN`. The others are `small` talk and `task`s,
which need no memory, questions of an`other` store as they are, and the hard ones, `swap`: such
questions about the people of this store.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from _recall_sets import Store

OWN = "own"
SEED = 7
SHORT_NAME = 3  # letters; whoever has a longer name is called by them too

Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is typed, the memories that fit it and those that must not be offered."""

    text: str
    kind: str
    gold: frozenset[str] = frozenset()
    space: str | None = None
    forbidden: frozenset[str] = frozenset()
    concepts: tuple[frozenset[str], ...] = ()
    """For each thing that should come to mind, the memories that carry it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A store and what is typed there: each prompt by itself, or all in one session."""

    store: Store
    prompts: tuple[Prompt, ...]
    session: str | None = None


def read_asides(folder: Path) -> tuple[Prompt, ...]:
    """Return small talk and tasks, which need no memory whatever a store holds.

    They stand in `negatives*.jsonl` with their kind, and in `filler*.txt`, where the first
    three fifths of the lines are small talk.
    """
    lines = [line for path in sorted(folder.glob("negatives*.jsonl")) for line in _lines(path)]
    found = [Prompt(each["text"], each["kind"]) for each in map(json.loads, lines)]
    for path in sorted(folder.glob("filler*.txt")):
        filler = _lines(path)
        small = len(filler) * 3 // 5
        found += [Prompt(text, "small") for text in filler[:small]]
        found += [Prompt(text, "task") for text in filler[small:]]
    return tuple(found)


def sampled(name: str, pool: Sequence[Each], most: int) -> list[Each]:
    """Return up to `most` of a pool, always the same for one name."""
    return random.Random(f"{SEED} {name}").sample(pool, min(most, len(pool)))


def swapped(text: str, theirs: Sequence[str], ours: Sequence[str]) -> str:
    """Return a text about our people instead of theirs, each in the place of one of them."""
    full = dict(zip(theirs, ours, strict=True))
    short = {name[:SHORT_NAME]: full[name] for name in theirs if len(name) > SHORT_NAME}
    names = short | full
    any_name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"\b(?:{any_name})\b", lambda found: names[found[0]], text)


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
