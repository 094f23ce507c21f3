"""Exports of conversations: ChatGPT and claude.ai, in a zip or alone, whole or broken."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from madeleine.ingest.importing import conversations, json_files
from madeleine.ingest.importing.values import Json, NotThatFormat
from madeleine.model.words import Tier
from madeleine.write.stores import Stores
from tests.ingest.importing.bringing import found, imported, in_order, memories

KEY = "ghp_" + "a1B2c3D4e5F6" * 3  # put together here, so that no scanner takes it for a real one


def node(name: str, parent: str | None, role: str, text: object, **more: object) -> Json:
    parts = [text] if isinstance(text, str) else text
    return {
        "id": name,
        "parent": parent,
        "children": [],
        "message": {
            "id": f"message-{name}",
            "author": {"role": role},
            "create_time": 1_700_000_000.5 + len(name),
            "content": {"content_type": "text", "parts": parts, **more},
            "metadata": {"model_slug": "gpt-5"},
        },
    }


def chatgpt() -> list[Json]:
    hidden = node("hidden", "root", "user", "about me")
    assert isinstance(hidden["message"], dict)
    hidden["message"]["metadata"] = {"is_visually_hidden_from_conversation": True}
    mapping = {
        "root": {"id": "root", "parent": None, "children": ["hidden"], "message": None},
        "hidden": hidden,
        "a": node("a", "hidden", "user", "Which database should Atlas use?"),
        "b1": node("b1", "a", "assistant", "Postgres, of course."),
        "b2": node("b2", "a", "assistant", "SQLite: it is one file."),
        "tool": node("tool", "b2", "tool", "search results"),
        "code": node("code", "tool", "assistant", "print(1)", content_type="code"),
        "c": node("c", "code", "user", [{"content_type": "image"}, f"My token is {KEY}"]),
    }
    return [
        {
            "id": "conversation-1",
            "title": "Databases",
            "create_time": 1.0,
            "update_time": 2.0,
            "current_node": "c",
            "mapping": mapping,
        },
        {"title": "no id"},
        {"conversation_id": "conversation-2", "title": "Loop", "current_node": "x", "mapping": {
            "x": {**node("x", "x", "user", "A message that is its own parent")}}},
    ]  # fmt: skip


def written(path: Path, values: object) -> Path:
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


def packed(path: Path, **files: object) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in files.items():
            archive.writestr(name.replace("__", "."), json.dumps(values))
    return path


# -- ChatGPT -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["alone", "zip", "folder"])
def test_messages_are_kept_as_they_were_read_last(
    tmp_path: Path, stores: Stores, shape: str
) -> None:
    if shape == "zip":
        path = packed(tmp_path / "export.zip", conversations__json=chatgpt(), user__json={})
    else:
        path = written(tmp_path / "conversations.json", chatgpt())
    told = imported(stores, "chatgpt", tmp_path if shape == "folder" else path)

    known = in_order(stores)
    assert [each.content for each in known] == [
        "Which database should Atlas use?",
        "SQLite: it is one file.",
        "My token is [redacted token]",
        "A message that is its own parent",
    ]
    first = known[0]
    assert first.origin is not None
    assert (first.origin.session, first.origin.turn, first.origin.speaker) == (
        "chatgpt:conversation-1",
        0,
        "user",
    )
    assert first.origin.uri == "https://chatgpt.com/c/conversation-1"
    assert first.tier is Tier.ARCHIVAL
    assert first.created.isoformat() == "2023-11-14T22:13:21.500000+00:00"
    assert "1 secret was found and left out, marked as [redacted]" in told.notes
    assert list(told.broken) == ["conversations.json: conversation 2"]


def test_a_conversation_that_went_on_adds_only_what_is_new(tmp_path: Path, stores: Stores) -> None:
    path = written(tmp_path / "conversations.json", chatgpt())
    imported(stores, "chatgpt", path)
    longer = chatgpt()
    mapping = longer[0]["mapping"]
    assert isinstance(mapping, dict)
    mapping["d"] = node("d", "c", "assistant", "I have removed it.")
    longer[0]["current_node"] = "d"

    told = imported(stores, "chatgpt", written(path, longer))

    assert (told.count("known"), told.count("written")) == (4, 1)


def test_a_file_that_breaks_off_gives_what_came_before(tmp_path: Path, stores: Stores) -> None:
    whole = json.dumps(chatgpt())
    (tmp_path / "conversations.json").write_text(
        whole[: whole.index('{"title": "no id"') + 10], encoding="utf-8"
    )

    told = imported(stores, "chatgpt", tmp_path)

    assert told.count("written") == 3
    assert list(told.broken) == ["conversations.json"]


def test_an_export_is_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the pieces, the same conversations come out."""
    path = written(tmp_path / "conversations.json", [*chatgpt(), *chatgpt()])
    whole = [each.values for each in found("chatgpt", path)[0]]
    monkeypatch.setattr(json_files, "READ_CHARS", 7)

    assert [each.values for each in found("chatgpt", path)[0]] == whole
    assert len(whole) == 8


