"""Which train stores of Everyday teach what.

The sentence model learns from the first two thirds, by name; the weights of recall from the rest,
where its vectors are no better than on stores that nobody has seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "everyday" / "stores" / "train"


def encoder_stores() -> Sequence[Path]:
    """Return the files of the stores that the sentence model learns from."""
    return _files()[: _bound()]


def head_stores() -> Sequence[Path]:
    """Return the files of the stores that weights of recall are learnt from."""
    return _files()[_bound() :]


def _bound() -> int:
    return 2 * len(_files()) // 3


def _files() -> list[Path]:
    return sorted(FOLDER.glob("*.jsonl"))
