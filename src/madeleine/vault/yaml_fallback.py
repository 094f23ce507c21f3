"""YAML as people and other programs write it, read with PyYAML.

Values stay texts, as in `scalars`: PyYAML's habit of turning `yes`, `2024` and `1:30` into
something else is left out by looking at the nodes before it does so.

A block comes from anywhere, so nothing is composed before it is known to be harmless: the events
of the parser, which needs no stack of its own however deep a text is nested, are counted first.
The composer calls itself for each level and would run out of stack, which ends the process.

PyYAML is imported on the first file that needs it, because importing it takes as long as
starting Python does and a vault written by us never needs it. This is the one place where
the package imports late for that reason.
"""

from __future__ import annotations

import functools
from typing import Any

from madeleine.vault.scalars import NULLS

Node = Any  # one of PyYAML's, whose types would have to be imported to be named
Tree = str | None | list["Tree"] | dict[str, "Tree"]

_DEEPEST = 12  # nothing we read is nested deeper, and an alias may lead back to itself
_EVENTS = 250_000  # of one key: as many values as fit into some tens of megabytes


class BadYaml(Exception):
    """A block that is not YAML. `line` counts from 0 at the first line of the block."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


class TooMuchYaml(BadYaml):
    """A block that is nested too deeply, or too large, to be read: it is refused unread."""


class Mapped(dict[str, "Tree"]):
    """A mapping that knows on which line of its block it begins, counted from 0."""

    line = 0


def load_block(key: str, text: str) -> Tree:
    """Return the value of the one key that `text` holds. Raises `BadYaml`."""
    root = _compose(text)
    tree = _tree(root, 0, {}) if root is not None else None
    if not isinstance(tree, dict) or list(tree) != [key]:
        raise BadYaml(0, f"`{key}` does not have one value")
    return tree[key]


@functools.cache
def _yaml() -> Any:
    import yaml

    return yaml


@functools.cache
def _loader() -> Any:
    yaml = _yaml()
    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _compose(text: str) -> Node:
    yaml = _yaml()
    try:
        _refuse_too_much(text)
        return yaml.compose(text, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        raise BadYaml(_line(error, text), _problem(error)) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise BadYaml(0, "is not valid YAML") from error


def _refuse_too_much(text: str) -> None:
    """Refuse a text that holds too much or is nested too deeply, by the events of the parser. The
    first one too many ends the parsing, so a hostile text costs no more than a harmless one."""
    yaml = _yaml()
    opens, closes = yaml.CollectionStartEvent, yaml.CollectionEndEvent
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_loader())):
        if isinstance(event, opens):
            depth += 1
            if depth > _DEEPEST:
                raise TooMuchYaml(event.start_mark.line, "is nested too deeply")
        elif isinstance(event, closes):
            depth -= 1
        if count >= _EVENTS:
            raise TooMuchYaml(event.start_mark.line, "holds too many values")


def _line(error: Any, text: str) -> int:
    """Return the line of the complaint; what is missing at the end is missing in the last."""
    mark = error.problem_mark or error.context_mark
    return min(mark.line, text.count("\n") - 1) if mark else 0


def _problem(error: Any) -> str:
    return ", ".join(part for part in (error.context, error.problem) if part)


def _tree(node: Node, depth: int, seen: dict[int, Tree]) -> Tree:
    """Return the values under `node`; `seen` keeps aliases of aliases from multiplying."""
    if id(node) in seen:
        return seen[id(node)]
    if depth > _DEEPEST:
        raise TooMuchYaml(node.start_mark.line, "is nested too deeply")
    seen[id(node)] = tree = _branch(node, depth + 1, seen)
    return tree


def _branch(node: Node, depth: int, seen: dict[int, Tree]) -> Tree:
    if node.id == "scalar":
        return _scalar(node)
    if node.id == "sequence":
        return [_tree(item, depth, seen) for item in node.value]
    mapped = Mapped((str(key.value), _tree(value, depth, seen)) for key, value in node.value)
    mapped.line = node.start_mark.line
    return mapped


def _scalar(node: Node) -> str | None:
    text = str(node.value)
    if not node.style:
        return None if text in NULLS else text
    # The line end behind a block scalar belongs to how it is written, not to what it says.
    return text.rstrip("\n") if node.style in "|>" else text
