"""Consolidation: several memories told as one, and none of them gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from madeleine.language.extracts import extract_synthesis
from madeleine.language.substance import find_lost_words
from madeleine.model.memory import Claim, Connection, Memory, Origin
from madeleine.model.proposal import ProposalStatus
from madeleine.model.query import Filter
from madeleine.model.verdict import Relation, Synthesis
from madeleine.model.words import ABOUT_SELF, Edge, MemoryType, Tier
from madeleine.sleep.jobs.consolidator import make_consolidator
from madeleine.sleep.values import Merge, Patch
from madeleine.write.proposals import decide_proposal
from madeleine.write.revise import retire
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, keep, vault_bytes
from tests.sleep.nights import job_of, run
from tests.sleep.scripted import ScriptedJudge, always, between, context, says

RED = "red apples grow in the garden behind the house"
GREEN = "green pears grow in the garden behind the house"
BLUE = "blue plums grow in the garden behind the house"
FRUIT = "red apples, green pears and blue plums grow in the garden behind the house"


def as_told(members: Sequence[Memory]) -> Synthesis:
    return Synthesis("Told as one", " ".join(f"{each.content}." for each in members))


def writer(
    text: Callable[[Sequence[Memory]], Synthesis | None] = as_told, cheap: bool = False
) -> ScriptedJudge:
    return ScriptedJudge(always(says(Relation.RELATED_TO)), cheap, text)


def keep_at(stores: Stores, content: str, days: float, **fields: object) -> Memory:
    return keep(stores, content, created=NOON + timedelta(days=days), **fields)


def new_ones(stores: Stores, before: Sequence[Memory]) -> list[Memory]:
    known = {each.id for each in before}
    found = stores.search.listing(Filter(), stores.clock.now(), 100)
    return [each for each in found if each.id not in known]


def now(stores: Stores, memory: Memory) -> Memory:
    return stores.search.memories([memory.id])[memory.id]


def test_a_cluster_becomes_one_memory_that_is_linked_to_all(stores: Stores) -> None:
    old = [keep_at(stores, text, -9) for text in (RED, GREEN, BLUE)]
    said = writer(lambda members: Synthesis("Fruit", FRUIT))

    report = context(stores, make_consolidator(), said)

    (made,) = new_ones(stores, old)
    assert (made.title, made.content, made.tier) == ("Fruit", FRUIT, Tier.WORKING)
    assert {(c.target, c.edge, c.weight) for c in made.connections} == {
        (each.id, Edge.DERIVED_FROM, 1.0) for each in old
    }
    assert all(c.by == "consolidator" and c.reason and c.at for c in made.connections)
    assert report.applied == 1


def test_the_originals_go_to_the_archive_and_stay_true(stores: Stores) -> None:
    old = [keep(stores, text) for text in (RED, GREEN, BLUE)]

    context(stores, make_consolidator(), writer())

    for each in old:
        found = now(stores, each)
        assert (found.tier, found.content) == (Tier.ARCHIVAL, each.content)
        assert found.superseded_by is None
        assert found.valid_until is None


def test_the_new_memory_can_be_found_by_meaning(stores: Stores) -> None:
    old = [keep(stores, text) for text in (RED, GREEN)]

    context(stores, make_consolidator(), writer())

    (made,) = new_ones(stores, old)
    assert made.id in stores.search.vectors([made.id])


def test_it_is_as_new_as_the_newest_and_as_sure_as_the_least_sure(stores: Stores) -> None:
    fact, decision = MemoryType.FACT, MemoryType.DECISION
    old = [
        keep_at(stores, RED, -9, confidence=0.9, tags=("fruit",), type=decision, space="atlas"),
        keep_at(stores, GREEN, -5, confidence=0.4, tags=("pears",), type=fact, space="atlas"),
        keep_at(stores, BLUE, -1, tags=("fruit",), type=decision, space="atlas"),
    ]

    context(stores, make_consolidator(), writer())

    (made,) = new_ones(stores, old)
    assert made.created == old[2].created
    assert made.confidence == 0.4
    assert made.type is decision
    assert made.space == "atlas"
    assert sorted(made.tags) == ["fruit", "pears"]


def test_what_the_self_defines_stays_defined_by_it(stores: Stores) -> None:
    old = [keep(stores, RED, tags=(ABOUT_SELF,), about_self=True), keep(stores, GREEN)]
    the_self = stores.graph.self_id()
    assert the_self is not None

    context(stores, make_consolidator(), writer())

    (made,) = [each for each in new_ones(stores, old) if each.id != the_self]
    defined = {
        row.connection.target
        for row in stores.graph.edges([the_self])
        if row.connection.edge is Edge.DEFINES
    }
    assert {made.id, old[0].id} <= defined


def test_where_it_came_from_is_kept_as_far_as_all_agree(stores: Stores) -> None:
    old = [
        keep(stores, RED, origin=Origin("s1", 1, "Ana", "file:a")),
        keep(stores, GREEN, origin=Origin("s1", 2, "Ana", "file:b")),
    ]

    context(stores, make_consolidator(), writer())

    (made,) = new_ones(stores, old)
    assert made.origin == Origin(session="s1", speaker="Ana")


@pytest.mark.parametrize("text", ["apples and pears grow", "", "red fruit"])
def test_a_text_that_leaves_something_out_is_refused(stores: Stores, text: str) -> None:
    keep(stores, RED)
    keep(stores, GREEN)
    before = vault_bytes(stores)

    report = context(stores, make_consolidator(), writer(lambda members: Synthesis("Fruit", text)))

    assert report.applied == 0
    assert vault_bytes(stores) == before


def test_a_text_that_drops_a_number_is_refused_and_counted(stores: Stores) -> None:
    keep(stores, "the cache of Atlas holds 100 entries at most")
    keep(stores, "the cache of Atlas holds entries for 30 minutes at most")
    text = "the cache of Atlas holds entries for some minutes, 100 at most"

    report = context(stores, make_consolidator(), writer(lambda members: Synthesis("", text)))

    assert report.applied == 0
    assert sum(report.problems.values()) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Atlas has 3 replicas in zone A", "Atlas has 5 replicas in zone B"),
        ("the pump of the garden is on", "the pump of the garden is off"),
    ],
)
def test_a_text_that_says_only_what_the_first_says_is_refused(
    stores: Stores, one: str, other: str
) -> None:
    keep(stores, one)
    keep(stores, other)
    before = vault_bytes(stores)

    report = context(stores, make_consolidator(), writer(lambda members: Synthesis("", one)))

    assert vault_bytes(stores) == before
    assert sum(report.problems.values()) == 1


def test_no_word_is_lost_between_text_and_links(stores: Stores) -> None:
    old = [keep(stores, text) for text in (RED, GREEN, BLUE)]

    context(stores, make_consolidator(), writer(lambda members: Synthesis("Fruit", FRUIT)))

    (made,) = new_ones(stores, old)
    linked = stores.search.memories([c.target for c in made.connections]).values()
    said = "\n".join([made.content, *(each.content for each in linked)])
    assert find_lost_words(said, [RED, GREEN, BLUE]) == frozenset()


def untouched(stores: Stores, judge: ScriptedJudge | None = None) -> bool:
    before = vault_bytes(stores)
    context(stores, make_consolidator(), judge or writer())
    return vault_bytes(stores) == before


def test_a_core_memory_is_not_consolidated(stores: Stores) -> None:
    keep(stores, RED, tier=Tier.CORE)
    keep(stores, GREEN)

    assert untouched(stores)


def test_an_archival_memory_is_not_consolidated(stores: Stores) -> None:
    keep(stores, RED, tier=Tier.ARCHIVAL)
    keep(stores, GREEN)

    assert untouched(stores)


def test_a_retired_memory_is_not_consolidated(stores: Stores) -> None:
    old = keep(stores, RED)
    keep(stores, GREEN)
    retire(stores, old.id)

    assert untouched(stores)


def test_two_projects_are_not_told_as_one(stores: Stores) -> None:
    keep(stores, RED, space="atlas")
    keep(stores, GREEN)

    assert untouched(stores)


def test_what_contradicts_each_other_is_not_told_as_one(stores: Stores) -> None:
    one = keep(stores, RED)
    keep(stores, GREEN, connections=(Connection(one.id, Edge.CONTRADICTS, 0.9),))

    assert untouched(stores)


def test_what_the_judge_finds_at_odds_is_not_told_as_one(stores: Stores) -> None:
    keep(stores, RED)
    keep(stores, GREEN)

    judge = ScriptedJudge(between("red", "green", says(Relation.TENSION)), False, as_told)
    assert untouched(stores, judge)


def test_events_keep_their_days(stores: Stores) -> None:
    keep(stores, RED, type=MemoryType.EVENT)
    keep(stores, GREEN, type=MemoryType.EVENT)

    assert untouched(stores)


def test_a_claim_stands_by_itself(stores: Stores) -> None:
    keep(stores, RED, claim=Claim("garden", "apples", "red"))
    keep(stores, GREEN)

    assert untouched(stores)


def test_consolidation_never_hides_text_it_did_not_read(stores: Stores) -> None:
    keep(stores, RED + " and so on" * 1_000)
    keep(stores, GREEN + " and so on" * 1_000)

    assert untouched(stores)


def test_a_chain_of_neighbours_is_not_a_cluster(stores: Stores) -> None:
    """The ends share nothing with each other, only with what stands between them."""
    old = [
        keep_at(stores, "alpha beta gamma delta", -9),
        keep_at(stores, "gamma delta epsilon zeta", -8),
        keep_at(stores, "epsilon zeta eta theta", -7),
    ]

    context(stores, make_consolidator(), writer(), consolidate_similarity=0.4)

    assert [len(made.connections) for made in new_ones(stores, old)] == [2]


def restated(stores: Stores) -> list[Memory]:
    hers = f"{RED} of Ana."
    texts = (RED, f"{hers} It is watered at night.", f"{hers} It was planted by hand.")
    return [keep(stores, text) for text in texts]


def test_without_a_language_model_restatements_are_joined_each_fact_once(stores: Stores) -> None:
    old = restated(stores)

    context(
        stores, make_consolidator(), writer(extract_synthesis, cheap=True), consolidate_near=0.5
    )

    (made,) = new_ones(stores, old)
    assert {c.target for c in made.connections} == {each.id for each in old}
    assert made.content == (f"{RED} of Ana. It is watered at night. It was planted by hand.")
    assert made.title == "Red apples grow"


def test_without_a_language_model_facts_that_begin_alike_stand_under_one_heading(
    stores: Stores,
) -> None:
    kiln = "The old gas kiln in the yard behind the house of Ana"
    facts = ("fires at cone 6", "cools for 9 hours", "has a new lid", "was built in 2004")
    old = [keep(stores, f"{kiln} {fact}.") for fact in facts]

    context(stores, make_consolidator(), writer(extract_synthesis, cheap=True))

    (made,) = new_ones(stores, old)
    assert made.content == f"{kiln}:\n" + "\n".join(f"- {fact}." for fact in facts)
    assert {now(stores, each).tier for each in old} == {Tier.ARCHIVAL}


@pytest.mark.parametrize("lost", ["It is watered at night.", "It was planted by hand.", "of Ana"])
def test_a_digest_that_leaves_a_fact_out_is_not_taken(stores: Stores, lost: str) -> None:
    restated(stores)

    def forgetful(members: Sequence[Memory]) -> Synthesis:
        whole = extract_synthesis(members)
        return Synthesis(whole.title, whole.content.replace(lost, "").strip())

    assert untouched(stores, writer(forgetful, cheap=True))


def longest(members: Sequence[Memory]) -> Synthesis:
    return Synthesis("Apples", max((each.content for each in members), key=len))


def test_without_a_language_model_no_member_is_copied_word_for_word(stores: Stores) -> None:
    for text in (RED, f"{RED} of Ana", f"{RED} of Ana in June"):
        keep(stores, text)

    assert untouched(stores, writer(longest, cheap=True))
    assert untouched(stores, writer(extract_synthesis, cheap=True))


def test_without_a_language_model_different_facts_are_not_joined(stores: Stores) -> None:
    for text in (RED, GREEN, BLUE):
        keep(stores, text)

    assert untouched(stores, writer(cheap=True))


def test_without_a_digest_worth_having_nobody_reads_what_members_are_to_each_other(
    stores: Stores,
) -> None:
    for text in (RED, GREEN, BLUE):
        keep(stores, text)
    idle = ScriptedJudge(always(says(Relation.RELATED_TO)), True, as_told)
    context(stores, make_consolidator(), idle)
    assert idle.asked == []


def test_one_stranger_in_a_cluster_does_not_hide_a_digest(stores: Stores) -> None:
    old = restated(stores)
    odd = keep_at(stores, f"{RED} of Ana, and nobody knows who waters the ferns there", -9)
    found = ScriptedJudge(
        lambda pair: says(Relation.NONE if odd.id in pair.ids else Relation.DUPLICATE),
        True,
        lambda members: None if odd in members else extract_synthesis(members),
    )

    report = context(stores, make_consolidator(), found, consolidate_near=0.5)

    assert found.asked
    assert report.applied == 1
    assert now(stores, odd).tier is Tier.WORKING
    assert {now(stores, each).tier for each in old} == {Tier.ARCHIVAL}


def test_two_that_say_the_same_are_left_to_merging(stores: Stores) -> None:
    keep(stores, RED)
    keep(stores, f"{RED} of Ana")

    assert untouched(stores, writer(longest, cheap=True))


def test_joined_sentences_must_say_it_all_in_its_order(stores: Stores) -> None:
    for text in ("tabs over spaces", "spaces over tabs", "spaces over tabs now"):
        keep(stores, f"In Python we always prefer {text}")

    assert untouched(stores, writer(longest, cheap=True))


def test_what_the_local_judge_finds_strange_is_not_joined(stores: Stores) -> None:
    restated(stores)

    assert untouched(stores, ScriptedJudge(cheap=True, text=longest))


def test_clusters_hold_at_most_five_and_a_run_so_many(stores: Stores) -> None:
    old = [keep(stores, f"{RED} {number}") for number in range(12)]

    context(stores, make_consolidator(), writer(), consolidate_clusters=1)
    assert [len(each.connections) for each in new_ones(stores, old)] == [5]

    context(stores, make_consolidator(), writer())
    assert sorted(len(each.connections) for each in new_ones(stores, old)) == [2, 5, 5]


def test_clusters_that_come_to_nothing_do_not_hold_up_the_others(stores: Stores) -> None:
    old = restated(stores)
    for number in range(4):
        for ending in ("Loudly", "Gently", "Warmly"):
            keep(stores, f"{ending} topic{number} is discussed in some room")

    said = writer(extract_synthesis, cheap=True)
    context(stores, make_consolidator(), said, consolidate_clusters=1, consolidate_near=0.5)

    made = [each for each in new_ones(stores, old) if each.source == "job:consolidator"]
    assert [{c.target for c in each.connections} for each in made] == [{each.id for each in old}]


def test_consolidating_twice_changes_nothing_the_second_time(stores: Stores) -> None:
    for text in (RED, GREEN, BLUE):
        keep(stores, text)
    context(stores, make_consolidator(), writer())
    before = vault_bytes(stores)

    for _ in range(2):
        assert context(stores, make_consolidator(), writer()).applied == 0

    assert vault_bytes(stores) == before


def test_a_judge_that_gave_no_text_is_asked_again(stores: Stores) -> None:
    keep(stores, RED)
    keep(stores, GREEN)
    assert untouched(stores, writer(lambda members: None))

    assert context(stores, make_consolidator(), writer()).applied == 1


@pytest.mark.parametrize("answer", [None, ProposalStatus.REJECTED])
def test_what_somebody_would_not_merge_is_not_told_as_one_either(
    stores: Stores, answer: ProposalStatus | None
) -> None:
    red, green = keep(stores, RED), keep(stores, GREEN)
    run(stores, job_of(Patch(Merge(red, green), "perhaps", ask=True)))
    (asked,) = stores.log.proposals(ProposalStatus.PENDING)
    if answer is not None:
        decide_proposal(stores, asked.id, answer)

    assert untouched(stores, writer())


def test_undo_brings_the_originals_back(stores: Stores) -> None:
    old = [keep(stores, text) for text in (RED, GREEN, BLUE)]
    before = vault_bytes(stores)

    report = context(stores, make_consolidator(), writer())
    assert vault_bytes(stores) != before
    undo(stores, report.run)

    live = {k: v for k, v in vault_bytes(stores).items() if not k.startswith("trash/")}
    assert live == before
    assert [now(stores, each).tier for each in old] == [Tier.WORKING] * 3
