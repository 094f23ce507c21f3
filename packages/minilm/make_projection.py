"""Makes the matrix that narrows token vectors: their main directions, over many texts.

Directions are taken around zero and not around the mean, because what is compared later are
cosines, which are taken around zero too. A text counts with each of its tokens.

    python make_projection.py TEXTS --out FILE     one text on each line
"""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

import madeleine_minilm

Rows = npt.NDArray[np.float32]


def token_vectors(texts: Iterable[str]) -> Iterator[Rows]:
    """Give the token vectors of each text, without those of its two marks."""
    files = madeleine_minilm.folder()
    session = onnxruntime.InferenceSession(files / "model.onnx", providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(files / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        yield session.run(["tokens"], given)[0][0][1:-1]


def main_directions(groups: Iterable[Rows], width: int) -> Rows:
    """Return the `width` directions in which most of the rows' length lies, one a column."""
    products = sum(rows.astype(np.float64).T @ rows.astype(np.float64) for rows in groups)
    _, directions = np.linalg.eigh(products)  # the largest come last
    return np.asarray(directions[:, ::-1][:, :width], np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    texts = [line for line in asked.texts.read_text(encoding="utf-8").splitlines() if line.strip()]
    if not texts:
        parser.error(f"{asked.texts} holds no text")
    made = main_directions(token_vectors(texts), madeleine_minilm.TOKEN_DIMENSION)
    np.save(asked.out, made.astype(np.float16))


if __name__ == "__main__":
    main()
