"""Take drafts into Everyday: `python bench/everyday_add.py store DRAFT --split train`, or `pairs`
with the file of a world, or `session` with the file of a session. After a text of a store or of a
pair was corrected in place, `python bench/everyday_add.py tidy FILE` gives ids and order anew.

An author writes a store with keys of their own (m01, m02 …) and in the order in which it came to
mind. What is kept has opaque ids and an order that says nothing: both come from a hash of the text.
Pairs get their dates here too, from one distribution for all relations, so that a gap between two
dates does not give the relation away.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _everyday_set import FOLDER, SPLITS, read_lines, write_lines

FIRST_DAY = datetime(2026, 1, 5, 6, tzinfo=UTC)
DAYS = 270
GAP_HOURS = 2_400
TURN_SECONDS = 47


def add_store(draft: Path, split: str, folder: Path) -> Path:
    """Write a draft as a store of a split and return its file."""
    store = json.loads((draft / "store.json").read_text(encoding="utf-8"))
    name = store["name"]
    memories = list(read_lines(draft / "memories.jsonl"))
    ids = {each["key"]: digest(name, "memory", each["content"])[:8] for each in memories}
    rows = [
        {"record": "store", **{key: store[key] for key in STORE_FIELDS}},
        *_shuffled("memory", [_memory(each, ids) for each in memories]),
        *_shuffled("prompt", [_prompt(name, each, ids) for each in _draft(draft, "prompts")]),
        *_shuffled("action", [_action(name, each, ids) for each in _draft(draft, "actions")]),
        *_shuffled("question", [_question(name, each, ids) for each in _draft(draft, "questions")]),
    ]
    path = folder / "stores" / split / f"{name}.jsonl"
    write_lines(path, rows)
    return path


def add_session(draft: Path, split: str, folder: Path) -> Path:
    """Write a draft of a session as a transcript, and beside it what is worth keeping of it."""
    first, *turns, last = read_lines(draft)
    about = first["session"]
    path = folder / "sessions" / split / f"{about['name']}.jsonl"
    write_lines(path, transcript(about, turns))
    kept = [{**each, "type": NOTE_TYPES.get(each["type"], each["type"])} for each in last["keep"]]
    wanted = {
        **{key: about[key] for key in ("space", "lang", "who")},
        "keep": kept,
        "never": last["never"],
    }
    text = json.dumps(wanted, ensure_ascii=False, indent=1)
    path.with_suffix(".keep.json").write_text(text + "\n", encoding="utf-8")
    return path


NOTE_TYPES = {"rule": "preference", "gotcha": "observation"}
"""What an author may say instead of a type of memory."""


def transcript(
    about: Mapping[str, Any], turns: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the lines of a host's transcript. Each line of a turn says which by its `promptId`."""
    name, began = about["name"], datetime.fromisoformat(about["started"])
    lines: list[dict[str, Any]] = []

    def say(turn: int, kind: str, message: Mapping[str, Any]) -> None:
        lines.append(
            {
                "parentUuid": lines[-1]["uuid"] if lines else None,
                "isSidechain": False,
                "promptId": f"turn-{turn}",
                "type": kind,
                "message": {"role": kind, **message},
                "uuid": _uuid(name, str(len(lines))),
                "timestamp": _instant(began + timedelta(seconds=TURN_SECONDS * len(lines))),
                "userType": "external",
                "entrypoint": "cli",
                "cwd": about["cwd"],
                "sessionId": _uuid("session", name),
                "version": "2.1.283",
                "gitBranch": about["branch"],
            }
        )

    for number, turn in enumerate(turns, 1):
        if "user" in turn:
            say(number, "user", {"content": turn["user"]})
            continue
        message = {"id": f"msg_{name}_{number}", "model": "example"}
        if "agent" in turn:
            content = [{"type": "text", "text": turn["agent"]}]
            say(number, "assistant", {**message, "content": content, "stop_reason": "end_turn"})
            continue
        call = f"toolu_{name}_{number}"
        use = {"type": "tool_use", "id": call, "name": turn["tool"], "input": turn["input"]}
        say(number, "assistant", {**message, "content": [use], "stop_reason": "tool_use"})
        result = {"type": "tool_result", "tool_use_id": call, "content": turn["result"]}
        failed = {"is_error": True} if turn.get("failed") else {}
        say(number, "user", {"content": [{**result, **failed}]})
    return lines


def _uuid(*parts: str) -> str:
    return str(uuid.UUID(digest(*parts)[:32], version=4))


