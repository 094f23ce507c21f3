"""What two notes are to each other: a cross-encoder made from all-MiniLM-L6-v2, int8, as ONNX.

This package is a name, a folder and a few numbers. It imports nothing, so asking where the model
is costs nothing; whoever loads it brings onnxruntime and tokenizers. The graph takes int64
`input_ids`, `attention_mask` and `token_type_ids` of one pair, the older note first, and gives
`logits`: one number for each of `RELATIONS`. `calibration.json` says how they become chances.

Run one pair at a time: dynamic int8 takes its scale from the whole batch, so a pair would get
slightly different numbers in different company.
"""

from pathlib import Path

MODEL = "relations-minilm-int8-1"
"""Keys what is kept of readings. The last number rises whenever the same pair gives others."""

RELATIONS = (
    "same",
    "update",
    "contradiction",
    "related",
    "different",
    "supports",
    "part_of",
    "depends_on",
)
"""What the newer note is to the older one, in the order of the logits."""

MOST_TOKENS = 160
"""How many tokens of a pair are read; it was trained on 72, and reads some more as well."""


def folder() -> Path:
    """Return the folder that holds `model.onnx` and `tokenizer.json`."""
    return Path(__file__).parent / "weights"


def calibration() -> Path:
    """Return the file that says how logits become chances."""
    return Path(__file__).parent / "calibration.json"
