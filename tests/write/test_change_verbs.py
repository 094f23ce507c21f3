"""Revise, retire, forget, restore, link, unlink: each a change that can be undone."""

from __future__ import annotations

import pytest

from madeleine.errors import (
    AlreadyDone,
    AmbiguousId,
    EditedSince,
    FileChanged,
    NoSuchChange,
    NoSuchConnection,
    NoSuchMemory,
    NotInTrash,
    Rejected,
    SelfLink,
)
from madeleine.model.draft import MemoryLimits
from madeleine.model.event import EventKind
from madeleine.model.memory import Connection
from madeleine.model.query import Filter
from madeleine.model.revision import Revision, read_revision
from madeleine.model.words import ABOUT_SELF, Edge, Tier
from madeleine.write.connections import link, unlink
from madeleine.write.forget import forget, restore
from madeleine.write.identity import SELF_ID
from madeleine.write.resolve import get_stored, resolve_id
from madeleine.write.revise import retire, revise
from madeleine.write.show import read_history, show
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import keep, vault_bytes


def revision(**values: object) -> Revision:
    return read_revision(values, MemoryLimits())


def test_a_revision_changes_only_what_it_names(stores: Stores) -> None:
    memory = keep(stores, "Uses Postgres", title="Database", space="atlas", tags=("db",))

    changed = revise(stores, memory.short_id, revision(content="Uses SQLite"))

    after = get_stored(stores, memory.id).memory
    assert after.content == "Uses SQLite"
    assert (after.title, after.space, after.tags) == ("Database", "atlas", ("db",))
    assert after.updated > memory.updated
    assert changed.change is not None


def test_a_field_can_be_cleared(stores: Stores) -> None:
    memory = keep(stores, "text", title="T", space="atlas", tags=("a",))

    revise(stores, memory.id, revision(title=None, space=None, tags=None))

    after = get_stored(stores, memory.id).memory
    assert (after.title, after.space, after.tags) == (None, None, ())


def test_what_must_be_there_cannot_be_cleared(stores: Stores) -> None:
    for field in ("content", "type", "tier", "confidence"):
        with pytest.raises(Rejected):
            revision(**{field: None})
    with pytest.raises(Rejected, match="changes nothing"):
        revision()


def test_saying_the_same_again_writes_nothing(stores: Stores) -> None:
    memory = keep(stores, "text", title="T")
    before = vault_bytes(stores)

    changed = revise(stores, memory.id, revision(title="T"))

    assert changed.change is None
    assert vault_bytes(stores) == before


def test_a_revision_made_for_an_older_state_is_refused(stores: Stores) -> None:
    memory = keep(stores, "text")
    revise(stores, memory.id, revision(title="one"))

    with pytest.raises(FileChanged):
        revise(stores, memory.id, revision(title="two", if_updated=memory.updated))


