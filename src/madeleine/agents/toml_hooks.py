"""Hooks in Codex's config.toml, for people who keep theirs there.

Codex merges hooks.json and the hooks of config.toml but warns when both are there. So where
config.toml has hooks and there is no hooks.json, ours go to the end of config.toml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from madeleine.agents import toml_text
from madeleine.agents.marks import is_others_hook, is_our_hook, seen_hooks
from madeleine.agents.seen import Placed, Seen
from madeleine.model.config_text import to_toml

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TomlHooks:
    """Hooks in a TOML file, an entry for each event; without any, ours are taken out."""

    entries: Mapping[str, Entry]
    home: str

    @property
    def name(self) -> str:
        return f"hooks on {', '.join(self.entries)}" if self.entries else ""

    def put(self, text: str) -> str:
        for event in groups_of(text):
            text = text if event in self.entries else _without(text, event, self.home)
        for event, entry in self.entries.items():
            text = _put_one(text, event, entry, self.home)
        return text

    def drop(self, text: str, before: str | None) -> str:
        for event in groups_of(text):
            text = _without(text, event, self.home)
        return text

    def known(self, wrote: bool) -> TomlHooks:
        return self  # an entry says itself whose it is

    def look(self, text: str) -> Iterator[Seen]:
        return seen_hooks(self.placed(text), self.home)

    def placed(self, text: str) -> Iterator[Placed]:
        """Give every hook in the text, whoever wrote it, and where it stands."""
        for event, groups in groups_of(text).items():
            yield from _placed(event, groups)


def groups_of(text: str) -> dict[str, list[Any]]:
    """Return the groups of hooks by event; what Codex notes about trust is none."""
    hooks = toml_text.table_at(toml_text.read(text), ("hooks",)) or {}
    return {event: groups for event, groups in hooks.items() if isinstance(groups, list)}


def _entries(group: Any) -> list[Any]:
    found = group.get("hooks") if isinstance(group, Mapping) else None
    return found if isinstance(found, list) else []


def _placed(event: str, groups: list[Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Give every entry of an event, and where it stands."""
    for number, group in enumerate(groups):
        for place, entry in enumerate(_entries(group)):
            yield ("hooks", event, number, "hooks", place), entry


def _put_one(text: str, event: str, entry: Entry, home: str) -> str:
    there = [each for group in groups_of(text).get(event, ()) for each in _entries(group)]
    if [each for each in there if is_our_hook(each, home)] == [entry]:
        return text
    if any(is_others_hook(each, home) for each in there):
        return text
    text = _without(text, event, home)
    lines = [f"[[hooks.{event}]]", "", f"[[hooks.{event}.hooks]]"]
    after = toml_text.added(
        text, [*lines, *(f"{name} = {to_toml(value)}" for name, value in entry.items())]
    )
    wanted = [*groups_of(text).get(event, ()), {"hooks": [dict(entry)]}]
    return _checked(text, after, event, wanted)


def _without(text: str, event: str, home: str) -> str:
    """Take our entries out, last first so that the places of the others hold."""
    groups = groups_of(text).get(event, [])
    ours = [[is_our_hook(each, home) for each in _entries(group)] for group in groups]
    if not any(map(any, ours)):
        return text
    after = text
    for start, stop in reversed(_places(text, event, ours)):
        after = toml_text.cut(after, start, stop)
    left = [
        {**group, "hooks": [e for e, own in zip(_entries(group), marks, strict=True) if not own]}
        for group, marks in zip(groups, ours, strict=True)
        if not marks or not all(marks)
    ]
    return _checked(text, after, event, left)


def _places(text: str, event: str, ours: list[list[bool]]) -> list[tuple[int, int]]:
    """Return where our groups stand, and our entries in groups of others."""
    whole = toml_text.places(text, ("hooks", event))
    single = toml_text.places(text, ("hooks", event, "hooks"))
    if len(whole) != len(ours) or len(single) != sum(map(len, ours)):
        raise toml_text.NotToml(f"`hooks.{event}` is written inline; change it by hand", 1)
    found = []
    for number, marks in enumerate(ours):
        inside, single = single[: len(marks)], single[len(marks) :]
        if marks and all(marks):
            found.append(whole[number])
        else:
            found += [place for place, own in zip(inside, marks, strict=True) if own]
    return found


def _checked(before: str, after: str, event: str, wanted: list[Any]) -> str:
    """Return the changed text if the groups of this event are all that changed, and as meant."""
    was, found = toml_text.read(before), toml_text.read(after)
    rest = [{**values, "hooks": _others(values, event)} for values in (was, found)]
    if rest[0] != rest[1] or groups_of(after).get(event, []) != wanted:
        raise toml_text.NotToml(f"`hooks.{event}` cannot be changed safely", 1)
    return after


def _others(values: Mapping[str, Any], event: str) -> dict[str, Any]:
    return {name: each for name, each in (values.get("hooks") or {}).items() if name != event}
