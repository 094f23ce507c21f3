"""Hooks in Codex's config.toml, for people who keep theirs there.

Codex merges hooks.json and the hooks of config.toml but warns when both are there. So where
config.toml has hooks and there is no hooks.json, ours go to the end of config.toml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from madeleine.agents import toml_text
from madeleine.agents.ownership import find_hooks, is_others_hook, is_our_hook
from madeleine.agents.seen_entry import PlacedEntry, SeenEntry
from madeleine.model.config_text import to_toml

TomlHookEntry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TomlHooksPiece:
    """Hooks in a TOML file, an entry for each event; without any, ours are taken out."""

    entries: Mapping[str, TomlHookEntry]
    home: str
    matchers: Mapping[str, str] = field(default_factory=dict)
    """By event, the tools at which Codex runs the entry."""

    @property
    def name(self) -> str:
        return f"hooks on {', '.join(self.entries)}" if self.entries else ""

    def put(self, text: str) -> str:
        for event in read_hook_groups(text):
            text = text if event in self.entries else _drop_own_hooks(text, event, self.home)
        for event, entry in self.entries.items():
            text = _put_one(text, event, entry, self.home, self.matchers.get(event))
        return text

    def drop(self, text: str, before: str | None) -> str:
        for event in read_hook_groups(text):
            text = _drop_own_hooks(text, event, self.home)
        return text

    def known(self, wrote: bool) -> TomlHooksPiece:
        return self  # an entry says itself whose it is

    def look(self, text: str) -> Iterator[SeenEntry]:
        return find_hooks(self.placed_entries(text), self.home)

    def placed_entries(self, text: str) -> Iterator[PlacedEntry]:
        """Give every hook in the text, whoever wrote it, and where it stands."""
        for event, groups in read_hook_groups(text).items():
            yield from _place_entries(event, groups)


def read_hook_groups(text: str) -> dict[str, list[Any]]:
    """Return the groups of hooks by event; what Codex notes about trust is no hook."""
    hooks = toml_text.find_table(toml_text.read_toml(text), ("hooks",)) or {}
    return {event: groups for event, groups in hooks.items() if isinstance(groups, list)}


def _group_entries(group: Any) -> list[Any]:
    found = group.get("hooks") if isinstance(group, Mapping) else None
    return found if isinstance(found, list) else []


def _place_entries(event: str, groups: list[Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Give every entry of an event, and where it stands."""
    for number, group in enumerate(groups):
        for place, entry in enumerate(_group_entries(group)):
            yield ("hooks", event, number, "hooks", place), entry


def _put_one(text: str, event: str, entry: TomlHookEntry, home: str, matcher: str | None) -> str:
    there = [
        each for group in read_hook_groups(text).get(event, ()) for each in _group_entries(group)
    ]
    if [each for each in there if is_our_hook(each, home)] == [entry]:
        return text
    if any(is_others_hook(each, home) for each in there):
        return text
    text = _drop_own_hooks(text, event, home)
    matched = {} if matcher is None else {"matcher": matcher}
    said = [f"{name} = {to_toml(value)}" for name, value in matched.items()]
    lines = [f"[[hooks.{event}]]", *said, "", f"[[hooks.{event}.hooks]]"]
    after = toml_text.append_lines(
        text, [*lines, *(f"{name} = {to_toml(value)}" for name, value in entry.items())]
    )
    wanted = [*read_hook_groups(text).get(event, ()), {**matched, "hooks": [dict(entry)]}]
    return _check_change(text, after, event, wanted)


def _drop_own_hooks(text: str, event: str, home: str) -> str:
    """Take our entries out, last first so that the places of the others hold."""
    groups = read_hook_groups(text).get(event, [])
    ours = [[is_our_hook(each, home) for each in _group_entries(group)] for group in groups]
    if not any(map(any, ours)):
        return text
    after = text
    for start, stop in reversed(_find_own_ranges(text, event, ours)):
        after = toml_text.cut_range(after, start, stop)
    left = [
        {
            **group,
            "hooks": [e for e, own in zip(_group_entries(group), marks, strict=True) if not own],
        }
        for group, marks in zip(groups, ours, strict=True)
        if not marks or not all(marks)
    ]
    return _check_change(text, after, event, left)


def _find_own_ranges(text: str, event: str, ours: list[list[bool]]) -> list[tuple[int, int]]:
    """Return where our groups stand, and our entries in groups of others."""
    whole = toml_text.find_table_ranges(text, ("hooks", event))
    single = toml_text.find_table_ranges(text, ("hooks", event, "hooks"))
    if len(whole) != len(ours) or len(single) != sum(map(len, ours)):
        raise toml_text.InvalidToml(f"`hooks.{event}` is written inline; change it by hand", 1)
    found = []
    for number, marks in enumerate(ours):
        inside, single = single[: len(marks)], single[len(marks) :]
        if marks and all(marks):
            found.append(whole[number])
        else:
            found += [place for place, own in zip(inside, marks, strict=True) if own]
    return found


def _check_change(before: str, after: str, event: str, wanted: list[Any]) -> str:
    """Return the changed text if the groups of this event are all that changed, and as meant."""
    was, found = toml_text.read_toml(before), toml_text.read_toml(after)
    rest = [{**values, "hooks": _other_events(values, event)} for values in (was, found)]
    if rest[0] != rest[1] or read_hook_groups(after).get(event, []) != wanted:
        raise toml_text.InvalidToml(f"`hooks.{event}` cannot be changed safely", 1)
    return after


def _other_events(values: Mapping[str, Any], event: str) -> dict[str, Any]:
    return {name: each for name, each in (values.get("hooks") or {}).items() if name != event}
