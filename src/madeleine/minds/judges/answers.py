"""How a document is put before a language model, and how its one answer is taken apart.

What is shown is data (I9): it stands inside a JSON string, in a frame whose marks cannot occur
in it because `<` and `>` are escaped. What comes back is one JSON object or `InvalidAnswer`.
"""

from __future__ import annotations

import json
import re
from typing import Any

_FENCED_PATTERN = re.compile(r"```(?:json)?\s*\n(.*)\n```", re.DOTALL)


class InvalidAnswer(ValueError):
    """An answer that does not have the shape that was asked for; the message says how."""


class LossyAnswer(InvalidAnswer):
    """An answer of the right shape that loses something, or says something else."""


def frame_document(document: object) -> str:
    """Return a document as the user message of a request."""
    said = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    plain = said.replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<data>\n{plain}\n</data>"


def parse_answer(text: str) -> dict[str, Any]:
    """Return the one object that an answer consists of."""
    stripped = text.strip()
    fenced = _FENCED_PATTERN.fullmatch(stripped)
    try:
        given = json.loads(fenced[1] if fenced else stripped)
    except (ValueError, RecursionError) as error:
        raise InvalidAnswer("the answer is not JSON, or more than that") from error
    if not isinstance(given, dict):
        raise InvalidAnswer("the answer is not an object")
    return given


def is_text(value: object) -> bool:
    """Whether a value is a text that says something."""
    return isinstance(value, str) and bool(value.strip())
