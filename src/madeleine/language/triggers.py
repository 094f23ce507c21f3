"""What a memory is triggered by: paths, globs, names in code, commands, tools, environments and
kinds of work that it speaks of; and whether a deed is about them.

A note is not written for this: `legacy/ is not touched without asking Tom` names a folder, and
`*.gen.ts are generated` a glob. What is read here is indexed under keys (`trigger_keys`), and a
deed is looked up by its own (`deed_keys`); whether it really is about the memory is then told by
comparing both (`compare_triggers`).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from madeleine.language.deeds import Deed, split_name, split_tokens
from madeleine.language.late_pattern import compile_late
from madeleine.language.trigger_words import (
    ACTIVITY_BY_WORD,
    CONSTRAINT_WORDS,
    ENVIRONMENT_BY_WORD,
    PROGRAMS,
)
from madeleine.model.memory import Memory

TRIGGER_RULES = "2"
"""Says how triggers are read from texts; whoever changes that changes this, and indexes follow."""
READ_CHARS = 4_000  # of a memory
MAX_TRIGGERS = 64
MAX_KEYS = 400  # of a deed
MAX_DEPTH = 12  # folders of a path, the innermost, that are looked up
KEY_CHARS = 200

_KNOWN_FILES = frozenset(
    ["makefile", "dockerfile", "jenkinsfile", "procfile", "rakefile", "gemfile", "vagrantfile"]
)
_FILE = compile_late(r"\.?[\w@+-]+(?:\.[\w-]+)*\.[a-z][a-z0-9]{0,7}\Z", re.IGNORECASE)
_EXTENSION = compile_late(r"\.[a-z][a-z0-9]{1,7}\Z", re.IGNORECASE)
_CODE_NAME = compile_late(
    r"(?:\w+_\w[\w]*|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|--?[A-Za-z][\w-]*|\w+(?:\.\w+){1,}"
    r"|[A-Za-z]{2,}(?:-[A-Za-z0-9]+)+|@[\w./-]+|[a-z]+\d[\w-]*)\Z"
)
_SLASHED_WORDS = frozenset(["and/or", "w/o", "km/h", "ci/cd", "he/she", "she/her", "n/a", "i/o"])


class TriggerKind(StrEnum):
    """What a trigger is about."""

    PATH = "path"
    """A file or folder; all below a folder is meant."""
    GLOB = "glob"
    """Files whose names fit a pattern."""
    NAME = "name"
    """A name in code, a flag, a service."""
    COMMAND = "command"
    """A program, perhaps with its first word."""
    ENVIRONMENT = "environment"
    """Production, staging, development."""
    ACTIVITY = "activity"
    """A kind of work, such as a commit."""


@dataclass(frozen=True, slots=True, order=True)
class Trigger:
    """One thing that a memory is triggered by."""

    kind: TriggerKind
    value: str

    def __str__(self) -> str:
        plain = self.kind in (TriggerKind.PATH, TriggerKind.GLOB)
        return self.value if plain else f"{self.kind.value}: {self.value}"


@dataclass(frozen=True, slots=True)
class TriggerMatch:
    """How a deed and a memory's triggers fit; numbers of triggers, or 0 and 1."""

    path: float = 0.0
    """How exactly a path fits: 1 for the whole of it, less for a folder above it or its name."""
    other_path: float = 0.0
    """Whether the memory is about paths, and the deed about another one."""
    glob: float = 0.0
    names: float = 0.0
    command: float = 0.0
    """1 for the program and its first word, .5 for the program."""
    environment: float = 0.0
    other_environment: float = 0.0
    activity: float = 0.0

    @property
    def is_any(self) -> bool:
        """Whether any trigger fits at all."""
        told = (self.path, self.glob, self.names, self.command, self.environment, self.activity)
        return any(told)


# -- reading a memory ------------------------------------------------------------------------


@lru_cache(maxsize=16_384)
def read_triggers(text: str) -> tuple[Trigger, ...]:
    """Return what a text is triggered by, in order of kind and value."""
    found: set[Trigger] = set()
    tokens = split_tokens(text[:READ_CHARS])
    for place, token in enumerate(tokens):
        its = _read_token(token)
        if not its:
            continue
        found.update(its)
        if token.lower() in PROGRAMS:
            found.update(_read_command(token, tokens[place + 1 : place + 2]))
        if len(found) >= MAX_TRIGGERS:
            break
    return tuple(sorted(found))


@lru_cache(maxsize=32_768)
def _read_token(token: str) -> tuple[Trigger, ...]:
    """Return what a word is a trigger for by itself: most are none, and come again and again."""
    return tuple(_iterate_triggers(token))


