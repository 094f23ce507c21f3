"""Moving in and out from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine import Madeleine
from madeleine.errors import Rejected, UnknownWord
from madeleine.ingest.backups.archive import verify_backup


@pytest.fixture(autouse=True)
def _fake_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")


def test_what_leaves_one_home_comes_into_another(tmp_path: Path) -> None:
    with Madeleine.open(tmp_path / "one", in_process=True) as one:
        kept = one.remember("Atlas ships on Fridays", space="atlas", tags=["release"])
        one.remember("tea")
        one.show(kept)
        before = one.list(outdated=True)
        assert one.export(tmp_path / "all.jsonl") == 2
        assert one.export(tmp_path / "atlas.zip", "zip", spaces=["atlas"]) == 1
        assert verify_backup(one.backup(tmp_path / "b.zip")).memories == 2

    with Madeleine.open(tmp_path / "two", in_process=True) as two:
        looked = two.import_from("madeleine", tmp_path / "all.jsonl", dry_run=True)
        taken = two.import_from("madeleine", tmp_path / "all.jsonl")

        assert looked["counts"] == taken["counts"]
        assert two.list(outdated=True) == before  # uses and all
        assert two.undo(str(taken["run"])).memories
        assert two.list() == []


def test_what_is_purged_is_gone_for_good(tmp_path: Path) -> None:
    with Madeleine.open(tmp_path / "one", in_process=True) as one:
        tea, milk, juice = (one.remember(each) for each in ("tea", "milk", "juice"))
        for each in (tea, milk):
            one.forget(each)

        with pytest.raises(Rejected):
            one.purge()
        with pytest.raises(Rejected):
            one.purge(tea, all=True)
        gone = one.purge(tea)
        rest = one.purge(all=True)

        assert [each.id for each in gone.memories] == [tea.id]
        assert [each.id for each in rest.memories] == [milk.id]
        assert one.list() == [juice]


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with Madeleine.open(tmp_path / "one", in_process=True) as one:
        with pytest.raises(UnknownWord):
            one.import_from("notion", tmp_path)
        with pytest.raises(UnknownWord):
            one.export(tmp_path / "x", "xml")
