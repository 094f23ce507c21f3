"""Stores to learn from that are not only English.

The train stores of Everyday in other languages, and blocks in ten languages (`other_languages/`),
each file one person's notes. A line `c` is a question about the note in another language, English
mostly; of two lines `s` the first wants nothing from any memory, and the second asks for what
nothing in the file answers. In `across.txt` all notes are English and what is typed is not.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.training.everyday_split import FOLDER as EVERYDAY
from bench.training.stores import read_everyday_store
from bench.training.values import Item, Question, Store

BLOCKS = Path(__file__).parent / "other_languages"
ENGLISH_ONLY = ["en"]
OF_OTHERS = 8  # questions of other stores, which nothing here answers


def everyday_in_other_languages() -> list[Store]:
    """Return the train stores of Everyday whose languages are not English alone."""
    return [
        read_everyday_store(path)
        for path in sorted(EVERYDAY.glob("*.jsonl"))
        if _languages_of(path) != ENGLISH_ONLY
    ]


def _languages_of(path: Path) -> list[str]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return next(list(row["languages"]) for row in rows if row["record"] == "store")


def blocks_in_other_languages() -> list[Store]:
    """Return a store for each file of blocks. Some questions of the others have no answer in it."""
    files = [(path.stem, list(_read_blocks(path))) for path in sorted(BLOCKS.glob("*.txt"))]
    chance = random.Random(0)
    found = []
    for name, blocks in files:
        strangers = [
            text
            for other, theirs in files
            if other != name
            for block in chance.sample(theirs, 1)
            for text in block["s"][1:]
        ]
        found.append(_store_of(name, blocks, chance.sample(strangers, OF_OTHERS)))
    return found


def _read_blocks(path: Path) -> Iterator[dict[str, list[str]]]:
    for part in path.read_text(encoding="utf-8").split("\n\n"):
        lines: dict[str, list[str]] = {each: [] for each in "nxpqacs"}
        for line in part.splitlines():
            lines[line[0]].append(line[3:].strip())
        yield lines


def _store_of(name: str, blocks: Sequence[dict[str, list[str]]], strangers: Sequence[str]) -> Store:
    memories, questions = [], list[Question]()
    for number, block in enumerate(blocks):
        memories += [Item(f"{letter}{number}", text) for letter in "nx" for text in block[letter]]
        gold = frozenset({f"n{number}"})
        questions += [Question(text, gold, "question") for text in (*block["q"], *block["c"])]
        prompts = (*block["p"], *block["a"])
        questions += [Question(text, gold, "prompt", unasked=True) for text in prompts]
        questions += [_nothing(text, "prompt") for text in block["s"]]
        questions += [_nothing(text, "question") for text in block["s"][1:]]
    questions += [_nothing(text, "question") for text in strangers]
    return Store(f"blocks-{name}", memories, questions)


def _nothing(text: str, kind: str) -> Question:
    return Question(text, frozenset(), f"{kind}, none", unasked=kind == "prompt")