def _read_command(program: str, after: Sequence[str]) -> Iterator[Trigger]:
    """Give the command that a program and the word after it may be."""
    for word in after:
        if word.isalpha() and word.islower():
            yield Trigger(TriggerKind.COMMAND, f"{program.lower()} {word}")


def _iterate_triggers(token: str) -> Iterator[Trigger]:
    low = token.lower()
    if "://" in token or ("@" in token[1:] and "." in token):
        return
    if "*" in token and ("/" in token or "." in token):
        yield Trigger(TriggerKind.GLOB, token.removeprefix("./").strip("/"))
    elif "/" in token and low not in _SLASHED_WORDS and _has_word(token):
        yield Trigger(TriggerKind.PATH, token.removeprefix("./").strip("/").lower())
    elif _EXTENSION.match(token):
        yield Trigger(TriggerKind.GLOB, f"*{low}")
    elif low in _KNOWN_FILES or (_FILE.match(token) and len(low.partition(".")[0]) > 1):
        yield Trigger(TriggerKind.PATH, low)
    elif _CODE_NAME.match(token):
        yield Trigger(TriggerKind.NAME, low)
    if low in PROGRAMS:
        yield Trigger(TriggerKind.COMMAND, low)
    for part in {low, *(each.lower() for each in split_name(token))}:
        if part in ENVIRONMENT_BY_WORD:
            yield Trigger(TriggerKind.ENVIRONMENT, ENVIRONMENT_BY_WORD[part])
    if low in ACTIVITY_BY_WORD:
        yield Trigger(TriggerKind.ACTIVITY, ACTIVITY_BY_WORD[low])


def _has_word(path: str) -> bool:
    return any(len(part) >= 2 and any(map(str.isalpha, part)) for part in path.split("/"))


def count_constraint_words(text: str) -> int:
    """Return how many words of a text say how something is to be done."""
    return sum(each.lower() in CONSTRAINT_WORDS for each in split_tokens(text))


# -- comparing -------------------------------------------------------------------------------


def compare_triggers(triggers: Iterable[Trigger], deed: Deed) -> TriggerMatch:
    """Return how a deed and what a memory is triggered by fit."""
    by_kind: dict[TriggerKind, list[str]] = {}
    for each in triggers:
        by_kind.setdefault(each.kind, []).append(each.value)
    paths, globs = by_kind.get(TriggerKind.PATH, []), by_kind.get(TriggerKind.GLOB, [])
    path = max((_path_fit(each, deed) for each in paths), default=0.0)
    glob = max((_glob_fit(each, deed) for each in globs), default=0.0)
    folders = [*(each for each in paths if "/" in each), *globs]
    environments = set(by_kind.get(TriggerKind.ENVIRONMENT, []))
    return TriggerMatch(
        path=path,
        other_path=float(bool(folders and deed.paths and not path and not glob)),
        glob=glob,
        names=float(sum(each in deed.tokens for each in by_kind.get(TriggerKind.NAME, []))),
        command=max(
            (_command_fit(e, deed) for e in by_kind.get(TriggerKind.COMMAND, [])), default=0.0
        ),
        environment=float(bool(environments & deed.environments)),
        other_environment=float(
            bool(environments and deed.environments and not environments & deed.environments)
        ),
        activity=float(len(deed.activities.intersection(by_kind.get(TriggerKind.ACTIVITY, [])))),
    )


def _path_fit(wanted: str, deed: Deed) -> float:
    return max((_fit_one_path(wanted, each.lower()) for each in deed.paths), default=0.0)


def _fit_one_path(wanted: str, path: str) -> float:
    if path == wanted:
        return 1.0
    whole, inside = f"/{path}/", f"/{wanted}/"
    if whole.endswith(inside):
        return 0.9
    if inside in whole:
        return 0.8 if whole.startswith(inside) else 0.7
    if inside.endswith(whole) and "/" in path:
        return 0.5
    return 0.0


def _glob_fit(pattern: str, deed: Deed) -> float:
    return max((_fit_one_glob(pattern, each) for each in deed.paths), default=0.0)


def _fit_one_glob(pattern: str, path: str) -> float:
    low, wanted = path.lower(), pattern.lower()
    name = low.rpartition("/")[2]
    if "/" not in wanted:
        return 0.9 if fnmatch.fnmatchcase(name, wanted) else 0.0
    plain = wanted.replace("**/", "*").replace("**", "*")
    return 1.0 if fnmatch.fnmatchcase(low, plain) or fnmatch.fnmatchcase(low, f"*/{plain}") else 0.0