def test_a_message_over_the_bound_is_kept_in_pieces(
    tmp_path: Path, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "PIECE_CHARS", 40)
    said = "\n\n".join([f"a paragraph of words, the {n}" for n in range(3)] + ["x" * 60 + "y" * 40])
    one = [{"id": "c", "current_node": "a", "mapping": {"a": node("a", None, "user", said)}}]

    imported(stores, "chatgpt", written(tmp_path / "conversations.json", one))

    kept = in_order(stores)
    assert "\n\n".join(each.content for each in kept[:3]) == "\n\n".join(said.split("\n\n")[:3])
    assert "".join(each.content for each in kept[3:]) == "x" * 60 + "y" * 40


# -- claude.ai -----------------------------------------------------------------------------

CLAUDE = [
    {
        "uuid": "0b6ff1f0-6f0d-4a62-8a35-6b2cb2b4ae5d",
        "name": "Trip",
        "summary": "",
        "created_at": "2026-03-01T10:00:00.000000Z",
        "updated_at": "2026-03-01T10:05:00.000000Z",
        "account": {"uuid": "x"},
        "chat_messages": [
            {
                "uuid": "5b6ff1f0-6f0d-4a62-8a35-6b2cb2b4ae5d",
                "text": "with tool noise",
                "content": [
                    {"type": "text", "text": "I fly to Lisbon in May"},
                    {"type": "tool_use", "name": "search"},
                ],
                "sender": "human",
                "created_at": "2026-03-01T10:00:01.000000Z",
                "attachments": [{"file_name": "a.txt", "extracted_content": "pasted"}],
                "files": [],
            },
            {
                "uuid": "6b6ff1f0-6f0d-4a62-8a35-6b2cb2b4ae5d",
                "text": "Enjoy the tiles",
                "content": [],
                "sender": "assistant",
                "created_at": "2026-03-01T10:00:02.000000Z",
                "attachments": [],
            },
            {
                "uuid": "7b6ff1f0-6f0d-4a62-8a35-6b2cb2b4ae5d",
                "text": "only a tool",
                "content": [{"type": "tool_result", "content": "x"}],
                "sender": "assistant",
                "created_at": "2026-03-01T10:00:03.000000Z",
            },
        ],
    },
    {"uuid": "y", "name": "no messages"},
]
PROJECTS = [
    {
        "uuid": "11111111-6f0d-4a62-8a35-6b2cb2b4ae5d",
        "name": "Atlas",
        "prompt_template": "Answer in haiku.",
        "docs": [
            {
                "uuid": "22222222-6f0d-4a62-8a35-6b2cb2b4ae5d",
                "filename": "plan.md",
                "content": "Ship in June.",
                "created_at": "2026-01-01T00:00:00Z",
            }
        ],
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
    }
]


def test_claude_ai_gives_messages_and_projects(tmp_path: Path, stores: Stores) -> None:
    path = packed(
        tmp_path / "data.zip",
        conversations__json=CLAUDE,
        projects__json=PROJECTS,
        users__json=[{"email_address": "ana@example.org"}],
    )

    told = imported(stores, "claude-ai", path)

    known = memories(stores)
    assert set(known) == {
        "I fly to Lisbon in May",
        "Enjoy the tiles",
        "Instructions of Atlas",
        "plan.md",
    }
    lisbon = known["I fly to Lisbon in May"]
    assert lisbon.id == "5b6ff1f0-6f0d-4a62-8a35-6b2cb2b4ae5d"
    assert lisbon.origin is not None
    assert lisbon.origin.speaker == "user"
    assert known["plan.md"].content == "Ship in June."
    assert told.notes == ["1 files that were pasted into conversations are left out"]
    assert list(told.broken) == ["conversations.json: conversation 2"]
    assert imported(stores, "claude-ai", path).count("known") == 4


def test_a_message_with_a_date_that_nobody_can_read_is_kept(tmp_path: Path, stores: Stores) -> None:
    message = {"uuid": "m1", "sender": "human", "text": "I fly in May", "created_at": "gestern"}
    document = {"uuid": "d1", "content": "Ship in June.", "created_at": [], "updated_at": "soon"}
    path = packed(
        tmp_path / "data.zip",
        conversations__json=[{"uuid": "c1", "chat_messages": [{**message, "attachments": 3}]}],
        projects__json=[{"uuid": "p1", "docs": [document]}],
    )

    told = imported(stores, "claude-ai", path)

    assert told.broken == {}
    assert set(memories(stores)) == {"I fly in May", "Ship in June."}


# -- harm ----------------------------------------------------------------------------------


def test_a_zip_that_would_fill_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("madeleine.ingest.importing.sources.SMALL_BYTES", 10_000)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * 10_000_000 + b"]")

    with pytest.raises(NotThatFormat, match="would unpack to"):
        found("chatgpt", path)


@pytest.mark.parametrize("name", ["../conversations.json", "/etc/x.json", "a/../../x.json"])
def test_a_zip_that_names_places_outside_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "escape.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, "[]")

    with pytest.raises(NotThatFormat, match="outside of itself"):
        found("chatgpt", path)


def test_a_damaged_zip_is_told(tmp_path: Path) -> None:
    path = packed(tmp_path / "export.zip", conversations__json=chatgpt())
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)

    _, told = found("chatgpt", path)

    assert list(told.broken) == ["conversations.json"]
