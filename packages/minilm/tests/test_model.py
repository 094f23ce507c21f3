"""What the shipped model promises. Needs numpy, onnxruntime and tokenizers."""

import hashlib

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
from tokenizers import Tokenizer

import madeleine_minilm

Vectors = npt.NDArray[np.float32]

EXAMPLE = "This is an example sentence"
EXAMPLE_START = (0.067657, 0.063496, 0.048713)  # of the original model


class Model:
    """The model, loaded the way Madeleine loads it."""

    def __init__(self) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        files = madeleine_minilm.folder()
        self.session = onnxruntime.InferenceSession(
            files / "model.onnx", options, providers=["CPUExecutionProvider"]
        )
        self.tokenizer = Tokenizer.from_file(str(files / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    def run(self, output: str, text: str, padding: int = 0) -> Vectors:
        """Return one output for one text, followed by `padding` masked tokens."""
        ids = self.tokenizer.encode(text).ids
        inputs = {
            "input_ids": np.array([ids + [0] * padding], np.int64),
            "attention_mask": np.array([[1] * len(ids) + [0] * padding], np.int64),
            "token_type_ids": np.zeros((1, len(ids) + padding), np.int64),
        }
        return np.asarray(self.session.run([output], inputs)[0][0], np.float32)

    def embed(self, text: str) -> Vectors:
        """Return the vector of one text."""
        return self.run("embedding", text)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


def test_the_file_is_the_one_its_name_stands_for() -> None:
    """Vectors are cached under MODEL, so other bytes need another name.

    If a newer quantiser writes other bytes: see whether the vectors moved. If they did,
    raise the number in MODEL; if not, pin the new digest.
    """
    content = (madeleine_minilm.folder() / "model.onnx").read_bytes()

    assert madeleine_minilm.MODEL == "all-MiniLM-L6-v2-notes-int8-2"
    assert hashlib.sha256(content).hexdigest() == (
        "7f0c353c39c4fb10e6f5d30518e841c39fefae84a00194a503004bb740f625a9"
    )


def test_the_projection_is_the_one_the_name_stands_for() -> None:
    """Narrow token vectors are cached under MODEL too."""
    content = madeleine_minilm.projection().read_bytes()

    assert hashlib.sha256(content).hexdigest() == (
        "2bc8b57bb95d838ac39b100197f0481d0a02181a3bce707c347cfc1388018fa9"
    )


def test_the_projection_keeps_best_matches_where_they_were(model: Model) -> None:
    projection = np.load(madeleine_minilm.projection()).astype(np.float32)
    asked = model.run("tokens", "Which database did we choose?")
    told = model.run(
        "tokens", "We decided to keep the index in SQLite, a small engine in one file."
    )
    narrow_asked, narrow_told = narrow(asked, projection), narrow(told, projection)

    wide, small = (asked @ told.T).max(axis=1), (narrow_asked @ narrow_told.T).max(axis=1)

    assert projection.shape == (madeleine_minilm.DIMENSION, madeleine_minilm.TOKEN_DIMENSION)
    assert np.abs(wide.mean() - small.mean()) < 0.12
    assert np.corrcoef(wide, small)[0, 1] > 0.9


def narrow(tokens: Vectors, projection: Vectors) -> Vectors:
    """Return narrow rows of length 1."""
    rows = tokens @ projection
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def test_the_example_sentence_stays_close_to_the_original(model: Model) -> None:
    start = model.embed(EXAMPLE)[: len(EXAMPLE_START)]

    assert start == pytest.approx(EXAMPLE_START, abs=0.02)


@pytest.mark.parametrize("text", [EXAMPLE, "", "ok", "memory " * 1000])
def test_an_embedding_is_one_vector_of_unit_length(model: Model, text: str) -> None:
    vector = model.embed(text)

    assert vector.shape == (madeleine_minilm.DIMENSION,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_each_token_has_a_vector_of_unit_length(model: Model) -> None:
    tokens = model.run("tokens", EXAMPLE)

    assert tokens.shape == (7, madeleine_minilm.DIMENSION)
    assert np.linalg.norm(tokens, axis=1) == pytest.approx(np.ones(7), abs=1e-5)


def test_a_paraphrase_is_closer_than_an_unrelated_sentence(model: Model) -> None:
    query = model.embed("Which database did we choose for the index?")
    paraphrase = model.embed("We decided to keep the index in SQLite.")
    unrelated = model.embed("The cat slept on the warm windowsill all afternoon.")

    assert query @ paraphrase > query @ unrelated + 0.3


def test_the_same_text_gives_the_same_vector(model: Model) -> None:
    assert np.array_equal(model.embed(EXAMPLE), Model().embed(EXAMPLE))


@pytest.mark.parametrize("text", [EXAMPLE, "ok", "Which database did we choose?"])
@pytest.mark.parametrize("padding", [1, 20, 60])
def test_masked_padding_hardly_changes_the_meaning(model: Model, text: str, padding: int) -> None:
    """Not exactly nothing: dynamic int8 scales over padding too. Measured are cosines of .98 for
    this example, .99 for a question, and .96 for a single word. Hence one text per call."""
    padded = model.run("embedding", text, padding=padding)

    assert 0.95 < padded @ model.embed(text) < 1
