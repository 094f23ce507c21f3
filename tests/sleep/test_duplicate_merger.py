"""Merging duplicates: when the judge is sure, once each, and without losing a word."""

from __future__ import annotations

from datetime import timedelta

import pytest

from madeleine.language.substance import find_lost_words
from madeleine.minds.judges.local import LocalJudge
from madeleine.minds.judges.weights import shipped_weights
from madeleine.model.memory import Claim, Connection, Memory, Origin
from madeleine.model.proposal import ProposalStatus
from madeleine.model.query import Filter
from madeleine.model.verdict import MemoryPair, Relation, Verdict
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.sleep.jobs.duplicate_merger import make_duplicate_merger
from madeleine.sleep.values import RunReport
from madeleine.write.proposals import decide_proposal
from madeleine.write.revise import retire
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, keep, vault_bytes
from tests.sleep.scripted import ScriptedJudge, always, between, context, says

CHOSE = "Chose SQLite for Ormah"
USES = "Ormah uses SQLite"
CACHE = "the cache holds 100 entries at most and then forgets the oldest"
LARGER = "the cache holds 250 entries at most and then forgets the oldest"

SAME = ScriptedJudge(always(says(Relation.DUPLICATE)))


def current(stores: Stores) -> list[Memory]:
    return stores.search.listing(Filter(), stores.clock.now(), 100)


def merged(stores: Stores, judge: ScriptedJudge = SAME, score: float = 0.3) -> RunReport:
    return context(stores, make_duplicate_merger(), judge, duplicate_score=score)


def test_the_walk_through_example_becomes_one_memory_that_says_both(stores: Stores) -> None:
    keep(stores, CHOSE, type=MemoryType.DECISION)
    keep(stores, USES, type=MemoryType.DECISION)

    report = merged(stores)

    (kept,) = current(stores)
    assert report.applied == 1
    assert find_lost_words(kept.content, [CHOSE, USES]) == frozenset()


def test_what_pointed_to_the_other_points_to_the_keeper(stores: Stores) -> None:
    keep(stores, f"{CHOSE} because it is one file")
    dropped = keep(stores, CHOSE)
    link = Connection(dropped.id, Edge.SUPPORTS, 0.9)
    pointing = keep(stores, "a cat sleeps on the sofa", connections=(link,))

    merged(stores)

    kept = next(each for each in current(stores) if each.id != pointing.id)
    (arrow,) = stores.search.memories([pointing.id])[pointing.id].connections
    assert (arrow.target, arrow.edge) == (kept.id, Edge.SUPPORTS)


def test_a_night_of_merging_then_undo_is_as_before(stores: Stores) -> None:
    keep(stores, CHOSE)
    keep(stores, USES)
    before = vault_bytes(stores)

    report = merged(stores)
    assert vault_bytes(stores) != before
    undo(stores, report.run)

    assert vault_bytes(stores) == before


def test_a_keeper_that_says_it_all_keeps_its_words(stores: Stores) -> None:
    long = keep(stores, f"{CHOSE} because it is one file.", title="The database")
    keep(stores, f"{CHOSE}.")

    merged(stores)

    assert current(stores)[0].content == long.content
    assert current(stores)[0].title == "The database"


def test_what_only_the_dropped_one_says_is_added(stores: Stores) -> None:
    keep(stores, f"{CHOSE} because it is one file.", tier=Tier.CORE)
    keep(stores, f"{CHOSE}. Backups are copies of that file.", title="Backups made easy")

    merged(stores)

    (kept,) = current(stores)
    assert kept.tier is Tier.CORE
    assert kept.content.startswith(f"{CHOSE} because it is one file.")
    assert "Backups are copies of that file." in kept.content
    assert "Backups made easy" in kept.content


def test_the_keeper_is_the_higher_tier_then_the_longer_then_the_newer(stores: Stores) -> None:
    low = keep(stores, f"{CHOSE} in the end after long talks")
    core = keep(stores, CHOSE, tier=Tier.CORE)

    merged(stores)

    assert [each.id for each in current(stores)] == [core.id] != [low.id]


def test_a_models_wording_is_taken_when_it_has_every_word(stores: Stores) -> None:
    keep(stores, CHOSE)
    keep(stores, USES)
    verdict = says(
        Relation.DUPLICATE, title="SQLite", content="Ormah uses SQLite: chose it for Ormah."
    )

    merged(stores, ScriptedJudge(always(verdict), cheap=False))

    assert current(stores)[0].content == "Ormah uses SQLite: chose it for Ormah."
    assert current(stores)[0].title == "SQLite"


