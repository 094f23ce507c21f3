"""Everyday as values: stores, prompts, actions, questions and pairs, read from `bench/everyday`.

A store is one JSON-lines file; each line names its `record`. Ids are opaque: eight hex digits made
from the store's name and the text, so that they say nothing about order or label. `split` is the
folder a store lies in. `README.md` beside the files says what every field means.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "everyday"
SPLITS = ("train", "dev", "test")
PLAIN_SILENCE = ("chit_chat", "control", "self_contained")
TRICKY_SILENCE = (
    *("definition", "arithmetic", "translation", "general_knowledge"),
    *("other_project", "shared_word", "no_help"),
)
PROMPT_KINDS = (
    *("imperative", "question", "follow_up", "paste", "path", "command"),
    *("constraint", "preference", "identity", "time"),
)
PAIR_LABELS = (
    *("same", "update", "contradiction", "related"),
    *("different", "supports", "part_of", "depends_on"),
)


@dataclass(frozen=True, slots=True)
class EverydayMemory:
    """One note of a store, with what a careful reader knows about it."""

    id: str
    type: str
    space: str | None
    created: str
    content: str
    title: str | None
    tags: tuple[str, ...]
    about_self: bool
    replaced_by: str | None
    """The newer memory that made this one outdated."""
    same_as: str | None
    """Another memory that says the same."""
    lookalike_of: str | None
    """A memory that is alike in words and says something else."""


@dataclass(frozen=True, slots=True)
class EverydayPrompt:
    """What a person types to an agent, and which memories should be whispered."""

    id: str
    text: str
    space: str | None
    session: tuple[str, ...]
    must: frozenset[str]
    ok: frozenset[str]
    kind: str
    silence: str | None
    borderline: bool
    why: str


@dataclass(frozen=True, slots=True)
class EverydayAction:
    """What an agent is about to do, and which memories it should be told."""

    id: str
    tool: str
    target: str
    space: str | None
    must: frozenset[str]
    ok: frozenset[str]
    why: str


@dataclass(frozen=True, slots=True)
class EverydayQuestion:
    """A question to the memory itself, with graded answers: 2 answers, 1 helps or is outdated."""

    id: str
    text: str
    space: str | None
    kind: str
    grades: Mapping[str, int]
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class EverydayStore:
    """What one person or team keeps, and what they ask afterwards."""

    name: str
    split: str
    group: str
    languages: tuple[str, ...]
    spaces: tuple[str, ...]
    now: str
    memories: tuple[EverydayMemory, ...]
    prompts: tuple[EverydayPrompt, ...]
    actions: tuple[EverydayAction, ...]
    questions: tuple[EverydayQuestion, ...]


@dataclass(frozen=True, slots=True)
class EverydayPair:
    """Two notes of one world, the older first, and what they are to each other."""

    id: str
    world: str
    older: str
    newer: str
    older_created: str
    newer_created: str
    label: str
    hard: bool
    language: str


@dataclass(frozen=True, slots=True)
class EverydayKeep:
    """What a session leaves behind: a sentence of its own, as which type, told in which turn."""

    says: str
    type: str
    turn: int


@dataclass(frozen=True, slots=True)
class EverydaySession:
    """A transcript of a person and an agent, what to keep of it and what never to keep."""

    name: str
    split: str
    path: Path
    space: str
    language: str
    keep: tuple[EverydayKeep, ...]
    never: tuple[str, ...]


def read_sessions(split: str, folder: Path = FOLDER) -> list[EverydaySession]:
    """Return the sessions of a split in the order of their names."""
    return [read_session(path) for path in sorted((folder / "sessions" / split).glob("*.jsonl"))]


def read_session(path: Path) -> EverydaySession:
    wanted = json.loads(path.with_suffix(".keep.json").read_text(encoding="utf-8"))
    return EverydaySession(
        name=path.stem,
        split=path.parent.name,
        path=path,
        space=wanted["space"],
        language=wanted["lang"],
        keep=tuple(
            EverydayKeep(each["says"], each["type"], each["turn"]) for each in wanted["keep"]
        ),
        never=tuple(each["text"] for each in wanted["never"]),
    )


def read_stores(split: str, folder: Path = FOLDER) -> list[EverydayStore]:
    """Return the stores of a split in the order of their names."""
    return [read_store(path) for path in sorted((folder / "stores" / split).glob("*.jsonl"))]


def read_store(path: Path) -> EverydayStore:
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in read_lines(path):
        rows.setdefault(row.pop("record"), []).append(row)
    (store,) = rows["store"]
    return EverydayStore(
        name=path.stem,
        split=path.parent.name,
        group=store["group"],
        languages=tuple(store["languages"]),
        spaces=tuple(store["spaces"]),
        now=store["now"],
        memories=tuple(
            EverydayMemory(**{**row, "tags": tuple(row["tags"])}) for row in rows["memory"]
        ),
        prompts=tuple(
            EverydayPrompt(**{**_labelled(row), "session": tuple(row["session"])})
            for row in rows["prompt"]
        ),
        actions=tuple(EverydayAction(**_labelled(row)) for row in rows["action"]),
        questions=tuple(EverydayQuestion(**row) for row in rows["question"]),
    )


def read_pairs(split: str, folder: Path = FOLDER) -> list[EverydayPair]:
    return [EverydayPair(**row) for row in read_lines(folder / "pairs" / f"{split}.jsonl")]


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def _labelled(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "must": frozenset(row["must"]), "ok": frozenset(row["ok"])}
