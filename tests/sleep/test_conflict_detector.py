"""Conflicts: the newer view replaces the older one, in every copy; a tension is only marked."""

from __future__ import annotations

from datetime import timedelta

import pytest

from madeleine.model.memory import Claim, Memory, Origin
from madeleine.model.proposal import ProposalStatus
from madeleine.model.query import Filter
from madeleine.model.revision import Revision
from madeleine.model.verdict import MemoryPair, Relation, Verdict
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.sleep.jobs.conflict_detector import make_conflict_detector
from madeleine.write.proposals import decide_proposal
from madeleine.write.reconcile import reconcile
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, keep, vault_bytes
from tests.sleep.scripted import NONE, ScriptedJudge, always, between, context, says

CHOSE = "Chose SQLite for Ormah"
SWITCHED = "We switched Ormah from SQLite to Postgres"
DECISION = MemoryType.DECISION

EVOLVED = ScriptedJudge(between("SQLite", "Postgres", says(Relation.EVOLUTION)))


def keep_at(stores: Stores, content: str, days: float, **fields: object) -> Memory:
    return keep(stores, content, created=NOON + timedelta(days=days), **fields)


def now(stores: Stores, memory: Memory) -> Memory:
    return stores.search.memories([memory.id])[memory.id]


def path_of(stores: Stores, memory: Memory) -> str:
    stored = stores.search.get(memory.id)
    assert stored is not None
    return stored.path


def is_current(stores: Stores, memory: Memory) -> bool:
    return memory.id in stores.search.select_allowed([memory.id], Filter(), stores.clock.now())


def test_the_walk_through_example_is_an_evolution(stores: Stores) -> None:
    old = keep_at(stores, CHOSE, -9, type=DECISION)
    new = keep_at(stores, SWITCHED, -1, type=DECISION)

    report = context(stores, make_conflict_detector(), EVOLVED)

    (arrow,) = [c for c in now(stores, new).connections if c.edge is Edge.EVOLVED_FROM]
    assert (arrow.target, arrow.weight, arrow.by) == (old.id, 0.9, "conflict_detector")
    assert arrow.reason == "so it is written"
    assert arrow.at is not None
    assert now(stores, old).superseded_by == new.id
    assert not is_current(stores, old)
    assert is_current(stores, new)
    assert report.applied == 1


def test_the_older_one_stays_readable_as_history(stores: Stores) -> None:
    old = keep_at(stores, CHOSE, -9)
    keep_at(stores, SWITCHED, -1)

    context(stores, make_conflict_detector(), EVOLVED)

    then = Filter(as_of=NOON - timedelta(days=5))
    assert now(stores, old).content == CHOSE
    assert stores.search.select_allowed([old.id], then, stores.clock.now()) == {old.id}


def test_a_night_of_conflicts_then_undo_is_as_before(stores: Stores) -> None:
    keep_at(stores, CHOSE, -9)
    keep_at(stores, SWITCHED, -1)
    before = vault_bytes(stores)

    report = context(stores, make_conflict_detector(), EVOLVED)
    assert vault_bytes(stores) != before
    undo(stores, report.run)

    assert vault_bytes(stores) == before


def test_what_is_newer_is_told_by_when_it_was_so_not_by_the_last_edit(stores: Stores) -> None:
    old = keep_at(stores, CHOSE, -9)
    new = keep_at(stores, SWITCHED, -1)
    revise(stores, old.id, Revision({"title": "Edited today"}))

    context(stores, make_conflict_detector(), EVOLVED)

    assert now(stores, old).superseded_by == new.id
    assert is_current(stores, new)


def test_a_tension_marks_both_and_retires_neither(stores: Stores) -> None:
    one = keep_at(stores, "Meetings are best in the early morning", -9)
    two = keep_at(stores, "Meetings are worst in the early morning", -1)

    context(stores, make_conflict_detector(), ScriptedJudge(always(says(Relation.TENSION))))

    (arrow,) = [c for c in now(stores, two).connections if c.edge is Edge.CONTRADICTS]
    assert (arrow.target, arrow.weight) == (one.id, 0.9)
    assert is_current(stores, one)
    assert is_current(stores, two)


