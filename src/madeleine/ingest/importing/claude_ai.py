"""An export of claude.ai: the zip, its folder, or `conversations.json` alone.

Messages of conversations are kept as they were said. Of projects the instructions and the
documents are kept too. What a tool did is left out, and so are pasted files, which are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from madeleine.ingest.importing.conversations import (
    ImportedConversation,
    ImportedMessage,
    build_problem,
    conversation_files,
    conversations_in,
    items_of,
)
from madeleine.ingest.importing.sources import SourceFile
from madeleine.ingest.importing.values import (
    ImportItem,
    ImportNote,
    ImportProblem,
    Json,
    NotThatFormat,
    ReaderOutput,
    drop_empty,
    given_id,
    read_foreign_time,
    stable_id,
)

FORM = "claude-ai"
PROJECTS = "projects.json"
SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}


class _UnexpectedShape(Exception):
    """A conversation or project that is not one."""


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every message of every conversation, then what projects hold."""
    attached = 0
    with conversation_files(path, PROJECTS) as sources:
        for source in sources:
            try:
                for place, said in conversations_in(source):
                    attached += _count_attachments(said)
                    yield from _read(source, said, place)
            except NotThatFormat as error:
                yield ImportProblem(source.name, error.message.removeprefix(f"{source.name}: "))
    if attached:
        yield ImportNote(f"{attached:,} files that were pasted into conversations are left out")


def _read(source: SourceFile, said: object, place: str) -> Iterator[ReaderOutput]:
    try:
        if PurePosixPath(source.name).name == PROJECTS:
            yield from _read_project(said, place.replace("conversation", "project"))
        else:
            yield from items_of(FORM, _parse_conversation(said), place)
    except _UnexpectedShape as error:
        yield build_problem(place, error)


def _parse_conversation(said: object) -> ImportedConversation:
    if not isinstance(said, Mapping) or not isinstance(said.get("chat_messages"), list):
        raise _UnexpectedShape("it has no chat_messages")
    identity = str(said.get("uuid") or "")
    if not identity:
        raise _UnexpectedShape("it has no uuid")
    messages = [_parse_message(each) for each in said["chat_messages"] if isinstance(each, Mapping)]
    uri = f"https://claude.ai/chat/{identity}"
    kept = tuple(each for each in messages if each is not None)
    return ImportedConversation(identity, str(said.get("name") or ""), uri, kept)


def _parse_message(said: Mapping[str, object]) -> ImportedMessage | None:
    speaker = SPEAKERS.get(str(said.get("sender")))
    if speaker is None:
        return None
    at = said.get("created_at")
    identity = str(said.get("uuid") or f"{at}")
    return ImportedMessage(identity, speaker, _join_texts(said), read_foreign_time(at))


def _join_texts(said: Mapping[str, object]) -> str:
    """Return what was said: the parts that are text, else the whole."""
    content = said.get("content")
    parts = content if isinstance(content, list) else []
    texts = [
        str(each.get("text") or "")
        for each in parts
        if isinstance(each, Mapping) and each.get("type") == "text"
    ]
    joined = "\n\n".join(each for each in texts if each.strip())
    return joined or (str(said.get("text") or "") if not parts else "")


def _count_attachments(said: object) -> int:
    messages = said.get("chat_messages") if isinstance(said, Mapping) else None
    found = messages if isinstance(messages, list) else []
    pasted = [each.get("attachments") for each in found if isinstance(each, Mapping)]
    return sum(len(each) for each in pasted if isinstance(each, list))


def _read_project(said: object, place: str) -> Iterator[ReaderOutput]:
    if not isinstance(said, Mapping) or not said.get("uuid"):
        raise _UnexpectedShape("it has no uuid")
    identity, name = str(said["uuid"]), " ".join(str(said.get("name") or "").split())
    prompt = str(said.get("prompt_template") or "")
    if prompt.strip():
        title = f"Instructions of {name}" if name else "Instructions"
        values = _document_values(
            stable_id(FORM, identity, "prompt"), prompt, title, said, identity
        )
        yield ImportItem({**values, "type": "preference"}, place)
    documents = said.get("docs")
    for number, each in enumerate(documents if isinstance(documents, list) else (), start=1):
        text = str(each.get("content") or "") if isinstance(each, Mapping) else ""
        if text.strip():
            memory_id = given_id(FORM, each.get("uuid") or str(number), identity)
            title = " ".join(str(each.get("filename") or name).split())
            values = _document_values(memory_id, text, title, each, identity)
            yield ImportItem(values, f"{place}, document {number}")


def _document_values(
    memory_id: str, text: str, title: str, said: Mapping[str, object], project: str
) -> Json:
    return drop_empty(
        id=memory_id,
        content=text,
        title=title,
        tags=[FORM],
        created=read_foreign_time(said.get("created_at")),
        updated=read_foreign_time(said.get("updated_at")),
        source=f"import:{FORM}",
        origin={"uri": f"https://claude.ai/project/{project}"},
    )
