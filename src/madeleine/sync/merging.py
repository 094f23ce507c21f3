"""What holds of a memory that several machines changed: one version out of all that nobody has gone
on from (the *heads*).

Every machine comes to the same version from the same heads, whatever it did before: only versions
decide here, no clock and no name of a machine. The versions that were merged stay in the ledger as
its parents, so nothing that somebody wrote is lost:

- one head: it holds;
- changes of different fields, or of different lines of the text: both hold;
- changes of the same: the later one holds (by moment, then by id), and the other one is asked
  about, whole;
- forgotten or purged here, changed there: the change holds, and it is asked whether to forget it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from madeleine.errors import FileUnreadable
from madeleine.model.fields import FIELDS, FieldKind
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.model.memory import Connection, Memory, SharedFields
from madeleine.rules.three_way import merge_items, merge_texts, merge_values
from madeleine.sync.versions import PURGED_PATH, Version, VersionState, make_version
from madeleine.vault.front_matter import FrontMatterBlock, MarkdownDocument, parse_document
from madeleine.vault.markdown import read_memory, revise_file
from madeleine.vault.rendering import FRONT_MATTER_KEYS

# Of these the later one holds, and nobody is asked: they tell how a memory is kept.
_UNASKED_FIELDS = frozenset(
    {"tier", "confidence", "source", "origin", "idempotency_key", "valid_until"}
)
_UNSET: Mapping[str, Any] = {
    **{each.name: each.default for each in fields(SharedFields)},
    "content": "",
    "superseded_by": None,
    "created": None,
    "updated": None,
}


@dataclass(frozen=True, slots=True)
class Clash:
    """Two versions that changed the same; `other` is the one that does not hold."""

    held: Version
    other: Version
    names: tuple[str, ...]
    """The fields in which both were changed."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What holds. `made` is set if it is a merge that was made just now."""

    version: Version
    made: bool = False
    clashes: tuple[Clash, ...] = ()
    forgotten: Version | None = None
    """The version by which it was forgotten or purged elsewhere, while it was changed."""


def find_heads(versions: Mapping[str, Version]) -> list[Version]:
    """Return the versions that no other was made from, the earliest first."""
    parents = {each for version in versions.values() for each in version.parents}
    heads = [version for name, version in versions.items() if name not in parents]
    return sorted(heads, key=lambda each: each.order)


def resolve_versions(versions: Mapping[str, Version]) -> Resolution | None:
    """Return what holds of one memory; nothing if its versions or their texts are not here yet."""
    heads = find_heads(versions)
    if not heads:
        return None
    if len(heads) == 1:
        return Resolution(heads[0])
    live = [each for each in heads if each.state is VersionState.LIVE]
    ended = [each for each in heads if each.state is not VersionState.LIVE]
    if any(each.content is None for each in live):
        return None
    trashed = [each for each in ended if each.content is not None]
    if live:
        # What was changed before it was forgotten stays as well; where both changed the same, what
        # was not forgotten holds.
        return _resolve_texts(versions, heads, [*trashed, *live], VersionState.LIVE, ended)
    if len(trashed) < len(ended):
        purged = make_version(
            heads[0].memory, heads, VersionState.PURGED, PURGED_PATH, None, heads[-1].at
        )
        return Resolution(purged, made=True)
    return _resolve_texts(versions, heads, trashed, VersionState.TRASH, ())


def _resolve_texts(
    versions: Mapping[str, Version],
    heads: Sequence[Version],
    texts: Sequence[Version],
    state: VersionState,
    ended: Sequence[Version],
) -> Resolution:
    """Merge versions that have a text, one after the other, from the earliest to the latest."""
    merged = texts[0]
    known: set[str] = ancestors(versions, [merged])
    clashes: list[Clash] = []
    for later in texts[1:]:
        base = _find_base(versions, known, later)
        merged, lost = _merge_pair(base, later, merged)
        if lost is not None:
            clashes.append(lost)
        known |= ancestors(versions, [later])
    made = make_version(merged.memory, heads, state, merged.path, merged.content, heads[-1].at)
    forgotten = ended[-1] if ended else None
    asked = tuple(clashes) if state is VersionState.LIVE else ()
    return Resolution(made, made=True, clashes=asked, forgotten=forgotten)


def ancestors(versions: Mapping[str, Version], of: Iterable[Version]) -> set[str]:
    """Return the ids of these versions and of all that they were made from."""
    found: set[str] = set()
    waiting = [each.id for each in of]
    while waiting:
        version = versions.get(waiting.pop())
        if version is not None and version.id not in found:
            found.add(version.id)
            waiting += version.parents
    return found


def _find_base(
    versions: Mapping[str, Version], known: Collection[str], later: Version
) -> Version | None:
    """Return the latest version with a text from which both sides went on."""
    common = [versions[each] for each in ancestors(versions, [later]) if each in known]
    told = [each for each in common if each.content is not None]
    nearest = _drop_ancestors(versions, told)
    return max(nearest, key=lambda each: each.order, default=None)


