"""What the shipped model promises. Needs numpy, onnxruntime and tokenizers."""

import hashlib
import json

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
from tokenizers import Tokenizer

import madeleine_relations

Row = npt.NDArray[np.float32]
MOST_BYTES = 25_000_000


class Model:
    """The model, loaded the way Madeleine loads it."""

    def __init__(self) -> None:
        files = madeleine_relations.folder()
        self.session = onnxruntime.InferenceSession(
            files / "model.onnx", providers=["CPUExecutionProvider"]
        )
        self.tokenizer = Tokenizer.from_file(str(files / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(madeleine_relations.MOST_TOKENS)

    def read(self, older: str, newer: str) -> Row:
        """Return the logits of a pair."""
        encoded = self.tokenizer.encode(older, newer)
        inputs = {
            "input_ids": np.array([encoded.ids], np.int64),
            "attention_mask": np.ones((1, len(encoded.ids)), np.int64),
            "token_type_ids": np.array([encoded.type_ids], np.int64),
        }
        return np.asarray(self.session.run(["logits"], inputs)[0][0], np.float32)

    def name(self, older: str, newer: str) -> str:
        """Return the likeliest relation."""
        return madeleine_relations.RELATIONS[int(self.read(older, newer).argmax())]


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


def test_the_file_is_the_one_its_name_stands_for() -> None:
    """Readings are kept under MODEL, so other bytes need another name."""
    content = (madeleine_relations.folder() / "model.onnx").read_bytes()

    assert madeleine_relations.MODEL == "relations-minilm-int8-1"
    assert hashlib.sha256(content).hexdigest() == (
        "db884a51f82ebc7168f3202632d764a996bc05de8839912c7fc30f0909d0bbbe"
    )


def test_the_package_stays_small() -> None:
    files = madeleine_relations.folder().iterdir()

    assert sum(each.stat().st_size for each in files) < MOST_BYTES


def test_calibration_has_a_number_for_each_relation() -> None:
    told = json.loads(madeleine_relations.calibration().read_text(encoding="utf-8"))

    assert told["temperature"] > 0
    assert set(told["bias"]) == set(madeleine_relations.RELATIONS)
    assert told["same_both_ways"]["slope"] > 0


@pytest.mark.parametrize("texts", [("", ""), ("ok", ""), ("memory " * 500, "note " * 500)])
def test_any_two_texts_have_eight_numbers(model: Model, texts: tuple[str, str]) -> None:
    said = model.read(*texts)

    assert said.shape == (len(madeleine_relations.RELATIONS),)
    assert np.isfinite(said).all()


def test_the_same_pair_reads_the_same(model: Model) -> None:
    pair = "We keep the index in SQLite.", "The index lives in Postgres now."

    assert np.array_equal(model.read(*pair), Model().read(*pair))
    assert not np.array_equal(model.read(*pair), model.read(*pair[::-1]))


@pytest.mark.parametrize(
    ("older", "newer", "relation"),
    [
        ("Rent is due on the 1st of the month.", "The rent is to be paid on the 1st.", "same"),
        ("Milk comes on Tuesdays.", "From now on the milk comes on Fridays instead.", "update"),
        ("The lift needs a new cable.", "Marta prefers tea in the afternoon.", "different"),
    ],
)
def test_plain_pairs_are_told_apart(model: Model, older: str, newer: str, relation: str) -> None:
    assert model.name(older, newer) == relation
