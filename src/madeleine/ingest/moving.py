"""Moving a whole memory: from files into a database, and back, byte for byte.

Both sides list what they hold with the SHA-256 of each. What the other lacks is copied, some of
it at a time; then both are listed again and must say the same. So a move that was killed goes on
where it was, and one that ends has been checked against what is really kept. Nothing of the side
that is left is touched.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from madeleine.errors import BadSetting, Conflict, Damaged, Rejected
from madeleine.model.config_text import change_settings, is_set, parse_table
from madeleine.vault.files import (
    create_files,
    is_leftover,
    is_utf8_name,
    make_folder,
    remove_file,
    write_file,
)
from madeleine.vault.vault import is_memory_path

VAULT, JOURNAL = "vault/", "journal/"
FILES_AT_ONCE = 256
BYTES_AT_ONCE = 16 << 20

Progress = Callable[[int, int], None]


class MoveEndpoint(Protocol):
    """One end of a move: things with names below `vault/` and `journal/`."""

    @property
    def place(self) -> str: ...

    def listed(self) -> dict[str, str]:
        """Return the SHA-256 of everything by its name."""
        ...

    def read(self, names: Sequence[str]) -> Iterable[tuple[str, bytes]]: ...

    def write(self, given: Mapping[str, bytes]) -> None: ...

    def remove(self, names: Sequence[str]) -> None: ...


class MoveUnlike(Damaged):
    """Both ends of a move do not hold the same, though everything was copied."""

    kind = "move_unlike"

    def __init__(self, one: str, other: str, names: Sequence[str]) -> None:
        some = ", ".join(names[:3])
        super().__init__(
            f"{other} differs from {one} in {len(names):,} of what was copied: {some}",
            hint="see that nobody else writes there, then run the same command again",
            one=one,
            other=other,
            names=names,
        )


class NothingToMove(Rejected):
    """The memory is where it is to be moved."""

    kind = "nothing_to_move"

    def __init__(self, where: str) -> None:
        super().__init__(
            f"this memory is in {where} already", hint="`madeleine status` says where", where=where
        )


class PlaceFixed(Rejected):
    """The environment says where the memory is, so that no settings file could say otherwise."""

    kind = "place_fixed"

    def __init__(self, variables: Sequence[str]) -> None:
        super().__init__(
            f"the environment would still say where this memory is: {', '.join(variables)}",
            hint="unset that here and for every server; `[store]` of config.toml takes the same",
            variables=variables,
        )


class MoveTargetTaken(Conflict):
    """There is a memory already where one is to be moved."""

    kind = "move_target_taken"

    def __init__(self, place: str, count: int) -> None:
        super().__init__(
            f"{place} holds a memory already: {count:,} files",
            hint="name another tenant by --tenant; the guide for a team server says how to remove "
            "what a move back into files has left there",
            place=place,
            count=count,
        )


@dataclass(frozen=True, slots=True)
class MoveResult:
    """What a move came to, as both ends say."""

    memories: int
    files: int
    journal_files: int
    copied: int
    """Files that were not there from an attempt before."""
    checksum: str
    """SHA-256 over the list of names with their checksums, the same at both ends."""
    left_out: tuple[str, ...] = ()
    """What is no file of its own: symbolic links, names that are not UTF-8."""


def move_memory(
    source: MoveEndpoint, target: MoveEndpoint, progress: Progress = lambda done, total: None
) -> MoveResult:
    """Copy what the target lacks, take away what the source lacks, and compare the two."""
    wanted, there = source.listed(), target.listed()
    foreign = [name for name in there if name not in wanted]
    if foreign:
        target.remove(foreign)
    missing = [name for name, digest in wanted.items() if there.get(name) != digest]
    done = len(wanted) - len(missing)
    for some in _read_portions(source, missing):
        target.write(some)
        done += len(some)
        progress(done, len(wanted))
    _check_same(source, target, wanted)
    return build_move_result(wanted, len(missing))


def build_move_result(listed: Mapping[str, str], copied: int) -> MoveResult:
    """Return how much a list holds."""
    vault = [name.removeprefix(VAULT) for name in listed if name.startswith(VAULT)]
    return MoveResult(
        memories=sum(map(is_memory_path, vault)),
        files=len(vault),
        journal_files=len(listed) - len(vault),
        copied=copied,
        checksum=checksum(listed),
    )


def checksum(listed: Mapping[str, str]) -> str:
    """Return one checksum for a list, as `sha256sum` over its output would."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(listed.items()))
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def _read_portions(source: MoveEndpoint, names: Sequence[str]) -> Iterator[dict[str, bytes]]:
    """Yield what is to be copied, as much at a time as one transaction takes well."""
    some: dict[str, bytes] = {}
    for start in range(0, len(names), FILES_AT_ONCE):
        for name, data in source.read(names[start : start + FILES_AT_ONCE]):
            some[name] = data
            if len(some) >= FILES_AT_ONCE or sum(map(len, some.values())) >= BYTES_AT_ONCE:
                yield some
                some = {}
    if some:
        yield some