def pair_rows(world: str, drafts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the pairs of a world with ids and dates."""
    return [_pair(world, each) for each in drafts]


def tidy(path: Path) -> None:
    """Give the rows of a kept file the ids and the order that their texts call for."""
    rows = list(read_lines(path))
    is_store = rows[0].get("record") == "store"
    write_lines(path, tidied_store(path.stem, rows) if is_store else tidied_pairs(rows))


def tidied_store(name: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a store with ids and order made from their texts; labels follow."""
    memories = [row for row in rows if row["record"] == "memory"]
    ids = {row["id"]: digest(name, "memory", row["content"])[:8] for row in memories}
    made: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
        "memory": lambda row: _memory({**row, "key": row["id"]}, ids),
        "prompt": lambda row: _prompt(name, row, ids),
        "action": lambda row: _action(name, row, ids),
        "question": lambda row: _question(name, row, ids),
    }
    found = [dict(row) for row in rows if row["record"] == "store"]
    for record, make in made.items():
        found += _shuffled(record, [make(row) for row in rows if row["record"] == record])
    return found


def tidied_pairs(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return pairs with ids, dates and order made from their texts."""
    drafts = [
        {**row, "a": row["older"], "b": row["newer"], "lang": row["language"]} for row in rows
    ]
    return _in_order([_pair(row["world"], row) for row in drafts])


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


STORE_FIELDS = ("who", "trade", "group", "languages", "voice", "spaces", "now")


def _draft(draft: Path, part: str) -> list[dict[str, Any]]:
    return list(read_lines(draft / f"{part}.jsonl"))


def _shuffled(record: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"record": record, **row} for row in _in_order(rows)]


def _in_order(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: digest("order", row["id"]))


def _memory(row: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": ids[row["key"]],
        **{key: row[key] for key in ("type", "space", "created", "content")},
        "title": row.get("title"),
        "tags": row.get("tags") or [],
        "about_self": bool(row.get("about_self")),
        **{
            key: ids[row[key]] if row.get(key) else None
            for key in ("replaced_by", "same_as", "lookalike_of")
        },
    }


def _prompt(name: str, row: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    session = row.get("session") or []
    return {
        "id": digest(name, "prompt", row["text"], *session)[:8],
        "text": row["text"],
        "space": row["space"],
        "session": session,
        **_labels(row, ids),
        "kind": row["kind"],
        "silence": row.get("silence"),
        "borderline": bool(row.get("borderline")),
        "why": row["why"],
    }


def _action(name: str, row: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": digest(name, "action", row["tool"], row["target"])[:8],
        **{key: row[key] for key in ("tool", "target", "space")},
        **_labels(row, ids),
        "why": row["why"],
    }


def _question(name: str, row: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    grades = {ids[key]: grade for key, grade in row["grades"].items()}
    return {
        "id": digest(name, "question", row["text"])[:8],
        **{key: row.get(key) for key in ("text", "space", "kind")},
        "grades": dict(sorted(grades.items())),
        **{key: ids[row[key]] if row.get(key) else None for key in ("old", "new")},
    }


def _labels(row: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, list[str]]:
    return {key: sorted(ids[each] for each in row[key]) for key in ("must", "ok")}


def _pair(world: str, row: Mapping[str, Any]) -> dict[str, Any]:
    chosen = digest("dates", row["a"], row["b"])
    day = int(chosen[:8], 16) % DAYS
    hours = 1 + int(chosen[8:16], 16) % GAP_HOURS
    older = FIRST_DAY + timedelta(days=day, minutes=int(chosen[16:20], 16) % 960)
    newer = older + timedelta(hours=hours, minutes=int(chosen[20:24], 16) % 60)
    return {
        "id": digest(world, row["a"], row["b"])[:8],
        "world": world,
        "older": row["a"],
        "newer": row["b"],
        "older_created": _instant(older),
        "newer_created": _instant(newer),
        "label": row["label"],
        "hard": bool(row["hard"]),
        "language": row["lang"],
    }


def _instant(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:00Z")


def run(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("store", "pairs", "session", "tidy"))
    parser.add_argument("draft", type=Path, help="folder of a store, or a file")
    parser.add_argument("--split", choices=SPLITS, help="where a draft goes")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    given = parser.parse_args(argv)
    if given.what == "tidy":
        tidy(given.draft)
        return 0
    if given.split is None:
        parser.error("a draft needs --split")
    if given.what == "store":
        print(add_store(given.draft, given.split, given.folder))
        return 0
    if given.what == "session":
        print(add_session(given.draft, given.split, given.folder))
        return 0
    path = given.folder / "pairs" / f"{given.split}.jsonl"
    known = list(read_lines(path)) if path.exists() else []
    added = pair_rows(given.draft.stem, list(read_lines(given.draft)))
    fresh = {row["id"]: row for row in [*known, *added]}
    write_lines(path, _in_order(fresh.values()))
    print(f"{path}: {len(fresh)} pairs")
    return 0


if __name__ == "__main__":
    sys.exit(run())
