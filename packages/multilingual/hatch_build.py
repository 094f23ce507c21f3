"""Builds the model when a wheel is built and the model is not there yet.

As in packages/minilm: the conversion runs in its own process, and a tree whose weights are built
needs no network and no onnx to become a wheel. `recipe.json` is written last and names what the
model was made of.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INGREDIENTS = ("build_multilingual.py", "carrier.py", "learnt.npz")
CONVERTER_NEEDS = ["numpy>=2", "onnx>=1.19,<2", "onnxruntime>=1.20,<2", "pip"]


def is_built(root: Path, weights: Path) -> bool:
    """Say whether `weights` holds whole files made of the very ingredients in `root`."""
    written = weights / "recipe.json"
    if not written.exists():
        return False
    recipe = json.loads(written.read_text(encoding="utf-8"))
    ingredients = {name: digest(root / name) for name in INGREDIENTS}
    return bool(recipe["ingredients"] == ingredients) and all(
        (weights / name).exists() and digest(weights / name) == expected
        for name, expected in recipe["files"].items()
    )


def digest(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class ModelHook(BuildHookInterface[BuilderConfig]):
    """Has the model in place before hatchling collects files; does nothing if it is."""

    PLUGIN_NAME = "custom"

    @property
    def weights(self) -> Path:
        """Where the package looks for its files."""
        return Path(self.root, "src", "madeleine_multilingual", "weights")

    def dependencies(self) -> list[str]:
        """Ask for the converter's packages only if the converter has to run."""
        return [] if is_built(Path(self.root), self.weights) else CONVERTER_NEEDS

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the model, unless it is built. A failed conversion fails the wheel."""
        if not is_built(Path(self.root), self.weights):
            builder = str(Path(self.root, "build_multilingual.py"))
            subprocess.run([sys.executable, builder, "--out", str(self.weights)], check=True)