def test_a_new_claim_replaces_every_copy_of_the_old_one(stores: Stores) -> None:
    """Only one copy is found to disagree; the others are found through it."""
    told = keep_at(stores, CHOSE, -9)
    copies = [
        keep_at(stores, "We chose SQLite for Ormah", -8),
        keep_at(stores, "Chose SQLite for Ormah after long talks", -7),
    ]
    new = keep_at(stores, SWITCHED, -1)

    def answer(pair: MemoryPair) -> Verdict:
        if pair.newer.content == SWITCHED:
            return says(Relation.EVOLUTION) if pair.older.content == CHOSE else NONE
        return says(Relation.DUPLICATE)

    context(stores, make_conflict_detector(), ScriptedJudge(answer))

    assert [now(stores, each).superseded_by for each in (told, *copies)] == [new.id] * 3
    evolved = [c.target for c in now(stores, new).connections if c.edge is Edge.EVOLVED_FROM]
    assert sorted(evolved) == sorted(each.id for each in (told, *copies))


def test_what_is_said_to_be_over_is_replaced_though_it_is_denied(stores: Stores) -> None:
    old = keep_at(stores, "Golda has a ferret.", -9)
    keep_at(stores, "Golda has a hamster now, no ferret.", -1)

    context(stores, make_conflict_detector(), ScriptedJudge(always(says(Relation.EVOLUTION))))

    assert not is_current(stores, old)


def test_the_same_of_another_host_is_no_copy(stores: Stores) -> None:
    """Also not if a judge is sure that it is."""
    told = keep_at(stores, "The backup of host A goes to tape", -9)
    other = keep_at(stores, "The backup of host B goes to tape", -8)
    keep_at(stores, "The backup of host A goes to disk now", -1)

    def answer(pair: MemoryPair) -> Verdict:
        moved = "disk" in pair.newer.content and pair.older.id == told.id
        return says(Relation.EVOLUTION if moved else Relation.DUPLICATE)

    context(stores, make_conflict_detector(), ScriptedJudge(answer, cheap=False))

    assert not is_current(stores, told)
    assert is_current(stores, other)


def test_who_says_the_old_thing_again_later_may_mean_it(stores: Stores) -> None:
    keep_at(stores, CHOSE, -9)
    keep_at(stores, SWITCHED, -5)
    again = keep_at(stores, "Chose SQLite for Ormah once more", -1)

    def answer(pair: MemoryPair) -> Verdict:
        if pair.newer.content == SWITCHED:
            return says(Relation.EVOLUTION)
        return says(Relation.DUPLICATE) if "once more" in pair.newer.content else NONE

    context(stores, make_conflict_detector(), ScriptedJudge(answer))

    assert is_current(stores, again)


def test_a_belief_that_changed_twice_is_a_chain(stores: Stores) -> None:
    first = keep_at(stores, "Ormah runs on SQLite for now", -9)
    second = keep_at(stores, "Ormah runs on Postgres for now", -5)
    third = keep_at(stores, "Ormah runs on DuckDB for now", -1)
    understands = ScriptedJudge(always(says(Relation.EVOLUTION)), cheap=False)

    context(stores, make_conflict_detector(), understands)

    assert now(stores, first).superseded_by == second.id
    assert now(stores, second).superseded_by == third.id
    assert is_current(stores, third)


def test_what_the_judge_is_not_sure_of_is_proposed_and_approving_does_it(stores: Stores) -> None:
    old = keep_at(stores, CHOSE, -9)
    new = keep_at(stores, SWITCHED, -1)
    unsure = ScriptedJudge(between("SQLite", "Postgres", says(Relation.EVOLUTION, 0.7)))

    report = context(stores, make_conflict_detector(), unsure)
    assert (report.applied, report.proposed) == (0, 1)
    assert is_current(stores, old)
    (proposal,) = stores.log.proposals(ProposalStatus.PENDING)
    decide_proposal(stores, proposal.id, ProposalStatus.APPROVED)

    assert now(stores, old).superseded_by == new.id
    edges = {c.edge for c in now(stores, new).connections if c.target == old.id}
    assert Edge.EVOLVED_FROM in edges


@pytest.mark.parametrize(("older", "newer"), [(None, "atlas"), ("atlas", None)])
def test_one_project_does_not_overrule_all_of_them_unasked(
    stores: Stores, older: str | None, newer: str | None
) -> None:
    old = keep_at(stores, CHOSE, -9, space=older)
    keep_at(stores, SWITCHED, -1, space=newer)

    report = context(stores, make_conflict_detector(), EVOLVED)

    assert (report.applied, report.proposed) == (0, 1)
    assert is_current(stores, old)


def test_of_two_made_at_one_moment_nobody_can_tell_the_newer(stores: Stores) -> None:
    keep_at(stores, CHOSE, -1)
    keep_at(stores, SWITCHED, -1)

    report = context(stores, make_conflict_detector(), EVOLVED)

    assert (report.applied, report.proposed) == (0, 1)


