"""Writes the smallest sentence model there is, without the onnx package.

Its graph is one table lookup: each token id becomes a row of a table, and that is all. So a
test can say exactly which vector has to come out. The numbers are protobuf field numbers.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FLOAT, INT64 = 1, 7


def write_model(
    folder: Path,
    table: NDArray[np.float32],
    words: list[str],
    output: str = "last_hidden_state",
    inputs: tuple[str, ...] = ("input_ids",),
) -> Path:
    """Fill `folder` with a model that knows `words`, whose vectors are the rows of `table`."""
    folder.mkdir(parents=True, exist_ok=True)
    node = _text(1, "table") + _text(1, "input_ids") + _text(2, output) + _text(4, "Gather")
    tensor = b"".join(_number(1, size) for size in table.shape) + _number(2, FLOAT)
    tensor += _text(8, "table") + _bytes(9, table.astype("<f4").tobytes())
    graph = _bytes(1, node) + _text(2, "lookup") + _bytes(5, tensor)
    for name in inputs:
        graph += _bytes(11, _value(name, INT64, ["batch", "length"]))
    graph += _bytes(12, _value(output, FLOAT, ["batch", "length", table.shape[1]]))
    model = _number(1, 9) + _bytes(7, graph) + _bytes(8, _number(2, 17))
    (folder / "model.onnx").write_bytes(model)
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer(words)), encoding="utf-8")
    return folder


def _tokenizer(words: list[str]) -> dict[str, object]:
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: place for place, word in enumerate(words)},
            "unk_token": words[0],
        },
    }


def _value(name: str, kind: int, shape: list[str | int]) -> bytes:
    sizes = [_number(1, size) if isinstance(size, int) else _text(2, size) for size in shape]
    tensor = _number(1, kind) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode("utf-8"))


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
