"""Memory that the process no longer uses, given back to the system."""

from __future__ import annotations

import ctypes
import sys


def release_unused_memory() -> None:
    """Give back what loading a model or a night's work left behind. glibc keeps it otherwise."""
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other libraries of C have none
    if trim is not None:
        trim(0)