def test_a_revised_text_is_found_by_its_new_words_only(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")

    revise(stores, memory.id, revision(content="the dog barks"))

    now = stores.clock.now()
    assert stores.search.search_text(["cat"], Filter(), now, 5) == []
    assert [h.id for h in stores.search.search_text(["dog"], Filter(), now, 5)] == [memory.id]


def test_revising_an_archival_memory_keeps_its_tier(stores: Stores) -> None:
    memory = keep(stores, "old", tier=Tier.ARCHIVAL)

    revise(stores, memory.id, revision(content="old but right"))

    assert get_stored(stores, memory.id).memory.tier is Tier.ARCHIVAL


def test_retiring_dates_a_memory_and_links_what_replaced_it(stores: Stores) -> None:
    old = keep(stores, "Uses Postgres")
    new = keep(stores, "Uses SQLite now, everywhere")

    retire(stores, old.id, reason="we moved", superseded_by=new.short_id)

    retired = get_stored(stores, old.id).memory
    assert retired.valid_until is not None
    assert retired.superseded_by == new.id
    edge = [c for c in get_stored(stores, new.id).memory.connections if c.edge is Edge.EVOLVED_FROM]
    assert [(c.target, c.weight, c.reason) for c in edge] == [(old.id, 0.9, "we moved")]
    assert old.id not in [m.id for m in stores.search.listing(Filter(), stores.clock.now(), 9)]


def test_a_memory_cannot_replace_itself(stores: Stores) -> None:
    memory = keep(stores, "x marks the spot")

    with pytest.raises(Rejected):
        retire(stores, memory.id, superseded_by=memory.id)


def test_forget_then_restore_is_as_before(stores: Stores) -> None:
    one = keep(stores, "one to forget", title="One")
    other = keep(stores, "points to it", connections=(Connection(one.id, Edge.SUPPORTS),))
    before = vault_bytes(stores)
    shown = show(stores, other.id)

    gone = forget(stores, one.short_id)

    assert gone.trash_path.startswith("trash/")
    with pytest.raises(NoSuchMemory):
        get_stored(stores, one.id)
    assert [e.resolved for e in show(stores, other.id).edges] == [False]
    restore(stores, one.short_id)
    assert vault_bytes(stores) == before
    assert show(stores, other.id) == shown


def test_restoring_what_was_never_forgotten_says_so(stores: Stores) -> None:
    with pytest.raises(NotInTrash):
        restore(stores, "deadbeef")


def test_the_self_can_neither_be_forgotten_nor_retired_nor_moved(stores: Stores) -> None:
    keep(stores, "about me", tags=(ABOUT_SELF,), about_self=True)

    with pytest.raises(Rejected):
        forget(stores, SELF_ID)
    with pytest.raises(Rejected):
        retire(stores, SELF_ID)
    with pytest.raises(Rejected):
        revise(stores, SELF_ID, revision(space="atlas"))


def test_linking_by_short_id_twice_makes_one_connection(stores: Stores) -> None:
    one, two = keep(stores, "apples are red"), keep(stores, "the moon is far")

    link(stores, one.short_id, Connection(two.short_id, Edge.SUPPORTS, 0.4, "why"), by="me")
    link(stores, one.short_id, Connection(two.short_id, Edge.SUPPORTS, 0.7), by="me")

    connections = get_stored(stores, one.id).memory.connections
    assert [(c.target, c.weight, c.reason, c.by) for c in connections] == [
        (two.id, 0.7, "why", "me")
    ]


def test_a_memory_cannot_be_linked_to_itself_or_to_nothing(stores: Stores) -> None:
    one = keep(stores, "alone in the dark")

    with pytest.raises(SelfLink):
        link(stores, one.id, Connection(one.id))
    with pytest.raises(NoSuchMemory):
        link(stores, one.id, Connection("deadbeef"))


def test_unlinking_takes_one_edge_or_all(stores: Stores) -> None:
    one, two = keep(stores, "apples are red"), keep(stores, "the moon is far")
    link(stores, one.id, Connection(two.id, Edge.SUPPORTS))
    link(stores, one.id, Connection(two.id, Edge.PART_OF))

    unlink(stores, one.id, two.id, Edge.SUPPORTS)

    assert [c.edge for c in get_stored(stores, one.id).memory.connections] == [Edge.PART_OF]
    with pytest.raises(NoSuchConnection):
        unlink(stores, one.id, two.id, Edge.SUPPORTS)
    unlink(stores, one.id, two.id)
    assert get_stored(stores, one.id).memory.connections == ()


def test_unlinking_from_the_self_takes_the_tag_away(stores: Stores) -> None:
    memory = keep(stores, "Lives in Dublin", tags=(ABOUT_SELF,), about_self=True)

    unlink(stores, SELF_ID, memory.id, Edge.DEFINES)

    assert show(stores, memory.id).edges == ()


def test_an_ambiguous_prefix_lists_the_candidates(stores: Stores) -> None:
    keep(stores, "one thing", id="97acbe8e-0000-4000-8000-000000000001")
    keep(stores, "another matter", id="97acbe8e-0000-4000-8000-000000000002")

    with pytest.raises(AmbiguousId, match="fits 2 memories") as refused:
        resolve_id(stores, "97acbe8e")

    assert "one thing" in refused.value.hint
    assert "another matter" in refused.value.hint


@pytest.mark.few(6)
@pytest.mark.parametrize("wanted", ["%", "_", "*", "9%", "", " ", "../x", "zz", "97acbe8e' OR 1"])
def test_a_wildcard_in_an_id_matches_nothing(stores: Stores, wanted: str) -> None:
    keep(stores, "one thing", id="97acbe8e-0000-4000-8000-000000000001")

    with pytest.raises(NoSuchMemory):
        resolve_id(stores, wanted)


def test_a_slip_in_an_id_is_answered_with_what_was_meant(stores: Stores) -> None:
    keep(stores, "Use SQLite", id="97acbe8e-0000-4000-8000-000000000001")

    with pytest.raises(NoSuchMemory) as refused:
        resolve_id(stores, "97acbe8f")

    assert "Use SQLite" in refused.value.hint


@pytest.mark.proves("I7")
def test_every_change_can_be_undone_and_redone(stores: Stores) -> None:
    memory = keep(stores, "Uses Postgres", title="Database")
    before = vault_bytes(stores)
    changed = revise(stores, memory.id, revision(content="Uses SQLite", title=None))
    after = vault_bytes(stores)
    assert changed.change is not None

    undone = undo(stores, changed.change)
    assert vault_bytes(stores) == before
    assert get_stored(stores, memory.id).memory.content == "Uses Postgres"
    with pytest.raises(AlreadyDone):
        undo(stores, changed.change)

    undo(stores, undone.change)
    assert vault_bytes(stores) == after
    undo(stores, changed.change)
    assert vault_bytes(stores) == before


@pytest.mark.by_hand
def test_undo_never_overwrites_what_a_person_wrote_since(stores: Stores) -> None:
    memory = keep(stores, "Uses Postgres", title="Database")
    changed = revise(stores, memory.id, revision(content="Uses SQLite"))
    path = stores.vault.root / get_stored(stores, memory.id).path
    path.write_text(path.read_text(encoding="utf-8") + "by hand\n", encoding="utf-8")

    with pytest.raises(EditedSince, match=r"^“Database” was changed since"):
        undo(stores, str(changed.change))

    assert "by hand" in path.read_text(encoding="utf-8")


def test_undo_says_what_was_forgotten_since_by_its_title(stores: Stores) -> None:
    memory = keep(stores, "Uses Postgres", title="Database")
    changed = revise(stores, memory.id, revision(content="Uses SQLite"))
    forget(stores, memory.id)

    with pytest.raises(EditedSince, match=r"^“Database” was forgotten or merged since"):
        undo(stores, str(changed.change))


def test_undoing_a_remember_moves_it_to_the_trash(stores: Stores) -> None:
    memory = keep(stores, "a slip of the tongue")
    _, events = read_history(stores, memory.id)
    change = next(e for e in events if e.kind is EventKind.REMEMBERED).body["change"]

    undo(stores, str(change))

    assert [name.split("/")[0] for name in vault_bytes(stores)] == ["trash"]
    assert restore(stores, memory.id).memory.content == "a slip of the tongue"


def test_the_history_knows_what_was_made_to_hold_again(stores: Stores) -> None:
    memory = keep(stores, "the ford is passable")
    retire(stores, memory.id)
    revise(stores, memory.id, revision(valid_until=None, superseded_by=None))
    revise(stores, memory.id, revision(title="The ford"))

    _, events = read_history(stores, memory.id)

    told = [each.body.get("details") for each in events if each.body.get("verb") == "revise"]
    assert told == [{}, {"revived": True}]


def test_undoing_what_never_was_says_so(stores: Stores) -> None:
    with pytest.raises(NoSuchChange):
        undo(stores, "abcdef12")


def test_history_tells_what_happened_newest_first(stores: Stores) -> None:
    memory = keep(stores, "text to follow")
    revise(stores, memory.id, revision(title="T"))
    forget(stores, memory.id, reason="no longer needed")

    _, events = read_history(stores, memory.short_id)

    verbs = [
        e.body.get("verb") for e in events if e.kind in (EventKind.CHANGED, EventKind.REMEMBERED)
    ]
    assert verbs == ["forget", "revise", "remember"]
