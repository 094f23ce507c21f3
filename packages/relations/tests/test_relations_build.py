"""How the model is built, and when a build is taken for done. Needs onnx and hatchling too.

The whole conversion is checked by the build itself, which refuses to write a wrong model.
"""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="only building needs it")
pytest.importorskip("hatchling", reason="only building needs it")

import build_relations
import hatch_build

FILES = {"model.onnx": b"a model", "tokenizer.json": b"a tokenizer"}
ROOT = Path(build_relations.__file__).parent
LEARNT = build_relations.LEARNT


def test_weights_in_steps_become_numbers_again(tmp_path: Path) -> None:
    steps = np.array([[64, -32], [0, 64]], np.int8)
    scales = np.array([0.5, 0.25], np.float32)
    np.savez(tmp_path / "learnt.npz", **{"w.steps": steps, "w.scales": scales, "b": scales})

    tensors = build_relations.read_learnt(tmp_path / "learnt.npz")

    assert tensors["w"].tolist() == [[32, -16], [0, 16]]
    assert tensors["b"].tolist() == [0.5, 0.25]


def test_examples_are_no_weights() -> None:
    assert not any(name.startswith("examples") for name in build_relations.read_learnt(LEARNT))


def test_a_graph_that_reads_examples_otherwise_is_refused() -> None:
    said = np.array([[1.0, -2.0], [0.5, 3.0]], np.float32)

    build_relations.check_original(said + np.float32(0.001), said)
    with pytest.raises(build_relations.MisreadExamples):
        build_relations.check_original(said + np.float32(0.1), said)
    with pytest.raises(build_relations.MisreadExamples):
        build_relations.check_quantised(said[:, ::-1], said)


def test_a_written_build_counts_as_built(tmp_path: Path) -> None:
    build_relations.write(FILES, tmp_path)

    assert hatch_build.is_built(ROOT, tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_a_lost_or_changed_file_does_not_count_as_built(tmp_path: Path, name: str) -> None:
    assert not hatch_build.is_built(ROOT, tmp_path)
    build_relations.write(FILES, tmp_path)

    (tmp_path / name).write_bytes(b"cut short")

    assert not hatch_build.is_built(ROOT, tmp_path)


def test_other_weights_ask_for_a_new_build(tmp_path: Path) -> None:
    build_relations.write(FILES, tmp_path / "weights")
    (tmp_path / "minilm").mkdir()
    encoder = Path(str(build_relations.build_model.__file__))
    for source, name in (
        (ROOT / "build_relations.py", "build_relations.py"),
        (LEARNT, "learnt.npz"),
        (encoder, "minilm/build_model.py"),
    ):
        (tmp_path / name).write_bytes(source.read_bytes())
    assert hatch_build.is_built(tmp_path, tmp_path / "weights")

    (tmp_path / "learnt.npz").write_bytes(b"other weights")

    assert not hatch_build.is_built(tmp_path, tmp_path / "weights")
