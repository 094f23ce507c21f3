"""Single values as YAML writes them, without loading YAML.

What we write is a small part of YAML: plain words, double-quoted texts with JSON's escapes,
and `[a, b]`. That part is read here, because a rebuild reads every file and a general parser
takes several times as long as everything else. Whatever is not plainly in that part is
`UNSURE`, and `yaml_fallback` decides. Both must agree; a property test holds them to it.

Nothing is guessed from how a value looks: `title: 2024`, `title: yes` and a date are texts
until somebody asks for a number or a time. Only an unquoted `null` or `~` is nothing.
"""

from __future__ import annotations

import enum
import json
import re

# Characters that YAML takes as line breaks, refuses, or that nobody could see: always escaped.
_UNSAFE_CHARS = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"
# A colon may not be followed by a space or the end, nor a `#` be preceded by a space.
_PLAIN_REST = rf"(?:[^ :{_UNSAFE_CHARS}]++|:(?=[^ {_UNSAFE_CHARS}])| ++(?=[^ #{_UNSAFE_CHARS}]))*+"
_PLAIN_READ_PATTERN = re.compile(rf"\w{_PLAIN_REST}")
_PLAIN_WRITE_PATTERN = re.compile(rf"[^\W\d]{_PLAIN_REST}")
_DOUBLE_QUOTED = re.compile(
    rf'"(?:[^"\\{_UNSAFE_CHARS}]++|\\["\\nrtbf]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{{4}})*+"'
)
_SINGLE_QUOTED = re.compile(rf"'[^'{_UNSAFE_CHARS}]*'")
# In a flow list a comma or a bracket would end a plain word, and a colon might.
_FLOW_WORD = r"[^\W\d][\w./-]*+(?: ++[\w./-]++)*+"
_FLOW_ITEM = re.compile(rf" *(?:({_FLOW_WORD})|({_DOUBLE_QUOTED.pattern})) *(?:,|$)")
_FLOW_WORDS = re.compile(rf"{_FLOW_WORD}(?:, {_FLOW_WORD})*+")
_FLOW_WORD_WRITE = re.compile(_FLOW_WORD)
_MUST_ESCAPE = re.compile("[\\x7f-\\x9f\\u2028\\u2029\\ufeff\\ufffe\\uffff\\ud800-\\udfff]")

YAML_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
# Words that some YAML reader takes for something else than a text.
_RESERVED_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


class UnsureScalar(enum.Enum):
    """The answer "ask YAML", which is neither a text nor nothing."""

    UNSURE = enum.auto()


UNSURE = UnsureScalar.UNSURE


def read_scalar(raw: str) -> str | UnsureScalar | None:
    """Return the text that stands behind a key, nothing, or `UNSURE`."""
    if _PLAIN_READ_PATTERN.fullmatch(raw):
        return None if raw in YAML_NULLS else raw
    if _DOUBLE_QUOTED.fullmatch(raw):
        return raw[1:-1] if "\\" not in raw else str(json.loads(raw))
    if _SINGLE_QUOTED.fullmatch(raw):
        return raw[1:-1]
    return None if raw in YAML_NULLS else UNSURE


def read_flow_list(raw: str) -> list[str] | UnsureScalar:
    """Return the texts in `[a, "b c"]`, or `UNSURE`."""
    if not (raw.startswith("[") and raw.endswith("]")):
        return UNSURE
    inner = raw[1:-1].strip(" ")
    if _FLOW_WORDS.fullmatch(inner):
        words = inner.split(", ")
        return UNSURE if not YAML_NULLS.isdisjoint(words) else words
    return _read_mixed_list(inner)


def _read_mixed_list(inner: str) -> list[str] | UnsureScalar:
    items: list[str] = []
    at = 0
    while at < len(inner):
        found = _FLOW_ITEM.match(inner, at)
        if found is None or found[1] in YAML_NULLS:
            return UNSURE
        items.append(found[1] if found[1] is not None else json.loads(found[2]))
        at = found.end()
    return items


def write_scalar(text: str) -> str:
    """Return `text` as any YAML reader reads it back: plain where that is safe, else quoted."""
    if _PLAIN_WRITE_PATTERN.fullmatch(text) and text.lower() not in _RESERVED_WORDS:
        return text
    return _write_quoted(text)


def write_flow_list(texts: tuple[str, ...]) -> str:
    """Return the texts as `[a, b]`."""
    return f"[{', '.join([_write_flow_item(text) for text in texts])}]"


def _write_flow_item(text: str) -> str:
    plain = _FLOW_WORD_WRITE.fullmatch(text) and text.lower() not in _RESERVED_WORDS
    return text if plain else _write_quoted(text)


def _write_quoted(text: str) -> str:
    return _MUST_ESCAPE.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False)
    )
