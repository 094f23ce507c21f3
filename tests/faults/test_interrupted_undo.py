"""An undo that a kill interrupted after its files were written counts as done, whole (I4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.model.revision import Revision
from madeleine.write import commit
from madeleine.write.recover import recover_changes
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import close, keep, make_stores, reopened, vault_bytes


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the code may catch it."""


def die(*arguments: object, **options: object) -> None:
    raise Killed


def undone_and_killed(stores: Stores, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(commit, "settle_changes", die)
        with pytest.raises(Killed):
            undo(stores, change)


@pytest.mark.proves("I4")
def test_what_it_took_back_is_marked_as_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = make_stores(tmp_path / "home")
    memory = keep(stores, "The atlas is on the second shelf")
    before = vault_bytes(stores)
    change = revise(stores, memory.id, Revision({"content": "It is on the third"})).change
    assert change is not None
    undone_and_killed(stores, change, monkeypatch)

    after = reopened(stores, tmp_path / "home")
    recover_changes(after)

    assert vault_bytes(after) == before
    assert after.index.log.outcome(change) == "undone"
    assert after.index.log.unsettled_changes() == []
    close(after)


def test_undoing_an_undo_and_that_again_tells_which_are_in_force(stores: Stores) -> None:
    memory = keep(stores, "Tea at four")
    first = revise(stores, memory.id, Revision({"content": "Tea at five"})).change
    assert first is not None
    second = undo(stores, first).change
    third = undo(stores, second).change
    undo(stores, third)

    outcomes = [stores.log.outcome(each) for each in (first, second, third)]

    assert outcomes == ["undone", "done", "undone"]
