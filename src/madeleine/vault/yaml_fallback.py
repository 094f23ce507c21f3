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

from madeleine.vault.scalars import YAML_NULLS

YamlNode = Any  # one of PyYAML's, whose types would have to be imported to be named
YamlTree = str | None | list["YamlTree"] | dict[str, "YamlTree"]

_MAX_DEPTH = 12  # nothing we read is nested deeper, and an alias may lead back to itself
_MAX_EVENTS = 250_000  # of one key: as many values as fit into some tens of megabytes


class InvalidYaml(Exception):
    """A block that is not YAML. `line` counts from 0 at the first line of the block."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


class OversizedYaml(InvalidYaml):
    """A block that is nested too deeply, or too large, to be read: it is refused unread."""


class YamlMapping(dict[str, "YamlTree"]):
    """A mapping that knows on which line of its block it begins, counted from 0."""

    line = 0


def load_block(key: str, text: str) -> YamlTree:
    """Return the value of the one key that `text` holds. Raises `InvalidYaml`."""
    root = _compose_node(text)
    tree = _build_tree(root, 0, {}) if root is not None else None
    if not isinstance(tree, dict) or list(tree) != [key]:
        raise InvalidYaml(0, f"`{key}` does not have one value")
    return tree[key]


@functools.cache
def _import_yaml() -> Any:
    import yaml

    return yaml


@functools.cache
def _yaml_loader() -> Any:
    yaml = _import_yaml()
    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _compose_node(text: str) -> YamlNode:
    yaml = _import_yaml()
    try:
        _refuse_oversized(text)
        return yaml.compose(text, Loader=_yaml_loader())
    except yaml.MarkedYAMLError as error:
        raise InvalidYaml(_problem_line(error, text), _problem_text(error)) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise InvalidYaml(0, "is not valid YAML") from error


def _refuse_oversized(text: str) -> None:
    """Refuse a text that holds too much or is nested too deeply, by the events of the parser. The
    first one too many ends the parsing, so a hostile text costs no more than a harmless one."""
    yaml = _import_yaml()
    opens, closes = yaml.CollectionStartEvent, yaml.CollectionEndEvent
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_yaml_loader())):
        if isinstance(event, opens):
            depth += 1
            if depth > _MAX_DEPTH:
                raise OversizedYaml(event.start_mark.line, "is nested too deeply")
        elif isinstance(event, closes):
            depth -= 1
        if count >= _MAX_EVENTS:
            raise OversizedYaml(event.start_mark.line, "holds too many values")


def _problem_line(error: Any, text: str) -> int:
    """Return the line of the complaint; what is missing at the end is missing in the last."""
    mark = error.problem_mark or error.context_mark
    return min(mark.line, text.count("\n") - 1) if mark else 0


def _problem_text(error: Any) -> str:
    return ", ".join(part for part in (error.context, error.problem) if part)


def _build_tree(node: YamlNode, depth: int, seen: dict[int, YamlTree]) -> YamlTree:
    """Return the values under `node`; `seen` keeps aliases of aliases from multiplying."""
    if id(node) in seen:
        return seen[id(node)]
    if depth > _MAX_DEPTH:
        raise OversizedYaml(node.start_mark.line, "is nested too deeply")
    seen[id(node)] = tree = _build_branch(node, depth + 1, seen)
    return tree


def _build_branch(node: YamlNode, depth: int, seen: dict[int, YamlTree]) -> YamlTree:
    if node.id == "scalar":
        return _build_scalar(node)
    if node.id == "sequence":
        return [_build_tree(item, depth, seen) for item in node.value]
    mapped = YamlMapping(
        (str(key.value), _build_tree(value, depth, seen)) for key, value in node.value
    )
    mapped.line = node.start_mark.line
    return mapped


def _build_scalar(node: YamlNode) -> str | None:
    text = str(node.value)
    if not node.style:
        return None if text in YAML_NULLS else text
    # The line end behind a block scalar belongs to how it is written, not to what it says.
    return text.rstrip("\n") if node.style in "|>" else text