def test_unrelated_decisions_are_not_contradictions(stores: Stores) -> None:
    keep(stores, "Chose linen for the curtains", type=DECISION)
    keep(stores, "Picked oak shelves over pine", type=DECISION)
    judge = ScriptedJudge(always(says(Relation.TENSION)))

    report = context(stores, make_conflict_detector(), judge)

    assert report.applied == 0
    assert judge.asked == []


def test_procedures_and_events_are_no_beliefs(stores: Stores) -> None:
    keep_at(stores, CHOSE, -9, type=MemoryType.EVENT)
    keep_at(stores, SWITCHED, -1, type=MemoryType.PROCEDURE)
    judge = ScriptedJudge(always(says(Relation.EVOLUTION)))

    context(stores, make_conflict_detector(), judge)

    assert judge.asked == []


def test_what_happened_may_end_a_belief_and_is_never_over_itself(stores: Stores) -> None:
    belief = keep_at(stores, CHOSE, -9)
    happened = keep_at(stores, SWITCHED, -5, type=MemoryType.EVENT)
    later = keep_at(stores, "Ormah runs on DuckDB, and Postgres is gone", -1)

    context(stores, make_conflict_detector(), EVOLVED)

    assert now(stores, belief).superseded_by == happened.id
    assert is_current(stores, happened)
    assert is_current(stores, later)


def test_what_names_another_thing_is_read_too(stores: Stores) -> None:
    """A network reads better than words tell whether both speak of one thing."""
    lottie = keep_at(stores, "Lottie the sitter is 9.50 an hour", -9, type=MemoryType.PERSON)
    raised = keep_at(stores, "Lottie is 11.50 now that Ana is gone", -1, type=MemoryType.PERSON)
    judge = ScriptedJudge(always(says(Relation.EVOLUTION)))

    context(stores, make_conflict_detector(), judge, conflict_similarity=0.0)

    assert (lottie.content, raised.content) in judge.asked


def test_projects_can_be_left_out(stores: Stores) -> None:
    keep_at(stores, CHOSE, -9, space="atlas")
    keep_at(stores, SWITCHED, -1, space="atlas")

    assert context(stores, make_conflict_detector(), EVOLVED, conflict_all_spaces=False).looked == 0
    assert context(stores, make_conflict_detector(), EVOLVED).applied == 1


def test_a_second_night_changes_nothing_more(stores: Stores) -> None:
    keep_at(stores, CHOSE, -9)
    keep_at(stores, SWITCHED, -1)
    keep_at(stores, "Meetings about Ormah are best in the early morning", -3)
    judge = ScriptedJudge(always(says(Relation.EVOLUTION)))
    for _ in range(2):
        context(stores, make_conflict_detector(), judge)
    before, asked = vault_bytes(stores), len(judge.asked)

    report = context(stores, make_conflict_detector(), judge)

    assert (report.looked, report.applied) == (0, 0)
    assert (vault_bytes(stores), len(judge.asked)) == (before, asked)


def test_a_conflict_that_is_known_is_not_judged(stores: Stores) -> None:
    keep_at(stores, "Meetings are best in the early morning", -9)
    two = keep_at(stores, "Meetings are worst in the early morning", -1)
    judge = ScriptedJudge(always(says(Relation.TENSION)))
    context(stores, make_conflict_detector(), judge)

    revise(stores, two.id, Revision({"title": "On meetings"}))
    context(stores, make_conflict_detector(), judge)

    assert len(judge.asked) == 1


def test_claims_written_by_hand_are_brought_into_order(stores: Stores) -> None:
    old = keep_at(stores, "Ana is at home in Ghent", -9, claim=Claim("Ana", "lives in", "Ghent"))
    new = keep_at(stores, "Boxes packed, harbour of Cork it is", -1)
    path = stores.vault.root / path_of(stores, new)
    claim = "claim:\n  subject: Ana\n  attribute: lives in\n  value: Cork\n---\nBoxes"
    text = path.read_text(encoding="utf-8").replace("---\nBoxes", claim)
    path.write_text(text, encoding="utf-8")
    reconcile(stores)

    report = context(stores, make_conflict_detector(), ScriptedJudge(always(NONE)))

    assert report.applied == 1
    assert now(stores, old).superseded_by == new.id
    assert context(stores, make_conflict_detector(), ScriptedJudge(always(NONE))).applied == 0


