"""Errors as they cross a socket: `{"error": {"code", "kind", "message", "hint", "parts"}}`."""

from __future__ import annotations

from collections.abc import Mapping

from madeleine.errors import ERROR_BASES, MadeleineError

_BASE_BY_CODE = {base.code: base for base in ERROR_BASES}


def error_to_json(error: MadeleineError) -> dict[str, object]:
    return {
        "code": error.code,
        "kind": error.kind,
        "message": error.message,
        "hint": error.hint,
        "parts": dict(error.parts),
    }


def error_from_json(values: Mapping[str, object]) -> MadeleineError:
    """Return the error as the base that its code names, with the same kind and the same words."""
    base = _BASE_BY_CODE.get(str(values.get("code")), MadeleineError)
    error = base(str(values.get("message", "")), str(values.get("hint", "")))
    error.kind = str(values.get("kind", base.kind))
    parts = values.get("parts")
    error.parts = parts if isinstance(parts, Mapping) else {}
    return error
