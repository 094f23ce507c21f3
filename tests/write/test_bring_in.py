"""What becomes of memories that come from elsewhere."""

from __future__ import annotations

from datetime import timedelta

import pytest

from madeleine.errors import IdTaken, InvalidValue, MadeleineError
from madeleine.model.incoming import ImportBatch, IncomingMemory, read_incoming
from madeleine.model.revision import Revision
from madeleine.model.words import Edge, Tier
from madeleine.write.forget import forget, restore
from madeleine.write.import_memories import ImportedMemory, import_memories
from madeleine.write.merge import merge
from madeleine.write.resolve import get_memory
from madeleine.write.revise import revise
from madeleine.write.show import read_history
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, close, keep, reopened, vault_bytes

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TWO = "aaaaaaaa-0000-4000-8000-000000000002"


def item(stores: Stores, content: str, **fields: object) -> IncomingMemory:
    values = {"id": ONE, "content": content, "source": "import:test", **fields}
    return read_incoming(values, stores.config.limits, None)


def bring(
    stores: Stores, *items: IncomingMemory, run: str = "", dry_run: bool = False
) -> list[ImportedMemory]:
    outcomes = import_memories(
        stores, items, ImportBatch("import:test", run or stores.new_id(), dry_run)
    )
    for each in outcomes:
        if isinstance(each, MadeleineError):
            raise each
    return [each for each in outcomes if isinstance(each, ImportedMemory)]


def fate(stores: Stores, one: IncomingMemory) -> str:
    return bring(stores, one)[0].fate.value


def test_what_comes_in_keeps_id_dates_and_connections_that_dangle(stores: Stores) -> None:
    created = "2024-01-01T00:00:00Z"
    links = [{"target": TWO, "edge": "supports", "weight": 0.9, "reason": "says so"}]

    bring(stores, item(stores, "tea is better", created=created, connections=links, title="Tea"))

    memory = get_memory(stores, ONE)
    assert memory.created.isoformat() == "2024-01-01T00:00:00+00:00"
    assert [(each.target, each.edge, each.by) for each in memory.connections] == [
        (TWO, Edge.SUPPORTS, "import:test")
    ]
    bring(stores, item(stores, "coffee is worse", id=TWO))
    rows = stores.graph.edges([TWO])
    assert any(row.source == ONE and row.resolved for row in rows)


def test_a_changed_source_revises_and_the_history_says_so(stores: Stores) -> None:
    bring(stores, item(stores, "tea", tags=["drink"]))

    revised = fate(stores, item(stores, "green tea", tags=["drink", "green"]))

    assert revised == "revised"
    memory = get_memory(stores, ONE)
    assert (memory.content, memory.tags) == ("green tea", ("drink", "green"))
    verbs = [each.body.get("verb") for each in read_history(stores, ONE)[1]]
    assert verbs == ["import", "import"]
    assert fate(stores, item(stores, "green tea", tags=["drink", "green"])) == "known"


def test_a_tag_or_link_that_is_new_at_the_source_is_added(stores: Stores) -> None:
    bring(stores, item(stores, "tea"))
    link = [{"target": TWO, "edge": "part_of"}]

    assert fate(stores, item(stores, "tea", tags=["drink"], connections=link)) == "revised"

    memory = get_memory(stores, ONE)
    assert memory.tags == ("drink",)
    assert TWO in {each.target for each in memory.connections}


def test_what_was_edited_here_is_not_overwritten(stores: Stores) -> None:
    bring(stores, item(stores, "tea"))
    revise(stores, ONE, Revision({"content": "tea, but strong"}))

    same = bring(stores, item(stores, "tea"))[0]
    changed = bring(stores, item(stores, "green tea"))[0]

    assert same.fate.value == "known"
    assert changed.fate.value == "kept"
    assert "changed here too" in changed.note
    assert get_memory(stores, ONE).content == "tea, but strong"


def test_jobs_that_link_or_move_a_memory_are_no_edit(stores: Stores) -> None:
    bring(stores, item(stores, "tea"))
    revise(stores, ONE, Revision({"tier": Tier.ARCHIVAL, "tags": ("mine",)}))

    assert fate(stores, item(stores, "green tea", tags=["its"])) == "revised"

    memory = get_memory(stores, ONE)
    assert memory.tier is Tier.ARCHIVAL
    assert memory.tags == ("mine", "its")


def test_what_was_forgotten_here_does_not_come_back(stores: Stores) -> None:
    bring(stores, item(stores, "tea"))
    forget(stores, ONE)

    assert fate(stores, item(stores, "tea")) == "forgotten"
    assert fate(stores, item(stores, "green tea")) == "forgotten"

    restore(stores, ONE)
    assert fate(stores, item(stores, "tea")) == "known"


def test_what_was_merged_away_here_does_not_come_back(stores: Stores) -> None:
    bring(stores, item(stores, "tea in the morning"), item(stores, "tea at eight", id=TWO))
    merge(stores, ONE, TWO)

    assert fate(stores, item(stores, "tea at eight", id=TWO)) == "forgotten"


