"""Claims: a newer value replaces the older ones at its address, in every copy, as one change."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from madeleine.language.claims import are_rivals
from madeleine.model.draft import Draft, MemoryLimits
from madeleine.model.memory import Claim, Connection, Memory
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.revision import Revision, read_revision
from madeleine.model.words import Edge
from madeleine.recall.recall import recall
from madeleine.vault.markdown import render_memory
from madeleine.write.claims import find_overtaken_claims
from madeleine.write.forget import forget, restore
from madeleine.write.identity import SELF_ID, ensure_self
from madeleine.write.merge import merge
from madeleine.write.reconcile import reconcile
from madeleine.write.remember import RememberResult, remember
from madeleine.write.remember_many import remember_many
from madeleine.write.resolve import get_stored
from madeleine.write.revise import revise
from madeleine.write.show import read_history, show
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, close, keep, make_stores, reopened, vault_bytes
from tests.sentences import in_words


def city(value: str, attribute: str = "home city") -> Claim:
    return Claim("Ana", attribute, value)


def revision(**values: object) -> Revision:
    return read_revision(values, MemoryLimits())


def now_of(stores: Stores, memory: Memory) -> Memory:
    return get_stored(stores, memory.id).memory


def current(stores: Stores) -> set[str]:
    return {each.content for each in stores.search.listing(Filter(), stores.clock.now(), 99)}


def evolved_from(memory: Memory) -> list[Connection]:
    return [each for each in memory.connections if each.edge is Edge.EVOLVED_FROM]


# --- remember -----------------------------------------------------------------------------


def test_a_newer_value_replaces_every_copy_of_the_older_one(stores: Stores) -> None:
    first = keep(stores, "Ana lives in Ghent", claim=city("Ghent"))
    copy = keep(stores, "home is Ghent, says Ana", claim=Claim("ana", "Home  City", "the Ghent"))

    new = keep(stores, "She has moved over to Cork", claim=city("Cork"))

    for old in (first, copy):
        after = now_of(stores, old)
        assert after.superseded_by == new.id
        assert after.valid_until == new.created
    assert current(stores) == {"She has moved over to Cork"}


def test_a_newer_value_names_the_last_one_it_replaces(stores: Stores) -> None:
    keep(stores, "Ana lives in Ghent", claim=city("Ghent"))
    copy = keep(stores, "home is Ghent, says Ana", claim=city("Ghent"))

    result = remember(stores, Draft("She has moved over to Cork", claim=city("Cork")))

    (arrow,) = evolved_from(now_of(stores, result.memory))
    assert (arrow.target, arrow.weight, arrow.by) == (copy.id, 0.9, "claim")
    assert result.linked == now_of(stores, result.memory).connections
    assert copy.short_id in " ".join(in_words(result.notes))


def test_a_value_said_again_stays_beside_the_first(stores: Stores) -> None:
    keep(stores, "Ana lives in Ghent", claim=city("Ghent"))

    result = remember(stores, Draft("home is Ghent, says Ana", claim=city("GHENT ")))

    assert in_words(result.notes) == ()
    assert current(stores) == {"Ana lives in Ghent", "home is Ghent, says Ana"}


def test_other_addresses_are_left_alone(stores: Stores) -> None:
    keep(stores, "Ana lives in Ghent", claim=city("Ghent"))
    keep(stores, "Ana lives in Ghent, so she said")

    keep(stores, "Ana works in Cork", claim=city("Cork", "place of work"))

    assert len(current(stores)) == 3


def test_a_project_replaces_its_own_value_and_never_that_of_another(stores: Stores) -> None:
    port = Claim("server", "port", "80")
    mine = keep(stores, "we serve on 80", space="atlas", claim=port)
    theirs = keep(stores, "we serve on 80", space="orion", claim=port)

    keep(stores, "the port is 90 now", space="atlas", claim=replace(port, value="90"))

    assert now_of(stores, mine).superseded_by is not None
    assert now_of(stores, theirs).superseded_by is None


def test_a_global_value_replaces_those_of_all_projects(stores: Stores) -> None:
    port = Claim("server", "port", "80")
    keep(stores, "we serve on 80", space="atlas", claim=port)
    keep(stores, "we serve on 80", space="orion", claim=port)

    keep(stores, "everything runs on 90 now", claim=replace(port, value="90"))

    assert current(stores) == {"everything runs on 90 now"}


def test_an_old_note_that_comes_late_is_replaced_by_what_is_known(stores: Stores) -> None:
    known = keep(stores, "She has moved over to Cork", claim=city("Cork"))
    before = NOON - timedelta(days=400)

    result = remember(stores, Draft("Ana lives in Ghent", claim=city("Ghent"), created=before))

    late = now_of(stores, result.memory)
    assert (late.superseded_by, late.valid_until) == (known.id, known.created)
    assert known.short_id in " ".join(in_words(result.notes))
    assert [each.target for each in evolved_from(now_of(stores, known))] == [late.id]
    assert current(stores) == {"She has moved over to Cork"}


def test_many_old_notes_draw_one_arrow(stores: Stores) -> None:
    known = keep(stores, "She has moved over to Cork", claim=city("Cork"))
    for day in range(5):
        created = NOON - timedelta(days=100 + day)
        keep(stores, f"letter {day} from Ghent", claim=city("Ghent"), created=created)

    assert len(evolved_from(now_of(stores, known))) == 1
    assert current(stores) == {"She has moved over to Cork"}


def test_a_note_between_two_others_replaces_one_and_is_replaced(stores: Stores) -> None:
    oldest = keep(stores, "Ghent", claim=city("Ghent"), space="orion", created=NOON)
    newest = keep(stores, "Riga", claim=city("Riga"), space="atlas")
    between = NOON + timedelta(microseconds=5)

    middle = keep(stores, "Cork", claim=city("Cork"), created=between)

    assert now_of(stores, oldest).superseded_by == middle.id
    assert now_of(stores, middle).superseded_by == newest.id


def test_a_value_may_come_back(stores: Stores) -> None:
    first = keep(stores, "Ana lives in Ghent", claim=city("Ghent"))
    keep(stores, "She has moved over to Cork", claim=city("Cork"))

    again = keep(stores, "Ana lives in Ghent", claim=city("Ghent"))

    assert again.id != first.id
    assert current(stores) == {"Ana lives in Ghent"}
    assert now_of(stores, again).superseded_by is None


def test_known_words_with_another_claim_are_a_memory_of_their_own(stores: Stores) -> None:
    keep(stores, "the wiki knows the port", claim=Claim("server", "port", "80"))

    again = remember(stores, Draft("the wiki knows the port", claim=Claim("server", "port", "90")))
    silent = remember(stores, Draft("the wiki knows the port"))

    assert not again.existing
    assert silent.existing
    assert silent.memory.id == again.memory.id


def test_what_is_over_already_replaces_nothing(stores: Stores) -> None:
    old = keep(stores, "Ana lives in Ghent", claim=city("Ghent"))

    keep(stores, "A week in Cork", claim=city("Cork"), valid_until=NOON - timedelta(days=1))

    assert now_of(stores, old).superseded_by is None


def test_the_self_is_never_replaced(stores: Stores) -> None:
    ensure_self(stores)
    revise(stores, SELF_ID, revision(claim={"subject": "a", "attribute": "b", "value": "c"}))

    keep(stores, "another", claim=Claim("a", "b", "d"))

    assert get_stored(stores, SELF_ID).memory.superseded_by is None
    assert find_overtaken_claims(stores) == []


def test_one_undo_takes_all_of_it_back_byte_for_byte(stores: Stores) -> None:
    keep(stores, "Ana lives in Ghent", claim=city("Ghent"))
    keep(stores, "home is Ghent, says Ana", claim=city("Ghent"))
    before = vault_bytes(stores)
    result = remember(stores, Draft("She has moved over to Cork", claim=city("Cork")))
    assert result.change is not None

    undo(stores, result.change)

    files = vault_bytes(stores)
    assert {path: data for path, data in files.items() if not path.startswith("trash/")} == before
    assert current(stores) == {"Ana lives in Ghent", "home is Ghent, says Ana"}


def test_a_claim_survives_a_lost_index(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    old = keep(stores, "Ana lives in Ghent", claim=city("Ghent"))
    new = keep(stores, "She has moved over to Cork", claim=city("Cork"))
    expected = [now_of(stores, each) for each in (old, new)]

    again = reopened(stores, home, without_index=True)

    assert [now_of(again, each) for each in (old, new)] == expected
    keep(again, "Riga it is", claim=city("Riga"))
    assert current(again) == {"Riga it is"}
    close(again)


def test_a_rival_that_a_hand_broke_is_left_and_named(stores: Stores) -> None:
    old = get_stored(stores, keep(stores, "Ana lives in Ghent", claim=city("Ghent")).id)
    (stores.vault.root / old.path).write_bytes(b"---\ntype: nonsense\n---\nGhent\n")

    result = remember(stores, Draft("She has moved over to Cork", claim=city("Cork")))

    assert not result.existing
    assert old.path in " ".join(in_words(result.notes))
    assert now_of(stores, result.memory).superseded_by is None


def test_a_rival_that_a_hand_edited_keeps_what_the_hand_wrote(stores: Stores) -> None:
    old = get_stored(stores, keep(stores, "Ana lives in Ghent", claim=city("Ghent")).id)
    path = stores.vault.root / old.path
    path.write_bytes(path.read_bytes().replace(b"lives in", b"dwells near"))

    new = keep(stores, "She has moved over to Cork", claim=city("Cork"))

    after = now_of(stores, old.memory)
    assert (after.content, after.superseded_by) == ("Ana dwells near Ghent", new.id)
    assert old.memory.id in stores.search.unembedded_ids(9)


# --- many ---------------------------------------------------------------------------------


def test_many_at_once_are_as_one_after_the_other(stores: Stores) -> None:
    keep(stores, "was in Oslo", claim=city("Oslo"))
    drafts = [
        Draft("Ana lives in Ghent", claim=city("Ghent")),
        Draft("something else"),
        Draft("home is Ghent, says Ana", claim=city("Ghent")),
        Draft("She has moved over to Cork", claim=city("Cork")),
        Draft("a port", claim=Claim("server", "port", "80")),
    ]

    outcomes = remember_many(stores, drafts)

    assert all(isinstance(each, RememberResult) for each in outcomes)
    made = [each.memory for each in outcomes if isinstance(each, RememberResult)]
    assert current(stores) == {"something else", "She has moved over to Cork", "a port"}
    assert now_of(stores, made[0]).superseded_by == made[3].id
    assert [now_of(stores, each).content for each in made] == [each.content for each in drafts]


def test_of_many_of_one_moment_the_last_one_holds(stores: Stores) -> None:
    values = ["Ghent", "Cork", "Riga", "Oslo", "Bern"]
    drafts = [Draft(f"in {each}", claim=city(each), created=NOON) for each in values]

    remember_many(stores, drafts)

    assert current(stores) == {"in Bern"}


# --- revise -------------------------------------------------------------------------------


def test_a_memory_revised_to_claim_something_replaces_older_values(stores: Stores) -> None:
    old = keep(stores, "Ana lives in Ghent", claim=city("Ghent"))
    plain = keep(stores, "She has moved over to Cork")
    claim = {"subject": "Ana", "attribute": "home city", "value": "Cork"}

    changed = revise(stores, plain.id, revision(claim=claim))

    assert changed.memory.claim == city("Cork")
    assert now_of(stores, old).superseded_by == plain.id
    assert [each.target for each in evolved_from(changed.memory)] == [old.id]


def test_an_older_memory_revised_to_claim_something_is_replaced(stores: Stores) -> None:
    plain = keep(stores, "Ana lives in Ghent")
    new = keep(stores, "She has moved over to Cork", claim=city("Cork"))
    claim = {"subject": "Ana", "attribute": "home city", "value": "Ghent"}

    changed = revise(stores, plain.id, revision(claim=claim))

    assert (changed.memory.superseded_by, changed.memory.valid_until) == (new.id, new.created)
    assert current(stores) == {"She has moved over to Cork"}


def test_a_value_that_is_changed_holds_from_now_on(stores: Stores) -> None:
    first = keep(stores, "Ana's home", claim=city("Ghent"))
    copy = keep(stores, "home is Ghent, says Ana", claim=city("Ghent"))
    claim = {"subject": "Ana", "attribute": "home city", "value": "Cork"}

    changed = revise(stores, first.id, revision(claim=claim))

    after = now_of(stores, copy)
    assert changed.memory.superseded_by is None
    assert after.superseded_by == first.id
    assert after.valid_until is not None
    assert after.valid_until > copy.created


def test_a_claim_can_be_taken_away_and_one_undo_brings_all_back(stores: Stores) -> None:
    keep(stores, "Ana lives in Ghent", claim=city("Ghent"))
    plain = keep(stores, "She has moved over to Cork")
    before = vault_bytes(stores)
    claim = {"subject": "Ana", "attribute": "home city", "value": "Cork"}
    changed = revise(stores, plain.id, revision(claim=claim))
    assert changed.change is not None

    undo(stores, changed.change)
    assert vault_bytes(stores) == before

    revise(stores, plain.id, revision(claim=claim))
    assert revise(stores, plain.id, revision(claim=None)).memory.claim is None


def test_a_memory_that_moves_into_a_space_meets_its_claims(stores: Stores) -> None:
    mine = keep(stores, "we serve on 80", space="atlas", claim=Claim("server", "port", "80"))
    other = keep(stores, "it is 90", space="orion", claim=Claim("server", "port", "90"))

    revise(stores, other.id, revision(space="atlas"))

    assert now_of(stores, mine).superseded_by == other.id


# --- what came from outside ---------------------------------------------------------------


def written_by_hand(stores: Stores, memory: Memory) -> None:
    (stores.vault.root / f"{memory.id}.md").write_bytes(render_memory(memory))
    reconcile(stores)


def test_files_that_disagree_are_found_for_the_night(stores: Stores) -> None:
    new = keep(stores, "She has moved over to Cork", claim=city("Cork"))
    before = NOON - timedelta(days=9)
    old = Memory("0" * 8 + new.id[8:], "in Ghent", before, before, claim=city("Ghent"))
    written_by_hand(stores, old)
    keep(stores, "the port of atlas", space="atlas", claim=Claim("server", "port", "80"))
    keep(stores, "the port of orion", space="orion", claim=Claim("server", "port", "90"))

    pairs = find_overtaken_claims(stores)

    assert [(older.id, newer.id) for older, newer in pairs] == [(old.id, new.id)]


def test_a_restored_old_value_is_found_for_the_night(stores: Stores) -> None:
    old = keep(stores, "Ana lives in Ghent", claim=city("Ghent"))
    forget(stores, old.id)
    new = keep(stores, "She has moved over to Cork", claim=city("Cork"))
    restore(stores, old.id)

    assert [(older.id, newer.id) for older, newer in find_overtaken_claims(stores)] == [
        (old.id, new.id)
    ]
    assert find_overtaken_claims(stores, limit=0) == []


# --- recall -------------------------------------------------------------------------------

UPDATES = [
    ("Ana lives in a flat in the old town of Ghent", "The harbour of Cork is where she moved to"),
    ("Ana's home city is Ghent, Belgium", "Boxes are packed, it is Ireland now"),
]
QUESTIONS = ["where does Ana live?", "Ana's home city", "Ghent old town flat", "Belgium or Cork?"]


@pytest.mark.parametrize(("old", "new"), UPDATES)
@pytest.mark.parametrize("outdated", [False, True])
def test_an_old_value_is_never_the_first_answer(
    stores: Stores, old: str, new: str, outdated: bool
) -> None:
    for number in range(20):
        keep(stores, f"note {number} about the service and its database")
    before = keep(stores, old, claim=city("Ghent"))
    after = keep(stores, new, claim=city("Cork"))

    for question in QUESTIONS:
        hits = recall(stores, RecallQuery(question, filter=Filter(outdated=outdated))).hits
        places = [hit.memory.id for hit in hits]
        assert before.id not in places[:1], question
        assert outdated or before.id not in places
        if before.id in places:
            assert places.index(after.id) < places.index(before.id)


def test_history_and_show_keep_all_values(stores: Stores) -> None:
    old = keep(stores, "Ana lives in Ghent", claim=city("Ghent"))
    new = keep(stores, "She has moved over to Cork", claim=city("Cork"))

    assert show(stores, old.id).stored.memory.claim == city("Ghent")
    _, events = read_history(stores, old.id)
    assert [each.body["verb"] for each in events if "verb" in each.body] == ["remember"] * 2
    assert new.id in {row.source for row in stores.graph.edges([old.id])}
    shown_then = Filter(as_of=old.created + timedelta(microseconds=1))
    then = stores.search.listing(shown_then, stores.clock.now(), 9)
    assert [each.id for each in then] == [old.id]


def test_a_merge_keeps_the_claim_of_either(stores: Stores) -> None:
    kept = keep(stores, "Ana lives in Ghent")
    copy = keep(stores, "home is Ghent, says Ana", claim=city("Ghent"))

    merge(stores, kept.id, copy.id)

    assert now_of(stores, kept).claim == city("Ghent")


def test_of_claims_made_at_the_same_time_one_holds(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home")
    keep(stores, "Ana lives in Ghent", claim=city("Ghent"))
    drafts = [Draft(f"Ana is in place {each}", claim=city(f"place {each}")) for each in range(8)]

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda draft: remember(stores, draft), drafts))

    assert len(current(stores)) == 1
    assert len(vault_bytes(stores)) == 9
    close(stores)


# --- any order ----------------------------------------------------------------------------

said = st.builds(
    lambda value, day, space: (value, day, space),
    st.sampled_from(["Ghent", "Cork", "Riga"]),
    st.none() | st.integers(0, 4),
    st.sampled_from([None, None, "atlas", "orion"]),
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(said, max_size=6), st.booleans())
def test_whatever_is_said_in_whatever_order_what_holds_does_not_disagree(
    tmp_path_factory: pytest.TempPathFactory, words: Sequence[tuple[str, int, str]], at_once: bool
) -> None:
    stores = make_stores(tmp_path_factory.mktemp("claims") / "home", with_model=False)
    drafts = [
        Draft(
            f"number {number} says {value}",
            space=space,
            claim=city(value),
            created=None if day is None else NOON - timedelta(days=day),
        )
        for number, (value, day, space) in enumerate(words)
    ]
    if at_once:
        remember_many(stores, drafts)
    else:
        for draft in drafts:
            remember(stores, draft)
    holding = stores.search.listing(Filter(), stores.clock.now(), 99)
    everything = stores.search.listing(Filter(outdated=True), stores.clock.now(), 99)
    close(stores)

    assert len(everything) == len(drafts)
    assert bool(holding) == bool(drafts)
    assert not any(are_rivals(one, other) for one in holding for other in holding)
