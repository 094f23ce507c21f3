"""A ChatGPT export: the zip, its folder, or `conversations.json` alone.

A conversation is a tree of messages, since answers can be asked for anew. What was read last
counts: the way from `current_node` up to the root. What a tool or the system said is left out, and
so is what was hidden from the person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from madeleine.ingest.importing.conversations import (
    ImportedConversation,
    ImportedMessage,
    build_problem,
    conversation_files,
    conversations_in,
    items_of,
)
from madeleine.ingest.importing.values import ImportProblem, NotThatFormat, ReaderOutput
from madeleine.model.times import format_time

FORM = "chatgpt"
SPOKEN = ("text", "multimodal_text")
SPEAKERS = {"user": "user", "assistant": "assistant"}

Nodes = Mapping[str, Mapping[str, object]]


class _UnexpectedShape(Exception):
    """A conversation that is not one."""


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every message of every conversation."""
    with conversation_files(path) as sources:
        for source in sources:
            try:
                for place, said in conversations_in(source):
                    yield from _read(said, place)
            except NotThatFormat as error:
                yield ImportProblem(source.name, error.message.removeprefix(f"{source.name}: "))


def _read(said: object, place: str) -> Iterator[ReaderOutput]:
    try:
        conversation = _parse_conversation(said)
    except _UnexpectedShape as error:
        yield build_problem(place, error)
        return
    yield from items_of(FORM, conversation, place)


def _parse_conversation(said: object) -> ImportedConversation:
    if not isinstance(said, Mapping):
        raise _UnexpectedShape("not a JSON object")
    identity, mapping = said.get("id") or said.get("conversation_id"), said.get("mapping")
    if not isinstance(identity, str) or not isinstance(mapping, Mapping):
        raise _UnexpectedShape("it has no id, or no mapping of messages")
    nodes = {str(key): node for key, node in mapping.items() if isinstance(node, Mapping)}
    way = _path_to_current(nodes, said.get("current_node"))
    messages = tuple(each for node in way if (each := _parse_message(node)) is not None)
    title = str(said.get("title") or "")
    return ImportedConversation(identity, title, f"https://chatgpt.com/c/{identity}", messages)


def _path_to_current(nodes: Nodes, current: object) -> list[Mapping[str, object]]:
    """Return the nodes from the root to the one that was read last."""
    at = str(current) if str(current) in nodes else _newest_leaf(nodes)
    way: list[Mapping[str, object]] = []
    seen: set[str] = set()
    while at in nodes and at not in seen:
        seen.add(at)
        way.append(nodes[at])
        at = str(nodes[at].get("parent") or "")
    return way[::-1]


def _newest_leaf(nodes: Nodes) -> str:
    leaves = [key for key, node in nodes.items() if not node.get("children")]
    return max(leaves, key=lambda key: (_created_seconds(_message_of(nodes[key])), key), default="")


def _message_of(node: Mapping[str, object]) -> Mapping[str, object]:
    message = node.get("message")
    return message if isinstance(message, Mapping) else {}


def _created_seconds(message: Mapping[str, object]) -> float:
    value = message.get("create_time")
    return float(value) if isinstance(value, int | float) else 0.0


def _parse_message(node: Mapping[str, object]) -> ImportedMessage | None:
    """Return what a person or the model said, as it was seen."""
    message = _message_of(node)
    author, content = message.get("author"), message.get("content")
    metadata = message.get("metadata")
    if not isinstance(author, Mapping) or not isinstance(content, Mapping):
        return None
    speaker = SPEAKERS.get(str(author.get("role")))
    unseen = isinstance(metadata, Mapping) and bool(
        metadata.get("is_visually_hidden_from_conversation")
    )
    if speaker is None or unseen or content.get("content_type") not in SPOKEN:
        return None
    identity = str(message.get("id") or node.get("id"))
    return ImportedMessage(
        identity,
        speaker,
        _join_texts(content.get("parts")),
        _format_seconds(_created_seconds(message)),
    )


def _join_texts(parts: object) -> str:
    """Return the texts among the parts; pictures and other things have none."""
    if not isinstance(parts, list):
        return ""
    texts = [each for each in parts if isinstance(each, str)]
    spoken = [str(each["text"]) for each in parts if isinstance(each, dict) and each.get("text")]
    return "\n\n".join(each for each in (*texts, *spoken) if each.strip())


def _format_seconds(seconds: float) -> str | None:
    if seconds <= 0:
        return None
    try:
        return format_time(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        return None