def _check_same(source: MoveEndpoint, target: MoveEndpoint, wanted: Mapping[str, str]) -> None:
    found = target.listed()
    differing = sorted(name for name in {*wanted, *found} if wanted.get(name) != found.get(name))
    if differing:
        raise MoveUnlike(source.place, target.place, differing)


# -- files ---------------------------------------------------------------------------------


@dataclass(slots=True)
class FileEndpoint:
    """A vault and a journal in two folders. Nobody else may write there."""

    vault: Path
    journal: Path
    left_out: list[str] = field(default_factory=list)

    @property
    def place(self) -> str:
        return str(self.vault)

    def listed(self) -> dict[str, str]:
        self.left_out = []
        found = {}
        for name in [
            *self._walk_names(VAULT, self.vault),
            *self._walk_names(JOURNAL, self.journal),
        ]:
            data = self._path_of(name).read_bytes()
            if data or name.startswith(VAULT):  # a journal file without a line says nothing
                found[name] = hashlib.sha256(data).hexdigest()
        return found

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for name in names:
            yield name, self._path_of(name).read_bytes()

    def write(self, given: Mapping[str, bytes]) -> None:
        """Write files; each is on the disk whole when this returns."""
        places = {self._path_of(name): data for name, data in given.items()}
        for folder in {path.parent for path in places}:
            make_folder(folder)
        fresh = [(path, data) for path, data in places.items() if not path.exists()]
        for refused in create_files(fresh) if fresh else ():
            if isinstance(refused, OSError):
                raise refused
        known = {path for path, _ in fresh}
        for path, data in places.items():
            if path not in known:
                write_file(path, data)

    def remove(self, names: Sequence[str]) -> None:
        for name in names:
            remove_file(self._path_of(name))

    def _path_of(self, name: str) -> Path:
        root, prefix = (self.vault, VAULT) if name.startswith(VAULT) else (self.journal, JOURNAL)
        return root / name.removeprefix(prefix)

    def _walk_names(self, prefix: str, root: Path) -> Iterator[str]:
        """Yield the names of all files below a folder; what is none is noted."""
        for folder, folders, names in os.walk(root):
            links = [each for each in folders if (Path(folder) / each).is_symlink()]
            for each in sorted([*names, *links]):
                path = Path(folder) / each
                name = prefix + path.relative_to(root).as_posix()
                if path.is_symlink() or not path.is_file() or not is_utf8_name(name):
                    self.left_out.append(name)
                elif not is_leftover(each):
                    yield name


# -- settings ------------------------------------------------------------------------------

PLACE = ("store.url", "store.tenant", "store.truth")
ENGINES = ("store.graph", "store.vectors")


def config_for_files(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of a config.toml for a memory whose files and index are in the home; and
    which settings were left out for that. One that names no other place stays as it is, and so does
    one that is no TOML: whoever opens the home is told."""
    path = Path("config.toml")
    try:
        table = parse_table(text, path)
        left_out = [name for name in (*PLACE, *ENGINES, "vault.path") if is_set(table, name)]
        return change_settings(text, path, dict.fromkeys(left_out)), tuple(left_out)
    except BadSetting:
        return text, ()
