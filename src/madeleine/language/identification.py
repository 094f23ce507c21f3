"""Which language a text is written in, told offline from its letters.

Most scripts tell it by themselves. Latin and Cyrillic are shared by many languages: there the
runs of up to four letters of the text are looked up in a small table (`identification.npz`, made
by `bench/training/train_languages.py`), whose columns are the languages. A few words are enough
for most texts; names, numbers and paths say nothing, and then the answer is that it is not known.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.resources import as_file, files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from madeleine.language.late_pattern import compile_late

TEXT_CHARS = 320  # the language of a passage shows long before that
SURE_FROM = 0.75  # of probability, for a language to be named at all
LONGEST_RUN = 4  # letters that are looked at together
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(1_000_003)
_SPACE = 32
_NO_LETTERS = compile_late(r"[\W\d_]+")

_SCRIPT_STARTS = (
    *((0x0000, ""), (0x0370, "greek"), (0x0400, "cyrillic"), (0x0530, ""), (0x0590, "hebrew")),
    *((0x0600, "arabic"), (0x0780, ""), (0x0900, "devanagari"), (0x0980, ""), (0x0E00, "thai")),
    *((0x0E80, ""), (0x1100, "hangul"), (0x1200, ""), (0x1C80, "cyrillic"), (0x1C90, "")),
    *((0x1F00, "greek"), (0x2000, ""), (0x3005, "han"), (0x3008, ""), (0x3041, "kana")),
    *((0x3100, ""), (0x3131, "hangul"), (0x3190, ""), (0x31F0, "kana"), (0x3200, "")),
    *((0x3400, "han"), (0xA000, ""), (0xAC00, "hangul"), (0xD7B0, ""), (0xF900, "han")),
    *((0xFB00, ""), (0xFB1D, "hebrew"), (0xFB50, "arabic"), (0xFE00, ""), (0xFE70, "arabic")),
    *((0xFF00, ""), (0xFF66, "kana"), (0xFFA0, "hangul"), (0xFFDD, ""), (0x20000, "han")),
    (0x40000, ""),
)
"""Where the letters of a script begin; `""` are Latin letters and whatever is no letter."""
_STARTS = np.array([start for start, _ in _SCRIPT_STARTS], np.uint32)
_SCRIPTS = tuple(dict.fromkeys(name for _, name in _SCRIPT_STARTS))
_SCRIPT_CODES = np.array([_SCRIPTS.index(name) for _, name in _SCRIPT_STARTS])
_LETTERS_OF_A_SIGN = {"han": 4, "hangul": 4, "kana": 3}
"""How many Latin letters say as much as one sign of a script does."""
_LANGUAGE_OF_SCRIPT = {
    "greek": "el", "hebrew": "he", "arabic": "ar", "devanagari": "hi", "thai": "th",
    "hangul": "ko", "han": "zh",
}  # fmt: skip
_CYRILLIC = frozenset({"ru", "uk"})
_KANA_SHARE = 0.05  # of the signs, from which on a text in Han signs is Japanese
_LATIN, _JAPANESE = "", "ja"
_PERSIAN_LETTERS = frozenset("پچژگ")


class LanguageGuess(NamedTuple):
    """A language by its two letters (ISO 639-1), and how probable it is."""

    code: str
    probability: float


def identify_language(text: str) -> str | None:
    """Return the language of a text by its two letters, or none if it does not show."""
    best = guess_languages(text)
    return best[0].code if best and best[0].probability >= SURE_FROM else None


def guess_languages(text: str, limit: int = 3) -> list[LanguageGuess]:
    """Return the languages that a text may be in, most probable first. Nothing for a text
    without letters, and for a language that nobody has taught us."""
    letters = keep_letters(text)
    if not letters.strip():
        return []
    script = _find_script(letters)
    if script in (_LATIN, "cyrillic"):
        return _guess_by_letters(letters, script)[:limit]
    language = _language_of_script(letters, script)
    return [LanguageGuess(language, 1.0)] if language else []


def find_chance(text: str, code: str) -> float | None:
    """Return how probable it is that a text is in a language, as `guess_languages` would say, in
    half the time; none if no language shows."""
    letters = keep_letters(text)
    if not letters.strip():
        return None
    script = _find_script(letters)
    if script in (_LATIN, "cyrillic"):
        return float(_weigh_letters(letters, script)[load_letter_table().languages.index(code)])
    language = _language_of_script(letters, script)
    return None if language is None else float(language == code)


def keep_letters(text: str) -> str:
    """Return the words of the beginning of a text, in lower case and one space apart."""
    begun = unicodedata.normalize("NFC", text[:TEXT_CHARS]).lower()
    return f" {_NO_LETTERS.sub(' ', begun).strip()} "


def _code_points(letters: str) -> NDArray[np.uint32]:
    return np.frombuffer(letters.encode("utf-32-le", "replace"), np.uint32)


def _count_scripts(letters: str) -> dict[str, int]:
    points = _code_points(letters)
    codes = _SCRIPT_CODES[np.searchsorted(_STARTS, points[points != _SPACE], side="right") - 1]
    counts = np.bincount(codes, minlength=len(_SCRIPTS)).tolist()
    return dict(zip(_SCRIPTS, counts, strict=True))


def _find_script(letters: str) -> str:
    """Return the script that says most of a text: a few Latin names make no text Latin."""
    if letters.isascii():
        return _LATIN
    counts = _count_scripts(letters)
    return max(counts, key=lambda each: counts[each] * _LETTERS_OF_A_SIGN.get(each, 1))


def _language_of_script(letters: str, script: str) -> str | None:
    if script in ("han", "kana"):
        counts = _count_scripts(letters)
        share = counts["kana"] / (counts["kana"] + counts["han"])
        return _JAPANESE if share >= _KANA_SHARE else "zh"
    if script == "arabic" and not _PERSIAN_LETTERS.isdisjoint(letters):
        return None
    return _LANGUAGE_OF_SCRIPT.get(script)


# --- Latin and Cyrillic ---------------------------------------------------------------------


class LetterTable(NamedTuple):
    """How much each run of letters speaks for each language."""

    weights: NDArray[np.float32]
    step: float
    bias: NDArray[np.float32]
    languages: tuple[str, ...]


@cache
def load_letter_table() -> LetterTable:
    """Return the table that comes with the package."""
    with as_file(files("madeleine.language").joinpath("identification.npz")) as path:
        kept = np.load(path)
        languages = tuple(map(str, kept["languages"]))
        weights = kept["weights"].astype(np.float32)
        return LetterTable(weights, float(kept["step"]), kept["bias"], languages)


def number_letter_runs(letters: str, rows: int) -> NDArray[np.int64]:
    """Return the rows of a table for the runs of letters in a text. `rows` is a power of two."""
    points = _code_points(letters).astype(np.uint64)
    runs = [points]
    for size in range(2, min(LONGEST_RUN, len(points)) + 1):
        runs.append(runs[-1][:-1] * _STEP + points[size - 1 :])
    found = np.concatenate([run + np.uint64(size) for size, run in enumerate(runs, 1)])
    found *= _MIXER
    found >>= np.uint64(64 - (rows.bit_length() - 1))
    return found.view(np.int64)


def _weigh_letters(letters: str, script: str) -> NDArray[np.float64]:
    """Return the probability of each language of the table, 0 for those of another script."""
    table = load_letter_table()
    rows = number_letter_runs(letters, len(table.weights))
    # Whole numbers below 2**24, whose sum is exact in floats, and quicker than in integers.
    sums = np.ones(len(rows), np.float32) @ table.weights.take(rows, axis=0)
    scores = np.where(
        _mask_fitting(script), sums.astype(np.float64) * table.step + table.bias, -np.inf
    )
    chances: NDArray[np.float64] = np.exp(scores - scores.max())
    chances /= chances.sum()
    return chances


def _guess_by_letters(letters: str, script: str) -> list[LanguageGuess]:
    chances, languages = _weigh_letters(letters, script), load_letter_table().languages
    best = np.argsort(-chances, kind="stable")[: int(_mask_fitting(script).sum())]
    return [LanguageGuess(languages[each], float(chances[each])) for each in best]


@cache
def _mask_fitting(script: str) -> NDArray[np.bool_]:
    """Return which languages of the table are written in a script."""
    languages = load_letter_table().languages
    return np.array([(each in _CYRILLIC) == (script != _LATIN) for each in languages])
