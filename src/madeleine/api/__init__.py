"""The doors' common part: the operations, and the two ways to reach them.

`operation` says how one is declared, `operations` has all of them, `contract` what goes in and
comes back, and `routes` the little of it that a client of a daemon needs.
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
