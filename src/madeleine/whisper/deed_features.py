"""A deed and a memory as numbers: what `rules.deed_gate` weighs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from madeleine.language.deeds import Deed, is_file_tool, is_shell_tool, split_name, split_tokens
from madeleine.language.late_pattern import compile_late
from madeleine.language.trigger_words import PROHIBITING_WORDS
from madeleine.language.triggers import (
    compare_triggers,
    count_constraint_words,
    memory_triggers,
    read_triggers,
)
from madeleine.language.word_hints import STOP_WORDS
from madeleine.model.memory import Memory
from madeleine.model.spaces import related_spaces
from madeleine.model.words import MemoryType
from madeleine.rules.deed_gate import log_odds

STEM_CHARS = 5  # of a word by which two are taken for forms of one
LEAST_CHARS = 3
CLAUSES_MOST = 40
NEAR_PATH = 0.7

_CLAUSE = compile_late(r"[.;:!?]\s|[,()—\n]| - |\b(?:but|and|aber|und|pero|mais|et)\b")


@dataclass(frozen=True, slots=True)
class FoundForDeed:
    """What recall says of a memory that it found for a deed; a trigger alone says nothing."""

    chance: float = 0.02
    near: float = 0.0
    coverage: float = 0.0


def deed_features(
    deed: Deed, memory: Memory, found: FoundForDeed, best: float, space: str | None
) -> dict[str, float]:
    """Return the numbers. `best` is the highest chance of all that recall found."""
    match = compare_triggers(memory_triggers(memory), deed)
    chance = log_odds(found.chance)
    constraint = float(min(count_constraint_words(memory.content), 3))
    looks, shell = float(deed.only_looks), float(is_shell_tool(deed.tool))
    file, clauses = float(is_file_tool(deed.tool)), _read_clauses(deed, memory)
    kind = memory.type
    return {
        "chance": chance,
        "below_best": chance - log_odds(best),
        "near": found.near,
        "coverage": found.coverage,
        "path": match.path,
        "near_path": float(max(match.path, match.glob) >= NEAR_PATH),
        "other_path": match.other_path,
        "glob": match.glob,
        "names": min(match.names, 3.0),
        "command": match.command,
        "whole_command": float(match.command == 1.0),
        "environment": match.environment,
        "other_environment": match.other_environment,
        "activity": min(match.activity, 2.0),
        "constraint": constraint,
        "looks": looks,
        "looks_chance": looks * chance,
        "looks_path": looks * match.path,
        "looks_prohibits": looks * clauses.prohibits,
        "same_space": float(memory.space in related_spaces(space)),
        "file": file,
        "shell": shell,
        "shell_command": shell * match.command,
        "constraint_path": min(constraint, 2.0) * match.path,
        "constraint_command": min(constraint, 2.0) * match.command,
        "constraint_activity": min(constraint, 2.0) * min(match.activity, 1.0),
        "activity_chance": min(match.activity, 1.0) * chance,
        "command_chance": match.command * chance,
        "prohibits": clauses.prohibits,
        "prohibited_path": clauses.prohibited_path,
        "pointed_path": clauses.pointed_path,
        "shared": clauses.shared,
        "shared_prohibited": clauses.shared_prohibited,
        **{f"is_{each.value}": float(kind is each) for each in MemoryType},
    }


@dataclass(frozen=True, slots=True)
class _ClauseMarks:
    """What the clauses of a memory that are about a deed say."""

    prohibits: float
    prohibited_path: float
    """Whether the path stands in a clause that says `no`."""
    pointed_path: float
    """Whether it stands in one that does not, beside one that does: there it is right to go."""
    shared: float
    shared_prohibited: float


def _read_clauses(deed: Deed, memory: Memory) -> _ClauseMarks:
    wanted = set(_stems(deed.tokens))
    scale = 1.0 / (1 + min(len(wanted), 8))
    prohibits = shared = shared_prohibited = prohibited = pointed = 0.0
    text = f"{memory.title or ''}. {memory.content}"[:2_000]
    for clause in _CLAUSE.split(text)[:CLAUSES_MOST]:
        if not clause.strip():
            continue
        tokens = [each.lower() for each in split_tokens(clause)]
        says_no = any(each in PROHIBITING_WORDS or each.endswith(_NOT) for each in tokens)
        match = compare_triggers(read_triggers(clause), deed)
        common = scale * len(wanted.intersection(_stems(tokens)))
        shared = max(shared, common)
        is_there = float(max(match.path, match.glob) >= NEAR_PATH)
        if says_no:
            prohibits = 1.0
            shared_prohibited = max(shared_prohibited, common)
            prohibited = max(prohibited, is_there)
        else:
            pointed = max(pointed, is_there)
    points = pointed if prohibits and not prohibited else 0.0
    return _ClauseMarks(prohibits, prohibited, points, shared, shared_prohibited)


_NOT = ("n't", "n’t")


def _stems(tokens: Iterator[str] | frozenset[str] | list[str]) -> Iterator[str]:
    for token in tokens:
        for part in split_name(token) or (token,):
            word = part.lower()
            if len(word) >= LEAST_CHARS and word not in STOP_WORDS:
                yield word[:STEM_CHARS]
