"""The sentence model Madeleine ships: all-MiniLM-L6-v2, taught short notes, int8, as ONNX.

This package is a name, a folder and a small matrix. It imports nothing, so asking where
the model is costs nothing; whoever loads it brings onnxruntime and tokenizers. The graph
takes int64 `input_ids`, `attention_mask` and `token_type_ids` and gives `embedding` (one
unit vector for each text) and `tokens` (one unit vector for each token).

Run one text at a time: dynamic int8 takes its scale from the whole batch, so a text gets
slightly different vectors in different company. And call `no_padding()` and
`enable_truncation(256)` on the tokenizer: its file says to pad every text to 128.
"""

from pathlib import Path

MODEL = "all-MiniLM-L6-v2-notes-int8-2"
"""Keys cached vectors. The last number rises whenever the same text gives other vectors, or
the projection makes other ones of them."""

DIMENSION = 384
"""Length of each vector, in `embedding` and in `tokens`."""

TOKEN_DIMENSION = 128
"""Length of a token's vector once the projection has made it narrow."""


def folder() -> Path:
    """Return the folder that holds `model.onnx` and `tokenizer.json`."""
    return Path(__file__).parent / "weights"


def projection() -> Path:
    """Return the matrix that makes token vectors narrow, `DIMENSION` x `TOKEN_DIMENSION`."""
    return Path(__file__).parent / "projection.npy"
