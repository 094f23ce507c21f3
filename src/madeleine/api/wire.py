"""Errors as they cross a socket: `{"error": {"code", "message", "hint"}}`."""

from __future__ import annotations

from collections.abc import Mapping

from madeleine.errors import ERROR_BASES, MadeleineError

_BASES = {base.code: base for base in ERROR_BASES}


def error_to_json(error: MadeleineError) -> dict[str, object]:
    return {"code": error.code, "message": error.message, "hint": error.hint}


def error_from_json(values: Mapping[str, object]) -> MadeleineError:
    """Return the error as the base that its code names, with the same message and hint."""
    base = _BASES.get(str(values.get("code")), MadeleineError)
    return base(str(values.get("message", "")), str(values.get("hint", "")))