def test_a_judge_of_words_leaves_what_was_said_in_a_conversation_alone(stores: Stores) -> None:
    old = keep_at(stores, CHOSE, -9, origin=Origin("s1", 1, "Ana"))
    keep_at(stores, SWITCHED, -1, origin=Origin("s1", 2, "Ana"))

    cheap = context(stores, make_conflict_detector(), ScriptedJudge(EVOLVED.answer, cheap=True))
    assert (cheap.judged, is_current(stores, old)) == (0, True)

    costly = context(
        stores, make_conflict_detector(), ScriptedJudge(EVOLVED.answer, cheap=False, name="llm")
    )
    assert (costly.applied, is_current(stores, old)) == (1, False)


def test_a_denial_of_something_else_replaces_nothing_unasked(stores: Stores) -> None:
    old = keep_at(stores, "Atlas supports macOS", -9)
    keep_at(stores, "Atlas does not support Windows", -1)

    report = context(
        stores, make_conflict_detector(), ScriptedJudge(always(says(Relation.EVOLUTION)))
    )

    assert (report.applied, report.proposed, is_current(stores, old)) == (0, 1, True)


def test_a_core_memory_is_not_replaced_by_a_lesser_one_unasked(stores: Stores) -> None:
    old = keep_at(stores, CHOSE, -9, tier=Tier.CORE)
    keep_at(stores, SWITCHED, -1)

    report = context(stores, make_conflict_detector(), EVOLVED)

    assert (report.applied, report.proposed, is_current(stores, old)) == (0, 1, True)


# -- nothing true is put away unasked ---------------------------------------------------------

UNTOLD = "We switched Ormah to Postgres"


@pytest.mark.proves("I12")
def test_a_judge_of_words_retires_nothing_that_the_newer_text_does_not_name(
    stores: Stores,
) -> None:
    """However sure it is: the newer text must say what it replaces."""
    old = keep_at(stores, CHOSE, -9)
    keep_at(stores, UNTOLD, -1)

    report = context(stores, make_conflict_detector(), EVOLVED)

    assert (report.applied, report.proposed, is_current(stores, old)) == (0, 1, True)


def test_a_language_model_has_understood_both_and_answers_for_itself(stores: Stores) -> None:
    old = keep_at(stores, CHOSE, -9)
    keep_at(stores, UNTOLD, -1)

    report = context(stores, make_conflict_detector(), ScriptedJudge(EVOLVED.answer, cheap=False))

    assert (report.applied, is_current(stores, old)) == (1, False)


@pytest.mark.parametrize("cheap", [True, False])
def test_with_never_even_a_told_change_is_asked_about(stores: Stores, cheap: bool) -> None:
    old = keep_at(stores, CHOSE, -9)
    keep_at(stores, SWITCHED, -1)
    judge = ScriptedJudge(EVOLVED.answer, cheap=cheap)

    report = context(stores, make_conflict_detector(), judge, unasked="never")

    assert (report.applied, report.proposed, is_current(stores, old)) == (0, 1, True)


def test_with_never_claims_that_came_from_outside_are_asked_about_too(stores: Stores) -> None:
    old = keep_at(stores, "Ana is at home in Ghent", -9, claim=Claim("Ana", "lives in", "Ghent"))
    new = keep_at(stores, "Boxes packed, harbour of Cork it is", -1)
    path = stores.vault.root / path_of(stores, new)
    claim = "claim:\n  subject: Ana\n  attribute: lives in\n  value: Cork\n---\nBoxes"
    text = path.read_text(encoding="utf-8").replace("---\nBoxes", claim)
    path.write_text(text, encoding="utf-8")
    reconcile(stores)

    report = context(stores, make_conflict_detector(), ScriptedJudge(always(NONE)), unasked="never")

    assert (report.applied, report.proposed, is_current(stores, old)) == (0, 1, True)


def test_with_sure_the_judges_sureness_is_enough(stores: Stores) -> None:
    old = keep_at(stores, CHOSE, -9)
    keep_at(stores, UNTOLD, -1)

    report = context(stores, make_conflict_detector(), EVOLVED, unasked="sure")

    assert (report.applied, is_current(stores, old)) == (1, False)


def test_a_copy_of_which_the_newer_text_does_not_speak_is_asked_about(stores: Stores) -> None:
    """What was replaced is; what a judge takes for a copy of it is a question."""
    keep_at(stores, CHOSE, -9)
    copy = keep_at(stores, "Chose SQLite for Ormah and for the shop", -8)
    keep_at(stores, SWITCHED, -1)

    def answer(pair: MemoryPair) -> Verdict:
        if pair.newer.content == SWITCHED:
            return says(Relation.EVOLUTION) if pair.older.content == CHOSE else NONE
        return says(Relation.DUPLICATE)

    report = context(stores, make_conflict_detector(), ScriptedJudge(answer))

    assert (report.applied, report.proposed, is_current(stores, copy)) == (1, 1, True)
