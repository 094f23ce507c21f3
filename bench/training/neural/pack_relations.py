"""Packs a trained relation model for `packages/relations`: `learnt.npz`, under 10 MB.

    python -m bench.training.neural.pack_relations --minilm DIR --learnt relations-N.npz

Weights of the blocks become whole numbers with one scale for each output, in the very steps that
the builder's quantiser takes, so that quantising again changes nothing. A few pairs of Everyday's
train split and what the packed model says of them in PyTorch go along: the builder checks its
graph by them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from bench.training.neural.minilm import TextReader, load_minilm, published_name
from bench.training.neural.relations import (
    INFERENCE,
    MOST_TOKENS,
    RELATIONS,
    RelationModel,
    macro_f1,
    predict,
    read_relations,
)

ROOT = Path(__file__).parents[3]
PACKED = ROOT / "packages" / "relations" / "learnt.npz"
EVERYDAY = ROOT / "bench" / "everyday" / "pairs"
MOST_STEPS = 64  # each way: sums of products stay within 16 bits on processors without VNNI
EXAMPLES = 24

Tensors = Mapping[str, np.ndarray]


def pack(tensors: Tensors) -> dict[str, np.ndarray]:
    """Return the tensors as they are kept: matrices of the blocks in whole steps."""
    packed: dict[str, np.ndarray] = {}
    for name, values in tensors.items():
        if name.startswith("encoder.") and values.ndim == 2:
            wide = values.astype(np.float32)
            scales = np.maximum(np.abs(wide).max(1), 1e-8) / MOST_STEPS
            packed[name + ".scales"] = scales
            packed[name + ".steps"] = np.rint(wide / scales[:, None]).astype(np.int8)
        else:
            packed[name] = values.astype(np.float16)
    return packed


def unpack(packed: Tensors) -> dict[str, np.ndarray]:
    """Return the tensors that are kept, as numbers."""
    found: dict[str, np.ndarray] = {}
    for name, values in packed.items():
        if name.endswith(".steps"):
            weight = name.removesuffix(".steps")
            found[weight] = values.astype(np.float32) * packed[weight + ".scales"][:, None]
        elif not name.endswith(".scales"):
            found[name] = values.astype(np.float32)
    return found


def restore(minilm: Path, tensors: Tensors) -> RelationModel:
    """Return the model with what was learnt, and the tables of MiniLM."""
    heads = {"inference": len(INFERENCE), "relation": len(RELATIONS)}
    model = RelationModel(load_minilm(minilm), heads, dropout=0.0)
    state = model.encoder.state_dict()
    for name in state:
        learnt = tensors.get(published_name(name))
        if learnt is not None:
            state[name] = torch.from_numpy(learnt.astype(np.float32))
    model.encoder.load_state_dict(state)
    head = {
        part: torch.from_numpy(tensors[f"head_{part}"].astype(np.float32))
        for part in ("weight", "bias")
    }
    model.heads["relation"].load_state_dict(head)
    return model


def main(argv: Sequence[str] | None = None) -> int:
    """Pack, and say what it costs on dev."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--learnt", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=PACKED)
    given = parser.parse_args(argv)
    torch.set_num_threads(1)
    with np.load(given.learnt) as kept:
        learnt = {name: kept[name] for name in kept.files}
    packed = pack(learnt)
    reader = TextReader(given.minilm, MOST_TOKENS)
    model = restore(given.minilm, unpack(packed))
    shown = read_relations(EVERYDAY / "train.jsonl")[:EXAMPLES]
    batch = reader.read([(each.older, each.newer) for each in shown])
    examples = {
        "examples.ids": batch.ids.numpy().astype(np.int32),
        "examples.types": batch.types.numpy().astype(np.int8),
        "examples.lengths": batch.mask.sum(1).numpy().astype(np.int32),
        "examples.logits": predict(model, shown, reader).astype(np.float32),
    }
    np.savez_compressed(given.out, **packed, **examples)  # type: ignore[arg-type]
    asked = read_relations(EVERYDAY / "dev.jsonl")
    gold = np.array([each.label for each in asked])
    before = predict(restore(given.minilm, learnt), asked, reader)
    after = predict(model, asked, reader)
    print(
        f"{given.out.stat().st_size / 1e6:.1f} MB; macro F1 on dev {macro_f1(before, gold)[0]:.4f}"
        f" before, {macro_f1(after, gold)[0]:.4f} after; logits move by"
        f" {np.abs(before - after).mean():.3f} of {before.std():.3f}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
