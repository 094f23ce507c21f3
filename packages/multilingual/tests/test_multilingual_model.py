"""What the shipped model promises. Needs numpy, onnxruntime and tokenizers."""

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
from tokenizers import Tokenizer

import madeleine_multilingual

if not (madeleine_multilingual.folder() / "model.onnx").exists():
    pytest.skip("the weights are not built", allow_module_level=True)


class Model:
    """The model, loaded the way Madeleine loads it."""

    def __init__(self) -> None:
        folder = madeleine_multilingual.folder()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            folder / "model.onnx", options, providers=["CPUExecutionProvider"]
        )
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(256)

    def embed(self, text: str) -> npt.NDArray[np.float32]:
        """Return the vector of one text."""
        ids = np.array([self.tokenizer.encode(text).ids], np.int64)
        return np.asarray(self.session.run(["embedding"], {"input_ids": ids})[0][0], np.float32)

    def read_pieces(self, text: str) -> npt.NDArray[np.float32]:
        """Return a row of unit length for each piece of one text, without its two marks."""
        ids = np.array([self.tokenizer.encode(text).ids], np.int64)
        rows = np.asarray(self.session.run(["tokens"], {"input_ids": ids})[0][0][1:-1], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


@pytest.mark.parametrize("text", ["Ein Satz.", "", "会", "gedächtnis " * 1000])
def test_an_embedding_is_one_vector_of_unit_length(model: Model, text: str) -> None:
    vector = model.embed(text)

    assert vector.shape == (madeleine_multilingual.DIMENSION,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "translation", "other"),
    [
        ("Der Hund schläft im Garten.", "犬は庭で寝ています。", "Die Rechnung ist bezahlt."),
        ("La réunion est jeudi matin.", "Встреча в четверг утром.", "Le chat a mangé le poisson."),
        ("Las llaves están en el cajón.", "钥匙在抽屉里。", "Mañana va a llover mucho."),
        ("Il server è caduto stanotte.", "De server is vannacht uitgevallen.", "Amo la pizza."),
    ],
)
def test_a_translation_is_nearer_than_an_unrelated_sentence_of_the_same_language(
    model: Model, text: str, translation: str, other: str
) -> None:
    vector = model.embed(text)

    assert vector @ model.embed(translation) > vector @ model.embed(other) + 0.1


def test_the_same_text_gives_the_same_vector(model: Model) -> None:
    text = "Die Schlüssel liegen in der Schublade."

    assert np.array_equal(model.embed(text), Model().embed(text))


@pytest.mark.parametrize(
    ("question", "note", "other"),
    [
        ("Schlüssel", "钥匙在抽屉里", "猫在院子里睡觉"),
        ("the keys", "Los gatos duermen, las llaves están en el cajón", "Mañana va a llover"),
        ("встреча", "La réunion est jeudi matin", "Le chat a mangé le poisson"),
        ("gatto", "猫が庭で寝ている", "会議は木曜日の三時"),
    ],
)
def test_a_word_is_nearer_to_the_piece_that_means_it_than_to_any_of_another_text(
    model: Model, question: str, note: str, other: str
) -> None:
    asked = model.read_pieces(question)
    met, missed = ((asked @ model.read_pieces(text).T).max(axis=1).mean() for text in (note, other))

    assert met > missed + 0.1
