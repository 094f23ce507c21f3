"""Chooses sentences and their translations to learn the multilingual model from.

A *shard* is a file of JSON lines, each with a text, its language, and the English that it
translates; English stands for itself as well. What is held apart by `is_held_apart` is in the
shard `held` alone, so no English sentence of it is learnt in any language. Shards are alike, so a
training may use the first few.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

HELD = "held"
HELD_OF_EACH = 1_000  # sentences of each language
HELD_SHARE = 16  # one English sentence in so many is held apart
SHARDS = 60
SHORTEST_DOCUMENT = 5  # words of a sentence of software and its documents
LANGUAGES_OF_A_DOCUMENT = 4
MACHINE_MADE = frozenset({"ethereum"})
JOINED_OF_EACH = 8  # texts of several sentences, for each language of a shard
MOST_JOINED = 4

Translations = dict[str, dict[str, str]]  # by English, then by language
Row = dict[str, str]


def is_held_apart(english: str) -> bool:
    """Whether a sentence and all its translations are kept for judging."""
    return int(hashlib.sha256(english.encode()).hexdigest()[:8], 16) % HELD_SHARE == 0


def read_translations(folder: Path) -> Translations:
    """Return what stands in the files of a folder, without what machines translated."""
    found: Translations = defaultdict(dict)
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["src"] not in MACHINE_MADE:
                    found[row["en"]].setdefault(row["lang"], row["x"])
    return found


def choose_held(everyday: Translations, documents: Translations) -> list[Row]:
    """Return the sentences to judge by: everyday ones, and of documents where those are few."""
    chosen: dict[str, list[Row]] = defaultdict(list)
    for source in (everyday, documents):
        for english in sorted(filter(is_held_apart, source), key=_digest):
            for language, text in source[english].items():
                if len(chosen[language]) < HELD_OF_EACH:
                    chosen[language].append({"text": text, "language": language, "en": english})
    return [row for language in sorted(chosen) for row in chosen[language]]


def choose_shards(everyday: Translations, documents: Translations) -> list[list[Row]]:
    """Return what to learn from. Sentences that stand in several languages come first: each needs
    only one vector of the English model."""
    chance = random.Random(0)
    shared = sorted((each for each in everyday if not is_held_apart(each)), key=_digest)
    shared.sort(key=lambda each: -min(len(everyday[each]), 2))
    short = sorted(
        (
            each
            for each, found in documents.items()
            if not is_held_apart(each)
            and len(found) >= 2 * LANGUAGES_OF_A_DOCUMENT
            and len(each.split()) >= SHORTEST_DOCUMENT
        ),
        key=_digest,
    )
    twice = sum(len(everyday[each]) > 1 for each in shared)
    shards: list[list[Row]] = [[] for _ in range(SHARDS)]
    for number, english in enumerate(shared[:twice]):
        shards[number % SHARDS] += _rows(english, everyday[english])
    for number, english in enumerate(short):
        languages = sorted(documents[english])
        some = chance.sample(languages, LANGUAGES_OF_A_DOCUMENT)
        shards[number % SHARDS] += _rows(english, {each: documents[english][each] for each in some})
    return [shard + join_sentences(shard, chance) for shard in shards]


def join_sentences(shard: Sequence[Row], chance: random.Random) -> list[Row]:
    """Return texts of two to four sentences of one language, as notes are."""
    by_language: dict[str, list[Row]] = defaultdict(list)
    for row in shard:
        by_language[row["language"]].append(row)
    joined = []
    for language, rows in sorted(by_language.items()):
        for _ in range(JOINED_OF_EACH if language != "en" else 0):
            parts = chance.sample(rows, min(len(rows), chance.randint(2, MOST_JOINED)))
            between = "" if language in {"zh", "ja"} else " "
            text = between.join(each["text"] for each in parts)
            english = " ".join(each["en"] for each in parts)
            joined.append({"text": text, "language": language, "en": english})
    return joined


def write_shard(path: Path, rows: Iterable[Row]) -> None:
    """Write rows, one a line."""
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(lines, encoding="utf-8")


def read_shard(path: Path) -> list[Row]:
    """Return the rows of a shard."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_all(parallel: Path, out: Path) -> None:
    """Choose and write every shard."""
    out.mkdir(parents=True, exist_ok=True)
    everyday = read_translations(parallel / "natural")
    documents = read_translations(parallel)
    write_shard(out / f"{HELD}.jsonl", choose_held(everyday, documents))
    for number, rows in enumerate(choose_shards(everyday, documents)):
        write_shard(out / f"{number:03}.jsonl", rows)


def _rows(english: str, found: dict[str, str]) -> list[Row]:
    return [
        {"text": text, "language": language, "en": english}
        for language, text in {"en": english, **found}.items()
    ]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