def _drop_ancestors(versions: Mapping[str, Version], some: Sequence[Version]) -> list[Version]:
    """Return those of the versions from which none of the others was made."""
    older = {parent for each in some for parent in ancestors(versions, [each]) if parent != each.id}
    return [each for each in some if each.id not in older]


def _merge_pair(
    base: Version | None, later: Version, earlier: Version
) -> tuple[Version, Clash | None]:
    """Return one version of two with the texts of both, and the clash if there is one."""
    path = merge_values(base.path if base else None, later.path, earlier.path).value
    before = base.content if base is not None else None
    assert later.content is not None
    assert earlier.content is not None
    if later.content == earlier.content or earlier.content == before:
        return replace(later, path=str(path)), None
    if later.content == before:
        return replace(later, path=str(path), content=earlier.content), None
    try:
        content, names = _merge_files(base, later, earlier)
    except FileUnreadable:
        content, names = later.content, ("content",)
    lost = Clash(later, earlier, names) if names else None
    return replace(later, path=str(path), content=content), lost


# -- files ---------------------------------------------------------------------------------


def _merge_files(
    base: Version | None, later: Version, earlier: Version
) -> tuple[bytes, tuple[str, ...]]:
    """Return the later file with what the earlier one changed, and the fields that clash."""
    ours, theirs = _read(later), _read(earlier)
    before = None if base is None else _read(base)
    values, clashes = _merge_fields(before, ours, theirs)
    merged = replace(ours, **values)
    data = revise_file(later.content or b"", merged, ours)
    data, unknown = _merge_unknown_keys(base, data, earlier)
    return data, (*clashes, *unknown)


def _read(version: Version) -> Memory:
    memory = read_memory(version.path, version.content or b"", NO_FINGERPRINT).memory
    return memory if memory.id == version.memory else replace(memory, id=version.memory)


def _merge_fields(
    before: Memory | None, ours: Memory, theirs: Memory
) -> tuple[dict[str, Any], list[str]]:
    values: dict[str, Any] = {}
    clashes: list[str] = []
    for row in FIELDS:
        name = row.name
        if name == "id":
            continue
        was = _UNSET[name] if before is None else getattr(before, name)
        mine, its = getattr(ours, name), getattr(theirs, name)
        clash = False
        match row.kind:
            case FieldKind.TAGS:
                values[name] = tuple(merge_items(was, mine, its))
            case FieldKind.CONNECTIONS:
                values[name] = tuple(merge_items(was, mine, its, _connection_key))
            case FieldKind.CONTENT:
                text = merge_texts(was, mine, its)
                values[name], clash = (mine, True) if text is None else (text, False)
            case _ if name == "updated":
                values[name] = max(mine, its)
            case _ if name == "created":
                values[name] = min(mine, its)
            case _:
                values[name], clash = merge_values(was, mine, its)
        if clash and name not in _UNASKED_FIELDS:
            clashes.append(name)
    return values, clashes


def _connection_key(connection: Connection) -> tuple[str, str]:
    return connection.target, connection.edge.value


def _merge_unknown_keys(
    base: Version | None, data: bytes, earlier: Version
) -> tuple[bytes, list[str]]:
    """Return the file with what the earlier one changed in keys that other programs keep there,
    and with its comments."""
    document, other = parse_document(data), parse_document(earlier.content or b"")
    old = parse_document(base.content) if base is not None and base.content else None
    was = {} if old is None else _unknown_keys(old)
    ours, theirs = _unknown_keys(document), _unknown_keys(other)
    blocks, clashes = list(document.blocks), list[str]()
    for key in dict.fromkeys((*ours, *theirs)):
        merged, clash = merge_values(was.get(key), ours.get(key), theirs.get(key))
        if clash:
            clashes.append(key)
        elif merged != ours.get(key):
            blocks = [each for each in blocks if each.key != key]
            if isinstance(merged, FrontMatterBlock):
                blocks.append(merged)
    remarks = _remarks(other) - _remarks(document) - (_remarks(old) if old else set())
    blocks += [FrontMatterBlock(None, each) for each in sorted(remarks)]
    if tuple(blocks) == document.blocks:
        return data, clashes
    opening = document.opening or f"---{document.newline}"
    closing = document.closing or f"---{document.newline}"
    whole = replace(document, opening=opening, blocks=tuple(blocks), closing=closing)
    return whole.render(), clashes


def _unknown_keys(document: MarkdownDocument) -> dict[str, FrontMatterBlock]:
    return {
        each.key: each
        for each in document.blocks
        if each.key is not None and each.key not in FRONT_MATTER_KEYS
    }


def _remarks(document: MarkdownDocument) -> set[str]:
    """Return the comments that belong to no key."""
    lines = (line for each in document.blocks if each.key is None for line in each.text.split("\n"))
    return {f"{line}\n" for line in lines if line.lstrip().startswith("#")}
