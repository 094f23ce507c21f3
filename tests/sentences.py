"""Causes as the doors say them, for tests that look at the core."""

from __future__ import annotations

from typing import Any

from madeleine.api.wording import render_cause
from madeleine.model.cause import Cause


def in_words(told: Any) -> Any:
    """Return a cause as its sentence, several as a tuple or list of them; the rest as it is."""
    if isinstance(told, Cause):
        return render_cause(told)
    return type(told)(map(in_words, told)) if isinstance(told, list | tuple) else told
