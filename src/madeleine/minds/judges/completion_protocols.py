"""How two kinds of servers are asked to complete a text, and what they answer.

OpenAI's chat completions, which Ollama, LM Studio, vLLM and most hosted models speak, and
Anthropic's messages. Both become the same `ModelAnswer`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

ANTHROPIC_VERSION = "2023-06-01"


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model said, and what it cost. `whole` is false when it was cut off."""

    text: str
    tokens_in: int
    tokens_out: int
    whole: bool


class CompletionProtocol(Protocol):
    """One way of asking."""

    @property
    def path(self) -> str: ...

    def headers(self, key: str) -> dict[str, str]: ...

    def body(self, model: str, system: str, user: str, most_tokens: int) -> bytes: ...

    def read(self, answer: bytes) -> ModelAnswer:
        """Return what was said. Raises ValueError where the answer is no such answer."""
        ...


class OpenAiProtocol:
    """`POST {url}/chat/completions`."""

    path = "/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, model: str, system: str, user: str, most_tokens: int) -> bytes:
        asked = {
            "model": model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            "temperature": 0,
            "max_tokens": most_tokens,
            "response_format": {"type": "json_object"},
        }
        return json.dumps(asked).encode("utf-8")

    def read(self, answer: bytes) -> ModelAnswer:
        given = _read_object(answer)
        try:
            choice = given["choices"][0]
            text = choice["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise ValueError("no completion") from error
        used = given.get("usage")
        return ModelAnswer(
            _read_text(text),
            _read_token_count(used, "prompt_tokens"),
            _read_token_count(used, "completion_tokens"),
            choice.get("finish_reason") != "length",
        )


class AnthropicProtocol:
    """`POST {url}/messages`."""

    path = "/messages"

    def headers(self, key: str) -> dict[str, str]:
        known = {"anthropic-version": ANTHROPIC_VERSION}
        return known | ({"x-api-key": key} if key else {})

    def body(self, model: str, system: str, user: str, most_tokens: int) -> bytes:
        asked = {
            "model": model,
            "system": system,
            "messages": [{"role": "user", "content": user}],
            "temperature": 0,
            "max_tokens": most_tokens,
        }
        return json.dumps(asked).encode("utf-8")

    def read(self, answer: bytes) -> ModelAnswer:
        given = _read_object(answer)
        try:
            parts = [part["text"] for part in given["content"] if part.get("type") == "text"]
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("no completion") from error
        used = given.get("usage")
        return ModelAnswer(
            "".join(_read_text(part) for part in parts),
            _read_token_count(used, "input_tokens"),
            _read_token_count(used, "output_tokens"),
            given.get("stop_reason") != "max_tokens",
        )


PROTOCOL_BY_PROVIDER: dict[str, CompletionProtocol] = {
    "openai": OpenAiProtocol(),
    "anthropic": AnthropicProtocol(),
}


def _read_object(answer: bytes) -> dict[str, Any]:
    try:
        given = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON") from error
    if not isinstance(given, dict):
        raise ValueError("not an object")
    return given


def _read_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


def _read_token_count(used: object, name: str) -> int:
    """Return a count of tokens; 0 where the server keeps none."""
    value = used.get(name) if isinstance(used, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
