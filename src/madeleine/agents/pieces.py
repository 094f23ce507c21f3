"""The pieces: one thing of ours in one file of a host.

Each can be put into the file's text, taken out again, and looked at. Putting it in twice changes
nothing, and an older one of ours is replaced where it stands: hosts that ask people to trust a
hook ask again when hooks change their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from madeleine.agents import blocks, jsonc, toml_text
from madeleine.agents.ownership import (
    SERVER_NAME,
    SWITCH_KEYS,
    command_words,
    entry_home,
    find_hooks,
    is_a_server,
    is_others_hook,
    is_our_hook,
    is_our_server,
    is_same_path,
    is_switched_off,
    required_path_and_home,
)
from madeleine.agents.seen_entry import PlacedEntry, SeenEntry

HookEntry = Mapping[str, Any]


class WiringPiece(Protocol):
    """One thing of ours in one file."""

    @property
    def name(self) -> str:
        """What it is, in words for the plan."""
        ...

    def put(self, text: str) -> str:
        """Return the text with this piece in it."""
        ...

    def drop(self, text: str, before: str | None) -> str:
        """Return the text without it; `before` is the file as it was without us, if known."""
        ...

    def look(self, text: str) -> Iterator[SeenEntry]:
        """Give what there is of Madeleine in the text."""
        ...

    def known(self, wrote: bool) -> WiringPiece:
        """Return this piece where a receipt says whether setup wrote it."""
        ...


# -- hooks in JSON -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JsonHooksPiece:
    """Hooks in a JSON file, an entry for each event.

    Claude Code, Codex and Gemini CLI have groups of entries (`grouped`), Cursor has them flat and
    wants to know the version of the format.
    """

    entries: Mapping[str, HookEntry]
    home: str
    grouped: bool = True
    version: int | None = None
    matchers: Mapping[str, str] = field(default_factory=dict)
    """By event, the tools at which a host runs the entry."""

    @property
    def name(self) -> str:
        return f"hooks on {', '.join(self.entries)}"

    def put(self, text: str) -> str:
        text = self._remove_own(
            text, [event for event in _read_events(text) if event not in self.entries]
        )
        for event, entry in self.entries.items():
            text = self._put_one(text, event, entry)
        if self.version is not None and jsonc.read_json(text).at(["version"]) is None:
            text = jsonc.put_value(text, ["version"], self.version)
        return text

    def drop(self, text: str, before: str | None) -> str:
        events = [event for event in _read_events(text) if self._own_handlers(text, event)]
        if not events:
            return text
        text = self._remove_own(text, events)
        paths = [*([["hooks", event] for event in events]), ["hooks"]]
        return _drop_empty_containers(text, paths, before)

    def look(self, text: str) -> Iterator[SeenEntry]:
        return find_hooks(self.placed_entries(text), self.home)

    def placed_entries(self, text: str) -> Iterator[PlacedEntry]:
        """Give every hook in the text, whoever wrote it, and where it stands."""
        for event in _read_events(text):
            yield from ((tuple(path), entry) for path, entry in _read_handlers(text, event))

    def known(self, wrote: bool) -> JsonHooksPiece:
        return self  # an entry says itself whose it is

    def _own_handlers(self, text: str, event: str) -> list[tuple[list[str | int], Any]]:
        found = _read_handlers(text, event)
        return [each for each in found if is_our_hook(each[1], self.home)]

    def _put_one(self, text: str, event: str, entry: HookEntry) -> str:
        ours = self._own_handlers(text, event)
        if ours:
            text = _drop_paths(text, [path for path, _ in ours[1:]])
            path, old = ours[0]
            return text if old == entry else jsonc.replace_value(text, path, dict(entry))
        if any(is_others_hook(each, self.home) for _, each in _read_handlers(text, event)):
            return text  # it would fire twice
        group = build_hook_group(entry, self.matchers.get(event)) if self.grouped else dict(entry)
        return jsonc.append_value(text, ["hooks", event], group)

    def _remove_own(self, text: str, events: Sequence[str]) -> str:
        for event in events:
            text = _drop_paths(text, [path for path, _ in self._own_handlers(text, event)])
        return text


def build_hook_group(entry: HookEntry, matcher: str | None = None) -> dict[str, object]:
    """Return a group of one entry, at these tools alone if a matcher says so."""
    matched = {} if matcher is None else {"matcher": matcher}
    return {**matched, "hooks": [dict(entry)]}


def _read_events(text: str) -> list[str]:
    hooks = jsonc.read_json(text).at(["hooks"])
    return [str(item.key) for item in hooks.items] if hooks and hooks.opening == "{" else []


def _read_handlers(text: str, event: str) -> list[tuple[list[str | int], Any]]:
    """Return every entry of an event that runs something, and where it stands."""
    node = jsonc.read_json(text).at(["hooks", event])
    found: list[tuple[list[str | int], Any]] = []
    for number, item in enumerate(node.items if node and node.opening == "[" else ()):
        inner = item.node.at(["hooks"])
        path: list[str | int] = ["hooks", event, number]
        if inner is None:
            found.append((path, item.node.value))
        else:
            found += [
                ([*path, "hooks", place], each.node.value) for place, each in enumerate(inner.items)
            ]
    return found


def _drop_paths(text: str, paths: Sequence[list[str | int]]) -> str:
    """Take entries out, last first so that the numbers of the others hold, with empty groups."""
    for path in reversed(paths):
        text = jsonc.drop_value(text, path)
        group = path[:3]
        inner = jsonc.read_json(text).at([*group, "hooks"])
        if len(path) > len(group) and inner is not None and not inner.items:
            text = jsonc.drop_value(text, group)
    return text


def _drop_empty_containers(text: str, paths: Sequence[Sequence[str]], before: str | None) -> str:
    """Take out what is empty now and was not there before us."""
    known = None if before is None else jsonc.read_json(before)
    for path in paths:
        node = jsonc.read_json(text).at(path)
        was_there = known is not None and known.at(path) is not None
        if node is not None and node.opening and not node.items and not was_there:
            text = jsonc.drop_value(text, path)
    return text


# -- an MCP server -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JsonServerPiece:
    """Our MCP server among those of a host, in JSON."""

    key: str
    entry: HookEntry
    home: str
    wrote: bool = False

    @property
    def name(self) -> str:
        return "MCP server"

    def known(self, wrote: bool) -> JsonServerPiece:
        return replace(self, wrote=wrote)

    def put(self, text: str) -> str:
        found = jsonc.read_json(text).at([self.key, SERVER_NAME])
        if found is not None and self._is_ours(found.value):
            return self._replace_entry(text, found.value)
        there = [item.node.value for item in self._servers(text)]
        if found is not None or any(is_a_server(command_words(each)) for each in there):
            return text  # a person's own or another home's, by whatever name: two would answer
        return jsonc.put_value(text, [self.key, SERVER_NAME], dict(self.entry))

    def _is_ours(self, entry: Any) -> bool:
        return is_our_server(entry, self.entry, self.home, self.wrote)

    def _servers(self, text: str) -> Sequence[jsonc.JsonItem]:
        servers = jsonc.read_json(text).at([self.key])
        return servers.items if servers and servers.opening == "{" else ()

    def _replace_entry(self, text: str, old: Any) -> str:
        """Change what we say about it; what a person or the host added stays, and so does a
        switch that a person set."""
        for name, value in self.entry.items():
            if old.get(name, _NO_ENTRY) != value and not (name in SWITCH_KEYS and name in old):
                text = jsonc.put_value(text, [self.key, SERVER_NAME, name], value)
        return text

    def drop(self, text: str, before: str | None) -> str:
        found = jsonc.read_json(text).at([self.key, SERVER_NAME])
        if found is None or not self._is_ours(found.value):
            return text
        return _drop_empty_containers(
            jsonc.drop_value(text, [self.key, SERVER_NAME]), [[self.key]], before
        )

    def look(self, text: str) -> Iterator[SeenEntry]:
        for item in self._servers(text):
            entry = item.node.value
            if item.key == SERVER_NAME or is_a_server(command_words(entry)):
                yield _build_seen_server(
                    item.key, entry, item.key == SERVER_NAME and self._is_ours(entry)
                )


_NO_ENTRY = object()


def _build_seen_server(name: str | None, entry: Any, ours: bool) -> SeenEntry:
    words = tuple(command_words(entry))
    return SeenEntry(
        f"MCP server `{name}`", words, ours, home=entry_home(entry), off=is_switched_off(entry)
    )


@dataclass(frozen=True, slots=True)
class TomlServerPiece:
    """Our MCP server in Codex's config.toml."""

    key: str
    entry: toml_text.TomlValues
    home: str
    wrote: bool = False

    @property
    def name(self) -> str:
        return "MCP server"

    def known(self, wrote: bool) -> TomlServerPiece:
        return replace(self, wrote=wrote)

    @property
    def _path(self) -> tuple[str, ...]:
        return (self.key, SERVER_NAME)

    def put(self, text: str) -> str:
        servers = self._servers(text)
        if self._is_ours(servers.get(SERVER_NAME)):
            return toml_text.set_keys(text, self._path, self.entry)
        if SERVER_NAME in servers or any(
            is_a_server(command_words(each)) for each in servers.values()
        ):
            return text
        return toml_text.add_table(text, self._path, self.entry)

    def _is_ours(self, entry: Any) -> bool:
        return is_our_server(entry, self.entry, self.home, self.wrote)

    def _servers(self, text: str) -> HookEntry:
        return toml_text.find_table(toml_text.read_toml(text), (self.key,)) or {}

    def drop(self, text: str, before: str | None) -> str:
        ours = self._is_ours(self._servers(text).get(SERVER_NAME))
        return toml_text.drop_table(text, self._path) if ours else text

    def look(self, text: str) -> Iterator[SeenEntry]:
        for name, entry in self._servers(text).items():
            if name == SERVER_NAME or is_a_server(command_words(entry)):
                yield _build_seen_server(name, entry, name == SERVER_NAME and self._is_ours(entry))


