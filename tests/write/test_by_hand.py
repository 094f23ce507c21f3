"""Hands and verbs in the same moment: the right file is changed, and the index agrees."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.bootstrap import open_home
from madeleine.errors import AmbiguousChange, EditedSince, MadeleineError, NoSuchMemory
from madeleine.minds.port import CachingEmbedder, Minds
from madeleine.model.draft import MemoryLimits
from madeleine.model.embedding import Passage, PassageEmbedding, QueryEmbedding
from madeleine.model.memory import Connection, Memory
from madeleine.model.revision import Revision, read_revision
from madeleine.model.words import Edge
from madeleine.write.connections import link
from madeleine.write.forget import forget
from madeleine.write.identity import SELF_ID
from madeleine.write.reconcile import embed_missing, reconcile, reconcile_paths
from madeleine.write.record_use import record_use
from madeleine.write.resolve import get_stored
from madeleine.write.revise import revise
from madeleine.write.show import show
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from madeleine.write.upkeep import rebuild
from tests.fakes import FakeClock, keep, vault_bytes


def to(content: str) -> Revision:
    return read_revision({"content": content}, MemoryLimits())


def file_of(stores: Stores, memory: Memory) -> Path:
    return stores.vault.root / get_stored(stores, memory.id).path


def swapped(stores: Stores) -> tuple[Memory, Memory]:
    """Two memories whose files have just traded names."""
    one, two = keep(stores, "the text of one"), keep(stores, "wholly other words")
    first, second = file_of(stores, one), file_of(stores, two)
    aside = first.with_suffix(".aside")
    first.rename(aside)
    second.rename(first)
    aside.rename(second)
    return one, two


def test_a_verb_follows_a_memory_whose_file_was_swapped(stores: Stores) -> None:
    one, two = swapped(stores)

    revise(stores, one.id, to("new words for one"))

    assert get_stored(stores, one.id).memory.content == "new words for one"
    assert get_stored(stores, two.id).memory.content == "wholly other words"
    assert len(vault_bytes(stores)) == 2


def test_swapped_names_are_two_memories_after_one_look(stores: Stores) -> None:
    one, two = swapped(stores)

    report = reconcile(stores)

    assert report.unreadable == []
    paths = [get_stored(stores, each.id).path for each in (one, two)]
    rebuild(stores)
    assert [get_stored(stores, each.id).path for each in (one, two)] == paths


def test_forgetting_what_another_file_replaced_touches_nothing_else(stores: Stores) -> None:
    one, two = keep(stores, "the text of one"), keep(stores, "wholly other words")
    file_of(stores, two).replace(file_of(stores, one))

    with pytest.raises(NoSuchMemory):
        forget(stores, one.id)

    assert get_stored(stores, two.id).memory.content == "wholly other words"


def test_shifted_names_keep_every_memory(stores: Stores) -> None:
    one, two = keep(stores, "the text of one"), keep(stores, "wholly other words")
    root = stores.vault.root
    file_of(stores, one).rename(root / "1.md")
    file_of(stores, two).rename(root / "2.md")
    reconcile(stores)
    (root / "2.md").rename(root / "3.md")
    (root / "1.md").rename(root / "2.md")

    reconcile(stores)

    assert [get_stored(stores, each.id).path for each in (one, two)] == ["2.md", "3.md"]


def test_a_rebuild_leaves_a_memory_to_the_file_that_was_known_before(stores: Stores) -> None:
    memory = keep(stores, "the original text")
    root = stores.vault.root
    file_of(stores, memory).rename(root / "zz.md")
    reconcile(stores)
    copied = (root / "zz.md").read_bytes().replace(b"original", b"copied")
    (root / "a.md").write_bytes(copied)

    reconcile(stores)

    assert get_stored(stores, memory.id).memory.content == "the original text"
    rebuild(stores)
    assert get_stored(stores, memory.id).memory.content == "the original text"


def test_a_twin_is_released_when_the_other_takes_another_id(stores: Stores) -> None:
    memory = keep(stores, "the original text")
    path = file_of(stores, memory)
    twin = path.with_name("zzzz-longer-name-" + path.name)
    twin.write_bytes(path.read_bytes().replace(b"original", b"copied"))
    reconcile(stores)
    other = "97acbe8e-0000-4000-8000-000000000001"
    path.write_bytes(path.read_bytes().replace(memory.id.encode(), other.encode()))

    reconcile_paths(stores, [path.name])

    assert get_stored(stores, memory.id).memory.content == "the copied text"
    assert get_stored(stores, other).memory.content == "the original text"


def test_a_revision_that_changes_nothing_answers_what_the_file_says(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps on the mat")
    path = file_of(stores, memory)
    path.write_text(path.read_text("utf-8").replace("sleeps", "sits"), "utf-8")

    answer = revise(stores, memory.id, read_revision({"tier": "working"}, MemoryLimits()))

    assert answer.change is None
    assert answer.memory.content == "the cat sits on the mat"


def test_an_edit_of_the_same_size_and_time_is_seen(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    path = file_of(stores, memory)
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"cat", b"dog"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    reconcile(stores)

    assert get_stored(stores, memory.id).memory.content == "the dog sleeps"


def test_a_link_made_after_a_hand_edit_takes_the_new_vector(stores: Stores) -> None:
    memory, other = keep(stores, "the cat sleeps on the mat"), keep(stores, "far is the moon")
    path = file_of(stores, memory)
    path.write_bytes(path.read_bytes().replace(b"the cat sleeps on the mat", b"tax is due in May"))

    link(stores, memory.id, Connection(other.id, Edge.SUPPORTS))

    vector = stores.search.vectors([memory.id])[memory.id]
    rebuild(stores)
    assert (vector == stores.search.vectors([memory.id])[memory.id]).all()


class Interrupted:
    """An embedder during whose work something else happens once."""

    def __init__(self, inner: CachingEmbedder) -> None:
        self._inner = inner
        self.meanwhile: Callable[[], object] | None = None
        self.name, self.dimension = inner.name, inner.dimension
        self.token_dimension = inner.token_dimension
        self.problem, self.keeper = inner.problem, inner.keeper

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        made = self._inner.read(passages)
        happening, self.meanwhile = self.meanwhile, None
        if happening is not None:
            happening()
        return made

    def ask(self, text: str) -> QueryEmbedding:
        return self._inner.ask(text)

    def flush(self) -> None:
        self._inner.flush()

    def forget(self, texts: Sequence[str]) -> int:
        return self._inner.forget(texts)

    def close(self) -> None:
        self._inner.close()


def interrupted(stores: Stores) -> tuple[Stores, Interrupted]:
    assert stores.minds.embedder is not None
    embedder = Interrupted(stores.minds.embedder)
    return replace(stores, minds=Minds(embedder)), embedder


def test_a_late_vector_never_replaces_that_of_a_newer_text(stores: Stores) -> None:
    watched, embedder = interrupted(stores)
    memory = keep(replace(stores, minds=Minds(None, "down")), "the cat sleeps on the mat")
    embedder.meanwhile = lambda: revise(stores, memory.id, to("tax is due in May"))

    embed_missing(watched)

    vector = stores.search.vectors([memory.id])[memory.id]
    rebuild(stores)
    assert (vector == stores.search.vectors([memory.id])[memory.id]).all()


def test_a_rebuild_that_takes_counters_over_loses_no_use(stores: Stores) -> None:
    watched, embedder = interrupted(stores)
    memory = keep(stores, "the cat sleeps")
    foreign = "---\nid: 97acbe8e-0000-4000-8000-000000000001\naccess_count: 7\n---\nforeign\n"
    (stores.vault.root / "foreign.md").write_text(foreign, encoding="utf-8")
    embedder.meanwhile = lambda: record_use(stores, [memory.id], "recalled", "s1")

    rebuild(watched)

    assert get_stored(stores, memory.id).memory.access_count == 1
    assert get_stored(stores, "97acbe8e").memory.access_count == 7


def test_two_who_forget_one_memory_make_one_change(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    path, data = get_stored(stores, memory.id).path, file_of(stores, memory).read_bytes()
    done = forget(stores, memory.id)

    (stores.vault.root / path).write_bytes(data)
    reconcile(stores)

    with pytest.raises(EditedSince):
        undo(stores, done.change)
    assert len([name for name in vault_bytes(stores) if not name.startswith("trash")]) == 1


def test_a_short_name_of_two_changes_undoes_neither(stores: Stores) -> None:
    one, two = keep(stores, "the text of one"), keep(stores, "wholly other words")
    ids = (f"abcdef00-0000-4000-8000-{number:012d}" for number in range(10_000))
    numbered = replace(stores, new_id=lambda: next(ids))
    revise(numbered, one.id, to("new one"))
    revise(numbered, two.id, to("new two"))

    with pytest.raises(AmbiguousChange):
        undo(stores, "abcdef")

    assert get_stored(stores, one.id).memory.content == "new one"


def test_a_clock_set_back_does_not_hide_an_undo(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    change = str(revise(stores, memory.id, to("the cat wakes")).change)
    assert isinstance(stores.clock, FakeClock)
    stores.clock.at -= timedelta(hours=1)

    undo(stores, change)

    assert stores.log.outcome(change) == "undone"
    with pytest.raises(MadeleineError, match="already undone"):
        undo(stores, change)


def test_a_file_about_the_user_brings_a_self_where_there_is_none(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "vault").mkdir(parents=True)
    (home / "config.toml").write_text('[embedder]\nkind = "fake"\n', encoding="utf-8")
    note = (
        "---\nid: 97acbe8e-0000-4000-8000-000000000001\ntags: [about_self]\n---\nLives in Dublin\n"
    )
    (home / "vault" / "dublin.md").write_text(note, encoding="utf-8")

    context = open_home(home)

    (edge,) = show(context.stores, "97acbe8e").edges
    assert (edge.source, edge.connection.edge) == (SELF_ID, Edge.DEFINES)
    context.close()


def test_a_folder_or_a_link_named_like_a_memory_is_none(stores: Stores) -> None:
    (stores.vault.root / "folder.md").mkdir()
    (stores.vault.root / "link.md").symlink_to("/etc/hostname")

    report = reconcile_paths(stores, ["folder.md", "link.md"])

    assert report.unreadable == []
    assert stores.search.unreadable() == []
