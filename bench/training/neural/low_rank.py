"""Low-rank adapters: a trained model is the published one plus two thin matrices for each layer.

What ships is small, and whoever has the published weights can make the whole model again.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from bench.training.neural.minilm import Layer, MiniLM, published_name

ADAPTED = ("query", "key", "value", "mixed", "wide", "narrow")


class AdaptedLinear(nn.Module):
    """A frozen dense layer with a trained difference of low rank."""

    def __init__(self, frozen: nn.Linear, rank: int, scale: float, dropout: float) -> None:
        super().__init__()
        self.frozen, self.scale = frozen, scale
        self.down = nn.Parameter(torch.empty(rank, frozen.in_features))
        self.up = nn.Parameter(torch.zeros(frozen.out_features, rank))
        self.dropout = nn.Dropout(dropout)
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, values: Tensor) -> Tensor:
        changed = self.dropout(values) @ self.down.T @ self.up.T
        return self.frozen(values) + self.scale * changed  # type: ignore[no-any-return]

    def difference(self) -> Tensor:
        """Return what is added to the frozen weights."""
        return self.scale * (self.up @ self.down)


def adapt(
    model: MiniLM, rank: int, first: int = 0, scale: float = 2.0, dropout: float = 0.05
) -> None:
    """Freeze a model and give each dense layer from block `first` on an adapter. The norms of these
    blocks stay trainable."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for layer in model.layers[first:]:
        for name in ADAPTED:
            frozen = getattr(layer, name)
            setattr(layer, name, AdaptedLinear(frozen, rank, scale, dropout))
        layer.after_attention.requires_grad_(True)
        layer.after_feed_forward.requires_grad_(True)


def save_differences(model: MiniLM, published: MiniLM, rank: int, path: Path) -> None:
    """Write what a trained model adds to the published one, in half precision: for each weight of a
    block its difference as the best two factors of this rank, all other tensors whole. Tables of
    words and positions are not trained and not written."""
    tensors: dict[str, np.ndarray] = {}
    before = published.state_dict()
    for name, value in model.state_dict().items():
        if name.startswith(("words.", "positions.")):
            continue
        if name.startswith("layers.") and value.ndim == 2:
            left, sizes, right = torch.linalg.svd(value - before[name], full_matrices=False)
            roots = sizes[:rank].sqrt()
            tensors[f"{published_name(name)}.up"] = _halve(left[:, :rank] * roots)
            tensors[f"{published_name(name)}.down"] = _halve(roots[:, None] * right[:rank])
        else:
            tensors[published_name(name)] = _halve(value)
    np.savez_compressed(path, **tensors)  # type: ignore[arg-type]


def _halve(values: Tensor) -> np.ndarray:
    return values.detach().numpy().astype(np.float16)


def _adapted_layers(model: MiniLM) -> list[tuple[int, Layer]]:
    return [
        (number, layer)
        for number, layer in enumerate(model.layers)
        if isinstance(layer, Layer) and isinstance(layer.query, AdaptedLinear)
    ]


def save_adapters(model: MiniLM, path: Path, **further: np.ndarray) -> None:
    """Write adapters and trained norms in half precision, under published names."""
    tensors: dict[str, np.ndarray] = dict(further)
    for number, layer in _adapted_layers(model):
        for part in ADAPTED:
            adapted = getattr(layer, part)
            name = published_name(f"layers.{number}.{part}.weight")
            tensors[f"{name}.up"] = (adapted.scale * adapted.up).detach().numpy().astype(np.float16)
            tensors[f"{name}.down"] = adapted.down.detach().numpy().astype(np.float16)
        for part in ("after_attention", "after_feed_forward"):
            for kind in ("weight", "bias"):
                value = getattr(getattr(layer, part), kind)
                name = published_name(f"layers.{number}.{part}.{kind}")
                tensors[name] = value.detach().numpy().astype(np.float16)
    np.savez_compressed(path, **tensors)  # type: ignore[arg-type]