# -- text ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InstructionsPiece:
    """Instructions for the agent, between two comments."""

    words: str

    @property
    def name(self) -> str:
        return "instructions"

    def put(self, text: str) -> str:
        return blocks.put_block(text, self.words)

    def drop(self, text: str, before: str | None) -> str:
        return blocks.drop_block(text)

    def look(self, text: str) -> Iterator[SeenEntry]:
        if blocks.has_block(text):
            yield SeenEntry("instructions", (), ours=True)

    def known(self, wrote: bool) -> InstructionsPiece:
        return self


@dataclass(frozen=True, slots=True)
class WholeFilePiece:
    """A file that is ours from its first byte to its last."""

    what: str
    content: str
    words: tuple[str, ...] = ()
    wrote: bool = False

    @property
    def name(self) -> str:
        return self.what

    def put(self, text: str) -> str:
        return text if self._find_other_home(text) else self.content

    def drop(self, text: str, before: str | None) -> str:
        return before or ""

    def look(self, text: str) -> Iterator[SeenEntry]:
        theirs = self._find_other_home(text)
        if theirs is not None:
            yield SeenEntry(self.what, theirs, ours=False, home=theirs[1])
        elif not self.is_a_persons(text):
            yield SeenEntry(self.what, self.words if text == self.content else (), ours=True)

    def known(self, wrote: bool) -> WholeFilePiece:
        return replace(self, wrote=wrote)

    def is_a_persons(self, text: str) -> bool:
        """Whether a person wrote a file that happens to have the name of ours: it says something,
        and has nothing to do with any home."""
        if self.wrote or not text.strip():
            return False
        return (
            required_path_and_home(self.content) is not None
            and required_path_and_home(text) is None
        )

    def _find_other_home(self, text: str) -> tuple[str, str] | None:
        """Return what the file of another home needs, if that is there, and that home."""
        theirs, ours = required_path_and_home(text), required_path_and_home(self.content)
        if theirs is None or ours is None or is_same_path(theirs[1], ours[1]):
            return None
        return theirs if Path(theirs[0]).exists() else None
