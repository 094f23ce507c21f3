"""Writes the smallest models there are, without the onnx package.

The sentence model is one table lookup: each token id becomes a row of a table, and that is
all. The cross-encoder adds up what the words of the second text are worth. So a test can say
exactly which numbers have to come out. The numbers here are protobuf field numbers.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FLOAT, INT64 = 1, 7
INT_ATTRIBUTE = 2


def write_model(
    folder: Path,
    table: NDArray[np.float32],
    words: list[str],
    output: str = "last_hidden_state",
    inputs: tuple[str, ...] = ("input_ids",),
) -> Path:
    """Fill `folder` with a model that knows `words`, whose vectors are the rows of `table`."""
    node = _node("Gather", ["table", "input_ids"], output)
    given = [_value(name, INT64, ["batch", "length"]) for name in inputs]
    made = _value(output, FLOAT, ["batch", "length", table.shape[1]])
    return _write(folder, words, [node], _tensor(table), given, made)


def write_cross_encoder(
    folder: Path, worth: NDArray[np.float32], words: list[str], *, summed: bool = True
) -> Path:
    """Fill `folder` with a model whose score is what the words of the second text are worth
    together; if not `summed`, it gives a number for each word instead."""
    nodes = [
        _node("Gather", ["table", "input_ids"], "worth"),
        _node("Cast", ["token_type_ids"], "second", to=FLOAT),
        _node("Mul", ["worth", "second"], "each"),
        _node("ReduceSum" if summed else "Identity", ["each"], "logits"),
    ]
    names = ("input_ids", "token_type_ids")
    given = [_value(name, INT64, ["batch", "length"]) for name in names]
    made = _value("logits", FLOAT, ["batch", 1 if summed else "length"])
    return _write(folder, words, nodes, _tensor(worth), given, made)


def _write(
    folder: Path,
    words: list[str],
    nodes: list[bytes],
    table: bytes,
    given: list[bytes],
    made: bytes,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    graph = b"".join(_bytes(1, node) for node in nodes) + _text(2, "tiny") + _bytes(5, table)
    graph += b"".join(_bytes(11, each) for each in given) + _bytes(12, made)
    model = _number(1, 9) + _bytes(7, graph) + _bytes(8, _number(2, 17))
    (folder / "model.onnx").write_bytes(model)
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer(words)), encoding="utf-8")
    return folder


def _node(kind: str, inputs: list[str], output: str, **whole_numbers: int) -> bytes:
    node = b"".join(_text(1, each) for each in inputs) + _text(2, output) + _text(4, kind)
    for name, value in whole_numbers.items():
        node += _bytes(5, _text(1, name) + _number(3, value) + _number(20, INT_ATTRIBUTE))
    return node


def _tensor(table: NDArray[np.float32]) -> bytes:
    sizes = b"".join(_number(1, size) for size in table.shape)
    named = _number(2, FLOAT) + _text(8, "table")
    return sizes + named + _bytes(9, table.astype("<f4").tobytes())


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
