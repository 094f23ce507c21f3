"""What setup and unsetup would do, worked out without writing anything.

Every file is read and every change made in memory first. So a file that does not parse, or may not
be written, is found before any other file is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from madeleine.agents.catalog import AgentHost, AgentWiring, WiringLink
from madeleine.agents.host_files import (
    HostFile,
    check_writable,
    is_blank,
    is_still_empty,
    read_host_file,
    translate_parse_errors,
)
from madeleine.agents.ownership import is_same_path, is_wired_hook
from madeleine.agents.pieces import InstructionsPiece, WholeFilePiece
from madeleine.agents.receipts import SetupReceipt, SetupReceipts, is_wired_by, sha256_hex
from madeleine.agents.seen_entry import SeenEntry
from madeleine.errors import SettingsTaken


@dataclass(frozen=True, slots=True)
class PlannedFileChange:
    """One file that will be another, or not be there any more."""

    agent: str
    found: HostFile
    after: bytes | None
    what: tuple[str, ...]
    receipt: SetupReceipt | None = None
    """What is written down about it; nothing when there is nothing of ours left."""
    backup: Path | None = None

    @property
    def path(self) -> Path:
        return self.found.path

    @property
    def action(self) -> str:
        """What a person would call it."""
        if self.found.data is None:
            return "create"
        return "remove" if self.after is None else "change"


@dataclass(slots=True)
class WiringPlan:
    """All that will be done."""

    changes: list[PlannedFileChange] = field(default_factory=list)
    links: list[WiringLink] = field(default_factory=list)
    same: list[Path] = field(default_factory=list)
    """Files that are as they should be."""
    notes: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    """Paths whose receipts say nothing any more."""

    @property
    def backups(self) -> Iterator[str]:
        for change in self.changes:
            if change.backup is not None:
                yield change.backup.name


class WiringPlanner:
    """Plans against one set of receipts; wirings are given one after the other."""

    def __init__(self, receipts: SetupReceipts) -> None:
        self.receipts = self._receipts = receipts
        self._pending: dict[Path, bytes | None] = {}
        self.plan = WiringPlan()

    def setup(self, agent: AgentHost | str, wirings: Iterable[AgentWiring]) -> None:
        """Plan what puts these wirings in place."""
        for wiring in wirings:
            if wiring.wanted:
                self._put(_agent_name(agent), wiring)
            else:
                self._take_out(_agent_name(agent), wiring)

    def link(self, links: Iterable[WiringLink]) -> None:
        """Plan the links that are not as they should be."""
        self.plan.links += [each for each in links if each.is_there is not each.wanted]

    def unsetup(self, agent: AgentHost | str, wirings: Sequence[AgentWiring]) -> None:
        """Plan what takes these wirings out, also where they were before the host moved."""
        paths = {str(wiring.path) for wiring in wirings}
        moved = [
            replace(wiring, path=Path(each.path))
            for each in self._receipts.files.values()
            if each.agent == _agent_name(agent) and each.path not in paths
            for wiring in [
                w for w in wirings if _file_family(w.path) == _file_family(Path(each.path))
            ][:1]
        ]
        for wiring in [*wirings, *moved]:
            self._take_out(_agent_name(agent), wiring)

    def _find(self, path: Path) -> HostFile:
        """Return a file as it will be by then: two hosts may share one by a link."""
        found = read_host_file(path)
        if found.target not in self._pending:
            return found
        return HostFile(path, found.target, self._pending[found.target])

    def _change(self, change: PlannedFileChange) -> None:
        self._pending[change.found.target] = change.after
        self.plan.changes.append(change)

    # -- putting in ------------------------------------------------------------------------

    def _put(self, agent: str, wiring: AgentWiring) -> None:
        found, wiring = self._find(wiring.path), apply_receipt(self._receipts, wiring)
        if found.data is None and wiring.only_if_there:
            return
        _check_not_a_persons(wiring, found)
        after = found.encoded(self._with_pieces(wiring, found))
        if after == found.data:
            self.plan.same.append(wiring.path)
            return
        check_writable(found)
        names = tuple(piece.name for piece in wiring.pieces if piece.name)
        self._change(
            self._with_receipt(agent, wiring, PlannedFileChange(agent, found, after, names))
        )

    def _with_pieces(self, wiring: AgentWiring, found: HostFile) -> str:
        with translate_parse_errors(found):
            text = found.text
            self._note_found(wiring, text)
            for piece in wiring.pieces:
                text = piece.put(text)
        return text

    def _note_found(self, wiring: AgentWiring, text: str) -> None:
        """Say what stays as it is: what is not ours, and what a person turned off."""
        home = str(self._receipts.folder.parent)
        for piece in wiring.pieces:
            for seen in piece.look(text):
                note = _foreign_entry_note(wiring.path, seen, home)
                if (seen.off or not seen.ours) and note not in self.plan.notes:
                    self.plan.notes.append(note)

    def _with_receipt(
        self, agent: str, wiring: AgentWiring, change: PlannedFileChange
    ) -> PlannedFileChange:
        data = change.found.data
        wrote = sha256_hex(change.after or b"")
        known = self._receipts.of(wiring.path)
        put = _find_added_pieces(wiring, change.found.text)
        if known is not None and data is not None:
            exact = known.exact and self._receipts.is_untouched(known, data)
            pieces = list(dict.fromkeys([*known.pieces, *put]))
            receipt = replace(known, wrote=wrote, exact=exact, pieces=pieces)
            ours = self._receipts.folder in wiring.path.parents  # nobody else writes there
            backup = None if ours else self._copy_place(agent, wiring, change.found)
            return replace(change, receipt=receipt, backup=backup)
        new = SetupReceipt(agent, str(wiring.path), created=data is None, wrote=wrote, pieces=put)
        if data is None:
            return replace(change, receipt=new)
        backup = self._receipts.new_backup(agent, wiring.path, self.plan.backups)
        receipt = replace(
            new, backup=backup.name, exact=not _has_own_pieces(wiring, change.found.text)
        )
        return replace(change, receipt=receipt, backup=backup)

    def _copy_place(self, agent: str, wiring: AgentWiring, found: HostFile) -> Path | None:
        """Return where to keep a file in which somebody wrote among our words: those go."""
        known = self._receipts.of(wiring.path)
        if self._receipts.is_untouched(known, found.data) or not _would_lose_text(wiring, found):
            return None
        return self._receipts.new_backup(agent, wiring.path, self.plan.backups)

    # -- taking out ------------------------------------------------------------------------

    def _take_out(self, agent: str, wiring: AgentWiring) -> None:
        found, wiring = self._find(wiring.path), apply_receipt(self._receipts, wiring)
        known = self._receipts.of(wiring.path)
        after = self._data_without_us(wiring, found, known)
        if after == found.data:
            if known is not None:
                self.plan.forgotten.append(known.path)
            return
        check_writable(found)
        names = tuple(piece.name for piece in wiring.pieces if piece.name)
        backup = self._copy_place(agent, wiring, found)
        self._change(PlannedFileChange(agent, found, after, names, backup=backup))

    def _data_without_us(
        self, wiring: AgentWiring, found: HostFile, known: SetupReceipt | None
    ) -> bytes | None:
        """Return what the file is without us: as it was, if nobody else changed it since."""
        if found.data is None:
            return None
        before = self._receipts.backup_of(known)
        if known is not None and known.exact and self._receipts.is_untouched(known, found.data):
            return before
        if wiring.is_own:
            if not _has_own_pieces(wiring, found.text):
                return found.data  # it is another home's by now
            return before if known is not None or _is_as_written(wiring, found) else found.data
        return self._without_pieces(wiring, found, known, before)

    def _without_pieces(
        self, wiring: AgentWiring, found: HostFile, known: SetupReceipt | None, before: bytes | None
    ) -> bytes | None:
        earlier = None if before is None else HostFile(found.path, found.target, before).text
        created = known is not None and known.created
        with translate_parse_errors(found):
            text = found.text
            for piece in wiring.pieces:
                text = piece.drop(text, "" if created else earlier)
            if text == found.text:
                return found.data
            if created and is_blank(found.path, text):
                return None
            if earlier is not None and is_still_empty(found.path, earlier, text):
                return before
        return found.encoded(text)


def _check_not_a_persons(wiring: AgentWiring, found: HostFile) -> None:
    """Refuse to replace what a person wrote."""
    for piece in wiring.pieces:
        if isinstance(piece, WholeFilePiece) and piece.is_a_persons(found.text):
            raise SettingsTaken(found.path)


def apply_receipt(receipts: SetupReceipts, wiring: AgentWiring) -> AgentWiring:
    """Return a wiring whose pieces know what the receipt says about them."""
    receipt = receipts.of(wiring.path)
    wrote = () if receipt is None else receipt.pieces
    pieces = tuple(piece.known(piece.name in wrote) for piece in wiring.pieces)
    return replace(wiring, pieces=pieces)


def _file_family(path: Path) -> str:
    """What files have in common that a host reads in each other's place: opencode.json, .jsonc."""
    return path.name.lstrip(".").partition(".")[0]