def test_one_undo_takes_a_whole_import_back_and_it_can_come_again(stores: Stores) -> None:
    known = keep(stores, "was here before")
    before = vault_bytes(stores)
    bring(stores, item(stores, "tea"), run=TWO)
    bring(stores, item(stores, "milk", id=TWO), run=TWO)

    undo(stores, TWO)

    now = vault_bytes(stores)
    assert {path: now[path] for path in now if not path.startswith("trash/")} == before
    assert stores.search.get(known.id) is not None
    assert fate(stores, item(stores, "tea")) == "written"


def test_a_dry_run_changes_no_byte(stores: Stores) -> None:
    bring(stores, item(stores, "tea"))
    files, events = vault_bytes(stores), stores.search.counts().events

    outcomes = bring(stores, item(stores, "green tea"), item(stores, "milk", id=TWO), dry_run=True)

    assert [each.fate.value for each in outcomes] == ["revised", "written"]
    assert vault_bytes(stores) == files
    assert stores.search.counts().events == events


def test_a_plain_text_that_is_known_is_not_written_twice(stores: Stores) -> None:
    known = keep(stores, "tea  is\nbetter")

    outcomes = bring(
        stores,
        item(stores, "tea is better", plain=True),
        item(stores, "milk first", plain=True, id=TWO),
        item(stores, "milk  first", plain=True, id=ONE[:-1] + "9"),
    )

    assert [each.fate.value for each in outcomes] == ["known", "written", "known"]
    assert [each.memory_id for each in outcomes] == [known.id, TWO, TWO]


def test_use_is_taken_over_once_and_survives_a_rebuild(stores: Stores) -> None:
    used = {
        "access_count": 12,
        "last_accessed": "2026-01-05T00:00:00Z",
        "stability": 30.5,
        "importance": 0.8,
        "relevance": 0.25,
    }
    bring(stores, item(stores, "tea", usage=used, whole=True))
    bring(stores, item(stores, "tea", usage={**used, "access_count": 99}, whole=True))

    memory = get_memory(stores, ONE)
    fresh = reopened(stores, stores.vault.root.parent, without_index=True)
    assert (memory.access_count, memory.stability) == (12, 30.5)
    assert (memory.importance, memory.relevance) == (0.8, 0.25)
    assert get_memory(fresh, ONE) == memory
    close(fresh)


def test_a_whole_memory_gets_no_links_by_likeness(stores: Stores) -> None:
    keep(stores, "green tea is brewed at eighty degrees")

    bring(stores, item(stores, "green tea is brewed at eighty degrees!", whole=True))

    assert get_memory(stores, ONE).connections == ()


def test_a_file_comes_back_to_its_folder_with_every_byte(stores: Stores) -> None:
    dates = "created: 2024-01-01T00:00:00Z\nupdated: 2024-01-01T00:00:00Z\n"
    text = f"---\nid: {ONE}\n# mine\nmood: good\n{dates}source: file\n---\ntea\n"
    state = {"created": "2024-01-01T00:00:00Z", "updated": "2024-01-01T00:00:00Z", "source": "file"}

    bring(stores, item(stores, "tea", path="notes/tea.md", file=text, whole=True, **state))

    assert vault_bytes(stores) == {"notes/tea.md": text.encode()}


def test_a_file_that_says_another_thing_than_its_fields_is_not_taken(stores: Stores) -> None:
    lie = f"---\nid: {ONE}\n---\nsomething else\n"

    bring(stores, item(stores, "tea", file=lie, whole=True))

    assert get_memory(stores, ONE).content == "tea"


@pytest.mark.parametrize("path", ["../out.md", "/etc/out.md", "a/../../out.md", "x/./y.md"])
def test_no_path_leads_out_of_the_vault(stores: Stores, path: str) -> None:
    try:
        bring(stores, item(stores, "tea", path=path, whole=True))
    except InvalidValue:
        pass

    outside = list(stores.vault.root.parent.rglob("out.md"))
    assert outside == []


def test_two_things_with_one_id_are_told_apart(stores: Stores) -> None:
    with pytest.raises(IdTaken):
        bring(stores, item(stores, "tea"), item(stores, "something else"))

    assert get_memory(stores, ONE).content == "tea"


def test_the_state_updated_last_wins_with_all_its_fields(stores: Stores) -> None:
    later = (NOON + timedelta(days=400)).isoformat()
    bring(stores, item(stores, "tea", whole=True, tags=["a"], tier="core"))

    assert fate(stores, item(stores, "milk", whole=True, updated=later, tags=["b"])) == "revised"
    assert fate(stores, item(stores, "tea", whole=True, tags=["a"])) == "kept"

    memory = get_memory(stores, ONE)
    assert (memory.content, memory.tags, memory.tier) == ("milk", ("b",), Tier.WORKING)


def test_a_forgotten_memory_comes_into_the_trash(stores: Stores) -> None:
    assert fate(stores, item(stores, "tea", whole=True, trashed=True)) == "written"
    assert stores.search.get(ONE) is None

    assert restore(stores, ONE).memory.content == "tea"
    assert fate(stores, item(stores, "tea", whole=True, trashed=True)) == "kept"
