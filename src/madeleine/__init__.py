"""Madeleine: memory for AI agents that surfaces by itself.

`Madeleine.open(home)` is the Python door; see docs/reference/python.md. The name is looked
up on first use, so that `import madeleine` costs nothing a hook would have to wait for.
"""

from __future__ import annotations

from madeleine.version import __version__

TYPE_CHECKING = False  # as typing has it, without the cost of importing it
if TYPE_CHECKING:
    from madeleine.api import Madeleine

__all__ = ["Madeleine", "__version__"]


def __getattr__(name: str) -> object:
    if name == "Madeleine":
        from madeleine.api import Madeleine

        return Madeleine
    raise AttributeError(f"module 'madeleine' has no attribute {name!r}")
