"""Madeleine: memory for AI agents that surfaces by itself.

`Madeleine.open(home)` is the Python door; see docs/reference/python.md. The name is looked
up on first use, so that `import madeleine` costs nothing a hook would have to wait for.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as typing has it, without the cost of importing it
if TYPE_CHECKING:
    from madeleine.api import Madeleine

__version__ = "0.1.0"
__all__ = ["Madeleine", "__version__"]


def __getattr__(name: str) -> object:
    if name == "Madeleine":
        return importlib.import_module("madeleine.api").Madeleine
    raise AttributeError(f"module 'madeleine' has no attribute {name!r}")
