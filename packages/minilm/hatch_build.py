"""Builds the model when a wheel is built and the model is not there yet.

The conversion runs in its own process, and this file imports nothing beyond hatchling.
So a tree whose weights are built needs no network and no onnx to become a wheel, and
`recipe.json` says whether they are: it is written last and names the recipe followed.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The oldest and the newest of these give the same bytes; tests/test_model.py pins them.
CONVERTER_NEEDS = [
    "numpy>=2",
    "onnx>=1.19,<2",
    "onnxruntime>=1.20,<2",
    "pip",  # environments made by tools other than pip often have none
]


def is_built(builder: Path, weights: Path) -> bool:
    """Say whether `weights` holds whole files made by this very `builder`, from what lies
    beside it."""
    written = weights / "recipe.json"
    if not written.exists():
        return False
    recipe = json.loads(written.read_text(encoding="utf-8"))
    if recipe["recipe"] != recipe_digest(builder):
        return False
    return all(
        (weights / name).exists() and digest(weights / name) == expected
        for name, expected in recipe["files"].items()
    )


def recipe_digest(builder: Path) -> str:
    """Return the sha256 of the converter and of what it adds to the published weights."""
    learnt = builder.with_name("notes.npz")
    return hashlib.sha256(builder.read_bytes() + learnt.read_bytes()).hexdigest()


def digest(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class ModelHook(BuildHookInterface[BuilderConfig]):
    """Has the model in place before hatchling collects files; does nothing if it is."""

    PLUGIN_NAME = "custom"

    @property
    def builder(self) -> Path:
        """The converter, whose text is the recipe."""
        return Path(self.root, "build_model.py")

    @property
    def weights(self) -> Path:
        """Where the package looks for its files."""
        return Path(self.root, "src", "madeleine_minilm", "weights")

    def dependencies(self) -> list[str]:
        """Ask for the converter's packages only if the converter has to run."""
        return [] if is_built(self.builder, self.weights) else CONVERTER_NEEDS

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the model, unless it is built. A failed conversion fails the wheel."""
        if not is_built(self.builder, self.weights):
            command = [sys.executable, str(self.builder), "--out", str(self.weights)]
            subprocess.run(command, check=True)
