"""A sentence model for many languages, whose vectors are those of Madeleine's English model.

What it makes of a text in another language, and of each of its pieces, is near what the English
model makes of its translation, so both can be compared with each other. This package is a name and
a folder. It imports nothing, so asking where the model is costs nothing; whoever loads it brings
onnxruntime and tokenizers. The graph takes int64 `input_ids`, one text at a time, and gives
`embedding`, one unit vector, and `tokens`, a row for each piece.
"""

from pathlib import Path

MODEL = "use-multilingual-3-notes-2"
"""Keys cached vectors. The last number rises whenever the same text gives other vectors."""

ENGLISH_MODEL = "all-MiniLM-L6-v2-notes-int8-2"
"""The English model whose vectors it was taught. Beside another one it is of no use."""

DIMENSION = 384
"""Length of each vector."""


def folder() -> Path:
    """Return the folder that holds `model.onnx` and `tokenizer.json`."""
    return Path(__file__).parent / "weights"
