"""Carrying out a plan: all of it, or nothing.

The order: copies of what is there, the receipt, then the files one by one, each by an atomic
replace. If one is refused, those before it are put back. A kill in between leaves files that are
whole, and a receipt with which `unsetup` undoes what was done.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from madeleine.agents.catalog import WiringLink
from madeleine.agents.host_files import HostFile, read_host_file
from madeleine.agents.plan import PlannedFileChange, WiringPlan
from madeleine.agents.receipts import BACKUPS_FOLDER, RECEIPT_FILE, SetupReceipts
from madeleine.errors import FileChanged, MadeleineError, SettingsLocked
from madeleine.vault.files import write_file

MODE_BITS = 0o7777


def apply_plan(plan: WiringPlan, receipts: SetupReceipts) -> None:
    """Do what the plan says; if a file is refused, everything is as it was."""
    before = receipts.copied()
    done: list[PlannedFileChange] = []
    try:
        _prepare_files(plan, receipts)
        for change in plan.changes:
            _write_checked(change.found, change.found.data, change.after)
            done.append(change)
        _set_links(plan.links)
    except (OSError, MadeleineError) as error:
        _roll_back(plan, done, before, receipts)
        raise _translate_error(error) from error
    _clean_up(plan, receipts)


def _prepare_files(plan: WiringPlan, receipts: SetupReceipts) -> None:
    for place in _paths_to_write(plan, receipts):
        receipts.made += _find_missing_folders(place, receipts.made)
    for change in plan.changes:
        if change.backup is not None and change.found.data is not None:
            write_file(change.backup, change.found.data)
        if change.receipt is not None:
            receipts.files[change.receipt.path] = change.receipt
    receipts.save()


def _paths_to_write(plan: WiringPlan, receipts: SetupReceipts) -> Iterator[Path]:
    """Give every path that will be written."""
    yield receipts.folder / RECEIPT_FILE
    for change in plan.changes:
        yield change.found.target
        if change.backup is not None:
            yield change.backup
    yield from (link.path for link in plan.links if link.wanted)


def _find_missing_folders(target: Path, known: list[str]) -> list[str]:
    missing = [each for each in target.parents if not each.exists()]
    return [str(each) for each in reversed(missing) if str(each) not in known]


def _write_checked(found: HostFile, expected: bytes | None, after: bytes | None) -> None:
    """Put bytes in a file's place, or take it away, if it still is what the plan was made for."""

    def check() -> None:
        if read_host_file(found.path).data != expected:
            raise FileChanged(str(found.path))

    if after is None:
        check()
        found.target.unlink(missing_ok=True)
        return
    before = found.target.stat() if found.target.exists() else None
    write_file(found.target, after, check)
    if before is not None:
        _restore_mode(found.target, before)


def _restore_mode(path: Path, before: os.stat_result) -> None:
    """Give a file the mode it had, and its owner if that was somebody else: root can do it."""
    path.chmod(before.st_mode & MODE_BITS)
    if before.st_uid != os.geteuid():
        os.chown(path, before.st_uid, before.st_gid)


def _set_links(links: Iterable[WiringLink]) -> None:
    for link in links:
        if link.wanted and not link.is_there:
            link.path.parent.mkdir(parents=True, exist_ok=True)
            link.path.symlink_to(link.target)
        elif link.is_there and not link.wanted:
            link.path.unlink()


def _roll_back(
    plan: WiringPlan, done: list[PlannedFileChange], before: SetupReceipts, receipts: SetupReceipts
) -> None:
    for change in reversed(done):
        _write_checked(change.found, change.after, change.found.data)
    for change in plan.changes:
        if change.backup is not None:
            change.backup.unlink(missing_ok=True)
    before.save()
    _remove_empty([each for each in receipts.made if each not in before.made])


def _translate_error(error: OSError | MadeleineError) -> MadeleineError:
    if isinstance(error, MadeleineError):
        return error
    return SettingsLocked(Path(error.filename or "a file"), error.strerror or str(error))


# -- afterwards ----------------------------------------------------------------------------


def _clean_up(plan: WiringPlan, receipts: SetupReceipts) -> None:
    """Forget what is over: receipts without a change of ours, their copies, empty folders."""
    gone = [str(change.path) for change in plan.changes if change.receipt is None]
    for path in [*gone, *plan.forgotten]:
        receipt = receipts.files.pop(path, None)
        if receipt is not None and receipt.backup is not None:
            _remove_unneeded_backup(receipts.folder / BACKUPS_FOLDER / receipt.backup, Path(path))
    receipts.save()
    left = _remove_empty(receipts.made)
    if left != receipts.made:
        receipts.made = left
        receipts.save()


def _remove_unneeded_backup(backup: Path, path: Path) -> None:
    """Remove a copy that is needed no more: the file says exactly that again."""
    if read_host_file(path).data == read_host_file(backup).data:
        backup.unlink(missing_ok=True)


def _remove_empty(folders: list[str]) -> list[str]:
    """Remove folders that we made and that hold nothing; return those that stay."""
    stay = []
    for folder in reversed(folders):
        try:
            Path(folder).rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            stay.append(folder)  # somebody keeps something there
    return stay[::-1]
