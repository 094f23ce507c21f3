"""The doors' common part: the table of operations, and the two ways to reach them.

`routes` is the table, `operations` what each one does, `contract` what comes back.
`local` calls them in this process, `remote` asks the daemon, and `madeleine` is the typed
face over either. `Madeleine` is looked up on first use, so that a command that only needs
the table starts at once.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, without the cost of importing it
if TYPE_CHECKING:
    from madeleine.api.madeleine import Madeleine

__all__ = ["Madeleine"]


def __getattr__(name: str) -> object:
    if name == "Madeleine":
        from madeleine.api.madeleine import Madeleine

        return Madeleine
    raise AttributeError(f"module 'madeleine.api' has no attribute {name!r}")