def _command_fit(wanted: str, deed: Deed) -> float:
    program, _, word = wanted.partition(" ")
    best = 0.0
    for ran, *words in deed.commands:
        if ran == program or program in (each.lower() for each in words[:3]):
            best = max(best, 1.0 if word and word in (each.lower() for each in words) else 0.5)
    return best


# -- what a memory says of itself ------------------------------------------------------------


def memory_triggers(memory: Memory) -> tuple[Trigger, ...]:
    """Return what a memory is triggered by: what its front matter says, else what its text does."""
    if memory.triggers is not None:
        return tuple(sorted({parse_trigger(each) for each in memory.triggers}))
    return read_triggers(f"{memory.title or ''}\n{memory.content}")


def parse_trigger(said: str) -> Trigger:
    """Return the trigger that somebody wrote: `legacy/**`, `*.gen.ts`, `terraform apply`, or with
    its kind before it, `environment: production`."""
    kind, colon, rest = said.partition(":")
    value = rest.strip().lower()
    if colon and value and kind.strip().lower() in _KINDS:
        return _build_trigger(_KINDS[kind.strip().lower()], value)
    plain = said.strip().removeprefix("./").strip("/")
    first = plain.partition(" ")[0].lower()
    if "*" in plain:
        return Trigger(TriggerKind.GLOB, plain.removesuffix("/"))
    if " " in plain or first in PROGRAMS:
        return Trigger(TriggerKind.COMMAND, plain.lower())
    if "/" in said or _FILE.match(plain) or first in _KNOWN_FILES:
        return Trigger(TriggerKind.PATH, plain.lower())
    return Trigger(TriggerKind.NAME, plain.lower())


def _build_trigger(kind: TriggerKind, value: str) -> Trigger:
    if kind is TriggerKind.ENVIRONMENT:
        return Trigger(kind, ENVIRONMENT_BY_WORD.get(value, value))
    if kind is TriggerKind.ACTIVITY:
        return Trigger(kind, ACTIVITY_BY_WORD.get(value, value))
    return Trigger(kind, value.strip("/"))


_KINDS = {each.value: each for each in TriggerKind} | {
    "tool": TriggerKind.COMMAND,
    "word": TriggerKind.NAME,
    "identifier": TriggerKind.NAME,
    "folder": TriggerKind.PATH,
    "file": TriggerKind.PATH,
}


# -- keys of the index -----------------------------------------------------------------------


def trigger_keys(memory: Memory) -> list[str]:
    """Return under which keys a memory is looked up before a deed."""
    keys = (_trigger_key(each) for each in memory_triggers(memory))
    return sorted({each[:KEY_CHARS] for each in keys if each})


def _trigger_key(trigger: Trigger) -> str:
    """Return one key. A glob stands under the folder that it names, else under its ending."""
    if trigger.kind is not TriggerKind.GLOB:
        return f"{trigger.kind.value}:{trigger.value.lower()}"
    parts = [each for each in trigger.value.lower().split("/") if each]
    plain = [each for each in parts if "*" not in each]
    if plain:
        return f"path:{plain[-1]}"
    ending = parts[-1].rpartition("*")[2] if parts else ""
    return f"ending:{ending}" if ending else ""


def deed_keys(deed: Deed) -> list[str]:
    """Return the keys under which memories about a deed stand: each part of its paths, the
    endings of its files, its commands and the names in it."""
    found: dict[str, None] = {}
    for path in deed.paths:
        found.update(dict.fromkeys(_path_keys(path.lower())))
    for program, *words in deed.commands:
        plain = [each.lower() for each in words[:4] if not each.startswith("-")]
        for ran in (program, *plain):
            if ran in PROGRAMS:
                found[f"command:{ran}"] = None
                found.update(dict.fromkeys(f"command:{ran} {each}" for each in plain))
    found.update(dict.fromkeys(f"name:{each}" for each in sorted(deed.tokens)))
    return [each[:KEY_CHARS] for each in found][:MAX_KEYS]


def _path_keys(path: str) -> Iterator[str]:
    parts = [each for each in path.split("/") if each][-MAX_DEPTH:]
    for start in range(len(parts)):
        for end in range(start + 1, len(parts) + 1):
            yield f"path:{'/'.join(parts[start:end])}"
    name = parts[-1] if parts else ""
    dots = [place for place, each in enumerate(name) if each == "."]
    yield from (f"ending:{name[place:]}" for place in dots)
