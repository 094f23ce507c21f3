"""Which space a folder belongs to, as everybody who asks is told: commands, hooks, tools, the page.

In order: a `.madeleine.toml` in the folder or above it, an alias in the settings, the git remote's
name, the folder of the repository, and a folder that is called as a space in which there are
memories: a copy without `.git`, also one that was unpacked as `atlas-main`. A remote's name in
which nothing was ever remembered gives way to a folder's name in which something was, so that
nothing known is unheard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from madeleine.model.cause import Cause, SpaceKind
from madeleine.model.words import GLOBAL
from madeleine.write.projects import FolderSpace, find_projects
from madeleine.write.stores import Stores

KNOWN_FOR = timedelta(seconds=30)
NO_PROJECT = FolderSpace(None, Cause(SpaceKind.NO_PROJECT))
_COPY_ENDING = re.compile(r"[-_ .](?:main|master|develop|trunk|copy|v?\d+(?:\.\d+){0,3})$", re.I)


@dataclass(frozen=True, slots=True)
class SpaceAlias:
    """What else a space is called: the name of a remote or folder, or the path of a folder."""

    name: str
    space: str


def find_space(stores: Stores, folder: str | None, reads_disk: bool = True) -> FolderSpace:
    """Return the space of a folder, which need not exist any more, and why. A folder of another
    machine counts by its name alone: the disk here has nothing to say about it."""
    if not folder or not Path(folder).is_absolute():
        return NO_PROJECT
    found = [*find_projects(folder)] if reads_disk else []
    if found and found[0].because.kind == SpaceKind.MARKER:
        return found[0]
    told = stores.config.space.aliases if stores.read_aliases is None else stores.read_aliases()
    aliased = _find_alias(read_aliases(told), folder, found)
    if aliased is not None:
        return aliased
    if len({each.space for each in found}) == 1:
        return found[0]
    known = read_known_spaces(stores)
    if found:
        return next((each for each in found if each.space in known), found[0])
    return next(_iterate_known(known, folder), NO_PROJECT)


def find_unheard(stores: Stores, folder: str, space: str | None) -> tuple[str, ...]:
    """Return the spaces that the folder might be taken for, that have memories, and are not its
    own: what is remembered in them is not heard there."""
    known = read_known_spaces(stores)
    near = [*find_projects(folder), *_iterate_known(known, folder)]
    names = [each.space for each in near if each.space in known and each.space != space]
    return tuple(dict.fromkeys(str(each) for each in names))


def read_known_spaces(stores: Stores) -> frozenset[str]:
    """Return the spaces that have memories, as of not long ago."""
    kept, now = stores.known_spaces, stores.clock.now()
    memories = stores.search.extent().memories
    fresh = kept.read_at is not None and timedelta(0) <= now - kept.read_at < KNOWN_FOR
    if kept.memories != memories or not fresh:
        kept.names = frozenset(stores.search.counts().by_space) - {GLOBAL}
        kept.memories, kept.read_at = memories, now
    return kept.names


def read_aliases(text: str) -> list[SpaceAlias]:
    """Return the aliases of a setting: `web-old = web, /home/ada/letters = letters`."""
    pairs = (each.partition("=") for each in text.split(","))
    return [
        SpaceAlias(name.strip(), space.strip())
        for name, _, space in pairs
        if name.strip() and space.strip()
    ]


def _find_alias(
    aliases: list[SpaceAlias], folder: str, found: list[FolderSpace]
) -> FolderSpace | None:
    """Return the space that an alias gives: of a path around the folder, the longest first, then of
    a name."""
    around = [str(each) for each in (Path(folder), *Path(folder).parents)]
    names = [*around, *(str(each.space) for each in found)]
    if not found:
        names += [Path(each).name for each in around]
    by_name = {str(Path(each.name).expanduser()): each for each in aliases}
    alias = next((by_name[each] for each in names if each in by_name), None)
    if alias is None:
        return None
    return FolderSpace(alias.space, Cause(SpaceKind.ALIAS, {"alias": alias.name}))


def _iterate_known(known: frozenset[str], folder: str) -> Iterator[FolderSpace]:
    """Give the spaces that the folder, or one above it, is called like; the home folder and what is
    above it are nobody's project."""
    by_name = {each.casefold(): each for each in known}
    for each in (Path(folder), *Path(folder).parents):
        if each == Path.home() or each in Path.home().parents:
            return
        names = (each.name, _COPY_ENDING.sub("", each.name))
        space = next((by_name[n.casefold()] for n in names if n.casefold() in by_name), None)
        if space is not None:
            yield FolderSpace(space, Cause(SpaceKind.KNOWN_NAME, {"folder": str(each)}))
