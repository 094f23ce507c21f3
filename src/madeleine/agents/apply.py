"""Carrying out a plan: all of it, or nothing.

The order: copies of what is there, the receipt, then the files one by one, each by an atomic
replace. If one is refused, those before it are put back. A kill in between leaves files that are
whole, and a receipt with which `unsetup` undoes what was done.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from madeleine.agents.catalog import Link
from madeleine.agents.plan import Change, Plan
from madeleine.agents.receipts import BACKUPS, NAME, Receipts
from madeleine.agents.texts import Found, find
from madeleine.errors import FileChanged, MadeleineError, SettingsLocked
from madeleine.vault.files import write_file

PUBLIC_MODE = 0o7777


def carry_out(plan: Plan, receipts: Receipts) -> None:
    """Do what the plan says; if a file is refused, everything is as it was."""
    before = receipts.copied()
    done: list[Change] = []
    try:
        _prepare(plan, receipts)
        for change in plan.changes:
            _write(change.found, change.found.data, change.after)
            done.append(change)
        _set_links(plan.links)
    except (OSError, MadeleineError) as error:
        _put_back(plan, done, before, receipts)
        raise _refusal(error) from error
    _tidy(plan, receipts)


def _prepare(plan: Plan, receipts: Receipts) -> None:
    for place in _places(plan, receipts):
        receipts.made += _missing_folders(place, receipts.made)
    for change in plan.changes:
        if change.backup is not None and change.found.data is not None:
            write_file(change.backup, change.found.data)
        if change.receipt is not None:
            receipts.files[change.receipt.path] = change.receipt
    receipts.save()


def _places(plan: Plan, receipts: Receipts) -> Iterator[Path]:
    """Give every path that will be written."""
    yield receipts.folder / NAME
    for change in plan.changes:
        yield change.found.target
        if change.backup is not None:
            yield change.backup
    yield from (link.path for link in plan.links if link.wanted)


def _missing_folders(target: Path, known: list[str]) -> list[str]:
    missing = [each for each in target.parents if not each.exists()]
    return [str(each) for each in reversed(missing) if str(each) not in known]


def _write(found: Found, expected: bytes | None, after: bytes | None) -> None:
    """Put bytes in a file's place, or take it away, if it still is what the plan was made for."""

    def check() -> None:
        if find(found.path).data != expected:
            raise FileChanged(str(found.path))

    if after is None:
        check()
        found.target.unlink(missing_ok=True)
        return
    before = found.target.stat() if found.target.exists() else None
    write_file(found.target, after, check)
    if before is not None:
        _look_alike(found.target, before)


def _look_alike(path: Path, before: os.stat_result) -> None:
    """Give a file the mode it had, and its owner if that was somebody else: root can do it."""
    path.chmod(before.st_mode & PUBLIC_MODE)
    if before.st_uid != os.geteuid():
        os.chown(path, before.st_uid, before.st_gid)


def _set_links(links: Iterable[Link]) -> None:
    for link in links:
        if link.wanted and not link.is_there:
            link.path.parent.mkdir(parents=True, exist_ok=True)
            link.path.symlink_to(link.target)
        elif link.is_there and not link.wanted:
            link.path.unlink()


def _put_back(plan: Plan, done: list[Change], before: Receipts, receipts: Receipts) -> None:
    for change in reversed(done):
        _write(change.found, change.after, change.found.data)
    for change in plan.changes:
        if change.backup is not None:
            change.backup.unlink(missing_ok=True)
    before.save()
    _remove_empty([each for each in receipts.made if each not in before.made])


def _refusal(error: OSError | MadeleineError) -> MadeleineError:
    if isinstance(error, MadeleineError):
        return error
    return SettingsLocked(Path(error.filename or "a file"), error.strerror or str(error))


# -- afterwards ----------------------------------------------------------------------------


def _tidy(plan: Plan, receipts: Receipts) -> None:
    """Forget what is over: receipts without a change of ours, their copies, empty folders."""
    gone = [str(change.path) for change in plan.changes if change.receipt is None]
    for path in [*gone, *plan.forgotten]:
        receipt = receipts.files.pop(path, None)
        if receipt is not None and receipt.backup is not None:
            _forget_copy(receipts.folder / BACKUPS / receipt.backup, Path(path))
    receipts.save()
    left = _remove_empty(receipts.made)
    if left != receipts.made:
        receipts.made = left
        receipts.save()


def _forget_copy(backup: Path, path: Path) -> None:
    """Remove a copy that is needed no more: the file says exactly that again."""
    if find(path).data == find(backup).data:
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
