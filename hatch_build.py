"""Says what Madeleine depends on, when pip or hatchling asks.

All of it is plain but one: the model. A clone holds `packages/minilm`, which no
index may have in this very state, so from a clone it is installed by its path; then
`pip install .` needs nothing else. What is released names it by version:

    MADELEINE_RELEASE=1 python -m build
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

DEPENDENCIES = [
    "apscheduler>=3.10,<4",
    "apsw>=3.46",
    "mcp>=2.3,<3",
    "numpy>=2.0",
    "onnxruntime>=1.20",
    "pyyaml>=6.0.1",
    "starlette>=0.45",
    "threadpoolctl>=3.5",
    "tokenizers>=0.20",
    "uvicorn>=0.41",
    "watchfiles>=1.0",
]
MODEL_RELEASED = "madeleine-minilm>=1.1,<2"


def model_requirement(root: Path, release: bool) -> str:
    """Return how the model is asked for: by its folder in a clone, else by its version.

    The folder's name has no hyphen: pip takes `name-version` for an archive, keeps the wheel it
    once built of it, and would install that old one after every later pull.
    """
    package = root / "packages" / "minilm"
    if release or not (package / "pyproject.toml").is_file():
        return MODEL_RELEASED
    return f"madeleine-minilm @ {package.resolve().as_uri()}"


class CustomMetadataHook(MetadataHookInterface):
    """Fills in `dependencies`, which pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        release = os.environ.get("MADELEINE_RELEASE") == "1"  # noqa: TID251  # not the program
        metadata["dependencies"] = [*DEPENDENCIES, model_requirement(Path(self.root), release)]
