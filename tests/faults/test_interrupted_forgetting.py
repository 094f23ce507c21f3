"""A kill while many files go to the trash at once, or come back, is whole or gone (I4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.sleep.tasks.forget import make_forget_task
from madeleine.vault import files
from madeleine.write import commit
from madeleine.write.reconcile import reconcile
from madeleine.write.recover import recover_changes
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import close, make_stores, reopened, vault_bytes
from tests.sleep.nights import run
from tests.sleep.tasks.ageing import aged, set_to

TRASHED = replace(set_to(delete_threshold=0.05), breaker_share=1.0)
ARCHIVED = replace(set_to(archive_threshold=0.05), breaker_share=1.0)
COUNT = 40


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the code may catch it."""


def die(*arguments: object) -> None:
    raise Killed


def killed_at(
    step: int, each: str, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]
) -> None:
    """Do something that is killed when it has treated so many files, so that nothing of it is
    taken back."""
    original, calls = getattr(files, each), iter(range(1_000))

    def dying(*arguments: object) -> object:
        if next(calls) == step:
            raise Killed
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(files, each, dying)
        patch.setattr(commit, "_drop_change", die)
        with pytest.raises(Killed):
            act()


def restarted(stores: Stores, home: Path) -> Stores:
    fresh = reopened(stores, home)
    recover_changes(fresh)
    reconcile(fresh)
    return fresh


def filled(home: Path) -> Stores:
    stores = make_stores(home, with_model=False)
    for number in range(COUNT):
        aged(stores, f"Note number {number}", 1_000 + number)
    return stores


@pytest.mark.few(2)
@pytest.mark.proves("I4")
@pytest.mark.parametrize("step", [0, 17, COUNT - 1])
@pytest.mark.parametrize(("config", "each"), [(TRASHED, "_move_one"), (ARCHIVED, "_replace_one")])
def test_what_was_not_finished_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, config: object, each: str
) -> None:
    home = tmp_path / "home"
    stores = filled(home)
    before = vault_bytes(stores)

    killed_at(step, each, monkeypatch, lambda: run(stores, make_forget_task(), config))  # type: ignore[arg-type]
    stores = restarted(stores, home)

    assert vault_bytes(stores) == before
    assert stores.search.counts().by_tier == {"working": COUNT}
    assert stores.log.unsettled_changes() == []
    close(stores)


@pytest.mark.proves("I4")
def test_an_undo_that_was_not_finished_can_be_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    stores = filled(home)
    before = vault_bytes(stores)
    report = run(stores, make_forget_task(), TRASHED)

    killed_at(17, "_move_one", monkeypatch, lambda: undo(stores, report.run))
    stores = restarted(stores, home)
    assert stores.search.counts().memories == 0
    undo(stores, report.run)

    assert vault_bytes(stores) == before
    assert stores.search.counts().memories == COUNT
    close(stores)
