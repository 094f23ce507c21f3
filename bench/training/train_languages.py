"""Make `language/identification.npz`: how much each run of letters speaks for each language.

    python bench/training/train_languages.py PARALLEL WHEEL

`PARALLEL` is a folder of parallel texts as gzip JSON lines (`{"en", "x"}`), one file a language
(`de.jsonl.gz`), and of everyday ones in `natural/` (`tatoeba.de.jsonl.gz`). `WHEEL` is that of
`home-assistant-frontend` (Apache-2.0), whose translations bring the languages that the folder does
not have. What is kept are logarithms of how often runs of letters are: no text of anybody.

It prints how often the language of texts that were held back was told, by number of words.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from madeleine.language import identification
from madeleine.language.identification import keep_letters, number_letter_runs

LANGUAGES = (
    *("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv"),
    *("da", "nb", "fi", "tr", "cs", "hu", "ro", "ru", "uk"),
)
FROM_WHEEL = ("da", "nb", "fi", "hu", "ro", "sv", "nl")
ROWS = 8_192  # of the table, a power of two
HELD_BACK = 400  # texts of each language that are only asked about
PER_LANGUAGE = 16_000
UNACCENTED = 0.15  # of the texts are read once more without their accents
TRUST = 0.25  # of the logarithms: runs of letters that overlap say the same again
OUT = Path(identification.__file__).with_name("identification.npz")


def main(folder: Path, wheel: Path) -> None:
    random.seed(1)
    texts = collect_texts(folder, wheel)
    held, weights = [], np.empty((ROWS, len(LANGUAGES)))
    for place, each in enumerate(LANGUAGES):
        random.shuffle(texts[each])
        held += [(place, text) for text in texts[each][:HELD_BACK]]
        counts = count_runs(texts[each][HELD_BACK : HELD_BACK + PER_LANGUAGE]) + 0.5
        weights[:, place] = np.log(counts / counts.sum())
        print(each, len(texts[each]), flush=True)
    weights = TRUST * (weights - weights.mean(axis=1, keepdims=True))
    step = float(np.abs(weights).max() / 127)
    kept = np.round(weights / step).astype(np.int8)
    np.savez_compressed(
        OUT,
        weights=kept,
        step=np.float32(step),
        bias=np.zeros(len(LANGUAGES), np.float32),
        languages=np.array(LANGUAGES),
    )
    for words in (2, 3, 5, 30):
        told = sum(tell(kept, text, words) == place for place, text in held)
        print(f"{words} words: {told / len(held):.3f} of {len(held)}")


def collect_texts(folder: Path, wheel: Path) -> dict[str, list[str]]:
    """Return texts of each language; English is the other side of all."""
    texts: dict[str, list[str]] = {each: [] for each in LANGUAGES}
    for each in LANGUAGES:
        for path in (folder / f"natural/tatoeba.{each}.jsonl.gz", folder / f"{each}.jsonl.gz"):
            rows = list(read_rows(path)) if path.exists() else []
            random.shuffle(rows)
            texts[each] += [row["x"] for row in rows[:20_000]]
            texts["en"] += [row["en"] for row in rows[:3_500]]
    texts["en"] = sorted(set(texts["en"])) + read_code()
    english = set(read_translations(wheel, "en"))
    for each in FROM_WHEEL:
        texts[each] += sorted(set(read_translations(wheel, each)) - english)
    return texts


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def read_code() -> list[str]:
    """Return lines of programs, which count as English."""
    lines = [
        line.strip()
        for path in sorted(Path(json.__file__).parent.parent.glob("*.py"))
        for line in path.read_text(encoding="utf-8", errors="ignore").splitlines()
        if len(line.strip()) > 12
    ]
    random.shuffle(lines)
    return lines[:8_000]


def read_translations(wheel: Path, language: str) -> Iterator[str]:
    """Yield the texts of a user interface in one language."""
    of_language = re.compile(rf"translations/(?:\w[\w-]*/)?{language}-[0-9a-f]+\.json$")
    with zipfile.ZipFile(wheel) as packed:
        for name in filter(of_language.search, packed.namelist()):
            for text in walk_texts(json.loads(packed.read(name))):
                plain = re.sub(r"\{[^}]*\}|<[^>]*>", " ", text)
                if len(plain.split()) >= 3:
                    yield plain


def walk_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from walk_texts(each)


def count_runs(texts: list[str]) -> NDArray[np.float64]:
    rows = [runs_of(text) for text in texts]
    rows += [runs_of(drop_accents(text)) for text in texts if random.random() < UNACCENTED]
    return np.bincount(np.concatenate(rows), minlength=ROWS).astype(np.float64)


def runs_of(text: str) -> NDArray[np.int64]:
    return number_letter_runs(keep_letters(text), ROWS)


def drop_accents(text: str) -> str:
    return "".join(
        each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each)
    )


def tell(weights: NDArray[np.int8], text: str, words: int) -> int:
    rows = runs_of(" ".join(text.split()[:words]))
    return int(weights[rows].sum(axis=0, dtype=np.int64).argmax())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
