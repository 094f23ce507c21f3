"""What the form of a prompt says, whatever it is about, as named numbers.

Whether a prompt can want anything from a memory is told by what it means and, a little, by how it
is put: a bare `go on`, a question that begins with `what is`, something pasted, a path. The
numbers are weighed by `whisper/memory_need.py`.
"""

from __future__ import annotations

import math

from madeleine.language.late_pattern import compile_late

SHORT_WORDS = 3
LONG_CHARS = 300  # a prompt that is longer holds something pasted
_OWN = compile_late(r"\b(my|our|we|i|us|me|mine|ours)\b")
_POINTING = compile_late(r"\b(the|that|this|it|same|other|those|these)\b")
_PATH = compile_late(r"[/\\]\w+|\b\w+\.[a-z]{2,4}\b")
_OPENING = compile_late(r"(whats?|what's|who|how|why|when|define|explain)\b")
_OF_WORDS = compile_late(
    r"\b(translate|synonyms?|meaning|means?|difference|vs|convert|percent|how many|capital of)\b|%"
)
_DIGIT = compile_late(r"\d")


def read_prompt_form(text: str) -> dict[str, float]:
    """Return the form of a prompt; each number is 0 or 1, but for `words`."""
    small = text.lower()
    words = len(small.split())
    return {
        "words": math.log1p(words),
        "short": float(words <= SHORT_WORDS),
        "long": float(len(text) > LONG_CHARS),
        "asks": float("?" in text),
        "digits": float(_DIGIT.search(text) is not None),
        "lines": float("\n" in text),
        "colon": float(":" in text),
        "own": float(_OWN.search(small) is not None),
        "pointing": float(_POINTING.search(small) is not None),
        "path": float(_PATH.search(text) is not None),
        "opening": float(_OPENING.match(small) is not None),
        "of_words": float(_OF_WORDS.search(small) is not None),
    }