@pytest.mark.parametrize(
    "wording", ["SQLite it is.", "", "Ormah uses SQLite: chose it for Ormah, not for long."]
)
def test_a_models_wording_that_loses_or_adds_is_not_taken(stores: Stores, wording: str) -> None:
    keep(stores, CHOSE)
    keep(stores, USES)
    verdict = says(Relation.DUPLICATE, content=wording)

    merged(stores, ScriptedJudge(always(verdict), cheap=False))

    (kept,) = current(stores)
    assert kept.content != wording
    assert find_lost_words(kept.content, [CHOSE, USES]) == frozenset()


def test_a_denial_is_not_lost(stores: Stores) -> None:
    keep(stores, "We use Redis for the cache. It is fast and small.")
    keep(stores, "We use Redis for the cache. It is not fast.")

    merged(stores)

    assert "It is not fast." in current(stores)[0].content


def test_approving_a_proposal_does_exactly_what_it_showed(stores: Stores) -> None:
    keep(stores, CHOSE)
    keep(stores, USES)

    report = merged(stores, ScriptedJudge(always(says(Relation.DUPLICATE, 0.8))))
    assert (report.applied, report.proposed, len(current(stores))) == (0, 1, 2)
    (proposal,) = stores.log.proposals(ProposalStatus.PENDING)
    shown = dict(proposal.action)
    decide_proposal(stores, proposal.id, ProposalStatus.APPROVED)

    (kept,) = current(stores)
    assert kept.id == shown["keep"]
    assert kept.content == shown["content"]
    assert find_lost_words(kept.content, [CHOSE, USES]) == frozenset()


def test_a_doubtful_duplicate_is_left_alone(stores: Stores) -> None:
    keep(stores, CHOSE)
    keep(stores, USES)

    report = merged(stores, ScriptedJudge(always(says(Relation.DUPLICATE, 0.4))))

    assert (report.applied, report.proposed) == (0, 0)


def test_texts_that_differ_in_a_number_are_not_merged_unasked(stores: Stores) -> None:
    keep(stores, CACHE)
    keep(stores, LARGER)

    report = merged(stores)

    assert (report.applied, report.proposed) == (0, 1)


def test_what_is_merged_on_approval_says_both(stores: Stores) -> None:
    keep(stores, CACHE)
    keep(stores, LARGER)

    merged(stores, ScriptedJudge(always(says(Relation.DUPLICATE)), cheap=False))
    (proposal,) = stores.log.proposals(ProposalStatus.PENDING)
    decide_proposal(stores, proposal.id, ProposalStatus.APPROVED)

    (kept,) = current(stores)
    assert find_lost_words(kept.content, [CACHE, LARGER]) == frozenset()


def test_a_second_night_changes_nothing_more(stores: Stores) -> None:
    keep(stores, CHOSE)
    keep(stores, USES)
    keep(stores, CACHE)
    judge = ScriptedJudge(between(CHOSE, USES, says(Relation.DUPLICATE)))
    merged(stores, judge)
    before = vault_bytes(stores)

    assert merged(stores, judge).applied == 0
    assert merged(stores, judge).looked == 0
    assert vault_bytes(stores) == before


def never_merged(stores: Stores) -> bool:
    report = merged(stores, score=0.0)
    return report.applied == 0 and report.judged == 0


def test_a_decision_and_a_fact_become_one_only_if_somebody_says_so(stores: Stores) -> None:
    keep(stores, CHOSE, type=MemoryType.FACT)
    keep(stores, USES, type=MemoryType.DECISION)

    report = merged(stores, score=0.0)

    assert (report.applied, report.proposed) == (0, 1)


def test_an_observation_and_a_fact_that_say_the_same_are_one(stores: Stores) -> None:
    keep(stores, CHOSE, type=MemoryType.FACT)
    keep(stores, USES, type=MemoryType.OBSERVATION)

    assert merged(stores, score=0.0).applied == 1


def test_memories_of_other_types_are_not_merged(stores: Stores) -> None:
    keep(stores, CHOSE, type=MemoryType.GOAL)
    keep(stores, USES, type=MemoryType.DECISION)

    assert never_merged(stores)


def test_memories_of_two_projects_are_not_merged(stores: Stores) -> None:
    keep(stores, CHOSE, space="atlas")
    keep(stores, USES, space="borealis")

    assert never_merged(stores)