def _has_own_pieces(wiring: AgentWiring, text: str) -> bool:
    return any(seen.ours for piece in wiring.pieces for seen in piece.look(text))


def _find_added_pieces(wiring: AgentWiring, text: str) -> list[str]:
    """Return the names of the pieces that are put in, rather than found there."""
    names = []
    for piece in wiring.pieces:
        before, text = text, piece.put(text)
        if text != before:
            names.append(piece.name)
    return names


def _foreign_entry_note(path: Path, seen: SeenEntry, home: str) -> str:
    """Say about an entry whose it is, and that it stays."""
    if seen.ours:
        return f"{path}: {seen.what} is switched off, and stays so"
    off = " and switched off" if seen.off else ""
    stays = "is left as it is, and none is added beside it"
    return f"{path}: {seen.what} is {_describe_owner(path, seen, home)}{off} already, {stays}"


def _describe_owner(path: Path, seen: SeenEntry, home: str) -> str:
    """Say who wired an entry that is not ours, and for which home if that is not this one."""
    if seen.home is None or is_same_path(seen.home, home):
        return "wired by hand"
    if is_by_setup(path, seen):
        return f"wired by the setup of the home {seen.home}"
    return f"wired by hand to the home {seen.home}"


def is_by_setup(path: Path, seen: SeenEntry) -> bool:
    """Whether the setup of the home that an entry names wrote it, rather than a person."""
    return is_wired_hook(seen.words) or (seen.home is not None and is_wired_by(seen.home, path))


def look_into_file(wiring: AgentWiring) -> tuple[HostFile, tuple[SeenEntry, ...]]:
    """Return a file with what there is of Madeleine in it; nothing where there is no file."""
    found = read_host_file(wiring.path)
    if found.data is None:
        return found, ()
    with translate_parse_errors(found):
        return found, tuple(seen for piece in wiring.pieces for seen in piece.look(found.text))


def _would_lose_text(wiring: AgentWiring, found: HostFile) -> bool:
    """Whether a text of ours in a file is not as we write it: what was added to it would go."""
    texts = [
        piece for piece in wiring.pieces if isinstance(piece, InstructionsPiece | WholeFilePiece)
    ]
    return any(
        any(seen.ours for seen in piece.look(found.text)) and piece.put(found.text) != found.text
        for piece in texts
    )


def _is_as_written(wiring: AgentWiring, found: HostFile) -> bool:
    return all(piece.put("") == found.text for piece in wiring.pieces)


def _agent_name(agent: AgentHost | str) -> str:
    return agent if isinstance(agent, str) else agent.name
