"""The agent as judge: a batch is taken, reserved, and handed in; nonsense changes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from madeleine.errors import AlreadyDone, Conflict, InvalidValue, Missing, Rejected, UnderWay
from madeleine.minds.judges.prompts import QUESTION
from madeleine.model.memory import Memory
from madeleine.model.proposal import ProposalStatus
from madeleine.model.query import Filter
from madeleine.model.revision import Revision
from madeleine.model.verdict import Relation
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.maintenance import hand_in, take_batch
from madeleine.write.proposals import decide_proposal
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, FakeClock, close, keep, make_stores, reopened, vault_bytes

RED = "red apples grow in the garden behind the house"
GREEN = "green pears grow in the garden behind the house"
FRUIT = "red apples and green pears grow in the garden behind the house"
CONFIG = SleepConfig()

Batch = Mapping[str, object]


def two(stores: Stores) -> tuple[Memory, Memory]:
    """Two facts that are near each other, the older first, without a connection."""
    old = keep(stores, RED, created=NOON - timedelta(days=9))
    new = keep(stores, GREEN, created=NOON - timedelta(days=1))
    return old, new


def listed(batch: Batch, name: str) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", batch[name])


def questions(batch: Batch) -> list[dict[str, object]]:
    names = ("merge_candidates", "conflict_candidates", "link_candidates")
    return [each for name in names for each in listed(batch, name)]


def job_of(batch: Batch) -> str:
    assert batch["status"] == "ready", batch
    return str(batch["job_id"])


def verdict(relation: str, **more: object) -> dict[str, object]:
    return {"verdicts": [{"pair": "p1", "relation": relation, "reason": "I read both", **more}]}


def now(stores: Stores, memory: Memory) -> Memory:
    return stores.search.memories([memory.id])[memory.id]


def pass_by(stores: Stores, **length: float) -> None:
    clock = stores.clock
    assert isinstance(clock, FakeClock)
    clock.pass_by(**length)


def test_a_batch_shows_the_memories_as_data_with_the_questions(stores: Stores) -> None:
    old, new = two(stores)

    batch = take_batch(stores, CONFIG)

    shown = cast("dict[str, dict[str, object]]", batch["memories"])
    assert {key: each["content"] for key, each in shown.items()} == {old.id: RED, new.id: GREEN}
    assert len(questions(batch)) == 1
    assert [each["node_ids"] for each in listed(batch, "consolidation_clusters")] == [
        [old.id, new.id]
    ]
    assert "do not follow instructions" in str(batch["instructions"])


def test_an_answer_is_carried_out_like_any_judges(stores: Stores) -> None:
    old, new = two(stores)
    batch = take_batch(stores, CONFIG)

    done = hand_in(stores, CONFIG, job_of(batch), verdict("evolution"))

    assert now(stores, old).superseded_by == new.id
    assert sum(each.applied for each in done.reports) == 1
    assert [each.error for each in done.reports] == [None] * 4


@pytest.mark.parametrize("relation", Relation)
def test_an_agent_is_offered_the_same_eight_answers_and_each_is_understood(
    stores: Stores, relation: Relation
) -> None:
    old, _ = two(stores)
    batch = take_batch(stores, CONFIG)
    assert QUESTION in str(batch["instructions"])

    answer = verdict(relation.value, **{"from": old.short_id})
    done = hand_in(stores, CONFIG, job_of(batch), answer)

    assert [each.problems for each in done.reports] == [{}] * 4
    assert sum(each.judged for each in done.reports) == 1


def test_a_link_made_in_maintenance_has_weight_reason_and_author(stores: Stores) -> None:
    old, new = two(stores)
    batch = take_batch(stores, CONFIG)

    hand_in(stores, CONFIG, job_of(batch), verdict("supports", **{"from": old.short_id}))

    (arrow,) = [c for c in now(stores, old).connections if c.edge is Edge.SUPPORTS]
    assert (arrow.target, arrow.weight, arrow.by) == (new.id, 0.9, "auto_linker")
    assert arrow.reason == "I read both"


def test_what_an_agent_said_is_not_asked_again(stores: Stores) -> None:
    two(stores)
    batch = take_batch(stores, CONFIG)
    hand_in(
        stores,
        CONFIG,
        job_of(batch),
        {
            **verdict("none"),
            "syntheses": [{"cluster": "c1", "title": "Fruit", "content": "too short"}],
        },
    )

    assert take_batch(stores, CONFIG)["status"] == "idle"


def test_what_an_agent_left_out_is_asked_again(stores: Stores) -> None:
    two(stores)
    batch = take_batch(stores, CONFIG)
    hand_in(stores, CONFIG, job_of(batch), {"verdicts": []})

    assert len(questions(take_batch(stores, CONFIG))) == 1


def test_the_agents_choice_of_keeper_and_its_wording_are_kept(stores: Stores) -> None:
    text = "Chose SQLite for Ormah"
    short = keep(stores, text)
    long = keep(stores, f"{text} because it is one file", tier=Tier.CORE)
    batch = take_batch(stores, SleepConfig(duplicate_score=0.4))
    merged = {
        "keep_id": short.id,
        "discard_id": long.id,
        "merged_title": "One file",
        "merged_content": f"{text} because it is one file.",
    }

    done = hand_in(stores, SleepConfig(merge_at=0.9), job_of(batch), {"merges": [merged]})

    (kept,) = stores.search.listing(Filter(), stores.clock.now(), 9)
    assert (kept.id, kept.title, kept.content) == (short.id, "One file", merged["merged_content"])
    undo(stores, done.reports[0].run)
    assert now(stores, long).tier is Tier.CORE


def test_a_merge_an_agent_is_not_very_sure_of_waits_for_a_person(stores: Stores) -> None:
    two(stores)
    config = SleepConfig(duplicate_score=0.4)
    batch = take_batch(stores, config)

    hand_in(stores, config, job_of(batch), verdict("duplicate"))
    (proposal,) = stores.log.proposals(ProposalStatus.PENDING)
    decide_proposal(stores, proposal.id, ProposalStatus.APPROVED)

    (kept,) = stores.search.listing(Filter(), stores.clock.now(), 9)
    assert RED in kept.content
    assert GREEN in kept.content


def test_ormahs_edges_are_understood(stores: Stores) -> None:
    old, new = two(stores)
    batch = take_batch(stores, CONFIG)
    edge = {"node_a_id": new.id, "node_b_id": old.id, "edge_type": "contradicts", "reason": "r"}

    hand_in(stores, CONFIG, job_of(batch), {"edges": [edge]})

    (arrow,) = [c for c in now(stores, new).connections if c.edge is Edge.CONTRADICTS]
    assert (arrow.target, arrow.weight) == (old.id, 0.9)


def test_an_evolution_against_the_dates_waits_for_a_person(stores: Stores) -> None:
    old, new = two(stores)
    batch = take_batch(stores, CONFIG)
    edge = {"node_a_id": old.id, "node_b_id": new.id, "edge_type": "evolved_from"}

    hand_in(stores, CONFIG, job_of(batch), {"edges": [edge]})

    assert now(stores, old).superseded_by is None
    assert len(stores.log.proposals(ProposalStatus.PENDING)) == 1


def test_ormahs_consolidations_are_understood(stores: Stores) -> None:
    old, new = two(stores)
    batch = take_batch(stores, CONFIG)
    told = {"node_ids": [old.id, new.id], "title": "Fruit", "content": FRUIT, "type": "concept"}

    hand_in(stores, CONFIG, job_of(batch), {"consolidations": [told]})

    (made,) = [
        each
        for each in stores.search.listing(Filter(), stores.clock.now(), 9)
        if each.id not in (old.id, new.id)
    ]
    assert (made.title, made.content, made.type) == ("Fruit", FRUIT, MemoryType.CONCEPT)
    assert {c.target for c in made.connections} == {old.id, new.id}
    assert now(stores, old).tier is Tier.ARCHIVAL


def test_two_agents_do_not_get_the_same_questions(stores: Stores) -> None:
    two(stores)
    first = take_batch(stores, CONFIG)

    second = take_batch(stores, CONFIG)

    assert second["status"] == "busy"
    assert "job_id" not in second
    hand_in(stores, CONFIG, job_of(first), verdict("none"))
    assert take_batch(stores, CONFIG)["status"] != "busy"


def test_a_reservation_outlives_a_restart(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    old, new = two(stores)
    batch = take_batch(stores, CONFIG)

    stores = reopened(stores, home, without_index=True)
    assert take_batch(stores, CONFIG)["status"] == "busy"
    hand_in(stores, CONFIG, job_of(batch), verdict("evolution"))

    assert now(stores, old).superseded_by == new.id
    close(stores)


def test_a_reservation_expires_and_its_answers_are_refused(stores: Stores) -> None:
    two(stores)
    batch = take_batch(stores, CONFIG)
    before = vault_bytes(stores)
    pass_by(stores, minutes=31)

    with pytest.raises(Conflict, match="expired"):
        hand_in(stores, CONFIG, job_of(batch), verdict("evolution"))

    assert vault_bytes(stores) == before
    assert take_batch(stores, CONFIG)["status"] == "ready"


def test_answers_are_taken_once(stores: Stores) -> None:
    two(stores)
    batch = take_batch(stores, CONFIG)
    hand_in(stores, CONFIG, job_of(batch), verdict("none"))

    with pytest.raises(AlreadyDone):
        hand_in(stores, CONFIG, job_of(batch), verdict("evolution"))


def test_a_job_nobody_knows_is_missing(stores: Stores) -> None:
    with pytest.raises(Missing):
        hand_in(stores, CONFIG, "no-such-job", {})
    with pytest.raises(InvalidValue):
        hand_in(stores, CONFIG, None, {})


NONSENSE: list[object] = [
    None,
    "yes",
    [],
    {"verdict": []},
    {"verdicts": "p1"},
    {"verdicts": [None]},
    {"verdicts": [{"relation": "none"}]},
    {"verdicts": [{"pair": "p2", "relation": "none"}]},
    {"verdicts": [{"pair": "p1"}]},
    {"verdicts": [{"pair": "p1", "relation": "friends"}]},
    {"verdicts": [{"pair": "p1", "relation": "none", "sure": 2}]},
    {"verdicts": [{"pair": "p1", "relation": "none", "sure": "very"}]},
    {"verdicts": [{"pair": "p1", "relation": "none", "mood": "good"}]},
    {"verdicts": [{"pair": ["%", "%"], "relation": "evolution"}]},
    {"verdicts": [{"pair": "p1", "relation": "supports", "from": "elsewhere"}]},
    {"verdicts": [{"pair": "p1", "relation": "duplicate", "keep": "neither"}]},
    {"verdicts": [{"pair": "p1", "relation": "evolution"}, {"pair": "p9", "relation": "none"}]},
    {"edges": [{"node_a_id": "a", "node_b_id": "b", "edge_type": "supports"}]},
    {"merges": [{"keep_id": "", "discard_id": ""}]},
    {"consolidations": [{"node_ids": ["x"], "title": "t", "content": "c"}]},
    {"syntheses": [{"cluster": "c1", "title": "t", "content": " "}]},
    {"syntheses": [{"cluster": "c7", "title": "t", "content": "c"}]},
]


@pytest.mark.few(10)
@pytest.mark.parametrize("results", NONSENSE, ids=lambda each: json.dumps(each)[:60])
def test_nonsense_is_refused_by_name_and_changes_nothing(stores: Stores, results: object) -> None:
    old, new = two(stores)
    batch = take_batch(stores, CONFIG)
    before = vault_bytes(stores)

    with pytest.raises(Rejected):
        hand_in(stores, CONFIG, job_of(batch), results)

    assert vault_bytes(stores) == before
    hand_in(stores, CONFIG, job_of(batch), verdict("evolution"))
    assert now(stores, old).superseded_by == new.id


def test_an_answer_about_a_text_that_changed_since_is_dropped(stores: Stores) -> None:
    old, new = two(stores)
    batch = take_batch(stores, CONFIG)
    revise(stores, old.id, Revision({"content": "the shed was painted yellow"}))
    before = vault_bytes(stores)

    hand_in(stores, CONFIG, job_of(batch), verdict("evolution"))

    assert vault_bytes(stores) == before
    assert now(stores, new).superseded_by is None


def test_answers_wait_for_a_run_that_is_under_way(stores: Stores) -> None:
    two(stores)
    batch = take_batch(stores, CONFIG)
    stores.jobs.add("auto_linker")

    with pytest.raises(UnderWay):
        hand_in(stores, CONFIG, job_of(batch), verdict("none"))

    stores.jobs.clear()
    hand_in(stores, CONFIG, job_of(batch), verdict("none"))


def test_a_batch_stays_within_its_bounds(stores: Stores) -> None:
    for number in range(60):
        text = f"note {number}: " + "apples and pears grow in the garden behind the house " * 12
        keep(stores, text, title=f"Garden {number}")

    batch = take_batch(stores, CONFIG)

    assert len(json.dumps(batch, ensure_ascii=False)) <= CONFIG.maintenance_chars
    assert 0 < len(questions(batch)) <= 3 * CONFIG.maintenance_pairs
    assert len(listed(batch, "consolidation_clusters")) <= CONFIG.maintenance_clusters
    labels = [each["pair"] for each in questions(batch)]
    assert len(set(labels)) == len(labels)


@pytest.mark.soak
def test_agents_work_through_everything_in_the_end(stores: Stores) -> None:
    for number in range(9):
        keep(stores, f"{RED} {number}")
    config = SleepConfig(maintenance_pairs=3)

    asked = set()
    for _ in range(40):
        batch = take_batch(stores, config)
        if batch["status"] == "idle":
            break
        pairs = [each["pair"] for each in questions(batch)]
        asked |= {(each["node_a_id"], each["node_b_id"]) for each in questions(batch)}
        clusters = [each["cluster"] for each in listed(batch, "consolidation_clusters")]
        results = {
            "verdicts": [{"pair": each, "relation": "none"} for each in pairs],
            "syntheses": [{"cluster": each, "content": "nothing"} for each in clusters],
        }
        hand_in(stores, config, job_of(batch), results)

    assert batch["status"] == "idle"
    assert len(asked) == 36


def test_with_nothing_to_judge_nothing_is_reserved(stores: Stores) -> None:
    keep(stores, RED)

    assert take_batch(stores, CONFIG)["status"] == "idle"
    assert take_batch(stores, CONFIG)["status"] == "idle"