def test_a_global_memory_is_not_merged_into_a_project_unasked(stores: Stores) -> None:
    keep(stores, CHOSE, space="atlas")
    keep(stores, USES)

    report = merged(stores)

    assert (report.applied, report.proposed) == (0, 1)


def test_what_holds_until_another_day_is_not_merged(stores: Stores) -> None:
    keep(stores, CHOSE, valid_until=NOON + timedelta(days=9))
    keep(stores, USES)

    assert never_merged(stores)


def test_what_states_different_claims_is_not_merged(stores: Stores) -> None:
    keep(stores, CHOSE, claim=Claim("Ormah", "database", "SQLite"))
    keep(stores, USES)

    assert never_merged(stores)


def test_what_is_retired_is_not_merged_with_what_is_current(stores: Stores) -> None:
    old = keep(stores, CHOSE)
    keep(stores, USES)
    retire(stores, old.id)

    assert never_merged(stores)


def test_the_same_event_on_another_day_is_another_event(stores: Stores) -> None:
    ran = "Ran ten kilometres along the river"
    keep(stores, ran, type=MemoryType.EVENT, created=NOON - timedelta(days=7))
    keep(stores, f"{ran} again", type=MemoryType.EVENT, created=NOON)

    assert never_merged(stores)


def test_what_two_people_say_of_themselves_is_not_merged(stores: Stores) -> None:
    keep(stores, "I like green tea in the morning", origin=Origin("s", 1, "Ana"))
    keep(stores, "I like green tea every morning", origin=Origin("s", 2, "Bob"))

    assert never_merged(stores)


def test_a_memory_is_not_merged_with_what_was_made_of_it(stores: Stores) -> None:
    original = keep(stores, CHOSE)
    keep(stores, USES, connections=(Connection(original.id, Edge.DERIVED_FROM, 1.0),))

    assert never_merged(stores)


def test_a_pair_below_the_documented_score_is_not_asked_about(stores: Stores) -> None:
    keep(stores, CHOSE)
    keep(stores, "Ormah keeps its data in one file")
    judge = ScriptedJudge(always(says(Relation.DUPLICATE)))

    context(stores, make_duplicate_merger(), judge)

    assert judge.asked == []


def test_the_surest_pair_is_merged_first(stores: Stores) -> None:
    keep(stores, CHOSE)
    surest = {keep(stores, f"{CHOSE} {ending}").id for ending in ("for good", "for ever")}

    def answer(pair: MemoryPair) -> Verdict:
        surer = "ever" in pair.newer.content and "good" in pair.older.content
        return says(Relation.DUPLICATE, 0.999 if surer else 0.98)

    report = merged(stores, ScriptedJudge(answer))

    first = report.patches[0]["memories"]
    assert isinstance(first, list)
    assert set(first) == surest


SIGNS_APART = pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The total is x + y", "The total is x * y"),
        ("The licence costs $10", "The licence costs €10"),
        ("Version <2.0 is required", "Version >=2.0 is required"),
        ("The checkout is in ~/src/atlas", "The checkout is in ~/src/Atlas"),
        ("Der Server steht in Frankfurt", "Der Server steht nicht in Frankfurt"),
    ],
)


@SIGNS_APART
def test_a_local_judge_merges_nothing_unasked_that_a_sign_or_a_denial_tells_apart(
    stores: Stores, one: str, other: str
) -> None:
    keep(stores, one)
    keep(stores, other)

    report = context(
        stores, make_duplicate_merger(), ScriptedJudge(always(says(Relation.DUPLICATE)))
    )

    assert (report.applied, report.proposed) == (0, 1)


@SIGNS_APART
def test_signs_alone_do_not_ask_about_what_a_sign_or_a_denial_tells_apart(
    stores: Stores, one: str, other: str
) -> None:
    keep(stores, one)
    keep(stores, other)

    report = context(stores, make_duplicate_merger(), LocalJudge(shipped_weights()))

    assert (report.applied, report.proposed) == (0, 0)


