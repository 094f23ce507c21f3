"""A disk or an index that refuses one step: the answer is honest and the next call heals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from madeleine.bootstrap import device_name, open_home
from madeleine.errors import MadeleineError, StoreUnwritable, Unavailable
from madeleine.index.sqlite.index import SqliteIndex
from madeleine.model.cause import NoteKind
from madeleine.model.draft import Draft, MemoryLimits
from madeleine.model.memory import Origin
from madeleine.model.proposal import ProposalStatus, ProposalType
from madeleine.model.query import RecallQuery
from madeleine.model.revision import read_revision
from madeleine.model.words import Tier
from madeleine.recall.recall import recall
from madeleine.vault.journal import FileJournal
from madeleine.vault.vault import FolderVault
from madeleine.write.config import WriteConfig
from madeleine.write.forget import forget, restore
from madeleine.write.merge import merge
from madeleine.write.proposals import decide_proposal, propose
from madeleine.write.reconcile import reconcile
from madeleine.write.remember import remember
from madeleine.write.remember_many import remember_many
from madeleine.write.resolve import get_stored
from madeleine.write.revise import retire, revise
from madeleine.write.stores import Stores, VerbConfig
from tests.fakes import close, keep, make_stores, vault_bytes
from tests.sentences import in_words


def refuse(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, error: Exception, at: int = 0
) -> None:
    """Make one call of a method fail, the `at`-th from now."""
    original = getattr(owner, name)
    calls = iter(range(1_000_000))

    def once(self: object, *given: Any, **named: Any) -> Any:
        if next(calls) == at:
            raise error
        return original(self, *given, **named)

    monkeypatch.setattr(owner, name, once)


FULL = StoreUnwritable(Path("disk"), "No space left on device")
BUSY = Unavailable("the index is busy", hint="try again")


@pytest.mark.parametrize(
    ("owner", "name", "error"), [(FileJournal, "append", FULL), (SqliteIndex, "write", BUSY)]
)
@pytest.mark.parametrize("key", [None, "call-1"])
def test_trying_a_refused_remember_again_makes_one_memory(
    stores: Stores,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    error: MadeleineError,
    key: str | None,
) -> None:
    refuse(monkeypatch, owner, name, error)
    with pytest.raises(MadeleineError):
        remember(stores, Draft("the cat sleeps", idempotency_key=key))
    assert vault_bytes(stores) == {}
    monkeypatch.undo()

    made = remember(stores, Draft("the cat sleeps", idempotency_key=key))

    assert len(vault_bytes(stores)) == 1
    assert get_stored(stores, made.memory.id).memory.content == "the cat sleeps"


def test_a_refused_group_of_a_batch_leaves_the_others_their_answers(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, FileJournal, "append", FULL, at=1)
    drafts = [Draft(f"thing number {n}") for n in range(40)]

    outcomes = remember_many(stores, drafts)
    monkeypatch.undo()
    again = remember_many(stores, drafts)

    assert len(outcomes) == 40
    assert any(isinstance(each, StoreUnwritable) for each in outcomes)
    assert not any(isinstance(each, MadeleineError) for each in again)
    assert len(vault_bytes(stores)) == 40


def test_a_change_that_is_safe_in_journal_and_files_counts_as_done(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = keep(stores, "old text")
    refuse(monkeypatch, FileJournal, "append", FULL, at=1)

    changed = revise(stores, memory.id, read_revision({"content": "new text"}, MemoryLimits()))
    monkeypatch.undo()

    assert "index follows later" in in_words(changed.notes)[0]
    keep(stores, "a next call")
    assert get_stored(stores, memory.id).memory.content == "new text"
    assert stores.log.unsettled_changes() == []


@pytest.mark.parametrize(
    "write",
    [
        lambda stores, memory, other, gone: revise(
            stores, memory, read_revision({"content": "new text"}, MemoryLimits())
        ),
        lambda stores, memory, other, gone: revise(
            stores,
            memory,
            read_revision(
                {"claim": {"subject": "gate", "attribute": "colour", "value": "red"}},
                MemoryLimits(),
            ),
        ),
        lambda stores, memory, other, gone: retire(stores, memory, superseded_by=other),
        lambda stores, memory, other, gone: merge(stores, memory, other, content="both"),
        lambda stores, memory, other, gone: restore(stores, gone),
    ],
    ids=["revise", "revise a claim", "retire", "merge", "restore"],
)
def test_an_index_that_follows_later_has_one_kind_whichever_verb_it_was(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, write: Callable[..., Any]
) -> None:
    memory, other = keep(stores, "old text").id, keep(stores, "another text").id
    gone = forget(stores, keep(stores, "forgotten text").id).memory.id
    refuse(monkeypatch, FileJournal, "append", FULL, at=1)

    notes = write(stores, memory, other, gone).notes

    assert [each.kind for each in notes] == [NoteKind.INDEX_FOLLOWS]
    assert in_words(notes)[0] == f"the index follows later: {FULL.message}"


def test_a_rollback_that_is_refused_too_is_finished_before_the_next_write(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = keep(stores, "one of two").id, keep(stores, "the other of them").id
    before = vault_bytes(stores)
    refuse(monkeypatch, FolderVault, "apply", FULL, at=1)
    refuse(monkeypatch, FolderVault, "revert", FULL, at=1)
    with pytest.raises(StoreUnwritable):
        merge(stores, one, two, content="both")
    monkeypatch.undo()

    keep(stores, "a next call")

    after = vault_bytes(stores)
    assert {name: after[name] for name in before} == before
    assert stores.log.unsettled_changes() == []


def test_trouble_with_the_core_cap_does_not_deny_a_written_memory(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", config=VerbConfig(write=WriteConfig(core_cap=1)))
    first = keep(stores, "core one", tier=Tier.CORE)
    path = stores.vault.root / get_stored(stores, first.id).path
    path.write_text("---\nid: [a hand is in the middle of it\n", encoding="utf-8")

    assert not remember(stores, Draft("core two", tier=Tier.CORE)).existing
    close(stores)


def test_recall_answers_on_a_full_disk_and_says_what_it_could_not_note(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(stores, "the cat sleeps")
    refuse(monkeypatch, FileJournal, "append", FULL)

    recalled = recall(stores, RecallQuery("cat"))

    assert recalled.hits
    assert "not noted" in in_words(recalled.notes)[0]


def test_a_repeated_call_from_one_place_in_a_conversation_is_one_memory(stores: Stores) -> None:
    keep(stores, "yes, please")
    there = Origin(session="s1", turn=3)

    first = remember(stores, Draft("yes, please", origin=there))
    again = remember(stores, Draft("yes, please", origin=there))

    assert not first.existing
    assert again.memory.id == first.memory.id


def test_a_proposal_is_decided_once(stores: Stores) -> None:
    one, two = keep(stores, "one of two").id, keep(stores, "the other of them").id
    action = {"verb": "merge", "keep": one, "drop": two}
    waiting = propose(stores, ProposalType.MERGE, (one, two), "merge the two", action)

    decided = decide_proposal(stores, waiting.id[:8], ProposalStatus.APPROVED, by="me")

    assert decided.proposal.status is ProposalStatus.APPROVED
    assert stores.search.get(two) is None
    with pytest.raises(MadeleineError, match="already approved"):
        decide_proposal(stores, waiting.id, ProposalStatus.REJECTED)


@pytest.mark.parametrize(
    "body",
    [
        {"change": "c1"},
        {
            "change": "c1",
            "verb": "revise",
            "by": "x",
            "details": {},
            "edits": [
                {
                    "memory": "m",
                    "path_before": "../x.md",
                    "before": "t",
                    "path_after": "../x.md",
                    "after_sha256": "0",
                }
            ],
        },
    ],
)
def test_one_odd_journal_line_does_not_keep_a_home_from_opening(
    tmp_path: Path, body: dict[str, object]
) -> None:
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    (home / "config.toml").write_text('[embedder]\nkind = "fake"\n', encoding="utf-8")
    line = {"v": 1, "id": "odd", "at": "2026-11-15T10:00:00Z", "kind": "changed"}
    text = json.dumps({**line, "device": device_name(), "body": body})
    (home / "journal" / f"{device_name()}-2026-11.jsonl").write_text(text + "\n", encoding="utf-8")

    context = open_home(home)

    assert any("c1" in note for note in in_words(context.notes))
    assert context.stores.log.unsettled_changes() == []
    context.close()


def test_a_journal_that_lost_lines_makes_the_index_anew(tmp_path: Path) -> None:
    """A power cut may take what the index had read already."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('[embedder]\nkind = "fake"\n', encoding="utf-8")
    context = open_home(home)
    memory = keep(context.stores, "the cat sleeps")
    recall(context.stores, RecallQuery("cat"))
    context.close()
    file = next((home / "journal").glob("*.jsonl"))
    kept = file.read_bytes().splitlines(keepends=True)[:1]
    file.write_bytes(b"".join(kept))

    context = open_home(home)

    assert get_stored(context.stores, memory.id).memory.access_count == 0
    assert any("journal lost lines" in note for note in in_words(context.notes))
    context.close()


def test_a_home_that_cannot_flush_still_lets_others_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('[embedder]\nkind = "fake"\n', encoding="utf-8")
    context = open_home(home)
    refuse(monkeypatch, FileJournal, "flush", FULL)
    with pytest.raises(StoreUnwritable):
        context.close()

    open_home(home, wait_seconds=0.5).close()


def test_reconcile_after_a_refused_write_finds_nothing_left_to_do(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = keep(stores, "old text")
    refuse(monkeypatch, SqliteIndex, "write", BUSY, at=1)
    revise(stores, memory.id, read_revision({"content": "new text"}, MemoryLimits()))
    monkeypatch.undo()
    keep(stores, "a next call")

    report = reconcile(stores)

    assert (report.written, report.dropped, report.unreadable) == (0, 0, [])