def test_the_same_in_other_words_is_put_before_the_judge(stores: Stores) -> None:
    """Restatements share a meaning and few words; the documented score counts both."""
    keep(stores, "The night shift hands the keys to the porter at six")
    keep(stores, "At six the porter gets the keys of the night shift")
    judge = ScriptedJudge(always(says(Relation.DUPLICATE, 0.7)))

    job = make_duplicate_merger()
    strict = context(stores, job, judge, dry_run=True, duplicate_score=1.0, reworded_similarity=1.0)
    report = context(stores, job, judge, duplicate_score=1.0)

    assert strict.judged == 0
    assert (report.judged, report.proposed) == (1, 1)


def test_a_sign_that_only_the_dropped_one_has_is_shown(stores: Stores) -> None:
    keep(stores, "Version >=2.0 of the parser is required for all builds")
    keep(stores, "Version <2.0 of the parser is required")

    report = context(stores, make_duplicate_merger(), CERTAIN)

    (proposal,) = stores.log.proposals(ProposalStatus.PENDING)
    assert report.applied == 0
    assert "<2.0" in str(dict(proposal.action)["content"])
    assert ">=2.0" in str(dict(proposal.action)["content"])


@pytest.mark.few(8)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It takes 5 s", "It takes 5 ms"),
        ("Meeting at 5 pm", "Meeting at 5 am"),
        ("The valve is open at night", "The valve is closed at night"),
        ("The price is 10 $ for members", "The price is 10 € for members"),
        ("Disk must be >= 5 GB free", "Disk must be < 5 GB free"),
        ("Ana likes Ben", "Ben likes Ana"),
        ("Vera owns billing", "Petra owns billing"),
        ("Deploy to eu-west-1 first", "Deploy to eu-west-2 first"),
        ("The switch is on", "The switch is off"),
        ("Password rotation is every week", "Password rotation is every 2 weeks"),
        ("Run `rm -r build` to clean", "Run `rm -R build` to clean"),
        ("Temperature is 5 degrees", "Temperature is -5 degrees"),
        ("The lamp is left of the door", "The lamp is right of the door"),
        ("Ben's blood type is O", "Ben's blood type is A"),
        ("Exam grade was A+", "Exam grade was A-"),
        ("Copy files from staging to production", "Copy files to staging from production"),
        ("Ana wrote the parser for him", "Ana wrote the parser for her"),
        ("Send it to us", "Send it to them"),
        ("Eat at most three", "Eat at least three"),
        ("Rest before lunch", "Rest after lunch"),
        ("He may enter the lab", "He must enter the lab"),
        ("The tests do pass", "The tests don't pass"),
        ("我喜欢喝绿茶", "我不喜欢喝绿茶"),
        ("東京に住んでいる", "東京に住んでいない"),
    ],
)
def test_nobody_is_sure_enough_to_merge_what_one_small_word_tells_apart(
    stores: Stores, one: str, other: str
) -> None:
    """Not a language model either; and whoever agrees to the proposal loses nothing."""
    keep(stores, one)
    keep(stores, other)

    report = context(stores, make_duplicate_merger(), CERTAIN, duplicate_score=0.0)

    assert report.applied == 0
    for proposal in stores.log.proposals(ProposalStatus.PENDING):
        assert all(text in str(dict(proposal.action)["content"]) for text in (one, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lunch is at noon", "lunch is at noon."),
        ("The office is in Rome", "Office is in Rome!"),
        ("We don't deploy on Fridays", "We do not deploy on Fridays"),
        ("It's in the shed", "It is in the shed"),
        ("On Mondays we deploy Atlas", "We deploy Atlas on Mondays"),
        ("The limit is 1,200 requests", "The limit is 1200 requests"),
    ],
)
def test_what_says_the_same_is_merged_unasked(stores: Stores, one: str, other: str) -> None:
    keep(stores, one)
    keep(stores, other)

    assert context(stores, make_duplicate_merger(), CERTAIN, duplicate_score=0.0).applied == 1


CERTAIN = ScriptedJudge(always(says(Relation.DUPLICATE)), cheap=False, name="llm")


def test_three_copies_become_one_in_a_single_night(stores: Stores) -> None:
    """The third is planned for the text that the first two have become."""
    for text in ("Lunch is at noon", "Lunch is at noon.", "lunch is at noon!"):
        keep(stores, text)
    keep(stores, "The ferry leaves from pier nine")

    report = context(stores, make_duplicate_merger(), SAME_LUNCH)

    assert report.applied == 2
    assert len(current(stores)) == 2
    assert context(stores, make_duplicate_merger(), SAME_LUNCH).applied == 0


SAME_LUNCH = ScriptedJudge(between("unch", "unch", says(Relation.DUPLICATE)))
